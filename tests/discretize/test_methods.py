"""Equal width, MDLP and incremental cuts against plain versions; the transformer."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris
from sklearn.preprocessing import KBinsDiscretizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from rulelens.discretize.binning import learn_binning
from rulelens.discretize.equal_width import equal_width_cuts
from rulelens.discretize.incremental import _best_cut, incremental_cuts
from rulelens.discretize.mdlp import mdlp_cuts
from rulelens.discretize.transformer import Discretizer
from rulelens.errors import OptionError, TableError
from rulelens.frames import read_labels, read_table

values = st.lists(
    st.one_of(st.integers(0, 9).map(float), st.floats(-5, 5), st.just(math.nan)), max_size=40
)


# ---------------------------------------------------------------------- equal width
@given(values, st.integers(2, 6))
def test_equal_width_puts_values_where_the_edges_do(column, n_bins):
    x = np.array(column, dtype=float)
    known = x[~np.isnan(x)]
    cuts = equal_width_cuts(x, n_bins)
    assert (np.diff(cuts) > 0).all()
    if len(np.unique(known)) < 2:
        assert len(cuts) == 0
        return
    distinct = np.unique(known)
    share = np.arange(1, n_bins) / n_bins
    exact = np.unique(distinct[0] * (1 - share) + distinct[-1] * share)
    exact = exact[exact > distinct[0]]
    # Every cut lies where an edge lies: between the same two neighbouring values.
    assert len(cuts) <= len(exact)
    assert set(np.searchsorted(distinct, cuts)) == set(np.searchsorted(distinct, exact))


def test_equal_width_agrees_with_scikit_learn():
    X, _ = load_iris(return_X_y=True)
    theirs = KBinsDiscretizer(4, encode="ordinal", strategy="uniform").fit(X)
    for j in range(4):
        cuts = equal_width_cuts(X[:, j], 4)
        ours = np.searchsorted(cuts, X[:, j], side="right")
        beside = np.isclose(X[:, j][:, None], theirs.bin_edges_[j]).any(axis=1)
        assert (ours == theirs.transform(X)[:, j])[~beside].all()


def test_huge_ranges():
    assert len(equal_width_cuts(np.array([-1.7e308, 1.7e308]), 3)) >= 1


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(1, 4),
    st.sampled_from([2, 7, 100]),
)
def test_neighbouring_doubles(low, steps, n_bins):
    """The mean of two neighbouring doubles is rounded past the end: an IndexError."""
    x = [low]
    for _ in range(steps):
        x.append(math.nextafter(x[-1], math.inf))
    if math.isinf(x[-1]):
        return
    cuts = equal_width_cuts(np.array(x), n_bins)
    assert len(cuts) <= n_bins - 1
    assert ((cuts > x[0]) & (cuts <= x[-1])).all()
    assert (cuts[1:] > cuts[:-1]).all()


def test_a_mean_rounded_past_the_end():
    low = 0.1
    for _ in range(2000):
        low = math.nextafter(low * 1.003, math.inf)
        assert len(equal_width_cuts(np.array([low, math.nextafter(low, 1e9)]), 100)) == 1


# ---------------------------------------------------------------------- MDLP
def entropy(labels):
    _, counts = np.unique(labels, return_counts=True)
    p = counts / counts.sum()
    return float(-(p * np.log2(p)).sum())


def plain_mdlp(x, y):
    """Fayyad and Irani, row by row: the positions between distinct values."""
    distinct = np.unique(x)
    if len(distinct) < 2:
        return []
    n = len(y)
    costs = []
    for v in distinct[1:]:
        left, right = y[x < v], y[x >= v]
        costs.append((len(left) * entropy(left) + len(right) * entropy(right)) / n)
    at = distinct[1:][int(np.argmin(np.round(costs, 12)))]
    left, right = y[x < at], y[x >= at]
    k, k1, k2 = (len(np.unique(part)) for part in (y, left, right))
    gain = entropy(y) - min(costs)
    delta = math.log2(3**k - 2) - (k * entropy(y) - k1 * entropy(left) - k2 * entropy(right))
    if gain <= (math.log2(n - 1) + delta) / n + 1e-12:
        return []
    return [*plain_mdlp(x[x < at], left), at, *plain_mdlp(x[x >= at], right)]


@settings(deadline=None)
@given(st.integers(0, 9999), st.integers(2, 3), st.integers(5, 150))
def test_mdlp_agrees_with_a_plain_version(seed, k, n):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, rng.integers(3, 40), n).astype(float)
    y = np.where(rng.random(n) < 0.85, (x // 6).astype(int) % k, rng.integers(0, k, n))
    cuts = mdlp_cuts(np.append(x, np.nan), np.append(y, 0), k)
    expected = plain_mdlp(x, y)
    assert len(cuts) == len(expected)
    below = [x[x < e].max() for e in expected]
    assert all(b < c <= e for b, c, e in zip(below, cuts, expected, strict=True))


def test_mdlp_of_iris_golden():
    """The cut points that the R package discretization prints for iris (midpoints of values)."""
    X, y = load_iris(return_X_y=True)
    golden = [[5.55, 6.15], [2.95, 3.35], [2.45, 4.75], [0.8, 1.75]]
    for j, expected in enumerate(golden):
        values = np.unique(X[:, j])
        cuts = mdlp_cuts(X[:, j], y, 3)
        assert np.searchsorted(values, cuts).tolist() == np.searchsorted(values, expected).tolist()


# ---------------------------------------------------------------------- incremental
def separated(codes, y):
    """Pairs of different classes that differ in some item."""
    return {
        (a, b)
        for a, b in itertools.combinations(range(len(y)), 2)
        if y[a] != y[b]
        and any(u != v and u >= 0 and v >= 0 for u, v in zip(codes[a], codes[b], strict=True))
    }


@settings(deadline=None, max_examples=80)
@given(st.integers(0, 9999), st.integers(2, 25))
def test_the_best_cut_separates_most_pairs(seed, n):
    rng = np.random.default_rng(seed)
    rank, cell, y = rng.integers(0, 6, n), rng.integers(0, 3, n), rng.integers(0, 3, n)
    pairs = [
        (a, b)
        for a, b in itertools.combinations(range(n), 2)
        if y[a] != y[b] and cell[a] == cell[b]
    ]

    def gain(v):
        return sum((rank[a] < v) != (rank[b] < v) for a, b in pairs)

    at, most = _best_cut(rank, cell, y)
    assert most == max([gain(v) for v in np.unique(rank)[1:]], default=0)
    assert at < 0 or gain(at) == most


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 9999), st.integers(1, 3), st.integers(2, 25))
def test_incremental_cuts_separate_every_pair_that_differs(seed, d, n):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, (n, d)).astype(float)
    y = rng.integers(0, 3, n)
    cuts = incremental_cuts(list(X.T), y)
    codes = np.stack(
        [np.searchsorted(c, x, side="right") for c, x in zip(cuts, X.T, strict=True)], axis=1
    )
    assert separated(codes, y) == separated(X, y)
    assert sum(map(len, cuts)) <= n - 1


def test_incremental_separates_all_that_can_be():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=80).round(1), "b": rng.normal(size=80).round(1)})
    X["c"] = rng.choice(["p", "q"], 80)
    X.loc[::9, "a"] = np.nan
    y = rng.integers(0, 2, 80)
    table = read_table(X)
    codes = learn_binning(table, read_labels(y), method="incremental").codes(table)
    every = np.stack(
        [np.where(np.isnan(X["a"]), -1, X["a"].rank()), X["b"].rank(), X["c"] == "p"], axis=1
    )
    # A pair that differs in a known value of some feature is separated, unless the only such
    # feature is one in which another row's missing value keeps them apart already.
    full, got = separated(every, y), separated(codes, y)
    assert got <= full
    assert len(got) >= 0.99 * len(full)
    assert sum(map(len, incremental_cuts([X["b"].to_numpy()], y, max_cuts=3))) == 3


# ---------------------------------------------------------------------- tables
def test_missing_values_are_an_item_only_if_wanted():
    table = read_table(pd.DataFrame({"x": [1.0, 2.0, np.nan], "c": ["a", None, "b"]}))
    assert learn_binning(table, n_bins=2).codes(table).tolist() == [[0, 0], [1, -1], [-1, 1]]
    both = learn_binning(table, n_bins=2, missing_items=True)
    assert both.codes(table).tolist() == [[0, 0], [1, 2], [2, 1]]


def test_options():
    table = read_table(pd.DataFrame({"x": [1.0, np.inf]}))
    with pytest.raises(TableError, match="'x' is infinite in 1 rows, the first of them row 1"):
        learn_binning(table)
    table = read_table(pd.DataFrame({"x": [1.0, 2.0]}))
    with pytest.raises(OptionError, match="Did you mean 'quantile'"):
        learn_binning(table, method="quantiles")
    with pytest.raises(OptionError, match="needs class labels"):
        learn_binning(table, method="mdlp")
    with pytest.raises(OptionError, match="n_bins"):
        learn_binning(table, n_bins=1)


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@parametrize_with_checks(
    [Discretizer(), Discretizer("equal_width"), Discretizer("mdlp"), Discretizer("incremental")]
)
def test_sklearn(estimator, check):
    check(estimator)


def test_transformer_keeps_names_and_output_kind():
    X, y = load_iris(return_X_y=True, as_frame=True)
    out = Discretizer("mdlp").set_output(transform="pandas").fit(X, y).transform(X)
    assert list(out.columns) == list(X.columns)
    assert out.dtypes.eq("int32").all()
