"""Cuts are short, split where they should, and give the row back exactly."""

from decimal import ROUND_FLOOR, Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulelens.core.conditions import Interval, Membership, Missing
from rulelens.discretize.cuts import Binning, quantile_cuts, shortest_between
from rulelens.errors import OptionError, TableError
from rulelens.frames import read_table

finite = st.one_of(
    st.sampled_from([0.0, 0.1, 0.2, 1e308, -1e308, 5e-324, 2.0**53, 1 / 3]),
    st.floats(-100, 100),
    st.integers(-50, 50).map(lambda i: i / 10),
    st.floats(allow_nan=False, allow_infinity=False),
)


def n_digits(v: float) -> int:
    digits = Decimal(repr(v)).normalize().as_tuple().digits
    return len(digits) if v else 0


@given(finite, finite)
def test_shortest_between_lies_between(a, b):
    if a == b:
        return
    low, high = sorted([a, b])
    cut = shortest_between(low, high)
    assert low < cut <= high
    assert n_digits(cut) <= n_digits(high)


@given(st.integers(-3000, 3000), st.integers(1, 3000), st.integers(0, 2))
def test_no_shorter_decimal_lies_between(start, width, places):
    low, high = start / 10**places, (start + width) / 10**places
    cut = shortest_between(low, high)
    # One digit less: no multiple of the next coarser unit lies between.
    if cut and n_digits(cut) > 1:
        exponent = Decimal(repr(cut)).normalize().as_tuple().exponent + 1
        unit = Decimal(1).scaleb(exponent)
        step = (Decimal(high) / unit).to_integral_value(rounding=ROUND_FLOOR)
        assert not any(low < float((step + k) * unit) <= high for k in (0, 1))


@pytest.mark.parametrize(
    ("low", "high", "cut"),
    [
        (36.0, 41.0, 40.0),
        (12.34567, 12.35001, 12.35),
        (-41.0, -36.0, -40.0),
        (-5.0, 3.0, 0.0),
        (0.0, 1.0, 1.0),
        (99.0, 101.0, 100.0),
        (0.1, 0.30000000000000004, 0.3),
        (0.3, 0.30000000000000004, 0.30000000000000004),
        (1e308, 1.7e308, 1e308 * 1.7),
        (5e-324, 1e-323, 1e-323),
    ],
)
def test_shortest_between_examples(low, high, cut):
    got = shortest_between(low, high)
    assert low < got <= high
    assert n_digits(got) <= n_digits(cut)


columns = st.lists(st.one_of(finite, st.just(float("nan"))), max_size=60)


@given(columns, st.integers(2, 7))
def test_quantile_cuts(column, n_bins):
    values = np.array(column, dtype=float)
    cuts = quantile_cuts(values, n_bins)
    known = values[~np.isnan(values)]
    distinct = np.unique(known)
    assert (np.diff(cuts) > 0).all()
    assert len(cuts) <= n_bins - 1
    sizes = np.bincount(np.searchsorted(cuts, known, side="right"), minlength=len(cuts) + 1)
    assert not len(known) or (sizes > 0).all()
    if len(distinct) <= n_bins:
        assert len(cuts) == max(len(distinct) - 1, 0)


@given(st.lists(st.integers(0, 1000), min_size=40, max_size=200, unique=True), st.integers(2, 5))
def test_bins_of_distinct_values_are_about_equal(column, n_bins):
    values = np.array(column, dtype=float)
    cuts = quantile_cuts(values, n_bins)
    sizes = np.bincount(np.searchsorted(cuts, values, side="right"))
    assert len(sizes) == n_bins
    assert sizes.max() - sizes.min() <= 2


def test_constant_empty_and_infinite_columns():
    assert len(quantile_cuts(np.array([3.0, 3.0]), 4)) == 0
    assert len(quantile_cuts(np.array([np.nan]), 4)) == 0
    with pytest.raises(OptionError):
        quantile_cuts(np.array([1.0, 2.0]), 1)
    with pytest.raises(TableError, match="'x' is infinite in 1 rows, the first of them row 1"):
        Binning.quantiles(read_table(pd.DataFrame({"x": [1.0, np.inf]})))


def test_tiny_values_are_told_apart():
    """Halving, which guards against overflow, merged the smallest numbers."""
    values = np.array([0.0, 5e-324, 1e-323, 1.5e-323, 2e-323, 2.5e-323])
    cuts = quantile_cuts(values, 3)
    assert len(cuts) == 2


FRAME = pd.DataFrame(
    {
        "n": [1.0, 2.0, 3.0, 4.0, 5.0, np.nan],
        "full": [1.0, 1.0, 2.0, 2.0, 3.0, 3.0],
        "flat": [7.0] * 6,
        "c": ["a", "b", None, "a", "b", "a"],
        "f": [True, False] * 3,
    }
)


def test_items_are_the_conditions_that_hold():
    table = read_table(FRAME)
    binning = Binning.quantiles(table, 2)
    assert binning.sizes == [3, 2, 0, 3, 2]
    codes = binning.codes(table)
    rows = [
        dict(zip(table.schema.names, r, strict=True))
        for r in zip(*map(table.values, table.schema.names), strict=True)
    ]
    for row, code in zip(rows, codes, strict=True):
        for j, name in enumerate(table.schema.names):
            held = [k for k in range(binning.sizes[j]) if binning.condition(j, k).holds(row[name])]
            assert held == ([] if code[j] < 0 else [code[j]])


def test_conditions_of_items():
    binning = Binning.quantiles(read_table(FRAME), 2)
    assert binning.condition(0, 0) == Interval(high=3.0)
    assert binning.condition(0, 1) == Interval(low=3.0, low_closed=True)
    assert binning.condition(0, 2) == Missing()
    assert binning.condition(3, 1) == Membership(["b"])
    assert binning.condition(4, 1) == Membership([True])


def test_new_rows():
    binning = Binning.quantiles(read_table(FRAME), 2)
    new = pd.DataFrame(
        {
            "n": [-100.0, 100.0],
            "full": [np.nan, 3.0],
            "flat": [8.0, 7.0],
            "c": ["unseen", None],
            "f": [None, True],
        }
    )
    codes = binning.codes(read_table(new, binning.schema))
    assert codes.tolist() == [[0, -1, -1, -1, -1], [1, 1, -1, 2, 1]]


def test_bins_by_feature():
    table = read_table(FRAME)
    assert Binning.quantiles(table, [3, 2, 2, 2, 2]).sizes[0] == 4
    assert Binning.quantiles(table, np.int64(3)).sizes[0] == 4
    with pytest.raises(OptionError, match="2 entries, but there are 5 features"):
        Binning.quantiles(table, [3, 2])
