"""Names in any script: drawn by a font that has them, or else as a white square."""

import numpy as np
import pytest
from matplotlib import font_manager

from rulelens.plots.graph import plot_graph
from rulelens.plots.heatmap import plot_heatmap
from rulelens.plots.text import inches, plain, style

LENT = "\N{MATHEMATICAL ITALIC SMALL Z}"
"""DejaVu Serif, which matplotlib brings along, has it, and DejaVu Sans has not."""
NOWHERE = "\N{LINEAR B SYLLABLE B008 A}"


def fonts_with(character):
    return [
        f.name
        for f in font_manager.fontManager.ttflist
        if not f.name.startswith("Last Resort")
        and ord(character) in font_manager.get_font(f.fname).get_charmap()
    ]


def test_another_font_lends_what_the_usual_one_lacks():
    assert plain(f"a {LENT}") == f"a {LENT}"
    families = style(f"a {LENT}")["fontfamily"]
    assert families[0] == "sans-serif"
    assert families[-1] in fonts_with(LENT)
    assert "fontfamily" not in style("plain words", "größer", "возраст")
    assert inches(LENT, 9) > 0


def test_what_no_font_has_is_a_square():
    if fonts_with(NOWHERE):
        pytest.skip("A font with Linear B is installed here: nothing is missing.")
    assert plain(f"a{NOWHERE}b") == "a□b"


@pytest.mark.parametrize("draw", [plot_graph, plot_heatmap])
def test_lent_characters_are_drawn(graph_with, draw):
    """matplotlib warns, and here fails, where a glyph is missing."""
    pictures = []
    for name in (LENT, "\N{MATHEMATICAL ITALIC SMALL Y}"):
        figure = draw(graph_with([f"of {name}", "b", "c"])).get_figure(root=True)
        figure.canvas.draw()
        pictures.append(np.asarray(figure.canvas.buffer_rgba()).copy())
    assert pictures[0].shape != pictures[1].shape or (pictures[0] != pictures[1]).any()
