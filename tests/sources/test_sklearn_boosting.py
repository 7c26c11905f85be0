"""scikit-learn's boosted and bagged trees: leaves, raw scores and predictions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier
from source_tables import edge_rows, mixed, numbers, one_rule_of_each_tree

from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.errors import ModelError, RuleError, UnsupportedModelError
from rulelens.frames import read_schema
from rulelens.sources.extract import extract_rules
from rulelens.sources.predictions import class_shares, predict_rules, raw_scores

NAMES = ["a", "b c", "ü", "d", "e"]


def frame_of(X: Any) -> pd.DataFrame:
    return pd.DataFrame(X, columns=NAMES)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("init", [None, "zero"])
@pytest.mark.parametrize("seed", [0, 1])
def test_gradient_boosting(classes: int, init: Any, seed: int) -> None:
    X, y = numbers(seed, classes=classes)
    labels = np.array(["no", "yes", "maybe", "ß"])[y]
    model = GradientBoostingClassifier(n_estimators=8, random_state=0, init=init, subsample=0.8)
    frame = frame_of(X)
    model.fit(frame, labels)
    rules = extract_rules(model, frame)
    rows = edge_rows(rules, frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # apply() gives its trees no names
        leaves = model.apply(rows).reshape(len(rows), -1)
    assert (one_rule_of_each_tree(rules, rows) == leaves).all()
    assert raw_scores(rules, rows) == pytest.approx(model.decision_function(rows), abs=1e-12)
    assert (predict_rules(rules, rows) == model.predict(rows)).all()


@pytest.mark.parametrize("loss", ["log_loss", "exponential"])
def test_gradient_boosting_without_names(loss: str) -> None:
    X, y = numbers(2)
    model = GradientBoostingClassifier(n_estimators=5, loss=loss, random_state=0).fit(X, y)
    rules = extract_rules(model)
    assert raw_scores(rules, X) == pytest.approx(model.decision_function(X), abs=1e-12)
    values = rules.provenance["value"]
    assert ((rules.outcome == 1) == (values > 0)).all()


def test_a_model_as_the_start_of_boosting_is_refused() -> None:
    X, y = numbers(0)
    model = GradientBoostingClassifier(n_estimators=2, init=LogisticRegression()).fit(X, y)
    with pytest.raises(ModelError, match="starts from a LogisticRegression"):
        extract_rules(model)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("seed", range(3))
def test_histogram_boosting_with_levels_and_holes(classes: int, missing: float, seed: int) -> None:
    X, y = mixed(seed, classes=classes, missing=missing)
    model = HistGradientBoostingClassifier(
        max_iter=6, categorical_features="from_dtype", random_state=0, min_samples_leaf=3
    ).fit(X, y)
    rules = extract_rules(model, X)
    rows = edge_rows(rules, X)
    one_rule_of_each_tree(rules, rows)
    assert raw_scores(rules, rows) == pytest.approx(model.decision_function(rows), abs=1e-10)
    assert (predict_rules(rules, rows) == model.predict(rows)).all()
    holes = rows.copy()
    for c in holes.columns:
        holes.loc[np.random.default_rng(1).random(len(holes)) < 0.3, c] = np.nan
    assert raw_scores(rules, holes) == pytest.approx(model.decision_function(holes), abs=1e-10)


def test_histogram_boosting_leaf_by_leaf() -> None:
    X, y = mixed(5)
    model = HistGradientBoostingClassifier(max_iter=3, categorical_features="from_dtype").fit(X, y)
    rules = extract_rules(model, X)
    reached = one_rule_of_each_tree(rules, X)
    for t, (predictor,) in enumerate(model._predictors):
        leaves = np.flatnonzero(predictor.nodes["is_leaf"])
        found, counts = np.unique(reached[:, t], return_counts=True)
        assert (found == leaves).all()
        assert (counts == predictor.nodes["count"][leaves]).all()


def test_a_level_never_seen_goes_where_missing_values_go() -> None:
    X, y = mixed(3, missing=0.2)
    model = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype").fit(X, y)
    rules = extract_rules(model, X)
    new = X.copy()
    new["colour"] = new["colour"].astype(object).where(np.arange(len(X)) % 3 > 0, "purple")
    new["colour"] = pd.Categorical(new["colour"])
    assert raw_scores(rules, new) == pytest.approx(model.decision_function(new), abs=1e-10)


def test_levels_in_another_order_than_the_schema() -> None:
    X, y = mixed(4)
    model = HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype").fit(X, y)
    turned = X.assign(colour=X["colour"].cat.reorder_categories(["ü", "red", "dark green", "blue"]))
    part = turned[turned["colour"] != "red"]
    for schema in (None, turned, read_schema(part)):
        rules = extract_rules(model, schema)
        assert raw_scores(rules, X) == pytest.approx(model.decision_function(X), abs=1e-10)


def test_histogram_boosting_of_numbers_as_levels() -> None:
    X, y = numbers(1, missing=0.1)
    model = HistGradientBoostingClassifier(max_iter=5, categorical_features=[1]).fit(X, y)
    rules = extract_rules(model)
    assert rules.schema["x1"].kind == "categorical"
    assert raw_scores(rules, X) == pytest.approx(model.decision_function(X), abs=1e-10)


@pytest.mark.parametrize("classes", [2, 4])
def test_adaboost(classes: int) -> None:
    X, y = numbers(3, classes=classes)
    tree = DecisionTreeClassifier(max_depth=3)
    model = AdaBoostClassifier(tree, n_estimators=7, random_state=0).fit(frame_of(X), y)
    rules = extract_rules(model)
    rows = edge_rows(rules, frame_of(X))
    votes = raw_scores(rules, rows)
    assert votes.sum(axis=1) == pytest.approx(1)
    expected = model.decision_function(rows)
    if classes == 2:
        assert 2 * (votes[:, 1] - votes[:, 0]) == pytest.approx(expected, abs=1e-12)
    else:
        assert votes - (1 - votes) / (classes - 1) == pytest.approx(expected, abs=1e-12)
    assert (predict_rules(rules, rows) == model.predict(rows)).all()


@pytest.mark.parametrize(
    "cls", [RandomForestClassifier, ExtraTreesClassifier, DecisionTreeClassifier]
)
@pytest.mark.parametrize("classes", [2, 5])
def test_forests_rebuilt(cls: type, classes: int) -> None:
    """Ties of classes included: the trees are added up in the model's order."""
    X, y = numbers(4, classes=classes, missing=0.05)
    frame = frame_of(X).round(1)
    model = cls(max_depth=4, random_state=0).fit(frame, y)
    rules = extract_rules(model, frame)
    rows = edge_rows(rules, frame)
    assert (class_shares(rules, rows) == model.predict_proba(rows)).all()
    assert (predict_rules(rules, rows) == model.predict(rows)).all()


@pytest.mark.parametrize("options", [{}, {"max_features": 3}, {"max_samples": 12}])
def test_bagging(options: dict[str, Any]) -> None:
    """A tree that saw only some classes, or some columns, speaks for the right ones."""
    X, y = numbers(5, classes=5)
    labels = np.array(list("vwxyz"))[y]
    model = BaggingClassifier(DecisionTreeClassifier(), 9, random_state=0, **options)
    model.fit(frame_of(X), labels)
    rules = extract_rules(model)
    rows = edge_rows(rules, frame_of(X))
    assert class_shares(rules, rows) == pytest.approx(model.predict_proba(rows), abs=1e-12)
    assert (predict_rules(rules, rows) == model.predict(rows)).all()
    assert one_rule_of_each_tree(rules, rows).shape[1] == 9


def test_ensembles_of_other_models_are_refused() -> None:
    X, y = numbers(0)
    bag = BaggingClassifier(LogisticRegression(), 3).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="made of LogisticRegression"):
        extract_rules(bag)
    boost = AdaBoostClassifier(LogisticRegression(), n_estimators=3).fit(X, y)
    with pytest.raises(UnsupportedModelError, match="made of LogisticRegression"):
        extract_rules(boost)


@pytest.mark.parametrize(
    "cls",
    [
        AdaBoostClassifier,
        BaggingClassifier,
        GradientBoostingClassifier,
        HistGradientBoostingClassifier,
    ],
)
def test_unfitted(cls: type) -> None:
    with pytest.raises(ModelError, match="is not fitted"):
        extract_rules(cls())


def test_rules_without_values_or_shares() -> None:
    X, y = numbers(0)
    forest = extract_rules(RandomForestClassifier(2, random_state=0).fit(X, y))
    with pytest.raises(RuleError, match="no values to add up"):
        raw_scores(forest, X)
    boosted = extract_rules(GradientBoostingClassifier(n_estimators=2).fit(X, y))
    with pytest.raises(RuleError, match="no class shares"):
        class_shares(boosted, X)
    bare = RuleSet.from_rules([Rule(r.conditions, r.outcome) for r in forest], forest.schema)
    with pytest.raises(RuleError, match="does not say which rule decides"):
        predict_rules(bare, X)
