"""The best rule of each row: brute force, exact search and the table agree; explanations."""

import copy
import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split

from rulelens.errors import OptionError, RulelensWarning, TableError
from rulelens.personal.fast_pic import FastPIC
from rulelens.personal.pic import PIC
from rulelens.preference.profile import Profile
from rulelens.preference.session import PreferenceSession


@st.composite
def problems(draw):
    """A categorical table with gaps, labels, and new rows with levels never seen."""
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    d, n = draw(st.integers(1, 5)), draw(st.integers(2, 60))
    levels = np.array(["a", "b", "c", "d", None], dtype=object)
    X = pd.DataFrame({f"f{j}": levels[rng.integers(0, 5, n)] for j in range(d)})
    y = np.where(rng.random(n) < 0.7, X["f0"].isin(["a", "b"]), rng.random(n) < 0.5).astype(int)
    y = np.array(["no", "yes", "so"])[y + (rng.random(n) < 0.2)]
    if draw(st.booleans()):
        y[:] = np.where(y == "so", "no", y)
    levels[3] = "unseen"
    new = pd.DataFrame({f"f{j}": levels[rng.integers(0, 5, 8)] for j in range(d)})
    for name in X:
        if X[name].isna().all():
            X.loc[0, name] = "a"
    X, new = X.astype("str"), new.astype("str")
    return X, y, pd.concat([X.iloc[:5], new], ignore_index=True)


options = st.fixed_dictionaries(
    {
        "max_length": st.integers(1, 4),
        "alpha": st.sampled_from([0.0, 0.5, 0.9, 1.0]),
        "min_count": st.sampled_from([1, 3]),
        "class_weight": st.sampled_from([None, "balanced", {"yes": 3.0}]),
    }
)


def brute(X, y, row, classes, *, max_length, alpha, min_count, class_weight):
    """(key, features, class, precision) of the best class of every set of items, best first."""
    totals = np.array([(y == c).sum() for c in classes])
    w = np.ones(len(classes))
    if class_weight == "balanced":
        w = totals.sum() / (len(classes) * np.maximum(totals, 1e-300))
    elif class_weight:
        w = np.array([class_weight.get(c, 1.0) for c in classes])
    have = [
        j
        for j, name in enumerate(X)
        if isinstance(row[name], str)
        and row[name] in set(X[name].dropna())
        and (X[name].nunique() > 1 or X[name].isna().any())
    ]
    found, order = [], 0
    for size in range(1, max_length + 1):
        for combo in itertools.combinations(have, size):
            order += 1
            inside = np.ones(len(X), dtype=bool)
            for j in combo:
                inside &= (X.iloc[:, j] == row.iloc[j]).to_numpy()
            counts = np.array([(inside & (y == c)).sum() for c in classes])
            weighted = counts * w
            of_set = []
            for c in range(len(classes)):
                if counts[c] >= min_count:
                    p = weighted[c] / weighted.sum()
                    a = alpha * p + (1 - alpha) * (counts[c] / totals[c])
                    of_set.append(((a, -size, counts[c], -order, -c), combo, classes[c], p))
            if of_set:
                found.append(max(of_set))
    return sorted(found, reverse=True)


def without_needless(found):
    """Rules of which no earlier one with the same class is a part and no less precise."""
    kept = []
    for rule in found:
        _, combo, outcome, precision = rule
        if not any(set(k[1]) < set(combo) and k[2] == outcome and k[3] >= precision for k in kept):
            kept.append(rule)
    return kept


def chosen(result, k):
    names = list(result.rules.schema.names)
    rule = result.rules[int(result.index[k])]
    return tuple(names.index(f) for f in rule.features), rule.outcome


@settings(deadline=None, max_examples=60)
@given(problems(), options)
def test_rules_are_the_best_by_definition(problem, chosen_options):
    X, y, new = problem
    classes = sorted(set(y))
    fast = FastPIC(**chosen_options).fit(X, y)
    result = fast.explain(new)
    for k in range(len(new)):
        best = next(iter(brute(X, y, new.iloc[k], classes, **chosen_options)), None)
        if best is None:
            assert result.is_fallback[k]
            assert len(result.rules[int(result.index[k])]) == 0
        else:
            assert chosen(result, k) == best[1:3]
            assert result.score[k] == pytest.approx(best[0][0], rel=1e-12)


@settings(deadline=None, max_examples=30)
@given(problems(), options, st.integers(1, 6))
def test_runners_up_by_definition(problem, chosen_options, runners_up):
    X, y, new = problem
    model = FastPIC(**chosen_options).fit(X, y)
    result = model.explain(new.iloc[:5], runners_up=runners_up)
    for k in range(5):
        expected = without_needless(brute(X, y, new.iloc[k], sorted(set(y)), **chosen_options))
        entries = np.flatnonzero(result.row == k)
        if not expected:
            assert result.is_fallback[entries].tolist() == [True]
            continue
        assert result.rank[entries].tolist() == list(range(len(entries)))
        assert [chosen(result, e) for e in entries] == [r[1:3] for r in expected[: runners_up + 1]]


@settings(deadline=None, max_examples=60)
@given(problems(), options, st.integers(0, 4))
def test_exact_search_sparse_and_dense_tables_agree(problem, chosen_options, runners_up):
    X, y, new = problem
    models = [
        PIC(**chosen_options),
        FastPIC(**chosen_options),
        FastPIC(storage="sparse", **chosen_options),
    ]
    results = [m.fit(X, y).explain(new, runners_up=runners_up) for m in models]
    for r in results[1:]:
        assert r.rules == results[0].rules
        for name in ("row", "rank", "index", "tp", "fp", "fn", "tn"):
            assert getattr(r, name).tolist() == getattr(results[0], name).tolist()
        np.testing.assert_array_equal(r.score, results[0].score)
    np.testing.assert_array_equal(models[0].predict(new), models[1].predict(new))
    np.testing.assert_allclose(models[0].predict_proba(new), models[1].predict_proba(new))


@settings(deadline=None, max_examples=30)
@given(problems(), st.integers(1, 3))
def test_weights_are_repeats(problem, length):
    X, y, new = problem
    w = np.arange(len(y)) % 3
    if not w.any() or len(set(y[w > 0])) < 1:
        return
    again = np.repeat(np.arange(len(y)), w)
    repeated = FastPIC(length).fit(X.iloc[again].reset_index(drop=True), y[again])
    for model in (FastPIC(length), PIC(length), PIC(length, search="greedy")):
        if isinstance(model, PIC) and model.search == "greedy":
            repeated = PIC(length, search="greedy").fit(
                X.iloc[again].reset_index(drop=True), y[again]
            )
        weighted = model.fit(X, y, sample_weight=w)
        np.testing.assert_array_equal(weighted.predict(new), repeated.predict(new))
        np.testing.assert_allclose(weighted.predict_proba(new), repeated.predict_proba(new))


@settings(deadline=None, max_examples=30)
@given(problems(), options)
def test_the_counts_of_explanations_are_true(problem, chosen_options):
    X, y, new = problem
    for model in (FastPIC(**chosen_options), PIC(search="greedy", **chosen_options)):
        result = model.fit(X, y).explain(new, runners_up=1)
        counts = result.rules.contingency(X, y)
        for name in ("tp", "fp", "fn", "tn"):
            assert getattr(result, name).tolist() == getattr(counts, name)[result.index].tolist()
        covered = result.rules.coverage(new)
        assert covered[result.row, result.index].all()
        outcome = np.array(result.rules.outcomes)[result.rules.outcome][result.best]
        assert outcome.tolist() == model.predict(new).tolist()


@settings(deadline=None, max_examples=40)
@given(problems(), options)
def test_greedy_is_never_better_than_exact(problem, chosen_options):
    X, y, new = problem
    exact = PIC(**chosen_options).fit(X, y).explain(new)
    greedy = PIC(search="greedy", **chosen_options).fit(X, y).explain(new)
    both = ~exact.is_fallback
    assert (greedy.is_fallback == exact.is_fallback).all()
    assert (greedy.score[both] <= exact.score[both]).all()
    one = PIC(search="greedy", **chosen_options | {"max_length": 1}).fit(X, y).explain(new)
    assert (one.score[both] <= greedy.score[both]).all()


# ---------------------------------------------------------------------- growing and forgetting
@settings(deadline=None, max_examples=40)
@given(problems(), options, st.integers(1, 30), st.sampled_from(["dense", "sparse"]))
def test_forgetting_is_as_if_never_seen(problem, chosen_options, cut, storage):
    X, y, new = problem
    cut = min(cut, len(y) - 1)
    # Both halves have all levels and classes, so that the bins are the same.
    X2, y2 = pd.concat([X, X], ignore_index=True), np.concatenate([y, y])
    n = len(y)
    options_ = chosen_options | {"storage": storage}
    less = FastPIC(**options_).fit(X2.iloc[: n + cut], y2[: n + cut])
    more = FastPIC(**options_).fit(X2, y2).forget(X2.iloc[n + cut :], y2[n + cut :])
    assert more.explain(new).to_dict() == less.explain(new).to_dict()
    grown = FastPIC(**options_).fit(X, y).partial_fit(X2.iloc[n : n + cut], y2[n : n + cut])
    assert grown.explain(new).to_dict() == less.explain(new).to_dict()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_forgetting_is_exact_with_any_weights(storage, seed):
    """Sums of weights such as 0.1 kept a rest of rounding, which reordered equal rules."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({f"f{j}": rng.choice(list("abc"), 60) for j in range(4)})
    y = rng.choice(["u", "v"], 60)
    w = rng.integers(1, 4, 60) * 0.1 if seed % 2 == 0 else rng.random(60)
    model = FastPIC(3, storage=storage).fit(X, y, sample_weight=w)
    model.forget(X[:20], y[:20], sample_weight=w[:20])
    without = FastPIC(3, storage=storage).fit(X[20:], y[20:], sample_weight=w[20:])
    exact = PIC(3).fit(X[20:], y[20:], sample_weight=w[20:])
    frame = model.explain(X, runners_up=3).to_frame()
    pd.testing.assert_frame_equal(frame, without.explain(X, runners_up=3).to_frame(), rtol=0)
    pd.testing.assert_frame_equal(frame, exact.explain(X, runners_up=3).to_frame(), rtol=0)


def test_nothing_is_predicted_once_all_rows_are_forgotten():
    """The first class was given, as if it had been the most frequent one."""
    X, y = pd.DataFrame({"c": ["a", "b"]}), ["no", "yes"]
    model = FastPIC(1).fit(X, y).forget(X, y)
    for ask in (model.predict, model.predict_proba, model.explain):
        with pytest.raises(TableError, match="partial_fit"):
            ask(X)
    assert model.partial_fit(X, y).predict(X).tolist() == y


def test_merge_adds_the_parts():
    X, y = load_iris(return_X_y=True, as_frame=True)
    whole = FastPIC(2).fit(X, y)
    a, b = (
        copy.deepcopy(whole).forget(X[::2], y[::2]),
        copy.deepcopy(whole).forget(X[1::2], y[1::2]),
    )
    assert a.merge(b).explain(X).to_dict() == whole.explain(X).to_dict()
    with pytest.raises(TableError, match="other features, bins or classes"):
        a.merge(FastPIC(2).fit(X[:120], y[:120]))


def test_forgetting_what_was_not_there():
    X, y = load_iris(return_X_y=True)
    model = FastPIC(1).fit(X[:100], y[:100])
    with pytest.raises(TableError, match="never counted"):
        model.forget(X[:3], 1 - y[:3])
    with pytest.raises(TableError, match="class 2 was not among"):
        model.partial_fit(X[100:], y[100:])
    ready = FastPIC(1).partial_fit(X[:100], y[:100], classes=[0, 1, 2])
    assert ready.partial_fit(X[100:], y[100:]).classes_.tolist() == [0, 1, 2]
    with pytest.raises(TableError, match="not in classes"):
        FastPIC(1).partial_fit(X, y, classes=[0, 1])


def test_new_levels_in_later_rows_are_told():
    X = pd.DataFrame({"c": ["a", "b", "a"], "x": [1.0, 2.0, 3.0]})
    model = FastPIC(1).fit(X, [0, 1, 0])
    later = pd.DataFrame({"c": ["new"], "x": [9.0]})
    with pytest.warns(RulelensWarning, match="in c. Fit anew"):
        model.partial_fit(later, [1])
    assert model.class_counts_.tolist() == [2, 2]


# ---------------------------------------------------------------------- sizes
def test_too_large_a_table_is_refused_and_exact_search_answers():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (100, 200)).astype(float)
    y = (X[:, 0] > 2).astype(int)
    with pytest.raises(OptionError, match=r"would take up to [\d,.]+ TiB.*PIC\(search='exact'\)"):
        FastPIC(4, n_bins=5, storage="dense").fit(X, y)
    # Once it was "memory_limit is 0.0 GiB".
    with pytest.raises(OptionError, match=r"memory_limit is 1\.00 MiB"):
        FastPIC(4, n_bins=5, storage="dense", memory_limit=2**20).fit(X, y)
    with pytest.raises(OptionError, match="memory_limit"):
        FastPIC(4, n_bins=5).fit(X, y)
    model = PIC(4, n_bins=5).fit(X, y)
    result = model.explain(X[:2])
    assert (result.precision == 1).all()
    assert (result.rules.lengths <= 4).all()


def test_sparse_is_taken_where_dense_does_not_fit():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"f{j}": rng.integers(0, 40, 200).astype(str) for j in range(6)})
    y = rng.integers(0, 2, 200)
    small = FastPIC(3, memory_limit=8 << 20).fit(X, y)
    large = FastPIC(3).fit(X, y)
    assert any(k is not None for k in small.cube_.keys)
    assert all(k is None for k in large.cube_.keys)
    assert small.explain(X).to_dict() == large.explain(X).to_dict()


# ---------------------------------------------------------------------- tables of every kind
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_mixed_tables_and_text_labels(make):
    data = {
        "age": [20.0, 30.0, None, 50.0, 60.0, 70.0],
        "city": ["b", "a", "a", None, "b", "b"],
        "smoker": [True, False, True, True, False, None],
    }
    X = make(data)
    y = ["well", "well", "ill", "ill", "ill", "well"]
    for model in (PIC(2), FastPIC(2), PIC(2, search="greedy")):
        model.fit(X, y)
        assert model.classes_.tolist() == ["ill", "well"]
        assert model.feature_names_in_.tolist() == ["age", "city", "smoker"]
        frame = model.explain(X, runners_up=2).to_frame()
        assert (frame["rank"] == 0).sum() == 6
        assert frame["reason"].eq("").all()
        assert np.allclose(model.predict_proba(X).sum(axis=1), 1)


def test_criteria_of_a_rows_rules():
    X = pd.DataFrame({"precision": ["a", "b", "a", "b"], "c": ["p", "p", "q", "q"]})
    result = FastPIC(2).fit(X, ["no", "yes", "no", "no"]).explain(X, runners_up=5)
    criteria = result.criteria(1)
    assert list(criteria.columns) == [
        "precision",
        "c",
        "precision of the rule",
        "recall",
        "brevity",
    ]
    mine = [result.rules[int(i)] for i in result.index[result.row == 1]]
    assert list(criteria.index) == [str(r) for r in mine if r.outcome == mine[0].outcome]
    assert list(result.criteria(1, every_outcome=True).index) == [str(r) for r in mine]
    assert criteria.index[0] == str(result.rules[int(result.best[1])])
    assert ((criteria >= 0) & (criteria <= 1)).all().all()
    first = criteria.iloc[0]
    assert first["brevity"] == 1 - first[["precision", "c"]].sum() / 2
    with pytest.raises(OptionError, match="no row 9"):
        result.criteria(9)


def test_a_criterion_means_the_same_for_every_row():
    """A figure was renamed only where a rule of the row used a feature of the same name."""
    X = pd.DataFrame({"recall": ["a", "b"] * 20, "c": ["p"] * 20 + ["q"] * 20})
    y = np.where(X["c"] == "p", "no", np.where(X["recall"] == "a", "yes", "no"))
    result = FastPIC(1).fit(X, y).explain(X)
    columns = [set(result.criteria(row).columns) for row in range(len(X))]
    assert {"recall"} in [c & {"recall"} for c in columns]
    assert {"recall of the rule"} == set.intersection(*columns) - {"precision", "brevity"}


def test_rules_that_suit_a_person_better_come_first(tmp_path):
    """What was said about one row's rules ranks those of the next, also from a saved profile."""
    data = load_wine(as_frame=True)
    model = FastPIC(max_length=2).fit(data.data, data.target)
    few = model.explain(data.data.iloc[[0, 100]], runners_up=10)
    first, second = few.criteria(0), few.criteria(1)
    session = PreferenceSession(first)
    own, wanted = first.index[0], next(r for r in first.index if "proline" in r)
    session.prefer(wanted, own)
    ranking = session.result().ranking
    assert ranking.index(wanted) < ranking.index(own)
    profile = Profile(name="Ada").remember(session, "row 0")
    profile.save(tmp_path / "ada.json")
    known = Profile.load(tmp_path / "ada.json").session(second).result()
    assert known.ranking == profile.session(second).result().ranking
    assert sorted(known.ranking) == sorted(second.index)
    # What she liked is a rule on proline: here, too, and although another is more accurate.
    assert "proline" in known.ranking[0]
    assert "proline" not in second.index[0]


@pytest.mark.parametrize(
    ("method", "ensemble"), [("sigmoid", True), ("sigmoid", False), ("isotonic", True)]
)
def test_probabilities_can_be_calibrated(method, ensemble):
    data = load_breast_cancer(as_frame=True)
    X, new, y, truth = train_test_split(
        data.data, np.array(["bad", "good"])[data.target], random_state=0
    )
    plain = FastPIC(max_length=2).fit(X, y)
    model = CalibratedClassifierCV(FastPIC(max_length=2), method=method, ensemble=ensemble)
    model.fit(X, y)
    shares = model.predict_proba(new)
    assert shares.shape == (len(new), 2)
    assert np.allclose(shares.sum(axis=1), 1)
    assert log_loss(truth, shares) < log_loss(truth, plain.predict_proba(new))
    assert np.mean(model.predict(new) == truth) >= np.mean(plain.predict(new) == truth) - 0.02


def test_a_row_without_any_known_item_says_so():
    X = pd.DataFrame({"c": ["a", "a", "b"], "d": ["p", "q", "q"]})
    model = FastPIC().fit(X, ["no", "no", "yes"])
    for m in (model, PIC().fit(X, ["no", "no", "yes"])):
        result = m.explain(pd.DataFrame({"c": ["z"], "d": [None]}))
        frame = result.to_frame()
        assert frame.loc[0, "rule"] == "TRUE"
        assert frame.loc[0, "outcome"] == "no"
        assert frame.loc[0, "reason"].startswith("this row has no item")
        assert np.isnan(frame.loc[0, "score"])
        assert (frame.loc[0, "tp"], frame.loc[0, "fp"]) == (2, 1)
        assert result.to_dict()["entries"][0]["score"] is None


def test_constant_features_alone():
    model = FastPIC().fit(pd.DataFrame({"c": [1.0, 1.0]}), ["a", "b"])
    assert model.predict(pd.DataFrame({"c": [1.0]})).tolist() == ["a"]


def test_later_values_fall_into_the_end_bins():
    model = FastPIC(1).fit(np.array([[0.0], [5.0], [10.0]]), [0, 1, 2])
    assert model.predict(np.array([[-1e9], [1e9]])).tolist() == [0, 2]


def test_precision_interval_is_wilsons():
    X, y = load_iris(return_X_y=True, as_frame=True)
    result = FastPIC(2).fit(X, y).explain(X)
    low, high = result.precision_interval()
    counts = result.rules.contingency(X, y)
    np.testing.assert_allclose(low, counts.measure("confidence_low")[result.index])
    assert (low <= result.precision).all()
    assert (result.precision <= high + 1e-12).all()


@pytest.mark.parametrize(
    "bad",
    [
        {"max_length": 0},
        {"max_length": 1.5},
        {"alpha": 1.1},
        {"min_count": 0},
        {"smoothing": -1},
        {"n_bins": 1},
        {"discretizer": "quantiles"},
        {"class_weight": "equal"},
        {"max_length": True},
        {"alpha": "0.9"},
        {"min_count": float("nan")},
        {"smoothing": float("inf")},
        {"class_weight": 2.0},
        {"class_weight": {0: -1.0}},
        {"class_weight": {0: 0.0}},
        {"class_weight": {0: float("nan")}},
        {"class_weight": {0: "2"}},
        {"class_weight": {"0": 2.0}},  # text, where the labels are numbers
    ],
)
def test_options_are_checked(bad):
    X, y = load_iris(return_X_y=True)
    for cls in (PIC, FastPIC):
        with pytest.raises(OptionError):
            cls(**bad).fit(X, y).predict(X)


def test_more_options_are_checked():
    X, y = load_iris(return_X_y=True)
    for bad in (-1, 1.5, "3", None):
        with pytest.raises(OptionError, match="runners_up must be"):
            FastPIC(1).fit(X, y).explain(X, runners_up=bad)
    with pytest.raises(OptionError, match="Did you mean 'greedy'"):
        PIC(search="gredy").fit(X, y)
    with pytest.raises(OptionError, match="storage"):
        FastPIC(storage="disk").fit(X, y)
    with pytest.raises(OptionError, match="runners_up"):
        FastPIC().fit(X, y).explain(X, runners_up=-1)
    with pytest.raises(ValueError, match="at least one non-zero"):
        FastPIC().fit(X, y, sample_weight=np.zeros(len(y)))


# ---------------------------------------------------------------------- reference figures
@pytest.mark.parametrize(
    ("load", "length", "alpha", "accuracy"),
    [
        (load_breast_cancer, 2, 0.9, 0.942),
        (load_breast_cancer, 2, 0.5, 0.661),
        (load_iris, 3, 0.9, 0.967),
        (load_wine, 3, 0.9, 0.893),
    ],
    ids=["wdbc", "wdbc with the paper's alpha", "iris", "wine"],
)
def test_reference_accuracies(load, length, alpha, accuracy):
    """Ten folds, shuffled with seed 0, three equal-width bins of the training rows."""
    X, y = load(return_X_y=True, as_frame=True)
    cv = StratifiedKFold(10, shuffle=True, random_state=0)
    reached = cross_val_score(FastPIC(length, alpha), X, y, cv=cv).mean()
    assert reached == pytest.approx(accuracy, abs=0.01)


CATEGORICAL = {
    "mushroom": "class",
    "car_evaluation": "class",
    "nursery": "class",
    "tic_tac_toe": "class",
    "house_votes_84": "party",
    "kr_vs_kp": "class",
}


@pytest.mark.data
@pytest.mark.parametrize("name", CATEGORICAL)
def test_exact_search_and_table_agree_on_real_tables(data_dir, name):
    frame = pd.read_csv(data_dir / f"{name}.csv.gz", dtype=str, keep_default_na=False)
    y = frame.pop(CATEGORICAL[name])
    fast, exact = (model.fit(frame[::2], y[::2]).explain(frame) for model in (FastPIC(3), PIC(3)))
    assert fast.rules == exact.rules
    for part in ("row", "rank", "index", "score", "tp", "fp", "fn", "tn"):
        np.testing.assert_array_equal(getattr(fast, part), getattr(exact, part))
