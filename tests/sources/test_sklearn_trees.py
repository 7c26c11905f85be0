"""Rules of scikit-learn's classifiers: leaf by leaf, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import (
    ExtraTreesClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Schema
from rulelens.errors import ModelError, RuleError, UnsupportedModelError
from rulelens.frames import read_schema
from rulelens.sources.extract import extract_rules
from rulelens.sources.predictions import class_shares, predict_rules

MODELS = [DecisionTreeClassifier, ExtraTreeClassifier, RandomForestClassifier, ExtraTreesClassifier]


def make(cls: type, **options: Any) -> Any:
    return cls(
        random_state=0, **({"n_estimators": 7} if "Forest" in cls.__name__ else {}), **options
    )


def trees_of(model: Any) -> list[Any]:
    return list(model.estimators_) if hasattr(model, "estimators_") else [model]


def rows_at_the_edges(model: Any, X: NDArray[Any], *, missing: bool) -> NDArray[np.float64]:
    """Training rows with values at, and an ulp (single, double) around, each threshold."""
    rng = np.random.default_rng(1)
    rows = [X.astype(float)]
    for tree in (t.tree_ for t in trees_of(model)):
        inner = np.flatnonzero(tree.children_left >= 0)
        for node in inner[:25]:
            t, f = float(tree.threshold[node]), int(tree.feature[node])
            if not np.isfinite(t):
                continue
            s = np.float32(t)
            near = [t, np.nextafter(t, np.inf), np.nextafter(t, -np.inf), float(s)]
            ups = [np.nextafter(s, np.float32(v)) for v in (np.inf, -np.inf)]
            near += [float(v) for v in ups] + [float(s) / 2 + float(v) / 2 for v in ups]
            part = X[rng.integers(len(X), size=len(near))].astype(float)
            part[:, f] = near
            rows.append(part)
    out = np.concatenate(rows)
    if missing:
        holes = out[rng.integers(len(out), size=200)]
        holes[rng.random(holes.shape) < 0.3] = np.nan
        out = np.concatenate([out, holes])
    return out


def check(model: Any, rules: RuleSet, X: Any, classes: Any = None) -> None:
    """One rule of each tree fires for each row: that of the leaf, with the tree's class."""
    covered = rules.coverage(X)
    trees = trees_of(model)
    values = X.to_numpy(dtype=float) if hasattr(X, "to_numpy") else np.asarray(X, dtype=float)
    outcome = np.array(rules.outcomes, dtype=object)[rules.outcome]
    assert len(rules) == sum(t.get_n_leaves() for t in trees)
    for k, tree in enumerate(trees):
        mine = np.flatnonzero(rules.provenance["tree"] == k)
        fires = covered[:, mine]
        assert (fires.sum(axis=1) == 1).all()
        fired = mine[fires.argmax(axis=1)]
        leaf = tree.tree_.apply(values.astype(np.float32))
        assert (rules.provenance["leaf"][fired] == leaf).all()
        code = tree.tree_.predict(values.astype(np.float32)).reshape(len(values), -1).argmax(axis=1)
        assert (outcome[fired] == np.asarray(model.classes_, dtype=object)[code]).all()
    if len(trees) == 1:
        fired = covered.argmax(axis=1)
        assert (outcome[fired] == model.predict(X).astype(object)).all()


def data(
    seed: int, n: int = 200, *, classes: int = 2, missing: float = 0.0, scale: float = 1.0
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5)) * scale
    X[:, 1] = rng.integers(0, 6, n)
    X[:, 2] = np.round(X[:, 2], 1)
    score = X[:, 0] / scale + (X[:, 1] > 2) - X[:, 3] / scale * X[:, 4] / scale
    y = np.clip(
        np.digitize(score + rng.normal(size=n) * 0.3, np.linspace(-1, 2, classes - 1)),
        0,
        classes - 1,
    )
    if missing:
        X[rng.random(X.shape) < missing] = np.nan
    return X, y


@pytest.mark.parametrize("cls", MODELS)
@pytest.mark.parametrize("scale", [1.0, 1e-42, 1e37, 1e8])
def test_values_around_every_threshold(cls: type, scale: float) -> None:
    """Double-precision thresholds and single-precision samples, subnormal and huge ones too."""
    X, y = data(0, scale=scale, classes=3)
    model = make(cls).fit(X, y)
    check(model, extract_rules(model), rows_at_the_edges(model, X, missing=False))


@pytest.mark.parametrize("cls", MODELS)
@pytest.mark.parametrize("share", [0.0, 0.02, 0.4])
@pytest.mark.parametrize("seed", range(3))
def test_missing_values(cls: type, share: float, seed: int) -> None:
    """A split of missing values alone has the threshold inf: once an error, now `Missing`."""
    X, y = data(seed, missing=share)
    model = make(cls).fit(X, y)
    check(model, extract_rules(model), rows_at_the_edges(model, X, missing=True))


def test_missing_values_that_tell_the_class() -> None:
    X = np.array([[1.0], [2.0], [np.nan], [np.nan], [3.0], [np.nan]])
    model = DecisionTreeClassifier(random_state=0).fit(X, [0, 0, 1, 1, 0, 1])
    rules = extract_rules(model)
    assert {str(r) for r in rules} == {"IF x0 is known THEN 0", "IF x0 is missing THEN 1"}
    check(model, rules, np.array([[np.nan], [-1e30], [1e30]]))


@pytest.mark.parametrize(
    "options",
    [
        {"ccp_alpha": 0.01},
        {"max_depth": 3},
        {"max_leaf_nodes": 9},
        {"monotonic_cst": [1, 0, 0, -1, 0]},
        {"class_weight": {0: 1.0, 1: 7.5}},
        {"criterion": "entropy", "min_samples_leaf": 7},
        {"max_features": 1},
    ],
)
@pytest.mark.parametrize("cls", MODELS)
def test_options(cls: type, options: dict[str, Any]) -> None:
    X, y = data(3)
    model = make(cls, **options).fit(X, y)
    check(model, extract_rules(model), rows_at_the_edges(model, X, missing=False))


@pytest.mark.parametrize("cls", MODELS)
def test_sample_weights_zero_included(cls: type) -> None:
    X, y = data(4, classes=3)
    w = np.random.default_rng(0).choice([0.0, 0.5, 3.0], len(y))
    model = make(cls).fit(X, y, sample_weight=w)
    check(model, extract_rules(model), rows_at_the_edges(model, X, missing=False))


@pytest.mark.parametrize("cls", MODELS)
def test_a_constant_tree_is_one_rule_without_conditions(cls: type) -> None:
    X = np.zeros((20, 2))
    model = make(cls).fit(X, ["b"] * 15 + ["a"] * 5)
    rules = extract_rules(model)
    check(model, rules, np.random.default_rng(0).normal(size=(10, 2)))
    assert (rules.lengths == 0).all()
    one_class = make(cls).fit(X, ["only"] * 20)
    assert extract_rules(one_class).outcomes == ("only",)


@pytest.mark.parametrize("cls", MODELS)
@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes", "ärger"],
        [False, True],
        [-3, 10, 7],
        [1.0, 2.0],
        np.array(["x", "y"], dtype=object),
    ],
)
def test_labels_keep_their_types(cls: type, labels: Any) -> None:
    X, y = data(5, classes=len(labels))
    y = np.asarray(labels)[y]
    model = make(cls).fit(X, y)
    rules = extract_rules(model)
    check(model, rules, X)
    assert {type(v) for v in rules.outcomes} == {type(np.asarray(labels).tolist()[0])}


@pytest.mark.parametrize("cls", MODELS)
def test_tables_with_names_booleans_and_any_order(cls: type) -> None:
    X, y = data(6)
    frame = pd.DataFrame(X, columns=["a b", "b.c", "ü", "x1", "z"])
    frame["flag"] = X[:, 0] > 0.3
    frame["other"] = X[:, 3] > 0
    y = np.where(frame["flag"], y, 1 - y)
    model = make(cls).fit(frame, y)
    rules = extract_rules(model, frame)
    assert [f.kind for f in rules.schema][-2:] == ["boolean", "boolean"]
    check(model, rules, frame)
    turned = frame[frame.columns[::-1]].assign(more=1)
    assert extract_rules(model, turned) == rules
    assert (rules.coverage(turned) == rules.coverage(frame)).all()
    assert extract_rules(model).schema == Schema.numeric(frame.columns)
    assert extract_rules(model, read_schema(frame)) == rules


def test_boolean_columns_with_missing_values() -> None:
    rng = np.random.default_rng(0)
    flag = pd.array(rng.choice([True, False, None], 200), dtype="boolean")
    frame = pd.DataFrame({"flag": flag, "x": rng.normal(size=200)})
    values = frame.astype(float).to_numpy()
    y = (np.nan_to_num(values[:, 0], nan=2.0) + values[:, 1] > 1).astype(int)
    for cls in (DecisionTreeClassifier, RandomForestClassifier):
        model = make(cls).fit(values, y)
        rules = extract_rules(model, frame)
        assert rules.schema["flag"].kind == "boolean"
        covered = rules.coverage(frame)
        for k, tree in enumerate(trees_of(model)):
            mine = np.flatnonzero(rules.provenance["tree"] == k)
            assert (covered[:, mine].sum(axis=1) == 1).all()
            fired = mine[covered[:, mine].argmax(axis=1)]
            leaf = tree.tree_.apply(values.astype(np.float32))
            assert (rules.provenance["leaf"][fired] == leaf).all()


def test_a_subclass_is_read_as_its_parent() -> None:
    class Mine(DecisionTreeClassifier):
        pass

    X, y = data(0)
    assert extract_rules(Mine(random_state=0).fit(X, y)) == extract_rules(
        DecisionTreeClassifier(random_state=0).fit(X, y)
    )


# ---------------------------------------------------------------------- what is refused
@pytest.mark.parametrize("cls", MODELS)
def test_an_unfitted_model(cls: type) -> None:
    with pytest.raises(ModelError, match=f"This {cls.__name__} is not fitted. Call fit"):
        extract_rules(cls())


@pytest.mark.parametrize("cls", MODELS)
def test_several_targets(cls: type) -> None:
    X, y = data(0)
    model = make(cls).fit(X, np.stack([y, 1 - y], axis=1))
    with pytest.raises(ModelError, match="predicts 2 targets at once"):
        extract_rules(model)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeRegressor(),
        RandomForestRegressor(n_estimators=3),
        IsolationForest(n_estimators=3),
        LogisticRegression(),
    ],
)
def test_unsupported_models_list_the_supported_ones(model: Any) -> None:
    X, y = data(0)
    model.fit(X, y)
    with pytest.raises(
        UnsupportedModelError,
        match=rf"sklearn\..*{type(model).__name__}.*Supported: .*sklearn\.DecisionTreeClassifier",
    ):
        extract_rules(model)


@pytest.mark.parametrize("model", [None, 3, DecisionTreeClassifier])
def test_things_that_are_no_models(model: object) -> None:
    with pytest.raises(UnsupportedModelError):
        extract_rules(model)


def test_tables_that_do_not_fit_the_model() -> None:
    X, y = data(0)
    model = DecisionTreeClassifier(random_state=0).fit(X, y)
    with pytest.raises(ModelError, match="fitted on 5 features, but 4 are given"):
        extract_rules(model, X[:, :4])
    named = DecisionTreeClassifier(random_state=0).fit(pd.DataFrame(X, columns=list("abcde")), y)
    with pytest.raises(ModelError, match="feature 'a' that is not among those given: A, b"):
        extract_rules(named, Schema.numeric(["A", "b", "c", "d", "e"]))
    with pytest.raises(ModelError, match="fitted on 5 features, but 4"):
        extract_rules(named, Schema.numeric(list("bcde")))
    text = Schema([Feature("a", "categorical", ("x",)), *Schema.numeric(list("bcde"))])
    with pytest.raises(ModelError, match="'a' is text"):
        extract_rules(named, text)


def test_shares_of_a_part_of_a_tree_are_refused() -> None:
    """Rows of the leaves left out once got the shares of the first rule."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    model = RandomForestClassifier(4, random_state=0).fit(X, X[:, 0] > X[:, 1])
    rules = extract_rules(model)
    trees = rules[np.flatnonzero(rules.provenance["tree"] < 2)]
    both = np.mean([t.predict_proba(X) for t in model.estimators_[:2]], axis=0)
    assert class_shares(trees, X) == pytest.approx(both)
    for ask in (class_shares, predict_rules):
        with pytest.raises(RuleError, match="Give all rules of each tree"):
            ask(rules[:5], X)
