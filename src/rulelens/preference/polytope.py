"""The weights that agree with what was said: a polytope inside the simplex.

P = {w : w ≥ 0, Σw = 1, strict rows g·w > 0, weak rows g·w ≥ 0, equal rows g·w = 0}.

Work inside P needs the affine hull of P, not only of the simplex: ties, bounds that meet and
statements that force a weight to zero all make P flat. Constraints that are tight on the whole of
P are found exactly by one linear program on the cone over P, where "can be slack" is a 0/1 matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import null_space

from rulelens.preference.programs import maximize
from rulelens.preference.statements import Constraint
from rulelens.preference.table import ROUNDING, BoolArray, FloatArray, read_only

TOLERANCE = 1e-9
"""Slack below which a constraint counts as tight; rows are scaled to largest entry 1, Σw = 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Polytope:
    """Compatible weights, as rows of constraints.

    Parameters
    ----------
    n_weights : int
    strict, weak, equal : arrays of float64, shape (·, n_weights)

    Examples
    --------
    >>> Polytope.simplex(3).interior().center.round(3)
    array([0.333, 0.333, 0.333])
    """

    n_weights: int
    strict: FloatArray
    weak: FloatArray
    equal: FloatArray

    @classmethod
    def simplex(cls, n_weights: int) -> Polytope:
        """All weights: nothing was said."""
        return cls.of((), n_weights)

    @classmethod
    def of(cls, constraints: Sequence[Constraint], n_weights: int) -> Polytope:
        """Polytope of elementary constraints; a constraint said twice counts once."""

        def rows(kind: str) -> FloatArray:
            found = [c.row for c in constraints if c.kind == kind]
            return read_only(_distinct(np.array(found).reshape(-1, n_weights)))

        return cls(n_weights, rows("strict"), rows("weak"), rows("equal"))

    @property
    def inequalities(self) -> FloatArray:
        """Rows R with R w ≥ 0 on the closure: the weights themselves, strict rows, weak rows."""
        return np.vstack([np.eye(self.n_weights), self.strict, self.weak])

    def holds(self, weights: FloatArray) -> bool:
        """Whether `weights` satisfy everything: strict rows above 0, the others up to rounding.

        Examples
        --------
        >>> tie = Polytope(2, np.zeros((0, 2)), np.zeros((0, 2)), np.array([[1.0, -1.0]]))
        >>> tie.holds(np.array([0.5, 0.5])), tie.holds(np.array([0.6, 0.4]))
        (True, False)
        """
        # A weight forced to 0 may come out as 1e-17, so that all of a row's reach is rounding.
        weak, equal = (
            ROUNDING * (np.abs(rows) @ weights + 1e-3 * np.abs(rows).max(axis=1, initial=0.0))
            for rows in (self.weak, self.equal)
        )
        return bool(
            (self.strict @ weights > 0).all()
            and (self.weak @ weights >= -weak).all()
            and (np.abs(self.equal @ weights) <= equal).all()
        )

    def interior(self) -> Interior | None:
        """Affine hull of P and the centre of its largest ball; None if P is empty."""
        # 1. Most often P is flat only where a tie was stated: one program finds the largest ball.
        found = _largest_ball(self.inequalities, self.equal)
        if found is not None and found.radius > TOLERANCE:
            return found
        # 2. Otherwise find what is tight everywhere and look inside the smaller hull.
        tight = self.tight()
        if tight is None or self._denies_strict(tight):
            return None
        if not tight.any():
            return found
        rows = self.inequalities
        return _largest_ball(rows[~tight], np.vstack([self.equal, rows[tight]]))

    def _denies_strict(self, tight: BoolArray) -> bool:
        return bool(tight[self.n_weights : self.n_weights + len(self.strict)].any())

    def tight(self) -> BoolArray | None:
        """Which of `inequalities` hold with equality on the whole closure; None if it is empty.

        References
        ----------
        Freund, Roundy, Todd: Identifying the set of always-active constraints in a system of
        linear inequalities by a single linear program (1985).
        """
        rows = scaled(self.inequalities)
        n_rows, n = rows.shape
        # w lies in the cone (Σw free), t_i = min(1, slack of row i): scaling w up sends every row
        # that can be slack to t_i = 1, so the largest Σt marks exactly those.
        best = maximize(
            np.r_[np.zeros(n), np.ones(n_rows)],
            np.hstack([-rows, np.eye(n_rows)]),
            np.zeros(n_rows),
            equal=np.hstack([scaled(self.equal), np.zeros((len(self.equal), n_rows))]),
            equal_values=np.zeros(len(self.equal)),
            bounds=[(0, None)] * n + [(0, 1)] * n_rows,
        )
        if best is None or best.point[:n].sum() <= 0.5:
            return None
        weights = best.point[:n] / best.point[:n].sum()
        tight = (best.point[n:] < 0.5) | (rows @ weights <= TOLERANCE)
        return None if tight[:n].all() else tight

    def extent(self, row: FloatArray) -> tuple[float, float] | None:
        """Smallest and largest row·w on the closure of P; None if it is empty."""
        ends = []
        ones = np.ones((1, self.n_weights))
        size = float(np.abs(row).max(initial=0.0)) or 1.0
        for sign in (-1.0, 1.0):
            best = maximize(
                sign * row / size,
                -scaled(np.vstack([self.strict, self.weak])),
                np.zeros(len(self.strict) + len(self.weak)),
                equal=np.vstack([ones, scaled(self.equal)]),
                equal_values=np.r_[1.0, np.zeros(len(self.equal))],
                bounds=(0, None),
            )
            if best is None:
                return None
            ends.append(sign * best.value * size)
        return ends[0], ends[1]


@dataclass(frozen=True, slots=True, eq=False)
class Interior:
    """P seen from inside its affine hull: w = center + basis z with rows·(basis z) ≤ slack.

    Parameters
    ----------
    center : array, shape (m,)
        Centre of the largest ball inside P (Chebyshev centre), measured in the hull.
    radius : float
        Radius of that ball; inf if P is a single point.
    basis : array, shape (m, k)
        Orthonormal directions of the hull.
    rows : array, shape (q, k)
        The constraints that matter in the hull, turned to `rows @ z <= slack`.
    slack : array, shape (q,)
        Their slack at the centre.
    """

    center: FloatArray
    radius: float
    basis: FloatArray
    rows: FloatArray
    slack: FloatArray

    @property
    def dimension(self) -> int:
        """Number of directions in which the weights are still free."""
        return int(self.basis.shape[1])


def scaled(rows: FloatArray) -> FloatArray:
    """Rows divided by their largest entry, zero rows left as they are."""
    largest = np.abs(rows).max(axis=1, initial=0.0)
    return rows / np.where(largest > 0, largest, 1.0)[:, None]


def _distinct(rows: FloatArray) -> FloatArray:
    """Rows without exact repeats, in order of first appearance."""
    if len(rows) < 2:
        return rows
    _, first = np.unique(scaled(rows), axis=0, return_index=True)
    return rows[np.sort(first)]


def hull_basis(equal: FloatArray, n_weights: int) -> FloatArray:
    """Orthonormal basis of {v : Σv = 0, equal·v = 0}, shape (n_weights, k)."""
    if len(equal) == 0:
        return _helmert(n_weights)
    return np.ascontiguousarray(null_space(np.vstack([np.ones((1, n_weights)), scaled(equal)])))


def _helmert(n: int) -> FloatArray:
    basis = np.zeros((n, n - 1))
    for j in range(1, n):
        basis[:j, j - 1] = 1.0
        basis[j, j - 1] = -j
        basis[:, j - 1] /= np.sqrt(j * (j + 1.0))
    return basis


def _largest_ball(rows: FloatArray, equal: FloatArray) -> Interior | None:
    """Largest ball in {Σw = 1, rows w ≥ 0, equal w = 0} inside the hull of the equalities."""
    n = rows.shape[1]
    rows = scaled(rows)
    basis = hull_basis(equal, n)
    norms = np.linalg.norm(rows @ basis, axis=1)
    moves = norms > TOLERANCE
    equalities = np.vstack([np.ones((1, n)), equal])
    # Without free directions the radius has no limit of its own.
    limit = 1.0 if basis.shape[1] else 0.0
    best = maximize(
        np.r_[np.zeros(n), 1.0],
        np.hstack([-rows, np.where(moves, norms, 0.0)[:, None]]),
        np.zeros(len(rows)),
        equal=np.hstack([equalities, np.zeros((len(equalities), 1))]),
        equal_values=np.r_[1.0, np.zeros(len(equal))],
        bounds=[(None, None)] * n + [(0, limit)],
    )
    if best is None:
        return None
    center = best.point[:n]
    slack = rows @ center
    if basis.shape[1] == 0:
        # A single point: strict rows are settled by their value there, not by a ball.
        radius = 0.0 if (slack <= TOLERANCE).any() else np.inf
        return Interior(center, radius, basis, np.zeros((0, 0)), np.zeros(0))
    stuck = (slack <= TOLERANCE) & ~moves
    radius = 0.0 if stuck.any() else float(best.point[n])
    return Interior(center, radius, basis, -(rows[moves] @ basis), slack[moves])


def cube_interior(polytope: Polytope, interior: Interior) -> Interior:
    """The cone over P cut by the cube [0, 1]^m, seen from inside.

    Uniform draws from it, divided by their sum, are compatible weights under the belief that each
    weight is uniform on [0, 1] before normalising; that is not uniform on the simplex.
    """
    rows = polytope.inequalities
    center = np.maximum(interior.center, 0.0)
    center = center * (0.5 / center.max())
    # The cone spans the hull of P and the ray through the centre.
    spanned, _ = np.linalg.qr(np.column_stack([interior.basis, center]))
    basis = np.ascontiguousarray(spanned)
    open_ = (scaled(rows) @ interior.center > TOLERANCE) & (
        np.linalg.norm(scaled(rows) @ basis, axis=1) > TOLERANCE
    )
    walls = np.vstack([-scaled(rows)[open_] @ basis, basis])
    slack = np.r_[scaled(rows)[open_] @ center, 1.0 - center]
    kept = np.linalg.norm(walls, axis=1) > TOLERANCE
    return Interior(center, np.nan, basis, walls[kept], slack[kept])
