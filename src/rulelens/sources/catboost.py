"""Rules of CatBoost classifiers, from the JSON that a model saves.

CatBoost rounds numbers to single precision and sends ``x > border`` to the right, and so the one
level that a split by levels asks for; a missing value or an unseen level goes to the left. A split
by a statistic of the target sends to the right each level whose statistic lies above a border; a
missing value goes where an unseen level goes. A tree that asks one question on each level has
leaves that no row can reach; they give no rule.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Schema
from rulelens.errors import ModelError, UnsupportedModelError
from rulelens.sources.catboost_levels import (
    Saved,
    check_features,
    check_split,
    known_levels,
    levels_to_the_right,
)
from rulelens.sources.extract import SOURCES
from rulelens.sources.fitted import labels_of, named_by_place, schema_of
from rulelens.sources.scores import score_rules
from rulelens.sources.tree_paths import Tree, leaves_of

_Grown: TypeAlias = tuple[Any, Any, list[Any], dict[int, Any]]
"""Children on the left and right, the split of each node, and the values of each leaf."""


@SOURCES.register("catboost.CatBoost")
@SOURCES.register("catboost.CatBoostClassifier")
def classifier_rules(model: Any, schema: Schema | None) -> RuleSet:
    """Rules of a classifier or booster; see `extract_rules` and `score_rules`.

    With more than two classes a leaf has a value for each: it gives one rule a class.
    """
    if not model.is_fitted():
        raise ModelError(f"This {type(model).__name__} is not fitted. Call fit(X, y) first.")
    if len(model.classes_) < 2:
        raise UnsupportedModelError(
            f"This {type(model).__name__} has no classes, but rules need a classifier: a "
            "CatBoostClassifier, or a CatBoost with the loss Logloss, CrossEntropy or MultiClass."
        )
    check_features(model)
    saved = Saved.of(model)
    if saved.loss in ("MultiLogloss", "MultiCrossEntropy"):
        raise ModelError(
            f"The model has the loss {saved.loss}: it predicts several targets at once. Fit one "
            "model a target."
        )
    grown = [_oblivious(t) for t in saved.document.get("oblivious_trees", [])]
    grown += [_nested(t) for t in saved.document.get("trees", [])]
    schema = _schema(list(model.feature_names_), sorted(saved.places.values()), schema)
    arrays = _trees(type(model), grown, saved, schema)
    leaves = leaves_of(arrays, schema, closed_left=True, float32=True)
    # The values of a leaf: one, or one a class.
    scale, bias = saved.document["scale_and_bias"]
    values = scale * np.array(
        [grown[t][3][k] for t, k in zip(leaves.tree.tolist(), leaves.node.tolist(), strict=True)]
    ).reshape(len(leaves.tree), -1)
    outcomes = labels_of(model.classes_)
    n_scores = values.shape[1]
    if n_scores == 1:
        return score_rules(schema, leaves, values[:, 0], None, outcomes=outcomes, base=bias)
    return score_rules(
        schema,
        leaves.repeated(n_scores),
        values.T.ravel(),
        np.repeat(np.arange(n_scores), len(leaves.tree)),
        outcomes=outcomes,
        base=bias,
    )


def _schema(names: list[str], by_level: list[int], schema: Schema | None) -> Schema:
    """The table's schema in the model's order, with the features that it splits by levels."""
    n = len(names)
    if names == [str(i) for i in range(n)] and named_by_place(names, schema):
        known = list(schema.names) if schema is not None and len(schema) == n else names
        levels = known_levels([known[i] for i in by_level], schema)
        return schema_of(None, n, schema, levels=dict(zip(by_level, levels, strict=True)))
    levels = known_levels([names[i] for i in by_level], schema)
    return schema_of(names, n, schema, levels=dict(zip(by_level, levels, strict=True)))


def _trees(kind: Any, grown: list[_Grown], saved: Saved, schema: Schema) -> list[Tree]:
    floats = saved.document["features_info"].get("float_features", [])
    columns = {f["feature_index"]: f["flat_feature_index"] for f in floats}
    missing_right = {f["feature_index"]: f["nan_value_treatment"] == "AsTrue" for f in floats}
    splits = [s for g in grown for s in g[2] if s]
    by_level = {s["split_index"]: s for s in splits if s["split_type"] != "FloatFeature"}
    sets: list[NDArray[np.bool_]] = []
    asks: dict[int, tuple[int, int]] = {}
    for place, index, goes_right in levels_to_the_right(kind, saved, by_level, schema):
        asks[index] = place, len(sets)
        sets.append(~goes_right)
    out = []
    for left, right, asked, _ in grown:
        n = len(asked)
        feature, level_set = np.zeros(n, np.int64), np.full(n, -1)
        threshold, missing_left = np.zeros(n), np.zeros(n, dtype=bool)
        for i, split in enumerate(asked):
            if split and split["split_index"] in asks:
                feature[i], level_set[i] = asks[split["split_index"]]
                missing_left[i] = sets[level_set[i]][-1]
            elif split:
                f = split["float_feature_index"]
                feature[i], missing_left[i] = columns[f], not missing_right[f]
                threshold[i] = float(np.float32(split["border"]))
        out.append(Tree(left, right, feature, threshold, missing_left, level_set, sets))
    return out


def _oblivious(tree: dict[str, Any]) -> _Grown:
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
    return left, right, asked, found


def _nested(tree: dict[str, Any]) -> _Grown:
    """A tree of any shape."""
    left: list[int] = []
    right: list[int] = []
    asked: list[Any] = []
    values: dict[int, Any] = {}
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
    return np.array(left), np.array(right), asked, values
