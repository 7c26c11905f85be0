"""Whatever a picture says stands inside its figure, also with long names."""

import pytest

from rulelens.graph.comparison import GraphDifference
from rulelens.graph.distance import distance_matrix
from rulelens.graph.drift import drift
from rulelens.plots.drift import plot_drift
from rulelens.plots.graph import plot_classes, plot_difference, plot_graph
from rulelens.plots.heatmap import plot_distances, plot_heatmap
from rulelens.plots.importance import plot_importance

NAMES = {
    "short": lambda i: f"f{i}",
    "long": lambda i: f"mean of the monthly measure {i}",
    "capitals": lambda i: f"MONTHLY_AVERAGE_OF_SOME_COLUMN_OF_A_DATABASE_{i}",
    "one letter": lambda i: chr(65 + i % 26) + str(i // 26),
}


def states(graphs):
    return {f"state of the year {i}": g for i, g in enumerate(graphs)}


PICTURES = {
    "graph": lambda g, h: plot_graph(g),
    "heatmap": lambda g, h: plot_heatmap(g),
    "importance": lambda g, h: plot_importance(g),
    "classes": lambda g, h: plot_classes(g)[0],
    "difference": lambda g, h: plot_difference(GraphDifference.between(g, h)),
    "distances": lambda g, h: plot_distances(distance_matrix(states([g, h, g]))),
    "drift": lambda g, h: plot_drift(drift(states([g, h, g]))),
}


@pytest.mark.parametrize("n", [2, 3, 14, 45])
@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("picture", PICTURES)
def test_no_text_is_cut_off(graph_with, picture, names, n):
    """The caption of a heat map that hides features was cut off under names of 20 letters."""
    features = [NAMES[names](i) for i in range(n)]
    ax = PICTURES[picture](graph_with(features, n), graph_with(features, n + 1))
    figure = ax.get_figure(root=True)
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    wide, high = figure.canvas.get_width_height()
    for part in figure.axes:
        texts = [*part.texts, part.title, part.xaxis.label, part.yaxis.label]
        for axis in (part.xaxis, part.yaxis):
            low, high_end = sorted(axis.get_view_interval())
            texts += [t.label1 for t in axis.get_major_ticks() if low <= t.get_loc() <= high_end]
        for text in filter(lambda t: t.get_text() and t.get_visible(), texts):
            box = text.get_window_extent(renderer)
            assert min(box.x0, box.y0) >= -1, text
            assert box.x1 <= wide + 1, text
            assert box.y1 <= high + 1, text
