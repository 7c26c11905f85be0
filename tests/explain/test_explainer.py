"""RuleExplainer: against a slow plain search, on hostile tables, and on odd models."""

import itertools
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import rulelens as rl
from rulelens.errors import ExplainError, ModelError, OptionError, TableError


def mixed_table(seed: int = 0, n: int = 80) -> pd.DataFrame:
    """Numbers, text, booleans and holes under awkward names."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a b": rng.normal(size=n).round(2),
            "größe.cm": np.where(rng.random(n) < 0.2, np.nan, rng.integers(0, 9, n)),
            "colour": rng.choice(np.array(["red", "blue", None], dtype=object), n),
            "ok": rng.random(n) < 0.5,
            "constant": 1.0,
            "all missing": np.full(n, np.nan),
        }
    )


def plain_model(X: pd.DataFrame) -> np.ndarray:
    """A fixed black box over `mixed_table`."""
    risk = (X["a b"] > 0).astype(int) + (X["colour"] == "red") + X["ok"].astype(int)
    return np.where(risk + (X["größe.cm"].fillna(5) > 4) >= 2, "yes", "no")


def brute_force(explainer: rl.RuleExplainer, X: pd.DataFrame, row: int) -> dict:
    """Every qualifying set of the row's own bins, from boolean masks and nothing else."""
    from rulelens.frames import read_table

    codes = explainer.binning_.codes(read_table(X, explainer.schema_))
    y = np.asarray(explainer.predict_labels(X), dtype=object)
    x, target = codes[row], y[row]
    have = [j for j in range(codes.shape[1]) if x[j] >= 0]
    found: dict[tuple[int, ...], tuple[int, int]] = {}
    longest = explainer.max_length if explainer.max_length != "auto" else len(have)
    for size in range(1, min(longest, len(have)) + 1):
        for s in itertools.combinations(have, size):
            covered = (codes[:, s] == x[list(s)]).all(axis=1)
            tp, fp = int((covered & (y == target)).sum()), int((covered & (y != target)).sum())
            confirmed = tp / (y == target).sum() - fp / (y != target).sum()
            if tp < explainer.min_support or tp < explainer.min_confidence * (tp + fp):
                continue
            if confirmed <= explainer.min_confirmation:
                continue
            if explainer.minimal and any(set(f) < set(s) for f in found):
                continue
            found[s] = (tp, fp)
    return found


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 10_000),
    length=st.integers(1, 6),
    support=st.integers(1, 4),
    confidence=st.sampled_from([1.0, 0.8, 0.5]),
    minimal=st.booleans(),
    bins=st.integers(2, 5),
)
def test_the_rules_are_those_of_a_plain_search(seed, length, support, confidence, minimal, bins):
    X = mixed_table(seed, 60)
    explainer = rl.RuleExplainer(
        plain_model,
        n_bins=bins,
        max_length=length,
        min_support=support,
        min_confidence=confidence,
        minimal=minimal,
    ).fit(X)
    if len(explainer.labels_.classes) < 2:
        return
    row = seed % len(X)
    e = explainer.explain(X.iloc[row])
    found = {
        tuple(np.flatnonzero(p)): (int(tp), int(fp))
        for p, tp, fp in zip(e.rules.presence, e.counts.tp, e.counts.fp, strict=True)
    }
    assert found == brute_force(explainer, X, row)
    assert {r.outcome for r in e.rules} <= {e.prediction}


def test_printed_rules_select_exactly_what_they_claim(covers_by_text):
    X = mixed_table(3, 200)
    explainer = rl.RuleExplainer(plain_model, max_length=4).fit(X)
    labels = np.array(explainer.predict_labels(X))
    checked = 0
    for row in range(60):
        e = explainer.explain(X.iloc[row])
        checked += len(e)
        for k, rule in enumerate(e.rules):
            covered = covers_by_text(rule.antecedent(), X)
            assert covered[row]
            assert np.array_equal(np.flatnonzero(covered), e.covered_rows(k))
            assert (labels[covered] == e.prediction).all()
            assert covered.sum() == e.counts.tp[k]
        assert (e.to_frame()["confidence"] == 1.0).all()
    assert checked > 50


def test_groups_hold_rules_that_cover_the_same_rows():
    X = mixed_table(5, 100)
    X["twin"] = X["a b"]
    e = rl.RuleExplainer(plain_model, max_length=3).fit(X).explain(X.iloc[0])
    rows = [tuple(e.covered_rows(k)) for k in range(len(e))]
    same = {}
    for k, r in enumerate(rows):
        same.setdefault(r, []).append(k)
    assert sorted(e.groups) == sorted(tuple(g) for g in same.values() if len(g) > 1)


def test_auto_length_deepens_until_there_are_enough_rules():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (400, 9)).astype(float)
    parity = lambda Z: (np.asarray(Z).sum(axis=1) % 2).astype(int)  # noqa: E731
    e = rl.RuleExplainer(parity).fit(X).explain(X[0])
    assert e.length > 3
    assert e.stop in ("enough", "exhausted")
    short = rl.RuleExplainer(parity, max_length=2).fit(X).explain(X[0])
    assert len(short) == 0
    assert "up to 2 conditions" in short.reason
    # The first relaxation is longer but has no exception; the others have, and say so.
    assert short.relaxed_counts.fp[0] == 0
    assert len(short.relaxed[0]) > 2
    assert (short.relaxed_counts.fp[1:] > 0).all()
    assert np.isfinite(short.relaxed_counts.measure("confidence")).all()


def test_a_row_that_shares_all_bins_with_another_decision_gets_relaxations_with_true_figures():
    X = pd.DataFrame({"a": [0.0, 0, 0, 0, 1, 1], "b": [0.0, 0, 0, 0, 0, 1]})
    answer = np.array(["x", "x", "x", "y", "y", "y"])
    calls = {"n": 0}

    def model(Z):
        calls["n"] += 1
        return answer if len(Z) == 6 else np.array(["x"])

    e = rl.RuleExplainer(model).fit(X).explain(X.iloc[0])
    assert len(e) == 0
    assert e.stop == "impossible"
    assert "1 training row falls" in e.reason
    assert list(e.relaxed_counts.tp) == [3, 3]
    assert list(e.relaxed_counts.fp) == [1, 2]
    with pytest.raises(ExplainError, match="nothing to rank"):
        e.session()


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "numpy"])
def test_every_kind_of_table_gives_the_same_explanation(kind):
    frame = mixed_table(1)[["a b", "größe.cm", "ok"]].assign(**{"größe.cm": 1.0})
    frame["ok"] = frame["ok"].astype(float)
    make = {
        "pandas": lambda f: f,
        "polars": pl.from_pandas,
        "pyarrow": pa.Table.from_pandas,
        "numpy": lambda f: f.to_numpy(),
    }[kind]

    def model(X):
        a = X[:, 0] if isinstance(X, np.ndarray) else np.asarray(X["a b"])
        return (a > 0.3).astype(int)

    X = make(frame)
    explainer = rl.RuleExplainer(model).fit(X)
    one = frame.iloc[0].to_numpy() if kind == "numpy" else frame.iloc[0].to_dict()
    e = explainer.explain(one)
    reference = rl.RuleExplainer(model).fit(frame).explain(frame.iloc[0])
    assert e.prediction == reference.prediction
    assert np.array_equal(e.counts.tp, reference.counts.tp)
    assert [len(m) for m in explainer.explain_many(X)] == [
        len(explainer.explain(r if kind != "numpy" else list(r.values())))
        for r in frame.to_dict("records")
    ]


def test_column_order_and_extra_columns_change_nothing():
    X = mixed_table(2)
    explainer = rl.RuleExplainer(plain_model).fit(X)
    row = X.iloc[[4]]
    e = explainer.explain(row)
    shuffled = row[list(reversed(X.columns))].assign(target="yes", extra=[3])
    assert explainer.explain(shuffled).to_dict() == e.to_dict()
    assert [x.to_dict() for x in explainer.explain_many(shuffled)] == [e.to_dict()]
    with pytest.raises(TableError, match="no value for 'ok'"):
        explainer.explain(row.drop(columns="ok"))


def test_a_scikit_learn_model_gets_its_columns_in_its_own_order():
    X = mixed_table(2)[["a b", "ok", "constant"]].assign(b=np.arange(80.0))
    y = (X["a b"] > 0).astype(int)
    model = DecisionTreeClassifier(random_state=0).fit(X[["b", "a b"]], y)
    explainer = rl.RuleExplainer(model).fit(X)
    assert explainer.schema_.names == ("b", "a b")
    e = explainer.explain(X.iloc[7])
    assert e.prediction == y[7]
    with pytest.raises(ModelError, match="a feature 'b' that the table lacks"):
        rl.RuleExplainer(model).fit(X.drop(columns="b"))


def test_models_fitted_with_and_without_names_are_asked_without_a_warning():
    X = mixed_table(2)[["a b", "constant"]]
    y = (X["a b"] > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nameless = KNeighborsClassifier().fit(X.to_numpy(), y)
        named = KNeighborsClassifier().fit(X, y)
        for model, table in itertools.product((nameless, named), (X, X.to_numpy())):
            e = (
                rl.RuleExplainer(model)
                .fit(table)
                .explain(table[0] if table is not X else X.iloc[0])
            )
            assert e.prediction == y[0]


def test_the_model_sees_an_unseen_level_and_the_explanation_says_that_no_rule_uses_it():
    X = mixed_table(6)
    X["colour"] = pd.Categorical(X["colour"])
    seen = []

    def model(Z):
        seen.append(Z["colour"].astype(object).iloc[0])
        return plain_model(Z.assign(colour=Z["colour"].astype(object)))

    explainer = rl.RuleExplainer(model).fit(X)
    row = X.astype({"colour": object}).iloc[0].to_dict() | {"colour": "vermilion"}
    e = explainer.explain(row)
    assert seen[-1] == "vermilion"
    assert any("'vermilion', which no training row has" in n for n in e.notes)
    assert all("colour" not in r.features for r in e.rules)


def test_many_rows_at_once_keep_unseen_levels_apart_from_missing_ones():
    """A row with an unseen level was once explained as if the value were missing."""
    X = mixed_table(6)
    explainer = rl.RuleExplainer(plain_model, minimal=False, max_length=3).fit(X)
    rows = X.iloc[:3].assign(colour=["vermilion", None, "red"])
    many = list(explainer.explain_many(rows))
    single = [explainer.explain(rows.iloc[i]) for i in range(3)]
    assert [e.to_dict() for e in many] == [e.to_dict() for e in single]
    assert many[0].row["colour"] == "vermilion"
    assert not any("colour" in r.features for r in many[0].rules)


def test_missing_values_are_items_where_training_had_them_and_noted_where_not():
    X = mixed_table(7)
    explainer = rl.RuleExplainer(plain_model, max_length=6, minimal=False).fit(X)
    row = X.iloc[0].to_dict() | {"größe.cm": None}
    assert any("größe.cm is missing" in str(r) for r in explainer.explain(row).rules)
    full = X.assign(**{"größe.cm": X["größe.cm"].fillna(0)})
    e = rl.RuleExplainer(plain_model).fit(full).explain(row)
    assert any("never was in training" in n for n in e.notes)


def test_constant_and_all_missing_columns_are_in_no_rule():
    X = mixed_table(8)
    explainer = rl.RuleExplainer(plain_model, minimal=False, max_length=3).fit(X)
    for i in range(5):
        used = {f for r in explainer.explain(X.iloc[i]).rules for f in r.features}
        assert used <= {"a b", "größe.cm", "colour", "ok"}


# ---------------------------------------------------------------------- bad input
def test_an_infinite_value_is_an_error_that_names_feature_and_row():
    X = mixed_table(9)
    X.loc[3, "a b"] = np.inf
    with pytest.raises(TableError, match="'a b' is infinite in 1 rows, the first of them row 3"):
        rl.RuleExplainer(plain_model).fit(X)
    explainer = rl.RuleExplainer(plain_model).fit(mixed_table(9))
    with pytest.raises(TableError, match="'a b' is infinite in this row"):
        explainer.explain(X.iloc[3])


def test_numbers_as_large_as_1e308_are_cut_like_others():
    X = pd.DataFrame(
        {
            "a": np.append(np.linspace(-8e307, 8e307, 38), [-1e308, 1e308]),
            "b": np.arange(40) * 5e-324,
        }
    )
    model = lambda Z: (Z["a"] > 0).astype(int).to_numpy()  # noqa: E731
    e = rl.RuleExplainer(model).fit(X).explain(X.iloc[0])
    assert len(e) >= 1
    assert (e.counts.fp == 0).all()
    assert np.array_equal(e.rules.coverage(X).sum(axis=0), e.counts.tp)


def test_numbers_outside_of_the_training_range_are_noted():
    X = mixed_table(1)
    explainer = rl.RuleExplainer(plain_model).fit(X)
    row = X.iloc[0].to_dict()
    assert not any("outside of" in n for n in explainer.explain(row).notes)
    assert any(
        "'a b' is 500.0, outside of" in n for n in explainer.explain(row | {"a b": 500.0}).notes
    )


def test_text_in_a_numeric_feature_is_named_before_the_model_sees_it():
    X = mixed_table(1)
    explainer = rl.RuleExplainer(plain_model).fit(X)
    with pytest.raises(TableError, match="'a b' is numeric, but the row has 'abc'"):
        explainer.explain(X.iloc[0].to_dict() | {"a b": "abc"})


def test_true_classes_may_be_given_and_are_not_used():
    X = mixed_table(1)
    first = rl.RuleExplainer(plain_model).fit(X, ["ignored"] * len(X)).explain(X.iloc[0])
    assert first.to_dict() == rl.RuleExplainer(plain_model).fit(X).explain(X.iloc[0]).to_dict()


def test_too_few_rows_and_one_class():
    X = mixed_table(1)
    with pytest.raises(TableError, match="At least 2 training rows are needed, found 1"):
        rl.RuleExplainer(plain_model).fit(X.iloc[:1])
    e = rl.RuleExplainer(lambda Z: ["same"] * len(Z)).fit(X).explain(X.iloc[0])
    assert len(e) == 0
    assert "gives every training row the class 'same'" in e.reason
    assert not len(e.relaxed)


def test_a_class_that_no_training_row_was_given():
    X = mixed_table(1)
    model = lambda Z: plain_model(Z) if len(Z) > 1 else ["never"]  # noqa: E731
    e = rl.RuleExplainer(model).fit(X).explain(X.iloc[0])
    assert e.prediction == "never"
    assert len(e) == 0
    assert "gave no training row the class 'never'" in e.reason
    assert e.to_frame().empty


def test_more_classes_in_the_model_than_in_the_rows():
    X = np.arange(40.0).reshape(-1, 1)
    model = LogisticRegression().fit(np.arange(60.0).reshape(-1, 1), np.repeat([0, 1, 2], 20))
    e = rl.RuleExplainer(model).fit(X).explain([2.0])
    assert e.prediction == 0
    assert set(e.classes) == {0, 1}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda Z: np.full(len(Z), 0.37), "which is no class label"),
        (lambda Z: np.zeros(len(Z) + 1), "for 80 rows"),
        (lambda Z: np.zeros((len(Z), 2)), "as predict_proba does"),
        (lambda Z: "yes", "Expected one a row"),
        (lambda Z: [None] * len(Z), "is missing in 80 rows"),
        (lambda Z: [object()] * len(Z), "Use text, numbers or booleans"),
    ],
)
def test_answers_that_are_no_labels_are_errors(answer, message):
    with pytest.raises(ModelError, match=message):
        rl.RuleExplainer(answer).fit(mixed_table(1))


def test_whole_floats_are_labels():
    X = mixed_table(1)
    e = rl.RuleExplainer(lambda Z: (Z["a b"] > 0).astype(float)).fit(X).explain(X.iloc[0])
    assert e.prediction in (0.0, 1.0)


def test_labels_of_two_kinds_are_refused():
    """1 and True are one key of a dictionary: half of the rows were lost from the counts."""
    answer = np.array([1, True] * 40, dtype=object)
    with pytest.raises(ModelError, match="booleans and numbers"):
        rl.RuleExplainer(lambda Z: answer[: len(Z)]).fit(mixed_table(1))


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA])
def test_the_model_gets_the_kind_of_missing_that_it_was_trained_with(missing):
    """A missing NaN reached the model as None in a column of objects, and changed its answer."""
    X = pd.DataFrame({"c": pd.Series(["a", "b", missing] * 20, dtype=object), "z": range(60)})
    model = lambda Z: [int(v is missing) for v in Z["c"]]  # noqa: E731
    for table in (X, X.to_numpy()):
        asked = model if table is X else (lambda Z: [int(v is missing) for v in Z[:, 0]])
        explainer = rl.RuleExplainer(asked).fit(table)
        one = X.iloc[2] if table is X else list(table[2])
        assert explainer.explain(one).prediction == 1
        assert explainer.explain(table[2:3]).prediction == 1
        assert next(explainer.explain_many(table[2:3])).prediction == 1


def test_a_single_row_has_the_precision_of_the_training_array():
    """float32 rows were asked about one by one as float64, and other answers came back."""
    X = np.repeat(np.array([[0.1], [0.2], [0.3]], dtype=np.float32), 10, axis=0)
    model = lambda A: A[:, 0] <= 0.1  # noqa: E731
    assert rl.RuleExplainer(model).fit(X).explain(X[0]).prediction == model(X[:1])[0]


def test_lists_of_mixed_rows_reach_the_model_as_they_are():
    rows = [[1, "a"], [float("nan"), "a"], [2, "b"], [3, "b"]] * 5
    model = lambda A: ["missing" if r[0] != r[0] else "there" for r in A]  # noqa: E731
    explainer = rl.RuleExplainer(model).fit(rows)
    assert [explainer.explain(r).prediction for r in rows[:3]] == ["there", "missing", "there"]


def test_a_model_that_changes_its_input_does_not_change_the_users():
    X = np.arange(20.0).reshape(-1, 1)

    def model(A):
        A[:] = 0
        return np.arange(len(A)) % 2

    rl.RuleExplainer(model).fit(X)
    assert np.array_equal(X[:, 0], np.arange(20.0))


def test_decimals_are_numbers():
    from decimal import Decimal

    X = pd.DataFrame({"a": [Decimal(i) for i in range(20)]})
    e = rl.RuleExplainer(lambda Z: [int(v > 9) for v in Z["a"]]).fit(X).explain(X.iloc[0])
    assert e.row == {"a": 0.0}
    e.to_dict()


def test_an_unfitted_model_and_things_that_are_no_model():
    X = mixed_table(1)[["a b"]]
    with pytest.raises(ModelError, match="not fitted") as info:
        rl.RuleExplainer(LogisticRegression()).fit(X)
    assert isinstance(info.value.__cause__, NotFittedError)
    with pytest.raises(ModelError, match="has no predict and is not callable"):
        rl.RuleExplainer("model").fit(X)
    with pytest.raises(ExplainError, match="Call fit"):
        rl.RuleExplainer(plain_model).explain(X.iloc[0])


def test_an_error_of_the_model_itself_passes_through_with_a_note():
    def broken(Z):
        raise ValueError("inside the model")

    with pytest.raises(ValueError, match="inside the model") as info:
        rl.RuleExplainer(broken).fit(mixed_table(1))
    assert "came from the model itself" in info.value.__notes__[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_bins": 1}, "n_bins"),
        ({"n_bins": 2.5}, "n_bins"),
        ({"max_length": 0}, "max_length"),
        ({"max_length": "long"}, "max_length"),
        ({"min_support": 0}, "min_support"),
        ({"min_support": 0.1}, "For a share, multiply"),
        ({"min_confidence": 1.2}, "min_confidence"),
        ({"min_confirmation": 1.0}, "min_confirmation"),
        ({"time_budget": 0}, "time_budget"),
    ],
)
def test_options_outside_their_range(options, message):
    with pytest.raises(OptionError, match=message):
        rl.RuleExplainer(plain_model, **options).fit(mixed_table(1))


def test_nothing_that_was_given_is_changed():
    X = mixed_table(1)
    before = X.copy(deep=True)
    explainer = rl.RuleExplainer(plain_model).fit(X)
    row = X.iloc[0].to_dict()
    kept = dict(row)
    explainer.explain(row)
    pd.testing.assert_frame_equal(X, before)
    assert list(row) == list(kept)


def test_fidelity_counts_agreement_on_other_rows():
    X, other = mixed_table(1), mixed_table(99)
    explainer = rl.RuleExplainer(plain_model).fit(X)
    e = explainer.explain(X.iloc[0])
    table = explainer.fidelity(e.rules, other)
    covered = e.rules.coverage(other)
    agree = covered & (plain_model(other) == e.prediction)[:, None]
    assert np.array_equal(table["covered"], covered.sum(axis=0))
    assert np.array_equal(table["agree"], agree.sum(axis=0))


def test_rows_equal_what_the_model_says_in_a_batch():
    X = mixed_table(11)
    explainer = rl.RuleExplainer(plain_model).fit(X)
    singly = [explainer.explain(X.iloc[i]).prediction for i in range(len(X))]
    assert singly == plain_model(X).tolist()
