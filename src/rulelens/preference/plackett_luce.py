"""Weights of a person whose answers are not always consistent: Bayesian Plackett-Luce.

Each statement is a choice with noise: the chance to choose an alternative is proportional to
exp(score / noise). Contradictions then make the weights less certain instead of impossible.
Weights are uniform on the simplex beforehand; the noise is learned too unless it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rulelens.errors import OptionError
from rulelens.preference.diagnostics import effective_sample_size, split_rhat
from rulelens.preference.hit_and_run import Seed, WeightSample, checked_draws, generator
from rulelens.preference.slice_chains import Chains, Choices
from rulelens.preference.statements import (
    BestOf,
    Indifferent,
    Intensity,
    Prefer,
    Ranking,
    Recalled,
    Statement,
    WeightBound,
)
from rulelens.preference.table import Criteria, FloatArray, is_number, without_offsets

NOISE_LEVELS = np.geomspace(0.02, 1.0, 12)
"""Noise levels tried when it is learned, as shares of the usual spread of scores."""

_LARGEST_NOISE = 1e6
_CHAINS = 128
_GROUPS = 4


def choices_of(statements: Sequence[Statement], criteria: Criteria) -> Choices:
    """`statements` as noisy choices; bounds on weights are no choices and are left out.

    A ranking is a sequence of choices (best of all, best of the rest …). "As good as" is a choice
    that could have gone either way.

    Examples
    --------
    >>> c = Criteria(("a", "b", "c"), ("x", "y"), [[1, 0], [0, 1], [0.5, 0.4]])
    >>> choices = choices_of([Ranking((("a",), ("b",), ("c",)))], c)
    >>> choices.gaps.shape, choices.starts.tolist()
    ((3, 2), [0, 2])
    """
    row = criteria.row
    factors: list[list[FloatArray]] = []
    for statement in statements:
        match statement:
            case Prefer(a, b):
                factors.append([row(a) - row(b)])
            case Indifferent(a, b):
                factors += [[row(a) - row(b)], [row(b) - row(a)]]
            case Intensity(a, b, c, d):
                factors.append([row(a) - row(b) - row(c) + row(d)])
            case BestOf(best, shown):
                factors.append([row(best) - row(a) for a in shown if a != best])
            case Ranking(groups):
                for i, group in enumerate(groups):
                    rest = [row(a) for later in groups[i + 1 :] for a in later]
                    if rest:
                        factors += [[row(a) - r for r in rest] for a in group]
                    for other in group[1:]:
                        gap = row(group[0]) - row(other)
                        factors += [[gap], [-gap]]
            case Recalled("strict"):
                factors.append([_terms(statement, criteria)])
            case Recalled("equal"):
                gap = _terms(statement, criteria)
                factors += [[gap], [-gap]]
            case WeightBound() | Recalled():
                pass
    sizes = np.array([len(f) for f in factors], dtype=np.int64)
    gaps = np.array([g for f in factors for g in f]).reshape(-1, len(criteria.names))
    return Choices(gaps, np.cumsum(sizes) - sizes)


def _terms(statement: Recalled, criteria: Criteria) -> FloatArray:
    row = np.zeros(len(criteria.names))
    for name, value in statement.terms:
        row[criteria.column(name)] += value
    return row


@dataclass(frozen=True, slots=True, eq=False)
class NoisyPosterior:
    """Draws of the weights and of the noise that goes with each.

    Parameters
    ----------
    sample : WeightSample
    noise : array, shape (n_draws,)
        As a share of the usual spread of scores.
    spread : float
        That usual spread.
    """

    sample: WeightSample
    noise: FloatArray
    spread: float

    @property
    def scale(self) -> FloatArray:
        """Noise in units of scores, shape (n_draws,)."""
        return self.noise * self.spread


def score_spread(criteria: Criteria, rng: np.random.Generator) -> float:
    """Usual standard deviation of scores, over weights that are uniform on the simplex."""
    weights = rng.dirichlet(np.ones(len(criteria.names)), 64)
    some = without_offsets(criteria.values)
    if len(some) > 2_000:
        some = some[np.linspace(0, len(some) - 1, 2_000).astype(np.int64)]
    least = 1e-12 * float(np.abs(some).max(initial=0.0))
    return max(float((some @ weights.T).std(axis=0).mean()), least) or 1.0


def sample_noisy(
    criteria: Criteria,
    statements: Sequence[Statement],
    *,
    noise: float | None = None,
    n_draws: int = 4_096,
    start: FloatArray | None = None,
    random_state: Seed = 0,
) -> NoisyPosterior:
    """Posterior draws of the weights given noisy statements.

    Slice sampling along exchanges between two weights and along the directions in which the
    chains themselves spread, all chains in lockstep. Above 100 criteria many exchanges are made at
    once instead, and steps grow with the number of statements.

    Parameters
    ----------
    criteria : Criteria
    statements : sequence of Statement
    noise : float, optional
        Scale of the noise as a share of the usual spread of scores (0.1: careful; 0.5: about one
        wrong answer in five). Learned if not given.
    n_draws : int
    start : array, shape (s, m), optional
        Draws of an earlier posterior to start from: fewer steps of burn-in are then enough.
    random_state : int, Generator or None

    Examples
    --------
    >>> c = Criteria(("a", "b"), ("x", "y"), [[1, 0], [0, 1]])
    >>> posterior = sample_noisy(c, [Prefer("a", "b")] * 3 + [Prefer("b", "a")], noise=0.5)
    >>> 0.5 < float(posterior.sample.draws[:, 0].mean()) < 0.8
    True
    """
    if noise is not None and not (is_number(noise) and 0 < noise <= _LARGEST_NOISE):
        raise OptionError(
            f"noise is {noise!r}. Expected a number above 0 and at most {_LARGEST_NOISE:g}, or "
            "None to learn it."
        )
    rng = generator(random_state)
    m = len(criteria.names)
    choices = choices_of(statements, criteria)
    spread = score_spread(criteria, rng)
    low, high = _bounds(statements, criteria)
    weights = _start(start, m, low, high, rng)
    levels = (NOISE_LEVELS if noise is None else np.array([noise])) * spread
    state = Chains(weights, choices, levels, low, high, rng)
    # 1. Burn-in; half-way, directions come from the chains themselves.
    steps = state.steps_between_draws()
    burn = (5 * steps if start is not None else 20 * steps) // 2
    state.walk(burn // 2)
    state.learn_directions()
    state.walk(burn - burn // 2)
    # 2. Draws.
    per_chain = max(8, -(-checked_draws(n_draws) // _CHAINS))
    kept = np.empty((per_chain, m, _CHAINS))
    noises = np.empty((per_chain, _CHAINS))
    for i in range(per_chain):
        state.walk(steps)
        kept[i], noises[i] = state.weights, state.noise
    draws = np.ascontiguousarray(kept.transpose(2, 0, 1))
    draws = np.maximum(draws, 0.0)
    draws /= draws.sum(axis=2, keepdims=True)
    ess, rhat = effective_sample_size(draws), split_rhat(draws, _GROUPS)
    flat = draws.reshape(-1, m)
    sample = WeightSample(
        flat, _CHAINS, float(ess.min()), float(rhat.max()), flat.std(axis=0) / np.sqrt(ess)
    )
    return NoisyPosterior(sample, noises.T.ravel() / spread, spread)


def _bounds(statements: Sequence[Statement], criteria: Criteria) -> tuple[FloatArray, FloatArray]:
    low, high = np.zeros(len(criteria.names)), np.ones(len(criteria.names))
    for statement in statements:
        if isinstance(statement, WeightBound):
            j = criteria.column(statement.name)
            low[j] = max(low[j], statement.low or 0.0)
            high[j] = min(high[j], 1.0 if statement.high is None else statement.high)
    if (low > high).any() or low.sum() > 1 or high.sum() < 1:
        raise OptionError(
            "The bounds on the weights contradict each other: no weights that sum to 1 satisfy "
            "them. Withdraw one."
        )
    return low, high


def _start(
    start: FloatArray | None, m: int, low: FloatArray, high: FloatArray, rng: np.random.Generator
) -> FloatArray:
    """Weights (m, chains) to start from, inside the bounds."""
    if start is not None:
        rows = np.linspace(0, len(start) - 1, _CHAINS).round().astype(np.int64)
        weights = start[rows].T.copy()
        if ((weights >= low[:, None]) & (weights <= high[:, None])).all():
            return weights
    room = high - low
    middle = low + room * ((1.0 - low.sum()) / max(room.sum(), 1e-12))
    spread = rng.dirichlet(np.ones(m), _CHAINS).T
    # As far from the middle towards random weights as the bounds allow, and a bit less.
    step = spread - middle[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(step > 0, (high - middle)[:, None] / step, (low - middle)[:, None] / step)
    reach = np.where(np.abs(step) < 1e-15, 1.0, reach)
    found: FloatArray = middle[:, None] + step * np.minimum(reach.min(axis=0), 1.0) * 0.95
    return found
