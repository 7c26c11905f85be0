"""Odd labels, weights, lengths and columns: what PIC and FastPIC make of them."""

import copy

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from rulelens.bits.cube import Cube, CubeShape
from rulelens.errors import OptionError, SizeError, TableError
from rulelens.personal.base import _exactly_summable
from rulelens.personal.contrast import contrast
from rulelens.personal.fast_pic import FastPIC
from rulelens.personal.pic import PIC
from rulelens.personal.tuning import PICSearch

BOTH = [FastPIC, PIC]
SMALL = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": list("xyxy")})


# ---------------------------------------------------------------------- labels
@pytest.mark.parametrize("make", [*BOTH, lambda: PICSearch(max_lengths=(1,), cv=2)])
@pytest.mark.parametrize("labels", [[1, 2, 1, 2], ["u", 7, "u", 7], [2**70, 3, 2**70, 3]])
def test_labels_of_dtype_object(make, labels):
    """Whole numbers, or numbers and text, in a column of objects were refused."""
    y = np.array(labels, dtype=object)
    model = make().fit(SMALL, y)
    assert model.predict(SMALL).tolist() == labels
    assert set(model.classes_.tolist()) == set(labels)


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("labels", [["u", None, "v", "u"], [np.nan, "u", "v", "v"]])
def test_missing_labels_are_said_to_be_missing(make, labels):
    """A missing label among text ended in a TypeError about '<'."""
    with pytest.raises(TableError, match="y is missing in 1 rows"):
        make().fit(SMALL, np.array(labels, dtype=object))


@pytest.mark.parametrize("make", BOTH)
def test_fractions_as_objects_are_no_classes(make):
    with pytest.raises(ValueError, match="Unknown label type"):
        make().fit(SMALL, np.array([0.1, 0.2, 0.3, 0.4], dtype=object))


def test_the_classes_of_partial_fit_may_mix_text_and_numbers():
    model = FastPIC().partial_fit(SMALL, np.array(["u", 7, "u", 7], dtype=object), ["u", 7, "z"])
    assert set(model.classes_.tolist()) == {"u", 7, "z"}


# ---------------------------------------------------------------------- weights
@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1 / 4096, 3e-7, 1.0, 1e6, 1e200])
def test_only_the_ratios_of_weights_matter(make, scale):
    """Weights that sum to 1 made every row a fallback, and tiny ones all became equal."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 4, 80).astype(str), "b": rng.normal(size=80)})
    y, w = rng.integers(0, 3, 80), rng.integers(1, 9, 80).astype(float)
    plain, scaled = make().fit(X, y, w), make().fit(X, y, w * scale)
    a, b = plain.explain(X).to_frame(), scaled.explain(X).to_frame()
    assert a["rule"].tolist() == b["rule"].tolist()
    assert np.allclose(a["precision"], b["precision"], rtol=3e-5)
    assert not b["reason"].any()


def test_boosting_with_weights_that_sum_to_one():
    """AdaBoost's weights sum to 1: all of its classifiers gave the most frequent class."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (200, 3)), columns=list("abc"))
    y = (X["a"] == 1).to_numpy().astype(int)
    assert AdaBoostClassifier(FastPIC(1), n_estimators=3).fit(X, y).score(X, y) == 1.0


def test_weights_beyond_numbers_are_refused():
    with pytest.raises(TableError, match="divide them by their mean"):
        FastPIC().fit(SMALL, [0, 1, 0, 1], [1e308, 1e308, 1.0, 1.0])


@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_forgetting_keeps_light_rows(storage):
    """Cells of light rows were taken for a rounding error and set to 0."""
    rng = np.random.default_rng(1)
    n = 600
    X = pd.DataFrame({k: rng.integers(0, 90, n).astype(str) for k in "ab"})
    y, w = rng.integers(0, 2, n), np.where(rng.random(n) < 0.5, 1000.0, 2e-4)
    model = FastPIC(2, storage=storage).fit(X, y, w)
    codes = model._codes(X)[100:]
    model.forget(X[:100], y[:100], w[:100])
    rest = Cube.count(
        codes,
        model.binning_.sizes,
        y[100:],
        2,
        max_length=2,
        weights=_exactly_summable(w[100:]),
    )
    for s in range(len(rest.keys)):
        keys, counts = model.cube_.columns(s)
        full = np.zeros_like(rest.columns(s)[1])
        full[:, slice(None) if keys is None else keys] = counts
        assert np.array_equal(full, rest.columns(s)[1])


@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize(("low", "high"), [(-6, 0), (-12, -7), (0, 5), (5, 10)])
def test_forgetting_is_exact_for_very_unequal_weights(storage, low, high):
    rng = np.random.default_rng(0)
    n = 80
    X = pd.DataFrame({"a": rng.integers(0, 4, n).astype(str), "b": rng.normal(size=n)})
    y, w = rng.integers(0, 3, n), 10.0 ** rng.uniform(low, high, n)
    full = FastPIC(2, storage=storage).fit(X, y, w)
    less, rest = copy.deepcopy(full).forget(X[:30], y[:30], w[:30]), copy.deepcopy(full)
    table, labels, weights = rest._read_training(X[30:], y[30:], w[30:], reset=False)
    rest._keep(rest._count(table, labels, weights))
    assert np.array_equal(less.cube_.totals, rest.cube_.totals)
    assert np.array_equal(less.predict_proba(X), rest.predict_proba(X))
    assert less.explain(X, runners_up=4).to_dict() == rest.explain(X, runners_up=4).to_dict()


# ---------------------------------------------------------------------- lengths and sizes
@pytest.mark.parametrize("make", BOTH)
def test_any_max_length_is_as_good_as_the_number_of_features(make):
    """A length of a thousand million asked for that much memory."""
    y = [0, 1, 0, 1]
    long, short = make(10**9).fit(SMALL, y).explain(SMALL), make(2).fit(SMALL, y).explain(SMALL)
    pd.testing.assert_frame_equal(long.to_frame(), short.to_frame())


@pytest.mark.parametrize(("n_features", "n_classes"), [(10, 30), (12, 2)])
def test_cells_that_64_bits_cannot_number_are_refused(n_features, n_classes):
    """Numbers of cells and classes ran over, and rows were counted for other sets of items."""
    rng = np.random.default_rng(0)
    n = 120
    levels = np.arange(n) % 60
    X = pd.DataFrame({f"f{j}": rng.permutation(levels).astype(str) for j in range(n_features)})
    y = np.arange(n) % n_classes
    with pytest.raises(SizeError, match=r"PIC\(search='exact'\)"):
        FastPIC(n_features).fit(X, y)
    with pytest.raises(SizeError, match="64 bits"):
        Cube.count(
            np.zeros((1, n_features), int),
            [60] * n_features,
            np.zeros(1, int),
            n_classes,
            max_length=n_features,
            sparse=True,
        )
    assert not CubeShape((60,) * n_features, n_features).can_be_numbered(n_classes)
    assert (PIC(n_features).fit(X, y).predict(X[:3]) == y[:3]).all()


def test_a_sparse_table_does_not_outgrow_the_limit():
    """partial_fit and merge never looked at memory_limit again."""
    rng = np.random.default_rng(0)
    parts = [rng.integers(0, 70, (30, 3)).astype(str) for _ in range(2)]
    y = np.arange(30) % 2
    levels = pd.DataFrame({c: [str(v) for v in range(70)] for c in "abc"})
    model = FastPIC(3, storage="sparse").partial_fit(levels, np.arange(70) % 2)
    model.set_params(memory_limit=model.cube_.counts.shape[1] * 72 + 500)
    before = model.predict(levels).tolist()
    with pytest.raises(SizeError, match="memory_limit"):
        model.partial_fit(pd.DataFrame(parts[0], columns=list("abc")), y)
    assert model.predict(levels).tolist() == before
    other = copy.deepcopy(model).set_params(memory_limit=1 << 30)
    other.partial_fit(pd.DataFrame(parts[1], columns=list("abc")), y)
    with pytest.raises(SizeError, match="memory_limit"):
        model.merge(other)


# ---------------------------------------------------------------------- columns
@pytest.mark.parametrize("make", [*BOTH, lambda: PIC(search="greedy")])
@pytest.mark.parametrize("value", ["yes", 1.0])
def test_one_value_or_nothing_is_an_item(make, value):
    """A column with one level, missing elsewhere, tells rows apart, and was left out."""
    has = np.arange(40) % 3 == 0
    X = pd.DataFrame({"note": [value if h else None for h in has], "z": np.arange(40) % 7 * 1.0})
    found = make().fit(X, has).explain(X[has]).to_frame()
    assert (found["length"] == 1).all()
    assert (found["precision"] == 1).all()
    assert (found["recall"] == 1).all()


def test_a_constant_column_without_gaps_is_no_item():
    X = pd.DataFrame({"k": ["c"] * 4, "v": [1.0] * 4})
    for make in BOTH:
        frame = make().fit(X, [0, 0, 1, 1]).explain(X).to_frame()
        assert frame["reason"].str.startswith("this row has no item").all()


def test_the_reason_names_min_count():
    """Where min_count left no rule, the reason said that no training row shares an item."""
    for make in BOTH:
        frame = make(min_count=4).fit(SMALL, [0, 1, 0, 1]).explain(SMALL).to_frame()
        assert frame["reason"].str.contains("min_count").all()


# ---------------------------------------------------------------------- search
def test_levels_that_a_fold_lacks():
    """PICSearch took levels of the test rows for items, GridSearchCV could not know them."""
    rng = np.random.default_rng(8)
    n = 40
    X = pd.DataFrame(
        {
            "a": rng.integers(0, 5, n).astype(str),
            "rare": np.where(np.arange(n) == 3, "q", "p"),
            "b": rng.normal(size=n),
        }
    )
    y = np.array(["u", "v"])[(rng.random(n) < 0.4).astype(int)]
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    alphas, lengths = (0.0, 0.5, 1.0), (1, 2)
    search = PICSearch(lengths, alphas, n_bins=(3,), discretizers=("equal_width",), cv=cv)
    search.fit(X, y)
    grid = GridSearchCV(FastPIC(), {"max_length": lengths, "alpha": alphas}, cv=cv).fit(X, y)
    theirs = {
        (p["max_length"], p["alpha"]): s
        for p, s in zip(
            grid.cv_results_["params"], grid.cv_results_["mean_test_score"], strict=True
        )
    }
    r = search.cv_results_
    for length, alpha, score in zip(r["max_length"], r["alpha"], r["mean_score"], strict=True):
        assert score == pytest.approx(theirs[length, alpha], abs=1e-12)


def test_a_fold_without_weight_is_named():
    with pytest.raises(TableError, match="A fold has no rows with a weight"):
        PICSearch((1,), cv=[([0, 1], [2, 3]), ([2, 3], [0, 1])]).fit(
            SMALL, [0, 1, 0, 1], [1.0, 1.0, 0.0, 0.0]
        )


# ---------------------------------------------------------------------- options set later
@pytest.mark.parametrize(
    "changes",
    [{"alpha": 0.1}, {"min_count": 9}, {"class_weight": {0: 5.0}}, {"max_length": 1}, {}],
)
def test_options_set_after_fit_mean_the_same_to_both(changes, tmp_path):
    """PIC took new options at once, FastPIC for contrasts and probabilities only."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(0, 3, 90).astype(str), "b": rng.normal(size=90)})
    y = rng.integers(0, 3, 90)
    fast, slow = FastPIC().fit(X, y), PIC().fit(X, y)
    for model in (fast, slow):
        model.set_params(**changes)
    pd.testing.assert_frame_equal(fast.explain(X).to_frame(), slow.explain(X).to_frame())
    assert np.array_equal(fast.predict_proba(X), slow.predict_proba(X))
    pd.testing.assert_frame_equal(contrast(fast, X).to_frame(), contrast(slow, X).to_frame())
    expected = fast.explain(X).to_dict()
    fast.partial_fit(X[:9], y[:9]).forget(X[:9], y[:9]).save(tmp_path / "m.npz")
    assert fast.explain(X).to_dict() == FastPIC.load(tmp_path / "m.npz").explain(X).to_dict()
    assert fast.explain(X).to_dict() == expected


def test_a_wrong_option_set_after_fit_is_refused():
    for make in BOTH:
        model = make().fit(SMALL, [0, 1, 0, 1]).set_params(alpha=7)
        with pytest.raises(OptionError, match="alpha must lie"):
            model.predict(SMALL)


def test_a_memory_limit_that_is_no_number():
    with pytest.raises(OptionError, match="memory_limit is a number"):
        FastPIC(memory_limit="1 GiB").fit(SMALL, [0, 1, 0, 1])
