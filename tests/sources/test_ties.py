"""Scores of 0, and next to it, where each model decides in its own way."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier

from rulelens.errors import ModelError
from rulelens.io.formats import format_rules, parse_rules
from rulelens.sources.extract import extract_rules
from rulelens.sources.predictions import predict_rules
from rulelens.sources.scores import least_likelier


def even_table() -> tuple[pd.DataFrame, Any]:
    """A third of the rows of either class, whose score is 0, and a third of each."""
    y = np.concatenate([np.arange(40) % 2, np.ones(40), np.zeros(40)]).astype(int)
    return pd.DataFrame({"a": np.repeat([0.0, 1.0, 2.0], 40)}), y


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(n_estimators=3),
        GradientBoostingClassifier(n_estimators=3, init="zero"),
        GradientBoostingClassifier(n_estimators=3, loss="exponential"),
        HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=1),
    ],
)
def test_a_score_of_zero(model: Any) -> None:
    """Pins rows with the score 0, which were of the first class in every model's rules."""
    X, y = even_table()
    model.fit(X, y)
    assert (model.decision_function(X) == 0).sum() == 40
    rules = extract_rules(model, X)
    assert (predict_rules(rules, X) == model.predict(X)).all()
    for name in ("json", "text"):
        again = parse_rules(format_rules(rules, format=name), format=name)
        assert (predict_rules(again, X) == model.predict(X)).all()


SCORES = [0.0, -0.0, 1e-17, -1e-17, 1.6e-16, 1.7e-16, 2.3e-16, 1e-9, -1e-9, 3e-8, 6e-8]
SCORES += [8.9e-8, 8.95e-8, 1e-7, 1.2e-7, 2e-7, 1e-3]


def test_scores_next_to_zero_in_xgboost(tmp_path: Path) -> None:
    """Pins scores whose probability is a half in single precision, yet were above 0."""
    xgb = pytest.importorskip("xgboost", reason="needs the package xgboost")
    X, y = even_table()
    model = xgb.XGBClassifier(n_estimators=1, base_score=0.5).fit(X, y)
    document = json.loads(bytes(model.get_booster().save_raw("json")))
    tree = document["learner"]["gradient_booster"]["model"]["trees"][0]
    leaves = [i for i, child in enumerate(tree["left_children"]) if child < 0]
    for score in SCORES:
        for i in leaves:
            tree["split_conditions"][i] = score
        path = tmp_path / "model.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        changed = xgb.XGBClassifier()
        changed.load_model(path)
        rules = extract_rules(changed, X)
        assert (predict_rules(rules, X) == changed.predict(X)).all(), score


@pytest.mark.parametrize("slope", [1.0, 0.3])
def test_scores_next_to_zero_in_lightgbm(slope: float) -> None:
    """Pins scores whose probability is a half in double precision, yet were above 0."""
    lgb = pytest.importorskip("lightgbm", reason="needs the package lightgbm")
    X, y = even_table()
    model = lgb.LGBMClassifier(
        n_estimators=1, min_child_samples=1, verbose=-1, sigmoid=slope, boost_from_average=False
    ).fit(X, y)
    text = model.booster_.model_to_string()
    found = re.search(r"leaf_value=(.*)", text)
    assert found
    for score in [*SCORES, 3e-16, 5e-16, 6e-16, 8e-16]:
        values = " ".join([repr(score)] * len(found[1].split()))
        model._Booster = lgb.Booster(
            model_str=re.sub(r"leaf_value=.*", f"leaf_value={values}", text)
        )
        rules = extract_rules(model, X)
        assert (predict_rules(rules, X) == model.predict(X)).all(), score


def test_the_least_score_that_is_likelier() -> None:
    for precision in (np.float32, np.float64):
        cut = precision(least_likelier(1.0, precision))
        one = precision(1)
        for score, above in ((cut, True), (np.nextafter(cut, precision(0)), False)):
            p = one / (one + precision(math.exp(-float(score))))
            assert bool(p > one - p) is above


def test_one_class_only() -> None:
    """Pins an IndexError at the first use of such rules."""
    X, y = even_table()
    model = HistGradientBoostingClassifier(max_iter=2).fit(X, np.full(len(y), "no"))
    with pytest.raises(ModelError, match="knows the class 'no' only"):
        extract_rules(model, X)
