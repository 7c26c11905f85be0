"""Columns derived from one feature each, and conditions on them put back on that feature."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulelens.core.condition_table import ConditionTable
from rulelens.core.conditions import Condition, Interval, Membership, Missing, intersect
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Schema
from rulelens.errors import ContradictionError, ModelError

Floats: TypeAlias = NDArray[np.float64]
Step: TypeAlias = Callable[[Floats], Floats]

UNSEEN = object()
"""Stands for a level never seen before."""


@dataclass(frozen=True)
class Derived:
    """A column that is a function of one feature.

    Parameters
    ----------
    source : int
        Position of the feature.
    steps : tuple of callables
        What is done to its numbers, one after the other; each must never fall as numbers
        rise. NaN stands for missing.
    outputs : tuple, optional
        For a feature with levels: what each level becomes, then a level never seen, then a
        missing value.
    """

    source: int
    steps: tuple[Step, ...] = ()
    outputs: tuple[Any, ...] | None = None

    def then(self, step: Step) -> Derived:
        """The column after one more step on numbers."""
        if self.outputs is None:
            return replace(self, steps=(*self.steps, step))
        numbers = np.array([_number(v) for v in self.outputs], dtype=np.float64)
        return replace(self, outputs=tuple(step(numbers).tolist()))

    def number(self, values: Floats) -> Floats:
        """What numbers become."""
        for step in self.steps:
            values = step(values)
        return values


def _number(value: Any) -> float:
    if value is None:
        return math.nan
    if value is UNSEEN or isinstance(value, str):
        raise ModelError(
            f"A column with levels such as {value!r} is used as a number. Encode it, for example "
            "by OneHotEncoder."
            if isinstance(value, str)
            else "A column with levels is used as a number. Encode it first."
        )
    return float(value)


def restore(rules: RuleSet, columns: Sequence[Derived], schema: Schema) -> RuleSet:
    """Rules on derived columns as rules on the features that they come from.

    Parameters
    ----------
    rules : RuleSet
        Over one numeric feature for each derived column.
    columns : sequence of Derived
    schema : Schema
        The features that the columns are derived from.

    Returns
    -------
    RuleSet
        Selects a row exactly where `rules` selects the derived row. A rule that no row can
        meet (two levels at once) is left out.
    """
    # 1. Each distinct condition on its feature; None where no value meets it.
    table = rules.conditions
    found = [
        _restored(table.condition(i, rules.schema), columns[f], schema[columns[f].source])
        for i, f in enumerate(table.feature.tolist())
    ]
    source = np.array([columns[f].source for f in table.feature.tolist()], dtype=np.int64)
    # 2. Conditions of one rule on one feature meet.
    owner = np.repeat(np.arange(len(rules)), rules.lengths)
    group = owner * max(1, len(schema)) + source[rules.indices]
    order = np.argsort(group, kind="stable")
    ids = rules.indices[order].tolist()
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    ends = np.append(starts, len(ids))[1:].tolist()
    pool: dict[tuple[int, Condition], int] = {}
    met: dict[tuple[int, ...], int | None] = {}
    flat: list[int] = []
    kept_owner: list[int] = []
    dead = np.zeros(len(rules), dtype=bool)
    for a, b, k in zip(starts.tolist(), ends, owner[order][starts].tolist(), strict=True):
        key = tuple(ids[a:b])
        if key not in met:
            condition = _meet([found[i] for i in key])
            f = int(source[key[0]])
            met[key] = None if condition is None else pool.setdefault((f, condition), len(pool))
        position = met[key]
        if position is None:
            dead[k] = True
        else:
            flat.append(position)
            kept_owner.append(k)
    # 3. What always holds says nothing.
    pairs = list(pool)
    says = np.array([not _always(c, schema[f]) for f, c in pairs], dtype=bool)
    kept, positions = np.array(kept_owner, np.int64), np.array(flat, np.int64)
    keep = ~dead[kept] & (says[positions] if len(positions) else np.zeros(0, bool))
    lengths = np.bincount(kept[keep], minlength=len(rules))[~dead]
    return RuleSet.from_arrays(
        schema,
        ConditionTable.from_conditions(pairs, schema),
        np.concatenate([[0], np.cumsum(lengths)]),
        positions[keep],
        rules.outcome[~dead],
        outcomes=rules.outcomes,
        ordered=rules.ordered,
        default=rules.default,
        provenance={name: column[~dead] for name, column in rules.provenance.items()},
    )


def _meet(conditions: Sequence[Condition | None]) -> Condition | None:
    out = conditions[0]
    for c in conditions[1:]:
        if out is None or c is None:
            return None
        try:
            out = intersect(out, c)
        except ContradictionError:
            return None
    return out


def _always(condition: Condition, feature: Feature) -> bool:
    if isinstance(condition, Missing) or not condition.or_missing:
        return False
    if isinstance(condition, Interval):
        return condition.low == -math.inf and condition.high == math.inf
    return condition.negated and not condition.levels and not feature.is_numeric


def _restored(condition: Condition, column: Derived, feature: Feature) -> Condition | None:
    """The condition on the feature that holds where the given one holds on the column."""
    if column.outputs is None:
        return _on_numbers(condition, column)
    holds = [condition.holds(_number(value)) for value in column.outputs]
    *levels, unseen, missing = holds
    if feature.kind == "boolean":
        unseen = False  # a value that is neither False nor True meets nothing
    chosen = [v for v, h in zip(feature.levels, levels, strict=True) if h != unseen]
    if unseen:
        return Membership(chosen, True, missing)
    if chosen:
        return Membership(chosen, False, missing)
    return Missing() if missing else None


def _on_numbers(condition: Condition, column: Derived) -> Condition | None:
    missing = bool(condition.holds(float(column.number(np.array([np.nan]))[0])))
    if isinstance(condition, Missing):
        # Only a missing value becomes a missing one; every number stays a number.
        return Missing() if missing else None
    assert isinstance(condition, Interval)
    if not column.steps:
        return condition
    exact = condition.to_float64()
    low, high = -math.inf, math.inf
    empty = False
    if exact.low > -math.inf:
        closed = exact.low_closed
        low = _first(lambda v: v >= exact.low if closed else v > exact.low, column)
        empty = math.isnan(low)
    if exact.high < math.inf:
        closed_ = exact.high_closed
        above = _first(lambda v: v > exact.high if closed_ else v >= exact.high, column)
        high = math.inf if math.isnan(above) else math.nextafter(above, -math.inf)
        empty = empty or above == -math.inf
    if empty or low > high or low == math.inf or high == -math.inf:
        return Missing() if missing else None
    return Interval(low, high, True, True, missing)


def _first(test: Callable[[Floats], NDArray[np.bool_]], column: Derived) -> float:
    """The smallest double whose derived number passes a test that larger numbers pass too.

    Bisection over all doubles with the very arithmetic of the steps, so that the end is
    exact; -inf where all pass, NaN where none does.
    """

    def passes(key: int) -> bool:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            return bool(test(column.number(np.array([_from_key(key)])))[0])

    below, at = _to_key(-math.inf), _to_key(math.inf)
    if passes(below):
        return -math.inf
    if not passes(at):
        return math.nan
    while at - below > 1:
        middle = (below + at) // 2
        below, at = (below, middle) if passes(middle) else (middle, at)
    return _from_key(at)


def _to_key(value: float) -> int:
    """Whole numbers in the order of the doubles."""
    bits = int(np.float64(value).view(np.int64))
    return bits if bits >= 0 else -(bits & 0x7FFFFFFFFFFFFFFF)


def _from_key(key: int) -> float:
    bits = key if key >= 0 else -key
    value = float(np.int64(bits).view(np.float64))
    return value if key >= 0 else -value


def level_outputs(feature: Feature) -> tuple[Any, ...]:
    """What a feature with levels is before any step: its levels, unseen, missing."""
    if feature.kind == "boolean":
        return (0.0, 1.0, math.nan, math.nan)
    return (*feature.levels, UNSEEN, None)
