"""Bars of importance, split in alone and together."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from rulelens.errors import OptionError
from rulelens.plots.importance import plot_importance


def test_bars_add_up_to_the_importance(graph_with):
    graph = graph_with(6)
    ax = plot_importance(graph, title="$T")
    alone, together = ([p.get_width() for p in c.patches] for c in ax.containers)
    names = [t.get_text() for t in ax.get_yticklabels()]
    expected = graph.importance()[names]
    np.testing.assert_allclose(np.add(alone, together), expected)
    np.testing.assert_allclose(alone, graph.alone()[names])
    assert list(expected) == sorted(expected, reverse=True)
    assert all(p.get_hatch() for p in ax.containers[1].patches)


def test_says_what_is_not_shown(graph_with):
    _, ax = plt.subplots()
    assert plot_importance(graph_with(50), ax, top=10) is ax
    assert "40 more features" in ax.get_xlabel()
    with pytest.raises(OptionError, match="top"):
        plot_importance(graph_with(3), top=0)
