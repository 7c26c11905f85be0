"""Text into tokens."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rulelens.core.schema import Level
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
    (?P<space>[ \t\r\n\f\ufeff]+ | \#[^\n]*)
  | (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
  | (?P<text>"(?:[^"\\\n]|\\.)*")
  | (?P<word>[^\W\d]\w*)
  | (?P<symbol><=|>=|!=|==|[<>=(){}\[\],:;+-])
    """,
    re.VERBOSE,
)
_BARE = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True, slots=True)
class Token:
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
    out = []
    position = 0
    while position < len(text):
        m = _TOKEN.match(text, position)
        if m is None:
            if text[position] == '"':
                raise error_at(text, position, "A quote opens here and is not closed on its line.")
            raise error_at(
                text,
                position,
                f"Unexpected {text[position]!r}. Put names and values with such characters in "
                "double quotes.",
            )
        kind, value = m.lastgroup, m[0]
        if kind == "word":
            lower = value.lower()
            if lower in KEYWORDS:
                out.append(Token("keyword", lower, position))
            else:
                out.append(Token("word", value, position))
        elif kind == "text":
            out.append(Token("text", _unquote(text, position, value), position))
        elif kind == "number":
            out.append(Token("number", value, position))
        elif kind == "symbol":
            out.append(Token("symbol", value, position))
        position = m.end()
    out.append(Token("end", "", len(text)))
    return out


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
