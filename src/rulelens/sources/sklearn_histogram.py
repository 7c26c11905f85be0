"""Rules of scikit-learn's histogram gradient boosting, with its splits by levels.

Numbers are compared in double precision by ``<=``. A level that the model did not see goes
where missing values go.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Level, Schema, level_key
from rulelens.sources.extract import SOURCES
from rulelens.sources.fitted import check_fitted, code_of_level, labels_of, schema_of
from rulelens.sources.scores import score_rules
from rulelens.sources.tree_paths import Tree, leaves_of


@SOURCES.register("sklearn.HistGradientBoostingClassifier")
def histogram_boosting_rules(model: Any, schema: Schema | None) -> RuleSet:
    """Rules of histogram gradient boosting; see `extract_rules` and `score_rules`."""
    check_fitted(model, "_predictors")
    categorical = model.is_categorical_
    n = int(model.n_features_in_)
    if categorical is None:
        categorical = np.zeros(n, dtype=bool)
    # The model keeps features that are split by levels before the others.
    order = np.concatenate([np.flatnonzero(categorical), np.flatnonzero(~categorical)])
    levels = {int(f): _levels(model, k) for k, f in enumerate(np.flatnonzero(categorical).tolist())}
    known = {f: [v for v in found if v is not None] for f, found in levels.items()}
    names = getattr(model, "feature_names_in_", None)
    schema = schema_of(names, n, schema, levels=known)
    predictors = [p for stage in model._predictors for p in stage]
    arrays = [_arrays(p, order, levels, schema) for p in predictors]
    leaves = leaves_of(arrays, schema, closed_left=True, float32=False)
    value = [
        float(predictors[t].nodes["value"][k])
        for t, k in zip(leaves.tree, leaves.node, strict=True)
    ]
    base = np.ravel(model._baseline_prediction)
    target = None if len(base) == 1 else leaves.tree % len(base)
    return score_rules(
        schema, leaves, value, target, outcomes=labels_of(model.classes_), base=base.tolist()
    )


def _levels(model: Any, position: int) -> list[Level | None]:
    """Levels of a feature in the order of the model's codes; None stands for missing."""
    encoder = model._preprocessor.named_transformers_["encoder"]
    return [
        None if v is None or v != v else v
        for v in np.asarray(encoder.categories_[position]).tolist()
    ]


def _arrays(
    predictor: Any, order: NDArray[np.int64], levels: dict[int, list[Level | None]], schema: Schema
) -> Tree:
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(bool)
    feature = order[np.where(leaf, 0, nodes["feature_idx"])]
    missing_left = nodes["missing_go_to_left"].astype(bool)
    by_level = ~leaf & nodes["is_categorical"].astype(bool)
    level_set = np.full(len(nodes), -1)
    level_set[by_level] = np.arange(by_level.sum())
    sets = []
    for k in np.flatnonzero(by_level):
        f = int(feature[k])
        bits = predictor.raw_left_cat_bitsets[nodes["bitset_idx"][k]]
        sets.append(_goes_left(bits, levels[f], schema[f], bool(missing_left[k])))
    return Tree(
        np.where(leaf, -1, nodes["left"].astype(np.int64)),
        np.where(leaf, -1, nodes["right"].astype(np.int64)),
        feature,
        nodes["num_threshold"].astype(float),
        missing_left,
        level_set,
        sets,
    )


def _goes_left(
    bits: NDArray[np.uint32], known: list[Level | None], feature: Feature, otherwise: bool
) -> NDArray[np.bool_]:
    """Which levels of the feature go left, and at the end whether any other level does."""
    code = {level_key(v): i for i, v in enumerate(known) if v is not None}
    out = np.full(len(feature.levels) + 1, otherwise)
    for i, level in enumerate(feature.levels):
        k = code_of_level(code, level)
        if k is not None:
            out[i] = bool(int(bits[k // 32]) >> (k % 32) & 1)
    return out
