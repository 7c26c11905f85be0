"""Proofs in exact fractions that a difference cannot be negative.

d·w ≥ 0 for every w ≥ 0 that satisfies the statements g_i·w ≥ 0 exactly when d is a non-negative
combination of the g_i plus something non-negative in every criterion (Farkas). The multipliers
come from a linear program in floating point; here they are turned to fractions and checked again.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulelens.preference.statements import Constraint, constraint_row
from rulelens.preference.table import Criteria, FloatArray

Row: TypeAlias = list[Fraction]

_MAX_DENOMINATOR = 1_000_000


def exact(value: float) -> Fraction:
    """The fraction that `value` stands for: the simplest one with this double, or the double.

    A share such as 281/546 is stored rounded. The fraction with a denominator of at most a million
    that rounds to the same double is unique; where there is none, the double itself is meant.

    Examples
    --------
    >>> exact(281 / 546), exact(0.1), exact(2 ** -60) == Fraction(1, 2 ** 60)
    (Fraction(281, 546), Fraction(1, 10), True)
    """
    near = Fraction(value).limit_denominator(_MAX_DENOMINATOR)
    return near if float(near) == value else Fraction(value)


class ExactCriteria:
    """Criteria in fractions, for the alternatives that are asked for.

    Examples
    --------
    >>> c = Criteria(("a", "b"), ("x",), [[1 / 3], [0.5]])
    >>> ExactCriteria(c).difference("b", "a")
    [Fraction(1, 6)]
    """

    def __init__(self, criteria: Criteria) -> None:
        self._criteria = criteria
        self._rows: dict[Hashable, NDArray[Any]] = {}

    def row(self, alternative: Hashable) -> NDArray[Any]:
        """Values of one alternative as an array of fractions."""
        if alternative not in self._rows:
            values = self._criteria.row(alternative).tolist()
            self._rows[alternative] = np.array([exact(v) for v in values], dtype=object)
        return self._rows[alternative]

    def unit(self, name: str) -> NDArray[Any]:
        """1 for the criterion `name`, 0 for the others."""
        found = np.full(len(self._criteria.names), Fraction(0), dtype=object)
        found[self._criteria.column(name)] = Fraction(1)
        return found

    def difference(self, first: Hashable, second: Hashable) -> Row:
        """Values of `first` minus those of `second`."""
        return list(self.row(first) - self.row(second))

    def constraint(self, constraint: Constraint) -> Row:
        """Row of an elementary statement."""
        zero = np.full(len(self._criteria.names), Fraction(0), dtype=object)
        return list(constraint_row(constraint.statement, self.row, self.unit, exact, nothing=zero))


def remainder(target: Row, rows: Sequence[Row], multipliers: Sequence[Fraction]) -> Row:
    """target - Σ multiplier·row, in fractions."""
    left = list(target)
    for row, y in zip(rows, multipliers, strict=True):
        if y:
            # Most rules name few features: zeros are no work.
            left = [a - y * b if b else a for a, b in zip(left, row, strict=True)]
    return left


def exact_multipliers(
    target: Row, rows: Sequence[Row], approximate: FloatArray, free: Sequence[bool]
) -> list[Fraction] | None:
    """Fractions near `approximate` that prove target·w ≥ 0, or None if no proof was found.

    Parameters
    ----------
    target : list of Fraction, length m
    rows : sequence of such lists
    approximate : array
        Multipliers from a linear program.
    free : sequence of bool
        Rows that are equalities, whose multipliers may be negative.

    Examples
    --------
    >>> rows = [[Fraction(1), Fraction(-1)]]
    >>> exact_multipliers([Fraction(2), Fraction(-2)], rows, np.array([2.0000000001]), [False])
    [Fraction(2, 1)]
    """

    def proves(multipliers: Sequence[Fraction]) -> bool:
        signs = all(y >= 0 or may for y, may in zip(multipliers, free, strict=True))
        return signs and min(remainder(target, rows, multipliers)) >= 0

    # 1. Simple fractions: sums and small multiples of statements.
    for limit in (12, 1_000, 1_000_000):
        tried = [Fraction(y).limit_denominator(limit) for y in approximate.tolist()]
        if proves(tried):
            return tried
    # 2. The vertex that the program found, solved exactly.
    # What counts as nothing hangs on the size of the rows: multipliers carry it.
    sizes = [max((abs(float(v)) for v in row), default=0.0) for row in (target, *rows)]
    unit = sizes[0] or 1.0
    weighed = np.abs(approximate) * np.array(sizes[1:]).reshape(-1) / unit
    used = np.flatnonzero(weighed > 1e-9).tolist()
    rest = np.array([float(v) for v in target])
    for i in used:
        rest -= approximate[i] * np.array([float(v) for v in rows[i]])
    tight = [j for j in np.argsort(rest, kind="stable").tolist() if rest[j] < 1e-7 * unit]
    solved = _solve([[rows[i][j] for i in used] for j in tight], [target[j] for j in tight])
    if solved is None:
        return None
    full = [Fraction(0)] * len(rows)
    for i, y in zip(used, solved, strict=True):
        full[i] = y
    return full if proves(full) else None


def _solve(system: list[Row], values: Row) -> list[Fraction] | None:
    """A solution of the first independent equations of a system, by Gauss in fractions."""
    n = len(system[0]) if system else 0
    reduced: list[tuple[int, Row]] = []
    for equation, value in zip(system, values, strict=True):
        row = [*equation, value]
        for pivot, known in reduced:
            if row[pivot]:
                factor = row[pivot]
                row = [a - factor * b for a, b in zip(row, known, strict=True)]
        pivot = next((j for j in range(n) if row[j]), -1)
        if pivot >= 0:
            scale = row[pivot]
            reduced.append((pivot, [a / scale for a in row]))
        if len(reduced) == n:
            break
    if len(reduced) < n:
        return None
    solution = [Fraction(0)] * n
    for pivot, row in reversed(reduced):
        solution[pivot] = row[n] - sum(
            (row[j] * solution[j] for j in range(n) if j != pivot), Fraction(0)
        )
    return solution
