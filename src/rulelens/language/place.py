"""Errors that point at a place in a text, and numbers that stand at one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeVar

from rulelens.errors import FormatError, RulelensError

T = TypeVar("T")

_SHOWN = 100


def error_at(text: str, position: int, message: str) -> FormatError:
    """An error with line and column, that line, and a caret under the place.

    Examples
    --------
    >>> print(error_at("IF a > 5\\nTHEN", 4, "Expected a number."))
    line 1, column 5: Expected a number.
      IF a > 5
          ^
    """
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    line = text[start : len(text) if end < 0 else end].replace("\t", " ").rstrip("\r")
    column = position - start
    # Of a very long line, the part around the place.
    first = max(0, column - _SHOWN // 2)
    shown = line[first : first + _SHOWN]
    number = text.count("\n", 0, position) + 1
    return FormatError(
        f"line {number}, column {column + 1}: {message}\n  {shown}\n  {' ' * (column - first)}^"
    )


def at_place(text: str, position: int, make: Callable[[], T]) -> T:
    """What `make` returns; an error of ours is shown at the place."""
    try:
        return make()
    except FormatError:
        raise
    except RulelensError as e:
        raise error_at(text, position, str(e)) from None


def number_at(text: str, position: int, number: str) -> float:
    """The number that stands at a place; an error if it is too large for double precision.

    Examples
    --------
    >>> number_at("a > 1e-05", 4, "1e-05")
    1e-05
    """
    value = float(number)
    if math.isinf(value) and "inf" not in number.lower():
        raise error_at(text, position, "Expected a number below 1.8e308.")
    return value
