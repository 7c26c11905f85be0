"""Shorter thresholds: the same rules in fewer digits, checked against a table."""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

import numpy as np
from numpy.typing import NDArray

from rulelens.bits.table import RowLayout, pack_conditions
from rulelens.core.condition_table import ConditionTable
from rulelens.core.conditions import Condition, Interval, Missing
from rulelens.core.ruleset import RuleSet
from rulelens.errors import ContradictionError
from rulelens.frames import Table

_EXACT = Context(prec=800)
"""Every double has at most 767 digits, so sums and quotients by powers of ten are exact."""


def shorten(rules: RuleSet, table: Table) -> RuleSet:
    """The same rules with the shortest thresholds that select the same rows of a table.

    A threshold may move at most half the way to the next value of the table on either side,
    so that it stays where the model put it; among the numbers with fewest digits there the
    one nearest to the old threshold is taken. Conditions compare in double precision
    afterwards, and ``or missing`` goes where the table has no missing value. On rows outside
    the table the new rules may differ from the old ones: use them for showing, and the old
    ones for counting elsewhere.

    Parameters
    ----------
    rules : RuleSet
    table : Table
        Rows with the rule set's schema, such as the training rows.

    Returns
    -------
    RuleSet
        Every condition covers the same rows of `table` as before; a threshold that cannot be
        shortened so stays as it is.

    Examples
    --------
    >>> from rulelens.core.rule import Rule
    >>> from rulelens.core.schema import Schema
    >>> from rulelens.frames import read_table
    >>> schema = Schema.numeric(["width"])
    >>> long = Interval(high=0.800000011920929, high_closed=True, precision="float32")
    >>> rules = RuleSet.from_rules([Rule({"width": long}, "a")], schema)
    >>> print(shorten(rules, read_table([[0.6], [1.0]], schema)))
    0: IF width <= 0.8 THEN a
    """
    conditions = rules.conditions
    old = [conditions.condition(i, rules.schema) for i in range(len(conditions))]
    values: dict[int, NDArray[np.float64]] = {}
    gaps: dict[int, bool] = {}
    new: list[Condition] = []
    for f, condition in zip(conditions.feature.tolist(), old, strict=True):
        column = table.columns[f]
        if f not in gaps:
            numeric = rules.schema[f].is_numeric
            missing = np.isnan(column) if numeric else column < 0
            gaps[f] = bool(missing.any())
            if numeric:
                values[f] = np.unique(column[~missing])
        new.append(_shorter(condition, values.get(f), gaps[f]))
    # Whatever selects other rows than before, for any reason, stays as it was.
    features = conditions.feature.tolist()
    layout = RowLayout.plain(table.n_rows)
    as_table = ConditionTable.from_conditions(list(zip(features, new, strict=True)), rules.schema)
    step = max(1, (64 << 20) // (8 * max(1, layout.n_words)))
    for a in range(0, len(old), step):
        part = np.arange(a, min(a + step, len(old)))
        before = pack_conditions(conditions.take(part), table, layout)
        after = pack_conditions(as_table.take(part), table, layout)
        for i in part[(before != after).any(axis=1)].tolist():
            new[i] = old[i]
    return RuleSet.from_arrays(
        rules.schema,
        ConditionTable.from_conditions(list(zip(features, new, strict=True)), rules.schema),
        rules.offsets,
        rules.indices,
        rules.outcome,
        outcomes=rules.outcomes,
        ordered=rules.ordered,
        default=rules.default,
        provenance=rules.provenance,
    )


def _shorter(condition: Condition, values: NDArray[np.float64] | None, gap: bool) -> Condition:
    """One condition in fewer digits; `values` are the feature's distinct ones, ascending."""
    if isinstance(condition, Missing):
        return condition
    if condition.or_missing and not gap:
        condition = replace(condition, or_missing=False)
    if not isinstance(condition, Interval) or values is None:
        return condition
    seen = values
    if condition.precision == "float32":
        with np.errstate(over="ignore"):
            seen = values.astype(np.float32).astype(np.float64)
    low, high = condition.low, condition.high
    if low > -np.inf:
        at = int(np.searchsorted(seen, low, side="left" if condition.low_closed else "right"))
        low = shortest_near(low, *_neighbours(values, at, low), condition.low_closed)
    if high < np.inf:
        at = int(np.searchsorted(seen, high, side="right" if condition.high_closed else "left"))
        high = shortest_near(high, *_neighbours(values, at, high), not condition.high_closed)
    try:
        return replace(condition, low=low, high=high, precision="float64")
    except ContradictionError:
        return condition


def _neighbours(values: NDArray[np.float64], at: int, end: float) -> tuple[float, float]:
    """Values below and above a cut before position `at`; a lacking one mirrors the other."""
    below = float(values[at - 1]) if at > 0 else -np.inf
    above = float(values[at]) if at < len(values) else np.inf
    if np.isinf(below) and np.isfinite(above):
        below = min(end - abs(above - end), end)
    elif np.isinf(above) and np.isfinite(below):
        above = max(end + abs(end - below), end)
    return below, above


def shortest_near(end: float, below: float, above: float, upper: bool) -> float:
    """The number with fewest digits about `end`, at most half the way to the values beside it.

    `upper`: the cut may equal the value above but not the one below; otherwise the reverse.
    """
    if not (np.isfinite(below) and np.isfinite(above) and below < above):
        return end

    least, most = below / 2 + end / 2, end / 2 + above / 2

    def fits(v: float) -> bool:
        if not least <= v <= most:
            return False
        return below < v <= above if upper else below <= v < above

    exact, width = Decimal(end), _EXACT.subtract(Decimal(above), Decimal(below))
    first = width.adjusted() + 1
    for exponent in range(first, first - 20, -1):
        unit = Decimal(1).scaleb(exponent)
        ratio = _EXACT.divide(exact, unit)
        found = {
            float(_EXACT.multiply(ratio.to_integral_value(rounding=way, context=_EXACT), unit))
            for way in (ROUND_FLOOR, ROUND_CEILING)
        }
        inside = sorted((abs(v - end), v) for v in found if fits(v))
        if inside:
            return inside[0][1]
    return end
