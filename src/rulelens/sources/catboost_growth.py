"""CatBoost's trees as nodes, and splits by combinations of features as several plain ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulelens.errors import ModelError
from rulelens.sources.catboost_splits import WITHOUT_COMBINATIONS, Answers, Axis, check_split

_MOST_LEAVES = 1_000_000

_Region: TypeAlias = Mapping[int, Any]
"""What is left of each feature in a node: a mask of levels, or (low, high] of a number."""


@dataclass(eq=False)
class Grown:
    """A tree as nodes; node 0 is the root.

    Parameters
    ----------
    left, right : sequences of int
        Children, -1 at a leaf.
    splits : list
        What each node asks, None at a leaf: splits as they are saved, or `Answers`.
    values : dict of int to list of float
        Values of each leaf, by its node.
    """

    left: Sequence[int] | NDArray[np.integer]
    right: Sequence[int] | NDArray[np.integer]
    splits: list[Any]
    values: dict[int, list[float]]


def oblivious(tree: Mapping[str, Any]) -> Grown:
    """A tree that asks the same question in all nodes of a level, as nodes of a full tree."""
    splits = tree.get("splits") or []
    for split in splits:
        check_split(split)
    depth = len(splits)
    n_leaves = 1 << depth
    n = 2 * n_leaves - 1
    inner = np.arange(n_leaves - 1)
    left, right = np.full(n, -1), np.full(n, -1)
    left[inner], right[inner] = 2 * inner + 1, 2 * inner + 2
    levels = np.log2(inner + 1).astype(int)
    asked: list[Any] = [splits[k] for k in levels.tolist()] + [None] * n_leaves
    # Bit i of a leaf's number is the answer to question i, the first question being the root.
    values = np.asarray(tree["leaf_values"], dtype=float).reshape(n_leaves, -1)
    found = {}
    for path in range(n_leaves):
        bits = [path >> (depth - 1 - i) & 1 for i in range(depth)]
        found[n_leaves - 1 + path] = values[sum(b << i for i, b in enumerate(bits))].tolist()
    return Grown(left, right, asked, found)


def nested(tree: Mapping[str, Any]) -> Grown:
    """A tree of any shape."""
    left: list[int] = []
    right: list[int] = []
    asked: list[Any] = []
    values: dict[int, list[float]] = {}
    waiting = [tree]
    count = 1
    for node in waiting:  # grows while it is read
        if "split" in node:
            check_split(node["split"])
            asked.append(node["split"])
            left.append(count)
            right.append(count + 1)
            count += 2
            waiting += [node["left"], node["right"]]
        else:
            values[len(left)] = np.ravel(node["value"]).tolist()
            asked.append(None)
            left.append(-1)
            right.append(-1)
    return Grown(left, right, asked, values)


def with_plain_splits(tree: Grown) -> Grown:
    """The same tree where every node asks about one feature.

    A split by a combination becomes a small tree of plain splits, which tells apart only what the
    answer depends on in the region that the node's rows come from. Its leaves go on with copies
    of the node's branches, so that several leaves have the values of one.

    Parameters
    ----------
    tree : Grown
        Its splits are `Answers`.

    Raises
    ------
    ModelError
        There would be too many leaves.
    """
    if all(s is None or len(s.axes) == 1 for s in tree.splits):
        return tree
    left: list[int] = []
    right: list[int] = []
    splits: list[Answers | None] = []
    values: dict[int, list[float]] = {}
    waiting: list[tuple[int, _Region, int, list[int]]] = [(0, {}, 0, [0])]
    while waiting:
        node, region, parent, side = waiting.pop()
        found = _reached(tree, node, region)
        new = len(left)
        side[parent] = new
        left.append(-1)
        right.append(-1)
        splits.append(None if found.question is None else found.question)
        if found.question is None:
            values[new] = tree.values[found.node]
            if len(values) > _MOST_LEAVES:
                raise ModelError(
                    "The model asks about so many combinations of features that one of its trees "
                    f"gives more than {_MOST_LEAVES} rules. {WITHOUT_COMBINATIONS}"
                )
            continue
        for goes_right, children in ((True, right), (False, left)):
            part = _part(region, found.question, goes_right)
            waiting.append((found.node, part, new, children))
    return Grown(left, right, splits, values)


@dataclass(frozen=True, eq=False)
class _Reached:
    """The node whose answer the region does not settle yet, and what to ask there; or a leaf."""

    node: int
    question: Answers | None


def _reached(tree: Grown, node: int, region: _Region) -> _Reached:
    while True:
        split = tree.splits[node]
        if split is None:
            return _Reached(node, None)
        left = [_left_of(region, axis) for axis in split.axes]
        right = split.right[np.ix_(*left)]
        if right.all():
            node = int(tree.right[node])
        elif not right.any():
            node = int(tree.left[node])
        else:
            return _Reached(node, _question(split, left, right))


def _left_of(region: _Region, axis: Axis) -> NDArray[np.intp]:
    """Levels or intervals of an axis that the region has."""
    if axis.place not in region:
        return np.arange(axis.size)
    if axis.cuts is None:
        return np.flatnonzero(region[axis.place])
    low, high = region[axis.place]
    ends = np.array([-np.inf, *axis.cuts, np.inf])
    # A missing value counts as the lowest or highest of all, and so an end at infinity is inside.
    return np.flatnonzero((ends[:-1] < high) & (ends[1:] > low))


def _question(split: Answers, left: Sequence[NDArray[np.intp]], right: Any) -> Answers:
    """A plain split of the axis on which the answer takes the fewest forms."""
    forms = []
    for k in range(len(left)):
        slices = np.moveaxis(right, k, 0).reshape(len(left[k]), -1)
        known: dict[bytes, int] = {}
        forms.append([known.setdefault(s.tobytes(), len(known)) for s in slices])
    number = [max(f) + 1 for f in forms]
    k = min((n, k) for k, n in enumerate(number) if n > 1)[1]
    axis, form = split.axes[k], np.array(forms[k])
    if axis.cuts is None:
        asked = np.zeros(axis.size, dtype=bool)
        asked[left[k][form >= (number[k] + 1) // 2]] = True
        return Answers((axis,), asked)
    changes = np.flatnonzero(form[1:] != form[:-1])
    cut = axis.cuts[left[k][changes[len(changes) // 2]]]
    return number_question(axis.place, cut)


def number_question(place: int, cut: float) -> Answers:
    """Whether a number is above a cut."""
    return Answers((Axis(place, 2, (cut,)),), np.array([False, True]))


def _part(region: _Region, question: Answers, goes_right: bool) -> _Region:
    """What is left of a region behind a plain split."""
    axis = question.axes[0]
    if axis.cuts is None:
        mask = region.get(axis.place, np.ones(axis.size, dtype=bool))
        return {**region, axis.place: mask & (question.right == goes_right)}
    low, high = region.get(axis.place, (-np.inf, np.inf))
    cut = axis.cuts[0]
    return {**region, axis.place: (max(low, cut), high) if goes_right else (low, min(high, cut))}
