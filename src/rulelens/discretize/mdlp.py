"""Cuts chosen by the classes: the minimum description length principle."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from rulelens.discretize.cuts import shortest_between


def mdlp_cuts(
    values: NDArray[np.float64], classes: NDArray[np.integer], n_classes: int
) -> NDArray[np.float64]:
    """Cut points that pay for their description by what they tell of the class.

    Parameters
    ----------
    values : array of float64, shape (n_rows,)
        NaN counts as missing and is left out.
    classes : array of int, shape (n_rows,)
        Class of each row, from 0 to ``n_classes - 1``.
    n_classes : int

    Returns
    -------
    array of float64
        Increasing; empty where no cut pays.

    References
    ----------
    U. M. Fayyad and K. B. Irani (1993), Multi-interval discretization of continuous-valued
    attributes for classification learning, equation 9 and section 4.

    Examples
    --------
    >>> mdlp_cuts(np.arange(40.0), np.repeat([0, 1], 20), 2)
    array([20.])
    """
    known = ~np.isnan(values)
    distinct, place = np.unique(values[known], return_inverse=True)
    counts = np.zeros((len(distinct), n_classes), dtype=np.int64)
    np.add.at(counts, (place.reshape(-1), classes[known]), 1)
    cuts: list[float] = []
    open_parts = [(0, len(distinct))]
    while open_parts:
        a, b = open_parts.pop()
        at = _best_cut(counts[a:b])
        if at is not None:
            cuts.append(shortest_between(float(distinct[a + at - 1]), float(distinct[a + at])))
            open_parts += [(a, a + at), (a + at, b)]
    return np.array(sorted(cuts))


def _best_cut(counts: NDArray[np.int64]) -> int | None:
    """Position of the accepted cut among rows of class counts; None if none is accepted."""
    if len(counts) < 2:
        return None
    left = counts[:-1].cumsum(axis=0)
    total = counts.sum(axis=0)
    right = total - left
    n = int(total.sum())
    n_left = left.sum(axis=1)
    # 1. Least class entropy after the cut.
    parts = (n_left * _entropy(left) + (n - n_left) * _entropy(right)) / n
    at = int(parts.argmin())
    # 2. The gain must exceed the cost of naming the cut (equation 9).
    whole = float(_entropy(total[None])[0])
    k, k_left, k_right = (int((c > 0).sum()) for c in (total, left[at], right[at]))
    delta = math.log2(3**k - 2) - (
        k * whole
        - k_left * float(_entropy(left[at][None])[0])
        - k_right * float(_entropy(right[at][None])[0])
    )
    gain = whole - float(parts[at])
    return at + 1 if gain > (math.log2(n - 1) + delta) / n else None


def _entropy(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Entropy in bits of rows of class counts."""
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    logs = np.log2(share, out=np.zeros(share.shape), where=share > 0)
    out: NDArray[np.float64] = -(share * logs).sum(axis=1)
    return out
