"""The fewest statements to withdraw so that the rest can hold together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import LinearConstraint

from rulelens.errors import PreferenceError
from rulelens.preference.conflict import blame, consistent
from rulelens.preference.statements import Constraint, Statement
from rulelens.preference.switches import cheapest_switches
from rulelens.preference.table import BoolArray

_SCALE = 100.0


@dataclass(frozen=True, slots=True)
class Repair:
    """A smallest set of elementary statements whose withdrawal ends the contradiction.

    Parameters
    ----------
    statements : tuple of Statement
    phrases : tuple of str
        The same in the user's words.
    sources : tuple of int
        For each, the position of the statement in the session that it came from.
    n_kept : int
        How many elementary statements stay.
    """

    statements: tuple[Statement, ...]
    phrases: tuple[str, ...]
    sources: tuple[int, ...]
    n_kept: int

    def __str__(self) -> str:
        if not self.phrases:
            return "Nothing needs to be withdrawn: some weights agree with everything."
        return (
            f"Withdraw {'; '.join(self.phrases)}, and the other {self.n_kept} can hold together. "
            "No smaller set does it."
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe dict with phrases, sources and the sentence."""
        return {
            "phrases": list(self.phrases),
            "sources": list(self.sources),
            "n_kept": self.n_kept,
            "text": str(self),
        }


def smallest_repair(constraints: Sequence[Constraint], n_weights: int) -> Repair:
    """Fewest elementary statements to withdraw, newer ones first where the number is equal.

    Raises
    ------
    PreferenceError
        The mixed-integer program was not solved.

    Examples
    --------
    >>> from rulelens.preference.table import Criteria
    >>> from rulelens.preference.statements import Prefer, constraints_of
    >>> c = Criteria(("a", "b"), ("x", "y"), [[1, 0], [0, 1]])
    >>> said = [Prefer("a", "b"), Prefer("b", "a"), Prefer("a", "b")]
    >>> smallest_repair(constraints_of(said, c), 2).phrases
    ('b over a',)
    """
    n = len(constraints)
    if n == 0 or consistent(constraints, n_weights):
        return Repair((), (), (), n)
    rows = np.array([c.row for c in constraints])
    largest = np.abs(rows).max(axis=1, keepdims=True)
    rows = rows / np.where(largest > 0, largest, 1.0)
    equal = np.array([c.kind == "equal" for c in constraints])
    # A withdrawn statement may be violated by as much as its row can be on the simplex.
    give = np.diag(-rows.min(axis=1, initial=0.0) * _SCALE)
    take = np.diag(np.maximum(rows.max(axis=1), 0.0) * _SCALE)
    parts = [
        LinearConstraint(np.r_[np.ones(n_weights), np.zeros(n)][None], _SCALE, _SCALE),
        LinearConstraint(np.hstack([rows, give]), 0.0, np.inf),
    ]
    if equal.any():
        parts.append(LinearConstraint(np.hstack([rows, -take])[equal], -np.inf, 0.0))

    # The program takes strict statements for weak ones: a margin that is large enough for the
    # solver may be larger than any that the statements leave. What is strict is checked apart.
    def clashes(withdrawn: BoolArray) -> list[list[int]]:
        kept, cores = np.flatnonzero(~withdrawn).tolist(), []
        while (blamed := blame([constraints[i] for i in kept], n_weights)) is not None:
            cores.append([kept[i] for i in blamed])
            kept = [i for i in kept if i not in cores[-1]]
        return cores

    found = cheapest_switches(1.0 - 1e-3 * np.arange(n) / n, n_weights, parts, clashes)
    if found is None:  # pragma: no cover - withdrawing all is always possible
        raise PreferenceError("The smallest repair was not found. Withdraw what conflict() names.")
    withdrawn = np.flatnonzero(found).tolist()
    gone = [constraints[i] for i in withdrawn]
    return Repair(
        tuple(c.statement for c in gone),
        tuple(c.phrase for c in gone),
        tuple(c.source for c in gone),
        n - len(gone),
    )
