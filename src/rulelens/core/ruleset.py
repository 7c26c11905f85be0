"""Rule sets: many rules held as a few arrays, frozen and without data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulelens.core.condition_table import ConditionTable, check_kinds
from rulelens.core.conditions import Condition
from rulelens.core.rule import Rule
from rulelens.core.schema import Level, Schema, check_level, level_key
from rulelens.errors import ContradictionError, RuleError, RulelensWarning, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.core.contingency import Contingency

Column: TypeAlias = NDArray[np.generic]

_FIELDS = (
    "schema",
    "outcomes",
    "conditions",
    "offsets",
    "indices",
    "outcome",
    "ordered",
    "default",
    "provenance",
)


class RuleSet:
    """Rules over one schema: unordered, or an ordered list with a default outcome.

    Rules are canonical: at most one condition a feature, in the schema's order; each distinct
    condition is stored once. Build one with `from_rules` or `from_arrays`. ``rules[3]`` is a
    `Rule`; a slice, a mask or positions give a `RuleSet`.

    Attributes
    ----------
    schema : Schema
    outcomes : tuple of str, int, float or bool
        The classes that rules may speak for.
    conditions : ConditionTable
        Distinct conditions, sorted.
    offsets : array of int64, shape (n_rules + 1,)
        Rule k has the conditions ``indices[offsets[k]:offsets[k + 1]]``.
    indices : array of int32
        Positions in `conditions`.
    outcome : array of int32, shape (n_rules,)
        Position of each rule's outcome in `outcomes`.
    ordered : bool
        Whether the first rule that fires decides.
    default : str, int, float, bool or None
        Outcome of an ordered list where no rule fires.
    provenance : dict of str to array
        Columns that tell where each rule came from; None where a rule says nothing.

    Examples
    --------
    >>> from rulelens.core.conditions import Interval
    >>> from rulelens.core.schema import Feature
    >>> schema = Schema([Feature("age"), Feature("bmi")])
    >>> rules = RuleSet.from_rules(
    ...     [Rule([("age", Interval(high=5)), ("age", Interval(high=10))], "no"),
    ...      Rule({"bmi": Interval(low=30)}, "yes")], schema)
    >>> len(rules), str(rules[0])
    (2, 'IF age < 5 THEN no')
    >>> [str(r) for r in rules.filter(outcome="yes")]
    ['IF bmi > 30 THEN yes']
    """

    __slots__ = (
        "conditions",
        "default",
        "indices",
        "offsets",
        "ordered",
        "outcome",
        "outcomes",
        "provenance",
        "schema",
    )
    schema: Schema
    outcomes: tuple[Level, ...]
    conditions: ConditionTable
    offsets: NDArray[np.int64]
    indices: NDArray[np.int32]
    outcome: NDArray[np.int32]
    ordered: bool
    default: Level | None
    provenance: Mapping[str, Column]

    def __init__(self) -> None:
        raise TypeError("Build a RuleSet with RuleSet.from_rules or RuleSet.from_arrays.")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("A RuleSet does not change. Build another one.")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("A RuleSet does not change. Build another one.")

    def __reduce__(self) -> tuple[object, ...]:
        """Rebuild copies, and what joblib sends to its workers, through the same door."""
        return _rebuild, (*(getattr(self, n) for n in _FIELDS[:-1]), dict(self.provenance))

    # ------------------------------------------------------------------ building
    @classmethod
    def from_rules(
        cls,
        rules: Iterable[Rule],
        schema: Schema,
        *,
        outcomes: Sequence[Level] | None = None,
        ordered: bool = False,
        default: Level | None = None,
        contradictions: Literal["raise", "drop"] = "raise",
    ) -> RuleSet:
        """Rule set of `Rule` values; conditions on one feature are intersected.

        Parameters
        ----------
        rules : iterable of Rule
        schema : Schema
            Must know every feature and level that the rules name.
        outcomes : sequence of labels, optional
            All classes; by default those of the rules (and `default`), as they come.
        ordered, default
            See the class.
        contradictions : {"raise", "drop"}
            A rule that contradicts itself is an error, or is left out with a warning that
            says how many were.

        Raises
        ------
        UnknownFeatureError, ContradictionError, RuleError
        """
        if contradictions not in ("raise", "drop"):
            raise RuleError(f"contradictions is 'raise' or 'drop', not {contradictions!r}.")
        pool: dict[tuple[int, Condition], int] = {}
        sizes: list[int] = []
        flat: list[int] = []
        kept: list[Rule] = []
        dropped = 0
        for number, rule in enumerate(rules):
            try:
                simple = rule.simplify()
            except ContradictionError as e:
                if contradictions == "raise":
                    raise ContradictionError(f"Rule {number}: {e}") from None
                dropped += 1
                continue
            for name, condition in simple.conditions:
                position = schema.index(name, where=f"rule {number}")
                flat.append(pool.setdefault((position, condition), len(pool)))
            sizes.append(len(simple.conditions))
            kept.append(rule)
        if dropped:
            import warnings

            warnings.warn(
                f"{dropped} of {number + 1} rules contradict themselves and were left out.",
                RulelensWarning,
                stacklevel=2,
            )
        labels = _labels(outcomes, kept, default)
        code = {level_key(v): i for i, v in enumerate(labels)}
        for rule in kept:
            if level_key(rule.outcome) not in code:
                raise RuleError(
                    f"Unknown outcome {rule.outcome!r}. {did_you_mean(rule.outcome, labels)}"
                )
        return cls.from_arrays(
            schema,
            ConditionTable.from_conditions(list(pool), schema),
            np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
            np.array(flat, dtype=np.int64),
            np.array([code[level_key(r.outcome)] for r in kept], dtype=np.int64),
            outcomes=labels,
            ordered=ordered,
            default=default,
            provenance=_provenance_columns(kept),
        )

    @classmethod
    def from_arrays(
        cls,
        schema: Schema,
        conditions: ConditionTable,
        offsets: ArrayLike,
        indices: ArrayLike,
        outcome: ArrayLike,
        *,
        outcomes: Sequence[Level],
        ordered: bool = False,
        default: Level | None = None,
        provenance: Mapping[str, Column] | None = None,
    ) -> RuleSet:
        """Rule set from arrays, for sources that make many rules; see the class for each.

        Conditions may repeat and stand in any order. Two conditions of one rule on the same
        feature are an error: intersect them first.
        """
        labels = tuple(check_level(v, "An outcome") for v in outcomes)
        if len({level_key(v) for v in labels}) != len(labels):
            raise RuleError(f"An outcome occurs twice in {labels!r}.")
        offsets_, indices_ = np.array(offsets, np.int64), np.array(indices, np.int64)
        outcome_ = np.array(outcome, np.int32)
        n = len(outcome_)
        if offsets_.shape != (n + 1,) or offsets_[0] != 0 or (np.diff(offsets_) < 0).any():
            raise RuleError(
                f"offsets must rise from 0 and have {n + 1} entries, one more than rules."
            )
        if offsets_[-1] != len(indices_):
            raise RuleError(
                f"The last offset is {offsets_[-1]}, but there are {len(indices_)} indices."
            )
        if n and not (outcome_.min() >= 0 and outcome_.max() < len(labels)):
            raise RuleError(f"Outcome codes must lie in 0..{len(labels) - 1}.")
        if len(indices_) and not (indices_.min() >= 0 and indices_.max() < len(conditions)):
            raise RuleError(f"Condition indices must lie in 0..{len(conditions) - 1}.")
        check_kinds(conditions, schema)
        # 1. Keep the conditions in use, once each, sorted by feature first.
        table, position = conditions.canonical()
        indices_ = position[indices_]
        used = np.zeros(len(table), dtype=bool)
        used[indices_] = True
        if not used.all():
            indices_ = (np.cumsum(used) - 1)[indices_]
            table = table.take(np.flatnonzero(used))
        # 2. Sort the conditions of each rule: by feature, as the table is.
        owner = np.repeat(np.arange(n), np.diff(offsets_))
        indices_ = indices_[np.lexsort((indices_, owner))]
        feature = table.feature[indices_]
        twice = (owner[1:] == owner[:-1]) & (feature[1:] == feature[:-1])
        if twice.any():
            at = int(np.flatnonzero(twice)[0])
            raise RuleError(
                f"Rule {owner[at]} has two conditions on '{schema[int(feature[at])].name}'. "
                "Intersect them first."
            )
        columns = {str(k): np.array(v) for k, v in (provenance or {}).items()}
        for name, column in columns.items():
            if column.shape != (n,):
                raise RuleError(f"Provenance '{name}' has shape {column.shape}; expected ({n},).")
        if default is not None and level_key(check_level(default, "The default")) not in {
            level_key(v) for v in labels
        }:
            raise RuleError(f"Unknown default outcome {default!r}. {did_you_mean(default, labels)}")
        if default is not None and not ordered:
            raise RuleError("Only an ordered rule set has a default outcome. Pass ordered=True.")
        return cls._make(
            schema,
            labels,
            table,
            offsets_,
            indices_.astype(np.int32),
            outcome_,
            bool(ordered),
            default,
            MappingProxyType(columns),
        )

    @classmethod
    def _make(cls, *values: Any) -> RuleSet:
        self = object.__new__(cls)
        for name, value in zip(_FIELDS, values, strict=True):
            object.__setattr__(self, name, value)
        arrays: list[Column] = [self.offsets, self.indices, self.outcome]
        for array in (*arrays, *self.provenance.values(), *self.conditions.arrays()):
            array.flags.writeable = False
        return self

    # ------------------------------------------------------------------ reading
    def __len__(self) -> int:
        """Number of rules."""
        return len(self.outcome)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of conditions of each rule, shape (n_rules,)."""
        return np.diff(self.offsets)

    @property
    def presence(self) -> NDArray[np.bool_]:
        """Whether each rule asks about each feature, shape (n_rules, n_features)."""
        out = np.zeros((len(self), len(self.schema)), dtype=bool)
        owner = np.repeat(np.arange(len(self)), self.lengths)
        out[owner, self.conditions.feature[self.indices]] = True
        return out

    @overload
    def __getitem__(self, index: int | np.integer) -> Rule: ...
    @overload
    def __getitem__(self, index: slice | ArrayLike) -> RuleSet: ...
    def __getitem__(self, index: int | np.integer | slice | ArrayLike) -> Rule | RuleSet:
        """One rule, or the rules that a slice, positions or a mask choose."""
        if isinstance(index, int | np.integer) and not isinstance(index, bool):
            return self._rule(int(index))
        if isinstance(index, slice):
            return self._take(np.arange(len(self))[index])
        chosen = np.asarray(index)
        if chosen.dtype == bool:
            if chosen.shape != (len(self),):
                raise RuleError(f"The mask has shape {chosen.shape}; expected ({len(self)},).")
            chosen = np.flatnonzero(chosen)
        if chosen.size == 0:
            chosen = chosen.astype(np.int64).reshape(-1)
        if chosen.ndim != 1 or chosen.dtype.kind not in "iu":
            raise RuleError("Choose rules by a position, a slice, a list of positions or a mask.")
        if chosen.size and not (-len(self) <= chosen.min() and chosen.max() < len(self)):
            raise IndexError(f"There are {len(self)} rules; a position lies outside.")
        return self._take(np.arange(len(self))[chosen])

    def _rule(self, k: int) -> Rule:
        if not -len(self) <= k < len(self):
            raise IndexError(
                f"There is no rule {k}: the set has {len(self)} rules, counted from 0."
            )
        k %= len(self)
        pairs = [
            (
                self.schema[int(self.conditions.feature[i])].name,
                self.conditions.condition(int(i), self.schema),
            )
            for i in self.indices[self.offsets[k] : self.offsets[k + 1]]
        ]
        origin = [(name, _plain(column[k])) for name, column in self.provenance.items()]
        return Rule(
            pairs, self.outcomes[self.outcome[k]], [(n, v) for n, v in origin if v is not None]
        )

    def _take(self, positions: NDArray[np.int64]) -> RuleSet:
        sizes = self.lengths[positions]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        spread = np.repeat(self.offsets[:-1][positions] - offsets[:-1], sizes)
        return RuleSet.from_arrays(
            self.schema,
            self.conditions,
            offsets,
            self.indices[spread + np.arange(int(offsets[-1]))],
            self.outcome[positions],
            outcomes=self.outcomes,
            ordered=self.ordered,
            default=self.default,
            provenance={k: v[positions] for k, v in self.provenance.items()},
        )

    def __iter__(self) -> Iterator[Rule]:
        return (self._rule(k) for k in range(len(self)))

    def filter(
        self,
        *,
        outcome: Level | None = None,
        features: Iterable[str] | None = None,
        min_length: int = 0,
        max_length: int | None = None,
        where: Callable[[Rule], bool] | None = None,
    ) -> RuleSet:
        """The rules that meet every given demand.

        Parameters
        ----------
        outcome : label, optional
            Only rules for this class.
        features : iterable of str, optional
            Only rules that ask about at least one of these.
        min_length, max_length : int
            Bounds on the number of conditions.
        where : callable, optional
            Asked for each `Rule` left; slow for very many rules.
        """
        keep = self.lengths >= min_length
        if max_length is not None:
            keep &= self.lengths <= max_length
        if outcome is not None:
            keep &= self.outcome == self.code_of(outcome)
        if features is not None:
            keep &= self.presence[:, [self.schema.index(f) for f in features]].any(axis=1)
        if where is not None:
            for k in np.flatnonzero(keep):
                keep[k] = bool(where(self._rule(int(k))))
        return self[keep]

    def code_of(self, outcome: Level) -> int:
        """Position of a class in `outcomes`; an error that names them all if it is none."""
        for i, known in enumerate(self.outcomes):
            if level_key(known) == level_key(outcome):
                return i
        raise RuleError(f"Unknown outcome {outcome!r}. {did_you_mean(outcome, self.outcomes)}")

    def __eq__(self, other: object) -> bool:
        """Same schema, classes, order and rules, provenance included."""
        if not isinstance(other, RuleSet):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        c = self.conditions
        arrays = (
            self.offsets,
            self.indices,
            self.outcome,
            c.feature,
            c.kind,
            c.low,
            c.high,
            c.flags,
            c.level_offsets,
            c.level_codes,
        )
        origin = tuple(
            (k, tuple(map(_origin_key, v.tolist()))) for k, v in sorted(self.provenance.items())
        )
        return (
            self.schema,
            tuple(level_key(v) for v in self.outcomes),
            self.ordered,
            None if self.default is None else level_key(self.default),
            origin,
            *(a.tobytes() for a in arrays),
        )

    def __repr__(self) -> str:
        kind = "ordered " if self.ordered else ""
        return (
            f"<RuleSet: {len(self)} {kind}rules over {len(self.schema)} features, "
            f"outcomes {list(self.outcomes)!r}>"
        )

    def __str__(self) -> str:
        shown = [f"{k}: {self._rule(k)}" for k in range(min(len(self), 20))]
        if len(self) > 20:
            shown.append(f"… and {len(self) - 20} more")
        if self.default is not None:
            shown.append(f"ELSE {self.default}")
        return "\n".join(shown)

    # ------------------------------------------------------------------ with data
    def coverage(self, X: object) -> NDArray[np.bool_]:
        """Which rules cover which rows of a table: bool, shape (n_rows, n_rules)."""
        from rulelens.bits.coverage import coverage
        from rulelens.frames import read_table

        return coverage(self, read_table(X, self.schema))

    def first_match(self, X: object) -> NDArray[np.int64]:
        """Position of the first rule that covers each row, shape (n_rows,); -1 for none."""
        from rulelens.bits.coverage import first_match
        from rulelens.frames import read_table

        return first_match(self, read_table(X, self.schema))

    def contingency(self, X: object, y: object) -> Contingency:
        """The four counts of every rule on labelled rows."""
        from rulelens.bits.coverage import contingency
        from rulelens.frames import read_labels, read_table

        table = read_table(X, self.schema)
        return contingency(self, table, read_labels(y, table.n_rows))

    def shorten(self, X: object) -> RuleSet:
        """The same rules with the shortest thresholds that select the same rows of a table.

        For showing: ``petal width <= 0.8`` in place of ``petal width <= 0.800000011920929``.
        Only on these rows the two are sure to agree; see `rulelens.bits.rounding.shorten`.
        """
        from rulelens.bits.rounding import shorten
        from rulelens.frames import read_table

        return shorten(self, read_table(X, self.schema))

    def measure(
        self, X: object, y: object, *, measures: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """One row a rule: its text, outcome, length, four counts and measures.

        Parameters
        ----------
        X : table
            Rows with the schema's features (pandas, polars, pyarrow or numpy).
        y : array-like of labels, shape (n_rows,)
        measures : sequence of str, optional
            Names of registered measures; all of them by default.
        """
        frame = self.contingency(X, y).to_frame(measures)
        frame.insert(0, "rule", [r.antecedent() for r in self])
        frame.insert(1, "outcome", [self.outcomes[c] for c in self.outcome])
        frame.insert(2, "length", self.lengths)
        return frame


def _rebuild(*values: Any) -> RuleSet:
    return RuleSet._make(*values[:-1], MappingProxyType(values[-1]))


def _labels(
    outcomes: Sequence[Level] | None, rules: list[Rule], default: Level | None
) -> tuple[Level, ...]:
    if outcomes is not None:
        return tuple(outcomes)
    found = {level_key(r.outcome): r.outcome for r in rules}
    if default is not None:
        found.setdefault(level_key(default), default)
    return tuple(found.values())


def _plain(value: object) -> Level | None:
    out: Level | None = value.item() if isinstance(value, np.generic) else value  # type: ignore[assignment]
    return out


def _origin_key(value: object) -> object:
    """Key by which provenance is the same: types count, and NaN is equal to NaN."""
    if isinstance(value, float) and value != value:
        return "NaN", None
    return (type(value), value)


def _provenance_columns(rules: list[Rule]) -> dict[str, Column]:
    names = dict.fromkeys(name for r in rules for name, _ in r.provenance)
    columns: dict[str, Column] = {}
    for name in names:
        values = [dict(r.provenance).get(name) for r in rules]
        column = np.empty(len(values), dtype=object)
        column[:] = values
        for kind, dtype in ((bool, np.bool_), (int, np.int64), (float, np.float64)):
            if all(type(v) is kind for v in values):
                with suppress(OverflowError):  # whole numbers beyond 64 bits stay objects
                    column = np.array(values, dtype=dtype)
        columns[name] = column
    return columns
