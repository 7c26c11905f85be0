"""What follows for certain: necessary and possible preferences, and the ranks that can occur."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import LinearConstraint

from rulelens.errors import OptionError, PreferenceError
from rulelens.preference.certificate import ExactCriteria, exact_multipliers, remainder
from rulelens.preference.polytope import TOLERANCE, Polytope, scaled
from rulelens.preference.programs import maximize
from rulelens.preference.ranking import json_id
from rulelens.preference.statements import Constraint, Prefer
from rulelens.preference.switches import cheapest_switches
from rulelens.preference.table import BoolArray, Criteria, FloatArray, common_size, is_number

MIN_MARGIN = 1e-4
"""Smallest margin of extreme ranks: below, the solver's own tolerance decides the answer."""

_SCALE = 100.0

MAX_UNSETTLED = 300
"""Most alternatives whose order is open for which extreme ranks are computed."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """Proof that `better` is at least as good as `worse` under all compatible weights.

    Parameters
    ----------
    better, worse : hashable
    margin : float
        Smallest difference of their scores over the compatible weights.
    multipliers : tuple of (str, Fraction)
        Statements used, in the user's words, and how often: their sum plus a non-negative rest is
        the difference of the two. Checked in fractions.
    rest : tuple of (str, Fraction)
        Criteria in which something is left over, and how much.
    reason : str
        One sentence in the user's words.
    """

    better: Hashable
    worse: Hashable
    margin: float
    multipliers: tuple[tuple[str, Fraction], ...]
    rest: tuple[tuple[str, Fraction], ...]
    reason: str

    def __str__(self) -> str:
        return self.reason

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe dict, fractions as text."""
        return {
            "better": json_id(self.better),
            "worse": json_id(self.worse),
            "margin": self.margin,
            "multipliers": {p: str(y) for p, y in self.multipliers},
            "rest": {n: str(y) for n, y in self.rest},
            "reason": self.reason,
        }


def necessary(
    criteria: Criteria,
    constraints: Sequence[Constraint],
    better: Hashable,
    worse: Hashable,
    *,
    labels: Mapping[Hashable, str] | None = None,
    fractions: ExactCriteria | None = None,
) -> Certificate | None:
    """Proof that `better` is at least as good as `worse` whatever compatible weights are taken.

    Returns
    -------
    Certificate or None
        None where some compatible weights say otherwise, or where the proof cannot be verified in
        fractions (a difference of exactly zero that rounding hides).

    Raises
    ------
    PreferenceError
        The statements contradict each other: then everything would follow.

    Examples
    --------
    >>> from rulelens.preference.statements import constraints_of
    >>> c = Criteria(("a", "b", "c"), ("x", "y"), [[1, 0], [0, 1], [0.5, 0.4]])
    >>> print(necessary(c, constraints_of([Prefer("a", "b")], c), "a", "c"))
    a is at least as good as c for all weights that agree with you, because you said a over b.
    >>> necessary(c, (), "a", "b") is None
    True
    """
    target = criteria.row(better) - criteria.row(worse)
    m, n = len(criteria.names), len(constraints)
    rows = np.array([c.row for c in constraints]).reshape(n, m)
    # The solver's tolerances are absolute: rows are brought to size 1, whatever the criteria's.
    size, sizes = _size(target), np.array([_size(row) for row in rows])
    free = [c.kind == "equal" for c in constraints]
    # Dual of: minimise target·w over the compatible weights.
    best = maximize(
        np.r_[np.zeros(n), 1.0],
        np.hstack([(rows / sizes[:, None]).T, np.ones((m, 1))]),
        target / size,
        bounds=[(None, None) if f else (0, None) for f in free] + [(None, None)],
        unbounded="Statements that contradict each other imply everything. Undo one first.",
    )
    if best is None or best.value < -TOLERANCE:
        return None
    numbers = ExactCriteria(criteria) if fractions is None else fractions
    goal = numbers.difference(better, worse)
    stated = [numbers.constraint(c) for c in constraints]
    proof = exact_multipliers(goal, stated, best.point[:n] * (size / sizes), free)
    if proof is None:
        return None
    used = [(c, y) for c, y in zip(constraints, proof, strict=True) if y]
    left = remainder(goal, stated, proof)
    return Certificate(
        better,
        worse,
        max(best.value, 0.0) * size + 0.0,  # no -0.0
        tuple((c.phrase, y) for c, y in used),
        tuple((name, v) for name, v in zip(criteria.names, left, strict=True) if v),
        _reason(better, worse, [c for c, _ in used], labels or {}),
    )


def _size(row: FloatArray) -> float:
    """Largest entry of a row, by which it is divided; 1 for a row of zeros."""
    return float(np.abs(row).max(initial=0.0)) or 1.0


def _reason(
    better: Hashable, worse: Hashable, used: Sequence[Constraint], labels: Mapping[Hashable, str]
) -> str:
    a, b = labels.get(better, str(better)), labels.get(worse, str(worse))
    if not used:
        return f"{a} is at least as good as {b} on every criterion."
    said = [c.phrase for c in used]
    listed = said[0] if len(said) == 1 else f"{', '.join(said[:-1])} and {said[-1]}"
    return (
        f"{a} is at least as good as {b} for all weights that agree with you, because you said "
        f"{listed}."
    )


def possible(polytope: Polytope, row: FloatArray) -> tuple[FloatArray, float] | None:
    """Compatible weights that make row·w largest, and its value, if it is positive.

    On the closed polytope every preference is possible as a tie; this asks for a margin > 0.

    Examples
    --------
    >>> possible(Polytope.simplex(2), np.array([1.0, -1.0]))
    (array([1., 0.]), 1.0)
    """
    size = _size(row)
    closed = scaled(np.vstack([polytope.strict, polytope.weak]))
    best = maximize(
        row / size,
        -closed,
        np.zeros(len(closed)),
        equal=np.vstack([np.ones((1, polytope.n_weights)), scaled(polytope.equal)]),
        equal_values=np.r_[1.0, np.zeros(len(polytope.equal))],
        bounds=(0, None),
    )
    if best is None or best.value <= TOLERANCE:
        return None
    return best.point, best.value * size


def counterexample(polytope: Polytope, center: FloatArray, row: FloatArray) -> FloatArray | None:
    """Compatible weights with row·w > 0, every strict statement kept, or None if there are none.

    Parameters
    ----------
    polytope : Polytope
    center : array, shape (m,)
        Weights inside the polytope.
    row : array, shape (m,)

    Examples
    --------
    >>> counterexample(Polytope.simplex(2), np.array([0.5, 0.5]), np.array([1.0, -1.0]))
    array([0.75, 0.25])
    """
    found = possible(polytope, row)
    if found is None:
        return None
    point, most = found
    # At the point some strict statements may be ties: go towards the centre, where none is, but
    # not so far that row·w sinks to 0.
    at_center = float(row @ center)
    share = 0.5 if at_center >= 0 else 0.5 * most / (most - at_center)
    weights = np.maximum((1 - share) * point + share * center, 0.0) + 0.0  # no -0.0
    weights /= weights.sum()
    return weights if polytope.holds(weights) and row @ weights > 0 else None


def necessary_pairs(
    criteria: Criteria,
    constraints: Sequence[Constraint],
    *,
    draws: FloatArray | None = None,
    labels: Mapping[Hashable, str] | None = None,
) -> tuple[Certificate, ...]:
    """Certificates of all necessary preferences between two different alternatives.

    Parameters
    ----------
    draws : array, shape (s, m), optional
        Compatible weights. A pair that one of them orders the other way needs no program; those
        that all of them order alike are still proved, never taken for granted.
    """
    scores = None if draws is None else criteria.values @ draws.T
    found = []
    ids = criteria.alternatives
    size = _size(criteria.values.ravel())
    exact = ExactCriteria(criteria)
    for i, a in enumerate(ids):
        hopeful = np.ones(len(ids), dtype=np.bool_)
        if scores is not None:
            hopeful = (scores[i] - scores >= -1e-9 * size).all(axis=1)
        for j in np.flatnonzero(hopeful).tolist():
            if i != j:
                proof = necessary(criteria, constraints, a, ids[j], labels=labels, fractions=exact)
                if proof is not None:
                    found.append(proof)
    return tuple(found)


class _MarginNotKept(Exception):
    """No compatible weights keep the margin."""


@dataclass(frozen=True, slots=True)
class ExtremeRanks:
    """Best and worst rank of an alternative over all weights that keep a margin.

    Parameters
    ----------
    alternative : hashable
    best, worst : int
        1 is the top. Equal scores count in favour of the extreme that is asked for.
    margin : float
        Every strict statement holds by at least this much; with other margins the ranks differ.
    """

    alternative: Hashable
    best: int
    worst: int
    margin: float


def extreme_ranks(
    criteria: Criteria,
    polytope: Polytope,
    alternative: Hashable,
    *,
    margin: float = 0.01,
) -> ExtremeRanks:
    """Best and worst rank of `alternative`, by mixed-integer programs.

    Raises
    ------
    PreferenceError
        No compatible weights keep the margin.
    OptionError
        A margin below 1e-4, or more than 300 open alternatives: too many for the program.

    Examples
    --------
    >>> c = Criteria(("a", "b", "c"), ("x", "y"), [[1, 0], [0, 1], [-1, -1]])
    >>> extreme_ranks(c, Polytope.simplex(2), "a")
    ExtremeRanks(alternative='a', best=1, worst=2, margin=0.01)
    """
    own = criteria.row(alternative)
    gaps = np.delete(own - criteria.values, criteria.position(alternative), axis=0)
    blocks = (polytope.strict, polytope.weak, polytope.equal)
    size = common_size(gaps, *blocks)
    least = MIN_MARGIN * size
    if not (is_number(margin) and least <= margin < np.inf):
        raise OptionError(
            f"The margin is {margin!r}. Expected a number of at least {least:.3g}: with less, "
            "rounding in the solver would decide about ranks."
        )
    unit = Polytope(polytope.n_weights, *(block / size for block in blocks))
    try:
        above, below = (_fewest_violated(g / size, unit, margin / size) for g in (gaps, -gaps))
    except _MarginNotKept:
        raise PreferenceError(
            f"No weights satisfy every strict statement by a margin of {margin}. Use a smaller "
            "margin: result('max_eps').epsilon is the largest that is possible."
        ) from None
    return ExtremeRanks(alternative, 1 + above, len(criteria) - below, margin)


def _fewest_violated(rows: FloatArray, polytope: Polytope, margin: float) -> int:
    """Smallest number of rows with row·w < 0 over the compatible weights that keep the margin."""
    # Rows without a negative entry never are negative; the others may be let go at price 1.
    rows = rows[(rows < 0).any(axis=1)]
    n, m = rows.shape[0], polytope.n_weights
    if n > MAX_UNSETTLED:
        raise OptionError(
            f"Extreme ranks among {n} open alternatives need a program that is too large (limit "
            f"{MAX_UNSETTLED}). Ask about the best ones only, or use rank acceptability."
        )
    none = np.zeros
    # Weights that sum to 100 instead of 1 make the solver's absolute tolerance 100 times finer.
    slack = np.diag(-rows.min(axis=1, initial=0.0)) * _SCALE
    parts = [LinearConstraint(np.r_[np.ones(m), none(n)][None], _SCALE, _SCALE)]
    for block, low, high in (
        (polytope.strict, margin * _SCALE, np.inf),
        (polytope.weak, 0.0, np.inf),
        (polytope.equal, 0.0, 0.0),
    ):
        if len(block):
            parts.append(LinearConstraint(np.hstack([block, none((len(block), n))]), low, high))
    if n:
        parts.append(LinearConstraint(np.hstack([rows, slack]), 0.0, np.inf))
    given_up = cheapest_switches(
        np.ones(n), m, parts, lambda let_go: _clash(rows, let_go, polytope, margin)
    )
    if given_up is None:
        raise _MarginNotKept
    return int(given_up.sum())


def _clash(
    rows: FloatArray, let_go: BoolArray, polytope: Polytope, margin: float
) -> list[list[int]]:
    """Sets of rows kept that cannot all be ≥ 0 where the margin is kept; none if they can."""
    kept = np.flatnonzero(~let_go)
    if len(kept) == 0:
        return []
    closed = np.vstack([polytope.strict, polytope.weak])
    limits = np.r_[np.full(len(polytope.strict), -margin), np.zeros(len(polytope.weak))]
    wanted = scaled(rows[kept])
    # The largest amount by which all of them can be above 0.
    best = maximize(
        np.r_[np.zeros(polytope.n_weights), 1.0],
        np.vstack(
            [
                np.hstack([-wanted, np.ones((len(kept), 1))]),
                np.hstack([-closed, np.zeros((len(closed), 1))]),
            ]
        ),
        np.r_[np.zeros(len(kept)), limits],
        equal=np.vstack(
            [
                np.r_[np.ones(polytope.n_weights), 0.0][None],
                np.hstack([scaled(polytope.equal), np.zeros((len(polytope.equal), 1))]),
            ]
        ),
        equal_values=np.r_[1.0, np.zeros(len(polytope.equal))],
        bounds=[(0, None)] * polytope.n_weights + [(None, 1.0)],
    )
    if best is None or best.value >= -TOLERANCE:
        # None: the margin itself is at the edge of what the solver can tell, and it was kept.
        return []
    pressed = np.flatnonzero(best.upper_duals[: len(kept)] > TOLERANCE)
    return [(kept[pressed] if len(pressed) else kept).tolist()]


def is_stated(constraints: Sequence[Constraint], better: Hashable, worse: Hashable) -> bool:
    """Whether `better` over `worse` was said, directly or through a chain of pairs."""
    below: dict[Hashable, list[Hashable]] = {}
    for constraint in constraints:
        if isinstance(constraint.statement, Prefer):
            pair = constraint.statement
            below.setdefault(pair.better, []).append(pair.worse)
    reached, todo = set[Hashable](), [better]
    while todo:
        for other in below.get(todo.pop(), ()):
            if other not in reached:
                reached.add(other)
                todo.append(other)
    return worse in reached
