"""Names in pictures: plain text in any script, never mathematics, never a missing glyph."""

from __future__ import annotations

import textwrap
import unicodedata
from functools import cache
from typing import Any

PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}
"""Options for every text that may hold a name."""

_UNKNOWN = "\N{WHITE SQUARE}"


def plain(text: str, *, width: int | None = None) -> str:
    """Text on one line that the current font can draw.

    Line breaks become spaces. A character that no chosen font has becomes a white square,
    because matplotlib would warn at every drawing. Where `width` is given, longer text is cut
    in its middle, so that both ends stay readable.

    Examples
    --------
    >>> plain("price in $\\n(net)"), plain("mean fractal dimension", width=13)
    ('price in $ (net)', 'mean f…ension')
    """
    line = " ".join(str(text).split())
    line = "".join(c for c in line if not unicodedata.category(c).startswith("C"))
    fonts = _characters(_family_key())
    line = "".join(c if c == " " or any(ord(c) in f for f in fonts) else _UNKNOWN for c in line)
    if width is not None and len(line) > width:
        head = width // 2
        line = line[:head] + "…" + line[len(line) - (width - head - 1) :]
    return line


def _family_key() -> tuple[str, ...]:
    import matplotlib

    rcParams: Any = matplotlib.rcParams
    family = rcParams["font.family"]
    generic = {"sans-serif", "serif", "monospace", "cursive", "fantasy"}
    return tuple(n for f in family for n in (rcParams[f"font.{f}"] if f in generic else [f]))


@cache
def _characters(names: tuple[str, ...]) -> tuple[frozenset[int], ...]:
    """Characters of the fonts that matplotlib will use: the installed ones of the families."""
    from matplotlib import font_manager

    installed = {f.name for f in font_manager.fontManager.ttflist}
    chosen = [n for n in names if n in installed] or ["DejaVu Sans"]
    paths = [font_manager.findfont(n) for n in chosen]
    return tuple(frozenset(font_manager.get_font(p).get_charmap()) for p in paths)


def wrap(text: str, width: int) -> str:
    """Text in lines of at most `width` characters, each made plain."""
    return "\n".join(plain(line) for line in textwrap.wrap(text, width)) or ""
