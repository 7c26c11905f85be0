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

_TOKEN = re.compile(
    r"""
    (?:[ \t\r\n\f\ufeff]++ | \#[^\n]*+)*+
    (?:
    (?P<number>[+-]?(?:\d++(?:\.\d*+)?+|\.\d++)(?:[eE][+-]?\d++)?+(?![\w.]))
  | (?P<text>"(?:[^"\\\n]|\\.)*")
  | (?P<word>[^\W\d]\w*)
  | (?P<symbol><=|>=|!=|==|[<>=(){}\[\],:;+-])
  | (?P<end>\Z)
    )
    """,
    re.VERBOSE,
)
_SKIPPED = re.compile(r"(?:[ \t\r\n\f\ufeff]++|#[^\n]*+)*+")
_BARE = re.compile(r"[^\W\d]\w*")


class Token(NamedTuple):
    """A piece of text: its kind, its value and where it starts."""

    kind: TokenKind
    value: str
    position: int


def tokenize(text: str) -> list[Token]:
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
    out: list[Token] = []
    position = 0
    while True:
        m = _TOKEN.match(text, position)
        if m is None:
            raise _unexpected(text, _SKIPPED.match(text, position).end())  # type: ignore[union-attr]
        kind = m.lastgroup
        start, position = m.span(m.lastindex)  # type: ignore[arg-type]
        value = text[start:position]
        if kind == "word":
            lower = value.lower()
            out.append(
                Token("keyword", lower, start) if lower in KEYWORDS else Token("word", value, start)
            )
        elif kind == "text":
            out.append(Token("text", _unquote(text, start, value), start))
        elif kind == "number":
            out.append(Token("number", value, start))
        elif kind == "symbol":
            out.append(Token("symbol", value, start))
        else:
            out.append(Token("end", "", start))
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
