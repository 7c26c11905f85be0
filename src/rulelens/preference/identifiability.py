"""Which weights the alternatives can tell apart at all."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from rulelens.errors import OptionError
from rulelens.preference.conflict import consistent
from rulelens.preference.hit_and_run import Seed, generator
from rulelens.preference.polytope import Interior
from rulelens.preference.statements import Prefer, constraints_of
from rulelens.preference.table import Criteria, FloatArray, without_offsets

_EXACT = 1e-9


@dataclass(frozen=True, slots=True)
class Identifiability:
    """What no answers can tell apart, and what they have not yet told.

    Parameters
    ----------
    n_criteria : int
    n_effective : int
        Rank of the differences between alternatives: how many numbers the order depends on.
    n_free : int
        Directions in which the compatible weights can still move.
    constant : tuple of str
        Criteria that are the same for all alternatives: their weights change no order.
    proportional : tuple of (str, str)
        Pairs of criteria whose differences are proportional: only a mix of the two is known.
    dependent : tuple of str
        Criteria that are a weighted sum of others (proportional ones left aside).
    """

    n_criteria: int
    n_effective: int
    n_free: int
    constant: tuple[str, ...]
    proportional: tuple[tuple[str, str], ...]
    dependent: tuple[str, ...]

    @property
    def identifiable(self) -> bool:
        """Whether the weights could be learned exactly, given enough answers."""
        return self.n_effective == self.n_criteria

    def __str__(self) -> str:
        parts = [
            f"The order depends on {self.n_effective} numbers, not on all {self.n_criteria} "
            f"weights; {self.n_free} directions are still free."
            if not self.identifiable
            else f"All {self.n_criteria} weights matter; {self.n_free} directions are still free."
        ]
        if self.constant:
            parts.append(f"The same for all: {', '.join(self.constant)}.")
        parts += [f"{a} and {b} are proportional." for a, b in self.proportional]
        if self.dependent:
            parts.append(f"A sum of other criteria: {', '.join(self.dependent)}.")
        if not self.identifiable:
            parts.append("Read the weights as one of many that rank alike, not as the true ones.")
        return " ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe dict."""
        return {
            "n_criteria": self.n_criteria,
            "n_effective": self.n_effective,
            "n_free": self.n_free,
            "constant": list(self.constant),
            "proportional": [list(p) for p in self.proportional],
            "dependent": list(self.dependent),
            "text": str(self),
        }


def identifiability(criteria: Criteria, interior: Interior) -> Identifiability:
    """Rank, proportional and dependent criteria, and the freedom that is left.

    Examples
    --------
    >>> from rulelens.preference.polytope import Polytope
    >>> c = Criteria(("a", "b", "c"), ("x", "y", "z"), [[1, 2, 5], [0, 0, 5], [0.5, 1, 5]])
    >>> print(identifiability(c, Polytope.simplex(3).interior()))
    The order depends on 1 numbers, not on all 3 weights; 2 directions are still free.
    The same for all: z. x and y are proportional.
    Read the weights as one of many that rank alike, not as the true ones.
    """
    centred = without_offsets(criteria.values)
    centred = centred - centred.mean(axis=0)
    length = np.linalg.norm(centred, axis=0)
    largest = float(np.abs(without_offsets(criteria.values)).max())
    scale = max(largest, 1e-300) * np.sqrt(len(criteria))
    moves = length > _EXACT * scale
    unit = centred[:, moves] / length[moves]
    names = [n for n, m in zip(criteria.names, moves, strict=True) if m]
    cosine = unit.T @ unit
    i, j = np.nonzero(np.triu(1 - np.abs(cosine) < _EXACT, 1))
    twins = {int(b) for b in j}
    single = [p for p in range(len(names)) if p not in twins]
    return Identifiability(
        n_criteria=len(criteria.names),
        n_effective=int(np.linalg.matrix_rank(unit, tol=1e-8)) if len(names) else 0,
        n_free=interior.dimension,
        constant=tuple(n for n, m in zip(criteria.names, moves, strict=True) if not m),
        proportional=tuple(
            (names[a], names[b]) for a, b in zip(i.tolist(), j.tolist(), strict=True)
        ),
        dependent=tuple(names[p] for p in single if _is_sum(unit, p, single)),
    )


def _is_sum(unit: FloatArray, column: int, among: list[int]) -> bool:
    others = unit[:, [p for p in among if p != column]]
    if others.shape[1] == 0 or others.shape[1] >= len(unit):
        return False
    fit, *_ = np.linalg.lstsq(others, unit[:, column], rcond=None)
    return bool(np.linalg.norm(others @ fit - unit[:, column]) < 1e-8)


def representable_share(
    criteria: Criteria, size: int, *, n_trials: int = 200, random_state: Seed = 0
) -> float:
    """Share of random rankings of `size` alternatives that some weights reproduce.

    Near 1, "the statements are consistent" says little: almost anything would be.

    Examples
    --------
    >>> c = Criteria(("a", "b", "c"), ("x",), [[1], [0], [0.5]])
    >>> representable_share(c, 3, n_trials=60) < 0.5
    True
    """
    if not 2 <= size <= len(criteria):
        raise OptionError(f"size is {size}. Expected 2 to {len(criteria)} alternatives.")
    rng = generator(random_state)
    held = 0
    for _ in range(n_trials):
        chosen = [criteria.alternatives[i] for i in rng.permutation(len(criteria))[:size].tolist()]
        pairs = [Prefer(a, b) for a, b in pairwise(chosen)]
        held += consistent(constraints_of(pairs, criteria), len(criteria.names))
    return held / n_trials
