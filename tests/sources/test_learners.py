"""imodels and wittgenstein: scores, lists and predictions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from source_tables import edge_rows, numbers

from rulelens.core.conditions import Interval
from rulelens.core.schema import Feature
from rulelens.errors import ModelError
from rulelens.sources.extract import extract_rules
from rulelens.sources.predictions import class_shares, predict_rules, raw_scores
from rulelens.sources.wittgenstein import condition_of

NAMES = ["a", "b_c", "ü", "d", "e"]


@pytest.fixture(scope="module")
def imodels() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("imodels", reason="needs the extra rulelens[rules]")


@pytest.fixture(scope="module")
def lw() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("wittgenstein", reason="needs the extra rulelens[rules]")


def fitted(cls: Any, X: Any, y: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cls(**options).fit(X, y)


def table(seed: int, classes: int = 2) -> tuple[pd.DataFrame, Any]:
    X, y = numbers(seed, classes=classes)
    return pd.DataFrame(X, columns=NAMES), y


@pytest.mark.parametrize("seed", [0, 1])
def test_rulefit(imodels: Any, seed: int) -> None:
    X, y = table(seed)
    model = fitted(imodels.RuleFitClassifier, X, y, include_linear=False, random_state=0)
    rules = extract_rules(model, X)
    assert len(rules) > 3
    rows = edge_rows(rules, X, n=400)
    p = model.predict_proba(rows)
    expected = np.log(p[:, 1] / p[:, 0])
    assert raw_scores(rules, rows) == pytest.approx(expected, abs=1e-6)
    assert (predict_rules(rules, rows) == model.predict(rows)).all()


def test_rulefit_with_linear_terms_is_refused(imodels: Any) -> None:
    X, y = table(0)
    model = fitted(imodels.RuleFitClassifier, X, y, random_state=0)
    model.coef = np.ones(len(model.coef))
    with pytest.raises(ModelError, match="linear terms"):
        extract_rules(model, X)


def test_skope_rules(imodels: Any) -> None:
    X, y = table(2)
    model = fitted(imodels.SkopeRulesClassifier, X, y, random_state=0)
    rules = extract_rules(model, X)
    rows = edge_rows(rules, X, n=400)
    expected = 2 * model.predict_proba(rows)[:, 1] - 1
    assert raw_scores(rules, rows) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_figs(imodels: Any, classes: int) -> None:
    X, y = table(3, classes)
    model = fitted(imodels.FIGSClassifier, X, y, max_rules=12, random_state=0)
    rules = extract_rules(model, X)
    rows = edge_rows(rules, X, n=400)
    scores = raw_scores(rules, rows)
    scores = np.stack([1 - scores, scores], axis=1) if scores.ndim == 1 else scores
    assert np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True) == pytest.approx(
        model.predict_proba(rows), abs=1e-9
    )
    assert (predict_rules(rules, rows) == model.predict(rows)).all()


@pytest.mark.parametrize("name", ["GreedyRuleListClassifier", "OneRClassifier"])
def test_rule_lists(imodels: Any, name: str) -> None:
    X, y = table(4)
    labels = np.array(["no", "yes"])[y]
    model = fitted(getattr(imodels, name), X, labels)
    rules = extract_rules(model, X)
    assert rules.ordered
    rows = edge_rows(rules, X, n=400)
    assert (predict_rules(rules, rows) == model.predict(rows)).all()


@pytest.mark.parametrize(
    "name", ["BoostedRulesClassifier", "GreedyTreeClassifier", "HSTreeClassifier"]
)
def test_models_that_are_scikit_learn_underneath(imodels: Any, name: str) -> None:
    X, y = table(5)
    model = fitted(getattr(imodels, name), X, y)
    rules = extract_rules(model, X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = model.predict(X)
        shares = model.predict_proba(X)
    assert (predict_rules(rules, X).astype(int) == expected).all()
    if name != "BoostedRulesClassifier":
        assert class_shares(rules, X) == pytest.approx(shares, abs=1e-12)


@pytest.mark.parametrize("name", ["RIPPER", "IREP"])
@pytest.mark.parametrize("seed", [0, 1])
def test_wittgenstein(lw: Any, name: str, seed: int) -> None:
    """Bins are open below and closed above, their ends being printed with two decimals."""
    rng = np.random.default_rng(seed)
    n = 400
    X = pd.DataFrame(
        {
            "a b": rng.normal(size=n),
            "c": rng.choice(["x", "y", "z"], n).astype(object),
            "n": rng.integers(0, 30, n),
            "flag": rng.choice([True, False], n),
        }
    )
    positive = ((X["a b"] > 0) & (X["c"] != "x")) | (X["n"] > 25)
    frame = X.assign(y=np.where(positive, "good", "bad").astype(object))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = getattr(lw, name)(random_state=seed)
        model.fit(frame, class_feat="y", pos_class="good")
        rules = extract_rules(model, X)
        rows = X.assign(**{"a b": np.round(X["a b"], 2)})
        for r in (X, rows):
            expected = np.where(model.predict(r), "good", "not good")
            assert (predict_rules(rules, r) == expected).all()
    assert rules.default == "not good"
    assert extract_rules(model, None).schema.names == ("a b", "c", "n", "flag")


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("0.81 - 1.3", Interval(0.81, 1.3, high_closed=True)),
        ("-1.0--0.5", Interval(-1, -0.5, high_closed=True)),
        ("-0.05-0.22", Interval(-0.05, 0.22, high_closed=True)),
        ("1e-05-.5", Interval(1e-5, 0.5, high_closed=True)),
        ("<3.0", Interval(high=3, high_closed=True)),
        (">-3", Interval(-3)),
    ],
)
def test_bins(text: str, condition: Interval) -> None:
    assert condition_of(Feature("x"), text, True) == condition


def test_a_bin_that_is_none() -> None:
    with pytest.raises(ModelError, match="is no range"):
        condition_of(Feature("x"), "about 3", True)


@pytest.mark.parametrize("labels", [["no", "yes"], [1, 2], [False, True]])
def test_labels_that_imodels_encodes(imodels: Any, labels: list[Any]) -> None:
    """Pins rules for 0.0 and 1.0 where the classes are others, and a KeyError.

    BoostedRulesClassifier compares its trees' 0 and 1 with the labels, and so predicts one
    class for all rows.
    """
    X, y = table(0)
    y = np.array(labels)[y]
    model = fitted(imodels.HSTreeClassifier, X, y, max_leaf_nodes=6)
    rules = extract_rules(model, X)
    assert set(rules.outcomes) == set(labels)
    plain = X.to_numpy()  # imodels warns of names
    assert (predict_rules(rules, X) == model.predict(plain)).all()
    assert class_shares(rules, X) == pytest.approx(model.predict_proba(plain), abs=1e-9)
    boosted = fitted(imodels.BoostedRulesClassifier, plain, y, n_estimators=3)
    if labels[0] is False:
        assert (predict_rules(extract_rules(boosted, X), X) == boosted.predict(plain)).all()
    else:
        with pytest.raises(ModelError, match=r"Fit it with the classes \[0, 1\]"):
            extract_rules(boosted, X)
