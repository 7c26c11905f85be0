"""Real tables with holes and levels: leaf by leaf, the rules select the rows that reach it."""

from __future__ import annotations

import warnings
from pathlib import Path
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
from sklearn.tree import DecisionTreeClassifier
from source_tables import edge_rows, one_rule_of_each_tree
from test_real_data import SETS, table

from rulelens.sources.extract import extract_rules
from rulelens.sources.predictions import predict_rules, raw_scores

pytestmark = pytest.mark.data


def coded(X: pd.DataFrame) -> pd.DataFrame:
    """Levels as numbers; holes stay holes."""
    codes = {
        c: X[c].cat.codes.astype(float).replace(-1, np.nan) for c in X.select_dtypes("category")
    }
    return X.assign(**codes)


def check_leaves(ours: Any, theirs: Any) -> None:
    """The same partition of the rows by each tree, whatever the leaves are called."""
    assert ours.shape == theirs.shape
    for a, b in zip(ours.T.tolist(), theirs.T.tolist(), strict=True):
        pairs = set(zip(a, b, strict=True))
        assert len(pairs) == len({x for x, _ in pairs}) == len({y for _, y in pairs})


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(random_state=0),
        RandomForestClassifier(10, random_state=0),
        ExtraTreesClassifier(10, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(), 10, random_state=0),
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=5, random_state=0),
    ],
    ids=lambda m: type(m).__name__,
)
def test_trees_with_holes(data_dir: Path, name: str, model: Any) -> None:
    X, y = table(data_dir, name)
    X = coded(X)
    if isinstance(model, AdaBoostClassifier):
        X = X.fillna(-1.5)
    model.fit(X, y)
    rules = extract_rules(model, X)
    rows = edge_rows(rules, X, n=800)
    numbers = rows.to_numpy()
    trees = getattr(model, "estimators_", [model])
    theirs = np.stack([t.apply(numbers.astype(np.float32)) for t in map(plain, trees)], axis=1)
    assert (one_rule_of_each_tree(rules, rows) == theirs).all()
    assert (predict_rules(rules, rows) == model.predict(rows)).all()


def plain(tree: Any) -> Any:
    """The tree itself, which takes single precision without a check of names."""
    return tree.tree_


@pytest.mark.parametrize("name", SETS)
def test_leaves_of_boosters_with_levels_and_holes(data_dir: Path, name: str) -> None:
    xgboost = pytest.importorskip("xgboost", reason="needs the extra rulelens[boost]")
    lightgbm = pytest.importorskip("lightgbm", reason="needs the extra rulelens[boost]")
    X, y = table(data_dir, name)
    model = xgboost.XGBClassifier(n_estimators=10, enable_categorical=True, n_jobs=1).fit(X, y)
    rules = extract_rules(model, X)
    rows = edge_rows(rules, X, n=800)
    check_leaves(one_rule_of_each_tree(rules, rows), model.apply(rows).astype(int))
    model = lightgbm.LGBMClassifier(
        n_estimators=10, min_child_samples=5, min_data_per_group=5, n_jobs=1, verbose=-1
    ).fit(X, y)
    rules = extract_rules(model, X)
    rows = edge_rows(rules, X, n=800)
    check_leaves(one_rule_of_each_tree(rules, rows), model.predict(rows, pred_leaf=True))


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise", "Lossguide"])
@pytest.mark.parametrize("one_hot", [255, 2])
def test_catboost_with_levels_and_holes(
    data_dir: Path, name: str, policy: str, one_hot: int
) -> None:
    catboost = pytest.importorskip("catboost", reason="needs the extra rulelens[catboost]")
    X, y = table(data_dir, name)
    levels = list(X.select_dtypes("category"))
    X = X.assign(**{c: X[c].astype(object).where(X[c].notna(), "unknown") for c in levels})
    model = catboost.CatBoostClassifier(
        iterations=10,
        depth=5,
        grow_policy=policy,
        cat_features=levels,
        one_hot_max_size=one_hot,
        verbose=0,
        thread_count=1,
        allow_writing_files=False,
    ).fit(X, y)
    rules = extract_rules(model, X)
    rows = edge_rows(rules, X, n=800)
    check_leaves(one_rule_of_each_tree(rules, rows), model.calc_leaf_indexes(rows))
    raw = model.predict(rows, prediction_type="RawFormulaVal")
    assert raw_scores(rules, rows) == pytest.approx(raw, abs=1e-9)
    assert (predict_rules(rules, rows) == model.predict(rows)).all()


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("RuleFitClassifier", {"include_linear": False, "random_state": 0}),
        ("SkopeRulesClassifier", {"random_state": 0}),
        ("FIGSClassifier", {"max_rules": 12, "random_state": 0}),
        ("GreedyRuleListClassifier", {}),
        ("OneRClassifier", {}),
        ("BoostedRulesClassifier", {}),
        ("HSTreeClassifier", {}),
    ],
)
def test_imodels(data_dir: Path, name: str, kind: str, options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        imodels = pytest.importorskip("imodels", reason="needs the extra rulelens[rules]")
        X, y = table(data_dir, name)
        X = coded(X).fillna(-1.5).iloc[:600]
        model = getattr(imodels, kind)(**options).fit(X, y[:600])
        rules = extract_rules(model, X)
        rows = edge_rows(rules, X, n=400)
        expected = model.predict(rows)
    if kind == "SkopeRulesClassifier":
        share = model.predict_proba(rows)[:, 1]
        assert raw_scores(rules, rows) == pytest.approx(2 * share - 1, abs=1e-9)
    else:
        assert (predict_rules(rules, rows) == expected).all()


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("kind", ["RIPPER", "IREP"])
def test_wittgenstein(data_dir: Path, name: str, kind: str) -> None:
    X, y = table(data_dir, name)
    levels = list(X.select_dtypes("category"))
    X = X.assign(**{c: X[c].astype(object).where(X[c].notna(), "unknown") for c in levels})
    X = X.fillna(X.median(numeric_only=True)).iloc[:600]
    label = np.where(y[:600] == 1, "good", "bad").astype(object)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wittgenstein = pytest.importorskip("wittgenstein", reason="needs the extra rulelens[rules]")
        model = getattr(wittgenstein, kind)(random_state=0)
        model.fit(X.assign(label=label), class_feat="label", pos_class="good")
        rules = extract_rules(model, X)
        rows = edge_rows(rules, X, n=400)
        expected = np.where(model.predict(rows), "good", rules.default)
    assert (predict_rules(rules, rows) == expected).all()


@pytest.mark.parametrize("name", SETS)
def test_gradient_boosting_leaf_by_leaf(data_dir: Path, name: str) -> None:
    X, y = table(data_dir, name)
    X = coded(X).fillna(-1.5)
    model = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, y)
    # The model's apply hands named rows on to trees fitted without names, which warn.
    rules = extract_rules(model, X)
    rows = edge_rows(rules, X, n=800)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        theirs = model.apply(rows)[:, :, 0].astype(int)
    check_leaves(one_rule_of_each_tree(rules, rows), theirs)


@pytest.mark.parametrize("name", SETS)
def test_histogram_boosting_with_levels_and_holes_leaf_by_leaf(data_dir: Path, name: str) -> None:
    """On training rows the leaves' own counts; on edge rows the value that each tree adds."""
    X, y = table(data_dir, name)
    model = HistGradientBoostingClassifier(
        max_iter=10, categorical_features="from_dtype", random_state=0, early_stopping=False
    ).fit(X, y)
    rules = extract_rules(model, X)
    reached = one_rule_of_each_tree(rules, X)
    for t, (predictor,) in enumerate(model._predictors):
        leaves = np.flatnonzero(predictor.nodes["is_leaf"])
        found, counts = np.unique(reached[:, t], return_counts=True)
        assert (found == leaves).all()
        assert (counts == predictor.nodes["count"][leaves]).all()
    rows = edge_rows(rules, X, n=800)
    ours = one_rule_of_each_tree(rules, rows)
    stages = np.stack([s.reshape(-1) for s in model.staged_decision_function(rows)], axis=1)
    added = np.diff(stages, axis=1)
    for t, (predictor,) in enumerate(model._predictors[1:], start=1):
        assert predictor.nodes["value"][ours[:, t]] == pytest.approx(added[:, t - 1], abs=1e-12)
