"""What is believed about a person's weights before anything is said, and what is left of it.

"simplex": all weights that sum to 1 are alike. "uniform": each weight is drawn from [0, 1] and all
are divided by their sum, which prefers even weights. Nobody knows which suits a person, so the
belief "mixed" holds both for possible, and shares the draws by how well each foresaw the answers.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, gammaln, logsumexp

from rulelens.errors import OptionError, did_you_mean
from rulelens.preference.analytic_center import AnalyticCenter
from rulelens.preference.hit_and_run import Seed, WeightSample, generator, sample_weights
from rulelens.preference.polytope import Interior, Polytope, cube_interior
from rulelens.preference.table import FloatArray, IntArray

Prior: TypeAlias = Literal["mixed", "simplex", "uniform"]
PRIORS: tuple[str, ...] = ("mixed", "simplex", "uniform")

_LEAST_SHARE = 0.05
"""What the answers leave at least of either belief: persons are of neither kind exactly."""


def checked_prior(prior: str) -> None:
    """Raise an OptionError if `prior` names no belief."""
    if prior not in PRIORS:
        raise OptionError(f"Unknown prior {prior!r}. {did_you_mean(str(prior), PRIORS)}")


def sample_belief(
    polytope: Polytope,
    interior: Interior,
    n_draws: int,
    *,
    prior: Prior,
    center: AnalyticCenter | None = None,
    n_chains: int = 512,
    thin: int = 4,
    burn_in: int = 40,
    random_state: Seed = 0,
) -> WeightSample:
    """Draws of compatible weights under a belief.

    Parameters
    ----------
    polytope : Polytope
        The weights that agree with what was said.
    interior : Interior
        Of `polytope`.
    n_draws : int
    prior : {"mixed", "simplex", "uniform"}
        With "mixed" half of the chains walk under each of the other two, and `n_draws` of their
        draws are kept by the odds of `log_evidence`, some of them twice where one belief has most.
    center : AnalyticCenter, optional
        Of `interior`; computed if not given.
    n_chains : int
    thin, burn_in : int
        Steps between draws and before the first, for each free direction.
    random_state : int, Generator or None

    Examples
    --------
    >>> triangle = Polytope.simplex(3)
    >>> sample = sample_belief(triangle, triangle.interior(), 4_000, prior="mixed")
    >>> sample.reliable, sample.draws.mean(axis=0).round(1)
    (True, array([0.3, 0.3, 0.3]))
    """
    checked_prior(prior)
    rng = generator(random_state) if prior == "mixed" else random_state
    n_bodies = 2 if prior == "mixed" else 1

    def walk(body: Interior, known: AnalyticCenter | None) -> WeightSample:
        return sample_weights(
            body,
            max(1, n_draws // n_bodies),
            center=known,
            n_chains=max(8, n_chains // n_bodies),
            thin=thin * body.dimension,
            burn_in=burn_in * body.dimension,
            random_state=rng,
        )

    if prior == "simplex" or interior.dimension == 0:
        return walk(interior, center)
    even = walk(cube_interior(polytope, interior), None)
    if prior == "uniform":
        return even
    flat = walk(interior, center)
    odds = log_evidence(flat.draws, even.draws, interior.dimension)
    share = float(np.clip(expit(odds), _LEAST_SHARE, 1 - _LEAST_SHARE))
    return _shared(flat, even, share)


def log_evidence(flat: FloatArray, even: FloatArray, dimension: int) -> float:
    """How much better "uniform" foresaw what was said than "simplex": log of their odds.

    Weights w that are uniform on [0, 1] and then normalised have the density max(w)^-m / m! beside
    that of the simplex. Both samples together tell what either belief gave the polytope beforehand.

    Parameters
    ----------
    flat : array, shape (s, m)
        Draws of the polytope under "simplex".
    even : array, shape (t, m)
        Draws under "uniform".
    dimension : int
        Of the polytope: m - 1, or less where something was said to be equal.

    References
    ----------
    Bennett: Efficient estimation of free energy differences from Monte Carlo data (1976).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> flat, cube = rng.dirichlet(np.ones(5), 4_000), rng.random((4_000, 5))
    >>> even = cube / cube.sum(axis=1, keepdims=True)
    >>> abs(log_evidence(flat, even, 4)) < 0.1
    True

    That no weight is above 0.4 is foreseen by "uniform" more than by "simplex":

    >>> flat, even = (draws[draws.max(axis=1) < 0.4] for draws in (flat, even))
    >>> log_evidence(flat, even, 4) > 0.5
    True
    """
    m = flat.shape[1]
    # A cone over the polytope is one dimension more: draws of it have this density here.
    of_flat, of_even = (-(dimension + 1) * np.log(draws.max(axis=1)) for draws in (flat, even))
    size = np.log(len(even) / len(flat))

    def surplus(odds: float) -> float:
        told = expit(of_flat - odds + size).sum() - expit(odds - of_even - size).sum()
        return float(told)

    ends = np.r_[of_flat, of_even]
    low, high = float(ends.min()) - 60.0, float(ends.max()) + 60.0
    odds = float(brentq(surplus, low, high, xtol=1e-6))
    # Where alternatives are said to be equal, draws of the cone lack a power of the scale for each
    # dimension that this takes away.
    rest = -(m - dimension - 1) * np.log(even.max(axis=1))
    return float(odds + logsumexp(rest) - np.log(len(even)) - gammaln(m + 1))


def _shared(flat: WeightSample, even: WeightSample, share: float) -> WeightSample:
    """Of both samples as many draws as there are in one and the other; `share` of them even."""
    n = len(flat.draws) + len(even.draws)
    n_even = round(n * share)
    draws = np.vstack(
        [
            flat.draws[_spread(len(flat.draws), n - n_even)],
            even.draws[_spread(len(even.draws), n_even)],
        ]
    )
    # The variance of a mean of both is the sum of theirs, by the squares of the shares.
    ess = 1.0 / ((1 - share) ** 2 / flat.ess + share**2 / even.ess)
    mcse = np.sqrt(((1 - share) * flat.mcse) ** 2 + (share * even.mcse) ** 2)
    return WeightSample(
        draws,
        flat.n_chains + even.n_chains,
        min(ess, flat.ess + even.ess),
        max(flat.rhat, even.rhat),
        mcse,
    )


def _spread(n: int, k: int) -> IntArray:
    """`k` positions spread evenly over 0 … n - 1, some twice where k > n."""
    return np.linspace(0, n - 1, k).round().astype(np.int64)
