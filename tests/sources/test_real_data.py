"""Every kind of model on real tables with holes and levels: predictions rebuilt from the rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from source_tables import edge_rows

from rulelens.sources.extract import extract_rules
from rulelens.sources.predictions import class_shares, predict_rules, raw_scores

pytestmark = pytest.mark.data
SETS = {"hepatitis": "Class", "breast_cancer": "Class", "adult": "income"}


def table(folder: Path, name: str) -> tuple[pd.DataFrame, Any]:
    """Up to 1,500 rows; text columns are categories, "?" and empty cells are missing."""
    frame = pd.read_csv(folder / f"{name}.csv.gz", na_values="?").iloc[:1500]
    y = frame.pop(SETS[name])
    for c in frame.columns:
        if frame[c].dtype.kind not in "if":
            text = frame[c].astype(object).where(frame[c].notna(), None)
            frame[c] = pd.Categorical(text)
        else:
            frame[c] = frame[c].astype(float)
    frame.columns = [c.replace(" ", "_") for c in frame.columns]
    return frame, np.unique(y, return_inverse=True)[1]


def prepared(final: Any) -> Any:
    steps = ColumnTransformer(
        [
            (
                "numbers",
                make_pipeline(SimpleImputer(strategy="median"), StandardScaler()),
                make_column_selector(dtype_include=float),
            ),
            (
                "levels",
                make_pipeline(
                    SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")
                ),
                make_column_selector(dtype_include="category"),
            ),
        ]
    )
    return make_pipeline(steps, final)


def boosted(name: str) -> Any:
    if name == "xgboost":
        vendor = pytest.importorskip("xgboost", reason="needs the extra rulelens[boost]")
        return vendor.XGBClassifier(n_estimators=10, enable_categorical=True, n_jobs=1)
    vendor = pytest.importorskip("lightgbm", reason="needs the extra rulelens[boost]")
    return vendor.LGBMClassifier(
        n_estimators=10, min_child_samples=5, min_data_per_group=5, n_jobs=1, verbose=-1
    )


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("kind", ["forest", "boosting"])
def test_pipelines(data_dir: Path, name: str, kind: str) -> None:
    X, y = table(data_dir, name)
    final = (
        RandomForestClassifier(10, random_state=0)
        if kind == "forest"
        else GradientBoostingClassifier(n_estimators=10, random_state=0)
    )
    model = prepared(final).fit(X, y)
    rules = extract_rules(model, X)
    rows = edge_rows(rules, X, n=1000)
    assert (predict_rules(rules, rows) == model.predict(rows)).all()
    if kind == "forest":
        assert (class_shares(rules, rows) == model.predict_proba(rows)).all()
    else:
        assert raw_scores(rules, rows) == pytest.approx(model.decision_function(rows), abs=1e-9)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("kind", ["histogram", "xgboost", "lightgbm"])
def test_boosting_with_levels_and_holes(data_dir: Path, name: str, kind: str) -> None:
    X, y = table(data_dir, name)
    if kind == "histogram":
        model = HistGradientBoostingClassifier(max_iter=10, categorical_features="from_dtype")
    else:
        model = boosted(kind)
    model.fit(X, y)
    rules = extract_rules(model, X)
    rows = edge_rows(rules, X, n=1000)
    if kind == "histogram":
        raw, close = model.decision_function(rows), 1e-9
    elif kind == "xgboost":
        raw, close = model.predict(rows, output_margin=True), 5e-7
    else:
        raw, close = model.predict(rows, raw_score=True), 1e-9
    assert raw_scores(rules, rows) == pytest.approx(raw, abs=close)
    assert (predict_rules(rules, rows) == model.predict(rows)).all()


@pytest.mark.parametrize("name", SETS)
def test_a_forest_on_the_numbers_alone(data_dir: Path, name: str) -> None:
    X, y = table(data_dir, name)
    X = X.assign(**{c: X[c].cat.codes.replace(-1, np.nan) for c in X.select_dtypes("category")})
    model = RandomForestClassifier(10, random_state=0).fit(X, y)
    rules = extract_rules(model, X)
    rows = edge_rows(rules, X, n=1000)
    assert (class_shares(rules, rows) == model.predict_proba(rows)).all()
