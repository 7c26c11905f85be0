"""Is a Markov chain sample good enough? Effective size, R-hat and Monte-Carlo error."""

from __future__ import annotations

import numpy as np

from rulelens.preference.table import FloatArray


def rounding(draws: FloatArray) -> float:
    """Variance below which draws of this size differ by rounding only."""
    return float(1e-12 * np.abs(draws).max(initial=0.0)) ** 2


def effective_sample_size(draws: FloatArray) -> FloatArray:
    """Effective number of independent draws behind the mean, per coordinate.

    Parameters
    ----------
    draws : array, shape (n_chains, n_draws, m)
        At least 4 draws a chain.

    Returns
    -------
    array, shape (m,)
        A coordinate that does not move counts all its draws.

    References
    ----------
    Vehtari et al.: Rank-normalization, folding, and localization (2021), equations (10)-(13).

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(4, 500, 1))
    >>> bool(1500 < effective_sample_size(x)[0] < 2500)
    True
    """
    n_chains, n, m = draws.shape
    centred = draws - draws.mean(axis=1, keepdims=True)
    # 1. Autocovariance of each chain by FFT, averaged over chains: shape (n, m).
    size = int(2 ** np.ceil(np.log2(2 * n)))
    spectrum = np.fft.rfft(centred, size, axis=1)
    power = np.mean(spectrum.real**2 + spectrum.imag**2, axis=0)
    covariance = np.fft.irfft(power, size, axis=0)[:n] / n
    within = covariance[0] * n / (n - 1)
    between = draws.mean(axis=1).var(axis=0, ddof=1) if n_chains > 1 else np.zeros(m)
    total = within * (n - 1) / n + between
    # A weight that is pinned moves by rounding only, and has no autocorrelation worth the name.
    moving = total > rounding(draws)
    # 2. Autocorrelation that also sees the spread between chains.
    rho = 1 - (within - covariance) / np.where(moving, total, 1.0)
    rho[0] = 1.0
    # 3. Geyer: sum pairs while they are positive, and never let them grow.
    pairs = rho[0 : n - n % 2 : 2] + rho[1:n:2][: n // 2]
    alive = np.cumprod(pairs > 0, axis=0).astype(bool)
    kept = np.where(alive, np.minimum.accumulate(pairs, axis=0), 0.0)
    time = np.maximum(2 * kept.sum(axis=0) - 1, 1 / np.log10(max(n_chains * n, 10)))
    return np.where(moving, n_chains * n / time, float(n_chains * n))


def split_rhat(draws: FloatArray, groups: int) -> FloatArray:
    """R-hat between groups of chains and between the halves of the run, per coordinate.

    Many short chains make the usual R-hat large even if they are perfect. Here neighbouring chains
    form `groups` (started apart from each other), each cut into an early and a late half:
    sqrt(1 + variance of the group means / variance within groups). A sample that still drifts, or
    that depends on where it started, shows.

    References
    ----------
    Margossian et al.: Nested R-hat (2024).

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(32, 50, 1))
    >>> bool(split_rhat(x, 4)[0] < 1.01), bool(split_rhat(x + np.arange(50)[:, None], 4)[0] > 1.1)
    (True, True)
    """
    n_chains, n, m = draws.shape
    each = n_chains // groups
    half = n // 2
    early = draws[: groups * each, :half].reshape(groups, each * half, m)
    late = draws[: groups * each, n - half :].reshape(groups, each * half, m)
    parts = np.concatenate([early, late])
    within = parts.var(axis=1, ddof=1).mean(axis=0)
    between = parts.mean(axis=1).var(axis=0, ddof=1)
    moving = within > rounding(draws)
    ratio = np.divide(between, within, out=np.zeros(m), where=moving)
    return np.asarray(np.sqrt(1 + ratio), dtype=np.float64)
