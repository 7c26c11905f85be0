"""The best rules of one row without a table: exact search with a bound, and greedy growth."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulelens.bits.lattice import ItemTable, pairs_with_a_common_start
from rulelens.bits.table import Words
from rulelens.personal.accuracy import Yardstick, is_needless

Found = tuple[tuple[int, ...], int, float, NDArray[Any]]
"""Features, outcome, accuracy, covered rows of each class."""

_BATCH_BYTES = 1 << 20


class Counter:
    """Covered rows of each class, with or without weights of the rows."""

    def __init__(self, items: ItemTable, weights: NDArray[np.float64] | None) -> None:
        self.items = items
        self.totals: NDArray[Any] = items.totals
        self._by_class: NDArray[np.float64] | None = None
        if weights is not None:
            layout = items.layout
            k = len(items.totals)
            table = np.zeros((len(layout.rows), k))
            placed = np.where(layout.rows >= 0, weights[np.maximum(layout.rows, 0)], 0.0)
            for c in range(k):
                part = slice(int(layout.bounds[c]) * 64, int(layout.bounds[c + 1]) * 64)
                table[part, c] = placed[part]
            self._by_class = table
            self.totals = table.sum(axis=0)

    def count(self, bits: Words) -> NDArray[Any]:
        """Rows of each class in each packed column: shape (n_classes, n_columns)."""
        if self._by_class is None:
            return self.items.layout.class_counts(bits).T
        flags = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")
        return (flags @ self._by_class).T


def search_exact(
    counter: Counter,
    codes: NDArray[np.integer],
    yardstick: Yardstick,
    *,
    max_length: int,
    top: int = 1,
) -> list[Found]:
    """The `top` best sets of a row's items, best first.

    Sets are visited by length. A set is not grown if its bound shows that no longer set can
    displace one that was found: a longer set with the same accuracy stands behind. A set is
    passed over where a better one of the same outcome is part of it and no less precise.
    """
    features, chosen = counter.items.of_row(codes)
    columns = counter.items.columns[chosen]
    best: list[tuple[float, int, Any, int, Found, float]] = []
    sets = np.zeros((1, 0), dtype=np.int64)
    step = max(16, _BATCH_BYTES // (8 * max(1, columns.shape[1])))
    order = 0
    for _ in range(min(max_length, len(chosen))):
        parts: list[NDArray[np.int64]] = []
        for parent, _other, item in pairs_with_a_common_start(sets, len(chosen), step):
            # 1. Count the sets that are one item longer.
            bits = columns[item]
            for j in range(sets.shape[1]):
                bits &= columns[sets[parent, j]]
            counts = counter.count(bits)
            longer = np.concatenate([sets[parent], item[:, None]], axis=1)
            # 2. Keep the best of them.
            outcome, accuracy, tp = yardstick.best_class(counts)
            least = best[-1][0] if len(best) == top else -1.0
            near = np.flatnonzero((accuracy >= 0) & (accuracy >= least))
            near = near[np.lexsort((near, -tp[near], -accuracy[near]))]
            precision = yardstick.precision(counts, outcome)
            kept = [(_bits(b[4][0]), b[4][1], b[5]) for b in best]
            accepted = 0
            for i in near.tolist():
                names = tuple(features[longer[i]].tolist())
                p = float(precision[i])
                if kept and is_needless(_bits(names), int(outcome[i]), p, kept):
                    continue
                found = (names, int(outcome[i]), float(accuracy[i]), counts[:, i].copy())
                best.append((float(accuracy[i]), -len(names), tp[i], -(order + i), found, p))
                accepted += 1
                if accepted == top:
                    break
            order += len(parent)
            best = sorted(best, key=lambda b: b[:4], reverse=True)[:top]
            # 3. Grow those that may still give a better one.
            parts.append(longer[yardstick.bound(counts) >= 0])
            if len(best) == top:
                parts[-1] = longer[yardstick.bound(counts) > best[-1][0]]
        sets = np.concatenate(parts) if parts else sets[:0]
        if not len(sets):
            break
    return [b[4] for b in best]


def search_greedy(
    counter: Counter,
    codes: NDArray[np.integer],
    yardstick: Yardstick,
    *,
    max_length: int,
    top: int = 1,
) -> list[Found]:
    """One rule a class, best first: it starts from the best item and grows while that helps."""
    features, chosen = counter.items.of_row(codes)
    columns = counter.items.columns[chosen]
    k = len(counter.totals)
    best: list[tuple[float, int, Any, int, Found]] = []
    for c in range(k):
        if yardstick.among is not None and not yardstick.among[c]:
            continue
        only = np.zeros(k, dtype=bool)
        only[c] = True
        mine = Yardstick(
            yardstick.alpha, yardstick.totals, yardstick.class_weights, yardstick.min_count, only
        )
        left = list(range(len(chosen)))
        taken: list[int] = []
        current: Words | None = None
        reached, counts, covered = -1.0, np.zeros(k), 0
        while left and len(taken) < max_length:
            bits = columns[left] if current is None else columns[left] & current
            all_counts = counter.count(bits)
            _, accuracy, tp = mine.best_class(all_counts)
            i = int(np.lexsort((-tp, -accuracy))[0])
            if accuracy[i] <= reached:
                break
            reached, counts, covered = float(accuracy[i]), all_counts[:, i].copy(), tp[i]
            current = bits[i]
            taken.append(left.pop(i))
        if taken:
            names = tuple(features[sorted(taken)].tolist())
            best.append((reached, -len(names), covered, -c, (names, c, reached, counts)))
    best.sort(key=lambda b: b[:4], reverse=True)
    return [b[4] for b in best[:top]]


def _bits(features: tuple[int, ...]) -> int:
    return sum(1 << f for f in features)
