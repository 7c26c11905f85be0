"""Rows as packed bits: one bit a row, one column of 64-bit words a condition.

Rows are sorted by class and each class is padded to whole words, so that the count of a
class is the popcount of a slice and needs no mask. Padding bits are always 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulelens.core.condition_table import (
    FLOAT32,
    HIGH_CLOSED,
    INTERVAL,
    LOW_CLOSED,
    MEMBERSHIP,
    NEGATED,
    OR_MISSING,
    ConditionTable,
)
from rulelens.frames import Table

Words = NDArray[np.uint64]

_BLOCK_BYTES = 16 << 20


@dataclass(frozen=True, eq=False)
class RowLayout:
    """Where the bit of each row lies.

    Parameters
    ----------
    rows : array of int64, shape (n_words * 64,)
        The row of each bit; -1 for padding.
    bounds : array of int64, shape (n_classes + 1,)
        Class c occupies the words ``bounds[c]:bounds[c + 1]``.
    n_rows : int
    """

    rows: NDArray[np.int64]
    bounds: NDArray[np.int64]
    n_rows: int

    @classmethod
    def by_class(cls, codes: NDArray[np.integer], n_classes: int) -> RowLayout:
        """Rows sorted by class, in their order within it; `codes` has shape (n_rows,)."""
        sizes = np.bincount(codes, minlength=n_classes) if len(codes) else np.zeros(n_classes, int)
        words = -(-sizes // 64)
        bounds = np.concatenate([[0], np.cumsum(words)]).astype(np.int64)
        rows = np.full(int(bounds[-1]) * 64, -1, dtype=np.int64)
        order = np.argsort(codes, kind="stable")
        starts = np.concatenate([[0], np.cumsum(sizes)])
        for c in range(n_classes):
            first = int(bounds[c]) * 64
            rows[first : first + sizes[c]] = order[starts[c] : starts[c + 1]]
        return cls(rows, bounds, len(codes))

    @classmethod
    def plain(cls, n_rows: int) -> RowLayout:
        """Rows in their own order, as a single class."""
        return cls.by_class(np.zeros(n_rows, dtype=np.int64), 1)

    @property
    def n_words(self) -> int:
        """Words in a packed column."""
        return len(self.rows) // 64

    def arrange(self, values: NDArray[Any], padding: object) -> NDArray[Any]:
        """Values of the rows in the order of the bits, with `padding` between."""
        if not self.n_rows:
            return values[:0]
        out = values[np.maximum(self.rows, 0)]
        out[self.rows < 0] = padding
        return out

    def block(self, first: int, last: int) -> RowLayout:
        """The layout of the words ``first:last`` alone; rows keep their numbers."""
        bounds = np.clip(self.bounds, first, last) - first
        return RowLayout(self.rows[first * 64 : last * 64], bounds, self.n_rows)

    def class_counts(self, bits: Words) -> NDArray[np.int64]:
        """Rows of each class in each packed column: shape (n_columns, n_classes)."""
        ones = np.bitwise_count(bits)
        out = np.empty((len(bits), len(self.bounds) - 1), dtype=np.int64)
        for c in range(out.shape[1]):
            ones[:, self.bounds[c] : self.bounds[c + 1]].sum(axis=1, dtype=np.int64, out=out[:, c])
        return out

    def unpack(self, bits: Words) -> NDArray[np.bool_]:
        """Packed columns as booleans in the rows' own order: shape (n_columns, n_rows)."""
        flat = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little").view(bool)
        out = np.zeros((len(bits), self.n_rows), dtype=bool)
        real = self.rows >= 0
        out[:, self.rows[real]] = flat[:, real]
        return out


def pack(flags: NDArray[np.bool_]) -> Words:
    """Booleans of shape (n_columns, n_words * 64), in the order of the bits, as words."""
    return np.packbits(flags, axis=1, bitorder="little").view(np.uint64)


def pack_conditions(conditions: ConditionTable, table: Table, layout: RowLayout) -> Words:
    """One packed column for each condition: the rows that satisfy it.

    Returns
    -------
    array of uint64, shape (n_conditions, n_words)
    """
    out = np.zeros((len(conditions), layout.n_words), dtype=np.uint64)
    if not layout.n_words:
        return out
    real = layout.rows >= 0
    single = (conditions.flags & FLOAT32).astype(bool)
    for f in np.unique(conditions.feature):
        mine = np.flatnonzero(conditions.feature == f)
        intervals = mine[conditions.kind[mine] == INTERVAL]
        others = mine[conditions.kind[mine] != INTERVAL]
        numeric = table.schema[int(f)].is_numeric
        values = layout.arrange(table.columns[f], np.nan if numeric else -1)
        missing = np.isnan(values) if numeric else values < 0
        gone = pack((missing & real)[None, :])[0]
        doubles, singles = intervals[~single[intervals]], intervals[single[intervals]]
        if len(doubles):
            out[doubles] = _pack_intervals(conditions, doubles, values)
        if len(singles):
            with np.errstate(over="ignore"):
                as_single = values.astype(np.float32).astype(np.float64)
            out[singles] = _pack_intervals(conditions, singles, as_single)
        if len(others) and not numeric:
            out[others] = _pack_levels(conditions, others, values)
        accepts = (conditions.flags[mine] & OR_MISSING).astype(bool)
        accepts |= conditions.kind[mine] > MEMBERSHIP
        out[mine[accepts]] |= gone
    return out


def _pack_intervals(
    conditions: ConditionTable, chosen: NDArray[np.int64], x: NDArray[np.float64]
) -> Words:
    """Columns of intervals on one feature, from the ranks of its values among all ends.

    Every end becomes a cut c with "x >= c" above it: x > v is x >= the next double after v.
    A value's rank is the number of cuts at or below it, so a cut's column is rank > position.
    """
    flags, low, high = conditions.flags[chosen], conditions.low[chosen], conditions.high[chosen]
    has_low, has_high = low > -np.inf, high < np.inf
    with np.errstate(over="ignore"):  # above the largest double comes infinity
        low_cut = np.where(flags & LOW_CLOSED, low, np.nextafter(low, np.inf))
        high_cut = np.where(flags & HIGH_CLOSED, np.nextafter(high, np.inf), high)
    cuts = np.unique(np.concatenate([low_cut[has_low], high_cut[has_high]]))
    known = ~np.isnan(x)
    small = np.min_scalar_type(len(cuts) + 1)
    rank = np.where(known, np.searchsorted(cuts, x, side="right"), 0).astype(small)
    above = np.empty((len(cuts), len(x) // 64), dtype=np.uint64)
    step = max(1, _BLOCK_BYTES // len(x))
    for a in range(0, len(cuts), step):
        positions = np.arange(a, min(a + step, len(cuts)), dtype=small)
        above[a : a + step] = pack(rank[None, :] > positions[:, None])
    out = np.empty((len(chosen), len(x) // 64), dtype=np.uint64)
    out[:] = pack(known[None, :])[0]
    out[has_low] = above[np.searchsorted(cuts, low_cut[has_low])]
    out[has_high] &= ~above[np.searchsorted(cuts, high_cut[has_high])]
    return out


def _pack_levels(
    conditions: ConditionTable, chosen: NDArray[np.int64], codes: NDArray[np.int32]
) -> Words:
    """Columns of memberships on one feature; a `Missing` condition starts empty."""
    out = np.zeros((len(chosen), len(codes) // 64), dtype=np.uint64)
    known = pack((codes >= 0)[None, :])[0]
    columns: dict[int, Words] = {}
    for row, i in enumerate(chosen):
        if conditions.kind[i] != MEMBERSHIP:
            continue
        for code in conditions.levels_of(int(i)).tolist():
            if code not in columns:
                columns[code] = pack((codes == code)[None, :])[0]
            out[row] |= columns[code]
        if conditions.flags[i] & NEGATED:
            out[row] = known & ~out[row]
    return out
