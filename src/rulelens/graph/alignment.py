"""Which rule of one set corresponds to which rule of another."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulelens.bits.coverage import coverage
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import level_key
from rulelens.errors import OptionError, TableError
from rulelens.frames import read_table

if TYPE_CHECKING:
    import pandas as pd

Kind: TypeAlias = Literal["same rule", "same rows", "overlap", "same features", "none"]
Floats: TypeAlias = NDArray[np.float64]
_BLOCK = 512


@dataclass(frozen=True, slots=True)
class RulePair:
    """A rule of the first set, its partner in the second, and why they belong together.

    Parameters
    ----------
    first, second : int or None
        Positions; None where a rule has no partner.
    kind : str
        ``"same rule"``: the same conditions; ``"same rows"``: other conditions, but the same
        rows covered; ``"overlap"``: many of the same rows; ``"same features"``: conditions on
        the same features, where no rows were given; ``"none"``. The outcome is always the same.
    jaccard : float or None
        Rows that both cover over rows that either covers; None where no rows were given.
    """

    first: int | None
    second: int | None
    kind: Kind
    jaccard: float | None


@dataclass(frozen=True, slots=True)
class RuleAlignment:
    """Pairs of corresponding rules, and the rules without partner, each rule once."""

    pairs: tuple[RulePair, ...]

    def count(self, *kinds: Kind) -> int:
        """Number of pairs of the given kinds."""
        return sum(p.kind in kinds for p in self.pairs)

    @property
    def only_first(self) -> tuple[int, ...]:
        """Rules of the first set without partner."""
        return tuple(p.first for p in self.pairs if p.second is None and p.first is not None)

    @property
    def only_second(self) -> tuple[int, ...]:
        """Rules of the second set without partner."""
        return tuple(p.second for p in self.pairs if p.first is None and p.second is not None)

    def to_frame(self) -> pd.DataFrame:
        """One row a pair or lone rule: first, second, kind, jaccard."""
        import pandas as pd

        return pd.DataFrame(
            {
                "first": pd.array([p.first for p in self.pairs], dtype="Int64"),
                "second": pd.array([p.second for p in self.pairs], dtype="Int64"),
                "kind": pd.Series([p.kind for p in self.pairs], dtype=object),
                "jaccard": pd.Series([p.jaccard for p in self.pairs], dtype=np.float64),
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "format": "rulelens.rule_alignment",
            "version": 1,
            "pairs": [[p.first, p.second, p.kind, p.jaccard] for p in self.pairs],
        }


def align_rules(
    first: RuleSet, second: RuleSet, X: object = None, *, min_overlap: float = 0.5
) -> RuleAlignment:
    """Match the rules of two sets one to one, surest matches first.

    Only rules with the same outcome are matched: first those with the same conditions; then,
    with rows, those that cover the same rows, and those that overlap most; without rows,
    those with conditions on the same features.

    Parameters
    ----------
    first, second : RuleSet
    X : table, optional
        Rows with the features of both.
    min_overlap : float, above 0 up to 1
        Least Jaccard index of an overlap.

    Examples
    --------
    >>> from rulelens.core.conditions import Interval
    >>> from rulelens.core.rule import Rule
    >>> from rulelens.core.schema import Schema
    >>> old, new = (RuleSet.from_rules([Rule({"age": Interval(low=cut)}, "ill")],
    ...                                Schema.numeric(["age"])) for cut in (50, 52))
    >>> align_rules(old, new, [[49], [51], [60], [70]]).pairs
    (RulePair(first=0, second=0, kind='overlap', jaccard=0.6666666666666666),)
    """
    if not 0 < min_overlap <= 1:
        raise OptionError(f"min_overlap must lie above 0 and be at most 1, not {min_overlap!r}.")
    classes = [[level_key(r.outcomes[c]) for c in r.outcome] for r in (first, second)]
    found: dict[int, tuple[int, Kind]] = {}
    taken: set[int] = set()

    def match(pairs: Iterable[tuple[int, int]], kind: Kind) -> None:
        for i, j in pairs:
            if i not in found and j not in taken:
                found[i] = (j, kind)
                taken.add(j)

    # 1. The same conditions.
    sets = list(zip((first, second), classes, strict=True))
    left, right = (
        [(frozenset(rule.conditions), c) for rule, c in zip(r, names, strict=True)]
        for r, names in sets
    )
    match(_equal(left, right), "same rule")
    jaccard = None
    if X is not None:
        if isinstance(X, np.ndarray | list | tuple) and first.schema.names != second.schema.names:
            raise TableError(
                "The two rule sets have other features, or in another order, and these rows have "
                "no names. Give a table with column names."
            )
        # 2. The same rows, then most of the same rows.
        covered = [coverage(r, read_table(X, r.schema)) for r in (first, second)]
        jaccard = _jaccard(*covered)
        code = {c: k for k, c in enumerate(dict.fromkeys(classes[0] + classes[1]))}
        left_codes, right_codes = (np.array([code[c] for c in names], int) for names in classes)
        allowed = np.where(left_codes[:, None] == right_codes[None, :], jaccard, 0.0)
        match(_falling(allowed, 1.0), "same rows")
        match(_falling(allowed, min_overlap), "overlap")
    else:
        # 2. The same features.
        free = (
            [
                None if k in gone else (frozenset(rule.features), c)
                for k, (rule, c) in enumerate(zip(r, names, strict=True))
            ]
            for (r, names), gone in zip(sets, (found, taken), strict=True)
        )
        match(_equal(*(list(keys) for keys in free)), "same features")

    def overlap(i: int, j: int) -> float | None:
        return None if jaccard is None else float(jaccard[i, j])

    pairs = [
        RulePair(i, found[i][0], found[i][1], overlap(i, found[i][0]))
        if i in found
        else RulePair(i, None, "none", None)
        for i in range(len(first))
    ]
    pairs += [RulePair(None, j, "none", None) for j in range(len(second)) if j not in taken]
    return RuleAlignment(tuple(pairs))


def _equal(left: list[Any], right: list[Any]) -> Iterator[tuple[int, int]]:
    """Pairs of positions with equal keys that are not None; repeats are paired in order."""
    places: dict[Hashable, deque[int]] = defaultdict(deque)
    for j, key in enumerate(right):
        places[key].append(j)
    for i, key in enumerate(left):
        if key is not None and places.get(key):
            yield i, places[key].popleft()


def _jaccard(a: NDArray[np.bool_], b: NDArray[np.bool_]) -> Floats:
    """Jaccard index of every pair of columns; 1 for two that cover no row."""
    # float32 counts whole numbers exactly up to 2**24, float64 up to 2**53
    dtype = np.float32 if len(a) < 1 << 24 else np.float64
    left = np.ascontiguousarray(a.T, dtype=dtype)
    both = np.empty((a.shape[1], b.shape[1]))
    for k in range(0, b.shape[1], _BLOCK):
        both[:, k : k + _BLOCK] = left @ b[:, k : k + _BLOCK].astype(dtype)
    either = a.sum(axis=0)[:, None] + b.sum(axis=0)[None, :] - both
    out: Floats = np.divide(both, either, out=np.ones(both.shape), where=either > 0)
    return out


def _falling(values: Floats, least: float) -> Iterator[tuple[int, int]]:
    """Positions of the values that are at least so large, the largest first."""
    i, j = np.nonzero(values >= least)
    order = np.lexsort((j, i, -values[i, j]))
    yield from zip(i[order].tolist(), j[order].tolist(), strict=True)
