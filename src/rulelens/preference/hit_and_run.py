"""Uniform draws from the compatible weights, with a report on how good they are.

Hit-and-run: step along a line through the current point, to a place drawn uniformly between the
two walls that the line meets. Which lines decides everything. Axes of a rounded space meet all
walls; here the lines are the edges of cones that any k of the walls span, so that each line meets
few walls, goes far, and suits the polytope however thin it is. Many chains step in lockstep, so
that a step is a handful of array operations on the walls that it meets.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, qr, solve_triangular

from rulelens.errors import OptionError, PreferenceError
from rulelens.preference.analytic_center import AnalyticCenter, analytic_center
from rulelens.preference.diagnostics import effective_sample_size, split_rhat
from rulelens.preference.polytope import Interior
from rulelens.preference.table import FloatArray

Seed: TypeAlias = int | np.random.Generator | None


def generator(random_state: Seed) -> np.random.Generator:
    """The generator that `random_state` means.

    Raises
    ------
    OptionError
        No whole number of at least 0, Generator or None.
    """
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise OptionError(
            f"random_state is {random_state!r}. Expected a whole number of at least 0, a numpy "
            "Generator, or None."
        ) from None


def checked_draws(n_draws: int) -> int:
    """`n_draws` if it is a whole number of at least 1, else an OptionError."""
    if isinstance(n_draws, bool) or not isinstance(n_draws, int | np.integer) or n_draws < 1:
        raise OptionError(f"n_draws is {n_draws!r}. Expected a whole number of at least 1.")
    return int(n_draws)


MIN_ESS = 400.0
MAX_RHAT = 1.01
_GROUPS = 4
_BURN_IN = 40
_NEVER = 1e-13

Line: TypeAlias = tuple[NDArray[np.intp] | slice, FloatArray]


@dataclass(frozen=True, slots=True, eq=False)
class WeightSample:
    """Draws from the compatible weights and their diagnostics.

    Parameters
    ----------
    draws : array, shape (n_draws, m)
        Weights; every row is non-negative and sums to 1.
    n_chains : int
    ess : float
        Effective sample size of the worst coordinate.
    rhat : float
        Largest R-hat over the coordinates.
    mcse : array, shape (m,)
        Monte-Carlo standard error of each mean weight.
    """

    draws: FloatArray
    n_chains: int
    ess: float
    rhat: float
    mcse: FloatArray

    @property
    def reliable(self) -> bool:
        """Whether ESS ≥ 400 and R-hat ≤ 1.01: below that no centroid is given."""
        return self.ess >= MIN_ESS and self.rhat <= MAX_RHAT

    def centroid(self) -> FloatArray:
        """Mean of the draws, refused where the diagnostics say that it would mislead.

        Raises
        ------
        PreferenceError
            ESS below 400 or R-hat above 1.01.
        """
        if not self.reliable:
            raise PreferenceError(
                f"The sample is too poor for a centroid: effective size {self.ess:.0f} (needs "
                f"{MIN_ESS:.0f}), R-hat {self.rhat:.3f} (needs {MAX_RHAT} or less). Ask for more "
                "draws, or use method 'analytic', which needs none."
            )
        mean = self.draws.mean(axis=0)
        return np.asarray(mean / mean.sum(), dtype=np.float64)


def sample_weights(
    interior: Interior,
    n_draws: int = 8_000,
    *,
    center: AnalyticCenter | None = None,
    n_chains: int = 512,
    thin: int | None = None,
    burn_in: int | None = None,
    random_state: Seed = 0,
) -> WeightSample:
    """Uniform draws from a polytope of weights by hit-and-run.

    Parameters
    ----------
    interior : Interior
    n_draws : int
        At least this many draws are returned (a whole number per chain, at least 8).
    center : AnalyticCenter, optional
        Computed if not given.
    n_chains : int
        A multiple of 4; chains in lockstep.
    thin : int, optional
        Steps between draws; 4 times the number of free directions by default.
    burn_in : int, optional
        Steps before the first draw; 40 times the number of free directions by default.
    random_state : int, Generator or None

    Returns
    -------
    WeightSample

    References
    ----------
    Smith: Efficient Monte Carlo procedures for generating points uniformly distributed over
    bounded regions (1984).

    Examples
    --------
    >>> from rulelens.preference.polytope import Polytope
    >>> sample = sample_weights(Polytope.simplex(3).interior(), random_state=1)
    >>> sample.reliable, sample.centroid().round(1)
    (True, array([0.3, 0.3, 0.3]))
    """
    if n_chains < 2 * _GROUPS or n_chains % _GROUPS:
        raise OptionError(f"n_chains is {n_chains}. Expected a multiple of {_GROUPS}, at least 8.")
    rng = generator(random_state)
    k = interior.dimension
    per_chain = max(8, -(-checked_draws(n_draws) // n_chains))
    if k == 0:
        total = per_chain * n_chains
        point = np.broadcast_to(interior.center, (total, len(interior.center)))
        return WeightSample(point, n_chains, float(total), 1.0, np.zeros(len(interior.center)))
    middle = analytic_center(interior) if center is None else center
    # 1. Coordinates y in which the barrier's Hessian at the centre is round; walls rows·y ≤ 1.
    lower = cholesky(middle.hessian, lower=True)
    to_z = solve_triangular(lower, np.eye(k), lower=True).T
    rows = (interior.rows / (interior.slack - interior.rows @ middle.offset)[:, None]) @ to_z
    back = np.linalg.pinv(rows)
    # 2. Burn-in, from groups of starts far apart.
    lines = _lines(rows, rng)
    slack = 1.0 - rows @ _spread_starts(rows, n_chains, rng)
    _walk(slack, lines, _BURN_IN * k if burn_in is None else int(burn_in), rng)
    # 3. Draws. The walls' slacks are all that a chain needs; y is read off them.
    steps = 4 * k if thin is None else int(thin)
    kept = np.empty((per_chain, k, n_chains))
    for i in range(per_chain):
        _walk(slack, lines, steps, rng)
        kept[i] = back @ (1.0 - slack)
        slack = np.maximum(1.0 - rows @ kept[i], _NEVER)
    to_weights = interior.basis @ to_z
    inside = interior.center + interior.basis @ middle.offset
    weights = np.maximum(kept.transpose(2, 0, 1) @ to_weights.T + inside, 0.0)
    weights /= weights.sum(axis=2, keepdims=True)
    # 4. How good are they?
    ess = effective_sample_size(weights)
    rhat = split_rhat(weights, _GROUPS)
    flat = weights.reshape(-1, weights.shape[2])
    return WeightSample(
        flat, n_chains, float(ess.min()), float(rhat.max()), flat.std(axis=0) / np.sqrt(ess)
    )


def _spread_starts(rows: FloatArray, n_chains: int, rng: np.random.Generator) -> FloatArray:
    """Starts (k, n_chains): each group of chains at its own point, far out from the centre."""
    directions = rng.standard_normal((rows.shape[1], _GROUPS))
    reach = 1.0 / np.maximum((rows @ directions).max(axis=0), _NEVER)
    return np.repeat(directions * (0.7 * reach), n_chains // _GROUPS, axis=1)


def _lines(rows: FloatArray, rng: np.random.Generator) -> list[Line]:
    """Lines to step along, as (walls met, how fast each is approached)."""
    n_rows, k = rows.shape
    lines: list[Line] = []
    for _ in range(max(4, min(16, 2_000 // k))):
        # k independent walls, at random but well apart; on an edge of their cone only one of
        # them changes, and so do walls outside the chosen ones.
        weighted = rows * np.exp(0.5 * rng.standard_normal((n_rows, 1)))
        _, _, pivots = qr(weighted.T, pivoting=True, mode="economic")
        speed = rows @ np.linalg.inv(rows[pivots[:k]])
        speed[np.abs(speed) < 1e-10 * np.abs(speed).max(axis=0)] = 0.0
        for j in range(k):
            met = np.flatnonzero(speed[:, j])
            few = len(met) < 0.7 * n_rows
            which = met if few else slice(None)
            lines.append((which, np.ascontiguousarray(speed[which, j])[:, None]))
    return lines


def _walk(slack: FloatArray, lines: list[Line], n_steps: int, rng: np.random.Generator) -> None:
    """`n_steps` steps of all chains, changing `slack` (walls, chains) in place."""
    n_chains = slack.shape[1]
    done = 0
    while done < n_steps:
        order = rng.permutation(len(lines))[: n_steps - done]
        places = rng.random((len(order), n_chains))
        for line, place in zip(order.tolist(), places, strict=True):
            walls, speed = lines[line]
            near = slack[walls]
            # The walls are reached at slack/speed: the nearest ahead and the nearest behind.
            ratio = speed / near
            low = 1.0 / ratio.min(axis=0)
            move = low + (1.0 / ratio.max(axis=0) - low) * place
            near -= speed * move
            np.maximum(near, _NEVER, out=near)
            slack[walls] = near
        done += len(order)
