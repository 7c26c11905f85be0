"""Pipelines: rules in the terms of the original columns, exact to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_selection import SelectKBest
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier
from source_tables import edge_rows, mixed, numbers

from rulelens.errors import ModelError, UnsupportedModelError
from rulelens.sources.extract import extract_rules
from rulelens.sources.predictions import class_shares, predict_rules, raw_scores

NAMES = ["a", "b c", "ü", "d", "e"]


def frame_of(X: Any) -> pd.DataFrame:
    return pd.DataFrame(X, columns=NAMES)


def table(seed: int, missing: float = 0.1) -> tuple[pd.DataFrame, Any]:
    """Text as plain objects, as encoders see it."""
    X, y = mixed(seed, missing=missing)
    X["colour"] = X["colour"].astype(object).where(X["colour"].notna(), None)
    X["grade"] = X["grade"].astype(float)
    X["flag"] = X["a b"].fillna(0) > 0.4
    return X, y


@pytest.mark.parametrize(
    "scaler",
    [
        StandardScaler(),
        StandardScaler(with_mean=False),
        MinMaxScaler(),
        MinMaxScaler((-3, 7), clip=True),
        MaxAbsScaler(),
        RobustScaler(),
        KBinsDiscretizer(5, encode="ordinal", strategy="uniform"),
        make_pipeline(MinMaxScaler(), StandardScaler(), RobustScaler()),
        FunctionTransformer(),
        "passthrough",
    ],
    ids=lambda s: str(s).split("(")[0],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_scalers_are_undone_to_the_last_bit(scaler: Any, seed: int) -> None:
    """The restored ends are those at which the scaler's rounded result crosses the threshold."""
    X, y = numbers(seed)
    frame = frame_of(X)
    model = make_pipeline(scaler, RandomForestClassifier(3, random_state=0)).fit(frame, y)
    rules = extract_rules(model, frame)
    assert rules.schema.names == tuple(NAMES)
    rows = edge_rows(rules, frame)
    assert (class_shares(rules, rows) == model.predict_proba(rows)).all()
    inner = np.asarray(model[:-1].transform(rows))
    leaves = np.array([t.apply(inner) for t in model[-1].estimators_])
    covered = rules.coverage(rows)
    for t, leaf in enumerate(leaves):
        mine = np.flatnonzero(rules.provenance["tree"] == t)
        assert (covered[:, mine].sum(axis=1) == 1).all()
        assert (rules.provenance["leaf"][mine[covered[:, mine].argmax(axis=1)]] == leaf).all()


def encoders(onehot: Any) -> ColumnTransformer:
    return ColumnTransformer(
        [
            ("scaled", make_pipeline(SimpleImputer(), StandardScaler()), ["a b", "tiny"]),
            ("text", onehot, ["colour"]),
            (
                "code",
                OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
                ["grade"],
            ),
            ("out", "drop", ["steps"]),
        ],
        remainder="passthrough",
        sparse_threshold=0,
    )


@pytest.mark.parametrize(
    "onehot",
    [
        OneHotEncoder(handle_unknown="ignore"),
        OneHotEncoder(drop="first"),
        OneHotEncoder(sparse_output=False, handle_unknown="ignore"),
        make_pipeline(
            SimpleImputer(strategy="constant", fill_value="none", missing_values=None),
            OneHotEncoder(handle_unknown="ignore"),
        ),
        make_pipeline(OneHotEncoder(handle_unknown="ignore"), StandardScaler(with_mean=False)),
    ],
    ids=["ignore", "drop", "dense", "imputed", "scaled"],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_column_transformers(onehot: Any, seed: int) -> None:
    X, y = table(seed)
    for final in (
        RandomForestClassifier(5, max_depth=7, random_state=0),
        HistGradientBoostingClassifier(max_iter=5),
    ):
        model = Pipeline([("prepare", encoders(onehot)), ("model", final)]).fit(X, y)
        rules = extract_rules(model, X)
        assert rules.schema["colour"].kind == "categorical"
        assert rules.schema["grade"].kind == "categorical"
        rows = edge_rows(rules, X)
        if isinstance(final, RandomForestClassifier):
            assert (class_shares(rules, rows) == model.predict_proba(rows)).all()
        else:
            assert raw_scores(rules, rows) == pytest.approx(model.decision_function(rows), abs=1e-9)
        assert (predict_rules(rules, rows) == model.predict(rows)).all()


def test_levels_and_values_never_seen() -> None:
    X, y = table(2)
    model = make_pipeline(
        encoders(OneHotEncoder(handle_unknown="ignore")), RandomForestClassifier(5, random_state=0)
    ).fit(X, y)
    rules = extract_rules(model, X)
    new = X.copy()
    new.loc[::3, "colour"] = "purple"
    new.loc[::4, "grade"] = 77.0
    assert (class_shares(rules, new) == model.predict_proba(new)).all()


def test_missing_values_that_reach_the_model() -> None:
    X, y = table(3)
    steps = ColumnTransformer(
        [
            ("scaled", StandardScaler(), make_column_selector(dtype_include=float)),
            ("code", OrdinalEncoder(), ["colour"]),
        ]
    )
    model = make_pipeline(steps, HistGradientBoostingClassifier(max_iter=5)).fit(X, y)
    rules = extract_rules(model, X)
    assert raw_scores(rules, X) == pytest.approx(model.decision_function(X), abs=1e-9)


def test_without_a_table() -> None:
    X, y = table(4)
    model = make_pipeline(encoders(OneHotEncoder()), DecisionTreeClassifier(random_state=0)).fit(
        X, y
    )
    rules = extract_rules(model)
    assert [f.kind for f in rules.schema].count("categorical") == 2
    assert (predict_rules(rules, X) == model.predict(X)).all()


def test_selections_unions_and_columns_by_position() -> None:
    X, y = numbers(5)
    steps = FeatureUnion([("a", StandardScaler()), ("b", SelectKBest(k=2))])
    pick = ColumnTransformer(
        [("few", "passthrough", [0, 3, 4]), ("rest", MinMaxScaler(), slice(1, 3))]
    )
    model = make_pipeline(pick, steps, SelectKBest(k=5), DecisionTreeClassifier(random_state=0))
    model.fit(X, y)
    rules = extract_rules(model)
    assert (predict_rules(rules, X) == model.predict(X)).all()


def test_columns_named_by_a_selector_and_boolean_columns() -> None:
    X, y = table(6, missing=0.0)
    steps = ColumnTransformer(
        [
            ("n", MinMaxScaler(), make_column_selector(dtype_include=float)),
            ("b", OneHotEncoder(drop="if_binary"), ["flag"]),
        ]
    ).set_output(transform="default")
    model = make_pipeline(steps, RandomForestClassifier(4, random_state=0)).fit(X, y)
    rules = extract_rules(model, X)
    assert rules.schema["flag"].kind == "boolean"
    assert (class_shares(rules, X) == model.predict_proba(X)).all()


def test_pandas_output_between_the_steps() -> None:
    X, y = numbers(7)
    model = make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0))
    model.set_output(transform="pandas").fit(frame_of(X), y)
    rules = extract_rules(model, frame_of(X))
    assert (predict_rules(rules, frame_of(X)) == model.predict(frame_of(X))).all()


def test_a_search() -> None:
    X, y = numbers(8)
    model = make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0))
    search = GridSearchCV(model, {"decisiontreeclassifier__max_depth": [2, 4]}, cv=2).fit(X, y)
    assert (predict_rules(extract_rules(search), X) == search.predict(X)).all()
    assert extract_rules(search) == extract_rules(search.best_estimator_)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (PowerTransformer(), "The step PowerTransformer cannot be undone exactly.*StandardScaler"),
        (FunctionTransformer(np.sqrt), "unless it has no function"),
        (KBinsDiscretizer(3, strategy="uniform"), "encode='onehot'"),
        (SimpleImputer(missing_values=-1), "takes -1 for missing"),
        (MissingIndicator(missing_values=-1, features="all"), "takes -1 for missing"),
        (make_pipeline(StandardScaler(), OrdinalEncoder()), "encoder that follows a scaler"),
    ],
)
def test_steps_that_cannot_be_undone(step: Any, message: str) -> None:
    X, y = numbers(0)
    X = np.abs(X).round(0)
    if isinstance(step, SimpleImputer):
        X[0, 0] = -1
    model = make_pipeline(step, DecisionTreeClassifier()).fit(X, y)
    with pytest.raises(UnsupportedModelError, match=message):
        extract_rules(model)


def test_what_else_is_refused() -> None:
    X, y = numbers(0)
    with pytest.raises(ModelError, match="is not fitted"):
        extract_rules(make_pipeline(StandardScaler(), DecisionTreeClassifier()))
    with pytest.raises(UnsupportedModelError, match="LogisticRegression"):
        extract_rules(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y))
    with pytest.raises(UnsupportedModelError, match="no model at its end"):
        extract_rules(make_pipeline(StandardScaler()).fit(X))
    model = make_pipeline(StandardScaler(), DecisionTreeClassifier()).fit(frame_of(X), y)
    with pytest.raises(ModelError, match="feature 'a' that is not among"):
        extract_rules(model, frame_of(X).rename(columns={"a": "A"}))
    bare = make_pipeline(StandardScaler(), DecisionTreeClassifier()).fit(X, y)
    with pytest.raises(ModelError, match="fitted on 5 features, but 2 are given"):
        extract_rules(bare, X[:, :2])
    assert extract_rules(model, frame_of(X).assign(more=1)) == extract_rules(model)


def test_rules_without_any_condition() -> None:
    """Pins a ValueError at a tree that has but one leaf."""
    X, y = numbers(0)
    model = make_pipeline(StandardScaler(), DecisionTreeClassifier(min_samples_leaf=200)).fit(X, y)
    rules = extract_rules(model)
    assert len(rules) == 1
    assert (predict_rules(rules, X) == model.predict(X)).all()


def joined_table(seed: int) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    n = 400
    frame = pd.DataFrame(
        {
            "x": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
            "word": rng.choice(["a", "b", "", "d", "e"], n, p=[0.4, 0.3, 0.1, 0.1, 0.1]),
            "hole": pd.Series(
                rng.choice(["p", "q", "r", None], n, p=[0.5, 0.2, 0.1, 0.2]), dtype="str"
            ),
        }
    )
    score = frame["x"].fillna(2) + (frame["word"] == "d") + 2 * (frame["hole"] == "r")
    return frame, (score + frame["hole"].isna() > 1).astype(int)


def with_new_levels(rows: pd.DataFrame) -> pd.DataFrame:
    new = {
        name: rows[name].mask(rows.index % k == 0, "new") for name, k in (("word", 5), ("hole", 7))
    }
    return rows.assign(**new)


@pytest.mark.parametrize(
    "encoder",
    [
        *(
            OneHotEncoder(handle_unknown=unknown, drop=drop, **rare)
            for unknown in ("infrequent_if_exist", "ignore")
            for drop in (None, "first", "if_binary", ["a", "p"])
            for rare in ({"min_frequency": 100}, {"max_categories": 2}, {"max_categories": 3})
        ),
        OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=399),
        *(
            OrdinalEncoder(
                handle_unknown="use_encoded_value",
                unknown_value=unknown,
                encoded_missing_value=-5,
                **rare,
            )
            for unknown in (-1, np.nan)
            for rare in ({"min_frequency": 100}, {"max_categories": 2}, {"min_frequency": 399})
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:Found unknown categories")
def test_rare_levels_that_an_encoder_joins(encoder: Any) -> None:
    X, y = joined_table(0)
    columns = ColumnTransformer([("x", SimpleImputer(), ["x"]), ("t", encoder, ["word", "hole"])])
    model = make_pipeline(columns, RandomForestClassifier(4, random_state=0)).fit(X, y)
    rules = extract_rules(model, X)
    for rows in (X, with_new_levels(edge_rows(rules, X, n=400))):
        assert (predict_rules(rules, rows) == model.predict(rows)).all()


@pytest.mark.parametrize("step", ["imputer", "indicator", "scaled", "words", "binary"])
def test_indicators(step: str) -> None:
    X, y = joined_table(1)
    chosen: Any = {
        "imputer": (SimpleImputer(add_indicator=True), ["x"]),
        "indicator": (MissingIndicator(), ["x"]),
        "scaled": (make_pipeline(StandardScaler(), SimpleImputer(add_indicator=True)), ["x"]),
        "words": (MissingIndicator(), ["hole"]),
        "binary": (make_pipeline(SimpleImputer(), Binarizer(threshold=0.1)), ["x"]),
    }[step]
    onehot = OneHotEncoder(handle_unknown="ignore")
    columns = ColumnTransformer([("i", *chosen), ("t", onehot, ["word"])])
    model = make_pipeline(columns, RandomForestClassifier(4, random_state=0)).fit(X, y)
    rules = extract_rules(model, X)
    for rows in (X, with_new_levels(edge_rows(rules, X, n=400))):
        assert (predict_rules(rules, rows) == model.predict(rows)).all()
