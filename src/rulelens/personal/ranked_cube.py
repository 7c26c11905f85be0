"""The best rules of many rows from a cube of counts: one table lookup a set of features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rulelens.bits.cube import Cube
from rulelens.personal.accuracy import Choice, Floats, Yardstick, is_needless

ORDER_BYTES = 48
"""Bytes a cell that ordering the cells takes, about, while it is done."""
_CHUNK = 1 << 14


@dataclass(frozen=True, eq=False)
class RankedCube:
    """A cube whose cells are put in one order, best last, once for all rows.

    Parameters
    ----------
    cube : Cube
    rank : array of int32, shape (n_columns + 1,)
        Place of each column of the cube in the order, from 1; 0 for a column that makes no
        rule, and in the last entry, which stands for "no column".
    by_rank : array of int64
        Column of each place; entry 0 is -1.
    outcome : array of int64, shape (n_columns,)
    accuracy : array of float64, shape (n_columns,)
    yardstick : Yardstick
        By which they are ordered.
    """

    cube: Cube
    rank: NDArray[np.int32]
    by_rank: NDArray[np.int64]
    outcome: NDArray[np.int64]
    accuracy: Floats
    yardstick: Yardstick

    @classmethod
    def of(cls, cube: Cube, yardstick: Yardstick) -> RankedCube:
        """Order the cells: higher accuracy, then fewer items, then more rows, then features."""
        outcome, accuracy, tp = yardstick.best_class(cube.counts)
        subset = np.repeat(np.arange(len(cube.keys)), np.diff(cube.offsets))
        lengths = np.array([len(s) for s in cube.shape.subsets], dtype=np.int64)
        rules = np.flatnonzero(accuracy >= 0)
        at = subset[rules]
        # Sets of features are numbered by length, so the number decides the last two ties.
        order = np.lexsort((-at, tp[rules], -lengths[at], accuracy[rules]))
        by_rank = np.concatenate([[-1], rules[order]])
        rank = np.zeros(len(accuracy) + 1, dtype=np.int32)
        rank[rules[order]] = np.arange(1, len(rules) + 1)
        return cls(cube, rank, by_rank, outcome, accuracy, yardstick)

    def choose(self, codes: NDArray[np.integer], *, top: int = 1) -> Choice:
        """The best rules of each row; fewer than `top` where there are no more.

        A rule is passed over where a better one with the same outcome has only some of its
        conditions and is no less precise.
        """
        step = _CHUNK if top == 1 else 512
        starts = range(0, max(len(codes), 1), step)
        parts = [self._choose(codes[a : a + step], top, a) for a in starts]
        return Choice.join(parts)

    def best_by_length(self, codes: NDArray[np.integer]) -> NDArray[np.int64]:
        """Column of the best rule of at most 1, 2, … items: shape (max_length, n_rows).

        -1 where there is none.
        """
        lengths = [len(s) for s in self.cube.shape.subsets]
        out = np.zeros((self.cube.shape.max_length, len(codes)), dtype=np.int32)
        for a in range(0, len(codes), _CHUNK):
            part = out[:, a : a + _CHUNK]
            for s, at in self.cube.positions(codes[a : a + _CHUNK]):
                row = part[lengths[s] - 1]
                np.maximum(row, self.rank[at], out=row)
        return self.by_rank[np.maximum.accumulate(out, axis=0)]

    def _choose(self, codes: NDArray[np.integer], top: int, first: int) -> Choice:
        n, n_subsets = len(codes), len(self.cube.keys)
        if top == 1 or not n_subsets:
            best = np.zeros((n, 1), dtype=np.int32)
            for _, at in self.cube.positions(codes):
                np.maximum(best[:, 0], self.rank[at], out=best[:, 0])
        else:
            ranks = np.zeros((n, n_subsets), dtype=np.int32)
            for s, at in self.cube.positions(codes):
                ranks[:, s] = self.rank[at]
            best = self._several(ranks, top)
        row, rank = np.nonzero((best > 0) | (np.arange(best.shape[1]) == 0))
        columns = self.by_rank[best[row, rank]]
        return self.entries(columns, row + first, rank)

    def _several(self, ranks: NDArray[np.int32], top: int) -> NDArray[np.int32]:
        """The `top` highest ranks of each row without needless rules, then zeros."""
        bits = [sum(1 << j for j in s) for s in self.cube.shape.subsets]
        precision = self.yardstick.precision(self.cube.counts, self.outcome)
        out = np.zeros((len(ranks), min(top, ranks.shape[1])), dtype=np.int32)
        for i, mine in enumerate(ranks):
            kept: list[tuple[int, int, float]] = []
            for s in np.argsort(-mine, kind="stable").tolist():
                column = int(self.by_rank[mine[s]])
                if column < 0 or len(kept) == out.shape[1]:
                    break
                rule = (bits[s], int(self.outcome[column]), float(precision[column]))
                if not is_needless(*rule, kept):
                    out[i, len(kept)] = mine[s]
                    kept.append(rule)
        return out

    def entries(
        self, columns: NDArray[np.int64], row: NDArray[np.int64], rank: NDArray[np.int64]
    ) -> Choice:
        """Columns of the cube as entries; -1 becomes the rule without items."""
        cube = self.cube
        none = columns < 0
        safe = np.where(none, 0, columns)
        counts = np.repeat(cube.totals[None, :], len(columns), axis=0)
        features = np.full((len(columns), cube.shape.max_length), -1, dtype=np.int64)
        outcome = np.full(len(columns), int(cube.totals.argmax()), dtype=np.int64)
        accuracy = np.full(len(columns), np.nan)
        if cube.counts.shape[1]:
            counts[~none] = cube.counts[:, safe[~none]].T
            outcome[~none] = self.outcome[safe[~none]]
            accuracy[~none] = self.accuracy[safe[~none]]
            subset = np.searchsorted(cube.offsets, safe[~none], side="right") - 1
            width = cube.shape.max_length
            padded = np.array(
                [(*s, *(-1,) * (width - len(s))) for s in cube.shape.subsets], dtype=np.int64
            )
            features[~none] = padded[subset]
        return Choice(row, rank, features, outcome, accuracy, counts)
