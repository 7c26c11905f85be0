"""Simulated persons with hidden weights, to measure how much is learned from their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from rulelens.errors import OptionError
from rulelens.preference.hit_and_run import Seed, generator
from rulelens.preference.table import FloatArray, IntArray

Prior: TypeAlias = Literal["uniform", "simplex"]


def random_weights(
    n_criteria: int, n_persons: int = 1, *, prior: Prior = "uniform", random_state: Seed = 0
) -> FloatArray:
    """Hidden weights of persons, shape (n_persons, n_criteria), rows summing to 1.

    Parameters
    ----------
    prior : {"uniform", "simplex"}
        "uniform", as in the paper: each weight from [0, 1], then normalised, which makes extreme
        weights rarer than "simplex", where all weights that sum to 1 are alike.

    Examples
    --------
    >>> random_weights(3, 2).sum(axis=1).tolist()
    [1.0, 1.0]
    """
    rng = generator(random_state)
    if prior == "uniform":
        raw = rng.random((n_persons, n_criteria))
    elif prior == "simplex":
        raw = rng.standard_exponential((n_persons, n_criteria))
    else:
        raise OptionError(f"Unknown prior {prior!r}. Expected 'uniform' or 'simplex'.")
    return np.asarray(raw / raw.sum(axis=1, keepdims=True), dtype=np.float64)


@dataclass(slots=True)
class SimulatedPerson:
    """Answers by hidden utilities, with noise of Plackett-Luce kind.

    Parameters
    ----------
    utilities : array, shape (n,)
        One per alternative.
    noise : float
        Share of the utilities' standard deviation; 0 answers without error. Two alternatives with
        difference d are ordered right with probability 1 / (1 + exp(-d / (noise · sd))).
    random_state : int, Generator or None

    Examples
    --------
    >>> person = SimulatedPerson(np.array([0.1, 0.5, 0.3]))
    >>> person.prefers(0, 1), person.rank([0, 1, 2]), person.best_of([0, 2])
    (False, [1, 2, 0], 2)
    """

    utilities: FloatArray
    noise: float = 0.0
    random_state: Seed = 0
    _rng: np.random.Generator = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.noise >= 0:
            raise OptionError(f"noise is {self.noise!r}. Expected 0 or more.")
        self._rng = generator(self.random_state)

    def _heard(self, shown: Sequence[int]) -> FloatArray:
        scale = self.noise * float(self.utilities.std())
        felt = self.utilities[list(shown)]
        return felt + scale * self._rng.gumbel(size=len(shown)) if scale > 0 else felt

    def prefers(self, a: int, b: int) -> bool:
        """Whether `a` is called better than `b`."""
        first, second = self._heard([a, b])
        return bool(first > second)

    def best_of(self, shown: Sequence[int]) -> int:
        """The one of those `shown` that is called best."""
        return int(shown[int(self._heard(shown).argmax())])

    def rank(self, shown: Sequence[int]) -> list[int]:
        """Those `shown`, best first."""
        order: IntArray = np.argsort(-self._heard(shown), kind="stable")
        return [int(shown[i]) for i in order.tolist()]
