"""Cuts of all features together: few cuts that keep rows of different classes apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rulelens.discretize.cuts import shortest_between


def incremental_cuts(
    columns: Sequence[NDArray[np.float64]],
    classes: NDArray[np.integer],
    *,
    cells: NDArray[np.integer] | None = None,
    max_cuts: int | None = None,
) -> list[NDArray[np.float64]]:
    """Cuts added one by one, each the one that separates most pairs still together.

    A pair of rows of different classes is separated once a cut lies between them. The work
    ends when every pair that some cut can separate is separated.

    Parameters
    ----------
    columns : sequence of float64 arrays, each of shape (n_rows,)
        Numeric features. A missing value (NaN) lies on no side of a cut. Once a feature is cut,
        rows that lack it have no item of it, and are compared with one another only.
    classes : array of int, shape (n_rows,)
    cells : array of int, shape (n_rows,), optional
        Rows with different numbers are apart already, by features that need no cuts.
    max_cuts : int, optional
        At most this many cuts in all.

    Returns
    -------
    list of float64 arrays
        Increasing cuts of each feature.

    Notes
    -----
    Pairs are counted, never listed: moving one row of class k from the right of a cut to its
    left adds the other-class rows of its cell that are on the right, and takes those on the
    left. So all cuts of a feature are judged by one sorted pass.

    References
    ----------
    E. Ferrari and M. Muselli (2010), Maximizing pattern separation in discretizing
    continuous features for classification purposes.

    Examples
    --------
    >>> x, z = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 1.0, 2.0, 2.0])
    >>> incremental_cuts([x, z], np.array([0, 0, 1, 1]))
    [array([3.]), array([], dtype=float64)]
    """
    n = len(classes)
    distinct = [np.unique(c[~np.isnan(c)]) for c in columns]
    ranks = [
        np.where(np.isnan(c), -1, np.searchsorted(d, c))
        for c, d in zip(columns, distinct, strict=True)
    ]
    cell = np.zeros(n, np.int64) if cells is None else np.unique(cells, return_inverse=True)[1]
    cell = cell.reshape(-1).astype(np.int64)
    found: list[list[int]] = [[] for _ in columns]
    while max_cuts is None or sum(map(len, found)) < max_cuts:
        # Only rows in a cell with two classes can still be part of a pair.
        _, place = np.unique(np.stack([cell, classes]), axis=1, return_inverse=True)
        same = np.bincount(place.reshape(-1))[place.reshape(-1)]
        mixed = np.flatnonzero(same < np.bincount(cell)[cell])
        best, best_gain = (-1, -1), 0
        for j, rank in enumerate(ranks):
            rows = mixed[rank[mixed] >= 0]
            at, gain = _best_cut(rank[rows], cell[rows], classes[rows])
            if gain > best_gain:
                best, best_gain = (j, at), gain
        if best_gain == 0:
            break
        j, at = best
        found[j].append(at)
        # A row without a value stays with neither side: a cell of its own kind.
        side = np.where(ranks[j] < 0, 2, ranks[j] >= at)
        cell = np.unique(cell * 3 + side, return_inverse=True)[1].reshape(-1)
    return [
        np.array([shortest_between(float(d[i - 1]), float(d[i])) for i in sorted(cuts)])
        for d, cuts in zip(distinct, found, strict=True)
    ]


def _best_cut(
    rank: NDArray[np.int64], cell: NDArray[np.int64], classes: NDArray[np.integer]
) -> tuple[int, int]:
    """The rank at which a cut separates most pairs of one cell and two classes, and how many."""
    if not len(rank):
        return -1, 0
    order = np.lexsort((rank, cell))
    cell_, class_ = cell[order], classes[order]
    before = _running(cell_)
    size = np.bincount(cell_)[cell_]
    kind = np.unique(np.stack([cell_, class_]), axis=1, return_inverse=True)[1].reshape(-1)
    by_kind = np.argsort(kind, kind="stable")
    before_same = np.empty_like(before)
    before_same[by_kind] = _running(kind[by_kind])
    size_same = np.bincount(kind)[kind]
    # Other-class rows of the cell to the right of the row, minus those to its left.
    others = size - size_same
    left = before - before_same
    delta = others - 2 * left
    by_rank = np.argsort(rank[order], kind="stable")
    gains = delta[by_rank].cumsum()
    sorted_rank = rank[order][by_rank]
    last = np.flatnonzero(sorted_rank[1:] != sorted_rank[:-1])
    if not len(last):
        return -1, 0
    k = int(gains[last].argmax())
    return int(sorted_rank[last[k] + 1]), int(gains[last[k]])


def _running(groups: NDArray[np.int64]) -> NDArray[np.int64]:
    """Position of each entry within its group; `groups` is sorted."""
    starts = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
    out: NDArray[np.int64] = np.arange(len(groups)) - np.repeat(
        starts, np.diff([*starts, len(groups)])
    )
    return out
