"""The cube: how many rows of each class have each set of items, for all sets up to a length.

One count per set of features and combination of their items. Counts of two parts of the
rows add up to the counts of both, so growing, forgetting rows, windows and merging are one
operation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulelens.errors import OptionError, SizeError, TableError

Counts: TypeAlias = NDArray[Any]
"""int64, or float64 where rows have weights."""

_BLOCK_ROWS = 1 << 15
"""Rows counted at a time: their codes stay in cache."""
_SPARSE_FROM = 4096
"""In a sparse cube, a set of features with more cells than this keeps those that occur."""


@dataclass(frozen=True)
class CubeShape:
    """Which sets of features are counted, and where the cells of each begin.

    Parameters
    ----------
    sizes : tuple of int
        Number of items of each feature; 0 for a feature that is left out.
    max_length : int
        Longest set; no more than the features that have items.
    """

    sizes: tuple[int, ...]
    max_length: int

    def __post_init__(self) -> None:
        longest = max(1, min(self.max_length, len(self.features)))
        object.__setattr__(self, "max_length", longest)

    @property
    def features(self) -> list[int]:
        """The features that have items."""
        return [j for j, s in enumerate(self.sizes) if s]

    @cached_property
    def subsets(self) -> list[tuple[int, ...]]:
        """Sets of features: by length, then in the order of the features."""
        lengths = range(1, min(self.max_length, len(self.features)) + 1)
        return [s for length in lengths for s in combinations(self.features, length)]

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """Number of cells of each set of features."""
        return np.array([prod(self.sizes[j] for j in s) for s in self.subsets], dtype=np.int64)

    @cached_property
    def walk(self) -> list[int]:
        """Positions of the sets in an order in which each follows soon after its prefix."""
        return sorted(range(len(self.subsets)), key=self.subsets.__getitem__)

    def can_be_numbered(self, n_classes: int) -> bool:
        """Whether each class and cell of a set can have a number of 64 bits."""
        largest = sorted(self.sizes, reverse=True)[: self.max_length]
        return n_classes * prod(s for s in largest if s) < 1 << 62

    def n_subsets(self) -> int:
        """How many sets of features there are, without listing them."""
        d = len(self.features)
        return sum(comb(d, k) for k in range(1, min(self.max_length, d) + 1))

    def n_cells(self) -> int:
        """How many cells all sets have together, without listing them."""
        # Elementary symmetric sums of the sizes: e[k] is the total over all sets of k.
        e = [1] + [0] * self.max_length
        for size in self.sizes:
            for k in range(self.max_length, 0, -1):
                e[k] += size * e[k - 1]
        return sum(e[1:])


def bytes_text(n: float) -> str:
    """Memory in the unit that suits its size.

    Examples
    --------
    >>> bytes_text(2**20), bytes_text(1536), bytes_text(100), bytes_text(1.5 * 2**50)
    ('1.00 MiB', '1.50 KiB', '100 bytes', '1.50 PiB')
    """
    if n < 2**10:
        return f"{n:,.0f} byte{'' if n == 1 else 's'}"
    units = ["KiB", "MiB", "GiB", "TiB", "PiB"]
    n /= 2**10
    # What would be written as 1,024.00 goes on to the next unit.
    while round(n, 2) >= 2**10 and len(units) > 1:
        n /= 2**10
        del units[0]
    return f"{n:,.2f} {units[0]}"


def estimate_bytes(
    sizes: Sequence[int],
    max_length: int,
    n_classes: int,
    *,
    n_rows: int | None = None,
    beside: int = 0,
) -> int:
    """Memory that a cube will take; with `n_rows`, at most, of a sparse one.

    `beside` is the number of bytes that the caller will keep for each cell.

    Examples
    --------
    >>> estimate_bytes([5] * 20, 3, 2) / 2**20 < 4
    True
    >>> estimate_bytes([5] * 200, 4, 2) / 2**30 > 600
    True
    """
    shape = CubeShape(tuple(sizes), max_length)
    cells, overhead = shape.n_cells(), 200 * shape.n_subsets()
    if n_rows is None:
        return cells * (n_classes * 8 + beside) + overhead
    return min(cells, n_rows * shape.n_subsets()) * (n_classes * 8 + 8 + beside) + overhead


@dataclass(frozen=True, eq=False)
class Cube:
    """Class counts of all sets of items.

    Parameters
    ----------
    shape : CubeShape
    totals : array, shape (n_classes,)
        Rows of each class.
    keys : tuple of (array of int64 or None)
        For each set of features: None where every cell has its column, in the mixed-radix
        order of the items; else the cells that occur, ascending.
    offsets : array of int64, shape (n_subsets + 1,)
    counts : array of int64 or float64, shape (n_classes, n_columns)
        Set s has the columns ``offsets[s]:offsets[s + 1]``. Floats where rows have weights.

    Examples
    --------
    >>> codes, classes = np.array([[0, 1], [0, 0], [1, 1]]), np.array([0, 0, 1])
    >>> cube = Cube.count(codes, [2, 2], classes, 2, max_length=2)
    >>> cube.of((0, 1), (0, 1)).tolist(), cube.of((1,), (1,)).tolist()
    ([1, 0], [1, 1])
    >>> (cube.minus(Cube.count(codes[:1], [2, 2], classes[:1], 2, max_length=2))).totals.tolist()
    [1, 1]
    """

    shape: CubeShape
    totals: Counts
    keys: tuple[NDArray[np.int64] | None, ...]
    offsets: NDArray[np.int64]
    counts: Counts

    # ------------------------------------------------------------------ building
    @classmethod
    def count(
        cls,
        codes: NDArray[np.integer],
        sizes: Sequence[int],
        classes: NDArray[np.integer],
        n_classes: int,
        *,
        max_length: int,
        weights: NDArray[np.float64] | None = None,
        sparse: bool = False,
    ) -> Cube:
        """Count rows.

        Parameters
        ----------
        codes : array of int, shape (n_rows, n_features)
            Item of each row on each feature, from 0; -1 where it has none: such a row counts
            for no set with this feature.
        sizes : sequence of int
            Number of items of each feature.
        classes : array of int, shape (n_rows,)
        n_classes, max_length : int
        weights : array of float64, shape (n_rows,), optional
        sparse : bool
            Keep only cells that occur, where a set of features has many.
        """
        if max_length < 1:
            raise OptionError(f"max_length must be at least 1, not {max_length}.")
        shape = CubeShape(tuple(int(s) for s in sizes), max_length)
        if not shape.can_be_numbered(n_classes):
            raise SizeError(
                f"Sets of {shape.max_length} features with up to {max(sizes)} items each have more "
                "cells than 64 bits can number. Use a smaller max_length, or PIC(search='exact'), "
                "which needs no table."
            )
        big = shape.cells > _SPARSE_FROM if sparse else np.zeros(len(shape.cells), dtype=bool)
        labels: NDArray[np.int64] = classes.astype(np.int64)
        dtype = np.dtype(np.int64 if weights is None else np.float64)
        totals = np.bincount(labels, weights, minlength=n_classes).astype(dtype)
        widths = np.where(big, 0, shape.cells)
        edges = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        dense = np.zeros((n_classes, int(edges[-1])), dtype=dtype)
        # 1. Sets with few cells: one bincount each, block by block of rows.
        for a in range(0, len(labels), _BLOCK_ROWS):
            part = slice(a, a + _BLOCK_ROWS)
            w = None if weights is None else weights[part]
            for s, code, bad in _codes_of_subsets(shape, codes[part], labels[part]):
                if big[s]:
                    continue
                width = int(shape.cells[s]) * n_classes
                if bad is not None:
                    code = np.where(bad, width, code)
                found: Counts = np.bincount(code, w, minlength=width + 1)[:width].astype(dtype)
                dense[:, edges[s] : edges[s + 1]] += found.reshape(n_classes, -1)
        # 2. Sets with many: the sorted cells that occur.
        keys: list[NDArray[np.int64] | None] = [None] * len(shape.subsets)
        if not big.any():
            return cls(shape, totals, tuple(keys), edges, dense)
        columns = [dense[:, edges[s] : edges[s + 1]] for s in range(len(keys))]
        for s, code, bad in _codes_of_subsets(shape, codes, labels):
            if not big[s]:
                continue
            known = np.ones(len(code), dtype=bool) if bad is None else ~bad
            cell = code[known] % shape.cells[s]
            keys[s], place = np.unique(cell, return_inverse=True)
            m = len(keys[s])  # type: ignore[arg-type]  # set just above
            index = labels[known] * m + place.reshape(-1)
            w = None if weights is None else weights[known]
            found = np.bincount(index, w, minlength=m * n_classes).astype(dtype, copy=False)
            columns[s] = found.reshape(n_classes, m)
        return cls._join(shape, totals, keys, columns)

    @classmethod
    def _join(
        cls,
        shape: CubeShape,
        totals: Counts,
        keys: Sequence[NDArray[np.int64] | None],
        columns: Sequence[Counts],
    ) -> Cube:
        widths = [c.shape[1] for c in columns]
        offsets = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        none = np.zeros((len(totals), 0), dtype=totals.dtype)
        return cls(shape, totals, tuple(keys), offsets, np.concatenate([none, *columns], axis=1))

    # ------------------------------------------------------------------ arithmetic
    def plus(self, other: Cube) -> Cube:
        """Counts of both parts of the rows together."""
        return self._combine(other, 1)

    def minus(self, other: Cube) -> Cube:
        """Counts without the rows of `other`.

        Raises
        ------
        TableError
            Some of these rows were never counted here.
        """
        out = self._combine(other, -1)
        if (out.totals < 0).any() or (out.counts < 0).any():
            raise TableError(
                "Some of the rows to forget were never counted: a count would be negative. "
                "Forget only rows that were given to fit or partial_fit, with their labels."
            )
        return out

    def _combine(self, other: Cube, sign: int) -> Cube:
        if self.shape != other.shape or len(self.totals) != len(other.totals):
            raise TableError(
                "Two cubes can be joined only if they have the same items, classes and length: "
                "count both with the same bins."
            )
        totals = _sum(self.totals, other.totals, sign)
        same = len(self.offsets) == len(other.offsets) and all(
            a is b is None or (a is not None and b is not None and np.array_equal(a, b))
            for a, b in zip(self.keys, other.keys, strict=True)
        )
        if same:
            counts = _sum(self.counts, other.counts, sign)
            return Cube(self.shape, totals, self.keys, self.offsets, counts)
        keys: list[NDArray[np.int64] | None] = []
        columns: list[Counts] = []
        for s in range(len(self.keys)):
            (k1, c1), (k2, c2) = self.columns(s), other.columns(s)
            if k1 is None or k2 is None:
                dense = np.zeros((2, len(totals), int(self.shape.cells[s])), dtype=totals.dtype)
                dense[0][:, slice(None) if k1 is None else k1] = c1
                dense[1][:, slice(None) if k2 is None else k2] = c2
                keys.append(None)
                columns.append(_sum(dense[0], dense[1], sign))
                continue
            joined = np.union1d(k1, k2)
            parts = np.zeros((2, len(totals), len(joined)), dtype=totals.dtype)
            parts[0][:, np.searchsorted(joined, k1)] = c1
            parts[1][:, np.searchsorted(joined, k2)] = c2
            both = _sum(parts[0], parts[1], sign)
            keep = both.any(axis=0)
            keys.append(joined[keep])
            columns.append(both[:, keep])
        return Cube._join(self.shape, totals, keys, columns)

    # ------------------------------------------------------------------ reading
    def columns(self, s: int) -> tuple[NDArray[np.int64] | None, Counts]:
        """Keys and counts of the cells of set `s`."""
        return self.keys[s], self.counts[:, self.offsets[s] : self.offsets[s + 1]]

    def of(self, features: tuple[int, ...], items: tuple[int, ...]) -> Counts:
        """Rows of each class with the given items on the given features, shape (n_classes,)."""
        s = self.shape.subsets.index(features)
        cell = 0
        for j, item in zip(features, items, strict=True):
            cell = cell * self.shape.sizes[j] + item
        keys, counts = self.columns(s)
        if keys is None:
            return counts[:, cell]
        at = int(np.searchsorted(keys, cell))
        if at < len(keys) and keys[at] == cell:
            return counts[:, at]
        return np.zeros(len(self.totals), dtype=self.counts.dtype)

    def positions(self, codes: NDArray[np.integer]) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """For each set of features, the column in `counts` of each row's items; -1 for none."""
        none = np.zeros(len(codes), dtype=np.int64)
        for s, cell, bad in _codes_of_subsets(self.shape, codes, none):
            keys = self.keys[s]
            if keys is None:
                at = cell + self.offsets[s]
            elif not len(keys):
                at = np.full(len(cell), -1)
            else:
                place = np.minimum(np.searchsorted(keys, cell), len(keys) - 1)
                at = np.where(keys[place] == cell, place + self.offsets[s], -1)
            yield s, at if bad is None else np.where(bad, -1, at)


def _sum(a: Counts, b: Counts, sign: int) -> Counts:
    """Counts of two parts together, or the first without the second."""
    out: Counts = a + sign * b
    if sign < 0 and out.dtype.kind == "f":
        # Very unequal weights that were added and taken away leave a rounding error. It is
        # judged by the cell's own counts: light rows of other cells are not taken for one.
        out[np.abs(out) <= 2.0**-40 * b] = 0
    return out


def _codes_of_subsets(
    shape: CubeShape, codes: NDArray[np.integer], classes: NDArray[np.int64]
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.bool_] | None]]:
    """For each set: class and items of each row as one number, and the rows that lack an item.

    The class is the leading digit. Every set follows its prefix, whose numbers are at hand.
    """
    columns = {j: np.ascontiguousarray(codes[:, j], dtype=np.int64) for j in shape.features}
    gaps = {j: c < 0 for j, c in columns.items() if (c < 0).any()}
    path: list[tuple[NDArray[np.int64], NDArray[np.bool_] | None]] = [(classes, None)]
    for s in shape.walk:
        features = shape.subsets[s]
        del path[len(features) :]
        prefix, bad = path[-1]
        j = features[-1]
        code = prefix * shape.sizes[j]
        code += columns[j]
        if j in gaps:
            bad = gaps[j] if bad is None else bad | gaps[j]
        path.append((code, bad))
        yield s, code, bad
