"""Rules of CatBoost classifiers, from the JSON that a model saves.

CatBoost rounds numbers to single precision and sends ``x > border`` to the right, and so the one
level that a split by levels asks for; a missing value or an unseen level goes to the left. A split
by a statistic of the target sends to the right each level whose statistic lies above a border; a
missing value goes where an unseen level goes. Where a split looks at a combination of features, its
answer is found by plain splits, one feature at a time, and a leaf gives several rules. A tree that
asks one question on each level has leaves that no row can reach; they give no rule.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Schema
from rulelens.errors import ModelError, UnsupportedModelError
from rulelens.sources.catboost_growth import (
    Grown,
    nested,
    number_question,
    oblivious,
    with_plain_splits,
)
from rulelens.sources.catboost_splits import (
    Answers,
    Flags,
    Saved,
    answers_to,
    check_features,
    known_levels,
)
from rulelens.sources.extract import SOURCES
from rulelens.sources.fitted import labels_of, named_by_place, schema_of
from rulelens.sources.scores import score_rules
from rulelens.sources.tree_paths import Tree, leaves_of


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
    grown = [oblivious(t) for t in saved.document.get("oblivious_trees", [])]
    grown += [nested(t) for t in saved.document.get("trees", [])]
    schema = _schema(list(model.feature_names_), sorted(saved.texts.values()), schema)
    grown = _answered(type(model), grown, saved, schema)
    arrays = _trees(grown, saved)
    leaves = leaves_of(arrays, schema, closed_left=True, float32=True)
    # The values of a leaf: one, or one a class.
    scale, bias = saved.document["scale_and_bias"]
    values = scale * np.array(
        [
            grown[t].values[k]
            for t, k in zip(leaves.tree.tolist(), leaves.node.tolist(), strict=True)
        ]
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


def _answered(kind: Any, grown: list[Grown], saved: Saved, schema: Schema) -> list[Grown]:
    """The trees with what each split sends to the right, one feature at a time."""
    splits = [s for tree in grown for s in tree.splits if s]
    by_level = {s["split_index"]: s for s in splits if s["split_type"] != "FloatFeature"}
    answers = answers_to(kind, saved, by_level, schema)
    plain: dict[int, Answers] = {}
    for split in splits:
        if split["split_index"] not in answers | plain:
            place = saved.numbers[split["float_feature_index"]]
            plain[split["split_index"]] = number_question(place, float(np.float32(split["border"])))
    answers |= plain
    return [
        with_plain_splits(
            replace(tree, splits=[s and answers[s["split_index"]] for s in tree.splits])
        )
        for tree in grown
    ]


def _trees(grown: list[Grown], saved: Saved) -> list[Tree]:
    floats = saved.document["features_info"].get("float_features") or []
    missing_right = {f["flat_feature_index"]: f["nan_value_treatment"] == "AsTrue" for f in floats}
    sets: list[Flags] = []
    set_of: dict[tuple[int, bytes], int] = {}
    out = []
    for tree in grown:
        n = len(tree.splits)
        feature, level_set = np.zeros(n, np.int64), np.full(n, -1)
        threshold, missing_left = np.zeros(n), np.zeros(n, dtype=bool)
        for i, split in enumerate(tree.splits):
            if split is None:
                continue
            (axis,) = split.axes
            feature[i] = axis.place
            if axis.cuts is None:
                key = axis.place, split.right.tobytes()
                if key not in set_of:
                    set_of[key] = len(sets)
                    sets.append(~split.right)
                level_set[i], missing_left[i] = set_of[key], not split.right[-1]
            else:
                threshold[i], missing_left[i] = axis.cuts[0], not missing_right[axis.place]
        left, right = np.asarray(tree.left), np.asarray(tree.right)
        out.append(Tree(left, right, feature, threshold, missing_left, level_set, sets))
    return out
