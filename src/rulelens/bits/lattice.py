"""The lattice of one row: all sets of the row's own items that make a good rule.

A row has one item a feature: its level, or the bin that its number falls into. Nothing is
mined over the whole table: the sets are grown level by level from the row's own items, with
packed columns of the training rows.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import comb, floor
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulelens.bits.table import RowLayout, Words, pack
from rulelens.errors import OptionError

Stop: TypeAlias = Literal["enough", "exhausted", "length", "time", "size", "impossible"]
"""Why a search ended; see `qualifying_itemsets`."""

_BATCH_BYTES = 1 << 20
_MAX_ALIVE = 4_000_000


@dataclass(frozen=True, eq=False)
class ItemTable:
    """Training rows as packed columns of items, sorted by class.

    Parameters
    ----------
    columns : array of uint64, shape (n_items, n_words)
    first : array of int64, shape (n_features + 1,)
        Feature j owns the items ``first[j]:first[j + 1]``.
    layout : RowLayout
    totals : array of int64, shape (n_classes,)
        Rows of each class.
    """

    columns: Words
    first: NDArray[np.int64]
    layout: RowLayout
    totals: NDArray[np.int64]

    @classmethod
    def from_codes(
        cls,
        codes: NDArray[np.integer],
        sizes: Sequence[int],
        classes: NDArray[np.integer],
        n_classes: int,
    ) -> ItemTable:
        """Pack discretised rows.

        Parameters
        ----------
        codes : array of int, shape (n_rows, n_features)
            Item of each row on each feature, from 0; -1 where it has none.
        sizes : sequence of int
            Number of items of each feature.
        classes : array of int, shape (n_rows,)
        n_classes : int
        """
        layout = RowLayout.by_class(classes, n_classes)
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        columns = np.zeros((int(first[-1]), layout.n_words), dtype=np.uint64)
        for j, size in enumerate(sizes):
            if size and layout.n_words:
                placed = layout.arrange(codes[:, j], -1)
                columns[first[j] : first[j + 1]] = pack(placed[None, :] == np.arange(size)[:, None])
        return cls(columns, first, layout, np.bincount(classes, minlength=n_classes))

    def of_row(self, codes: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Features on which a row has an item, and those items; `codes` is (n_features,)."""
        features = np.flatnonzero(codes >= 0)
        return features, self.first[features] + codes[features]

    def sides(self, items: NDArray[np.int64], outcome: int) -> tuple[Words, Words]:
        """Columns of the items over the rows of a class, and over all other rows."""
        a, b = self.layout.bounds[outcome], self.layout.bounds[outcome + 1]
        chosen = self.columns[items]
        others = np.concatenate([chosen[:, :a], chosen[:, b:]], axis=1)
        return np.ascontiguousarray(chosen[:, a:b]), others


@dataclass(frozen=True, eq=False)
class Itemsets:
    """Sets of features of one row, each standing for the row's items on them.

    Parameters
    ----------
    members : array of bool, shape (n_sets, n_features)
    tp, fp : arrays of int64, shape (n_sets,)
        Training rows with all the items, of the outcome's class and of others.
    length : int
        The deepest level that was searched whole: every qualifying set up to this length
        is here.
    stop : {"enough", "exhausted", "length", "time", "size", "impossible"}
        Why the search ended: enough sets were found; no longer set can qualify; the length
        limit; the time budget; the number of open sets; or the row's items all together
        already share a training row of another class, so that no set is pure.
    """

    members: NDArray[np.bool_]
    tp: NDArray[np.int64]
    fp: NDArray[np.int64]
    length: int
    stop: Stop

    def __len__(self) -> int:
        return len(self.tp)


def qualifying_itemsets(
    items: ItemTable,
    codes: NDArray[np.integer],
    outcome: int,
    *,
    max_length: int | None = None,
    min_count: int = 1,
    min_confidence: float = 1.0,
    min_confirmation: float = 0.0,
    minimal: bool = True,
    enough: int | None = None,
    time_budget: float | None = None,
) -> Itemsets:
    """All sets of a row's items whose rule for `outcome` is good enough.

    Parameters
    ----------
    items : ItemTable
        The training rows.
    codes : array of int, shape (n_features,)
        The row's items; -1 for none.
    outcome : int
        Class that the rules speak for.
    max_length : int or None
        Longest set; None for no limit.
    min_count : int
        Least number of covered rows of the class (tp), at least 1.
    min_confidence : float in [0, 1]
        Least tp/(tp+fp).
    min_confirmation : float in [-1, 1)
        tp/pos - fp/neg must exceed it.
    minimal : bool
        Only sets of which no proper subset qualifies.
    enough : int or None
        Do not begin another level once this many were found.
    time_budget : float or None
        Seconds after which the level in hand is given up; the result then holds the levels
        before it. Level 1 is always finished.

    Returns
    -------
    Itemsets
        By length, then in the order of the features.

    Notes
    -----
    Two exact cuts, besides the support: with ``minimal``, nothing grows from a set that
    qualifies; and with ``min_confidence=1`` too, nothing grows from a set that excludes no
    more rows of other classes than one of its subsets does, since every pure superset of it
    stays pure without the useless item.
    """
    _check(max_length, min_count, min_confidence, min_confirmation)
    features, chosen = items.of_row(codes)
    pos_columns, neg_columns = items.sides(chosen, outcome)
    pos = int(items.totals[outcome])
    neg = int(items.totals.sum()) - pos
    least = max(min_count, floor(min_confirmation * pos))
    pure = min_confidence == 1.0 and min_confirmation >= 0
    limit = len(chosen) if max_length is None else min(max_length, len(chosen))
    width = items.first.size - 1
    if not limit or (pure and _popcount(np.bitwise_and.reduce(neg_columns, axis=0)[None])[0]):
        stop: Stop = "impossible" if limit else "exhausted"
        none = np.zeros(0, dtype=np.int64)
        return Itemsets(np.zeros((0, width), dtype=bool), none, none, 0, stop)
    deadline = None if time_budget is None else time.perf_counter() + time_budget
    search = _Search(pos_columns, neg_columns, pos, neg, least, min_confidence, min_confirmation)
    found: list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]] = []
    stop, length, n_found = "exhausted", 0, 0
    alive = _Level.empty()
    # Dropping rows that forbid nothing new costs as much as the short sets of a few items.
    reduce_after = 3 if len(chosen) <= 32 else 1
    while True:
        if pure and minimal and length == reduce_after:
            search = replace(search, neg_columns=_maximal_rows(neg_columns))
            alive = search.recount(alive)
        level = search.next_level(alive, minimal, pure, deadline if length else None)
        if isinstance(level, str):
            stop = level
            break
        alive, good = level
        length += 1
        found.append(good)
        n_found += len(good[0])
        if not len(alive.sets) or length == len(chosen):
            break
        if length == limit:
            stop = "length"
            break
        if enough is not None and n_found >= enough:
            stop = "enough"
            break
    members = np.zeros((n_found, width), dtype=bool)
    start = 0
    for sets, _, _ in found:
        rows = np.arange(start, start + len(sets))
        members[rows[:, None], features[sets]] = True
        start += len(sets)
    tp = np.concatenate([f[1] for f in found])
    fp = np.concatenate([f[2] for f in found])
    return Itemsets(members, tp, fp, limit if stop == "exhausted" and max_length else length, stop)


def many_qualifying_itemsets(
    items: ItemTable,
    codes: NDArray[np.integer],
    outcomes: NDArray[np.integer],
    **options: object,
) -> Iterator[Itemsets]:
    """`qualifying_itemsets` of many rows, in their order; equal rows are searched once.

    Parameters
    ----------
    codes : array of int, shape (n_rows, n_features)
    outcomes : array of int, shape (n_rows,)
    **options
        As in `qualifying_itemsets`.
    """
    keys = np.concatenate([codes, np.asarray(outcomes)[:, None]], axis=1)
    _, firsts, which = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    which = which.reshape(-1)
    repeats = np.bincount(which, minlength=len(firsts))
    kept: dict[int, Itemsets] = {}
    for i, k in enumerate(which.tolist()):
        if k in kept:
            result = kept[k]
        else:
            result = qualifying_itemsets(items, codes[i], int(outcomes[i]), **options)  # type: ignore[arg-type]
            kept[k] = result
        repeats[k] -= 1
        if not repeats[k]:
            del kept[k]
        yield result


def nearest_itemsets(
    items: ItemTable,
    codes: NDArray[np.integer],
    outcome: int,
    *,
    top: int = 5,
    max_length: int | None = None,
    min_count: int = 1,
    max_sets: int = 200_000,
) -> Itemsets:
    """The sets with the highest confidence, whatever it is; then higher tp, then shorter.

    A set is left out where a proper subset has at least its confidence. Lengths are searched
    from 1 to `max_length`, as far as `max_sets` sets allow; `length` says how far that was.
    """
    k = int((codes >= 0).sum())
    if max_length is not None:
        k = min(k, max_length)
    depth, total = 0, 0
    while depth < k and total + comb(k, depth + 1) <= max_sets:
        depth += 1
        total += comb(k, depth)
    everything = qualifying_itemsets(
        items,
        codes,
        outcome,
        max_length=max(depth, 1),
        min_count=min_count,
        min_confidence=0.0,
        min_confirmation=-1.0,
        minimal=False,
    )
    confidence = everything.tp / np.maximum(everything.tp + everything.fp, 1)
    sizes = everything.members.sum(axis=1)
    order = np.lexsort((sizes, -everything.tp, -confidence))
    # A subset with at least a set's confidence stands before it in this order.
    members = everything.members[order]
    left = np.ones(len(order), dtype=bool)
    kept: list[int] = []
    while len(kept) < top and left.any():
        i = int(left.argmax())
        kept.append(i)
        left &= ~members[:, members[i]].all(axis=1)
    best = order[np.array(kept, dtype=np.int64)]
    return Itemsets(
        everything.members[best],
        everything.tp[best],
        everything.fp[best],
        everything.length,
        everything.stop,
    )


def one_pure_itemset(
    items: ItemTable, codes: NDArray[np.integer], outcome: int, *, min_count: int = 1
) -> Itemsets:
    """One minimal pure set of any length, by dropping items from all of them while it stays pure.

    Empty where no pure set exists or the one found covers too few rows. Items whose loss
    gains most rows of the class are dropped first.
    """
    features, chosen = items.of_row(codes)
    pos_columns, neg_columns = items.sides(chosen, outcome)
    keep = np.ones(len(chosen), dtype=bool)
    width = items.first.size - 1
    none = np.zeros(0, dtype=np.int64)
    empty = Itemsets(np.zeros((0, width), dtype=bool), none, none, 0, "impossible")
    if not len(chosen) or _popcount(np.bitwise_and.reduce(neg_columns, axis=0)[None])[0]:
        return empty
    while keep.sum() > 1:
        best, best_tp = -1, -1
        for j in np.flatnonzero(keep):
            keep[j] = False
            if not np.bitwise_and.reduce(neg_columns[keep], axis=0).any():
                tp = int(_popcount(np.bitwise_and.reduce(pos_columns[keep], axis=0)[None])[0])
                if tp > best_tp:
                    best, best_tp = int(j), tp
            keep[j] = True
        if best < 0:
            break
        keep[best] = False
    tp = int(_popcount(np.bitwise_and.reduce(pos_columns[keep], axis=0)[None])[0])
    if tp < min_count:
        return empty
    members = np.zeros((1, width), dtype=bool)
    members[0, features[keep]] = True
    return Itemsets(members, np.array([tp]), none[:0].sum(keepdims=True), int(keep.sum()), "length")


# ---------------------------------------------------------------------- the search
@dataclass(frozen=True, eq=False)
class _Level:
    """Open sets of one length, in lexicographic order, with their counts of other rows."""

    sets: NDArray[np.int64]
    fp: NDArray[np.int64]

    @classmethod
    def empty(cls) -> _Level:
        return cls(np.zeros((1, 0), dtype=np.int64), np.zeros(1, dtype=np.int64))


_Found: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class _Search:
    pos_columns: Words
    neg_columns: Words
    pos: int
    neg: int
    least: int
    min_confidence: float
    min_confirmation: float

    def next_level(
        self, level: _Level, minimal: bool, pure: bool, deadline: float | None
    ) -> tuple[_Level, _Found] | Stop:
        """Sets one item longer: those that stay open, and those that qualify."""
        k, size = len(self.pos_columns), level.sets.shape[1]
        words = max(1, self.pos_columns.shape[1], self.neg_columns.shape[1])
        step = max(64, _BATCH_BYTES // (8 * words))
        lookup = _Lookup(level.sets, k) if minimal and size >= 2 else None
        open_parts: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        good_parts: list[_Found] = []
        n_open = 0
        for parent, other, item in pairs_with_a_common_start(level.sets, k, step):
            if deadline is not None and time.perf_counter() > deadline:
                return "time"
            # 1. Every subset of a set must be open; remember the fewest rows one excludes.
            fewest = level.fp[parent] if size else np.full(len(parent), self.neg + 1)
            if size:
                fewest = np.minimum(fewest, level.fp[other])
            if lookup is not None:
                keep = np.ones(len(parent), dtype=bool)
                for at in range(size - 1):
                    place = lookup.without(level.sets[parent], item, at)
                    keep &= place >= 0
                    fewest = np.minimum(fewest, level.fp[np.maximum(place, 0)])
                parent, item, fewest = parent[keep], item[keep], fewest[keep]
            if not len(parent):
                continue
            sets = np.concatenate([level.sets[parent], item[:, None]], axis=1)
            # 2. Rows of other classes, then of the class where that still matters.
            fp = self._count(self.neg_columns, level.sets, parent, item)
            if pure and minimal:
                keep = (fp == 0) | (fp < fewest)
                parent, item, sets, fp = parent[keep], item[keep], sets[keep], fp[keep]
                if not len(parent):
                    continue
            tp = self._count(self.pos_columns, level.sets, parent, item)
            # 3. What qualifies, and what may still grow.
            good = self._qualifies(tp, fp)
            grows = tp >= self.least
            if minimal:
                grows &= ~good
            good_parts.append((sets[good], tp[good], fp[good]))
            open_parts.append((sets[grows], fp[grows]))
            n_open += int(grows.sum())
            if n_open > _MAX_ALIVE:
                return "size"
        none = np.zeros(0, dtype=np.int64)
        good_parts.append((np.zeros((0, size + 1), dtype=np.int64), none, none))
        open_parts.append((np.zeros((0, size + 1), dtype=np.int64), none))
        opened = _Level(*(np.concatenate([p[i] for p in open_parts]) for i in range(2)))
        a, b, c = (np.concatenate([p[i] for p in good_parts]) for i in range(3))
        return opened, (a, b, c)

    def recount(self, level: _Level) -> _Level:
        """The same open sets with their counts over the rows that this search looks at."""
        fp = np.empty_like(level.fp)
        step = max(64, _BATCH_BYTES // (8 * max(1, self.neg_columns.shape[1])))
        for a in range(0, len(fp), step):
            part = np.arange(a, min(a + step, len(fp)))
            fp[part] = self._count(self.neg_columns, level.sets[:, :-1], part, level.sets[part, -1])
        return _Level(level.sets, fp)

    def _qualifies(self, tp: NDArray[np.int64], fp: NDArray[np.int64]) -> NDArray[np.bool_]:
        # A quotient, not a product: 11/20 is 0.55 exactly as written, 0.55 * 20 is above 11.
        good: NDArray[np.bool_] = (tp >= self.least) & (
            tp / np.maximum(tp + fp, 1) >= self.min_confidence
        )
        rise = tp / max(self.pos, 1) - fp / max(self.neg, 1)
        if self.min_confirmation > -1:
            good &= rise > self.min_confirmation
        return good

    @staticmethod
    def _count(
        columns: Words, sets: NDArray[np.int64], parent: NDArray[np.int64], item: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Rows with all items of a parent set and one more."""
        bits = columns[item]
        if sets.shape[1]:
            first, last = int(parent[0]), int(parent[-1]) + 1
            shared = columns[sets[first:last, 0]]
            for j in range(1, sets.shape[1]):
                shared &= columns[sets[first:last, j]]
            bits &= shared[parent - first]
        return _popcount(bits)


def pairs_with_a_common_start(
    sets: NDArray[np.int64], k: int, step: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
    """Pairs of sets that differ in their last item only, block by block.

    Yields the positions of both, and the last item of the second, which joins the first.
    """
    n, size = sets.shape
    if size == 0:
        zero = np.zeros(k, dtype=np.int64)
        yield zero, zero, np.arange(k)
        return
    new_group = np.ones(n, dtype=bool)
    if size > 1 and n > 1:
        new_group[1:] = (sets[1:, :-1] != sets[:-1, :-1]).any(axis=1)
    elif n > 1:
        new_group[1:] = False
    starts = np.flatnonzero(new_group)
    ends = np.append(starts[1:], n)
    partners = np.repeat(ends, ends - starts) - np.arange(n) - 1
    edges = np.concatenate([[0], np.cumsum(partners)])
    a = 0
    while a < n:
        b = max(a + 1, int(np.searchsorted(edges, edges[a] + step, side="right")) - 1)
        count = partners[a:b]
        parent = np.repeat(np.arange(a, b), count)
        if len(parent):
            within = np.arange(len(parent)) - np.repeat(edges[a:b] - edges[a], count)
            other = parent + 1 + within
            yield parent, other, sets[other, -1]
        a = b


class _Lookup:
    """Positions of sets by their number in the combinatorial number system."""

    def __init__(self, sets: NDArray[np.int64], k: int) -> None:
        size = sets.shape[1]
        self._binomial = np.array(
            [[comb(item, place + 1) for item in range(k)] for place in range(size)], dtype=object
        )
        largest = comb(k, size)
        if largest < 2**62:
            self._binomial = self._binomial.astype(np.int64)
        numbers = self._number(sets)
        self._order = np.argsort(numbers, kind="stable")
        self._sorted = numbers[self._order]

    def _number(self, sets: NDArray[np.int64]) -> NDArray[np.int64]:
        out: NDArray[np.int64] = self._binomial[0][sets[:, 0]]
        for place in range(1, sets.shape[1]):
            out = out + self._binomial[place][sets[:, place]]
        return out

    def without(
        self, sets: NDArray[np.int64], item: NDArray[np.int64], at: int
    ) -> NDArray[np.int64]:
        """Position of each set with the item at place `at` replaced by a later last item; or -1."""
        shorter = np.concatenate([sets[:, :at], sets[:, at + 1 :], item[:, None]], axis=1)
        numbers = self._number(shorter)
        place = np.minimum(np.searchsorted(self._sorted, numbers), len(self._sorted) - 1)
        hit = self._sorted[place] == numbers
        return np.where(hit, self._order[place], -1)


def _popcount(bits: Words) -> NDArray[np.int64]:
    out: NDArray[np.int64] = np.bitwise_count(bits).sum(axis=-1, dtype=np.int64)
    return out


def _maximal_rows(columns: Words) -> Words:
    """Columns over fewer rows, such that a set of items covers some row exactly if it did.

    A row whose items (among those of the columns) are all items of another row adds nothing:
    a set that covers it covers the other too. The rows with most items are compared with all
    others, which drops nearly all of the rest.
    """
    k, words = columns.shape
    if not words:
        return columns
    flags = np.unpackbits(columns.view(np.uint8), axis=1, bitorder="little")
    width = -(-k // 64)
    padded = np.zeros((64 * width, flags.shape[1]), dtype=np.uint8)
    padded[:k] = flags
    masks = np.packbits(padded, axis=0, bitorder="little").T.copy().view(np.uint64)
    if width == 1:
        masks = np.unique(masks[:, 0])[:, None]
    else:
        as_bytes = masks.view(f"V{8 * width}")[:, 0]
        masks = np.unique(as_bytes).view(np.uint64).reshape(-1, width)
    masks = masks[masks.any(axis=1)]
    masks = masks[np.argsort(-_popcount(masks), kind="stable")]
    kept: list[Words] = []
    for _ in range(4):
        head, masks = masks[:32], masks[32:]
        kept.append(head)
        if not len(masks):
            break
        inside = np.zeros(len(masks), dtype=bool)
        for m in head:
            inside |= ~(masks & ~m).any(axis=1)
        masks = masks[~inside]
    masks = np.concatenate([*kept, masks])
    bits = np.unpackbits(masks.view(np.uint8), axis=1, bitorder="little")[:, :k]
    flat = np.zeros((k, -(-max(len(masks), 1) // 64) * 64), dtype=np.uint8)
    flat[:, : len(masks)] = bits.T
    return np.packbits(flat, axis=1, bitorder="little").view(np.uint64)


def _check(
    max_length: int | None, min_count: int, min_confidence: float, min_confirmation: float
) -> None:
    if max_length is not None and max_length < 1:
        raise OptionError(f"max_length must be at least 1 or None, not {max_length}.")
    if min_count < 1:
        raise OptionError(f"min_count must be at least 1, not {min_count}.")
    if not 0 <= min_confidence <= 1:
        raise OptionError(f"min_confidence must lie in [0, 1], not {min_confidence}.")
    if not -1 <= min_confirmation < 1:
        raise OptionError(f"min_confirmation must lie in [-1, 1), not {min_confirmation}.")
