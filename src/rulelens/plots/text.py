"""Names in pictures: plain text in any script, never mathematics, never a missing glyph."""

from __future__ import annotations

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


def inches(text: str, size: float) -> float:
    """Width of a text that is `plain`, in inches, at a font size in points.

    Letters differ: forty capitals take twice the room of forty small ones.

    Examples
    --------
    >>> inches("WWWW", 9) > 2 * inches("iiii", 9)
    True
    """
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    # 5 % more than the outline: on a screen letters are fitted to whole pixels.
    wide, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), False)
    return 1.05 * float(wide) / 72


def wrap(text: str, room: float, size: float) -> str:
    """Text in lines that fit into `room` inches, each made plain; longer words are cut.

    Examples
    --------
    >>> wrap("two words", 0.5, 9)
    'two\\nwords'
    """
    lines: list[str] = []
    for word in plain(text).split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and inches(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(fitting(word, room, size))
    return "\n".join(lines)


def fitting(text: str, room: float, size: float) -> str:
    """Plain text, cut in its middle to fit into `room` inches; five letters at the least."""
    letters = len(text)
    out = plain(text, width=letters)
    while letters > 5 and inches(out, size) > room:
        letters -= 1
        out = plain(text, width=letters)
    return out
