"""Measures against a row-by-row count and closed forms; contingency tables."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulelens.core.contingency import Contingency
from rulelens.core.measures import MEASURES
from rulelens.errors import MeasureError, RuleError

counts = st.integers(0, 40)


def plain(tp: int, fp: int, fn: int, tn: int) -> dict[str, float]:
    """Every measure in scalars, NaN where a denominator is 0."""

    def div(a, b):
        return a / b if b else math.nan

    n, pos, neg, cover = tp + fp + fn + tn, tp + fn, fp + tn, tp + fp
    conf, rec, err = div(tp, cover), div(tp, pos), div(fp, neg)
    z = 1.959963984540054
    if cover:
        centre = conf + z * z / (2 * cover)
        half = z * math.sqrt(conf * (1 - conf) / cover + z * z / (4 * cover * cover))
        low = max((centre - half) / (1 + z * z / cover), 0)
    else:
        low = math.nan
    return {
        "support": div(tp, n),
        "confidence": conf,
        "lift": div(conf, div(pos, n)) if pos and n else math.nan,
        "recall": rec,
        "error": err,
        "relevance": rec * (1 - err),
        "confirmation": rec - err,
        "wracc": div(tp, n) - div(cover, n) * div(pos, n),
        "pic_accuracy": 0.9 * conf + 0.1 * rec,
        "confidence_low": low,
    }


@given(st.lists(st.tuples(counts, counts, counts, counts), min_size=1, max_size=6))
def test_measures_agree_with_scalars(rows):
    table = Contingency(*np.array(rows).T)
    expected = [plain(*r) for r in rows]
    for name in expected[0]:
        got = table.measure(name)
        np.testing.assert_allclose(got, [e[name] for e in expected], rtol=1e-12, atol=1e-12)


def test_wilson_bound_golden():
    """Wilson 1927: 3 of 3 and 300 of 300 at 95 %."""
    low = Contingency([3, 300, 0], [0, 0, 5], [0, 0, 0], [9, 9, 9]).measure("confidence_low")
    np.testing.assert_allclose(low, [0.4385, 0.98736, 0.0], atol=5e-5)


def test_undefined_is_nan_without_a_warning():
    nothing = Contingency([0], [0], [0], [0])
    assert all(np.isnan(nothing.measure(m)).all() for m in MEASURES)


def test_frame_has_counts_then_measures():
    frame = Contingency([8], [2], [2], [8]).to_frame(["lift", "error"])
    assert list(frame.columns) == ["tp", "fp", "fn", "tn", "lift", "error"]
    assert frame.loc[0, "lift"] == 1.6


def test_unknown_measure_names_the_nearest():
    with pytest.raises(MeasureError, match="Did you mean 'confidence'"):
        Contingency([1], [1], [1], [1]).measure("confidense")


def test_contingency_is_a_frozen_value():
    a, b = Contingency([1, 2], [0, 0], [3, 3], [1, 1]), Contingency([1, 2], [0, 0], [3, 3], [1, 1])
    assert a == b
    assert hash(a) == hash(b)
    assert a != Contingency([1, 1], [0, 0], [3, 3], [1, 1])
    with pytest.raises(ValueError, match="read-only"):
        a.tp[0] = 5
    assert len(a) == 2
    assert a.n_rows == 5
    assert a[np.array([1])].tp.tolist() == [2]


@pytest.mark.parametrize("bad", [[-1], [0.5], [[1]]])
def test_counts_must_be_whole_and_not_negative(bad):
    with pytest.raises(RuleError):
        Contingency(bad, [0], [0], [0])


@given(
    st.lists(st.tuples(st.integers(0, 2), st.booleans()), max_size=30),
    st.integers(-1, 2),
)
def test_counts_from_class_counts(rows, outcome):
    y = np.array([r[0] for r in rows], dtype=int)
    c = np.array([r[1] for r in rows], dtype=bool)
    covered = np.bincount(y[c], minlength=3)[None, :]
    got = Contingency.from_class_counts(covered, np.bincount(y, minlength=3), np.array([outcome]))
    mine = y == outcome
    assert (got.tp[0], got.fp[0]) == ((c & mine).sum(), (c & ~mine).sum())
    assert (got.fn[0], got.tn[0]) == ((~c & mine).sum(), (~c & ~mine).sum())


def test_counts_without_any_class():
    got = Contingency.from_class_counts(np.zeros((2, 0), int), np.zeros(0, int), np.array([-1, -1]))
    assert got.tp.tolist() == [0, 0]


def test_weighted_relative_accuracy_of_chance_is_exactly_0():
    """1/3·3/9 against 1/9 left a rounding whose sign said better or worse than chance."""
    for a in range(1, 12):
        for b in range(1, 12):
            for k in range(2, 6):
                counts = Contingency([a], [b], [a * k], [b * k])
                assert counts.measure("wracc").tolist() == [0]
