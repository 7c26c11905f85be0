"""Columns in another order, and booleans where the model has 0 and 1, in every source."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from source_tables import numbers

from rulelens.sources.extract import extract_rules
from rulelens.sources.predictions import predict_rules, raw_scores


def learner(package: str) -> Any:
    """A small model of a package."""
    if package == "imodels":
        pytest.importorskip("imodels", reason="needs the package imodels")
        from imodels import FIGSClassifier

        return FIGSClassifier(max_rules=6)
    if package == "catboost":
        cb = pytest.importorskip("catboost", reason="needs the package catboost")
        return cb.CatBoostClassifier(iterations=5, verbose=0, allow_writing_files=False)
    if package == "lightgbm":
        lgb = pytest.importorskip("lightgbm", reason="needs the package lightgbm")
        return lgb.LGBMClassifier(n_estimators=4, verbose=-1)
    xgb = pytest.importorskip("xgboost", reason="needs the package xgboost")
    return xgb.XGBClassifier(n_estimators=4)


@pytest.mark.parametrize(
    ("package", "pattern"),
    [
        ("catboost", "{}"),
        ("lightgbm", "Column_{}"),
        ("lightgbm", "Column {}"),
        ("imodels", "X{}"),
        ("xgboost", "{}"),
    ],
)
def test_columns_in_another_order_under_names_such_as_models_make_up(
    package: str, pattern: str
) -> None:
    """Pins rules on the wrong columns: such names were taken for none, and matched by place."""
    X, y = numbers(0)
    frame = pd.DataFrame(X, columns=[pattern.format(i) for i in range(5)])
    model = learner(package).fit(frame, y)
    rules = extract_rules(model, frame[frame.columns[::-1]])
    assert rules.schema.names == tuple(frame.columns)
    assert (predict_rules(rules, frame) == model.predict(frame)).all()


def codes_table() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = np.stack([rng.normal(size=300), rng.integers(0, 2, 300).astype(float)], axis=1)
    return X, (X[:, 0] + 2 * X[:, 1] > 1).astype(int)


def histogram(X: Any, y: Any) -> tuple[Any, Any]:
    model = HistGradientBoostingClassifier(max_iter=3, categorical_features=[1]).fit(X, y)
    return model, model.decision_function(X)


def of_xgboost(X: Any, y: Any) -> tuple[Any, Any]:
    xgb = pytest.importorskip("xgboost", reason="needs the package xgboost")
    model = xgb.XGBClassifier(n_estimators=3, enable_categorical=True, feature_types=["q", "c"])
    return model, model.fit(X, y).predict(X, output_margin=True)


def of_lightgbm(X: Any, y: Any) -> tuple[Any, Any]:
    lgb = pytest.importorskip("lightgbm", reason="needs the package lightgbm")
    model = lgb.LGBMClassifier(n_estimators=3, verbose=-1).fit(X, y, categorical_feature=[1])
    return model, model.predict(X, raw_score=True)


@pytest.mark.parametrize("fit", [histogram, of_xgboost, of_lightgbm])
@pytest.mark.parametrize("kind", [bool, "category"])
def test_booleans_where_the_model_was_fitted_on_0_and_1(fit: Any, kind: Any) -> None:
    """Pins wrong rules: False and True were levels that the model did not know."""
    X, y = codes_table()
    model, raw = fit(X, y)
    flag = pd.Series(X[:, 1] == 1).astype(kind)
    frame = pd.DataFrame({"x0": X[:, 0], "x1": flag})
    rules = extract_rules(model, frame)
    assert rules.schema["x1"].levels == (False, True)
    assert rules.conditions.level_codes.size
    assert raw_scores(rules, frame) == pytest.approx(raw, abs=1e-6)


def test_categories_that_are_booleans() -> None:
    """Pins wrong rules of histogram boosting, which keeps such categories as 0 and 1."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=300), "c": pd.Categorical(rng.random(300) < 0.5)})
    y = (frame["x"] + 2 * frame["c"].astype(int) > 1).astype(int)
    model = HistGradientBoostingClassifier(max_iter=3).fit(frame, y)
    rules = extract_rules(model, frame)
    rows = frame.assign(c=frame["c"].where(frame.index % 3 > 0))
    for table in (frame, rows):
        assert raw_scores(rules, table) == pytest.approx(model.decision_function(table), abs=1e-9)
