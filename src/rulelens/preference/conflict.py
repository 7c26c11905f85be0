"""Statements that contradict each other: a smallest core of them, in the user's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rulelens.preference.polytope import TOLERANCE
from rulelens.preference.programs import maximize
from rulelens.preference.statements import Constraint, Statement
from rulelens.preference.table import FloatArray


@dataclass(frozen=True, slots=True)
class Conflict:
    """Elementary statements that no weights satisfy together, though any fewer of them can hold.

    Parameters
    ----------
    statements : tuple of Statement
        The elementary statements (pairs, indifferences, intensities, bounds).
    phrases : tuple of str
        The same in the user's words.
    sources : tuple of int
        For each, the position of the statement in the session that it came from.
    reason : str
        Why, where a single statement is impossible by itself; mostly empty otherwise.
    """

    statements: tuple[Statement, ...]
    phrases: tuple[str, ...]
    sources: tuple[int, ...]
    reason: str = ""

    def __str__(self) -> str:
        listed = "; ".join(self.phrases)
        if self.reason:
            return f"No weights agree with: {listed}. The reason: {self.reason} Withdraw it."
        return (
            f"No weights agree with all of these at once: {listed}. "
            "Withdraw one of them; what is left of these can then hold."
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe dict with phrases, sources, reason and the sentence."""
        return {
            "phrases": list(self.phrases),
            "sources": list(self.sources),
            "reason": self.reason,
            "text": str(self),
        }


def consistent(constraints: Sequence[Constraint], n_weights: int) -> bool:
    """Whether some weights satisfy all `constraints`, strict ones with a margin.

    Examples
    --------
    >>> consistent((), 3)
    True
    """
    return blame(constraints, n_weights) is None


def find_conflict(constraints: Sequence[Constraint], n_weights: int) -> Conflict | None:
    """An irreducible infeasible subset of `constraints`, or None if they are consistent.

    The multipliers of the infeasible program (Farkas) name a first subset; then each member is
    tried: where the rest still conflicts without it, it goes.

    References
    ----------
    Chinneck: Feasibility and Infeasibility in Optimization (2008), chapter 6.

    Examples
    --------
    >>> from rulelens.preference.criteria import Criteria
    >>> from rulelens.preference.statements import Prefer, constraints_of
    >>> c = Criteria(("a", "b"), ("x", "y"), [[1, 0], [0, 1]])
    >>> print(find_conflict(constraints_of([Prefer("a", "b"), Prefer("b", "a")], c), 2))
    No weights agree with all of these at once: a over b; b over a. Withdraw one of them;
    what is left of these can then hold.
    """
    blamed = blame(constraints, n_weights)
    if blamed is None:
        return None
    core = list(blamed)
    # The oldest are tried first, so that of equal cores the one with newer statements is named.
    for member in list(blamed):
        rest = [i for i in core if i != member]
        if rest and blame([constraints[i] for i in rest], n_weights) is not None:
            core = rest
    chosen = [constraints[i] for i in core]
    return Conflict(
        tuple(c.statement for c in chosen),
        tuple(c.phrase for c in chosen),
        tuple(c.source for c in chosen),
        _reason(chosen[0]) if len(chosen) == 1 else "",
    )


def _reason(constraint: Constraint) -> str:
    if not np.abs(constraint.row).max() > 0:
        return "both are the same on every criterion."
    if constraint.kind == "strict":
        return "it is nowhere better and somewhere worse, on every criterion."
    return "all criteria speak against it."


def blame(constraints: Sequence[Constraint], n_weights: int) -> tuple[int, ...] | None:
    """Positions that a Farkas certificate of infeasibility uses; None if consistent."""
    strict = [i for i, c in enumerate(constraints) if c.kind == "strict"]
    weak = [i for i, c in enumerate(constraints) if c.kind == "weak"]
    equal = [i for i, c in enumerate(constraints) if c.kind == "equal"]
    rows = [_unit(c.row) for c in constraints]

    def stack(chosen: list[int]) -> FloatArray:
        return np.array([rows[i] for i in chosen]).reshape(-1, n_weights)

    n_weak, n_equal = len(weak), len(equal)
    ones = np.r_[np.ones(n_weights), 0.0][None]
    # 1. Ties and bounds alone: by how much must they give way?
    if weak or equal:
        soft = np.vstack([stack(weak), stack(equal), -stack(equal)])
        found = maximize(
            np.r_[np.zeros(n_weights), -1.0],
            np.hstack([-soft, -np.ones((len(soft), 1))]),
            np.zeros(len(soft)),
            equal=ones,
            equal_values=[1.0],
            bounds=(0, None),
        )
        if found is not None and found.value < -TOLERANCE:
            used = found.upper_duals
            pressed = [used[:n_weak], used[n_weak : n_weak + n_equal] + used[n_weak + n_equal :]]
            return _support(weak, pressed[0]) + _support(equal, pressed[1])
    if not strict:
        return None
    # 2. All of them: the largest common margin of the strict ones.
    upper = np.vstack(
        [
            np.hstack([-stack(strict), np.ones((len(strict), 1))]),
            np.hstack([-stack(weak), np.zeros((n_weak, 1))]),
        ]
    )
    best = maximize(
        np.r_[np.zeros(n_weights), 1.0],
        upper,
        np.zeros(len(upper)),
        equal=np.vstack([ones, np.hstack([stack(equal), np.zeros((n_equal, 1))])]),
        equal_values=np.r_[1.0, np.zeros(n_equal)],
        bounds=[(0, None)] * n_weights + [(None, 1)],
    )
    if best is None:  # ties and bounds hold only within the tolerance of step 1
        return tuple(range(len(constraints)))
    if best.value > TOLERANCE:
        return None
    duals, ties = best.upper_duals, best.equal_duals[1:]
    blamed = (
        _support(strict, duals[: len(strict)])
        + _support(weak, duals[len(strict) :])
        + _support(equal, np.abs(ties))
    )
    return tuple(sorted(blamed))


def _support(positions: list[int], multipliers: FloatArray) -> tuple[int, ...]:
    return tuple(i for i, y in zip(positions, multipliers, strict=True) if abs(y) > TOLERANCE)


def _unit(row: FloatArray) -> FloatArray:
    largest = np.abs(row).max()
    return row / largest if largest > 0 else row
