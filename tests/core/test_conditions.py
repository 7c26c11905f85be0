"""Conditions against plain definitions, also one representable number beside every end."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulelens.core.conditions import Interval, Membership, Missing, intersect
from rulelens.errors import ContradictionError, RuleError, SchemaError

numbers = st.one_of(
    st.sampled_from(
        [0.0, -0.0, 5e-324, 1e-45, 0.1, 0.2, 1.0, 2.0, 3e38, 3.5e38, 1e308, 16777217.0]
    ),
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(width=32, allow_nan=False, allow_infinity=False),
)
precisions = st.sampled_from(["float64", "float32"])


@st.composite
def intervals(draw):
    low, high = (
        draw(st.one_of(st.just(-math.inf), numbers)),
        draw(st.one_of(st.just(math.inf), numbers)),
    )
    if low > high:
        low, high = high, low
    args = (low, high, draw(st.booleans()), draw(st.booleans()), draw(st.booleans()))
    try:
        return Interval(*args, draw(precisions))
    except ContradictionError:
        return Interval(or_missing=args[-1])


def plain_holds(c: Interval, v: float) -> bool:
    """The definition, in numpy scalars."""
    if math.isnan(v):
        return c.or_missing
    with np.errstate(over="ignore", under="ignore"):
        x = float(np.float32(v)) if c.precision == "float32" else v
    above = c.low == -math.inf or (x >= c.low if c.low_closed else x > c.low)
    return above and (c.high == math.inf or (x <= c.high if c.high_closed else x < c.high))


def near(v: float) -> list[float]:
    """A number, its neighbours in double precision and in single precision, and halfway."""
    out = [v]
    for to in (math.inf, -math.inf):
        out.append(math.nextafter(v, to))
        with np.errstate(over="ignore", under="ignore"):
            single = np.float32(v)
            beside = float(np.nextafter(single, np.float32(to)))
        half = float(single) / 2 + beside / 2
        out += [float(single), beside, half, math.nextafter(half, to), math.nextafter(half, -to)]
    return [x for x in out if not math.isnan(x)]


def probes(*conditions: Interval) -> list[float]:
    ends = [e for c in conditions for e in (c.low, c.high) if math.isfinite(e)]
    return [v for e in (*ends, 0.0) for v in near(e)] + [
        math.inf,
        -math.inf,
        math.nan,
        3.4028235677973366e38,
    ]


@given(intervals())
def test_interval_holds_as_defined(c):
    for v in probes(c):
        assert c.holds(v) == plain_holds(c, v), v
    assert c.holds(None) == c.or_missing


@given(intervals())
def test_to_float64_selects_the_same_numbers(c):
    double = c.to_float64()
    assert double.precision == "float64"
    for v in probes(c, double):
        assert double.holds(v) == c.holds(v), v


@given(intervals(), intervals())
def test_intersection_holds_where_both_hold(a, b):
    values = probes(a, b, a.to_float64(), b.to_float64())
    try:
        both = intersect(a, b)
    except ContradictionError:
        assert not any(a.holds(v) and b.holds(v) for v in values)
        return
    for v in values:
        assert both.holds(v) == (a.holds(v) and b.holds(v)), v


@given(numbers, numbers, st.booleans(), st.booleans(), precisions)
def test_an_interval_is_refused_exactly_if_it_is_empty(
    low, high, low_closed, high_closed, precision
):
    try:
        c = Interval(low, high, low_closed, high_closed, precision=precision)
    except ContradictionError:
        c = None
    fits = Interval(low, low_closed=low_closed, precision=precision)
    below = Interval(high=high, high_closed=high_closed, precision=precision)
    some = any(fits.holds(v) and below.holds(v) for e in (low, high) for v in near(e))
    if c is None:
        assert not some
    else:
        assert some


@given(intervals())
def test_description_reads_back_to_the_same_numbers(c):
    """Text for people never rounds so that other rows are selected.

    A single-precision condition was once printed as if it compared doubles: other rows, beside
    the threshold, were then selected by the text.
    """
    text = c.describe("x").removeprefix("(").removesuffix(" or missing)")
    c = c.to_float64()
    if " is " in text:
        assert (c.low, c.high) == (-math.inf, math.inf)
        return
    parts = text.split(" ")
    if len(parts) == 5:
        assert (float(parts[0]), float(parts[4])) == (c.low, c.high)
        assert (parts[1] == "<=", parts[3] == "<=") == (c.low_closed, c.high_closed)
    elif parts[1] == "=":
        assert float(parts[2]) == c.low == c.high
    elif parts[1].startswith("<"):
        assert (float(parts[2]), parts[1] == "<=") == (c.high, c.high_closed)
    else:
        assert (float(parts[2]), parts[1] == ">=") == (c.low, c.low_closed)


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Interval(high=5, high_closed=True), "x <= 5"),
        (Interval(high=5), "x < 5"),
        (Interval(low=0.1, or_missing=True), "(x > 0.1 or missing)"),
        (Interval(low=-3.0, low_closed=True), "x >= -3"),
        (Interval(2, 5, high_closed=True), "2 < x <= 5"),
        (Interval(2, 2, True, True), "x = 2"),
        (Interval(1e-05, 1e300), "1e-05 < x < 1e+300"),
        (Interval(), "x is known"),
        (Interval(or_missing=True), "x is anything"),
        (Missing(), "x is missing"),
        (Membership(["a"]), "x is a"),
        (Membership(["a"], True, True), "(x is not a or missing)"),
        (Membership(["b", "a", 2, 1.5]), "x in {1.5, 2, a, b}"),
        (Membership([], True), "x is known"),
    ],
)
def test_descriptions(condition, text):
    assert condition.describe("x") == text


def test_infinite_end_is_no_bound():
    assert Interval(low=0).holds(math.inf)
    assert not Interval(high=1e308, high_closed=True).holds(math.inf)
    assert Interval().holds(-math.inf)


@pytest.mark.parametrize("bad", [math.nan, True, "5", None, np.nan])
def test_ends_must_be_numbers(bad):
    with pytest.raises(RuleError, match="must be a number"):
        Interval(low=bad)


def test_ends_beyond_every_number_and_unknown_precision_are_errors():
    with pytest.raises(RuleError):
        Interval(low=math.inf)
    with pytest.raises(RuleError):
        Interval(high=-math.inf)
    with pytest.raises(RuleError, match="Precision"):
        Interval(precision="float16")


def test_negative_zero_is_zero():
    assert Interval(low=-0.0) == Interval(low=0.0)
    assert hash(Interval(low=-0.0)) == hash(Interval(low=0.0))
    assert math.copysign(1, Interval(low=-0.0).low) == 1


levels = st.lists(st.sampled_from(["a", "b", 1, 2.5, True, False]), min_size=1, max_size=4)
memberships = st.builds(Membership, levels, st.booleans(), st.booleans())


def plain_in(c: Membership, v: object) -> bool:
    if v is None:
        return c.or_missing
    same = [u for u in c.levels if u == v and isinstance(u, bool) == isinstance(v, bool)]
    return bool(same) != c.negated


@given(memberships, memberships)
def test_memberships_and_their_intersection(a, b):
    values = ["a", "b", "unseen", 1, 1.0, 2.5, True, False, 0, None]
    for v in values:
        assert a.holds(v) == plain_in(a, v)
    assert a.holds(math.nan) == a.or_missing
    try:
        both = intersect(a, b)
    except ContradictionError:
        assert not any(a.holds(v) and b.holds(v) for v in values)
        return
    for v in values:
        assert both.holds(v) == (a.holds(v) and b.holds(v)), v


def test_true_is_not_one_in_sets_of_levels():
    """Two conditions that select other rows were equal, so that one replaced the other."""
    assert Membership([True]) != Membership([1])
    assert len({Membership([True]), Membership([1])}) == 2
    assert Membership([1]) == Membership([1.0])
    assert Membership(["b", "a"]) == Membership(("a", "b", "a"))


def test_numpy_levels_become_plain():
    c = Membership([np.int64(3), np.str_("a"), np.bool_(True), np.float64(0.5)])
    assert {type(v) for v in c.levels} == {int, str, bool, float}


@pytest.mark.parametrize("bad", [[math.nan], [math.inf], [None], [(1,)]])
def test_levels_must_be_plain_values(bad):
    with pytest.raises(SchemaError):
        Membership(bad)


def test_text_in_place_of_levels_and_no_levels():
    with pytest.raises(RuleError, match=r"\['ab'\]"):
        Membership("ab")
    with pytest.raises(ContradictionError):
        Membership([])


def test_missing_meets_other_conditions():
    assert intersect(Missing(), Missing()) == Missing()
    assert intersect(Interval(low=1, or_missing=True), Missing()) == Missing()
    assert intersect(Missing(), Membership(["a"], or_missing=True)) == Missing()
    with pytest.raises(ContradictionError):
        intersect(Missing(), Interval(low=1))
    assert (
        intersect(Interval(low=2, or_missing=True), Interval(high=1, or_missing=True)) == Missing()
    )
    with pytest.raises(RuleError):
        intersect(Interval(), Membership(["a"]))


def test_names_and_levels_that_could_be_misread_are_quoted():
    """Text 1 and number 1, or a level called "a or missing", once gave one and the same text."""
    assert Membership(["1"]).describe("c") == 'c is "1"'
    assert Membership([1]).describe("c") == "c is 1"
    assert Membership(["True"]).describe("c") == 'c is "True"'
    assert Membership(["a or missing"]).describe("c") == 'c is "a or missing"'
    assert Membership(["a"], or_missing=True).describe("c") == "(c is a or missing)"
    assert Membership(["a, b", "c"]).describe("x") == 'x in {"a, b", c}'
    assert Interval(high=3.0).describe("x AND y") == '"x AND y" < 3'
    assert Interval(high=3.0).describe("x <= 2") == '"x <= 2" < 3'
    assert Missing().describe('say "hi"') == r'"say \"hi\"" is missing'
    for name in ("petal width (cm)", "größe.cm", "名前", "NumOfProducts", "Total day minutes"):
        assert Interval(high=3.0).describe(name) == f"{name} < 3"


def test_an_empty_interval_is_named_by_its_ends() -> None:
    """Pins a message that called the interval without numbers (5, 5) "x = 5"."""
    with pytest.raises(ContradictionError, match=r"the interval \(5, 5\)\. Close the ends"):
        Interval(5, 5)
    with pytest.raises(ContradictionError, match=r"the interval \[5, 1\)"):
        Interval(5, 1, low_closed=True)
