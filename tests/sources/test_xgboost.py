"""XGBoost: leaves, raw scores and predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from source_tables import edge_rows, mixed, numbers, one_rule_of_each_tree

from rulelens.errors import ModelError
from rulelens.io.formats import format_rules, parse_rules
from rulelens.sources.extract import extract_rules
from rulelens.sources.predictions import predict_rules, raw_scores

xgb = pytest.importorskip("xgboost", reason="needs the extra rulelens[boost]")


def make(**options: Any) -> Any:
    return xgb.XGBClassifier(
        **{"n_estimators": 6, "max_depth": 4, "n_jobs": 1, "random_state": 0, **options}
    )


def levels(seed: int, **options: Any) -> Any:
    """XGBoost stores levels that are not ASCII wrongly."""
    X, y = mixed(seed, **options)
    X["colour"] = X["colour"].cat.rename_categories({"ü": "u"})
    return X, y


def check(model: Any, rules: Any, rows: Any) -> None:
    leaves = model.apply(rows).astype(int).reshape(len(rows), -1)
    assert (one_rule_of_each_tree(rules, rows) == leaves).all()
    margin = model.predict(rows, output_margin=True)
    assert raw_scores(rules, rows) == pytest.approx(margin, rel=3e-7, abs=5e-7)
    assert (predict_rules(rules, rows).astype(int) == model.predict(rows)).all()


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("booster", ["gbtree", "dart"])
def test_numbers(classes: int, missing: float, booster: str) -> None:
    X, y = numbers(0, missing=missing, classes=classes)
    frame = pd.DataFrame(X, columns=["a", "b c", "ü", "d", "e"])
    options = {"rate_drop": 0.5, "one_drop": 1} if booster == "dart" else {}
    model = make(booster=booster, **options).fit(frame, y)
    rules = extract_rules(model, frame)
    check(model, rules, edge_rows(rules, frame))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("onehot", [1, 100])
def test_levels(classes: int, missing: float, onehot: int) -> None:
    X, y = levels(1, missing=missing, classes=classes)
    model = make(enable_categorical=True, max_cat_to_onehot=onehot).fit(X, y)
    rules = extract_rules(model, X)
    assert rules.schema["grade"].kind == "categorical"
    check(model, rules, edge_rows(rules, X))


def test_levels_in_another_order_and_without_a_schema() -> None:
    X, y = levels(2)
    order = ["u", "red", "dark green", "blue"]
    X["colour"] = X["colour"].cat.reorder_categories(order)
    model = make(enable_categorical=True, max_cat_to_onehot=1).fit(X, y)
    check(model, extract_rules(model), X)
    check(model, extract_rules(model, X), X)


def test_levels_that_are_not_ascii_are_refused() -> None:
    X, y = mixed(2)
    model = make(enable_categorical=True).fit(X, y)
    with pytest.raises(ModelError, match="not ASCII wrongly"):
        extract_rules(model, X)


def test_codes_as_levels() -> None:
    X, y = numbers(3)
    model = make(enable_categorical=True, feature_types=["q", "c", "q", "q", "q"]).fit(X, y)
    rules = extract_rules(model)
    assert rules.schema["x1"].kind == "categorical"
    check(model, rules, X)


def test_boolean_columns() -> None:
    X, y = numbers(4)
    frame = pd.DataFrame(X[:, :2], columns=["a", "b"]).assign(flag=X[:, 0] > 0.2)
    model = make().fit(frame, y)
    check(model, extract_rules(model, frame), frame)


def test_early_stopping_uses_the_best_round() -> None:
    X, y = numbers(5)
    model = make(n_estimators=200, early_stopping_rounds=3, learning_rate=0.8)
    model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], verbose=False)
    rules = extract_rules(model)
    assert rules.provenance["tree"].max() == model.best_iteration < 199
    margin = model.predict(X, output_margin=True)
    assert raw_scores(rules, X) == pytest.approx(margin, rel=3e-7, abs=5e-7)


@pytest.mark.parametrize("objective", ["binary:logistic", "multi:softprob"])
def test_a_booster(objective: str) -> None:
    X, y = numbers(6, classes=2 if objective.startswith("b") else 3)
    options = {"objective": objective, "max_depth": 3, "nthread": 1}
    if objective.startswith("m"):
        options["num_class"] = 3
    booster = xgb.train(options, xgb.DMatrix(X, y), 4)
    rules = extract_rules(booster)
    margin = booster.predict(xgb.DMatrix(X), output_margin=True)
    assert raw_scores(rules, X) == pytest.approx(margin, rel=3e-7, abs=5e-7)


def test_a_random_forest_of_xgboost() -> None:
    X, y = numbers(7, classes=3)
    model = xgb.XGBRFClassifier(n_estimators=5, n_jobs=1, random_state=0).fit(X, y)
    rules = extract_rules(model)
    assert raw_scores(rules, X) == pytest.approx(
        model.predict(X, output_margin=True), rel=3e-7, abs=5e-7
    )


def test_what_is_refused() -> None:
    X, y = numbers(0)
    with pytest.raises(ModelError, match="is not fitted"):
        extract_rules(make())
    with pytest.raises(ModelError, match=r"takes -1.0 for missing"):
        extract_rules(make(missing=-1.0).fit(X, y))
    linear = xgb.train(
        {"booster": "gblinear", "objective": "binary:logistic"}, xgb.DMatrix(X, y), 2
    )
    with pytest.raises(ModelError, match="'gblinear', which has no trees"):
        extract_rules(linear)
    regression = xgb.train({"nthread": 1}, xgb.DMatrix(X, y), 2)
    with pytest.raises(ModelError, match="objective is 'reg:squarederror'"):
        extract_rules(regression)
    raw = make(objective="binary:logitraw").fit(X, y)  # predicts from a raw score of 0.5 on
    with pytest.raises(ModelError, match="takes raw scores for probabilities"):
        extract_rules(raw)
    assert raw_scores(extract_rules(raw.get_booster()), X) == pytest.approx(
        raw.predict(X, output_margin=True), abs=1e-6
    )
    with pytest.raises(ModelError, match="fitted on 5 features, but 3 are given"):
        extract_rules(make().fit(X, y), np.zeros((2, 3)))


@pytest.mark.parametrize("classes", [2, 3])
def test_hundreds_of_trees_are_added_up_as_the_model_does(classes: int) -> None:
    """XGBoost adds in single precision: a sum in double precision was up to 2e-5 away."""
    X, y = levels(0, classes=classes)
    model = make(n_estimators=300, enable_categorical=True).fit(X, y)
    rules = extract_rules(model, X)
    assert rules.provenance["value"].dtype == np.float32
    check(model, rules, edge_rows(rules, X))
    again = parse_rules(format_rules(rules, format="json"), format="json")
    margin = model.predict(X, output_margin=True)
    assert raw_scores(again, X) == pytest.approx(margin, abs=1e-4)
