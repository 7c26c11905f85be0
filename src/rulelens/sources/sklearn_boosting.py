"""Rules of scikit-learn's boosted trees: leaf values that add up to the raw score."""

from __future__ import annotations

from typing import Any

import numpy as np

from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Schema
from rulelens.errors import ModelError
from rulelens.sources.extract import SOURCES
from rulelens.sources.fitted import check_fitted, check_one_target, labels_of, schema_of
from rulelens.sources.scores import score_rules
from rulelens.sources.sklearn_trees import check_tree_estimators, tree_arrays
from rulelens.sources.tree_paths import leaves_of


@SOURCES.register("sklearn.GradientBoostingClassifier")
def gradient_boosting_rules(model: Any, schema: Schema | None) -> RuleSet:
    """Rules of gradient-boosted trees; see `extract_rules` and `score_rules`."""
    check_fitted(model, "estimators_")
    if not (model.init == "zero" or type(model.init_).__name__ == "DummyClassifier"):
        raise ModelError(
            f"The model starts from a {type(model.init_).__name__}, whose scores are no rules. "
            "Fit it with init=None or init='zero'."
        )
    schema = schema_of(getattr(model, "feature_names_in_", None), model.n_features_in_, schema)
    trees = [tree.tree_ for tree in model.estimators_.ravel()]
    arrays = [tree_arrays(tree) for tree in trees]
    leaves = leaves_of(arrays, schema, closed_left=True, float32=True)
    rate = float(model.learning_rate)
    value = np.array(
        [rate * trees[t].value[n, 0, 0] for t, n in zip(leaves.tree, leaves.node, strict=True)]
    )
    n_scores = model.estimators_.shape[1]
    target = None if n_scores == 1 else leaves.tree % n_scores
    # The first score is the same for all rows: the score of one row less that of its leaves.
    row = np.zeros((1, model.n_features_in_), dtype=np.float32)
    total = np.zeros(n_scores)
    for k, tree in enumerate(trees):
        total[k % n_scores] += rate * tree.value[tree.apply(row)[0], 0, 0]
    names = getattr(model, "feature_names_in_", None)
    base = np.ravel(_decision(model, row, names)) - total
    return score_rules(
        schema,
        leaves,
        value,
        target,
        outcomes=labels_of(model.classes_),
        base=base.tolist(),
        second_from=0.0,
    )


def _decision(model: Any, row: Any, names: Any) -> Any:
    if names is None:
        return model.decision_function(row)
    import pandas as pd

    return model.decision_function(pd.DataFrame(row, columns=names))


@SOURCES.register("sklearn.AdaBoostClassifier")
def adaboost_rules(model: Any, schema: Schema | None) -> RuleSet:
    """Rules of boosted classification trees: each leaf votes with the weight of its tree.

    A class's score is the share of the votes that it gets, from 0 to 1; the largest wins.
    """
    check_fitted(model, "estimators_")
    check_tree_estimators(model)
    if getattr(model, "algorithm", None) == "SAMME.R":
        raise ModelError(
            "AdaBoost's algorithm SAMME.R adds up logarithms of probabilities, not votes. "
            "Fit the model with algorithm='SAMME'."
        )
    for tree in model.estimators_:
        check_one_target(tree)
    schema = schema_of(getattr(model, "feature_names_in_", None), model.n_features_in_, schema)
    arrays = [tree_arrays(tree.tree_) for tree in model.estimators_]
    leaves = leaves_of(arrays, schema, closed_left=True, float32=True)
    weight = np.asarray(model.estimator_weights_[: len(arrays)], dtype=float)
    weight = weight / weight.sum()
    outcomes = labels_of(model.classes_)
    for tree in model.estimators_:
        if labels_of(tree.classes_) != outcomes:  # each was fitted on all rows
            raise ModelError(
                f"The trees know the classes {labels_of(tree.classes_)}, but the model says that "
                f"it has {outcomes}, and it predicts by comparing them. Fit it with the classes "
                f"{list(range(len(outcomes)))}."
            )
    winner = [
        int(tree.tree_.value[n, 0].argmax())
        for tree, n in (
            (model.estimators_[t], n) for t, n in zip(leaves.tree, leaves.node, strict=True)
        )
    ]
    return score_rules(
        schema,
        leaves,
        weight[leaves.tree],
        winner,
        outcomes=outcomes,
        base=[],
    )
