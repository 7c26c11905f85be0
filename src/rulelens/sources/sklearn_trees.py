"""Rules of scikit-learn's classification trees and forests, exact to the last bit.

scikit-learn rounds a sample to single precision, compares it with a double-precision
threshold by ``<=``, and sends missing values down a branch chosen for each split. The rules
keep all three.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulelens.core.condition_table import (
    FLOAT32,
    HIGH_CLOSED,
    INTERVAL,
    MEMBERSHIP,
    MISSING,
    OR_MISSING,
    ConditionTable,
)
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Level, Schema
from rulelens.errors import ModelError
from rulelens.sources.extract import SOURCES


@SOURCES.register("sklearn.DecisionTreeClassifier")
@SOURCES.register("sklearn.ExtraTreeClassifier")
def tree_rules(model: Any, schema: Schema | None) -> RuleSet:
    """Rules of one tree; see `extract_rules`."""
    return _rules([model], model, schema)


@SOURCES.register("sklearn.RandomForestClassifier")
@SOURCES.register("sklearn.ExtraTreesClassifier")
def forest_rules(model: Any, schema: Schema | None) -> RuleSet:
    """Rules of all trees of a forest; see `extract_rules`."""
    _check_fitted(model)
    return _rules(model.estimators_, model, schema)


def _check_fitted(model: Any) -> None:
    if not (hasattr(model, "tree_") or hasattr(model, "estimators_")):
        raise ModelError(f"This {type(model).__name__} is not fitted. Call fit(X, y) first.")


def _rules(trees: Sequence[Any], model: Any, schema: Schema | None) -> RuleSet:
    _check_fitted(model)
    if getattr(model, "n_outputs_", 1) != 1:
        raise ModelError(
            f"The model predicts {model.n_outputs_} targets at once. Fit one model a target."
        )
    schema = _schema_of(model, schema)
    # 1. All trees as one array of nodes, and the path from each leaf up to its root.
    parts = [_paths(tree.tree_) for tree in trees]
    sizes = np.array([len(p[0]) for p in parts])
    leaf = np.concatenate([p[0] for p in parts])
    winner = np.concatenate([p[1] for p in parts])
    shift = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    owner = np.concatenate([p[2] + s for p, s in zip(parts, shift, strict=True)])
    feature, threshold, below, missing = (
        np.concatenate([p[k] for p in parts]) for k in (3, 4, 5, 6)
    )
    # 2. The splits of one leaf on one feature become one interval.
    order = np.lexsort((feature, owner))
    owner, feature, threshold, below, missing = (
        a[order] for a in (owner, feature, threshold, below, missing)
    )
    starts = np.flatnonzero(
        np.concatenate([[True], (owner[1:] != owner[:-1]) | (feature[1:] != feature[:-1])])
        if len(owner)
        else np.zeros(0, bool)
    )
    if len(starts):
        high = np.minimum.reduceat(np.where(below, threshold, np.inf), starts)
        low = np.maximum.reduceat(np.where(below, -np.inf, threshold), starts)
        accepts = np.logical_and.reduceat(missing, starts)
    else:
        high = low = np.zeros(0)
        accepts = np.zeros(0, dtype=bool)
    flags = FLOAT32 + HIGH_CLOSED * (high < np.inf) + OR_MISSING * accepts
    table = ConditionTable.from_intervals(feature[starts], low, high, flags)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owner[starts], minlength=len(leaf)))])
    return RuleSet.from_arrays(
        schema,
        _as_levels(table, schema),
        offsets,
        np.arange(len(table)),
        winner,
        outcomes=[_label(c) for c in model.classes_],
        provenance={"tree": np.repeat(np.arange(len(parts)), sizes), "leaf": leaf},
    )


def _schema_of(model: Any, schema: Schema | None) -> Schema:
    names = getattr(model, "feature_names_in_", None)
    n = int(model.n_features_in_)
    if schema is None:
        return Schema.numeric(names if names is not None else [f"x{i}" for i in range(n)])
    if names is not None and set(names) <= set(schema.names):
        schema = Schema(schema[str(name)] for name in names)
    if len(schema) != n:
        raise ModelError(
            f"The model was fitted on {n} features, but {len(schema)} are given. "
            "Give the table that it was fitted on, without the target."
        )
    if names is not None and list(names) != list(schema.names):
        unknown = next(str(m) for m in names if m not in schema)
        raise ModelError(
            f"The model was fitted with a feature '{unknown}' that is not among those given: "
            f"{', '.join(schema.names[:8])}{', …' if n > 8 else ''}."
        )
    for f in schema:
        if f.kind == "categorical":
            raise ModelError(
                f"Feature '{f.name}' is text, but scikit-learn's trees are fitted on numbers. "
                "Give the table that the model was fitted on."
            )
    return schema


def _label(value: Any) -> Level:
    out: Level = value.item() if isinstance(value, np.generic) else value
    return out


def _paths(tree: Any) -> tuple[NDArray[Any], ...]:
    """Leaves, the class of each, and one record for every split above every leaf.

    Returns
    -------
    leaf, winner : arrays of int, shape (n_leaves,)
    owner, feature, threshold, below, missing : arrays, one entry a record
        Position of the leaf; the split; whether the leaf lies on the ``<=`` side; whether a
        missing value goes to that side.
    """
    left, right = tree.children_left, tree.children_right
    leaf = np.flatnonzero(left < 0)
    parent = np.full(tree.node_count, -1, dtype=np.int64)
    inner = np.flatnonzero(left >= 0)
    parent[left[inner]] = inner
    parent[right[inner]] = inner
    goes_left = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count)).astype(bool)
    records = []
    owner, node = np.arange(len(leaf)), leaf
    while True:
        up = parent[node]
        keep = up >= 0
        owner, node, up = owner[keep], node[keep], up[keep]
        if not len(up):
            break
        below = left[up] == node
        records.append((owner, tree.feature[up], tree.threshold[up], below, goes_left[up] == below))
        node = up
    winner = np.argmax(tree.value[leaf][:, 0, :], axis=1)
    if not records:
        none = np.zeros(0, dtype=np.int64)
        return leaf, winner, none, none, none.astype(float), none.astype(bool), none.astype(bool)
    return leaf, winner, *(np.concatenate([r[k] for r in records]) for k in range(5))


def _as_levels(table: ConditionTable, schema: Schema) -> ConditionTable:
    """Intervals on boolean features as sets of levels: False is 0 and True is 1."""
    boolean = np.array([f.kind == "boolean" for f in schema], dtype=bool)[table.feature]
    boolean &= table.kind == INTERVAL
    if not boolean.any():
        return table
    # The intervals of a tree are open below and closed above.
    inside = boolean & ((table.low < [[0], [1]]) & (table.high >= [[0], [1]]))
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
