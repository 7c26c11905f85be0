"""Bins of equal width."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rulelens.bits.rounding import shortest_near
from rulelens.errors import OptionError


def equal_width_cuts(values: NDArray[np.float64], n_bins: int) -> NDArray[np.float64]:
    """Cut points that split the range of the values into parts of equal width.

    Parameters
    ----------
    values : array of float64, shape (n_rows,)
        NaN counts as missing and is left out.
    n_bins : int
        Number of bins, at least 2.

    Returns
    -------
    array of float64, shape (n_bins - 1,)
        Increasing; empty for a constant column. Each is written in as few digits as leave
        every value on its side.

    Examples
    --------
    >>> equal_width_cuts(np.array([0.0, 0.9, 5.0, 10.0]), 3)
    array([3., 7.])
    """
    if n_bins < 2:
        raise OptionError(f"n_bins must be at least 2, not {n_bins}.")
    distinct = np.unique(values[~np.isnan(values)])
    if len(distinct) < 2:
        return np.zeros(0)
    # Weighted means of the two ends cannot overflow, even at 1e308.
    share = np.arange(1, n_bins) / n_bins
    edges = np.unique(distinct[0] * (1 - share) + distinct[-1] * share)
    # Between neighbouring doubles the mean may be rounded past the end.
    edges = np.unique(np.minimum(edges, distinct[-1]))
    upper = np.searchsorted(distinct, edges, side="left")
    cuts = [
        shortest_near(float(e), float(distinct[i - 1]), float(distinct[i]), True)
        for e, i in zip(edges, upper, strict=True)
        if i > 0
    ]
    return np.unique(np.array(cuts))
