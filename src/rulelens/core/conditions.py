"""Conditions on one feature: a closed set of three.

`Interval` on numbers, `Membership` in levels, and `Missing`. A missing value satisfies
`Missing` and the conditions that say ``or_missing``, and nothing else, exclusions included.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from rulelens.core.schema import Level, check_level, level_key
from rulelens.errors import ContradictionError, RuleError

Precision: TypeAlias = Literal["float64", "float32"]


def _number(value: float, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise RuleError(f"{what} must be a number, not {value!r}.")
    value = float(value)
    if math.isnan(value):
        raise RuleError(f"{what} must be a number, not NaN.")
    return value + 0.0  # -0.0 and 0.0 are one bound


@dataclass(frozen=True, slots=True)
class Interval:
    """Numbers between two ends, each open or closed.

    An infinite end is no bound at all: it holds for every number, infinities included.

    Parameters
    ----------
    low, high : float
        Ends; ``-inf`` and ``inf`` for none.
    low_closed, high_closed : bool
        Whether the end itself belongs to the interval. Ignored for an infinite end.
    or_missing : bool
        Whether a missing value satisfies the condition too.
    precision : {"float64", "float32"}
        ``"float32"``: the value is rounded to single precision before it is compared with
        the double-precision ends, as scikit-learn's trees do.

    Examples
    --------
    >>> print(Interval(2, 5, high_closed=True).describe("x"))
    2 < x <= 5
    >>> Interval(high=5, high_closed=True).holds(5.0)
    True
    """

    low: float = -math.inf
    high: float = math.inf
    low_closed: bool = False
    high_closed: bool = False
    or_missing: bool = False
    precision: Precision = "float64"

    def __post_init__(self) -> None:
        low = _number(self.low, "The low end of an interval")
        high = _number(self.high, "The high end of an interval")
        if low == math.inf or high == -math.inf:
            raise RuleError("An interval's low end must be below inf and its high end above -inf.")
        if self.precision not in get_args(Precision):
            raise RuleError(f"Precision must be 'float64' or 'float32', not {self.precision!r}.")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "low_closed", bool(self.low_closed) and low > -math.inf)
        object.__setattr__(self, "high_closed", bool(self.high_closed) and high < math.inf)
        if self._is_empty():
            left, right = "[" if self.low_closed else "(", "]" if self.high_closed else ")"
            ends = f"{left}{_text(self.low)}, {_text(self.high)}{right}"
            raise ContradictionError(
                f"No number lies in the interval {ends}. Close the ends that belong to it, or "
                "exchange them."
            )

    def _is_empty(self) -> bool:
        if self.precision == "float32":
            return _float32_bounds(self) is None
        if self.low < self.high:
            # The open interval between two neighbouring doubles holds no number.
            return (
                not self.low_closed
                and not self.high_closed
                and math.nextafter(self.low, math.inf) >= self.high
            )
        return not (self.low == self.high and self.low_closed and self.high_closed)

    def holds(self, value: float | None) -> bool:
        """Whether one value (``None`` or NaN: missing) satisfies the condition."""
        if value is None or math.isnan(value):
            return self.or_missing
        v = float(value)
        if self.precision == "float32":
            with np.errstate(over="ignore"):
                v = float(np.float32(v))
        above = self.low == -math.inf or v > self.low or (self.low_closed and v == self.low)
        below = self.high == math.inf or v < self.high or (self.high_closed and v == self.high)
        return above and below

    def to_float64(self) -> Interval:
        """The interval that selects the same double-precision values without any rounding."""
        if self.precision == "float64":
            return self
        bounds = _float32_bounds(self)
        assert bounds is not None  # an empty interval cannot be built
        low, low_closed, high, high_closed = bounds
        return Interval(low, high, low_closed, high_closed, self.or_missing)

    def describe(self, name: str) -> str:
        """Text for people, exact: read with plain double-precision numbers it selects the same.

        Python's shortest text of a float names that float; single-precision intervals are
        written with the ends that `to_float64` gives.
        """
        return self.to_float64()._phrase(quoted_name(name))

    def _phrase(self, name: str) -> str:
        lo, hi = _text(self.low), _text(self.high)
        if self.low == -math.inf and self.high == math.inf:
            return f"{name} is {'anything' if self.or_missing else 'known'}"
        if self.low == self.high:
            text = f"{name} = {lo}"
        elif self.low == -math.inf:
            text = f"{name} {'<=' if self.high_closed else '<'} {hi}"
        elif self.high == math.inf:
            text = f"{name} {'>=' if self.low_closed else '>'} {lo}"
        else:
            left, right = ("<=" if c else "<" for c in (self.low_closed, self.high_closed))
            text = f"{lo} {left} {name} {right} {hi}"
        return f"({text} or missing)" if self.or_missing else text


@dataclass(frozen=True, slots=True)
class Membership:
    """A level that is in a set, or (``negated``) in none of it.

    A level that was never seen before satisfies only an exclusion.

    Parameters
    ----------
    levels : iterable of str, int, float or bool
        At least one level, unless negated: no level is excluded then, so that any value
        that is not missing satisfies the condition. Their order does not count.
    negated : bool
        Exclusion instead of membership.
    or_missing : bool
        Whether a missing value satisfies the condition too.

    Examples
    --------
    >>> print(Membership({"b", "a"}, negated=True).describe("colour"))
    colour not in {a, b}
    """

    levels: tuple[Level, ...]
    negated: bool = False
    or_missing: bool = False

    def __init__(
        self, levels: Iterable[Level], negated: bool = False, or_missing: bool = False
    ) -> None:
        if isinstance(levels, str):
            raise RuleError(
                f"Levels must be a collection, not the text {levels!r}: write [{levels!r}]."
            )
        plain = [check_level(v, "Level") for v in levels]
        unique = {level_key(v): v for v in plain}
        ordered = tuple(unique[k] for k in sorted(unique, key=lambda k: (k[0], k[1])))
        if not ordered and not negated:
            raise ContradictionError("No value is in an empty set of levels.")
        object.__setattr__(self, "levels", ordered)
        object.__setattr__(self, "negated", bool(negated))
        object.__setattr__(self, "or_missing", bool(or_missing))

    def _key(self) -> tuple[object, ...]:
        return (tuple(map(level_key, self.levels)), self.negated, self.or_missing)

    def __eq__(self, other: object) -> bool:
        """Equal in what they say; 1 and True are two levels."""
        return self._key() == other._key() if isinstance(other, Membership) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def holds(self, value: Level | None) -> bool:
        """Whether one value (``None`` or NaN: missing) satisfies the condition."""
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return self.or_missing
        inside = level_key(value) in {level_key(v) for v in self.levels}
        return inside != self.negated

    def describe(self, name: str) -> str:
        """Text for people; a level that could be misread is quoted."""
        name, shown = quoted_name(name), [quoted_level(v) for v in self.levels]
        if not shown:
            return f"{name} is {'anything' if self.or_missing else 'known'}"
        if len(shown) == 1:
            text = f"{name} {'is not' if self.negated else 'is'} {shown[0]}"
        else:
            text = f"{name} {'not in' if self.negated else 'in'} {{{', '.join(shown)}}}"
        return f"({text} or missing)" if self.or_missing else text


@dataclass(frozen=True, slots=True)
class Missing:
    """The value is missing."""

    def holds(self, value: Level | None) -> bool:
        """Whether one value (``None`` or NaN: missing) satisfies the condition."""
        return value is None or (isinstance(value, float) and math.isnan(value))

    def describe(self, name: str) -> str:
        """Text for people."""
        return f"{quoted_name(name)} is missing"


Condition: TypeAlias = Interval | Membership | Missing


def intersect(a: Condition, b: Condition) -> Condition:
    """The condition that holds where both hold.

    Raises
    ------
    ContradictionError
        No value satisfies both.
    RuleError
        One is an interval and the other a set of levels.

    Examples
    --------
    >>> print(intersect(Interval(high=5), Interval(high=10)).describe("a"))
    a < 5
    """
    if isinstance(a, Missing) or isinstance(b, Missing):
        other = b if isinstance(a, Missing) else a
        if isinstance(other, Missing) or other.or_missing:
            return Missing()
        raise ContradictionError("A value cannot be missing and satisfy a condition on it.")
    if isinstance(a, Interval) and isinstance(b, Interval):
        return _intersect_intervals(a, b)
    if isinstance(a, Membership) and isinstance(b, Membership):
        return _intersect_memberships(a, b)
    raise RuleError("An interval and a set of levels cannot be conditions on one feature.")


def _intersect_intervals(a: Interval, b: Interval) -> Condition:
    if a.precision != b.precision:
        a, b = a.to_float64(), b.to_float64()
    low, low_open = max((a.low, not a.low_closed), (b.low, not b.low_closed))
    high, high_closed = min((a.high, a.high_closed), (b.high, b.high_closed))
    missing = a.or_missing and b.or_missing
    try:
        return Interval(low, high, not low_open, high_closed, missing, a.precision)
    except ContradictionError:
        if missing:
            return Missing()
        raise


def _intersect_memberships(a: Membership, b: Membership) -> Condition:
    missing = a.or_missing and b.or_missing
    if a.negated and b.negated:
        return Membership((*a.levels, *b.levels), True, missing)
    keep, other = (b, a) if a.negated else (a, b)
    levels = [v for v in keep.levels if replace(other, or_missing=False).holds(v)]
    if not levels and missing:
        return Missing()
    if not levels:
        raise ContradictionError(f"No level is both {a.describe('it')!r} and {b.describe('it')!r}.")
    return Membership(levels, False, missing)


def _text(number: float) -> str:
    """Shortest text that names exactly this float; whole numbers without the point."""
    if math.isfinite(number) and number == int(number) and abs(number) < 1e16:
        return repr(int(number))
    return repr(number)


def _float32_bounds(interval: Interval) -> tuple[float, bool, float, bool] | None:
    """Ends of the doubles that round into a single-precision interval; None if there are none.

    Rounding to nearest, ties to even, never swaps the order of two numbers, so the doubles
    that round to singles in [first, last] are the doubles between two midpoints; a midpoint
    itself belongs to the single with the even significand.
    """
    low, low_closed, high, high_closed = -math.inf, False, math.inf, False
    first = last = None
    if interval.low > -math.inf:
        first = _single_from(interval.low, interval.low_closed, up=True)
        low, low_closed = _midpoint(first, up=False)
    if interval.high < math.inf:
        last = _single_from(interval.high, interval.high_closed, up=False)
        high, high_closed = _midpoint(last, up=True)
    if first is not None and last is not None and first > last:
        return None
    if first == math.inf and interval.high < math.inf:
        return None
    if last == -math.inf and interval.low > -math.inf:
        return None
    return low, low_closed, high, high_closed


def _single_from(end: float, closed: bool, *, up: bool) -> float:
    """The first single-precision number at (if closed) or beyond `end`, upwards or downwards."""
    with np.errstate(over="ignore", under="ignore"):
        f = np.float32(end)
        toward = np.float32(np.inf if up else -np.inf)
        beyond = float(f) > end if up else float(f) < end
        if beyond or (closed and float(f) == end):
            return float(f)
        return float(np.nextafter(f, toward))


def _midpoint(single: float, *, up: bool) -> tuple[float, bool]:
    """The last double that may round to `single` on one side, and whether it does."""
    if math.isinf(single) and (single > 0) == up:
        return single, False
    if math.isinf(single):
        return math.copysign(_OVERFLOW, single), True
    f = np.float32(single)
    with np.errstate(over="ignore", under="ignore"):
        neighbour = float(np.nextafter(f, np.float32(np.inf if up else -np.inf)))
    if math.isinf(neighbour):
        return math.copysign(_OVERFLOW, neighbour), False
    even = int(f.view(np.uint32)) % 2 == 0
    return single / 2 + neighbour / 2, even


_OVERFLOW = math.ldexp(2.0**25 - 1, 103)
"""The smallest double that rounds to infinity in single precision."""

_NAME = re.compile(r"[^\W\d][^<>={}\[\]\"',;\n\r\t\0]*")
_LEVEL = re.compile(r"[^\W\d][\w./-]*(?: [\w./-]+)*")
_WORDS = {"and", "or", "is", "not", "in", "if", "then"}
_LEVEL_WORDS = _WORDS | {"missing", "known", "anything", "true", "false"}


def quoted_name(name: str) -> str:
    """A feature's name, in double quotes where it could be taken for part of a condition.

    Examples
    --------
    >>> quoted_name("petal width (cm)"), quoted_name("x AND y <= 3")
    ('petal width (cm)', '"x AND y <= 3"')
    """
    plain = _NAME.fullmatch(name) and name == name.strip()
    if plain and not _WORDS & set(name.lower().split()):
        return name
    return json.dumps(name, ensure_ascii=False)


def quoted_level(level: Level) -> str:
    """A level, in double quotes if it is text that could be taken for something else.

    Examples
    --------
    >>> quoted_level("red"), quoted_level(1), quoted_level("1"), quoted_level("a, b")
    ('red', '1', '"1"', '"a, b"')
    """
    if not isinstance(level, str):
        return str(level)
    if _LEVEL.fullmatch(level) and not _LEVEL_WORDS & set(level.lower().split()):
        return level
    return json.dumps(level, ensure_ascii=False)
