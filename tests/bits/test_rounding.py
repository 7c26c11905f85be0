"""Shorter thresholds select the same rows."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from rulelens.bits.coverage import coverage
from rulelens.bits.rounding import shorten
from rulelens.core.conditions import Interval, Membership, Missing
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Schema
from rulelens.frames import Table, read_table

SCHEMA = Schema([Feature("x"), Feature("c", "categorical", ("p", "q"))])
values = st.one_of(
    st.sampled_from(
        [0.1, 0.2, 0.30000000000000004, 1e308, -1e308, 5e-324, np.inf, -np.inf, np.nan]
    ),
    st.floats(-5, 5),
    st.floats(allow_nan=False, allow_infinity=False),
)
ends = st.one_of(st.floats(-5, 5), st.floats(-5, 5, width=32), st.sampled_from([0.0, 1e308, 0.3]))


@st.composite
def intervals(draw):
    low, high = sorted([draw(ends), draw(ends)])
    low = draw(st.sampled_from([low, -np.inf]))
    high = draw(st.sampled_from([high, np.inf]))
    flags = draw(st.tuples(st.booleans(), st.booleans(), st.booleans()))
    try:
        return Interval(low, high, *flags, draw(st.sampled_from(["float64", "float32"])))
    except ValueError:
        return Interval(high=0.3, precision="float32")


@settings(deadline=None)
@given(st.lists(st.tuples(intervals(), st.booleans()), max_size=6), st.lists(values, max_size=30))
def test_same_rows_no_more_digits(drawn, column):
    rules = RuleSet.from_rules(
        [
            Rule({"x": c} | ({"c": Membership(["p"], or_missing=True)} if m else {}), 1)
            for c, m in drawn
        ],
        SCHEMA,
        outcomes=[1],
    )
    codes = np.arange(len(column), dtype=np.int32) % 2
    table = Table(SCHEMA, (np.array(column, dtype=float), codes), len(column))
    short = shorten(rules, table)
    assert (coverage(short, table) == coverage(rules, table)).all()
    assert len(short) == len(rules)
    for old, new in zip(rules, short, strict=True):
        assert old.features == new.features
        for (_, a), (_, b) in zip(old, new, strict=True):
            assert len(digits(b)) <= len(digits(a)) or a == b
            if isinstance(b, Membership):
                assert not b.or_missing


def digits(condition) -> str:
    if not isinstance(condition, Interval):
        return ""
    ends = (e for e in (condition.low, condition.high) if np.isfinite(e))
    return "".join(np.format_float_scientific(e, trim="-").split("e")[0] for e in ends)


def shortened(condition, column, **kwargs):
    schema = Schema.numeric(["x"])
    rules = RuleSet.from_rules([Rule({"x": condition}, 1)], schema)
    short = rules.shorten(pd.DataFrame({"x": column}))
    return short[0].antecedent()


def test_examples():
    long = Interval(high=0.800000011920929, high_closed=True, precision="float32")
    assert shortened(long, [0.2, 0.6, 1.0, 1.4]) == "x <= 0.8"
    assert shortened(Interval(low=2.449999988079071), [2.4, 2.5]) == "x > 2.45"
    assert shortened(Interval(high=2.449999988079071), [2.4, 2.5]) == "x < 2.45"
    assert shortened(Interval(1234.56, 9876.54, True, False), [1000, 1300, 9000, 12000]) == (
        "1200 <= x < 10000"
    )
    # The middle of a wide gap stays about there.
    assert shortened(Interval(high=2.449999988079071, high_closed=True), [1.9, 3.0]) == "x <= 2.4"
    assert shortened(Interval(low=5.0, low_closed=True), [4.0, 5.0]) == "x >= 5"


def test_what_cannot_be_shortened_stays():
    exact = Interval(0.123456789, 0.223456789)
    assert shortened(exact, [np.nan, np.nan]) == "0.123456789 < x < 0.223456789"
    beside = np.nextafter(0.3, 1)
    assert shortened(Interval(low=0.3), [0.3, beside]) == "x > 0.3"
    assert (
        shortened(Interval(low=beside, low_closed=True), [0.3, beside])
        == "x >= 0.30000000000000004"
    )
    # No value lies between the two ends, so both would move to one number.
    assert shortened(Interval(2.1, 2.2, True, False), [2.0, 3.0]) == "2.1 <= x < 2.2"


def test_missing_values_keep_their_flag():
    c = Interval(low=0.123456789, or_missing=True)
    assert shortened(c, [0.0, np.nan, 1.0]) == "(x > 0.1 or missing)"
    assert shortened(c, [0.0, 1.0]) == "x > 0.1"
    assert shortened(Missing(), [0.0, 1.0]) == "x is missing"


def test_everything_else_of_the_set_stays():
    rules = RuleSet.from_rules(
        [Rule({"x": Interval(low=0.123456)}, "a", {"tree": 3}), Rule({}, "b")],
        SCHEMA,
        ordered=True,
        default="b",
    )
    short = shorten(rules, read_table(pd.DataFrame({"x": [0.0, 1.0], "c": ["p", "q"]}), SCHEMA))
    assert (short.outcomes, short.ordered, short.default) == (("a", "b"), True, "b")
    assert short[0].provenance == (("tree", 3),)
