"""LightGBM: leaves, raw scores and predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from source_tables import edge_rows, mixed, numbers, one_rule_of_each_tree

from rulelens.errors import ModelError
from rulelens.sources.extract import extract_rules
from rulelens.sources.predictions import predict_rules, raw_scores

lgb = pytest.importorskip("lightgbm", reason="needs the extra rulelens[boost]")


def make(**options: Any) -> Any:
    defaults = {"n_estimators": 6, "n_jobs": 1, "random_state": 0, "verbose": -1}
    small = {"min_child_samples": 3, "min_data_per_group": 5, "cat_smooth": 1.0}
    return lgb.LGBMClassifier(**{**defaults, **small, **options})


def check(model: Any, rules: Any, rows: Any) -> None:
    leaves = model.predict(rows, pred_leaf=True)
    assert (one_rule_of_each_tree(rules, rows) == leaves).all()
    raw = model.predict(rows, raw_score=True)
    assert raw_scores(rules, rows) == pytest.approx(raw, abs=1e-9)
    assert (predict_rules(rules, rows) == model.predict(rows)).all()


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_numbers(classes: int, missing: float) -> None:
    """Where training had no missing value, one counts as 0 later."""
    X, y = numbers(0, missing=missing, classes=classes)
    frame = pd.DataFrame(X, columns=["a", "b", "ü", "d", "e"])
    labels = np.array(["no", "yes", "maybe", "ß"])[y]
    model = make().fit(frame, labels)
    rules = extract_rules(model, frame)
    rows = edge_rows(rules, frame, limit=1e300)
    check(model, rules, rows)
    check(model, rules, rows.mask(np.random.default_rng(0).random(rows.shape) < 0.3))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("onehot", [1, 100])
def test_levels(classes: int, missing: float, onehot: int) -> None:
    X, y = mixed(1, missing=missing, classes=classes)
    X = X.rename(columns={"a b": "ab"})
    model = make(max_cat_to_onehot=onehot).fit(X, y)
    rules = extract_rules(model, X)
    assert rules.schema["grade"].kind == "categorical"
    rows = edge_rows(rules, X, limit=1e300)
    check(model, rules, rows)
    holes = rows.copy()
    for c in holes.columns:
        holes.loc[np.random.default_rng(1).random(len(holes)) < 0.3, c] = np.nan
    check(model, rules, holes)
    assert extract_rules(model).schema == rules.schema


def test_a_level_never_seen_goes_right() -> None:
    X, y = mixed(2)
    model = make(max_cat_to_onehot=1).fit(X.rename(columns={"a b": "ab"}), y)
    rules = extract_rules(model)
    new = X.rename(columns={"a b": "ab"})
    new["colour"] = pd.Categorical(
        new["colour"].astype(object).where(np.arange(300) % 3 > 0, "purple")
    )
    assert raw_scores(rules, new) == pytest.approx(model.predict(new, raw_score=True), abs=1e-9)


def test_spaces_in_names_which_lightgbm_writes_as_underscores() -> None:
    X, y = numbers(2)
    frame = pd.DataFrame(X, columns=["a b", "b", "c", "d", "e"])
    model = make().fit(frame, y)
    rules = extract_rules(model, frame)
    assert rules.schema.names[0] == "a b"
    check(model, rules, frame)
    assert extract_rules(model).schema.names[0] == "a_b"


def test_codes_as_levels() -> None:
    X, y = numbers(3)
    X[:, 1] *= 40
    model = make(max_cat_to_onehot=1).fit(X, y, categorical_feature=[1])
    rules = extract_rules(model)
    assert rules.schema["x1"].levels == (0, 40, 80, 120, 160, 200)
    check(model, rules, X)


def test_early_stopping_uses_the_best_round() -> None:
    X, y = numbers(5)
    model = make(n_estimators=200, learning_rate=0.5)
    model.fit(
        X[:200],
        y[:200],
        eval_X=X[200:],
        eval_y=y[200:],
        callbacks=[lgb.early_stopping(3, verbose=False)],
    )
    rules = extract_rules(model)
    assert rules.provenance["tree"].max() == model.best_iteration_ - 1 < 199
    assert raw_scores(rules, X) == pytest.approx(model.predict(X, raw_score=True), abs=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.7},
        {"boosting_type": "dart"},
        {"objective": "multiclassova", "classes": 3},
        {"is_unbalance": True},
        {"min_child_samples": 10_000},
    ],
)
def test_other_kinds_of_boosting(options: dict[str, Any]) -> None:
    """A tree of one leaf included."""
    X, y = numbers(6, classes=options.pop("classes", 2))
    model = make(**options).fit(X, y)
    rules = extract_rules(model)
    assert raw_scores(rules, X) == pytest.approx(model.predict(X, raw_score=True), abs=1e-9)


def test_a_booster() -> None:
    X, y = numbers(6, classes=3)
    options = {"objective": "multiclass", "num_class": 3, "verbose": -1, "num_threads": 1}
    booster = lgb.train(options, lgb.Dataset(X, y), 4)
    rules = extract_rules(booster)
    assert rules.outcomes == (0, 1, 2)
    assert raw_scores(rules, X) == pytest.approx(booster.predict(X, raw_score=True), abs=1e-9)


def test_what_is_refused() -> None:
    X, y = numbers(0)
    with pytest.raises(ModelError, match="is not fitted"):
        extract_rules(make())
    with pytest.raises(ModelError, match="takes zeros for missing"):
        extract_rules(make(zero_as_missing=True).fit(X, y))
    with pytest.raises(ModelError, match="linear leaves"):
        extract_rules(make(linear_tree=True).fit(X, y))
    regression = lgb.train({"verbose": -1, "num_threads": 1}, lgb.Dataset(X, y), 2)
    with pytest.raises(ModelError, match="objective is 'regression'"):
        extract_rules(regression)
    with pytest.raises(ModelError, match="fitted on 5 features, but 3 are given"):
        extract_rules(make().fit(X, y), np.zeros((2, 3)))


def test_names_that_lightgbm_writes_alike() -> None:
    """Pins rules on "a_b" of a model that was fitted on "a b"."""
    X, y = numbers(0)
    frame = pd.DataFrame({"a b": X[:, 0], "a_b": X[:, 1]})
    model = make().fit(frame[["a b"]], y)
    with pytest.raises(ModelError, match="'a b' and 'a_b' alike, as 'a_b'"):
        extract_rules(model, frame)
    assert extract_rules(model, frame[["a b"]]).schema.names == ("a b",)
