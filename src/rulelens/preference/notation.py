"""The short notation of rankings, such as ``3>6>9=7``."""

from __future__ import annotations

import re

from rulelens.errors import PreferenceError

_TOKEN = re.compile(
    r"""\s*(?:(?P<sign>[>=])|"(?P<d>[^"]*)"|'(?P<s>[^']*)'|(?P<w>[^>='"\s][^>='"]*))"""
)


def _fault(text: str, at: int, message: str) -> PreferenceError:
    return PreferenceError(f"{message}\n  {text}\n  {' ' * at}^")


def parse_ranking(text: str) -> tuple[tuple[str, ...], ...]:
    """Groups of ids, best first: ``>`` is "better than", ``=`` is "as good as".

    Ids are trimmed; one that holds ``>``, ``=`` or a quote is put in quotes of the other kind.

    Raises
    ------
    PreferenceError
        With the text and a caret below the place that is wrong.

    Examples
    --------
    >>> parse_ranking("3 > 6 > 9 = 7")
    (('3',), ('6',), ('9', '7'))
    >>> parse_ranking("3 >> 6")
    Traceback (most recent call last):
    rulelens.errors.PreferenceError: Expected an id, found '>'. Write a ranking as 3>6>9=7.
      3 >> 6
         ^
    """
    groups: list[list[str]] = []
    hint = "Write a ranking as 3>6>9=7."
    at, sign, wants_id = 0, ">", True
    end = len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None:
            raise _fault(text, at, f"This quote is not closed. {hint}")
        kind = match.lastgroup or "w"
        token = match.group(kind)
        start = match.start(kind)
        if kind == "sign":
            if wants_id:
                raise _fault(text, start, f"Expected an id, found '{token}'. {hint}")
            sign, wants_id = token, True
        else:
            name = token.strip() if kind == "w" else token
            if not wants_id:
                raise _fault(text, start, f"Expected '>' or '=' before {name!r}. {hint}")
            if not name:
                raise _fault(text, start, f"This id is empty. {hint}")
            if sign == ">":
                groups.append([])
            groups[-1].append(name)
            wants_id = False
        at = match.end()
    if wants_id:
        found = "The ranking is empty." if not groups else f"Expected an id after '{sign}'."
        raise _fault(text, end, f"{found} {hint}")
    return tuple(tuple(g) for g in groups)
