"""CatBoost: raw scores and predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from source_tables import edge_rows, numbers, one_rule_of_each_tree

from rulelens.errors import ModelError, UnsupportedModelError
from rulelens.sources import catboost_growth, catboost_splits
from rulelens.sources.catboost_splits import Saved
from rulelens.sources.extract import extract_rules
from rulelens.sources.predictions import predict_rules, raw_scores

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
    assert (predict_rules(rules, rows) == model.predict(rows).ravel()).all()
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


def levels_table(seed: int, n: int = 400) -> tuple[pd.DataFrame, Any]:
    """Numbers with holes, text levels of all lengths, whole numbers as levels, and booleans."""
    rng = np.random.default_rng(seed)
    words = ["", "a", "ü∑", "nan", "it's", "seventeen letters", "x" * 40, "long " * 30, "3"]
    frame = pd.DataFrame(
        {
            "flag": rng.choice([True, False], n),
            "x": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)),
            "word": rng.choice(words, n),
            "code": pd.Categorical(rng.choice([-5, 0, 3, 12345678901], n)),
            "z": rng.normal(size=n),
        }
    )
    score = frame["z"] * (frame["word"].str.len() > 3) + (frame["code"] == 3) * frame["x"].fillna(2)
    y = np.digitize(score + frame["flag"] * rng.normal(size=n), [-0.3, 0.6])
    return frame, y


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise", "Lossguide"])
@pytest.mark.parametrize("one_hot", [20, 2])
def test_levels_one_by_one_or_by_statistics_of_the_target(
    classes: int, policy: str, one_hot: int
) -> None:
    X, y = levels_table(0)
    y = np.minimum(y, classes - 1)
    model = make(
        iterations=12,
        grow_policy=policy,
        cat_features=["flag", "word", "code"],
        one_hot_max_size=one_hot,
    ).fit(X, y)
    rules = extract_rules(model, X[["z", "code", "word", "x", "flag"]])
    assert [f.kind for f in rules.schema] == [
        "boolean",
        "numeric",
        "categorical",
        "categorical",
        "numeric",
    ]
    split = {rules.schema.names[f] for f in rules.conditions.feature}
    assert split >= {"word", "code", "x", "z"}
    check_model(model, rules, edge_rows(rules, X), by_leaf=classes == 2)


def check_model(model: Any, rules: Any, rows: pd.DataFrame, *, by_leaf: bool) -> None:
    """Raw scores, predictions and, if asked for, the rows of each leaf are the model's."""
    raw = model.predict(rows, prediction_type="RawFormulaVal")
    assert raw_scores(rules, rows) == pytest.approx(raw, abs=1e-9)
    assert (predict_rules(rules, rows) == model.predict(rows).ravel()).all()
    if by_leaf:
        leaf = one_rule_of_each_tree(rules, rows)
        theirs = model.calc_leaf_indexes(rows)
        for ours, own in zip(leaf.T, theirs.T, strict=True):
            pairs = set(zip(ours.tolist(), own.tolist(), strict=True))
            assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


@pytest.mark.parametrize("statistic", ["Borders", "Buckets", "BinarizedTargetMeanValue", "Counter"])
@pytest.mark.parametrize("classes", [2, 3])
def test_every_statistic_of_the_target(statistic: str, classes: int) -> None:
    X, y = levels_table(5)
    X = X.assign(flag=X["flag"].astype(int))
    y = np.minimum(y, classes - 1)
    model = make(
        iterations=20, cat_features=["word", "code"], simple_ctr=statistic, one_hot_max_size=1
    ).fit(X, y)
    if statistic == "BinarizedTargetMeanValue" and classes > 2:
        with pytest.raises(ModelError, match="does not read such a number back"):
            extract_rules(model, X)
        return
    rules = extract_rules(model, X)
    assert "word" in {rules.schema.names[f] for f in rules.conditions.feature}
    rows = X.assign(word=X["word"].where(X.index % 5 > 0, "never seen"))
    for table in (X, rows):
        check_model(model, rules, table, by_leaf=classes == 2)


def test_many_levels_as_the_model_takes_them_by_default() -> None:
    """One level in twenty is not in the model's rows, but in the table; new ones in neither."""
    rng = np.random.default_rng(6)
    levels = np.array([f"level {i}" for i in range(600)])
    X = pd.DataFrame({"place": rng.choice(levels, 5_000), "x": rng.normal(size=5_000)})
    y = (rng.normal(size=600)[X["place"].str[6:].astype(int)] + X["x"] > 0).astype(int)
    known = X["place"].str[6:].astype(int) % 20 > 0
    model = make(iterations=15, depth=6, cat_features=["place"]).fit(X[known], y[known])
    rules = extract_rules(model, X)
    rows = X.assign(place=X["place"].where(X.index % 7 > 0, "never seen"))
    for table in (X, rows):
        check_model(model, rules, table, by_leaf=True)


@pytest.mark.parametrize("one_hot", [20, 2])
def test_levels_never_seen_before_go_where_the_model_sends_them(one_hot: int) -> None:
    X, y = levels_table(1)
    model = make(cat_features=["flag", "word", "code"], one_hot_max_size=one_hot).fit(X, y > 0)
    rules = extract_rules(model, X)
    rows = X.assign(word="never seen")
    raw = model.predict(rows, prediction_type="RawFormulaVal")
    assert raw_scores(rules, rows) == pytest.approx(raw, abs=1e-9)


@pytest.mark.parametrize("one_hot", [20, 2])
def test_levels_without_names_of_features(one_hot: int) -> None:
    X, y = levels_table(2)
    model = make(cat_features=[0, 2, 3], one_hot_max_size=one_hot).fit(X.to_numpy(object), y > 0)
    rules = extract_rules(model, X)
    raw = model.predict(X.to_numpy(object), prediction_type="RawFormulaVal")
    assert raw_scores(rules, X) == pytest.approx(raw, abs=1e-9)


@pytest.mark.parametrize("one_hot", [20, 2])
def test_levels_that_cannot_be_told(one_hot: int) -> None:
    X, y = levels_table(3)
    model = make(
        iterations=30, cat_features=["flag", "word", "code"], one_hot_max_size=one_hot
    ).fit(X, y > 0)
    with pytest.raises(ModelError, match="keeps only their hashes"):
        extract_rules(model)
    with pytest.raises(ModelError, match="keeps only their hashes"):
        extract_rules(model, X[X["word"].isin(["a", "3"])])
    with pytest.raises(ModelError, match=r"'code' is numeric in the table.*astype"):
        extract_rules(model, X.astype({"code": int}))
    half = pd.Categorical(X["code"].astype(float) + 0.5)
    with pytest.raises(ModelError, match="decimal point"):
        extract_rules(model, X.assign(code=half))


@pytest.mark.parametrize(("loss", "classes"), [("Logloss", 2), ("MultiClass", 3)])
def test_a_booster_without_the_face_of_a_classifier(loss: str, classes: int) -> None:
    X, y = numbers(3, classes=classes)
    options = {"iterations": 5, "verbose": 0, "allow_writing_files": False, "loss_function": loss}
    model = cb.CatBoost(options).fit(X, y)
    rules = extract_rules(model)
    assert rules.outcomes == tuple(range(classes))
    assert raw_scores(rules, X) == pytest.approx(model.predict(X), abs=1e-9)
    model = cb.CatBoost(options | {"loss_function": "RMSE"}).fit(X, y)
    regressor = cb.CatBoostRegressor(iterations=2, verbose=0, allow_writing_files=False).fit(X, y)
    for other in (model, regressor):
        with pytest.raises(UnsupportedModelError, match="has no classes"):
            extract_rules(other)


def combined(seed: int, classes: int, n: int = 1_500) -> tuple[pd.DataFrame, Any]:
    """Levels and numbers that decide together, and so make the model combine them."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.choice(list("abcdefgh"), n),
            "u": np.where(rng.random(n) < 0.15, np.nan, rng.normal(size=n).round(1)),
            "b": pd.Categorical(rng.integers(0, 6, n)),
            "c": rng.choice([True, False], n),
            "v": rng.normal(size=n).round(1),
        }
    )
    odd = X["a"].isin(list("ace")).to_numpy().astype(int) + (X["b"].astype(int) % 3 == 0)
    score = odd + X["c"] + (X["u"].fillna(0.4) > 0.3)
    return X, ((score + (rng.random(n) < 0.1)) % classes).to_numpy()


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("nan_mode", ["Min", "Max"])
def test_combinations_of_features(classes: int, seed: int, nan_mode: str) -> None:
    """A leaf may give several rules; each row has one of them in each tree."""
    X, y = combined(seed, classes)
    model = make(
        iterations=25,
        depth=6,
        nan_mode=nan_mode,
        max_ctr_complexity=4,
        cat_features=["a", "b", "c"],
        one_hot_max_size=2,
    ).fit(X, y)
    statistics = Saved.of(model).statistics.values()
    kinds = {e["combination_element"] for s in statistics for e in s["elements"]}
    assert classes > 2 or "float_feature" in kinds
    assert max(len(s["elements"]) for s in statistics) > 1
    rules = extract_rules(model, X)
    rng = np.random.default_rng(1)
    rows = edge_rows(rules, X)
    rows["u"] = rows["u"].mask(rng.random(len(rows)) < 0.3)
    rows["a"] = rows["a"].where(rng.random(len(rows)) < 0.8, "never seen")
    for table in (X, rows):
        check_model(model, rules, table, by_leaf=False)
        if classes == 2:
            leaf = one_rule_of_each_tree(rules, table)
            theirs = model.calc_leaf_indexes(table)
            for ours, own in zip(leaf.T.tolist(), theirs.T.tolist(), strict=True):
                assert len(set(zip(ours, own, strict=True))) == len(set(ours))


def test_combinations_of_levels_that_the_table_lacks() -> None:
    X, y = combined(0, 2)
    options = {"max_ctr_complexity": 2, "cat_features": ["a", "b", "c"], "one_hot_max_size": 1}
    model = make(iterations=25, depth=6, **options).fit(X, y)
    with pytest.raises(ModelError, match=r"knows \d+ levels of feature"):
        extract_rules(model, X[X["a"] != "h"])
    # Levels that are in the table, but not in the model, are nothing to complain about.
    known = (X["a"] != "h").to_numpy()
    model = make(iterations=25, depth=6, **options).fit(X[known], y[known])
    check_model(model, extract_rules(model, X), X, by_leaf=False)


def test_too_many_combinations(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = combined(0, 2)
    model = make(iterations=25, depth=6, max_ctr_complexity=4, cat_features=["a", "b", "c"])
    model.fit(X, y)
    monkeypatch.setattr(catboost_growth, "_MOST_LEAVES", 10)
    with pytest.raises(ModelError, match=r"more than 10 rules.*max_ctr_complexity=1"):
        extract_rules(model, X)
    monkeypatch.setattr(catboost_splits, "_MOST_COMBINATIONS", 10)
    with pytest.raises(ModelError, match=r"possible values.*max_ctr_complexity=1"):
        extract_rules(model, X)


def test_what_is_refused() -> None:
    with pytest.raises(ModelError, match="is not fitted"):
        extract_rules(make())


@pytest.mark.parametrize("loss", ["MultiLogloss", "MultiCrossEntropy"])
def test_several_targets_are_refused(loss: str) -> None:
    """Pins rules of classes that such a model does not have: it answers for each target alone."""
    X, y = numbers(4)
    targets = np.stack([y, 1 - y], axis=1)
    with pytest.raises(ModelError, match="several targets"):
        extract_rules(make(loss_function=loss).fit(X, targets))


def test_texts_and_embeddings_are_refused() -> None:
    """Pins CatBoost's own error at saving such models."""
    X, y = numbers(4)
    frame = pd.DataFrame({"x": X[:, 0], "words": np.where(y > 0, "so it is", "not so")})
    model = make().fit(frame, y, text_features=["words"])
    with pytest.raises(ModelError, match="'words' is of the kind text"):
        extract_rules(model, frame)
    frame = pd.DataFrame({"x": X[:, 0], "place": list(X[:, 1:])})
    model = make().fit(frame, y, embedding_features=["place"])
    with pytest.raises(ModelError, match="'place' is of the kind embedding"):
        extract_rules(model)
