"""Rules of XGBoost classifiers, from the JSON that a booster saves.

XGBoost rounds numbers to single precision and sends ``x < threshold`` to the left; the levels
that a split by levels lists go to the right.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Level, Schema, level_key
from rulelens.errors import ModelError
from rulelens.sources.extract import SOURCES
from rulelens.sources.fitted import code_of_level, labels_of, schema_of
from rulelens.sources.scores import least_likelier, score_rules
from rulelens.sources.tree_paths import Tree, leaves_of

_BINARY = ("binary:logistic", "binary:logitraw", "reg:logistic")
_MULTICLASS = ("multi:softprob", "multi:softmax")


@SOURCES.register("xgboost.XGBClassifier")
@SOURCES.register("xgboost.XGBRFClassifier")
def classifier_rules(model: Any, schema: Schema | None) -> RuleSet:
    """Rules of a classifier with scikit-learn's face; see `extract_rules` and `score_rules`."""
    if not model.__sklearn_is_fitted__():
        raise ModelError(f"This {type(model).__name__} is not fitted. Call fit(X, y) first.")
    if model.missing is not None and not math.isnan(model.missing):
        raise ModelError(
            f"The model takes {model.missing!r} for missing. Fit it with missing=nan, and with NaN "
            "in the table."
        )
    if model.objective == "binary:logitraw":
        raise ModelError(
            "With the objective binary:logitraw, XGBClassifier takes raw scores for probabilities, "
            "and gives the second class only from 0.5. Fit it with objective='binary:logistic', or "
            "give its booster: extract_rules(model.get_booster())."
        )
    try:
        rounds = int(model.best_iteration) + 1
    except AttributeError:  # there was no early stopping
        rounds = None
    return _rules(model.get_booster(), schema, labels_of(model.classes_), rounds)


@SOURCES.register("xgboost.Booster")
def booster_rules(model: Any, schema: Schema | None) -> RuleSet:
    """Rules of a booster; its classes are 0, 1, …"""
    return _rules(model, schema, None, None)


def _rules(
    booster: Any, schema: Schema | None, classes: list[Level] | None, rounds: int | None
) -> RuleSet:
    learner = json.loads(bytes(booster.save_raw(raw_format="json")))["learner"]
    objective = learner["objective"]["name"]
    if objective not in (*_BINARY, *_MULTICLASS):
        raise ModelError(
            f"The booster's objective is '{objective}', but rules need a classifier: "
            f"{', '.join((*_BINARY, *_MULTICLASS))}."
        )
    boosting = learner["gradient_booster"]
    drop = boosting.get("weight_drop")
    model = boosting.get("gbtree", boosting).get("model", {})
    if "trees" not in model:
        raise ModelError(
            f"The booster is a '{boosting['name']}', which has no trees. Use gbtree or dart."
        )
    param = learner["learner_model_param"]
    n_scores = max(1, int(param["num_class"]))
    if int(param.get("num_target", 1)) > 1:
        raise ModelError("The model predicts several targets at once. Fit one model a target.")
    # 1. Trees in use, their scores and weights.
    n_trees = len(model["trees"])
    if rounds is not None:
        n_trees = int(model["iteration_indptr"][rounds])
    trees = model["trees"][:n_trees]
    if any(int(t["tree_param"].get("size_leaf_vector", 1)) > 1 for t in trees):
        raise ModelError(
            "The trees have a vector in each leaf. Use multi_strategy='one_output_per_tree'."
        )
    weight = np.ones(n_trees) if drop is None else np.asarray(drop[:n_trees], float)
    target = None
    # 2. Names, and the levels of features split by levels.
    n_features = int(param["num_feature"])
    levels = _levels(model, learner["feature_types"], trees, n_features)
    schema = schema_of(learner["feature_names"] or None, n_features, schema, levels=levels)
    # 3. Leaves, with their values in single precision as the booster adds them up.
    arrays = [_arrays(t, levels, schema) for t in trees]
    leaves = leaves_of(arrays, schema, closed_left=False, float32=True)
    stored = [
        trees[t]["split_conditions"][k]
        for t, k in zip(leaves.tree.tolist(), leaves.node.tolist(), strict=True)
    ]
    value = weight[leaves.tree].astype(np.float32) * np.asarray(stored, dtype=np.float32)
    if n_scores > 1:
        target = np.asarray(model["tree_info"])[leaves.tree]
    outcomes = classes if classes is not None else list(range(max(2, n_scores)))
    base = _base(param["base_score"], n_scores, objective)
    # A score just above 0 has a probability of exactly a half, which gives the first class.
    return score_rules(
        schema,
        leaves,
        value,
        target,
        outcomes=outcomes,
        base=base,
        second_from=least_likelier(1.0, np.float32),
    )


def _base(text: str, n_scores: int, objective: str) -> list[float]:
    """Scores before the first tree: a probability is kept for a binary objective."""
    found = [float(np.float32(v)) for v in text.strip("[]").split(",")]
    if objective in ("binary:logistic", "reg:logistic"):
        # Step by step in single precision, as the booster does it.
        one = np.float32(1)
        found = [-math.log(float(one / np.float32(p) - one)) for p in found]
    return found * n_scores if len(found) == 1 else found


def _levels(
    model: dict[str, Any], kinds: Sequence[str], trees: Sequence[dict[str, Any]], n_features: int
) -> dict[int, list[Level]]:
    """Levels of each categorical feature, in the order of the booster's codes."""
    highest: dict[int, int] = {}
    for t in trees:
        for node, start, size in zip(
            t["categories_nodes"], t["categories_segments"], t["categories_sizes"], strict=True
        ):
            f = t["split_indices"][node]
            codes = t["categories"][start : start + size]
            highest[f] = max(highest.get(f, -1), *codes)
    stored = (model.get("cats") or {}).get("enc") or []
    out: dict[int, list[Level]] = {}
    for f in range(n_features):
        if f not in highest and not (kinds and kinds[f] == "c"):
            continue
        found = _stored_levels(stored[f]) if f < len(stored) else []
        # Without stored levels the column held the codes themselves.
        out[f] = found or list(range(highest.get(f, -1) + 1))
    return out


def _stored_levels(entry: dict[str, Any]) -> list[Level]:
    if "offsets" not in entry:
        return [float(v) if isinstance(v, float) else v for v in entry["values"]]
    text = bytes(v % 256 for v in entry["values"])
    if not text.isascii():
        # XGBoost counts characters where it should count bytes, and cuts such levels off.
        raise ModelError(
            "XGBoost stores levels that are not ASCII wrongly, so that they cannot be told apart. "
            "Rename such levels before you fit the model."
        )
    return [text[a:b].decode() for a, b in pairwise(entry["offsets"])]


def _arrays(tree: dict[str, Any], levels: dict[int, list[Level]], schema: Schema) -> Tree:
    left = np.asarray(tree["left_children"], dtype=np.int64)
    n = len(left)
    level_set = np.full(n, -1)
    sets: list[NDArray[np.bool_]] = []
    for node, start, size in zip(
        tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True
    ):
        f = tree["split_indices"][node]
        right = {level_key(levels[f][c]): c for c in tree["categories"][start : start + size]}
        level_set[node] = len(sets)
        goes_left = [code_of_level(right, v) is None for v in schema[f].levels]
        sets.append(np.array([*goes_left, True]))
    with np.errstate(over="ignore"):
        threshold = np.asarray(tree["split_conditions"]).astype(np.float32).astype(np.float64)
    return Tree(
        left,
        np.asarray(tree["right_children"], dtype=np.int64),
        np.asarray(tree["split_indices"], dtype=np.int64),
        threshold,
        np.asarray(tree["default_left"]).astype(bool),
        level_set,
        sets,
    )
