"""Names in pictures: plain text in any script, never mathematics, never a missing glyph."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Any

_UNKNOWN = "\N{WHITE SQUARE}"


def style(*texts: str) -> dict[str, Any]:
    """Options for drawing texts that may hold names: no mathematics, and fonts that have them."""
    options: dict[str, Any] = {"parse_math": False, "usetex": False}
    families = _families(texts)
    return options | {"fontfamily": families} if families else options


def plain(text: str, *, width: int | None = None) -> str:
    """Text on one line that can be drawn with `style`.

    Line breaks become spaces. A character that no installed font has becomes a white square,
    because matplotlib would warn at every drawing. Where `width` is given, longer text is cut
    in its middle, so that both ends stay readable.

    Examples
    --------
    >>> plain("price in $\\n(net)"), plain("mean fractal dimension", width=13)
    ('price in $ (net)', 'mean f…ension')
    """
    line = " ".join(str(text).split())
    line = "".join(c for c in line if not unicodedata.category(c).startswith("C"))
    line = "".join(c if _font_of(c, _family_key()) is not None else _UNKNOWN for c in line)
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


def _families(texts: Iterable[str]) -> list[str]:
    """The current families and those that lend characters; none where nothing is lent."""
    import matplotlib

    key = _family_key()
    lent = dict.fromkeys(_font_of(c, key) or "" for c in sorted(set("".join(texts)) - {"\n"}))
    names = [name for name in lent if name]
    return [*matplotlib.rcParams["font.family"], *names] if names else []


@cache
def _font_of(character: str, chosen: tuple[str, ...]) -> str | None:
    """Family that lends a character: "" where a chosen font has it, None where no font has."""
    if character == " ":
        return ""
    from matplotlib import font_manager

    files: dict[str, str] = {}
    for font in font_manager.fontManager.ttflist:
        # Upright and of normal weight, as it will be drawn; "Last Resort" draws boxes.
        usual = font.style == "normal" and font.weight in (400, "normal", "regular")
        if usual and not font.name.startswith("Last Resort"):
            files.setdefault(font.name, font.fname)
    mine = [n for n in chosen if n in files] or ["DejaVu Sans"]
    if any(ord(character) in _characters(files[n]) for n in mine if n in files):
        return ""
    # Fonts without serifs first, as they are nearest to the usual one.
    others = sorted(set(files) - set(mine), key=lambda n: ("Sans" not in n, n))
    return next((n for n in others if ord(character) in _characters(files[n])), None)


@cache
def _characters(path: str) -> frozenset[int]:
    from matplotlib import font_manager

    return frozenset(font_manager.get_font(path).get_charmap())


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

    font = FontProperties(family=_families([text]) or None, size=size)
    # 5 % more than the outline: on a screen letters are fitted to whole pixels.
    wide, _, _ = text_to_path.get_text_width_height_descent(text, font, False)
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
