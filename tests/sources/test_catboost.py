"""CatBoost: raw scores and predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from source_tables import edge_rows, mixed, numbers

from rulelens.errors import ModelError
from rulelens.sources.extract import extract_rules
from rulelens.sources.predictions import predict, raw_scores

cb = pytest.importorskip("catboost", reason="needs the package catboost")


def make(**options: Any) -> Any:
    return cb.CatBoostClassifier(
        **{
            "iterations": 5,
            "depth": 4,
            "verbose": 0,
            "thread_count": 1,
            "allow_writing_files": False,
            **options,
        }
    )


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise", "Lossguide"])
@pytest.mark.parametrize("nan_mode", ["Min", "Max"])
def test_numbers(classes: int, missing: float, policy: str, nan_mode: str) -> None:
    X, y = numbers(0, missing=missing, classes=classes)
    frame = pd.DataFrame(X, columns=["a", "b c", "ü", "d", "e"])
    labels = np.array(["no", "yes", "maybe", "so"])[y]
    model = make(grow_policy=policy, nan_mode=nan_mode).fit(frame, labels)
    rules = extract_rules(model, frame)
    rows = edge_rows(rules, frame)
    if missing:
        rows = rows.mask(np.random.default_rng(0).random(rows.shape) < 0.3)
    raw = model.predict(rows, prediction_type="RawFormulaVal")
    assert raw_scores(rules, rows) == pytest.approx(raw, abs=1e-9)
    assert (predict(rules, rows) == model.predict(rows).ravel()).all()
    covered = rules.coverage(rows)
    for t in range(5):
        fires = covered[:, rules.provenance["tree"] == t].sum(axis=1)
        assert (fires == (classes if classes > 2 else 1)).all()
    assert (rules.provenance["tree"] < 5).all()


def test_without_names_and_with_an_early_stop() -> None:
    X, y = numbers(1)
    model = make(iterations=100, learning_rate=0.9, early_stopping_rounds=3)
    model.fit(X[:200], y[:200], eval_set=(X[200:], y[200:]))
    rules = extract_rules(model)
    assert rules.schema.names == ("x0", "x1", "x2", "x3", "x4")
    raw = model.predict(X, prediction_type="RawFormulaVal")
    assert raw_scores(rules, X) == pytest.approx(raw, abs=1e-9)


def test_what_is_refused() -> None:
    X, y = mixed(0, missing=0.0)
    X = X.astype({"colour": str, "grade": str})
    model = make().fit(X, y, cat_features=["colour", "grade"])
    with pytest.raises(ModelError, match="statistics or hashes of its levels"):
        extract_rules(model)
    with pytest.raises(ModelError, match="is not fitted"):
        extract_rules(make())
