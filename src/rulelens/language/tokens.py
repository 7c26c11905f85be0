"""Text into tokens."""

from __future__ import annotations

import json
import re
from typing import Literal, NamedTuple, TypeAlias

from rulelens.core.schema import Level
from rulelens.errors import FormatError
from rulelens.language.place import error_at

TokenKind: TypeAlias = Literal["word", "keyword", "text", "number", "symbol", "end"]

KEYWORDS = frozenset(
    (
        *("rulelens", "feature", "numeric", "categorical", "boolean", "unit", "outcomes"),
        *("ordered", "provenance", "if", "and", "then", "from", "else"),
        *("in", "not", "is", "known", "missing", "or", "float32"),
        *("true", "false", "inf", "nan"),
    )
)
"""Words that are not names unless they stand in double quotes, in any case."""

UNSIGNED = r"(?:\d++(?>(?:\.\d*+)?)|\.\d++)(?>(?:[eE][+-]?\d++)?)"
"""A decimal number without its sign. Its groups are atomic, because Python 3.11.0 to 3.11.4 match
possessive ones wrongly."""

_TOKEN = re.compile(
    rf"""
    (?>(?:[ \t\r\n\f\ufeff]++ | \#[^\n]*+)*)
    (?:
    (?P<number>[+-]?{UNSIGNED}(?![\w.]))
  | (?P<text>"(?:[^"\\\n]|\\[^\n])*")
  | (?P<word>[^\W\d]\w*)
  | (?P<symbol><=|>=|!=|==|[<>=(){{}}\[\],:;+-])
  | (?P<end>\Z)
  | (?P<other>.)
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_BARE = re.compile(r"[^\W\d]\w*")


class Token(NamedTuple):
    """A piece of text: its kind, its value and where it starts."""

    kind: TokenKind
    value: str
    position: int


class Tokens:
    """The tokens of a text, in lists rather than objects: a large text has millions."""

    def __init__(self) -> None:
        self.kinds: list[TokenKind] = []
        self.values: list[str] = []
        self.positions: list[int] = []

    def __getitem__(self, place: int) -> Token:
        return Token(self.kinds[place], self.values[place], self.positions[place])

    def append(self, kind: TokenKind, value: str, position: int) -> None:
        """Add a token at the end."""
        self.kinds.append(kind)
        self.values.append(value)
        self.positions.append(position)


def tokenize(text: str) -> Tokens:
    """Tokens of a text, with one of kind ``end`` after the last.

    Raises
    ------
    FormatError
        A character that no token starts with, or a quote that is not closed.

    Examples
    --------
    >>> [t.value for t in tokenize('IF "heart rate" > 5e1 # comment')]
    ['if', 'heart rate', '>', '5e1', '']
    """
    out = Tokens()
    words: dict[str, tuple[TokenKind, str]] = {}
    for m in _TOKEN.finditer(text):  # there is a match at every place, so that none is passed over
        kind: TokenKind | Literal["other"] = m.lastgroup  # type: ignore[assignment]
        value, start = m[kind], m.start(kind)
        if kind == "word":
            if value not in words:
                lower = value.lower()
                words[value] = ("keyword", lower) if lower in KEYWORDS else ("word", value)
            out.append(*words[value], start)
        elif kind == "other":
            raise _unexpected(text, start)
        else:
            if kind == "text":
                value = _unquote(text, start, value)
            out.append(kind, value, start)
            if kind == "end":
                break
    return out


def _unexpected(text: str, position: int) -> FormatError:
    if text[position] == '"':
        return error_at(text, position, "A quote opens here and is not closed on its line.")
    return error_at(
        text,
        position,
        f"Unexpected {text[position]!r}. Put names and values with such characters in double "
        "quotes.",
    )


def _unquote(text: str, position: int, value: str) -> str:
    try:
        out: str = json.loads(value, strict=False)
    except json.JSONDecodeError as e:
        raise error_at(
            text,
            position + e.pos,
            'Unknown escape. Use \\", \\\\, \\n, \\t or \\u0000 as in JSON.',
        ) from None
    return out


def quote(text: str) -> str:
    """A name or text value as it is written: in quotes unless it is a plain word.

    Examples
    --------
    >>> quote("age"), quote("heart rate"), quote("and")
    ('age', '"heart rate"', '"and"')
    """
    if _BARE.fullmatch(text) and text.lower() not in KEYWORDS:
        return text
    # \u2028 and its like end a line for some readers: write everything unusual escaped.
    out = json.dumps(text, ensure_ascii=False)
    return out if out.isprintable() else json.dumps(text)


def write_level(level: Level) -> str:
    """A level, label or provenance value as it is written."""
    if isinstance(level, bool):
        return "true" if level else "false"
    return quote(level) if isinstance(level, str) else repr(level)
