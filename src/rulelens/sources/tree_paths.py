"""Binary trees as arrays, and the conditions that lead to each of their leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from rulelens.core.condition_table import (
    FLOAT32,
    HIGH_CLOSED,
    INTERVAL,
    LOW_CLOSED,
    MEMBERSHIP,
    MISSING,
    NEGATED,
    OR_MISSING,
    ConditionTable,
)
from rulelens.core.schema import Schema

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Tree:
    """One binary tree; every array has one entry a node.

    Parameters
    ----------
    left, right : arrays of int
        Children; ``left`` is -1 at a leaf. Node 0 is the root.
    feature : array of int
        Position of the feature that a node asks about.
    threshold : array of float64
        Where it splits a number.
    missing_left : array of bool
        Whether a missing value goes left.
    level_set : array of int, optional
        For a split by levels, the position of its set in `sets`; -1 for a split of numbers.
    sets : sequence of arrays of bool, each of shape (n_levels + 1,)
        Which levels of the feature go left; the last entry is for a level never seen before.
    """

    left: NDArray[np.integer]
    right: NDArray[np.integer]
    feature: NDArray[np.integer]
    threshold: Floats
    missing_left: Flags
    level_set: NDArray[np.integer] | None = None
    sets: Sequence[Flags] = field(default=())


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves of trees that some row can reach.

    Parameters
    ----------
    conditions : ConditionTable
        Distinct conditions.
    offsets, indices : arrays of int64
        Leaf k has the conditions ``indices[offsets[k]:offsets[k + 1]]``.
    tree, node : arrays of int64, shape (n_leaves,)
    """

    conditions: ConditionTable
    offsets: Ints
    indices: Ints
    tree: Ints
    node: Ints

    def repeated(self, times: int) -> Leaves:
        """All leaves, several times over: for leaves with one value for each class."""
        lengths = np.tile(np.diff(self.offsets), times)
        return Leaves(
            self.conditions,
            np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            np.tile(self.indices, times),
            np.tile(self.tree, times),
            np.tile(self.node, times),
        )


def leaves_of(trees: Sequence[Tree], schema: Schema, *, closed_left: bool, float32: bool) -> Leaves:
    """Conditions of every leaf: one for each feature on its path.

    Parameters
    ----------
    trees : sequence of Tree
    schema : Schema
    closed_left : bool
        Whether a number equal to the threshold goes left (``x <= t``) or not (``x < t``).
    float32 : bool
        Whether the trees round numbers to single precision before they compare them.

    Notes
    -----
    A condition is first one whole number: feature, rank of the low end among all thresholds,
    rank of the high end, missing. Equal conditions of a large forest are found by sorting
    these numbers. A leaf whose conditions no row can meet is left out.
    """
    cuts = np.unique(np.concatenate([t.threshold[_numeric(t)] for t in trees] or [np.zeros(0)]))
    coder = _Coder(len(schema), len(cuts))
    keys, owners, sizes, nodes = [], [], [], []
    start = 0
    for tree in trees:
        leaf, owner, key = _tree_keys(tree, cuts, coder)
        keys.append(key)
        owners.append(owner + start)
        sizes.append(len(leaf))
        nodes.append(leaf)
        start += len(leaf)
    distinct, position = np.unique(_join(keys), return_inverse=True)
    owner = _join(owners)
    table, impossible, vacuous = _decode(distinct, cuts, coder, schema, closed_left, float32)
    dead = np.zeros(start, dtype=bool)
    dead[owner[impossible[position]]] = True
    keep = ~vacuous[position] & ~dead[owner]
    lengths = np.bincount(owner[keep], minlength=start)[~dead]
    return Leaves(
        table,
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        position[keep].astype(np.int64),
        np.repeat(np.arange(len(trees)), sizes)[~dead],
        _join(nodes)[~dead],
    )


class _Coder:
    """Conditions as whole numbers, and back."""

    def __init__(self, n_features: int, n_cuts: int) -> None:
        self.base = n_cuts + 1
        self.first_set = n_features * self.base * self.base * 2
        self.sets: dict[tuple[int, bytes, bool], int] = {}

    def interval(self, feature: Ints, low: Ints, high: Ints, missing: Flags) -> Ints:
        code: Ints = ((feature * self.base + low) * self.base + high) * 2 + missing
        return code

    def split(self, code: Ints) -> tuple[Ints, Ints, Ints, Flags]:
        rest, missing = np.divmod(code, 2)
        rest, high = np.divmod(rest, self.base)
        feature, low = np.divmod(rest, self.base)
        return feature, low, high, missing.astype(bool)

    def level_set(self, feature: int, mask: Flags, missing: bool) -> int:
        key = (feature, mask.tobytes(), missing)
        return self.first_set + self.sets.setdefault(key, len(self.sets))


def _numeric(tree: Tree) -> Flags:
    inner: Flags = tree.left >= 0
    return inner if tree.level_set is None else inner & (tree.level_set < 0)


def _join(parts: list[Ints]) -> Ints:
    return np.concatenate([*parts, np.zeros(0, np.int64)])


def _tree_keys(tree: Tree, cuts: Floats, coder: _Coder) -> tuple[Ints, Ints, Ints]:
    """Leaves of one tree, and a (leaf, coded condition) pair for each feature on each path."""
    leaf, owner, up, below = _paths(tree)
    if not len(owner):
        return leaf, owner, owner
    # 1. Splits of one leaf on one feature stand together.
    n_features = int(tree.feature[up].max()) + 1
    group = owner * n_features + tree.feature[up]
    order = np.argsort(group, kind="stable")
    group, up, below = group[order], up[order], below[order]
    starts = np.flatnonzero(np.concatenate([[True], group[1:] != group[:-1]]))
    owner, feature = np.divmod(group[starts], n_features)
    missing = np.logical_and.reduceat(tree.missing_left[up] == below, starts)
    # 2. Their conditions meet in one interval: the highest low end and the lowest high end.
    rank = np.searchsorted(cuts, tree.threshold[up])
    low = np.maximum.reduceat(np.where(below, 0, rank + 1), starts)
    high = np.minimum.reduceat(np.where(below, rank, len(cuts)), starts)
    key = coder.interval(feature, low, high, missing)
    # 3. Or in one set of levels.
    for g, mask in _level_masks(tree, up, below, starts):
        key[g] = coder.level_set(int(feature[g]), mask, bool(missing[g]))
    return leaf, owner, key


def _paths(tree: Tree) -> tuple[Ints, Ints, Ints, Flags]:
    """Leaves, and for each split above each leaf: position of the leaf, the node, its side."""
    inner = np.flatnonzero(tree.left >= 0)
    leaf = np.flatnonzero(tree.left < 0)
    parent = np.full(len(tree.left), -1, dtype=np.int64)
    parent[tree.left[inner]] = inner
    parent[tree.right[inner]] = inner
    owner, node = np.arange(len(leaf)), leaf
    records = []
    while True:
        up = parent[node]
        keep = up >= 0
        owner, node, up = owner[keep], node[keep], up[keep]
        if not len(up):
            break
        records.append((owner, up, tree.left[up] == node))
        node = up
    if not records:
        none = np.zeros(0, np.int64)
        return leaf, none, none, none.astype(bool)
    owner, up, below = (np.concatenate([r[k] for r in records]) for k in range(3))
    return leaf, owner, up, below


def _level_masks(tree: Tree, up: Ints, below: Flags, starts: Ints) -> Iterator[tuple[int, Flags]]:
    """Groups of splits by levels, and the levels that pass all splits of the group."""
    if tree.level_set is None or not (tree.level_set[up] >= 0).any():
        return
    ends = np.append(starts[1:], len(up))
    for g in np.flatnonzero(tree.level_set[up[starts]] >= 0).tolist():
        mask = np.ones_like(tree.sets[tree.level_set[up[starts[g]]]])
        for i in range(starts[g], ends[g]):
            goes_left = tree.sets[tree.level_set[up[i]]]
            mask &= goes_left if below[i] else ~goes_left
        yield g, mask


def _decode(
    codes: Ints, cuts: Floats, coder: _Coder, schema: Schema, closed_left: bool, float32: bool
) -> tuple[ConditionTable, Flags, Flags]:
    """Conditions of sorted codes; which of them no value meets, and which every value meets."""
    feature, low, high, missing = coder.split(codes[codes < coder.first_set])
    lows, highs = np.append(-np.inf, cuts)[low], np.append(cuts, np.inf)[high]
    flags = np.where(closed_left, HIGH_CLOSED, LOW_CLOSED) + FLOAT32 * float32
    # Every interval accepts missing values at first, so that an empty one is no error yet.
    table = ConditionTable.from_intervals(
        feature, lows, highs, np.full(len(feature), flags | OR_MISSING)
    )
    table = _as_levels(table, schema)
    empty = table.kind == MISSING
    flags = np.where(missing | empty, table.flags, table.flags & ~np.uint8(OR_MISSING))
    table = replace(table, flags=flags.astype(np.uint8))
    everything = (lows == -np.inf) & (highs == np.inf)
    sizes = np.diff(table.level_offsets)
    everything |= (table.kind == MEMBERSHIP) & (sizes == 2)
    sets, no_level, all_levels, accepts = _decode_sets(coder)
    return (
        ConditionTable.concatenate([table, sets]),
        np.concatenate([empty & ~missing, no_level & ~accepts]),
        np.concatenate([everything & missing, all_levels & accepts]),
    )


def _as_levels(table: ConditionTable, schema: Schema) -> ConditionTable:
    """Intervals on boolean features as sets of levels: False is 0 and True is 1."""
    boolean = np.array([f.kind == "boolean" for f in schema], dtype=bool)[table.feature]
    boolean &= table.kind == INTERVAL
    if not boolean.any():
        return table
    value = np.array([[0.0], [1.0]])
    low_closed, high_closed = table.flags & LOW_CLOSED > 0, table.flags & HIGH_CLOSED > 0
    inside = (value > table.low) | (low_closed & (value == table.low))
    inside &= (value < table.high) | (high_closed & (value == table.high))
    inside &= boolean
    sizes = inside.sum(axis=0)
    kind = np.where(boolean, np.where(sizes > 0, MEMBERSHIP, MISSING), table.kind)
    keep = np.where(kind == MEMBERSHIP, OR_MISSING, np.where(kind == MISSING, 0, 255))
    return ConditionTable(
        table.feature,
        kind.astype(np.uint8),
        np.where(boolean, 0.0, table.low),
        np.where(boolean, 0.0, table.high),
        (table.flags & keep).astype(np.uint8),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.nonzero(inside.T)[1].astype(np.int32),
    )


def _decode_sets(coder: _Coder) -> tuple[ConditionTable, Flags, Flags, Flags]:
    """Sets of levels as conditions; which allow no level, which every level, which missing."""
    n = len(coder.sets)
    feature, kind, flags = np.zeros(n, np.int32), np.full(n, MEMBERSHIP, np.uint8), np.zeros(n, int)
    none, every, accepts = (np.zeros(n, dtype=bool) for _ in range(3))
    chosen: list[Ints] = []
    for i, (f, raw, missing) in enumerate(coder.sets):
        mask = np.frombuffer(raw, dtype=bool)
        unseen = bool(mask[-1])
        feature[i], accepts[i] = f, missing
        none[i], every[i] = not mask.any(), mask.all()
        flags[i] = NEGATED * unseen + OR_MISSING * missing
        # A set that a level never seen before passes is written as what it excludes.
        chosen.append(np.flatnonzero(~mask if unseen else mask))
        if none[i]:
            kind[i], flags[i] = MISSING, 0
    sizes = np.array([len(c) for c in chosen], dtype=np.int64)
    table = ConditionTable(
        feature,
        kind,
        np.zeros(n),
        np.zeros(n),
        flags.astype(np.uint8),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        _join(chosen).astype(np.int32),
    )
    return table, none, every, accepts
