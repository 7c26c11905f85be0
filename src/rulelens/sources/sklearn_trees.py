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

from rulelens.core.provenance import SHARE
from rulelens.core.ruleset import Column, RuleSet
from rulelens.core.schema import Level, Schema
from rulelens.errors import UnsupportedModelError
from rulelens.sources.extract import SOURCES
from rulelens.sources.fitted import check_fitted, check_one_target, labels_of, schema_of
from rulelens.sources.tree_paths import Tree, leaves_of


@SOURCES.register("sklearn.DecisionTreeClassifier")
@SOURCES.register("sklearn.ExtraTreeClassifier")
def tree_rules(model: Any, schema: Schema | None) -> RuleSet:
    """Rules of one tree; see `extract_rules`."""
    check_fitted(model, "tree_")
    return class_rules([model.tree_], model, schema)


@SOURCES.register("sklearn.RandomForestClassifier")
@SOURCES.register("sklearn.ExtraTreesClassifier")
def forest_rules(model: Any, schema: Schema | None) -> RuleSet:
    """Rules of all trees of a forest; see `extract_rules`."""
    check_fitted(model, "estimators_")
    return class_rules([tree.tree_ for tree in model.estimators_], model, schema)


@SOURCES.register("sklearn.BaggingClassifier")
def bagging_rules(model: Any, schema: Schema | None) -> RuleSet:
    """Rules of all trees of a bag of classification trees; see `extract_rules`."""
    check_fitted(model, "estimators_")
    check_tree_estimators(model)
    return class_rules(
        [tree.tree_ for tree in model.estimators_],
        model,
        schema,
        features=model.estimators_features_,
        # A tree that did not see every class has fewer of them.
        classes=[np.asarray(tree.classes_, dtype=np.int64) for tree in model.estimators_],
    )


def check_tree_estimators(model: Any) -> None:
    """Raise UnsupportedModelError unless every estimator is a scikit-learn tree."""
    for estimator in model.estimators_:
        if not hasattr(estimator, "tree_"):
            raise UnsupportedModelError(
                f"This {type(model).__name__} is made of {type(estimator).__name__}. Rules can be "
                "extracted if it is made of decision trees."
            )


def class_rules(
    trees: Sequence[Any],
    model: Any,
    schema: Schema | None,
    *,
    features: Sequence[NDArray[np.integer]] | None = None,
    classes: Sequence[NDArray[np.int64]] | None = None,
) -> RuleSet:
    """Rules of the trees of a classifier: one a leaf, for the class that is most frequent there.

    Parameters
    ----------
    trees : sequence of scikit-learn's low-level trees
    model : classifier
        Gives names and classes.
    schema : Schema or None
    features : sequence of arrays of int, optional
        For each tree, the model's features that it was given.
    classes : sequence of arrays of int, optional
        For each tree, the model's classes that it knows.
    """
    check_one_target(model)
    names = getattr(model, "feature_names_in_", None)
    schema = schema_of(names, int(model.n_features_in_), schema)
    arrays = [
        tree_arrays(t, None if features is None else features[i]) for i, t in enumerate(trees)
    ]
    leaves = leaves_of(arrays, schema, closed_left=True, float32=True)
    # Shares of the classes in each leaf, whose largest decides; the first of equals, as in
    # scikit-learn.
    outcomes = labels_of(model.classes_)
    shares = np.zeros((len(leaves.node), len(outcomes)))
    starts = np.searchsorted(leaves.tree, np.arange(len(trees) + 1))
    for i, tree in enumerate(trees):
        mine = slice(starts[i], starts[i + 1])
        known = np.arange(tree.value.shape[2]) if classes is None else classes[i]
        shares[mine, known] = tree.value[leaves.node[mine], 0, :]
    return RuleSet.from_arrays(
        schema,
        leaves.conditions,
        leaves.offsets,
        leaves.indices,
        shares.argmax(axis=1) if len(outcomes) else np.zeros(0),
        outcomes=outcomes,
        provenance={
            "tree": leaves.tree,
            "leaf": leaves.node,
            **share_columns(outcomes, shares),
        },
    )


def share_columns(outcomes: Sequence[Level], shares: NDArray[np.float64]) -> dict[str, Column]:
    """Provenance columns of class shares."""
    return {f"{SHARE}{c}": shares[:, k] for k, c in enumerate(outcomes)}


def tree_arrays(tree: Any, features: NDArray[np.integer] | None = None) -> Tree:
    """A scikit-learn low-level tree as plain arrays; `features` renumbers what it was given."""
    feature = np.maximum(tree.feature, 0)
    goes_left = getattr(tree, "missing_go_to_left", np.zeros(tree.node_count))
    return Tree(
        tree.children_left,
        tree.children_right,
        feature if features is None else np.asarray(features)[feature],
        tree.threshold,
        np.asarray(goes_left).astype(bool),
    )
