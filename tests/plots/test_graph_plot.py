"""The drawn graph: sizes mean what the caption says, and any name is only text."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.patches import Circle

from rulelens.graph.feature_graph import FeatureGraph
from rulelens.plots.graph import plot_graph
from rulelens.plots.save import save_figure


def texts(ax):
    return [t.get_text() for t in ax.texts]


def test_areas_are_importance_and_inner_discs_the_part_alone(graph_with):
    graph = graph_with(5)
    ax = plot_graph(graph)
    circles = [p for p in ax.patches if isinstance(p, Circle)]
    outer, inner = circles[0::2], circles[1::2]
    importance, alone = graph.importance(), graph.alone()
    for name, big, small in zip(texts(ax), outer, inner, strict=True):
        ratio = (big.radius / max(c.radius for c in outer)) ** 2
        assert ratio == pytest.approx(importance[name] / importance.max())
        assert (small.radius / big.radius) ** 2 == pytest.approx(alone[name] / importance[name])


def test_widths_are_weights_of_the_widest_link(graph_with):
    graph = graph_with(5)
    ax = plot_graph(graph)
    widths = np.array([line.get_linewidth() for line in ax.lines])
    A = np.triu(graph.adjacency, 1)
    expected = np.sort(A[0.02 * A.max() <= A])
    np.testing.assert_allclose(widths / widths.max(), expected / expected.max(), atol=0.02)
    assert "Widest link" in ax.get_xlabel()


def test_given_axes_are_used_and_returned(graph_with):
    _, ax = plt.subplots()
    graph = graph_with(4)
    assert graph.plot(ax=ax, title="T") is ax
    assert ax.get_title() == "T"


@pytest.mark.parametrize("size", [(1.2, 1.0), (3, 3), (8, 2), (2, 8)])
def test_small_axes_are_no_error(graph_with, size, tmp_path):
    _, ax = plt.subplots(figsize=size)
    save_figure(
        plot_graph(graph_with([f"a rather long name {i}" for i in range(25)]), ax),
        tmp_path / "a.png",
    )


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 40])
def test_any_number_of_features(graph_with, n, tmp_path):
    ax = plot_graph(graph_with(n), top=40)
    save_figure(ax, tmp_path / "a.png")
    assert len(ax.texts) == n


def test_no_links_and_no_importance(graph_with):
    assert "No two of these features" in plot_graph(graph_with(4, links=False)).get_xlabel()
    with pytest.warns(UserWarning, match="empty"):
        empty = FeatureGraph.from_relevances(["a", "b"], np.zeros((0, 2)), [], [], ["yes"])
    assert len(plot_graph(empty).texts) == 2


def test_names_are_plain_text_in_any_script(graph_with, tmp_path):
    """A '$' in a name became mathematics, and a script without a font a warning at each drawing."""
    names = [
        "$x_1$",
        "price in $",
        "größe",
        "年齢",
        "возраст",
        "العمر",
        "a\nb",
        "_x",
        "\\frac{",
        "😀",
    ]
    ax = plot_graph(graph_with(names), title="$ and 年")
    assert {"$x_1$", "price in $", "größe", "возраст", "a b", "_x", "\\frac{"} <= set(texts(ax))
    for suffix in ("png", "svg"):
        save_figure(ax, tmp_path / f"a.{suffix}")


def test_names_do_not_overlap_nor_leave_the_figure(graph_with):
    """25 names of 24 letters, the longest of scikit-learn's breast cancer table."""
    ax = plot_graph(graph_with([f"worst fractal dimension{i:02d}" for i in range(25)]), top=25)
    figure = ax.get_figure()
    figure.canvas.draw()
    boxes = [t.get_window_extent() for t in ax.texts]
    frame = figure.bbox
    for i, a in enumerate(boxes):
        assert frame.x0 <= a.x0
        assert a.x1 <= frame.x1
        assert frame.y0 <= a.y0
        assert a.y1 <= frame.y1
        for b in boxes[i + 1 :]:
            assert not (a.x0 < b.x1 and b.x0 < a.x1 and a.y0 + 2 < b.y1 and b.y0 + 2 < a.y1)


def test_300_features_show_the_most_important_and_say_so(graph_with):
    ax = plot_graph(graph_with(300))
    assert len(ax.texts) == 20
    assert "Not shown: 280 features" in ax.get_xlabel().replace("\n", " ")


def test_negative_links_are_dashed():
    P = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.3, 1.0]])
    with pytest.warns(UserWarning, match="leaves"):
        graph = FeatureGraph.from_relevances(
            ["a", "b", "c"], P, [3.0, 3.0, 30.0], [0, 0, 0], ["yes"], rule_relevance="lift"
        )
    ax = plot_graph(graph)
    styles = {line.get_linestyle() for line in ax.lines}
    assert styles == {"-", "--"}
    assert "Dashed: below 0" in ax.get_xlabel().replace("\n", " ")


def test_names_that_have_no_room_are_left_out_and_counted(graph_with):
    """Hundreds of names lay over each other."""
    ax = plot_graph(graph_with(120), top=120)
    ax.figure.canvas.draw()
    named = [t for t in ax.texts if t.get_text()]
    assert 40 < len(named) < 120
    assert f"Named: {len(named)} of 120 features." in ax.get_xlabel().replace("\n", " ")
    for side in ("left", "right"):
        boxes = [t.get_window_extent() for t in named if t.get_ha() == side]
        heights = sorted((b.y0 + b.y1) / 2 for b in boxes)
        assert min(np.diff(heights)) >= 5 * ax.figure.dpi / 72 * 0.95
    assert "Named" not in plot_graph(graph_with(20)).get_xlabel()


def test_a_disc_below_0_is_explained():
    with pytest.warns(UserWarning, match="leaves"):
        graph = FeatureGraph.from_relevances(
            ["a", "b"], [[1, 0], [1, 0], [0, 1]], [3, 3, 30], [0, 0, 0], ["yes"]
        )
    assert graph.importance().min() < 0
    assert "Dashed: below 0" in plot_graph(graph).get_xlabel().replace("\n", " ")
