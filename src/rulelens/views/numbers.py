"""Numbers as people read them, without claiming more than is true."""

from __future__ import annotations

import math


def share(value: float | None) -> str:
    """A share from 0 to 1 in per cent; only 1 itself is "100 %", and only 0 is "0 %".

    Spaces in numbers do not break.

    Examples
    --------
    >>> [text.replace("\\xa0", " ") for text in map(share, (1.0, 0.99996, 0.123, 0.0001, None))]
    ['100 %', '> 99.9 %', '12.3 %', '< 0.1 %', '–']
    """
    if value is None or math.isnan(value):
        return "–"
    if value in (0, 1):
        return f"{int(value * 100)}\xa0%"
    if value > 0.9994:
        return ">\xa099.9\xa0%"
    if 0 < value < 0.0006:
        return "<\xa00.1\xa0%"
    return f"{value * 100:.1f}\xa0%"


def lower_end(value: float | None) -> str:
    """The lower end of an interval of shares in per cent, rounded down.

    Examples
    --------
    >>> [text.replace("\\xa0", " ") for text in map(lower_end, (0.83182, 0.99996, 0.0))]
    ['83.1 %', '99.9 %', '0 %']
    """
    if value is None or math.isnan(value):
        return "–"
    if value == 0:
        return "0\xa0%"
    # 0.57 times 1000 may come out below 570: what is nearly whole is whole.
    return f"{math.floor(round(value * 1000, 9)) / 10:.1f}\xa0%"


def interval_from(value: float | None) -> str:
    """The lower end of a 95 % interval, rounded down.

    Examples
    --------
    >>> interval_from(0.99996)
    '95\\xa0% interval from 99.9\\xa0%'
    """
    end = lower_end(value)
    return end if end == "–" else f"95\xa0% interval from {end}"


def number(value: float | None, digits: int = 3) -> str:
    """A number with so many digits after the point, with a true minus sign.

    Examples
    --------
    >>> number(0.5), number(-0.12345), number(None)
    ('0.500', '−0.123', '–')
    """
    if value is None or math.isnan(value):
        return "–"
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", "−")


def count(value: int, one: str, many: str | None = None) -> str:
    """A count with its noun.

    Examples
    --------
    >>> count(1, "rule"), count(1200, "rule"), count(2, "class", "classes")
    ('1 rule', '1,200 rules', '2 classes')
    """
    noun = one if value == 1 else (many or f"{one}s")
    return f"{value:,} {noun}"
