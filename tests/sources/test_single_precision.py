"""Single-precision intervals as double-precision ones: the same values, to the last bit."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rulelens.core.conditions import Interval
from rulelens.errors import ContradictionError

MAX32 = float(np.finfo(np.float32).max)
TINY32 = 2.0**-149
OVERFLOW = math.ldexp(2.0**25 - 1, 103)
SPECIAL = [0.0, TINY32, TINY32 / 2, 2.0**-126, MAX32, OVERFLOW, 1e300, 5e-324, 1.0, 16777217.0]

ENDS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.sampled_from([s * v for v in SPECIAL for s in (1, -1)]),
    st.just(math.inf),
    st.just(-math.inf),
)


def around(*ends: float) -> list[float]:
    """Values at, and one ulp (single and double) to each side of, the ends and of midpoints."""
    near: set[float] = {math.inf, -math.inf, *SPECIAL, *(-v for v in SPECIAL)}
    with np.errstate(over="ignore", under="ignore"):
        for end in ends:
            single = np.float32(end)
            below, above = (np.nextafter(single, np.float32(s)) for s in (-np.inf, np.inf))
            points = [end, float(single), float(below), float(above)]
            points += [float(single) / 2 + float(v) / 2 for v in (below, above)]
            for p in points:
                near |= {p, math.nextafter(p, math.inf), math.nextafter(p, -math.inf)}
    return [v for v in near if not math.isnan(v)]


def plain(low: float, high: float, low_closed: bool, high_closed: bool, value: float) -> bool:
    """The slow reference: numpy rounds, Python compares."""
    with np.errstate(over="ignore", under="ignore"):
        v = float(np.float32(value))
    above = low == -math.inf or v > low or (low_closed and v == low)
    below = high == math.inf or v < high or (high_closed and v == high)
    return above and below


@given(ENDS, ENDS, st.booleans(), st.booleans(), st.booleans(), st.floats(allow_nan=False))
@settings(max_examples=3000, deadline=None)
@example(low=MAX32, high=math.inf, a=False, b=False, missing=False, value=OVERFLOW)
@example(low=-math.inf, high=MAX32, a=False, b=True, missing=False, value=OVERFLOW)
@example(low=-TINY32 / 2, high=TINY32 / 2, a=False, b=False, missing=True, value=TINY32 / 2)
@example(low=OVERFLOW, high=math.inf, a=True, b=False, missing=False, value=math.inf)
def test_the_same_values_are_selected(
    low: float, high: float, a: bool, b: bool, missing: bool, value: float
) -> None:
    if low > high:
        low, high = high, low
    values = [value, *around(low, high)]
    try:
        single = Interval(low, high, a, b, missing, "float32")
    except ContradictionError:
        assert not any(plain(low, high, a, b, v) for v in values if math.isfinite(v))
        return
    except ValueError:
        assert low == math.inf or high == -math.inf
        return
    double = single.to_float64()
    assert double.precision == "float64"
    for v in values:
        expected = plain(low, high, a, b, v)
        assert single.holds(v) == expected, v
        assert double.holds(v) == expected, (v, double)
    assert double.holds(None) == single.holds(None) == missing


@given(ENDS, ENDS, st.booleans(), st.booleans())
@settings(max_examples=1000, deadline=None)
def test_only_intervals_without_any_value_are_refused(
    low: float, high: float, a: bool, b: bool
) -> None:
    """The open interval between two neighbouring singles holds no single: not an interval."""
    if low > high:
        low, high = high, low
    holds = [v for v in around(low, high) if plain(low, high, a, b, v)]
    try:
        Interval(low, high, a, b, precision="float32")
    except ContradictionError:
        assert not holds
    except ValueError:
        assert low == math.inf or high == -math.inf
    else:
        assert holds


def test_a_double_interval_stays_what_it_is() -> None:
    interval = Interval(1, 2)
    assert interval.to_float64() is interval
