"""Rules of CatBoost classifiers, from the JSON that a model saves.

CatBoost rounds numbers to single precision and sends ``x > border`` to the right. A tree that
asks one question on each level has leaves that no row can reach; they give no rule.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Schema
from rulelens.errors import ModelError
from rulelens.sources.extract import SOURCES
from rulelens.sources.fitted import labels_of, schema_of
from rulelens.sources.scores import score_rules
from rulelens.sources.tree_paths import Tree, leaves_of


@SOURCES.register("catboost.CatBoostClassifier")
def classifier_rules(model: Any, schema: Schema | None) -> RuleSet:
    """Rules of a classifier; see `extract_rules` and `score_rules`.

    With more than two classes a leaf has a value for each: it gives one rule a class.
    """
    if not model.is_fitted():
        raise ModelError("This CatBoostClassifier is not fitted. Call fit(X, y) first.")
    saved = _save(model)
    features = saved["features_info"]
    columns = {f["feature_index"]: f["flat_feature_index"] for f in features["float_features"]}
    missing_right = {
        f["feature_index"]: f["nan_value_treatment"] == "AsTrue" for f in features["float_features"]
    }
    names = list(model.feature_names_)
    default = [str(i) for i in range(len(names))]
    schema = schema_of(None if names == default else names, len(names), schema)
    grown = [_oblivious(t) for t in saved.get("oblivious_trees", [])]
    grown += [_nested(t) for t in saved.get("trees", [])]
    arrays = [
        Tree(
            left,
            right,
            np.array([columns[s["float_feature_index"]] if s else 0 for s in splits]),
            np.array([float(np.float32(s["border"])) if s else 0.0 for s in splits]),
            np.array([not missing_right[s["float_feature_index"]] if s else False for s in splits]),
        )
        for left, right, splits, _ in grown
    ]
    leaves = leaves_of(arrays, schema, closed_left=True, float32=True)
    # The values of a leaf: one, or one a class.
    scale, bias = saved["scale_and_bias"]
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


def _save(model: Any) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        saved: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return saved


def _check_split(split: dict[str, Any]) -> dict[str, Any]:
    if split["split_type"] != "FloatFeature":
        raise ModelError(
            "The model splits a categorical feature by statistics or hashes of its levels "
            f"({split['split_type']}), which are no conditions on the level. Encode such columns "
            "as numbers before you fit the model."
        )
    return split


def _oblivious(tree: dict[str, Any]) -> tuple[Any, Any, list[Any], dict[int, Any]]:
    """A tree that asks the same question in all nodes of a level, as nodes of a full tree."""
    splits = [_check_split(s) for s in tree.get("splits") or []]
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


def _nested(tree: dict[str, Any]) -> tuple[Any, Any, list[Any], dict[int, Any]]:
    """A tree of any shape."""
    left: list[int] = []
    right: list[int] = []
    asked: list[Any] = []
    values: dict[int, Any] = {}
    waiting = [tree]
    count = 1
    for node in waiting:  # grows while it is read
        if "split" in node:
            asked.append(_check_split(node["split"]))
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
