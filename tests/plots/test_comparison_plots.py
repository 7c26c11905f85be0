"""Differences, classes, heat maps, distances, drift and intervals, as pictures."""

from __future__ import annotations

import datetime as dt
import re
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.patches import Circle, Rectangle

from rulelens.errors import OptionError, RulelensWarning
from rulelens.graph.comparison import GraphDifference
from rulelens.graph.distance import distance_matrix
from rulelens.graph.drift import drift
from rulelens.graph.feature_graph import FeatureGraph
from rulelens.graph.uncertainty import GraphIntervals, GraphTest
from rulelens.plots.drift import plot_drift
from rulelens.plots.graph import plot_classes, plot_difference, plot_graph
from rulelens.plots.heatmap import plot_distances, plot_heatmap
from rulelens.plots.importance import plot_importance
from rulelens.plots.save import save_figure


def flat(text):
    return re.sub(r"\s+", " ", text)


def test_difference_marks_more_and_less_without_colour(graph_with, tmp_path):
    change = GraphDifference.between(graph_with(6, 1), graph_with(6, 2), names=("$old", "new"))
    ax = plot_difference(change, title="what changed")
    moved = change.importance()
    circles = [p for p in ax.patches if isinstance(p, Circle)]
    for text, circle in zip(ax.texts, circles, strict=True):
        assert (circle.get_linestyle() == "--") == (moved[text.get_text()] < 0)
        size = abs(moved[text.get_text()]) / moved.abs().max()
        largest = max(c.radius for c in circles)
        assert circle.radius / largest == pytest.approx(max(size**0.5, 0.006 / largest))
    assert {line.get_linestyle() for line in ax.lines} == {"-", "--"}
    assert "more in new, hollow: more in $old" in flat(ax.get_xlabel())
    assert "Largest change of a link" in flat(ax.get_xlabel())
    save_figure(ax, tmp_path / "a.svg")


def test_no_difference_is_said(graph_with):
    ax = plot_difference(GraphDifference.between(graph_with(4), graph_with(4)))
    assert "No link between two features changed" in flat(ax.get_xlabel())


def test_classes_share_places_and_scales(graph_with):
    graph = graph_with(9)
    axes = plot_classes(graph, top=6)
    assert [ax.get_title() for ax in axes] == ["yes", "no"]
    places = [[(t.get_text(), t.get_position()) for t in ax.texts] for ax in axes]
    assert [n for n, _ in places[0]] == [n for n, _ in places[1]]
    largest = {}
    for label, ax in zip(["yes", "no"], axes, strict=True):
        part = graph.for_class(label)
        radius = max(p.radius for p in ax.patches if isinstance(p, Circle))
        shown = part.importance()[[t.get_text() for t in ax.texts]]
        largest[label] = radius**2 / shown.max()
    assert largest["yes"] == pytest.approx(largest["no"])
    _, own = plt.subplots(1, 3)
    assert plot_classes(graph, own) == list(own[:2])
    with pytest.raises(OptionError, match="as many axes"):
        plot_classes(graph, own[:1])
    with pytest.raises(OptionError, match="nothing to draw"):
        plot_classes(graph, labels=[])


def test_links_that_are_not_significant_are_dotted(graph_with):
    graph = graph_with(5)
    p = np.full((5, 5), 0.9)
    i, j = np.unravel_index(np.argmax(np.triu(graph.adjacency, 1)), (5, 5))
    p[i, j] = p[j, i] = 0.001
    test = GraphTest(graph, p, np.ones(5), p, 999, True)
    ax = plot_graph(graph, test=test)
    styles = [line.get_linestyle() for line in ax.lines]
    assert styles.count("-") == 1
    assert styles.count(":") == len(styles) - 1
    assert "Dotted: not significant" in flat(ax.get_xlabel())
    with pytest.raises(OptionError, match="other features"):
        plot_graph(graph_with(4), test=test)


@pytest.mark.parametrize("n", [1, 6, 14, 15, 300])
def test_heatmap_of_any_size(graph_with, n, tmp_path):
    graph = graph_with(n)
    ax = plot_heatmap(graph, title="$T")
    save_figure(ax, tmp_path / "a.png")
    assert len(ax.get_yticklabels()) == min(n, 20)
    assert ("not shown: 280 features" in ax.get_xlabel()) == (n == 300)


def test_heatmap_squares_are_weights(graph_with):
    graph = graph_with(16)
    ax = plot_heatmap(graph, top=16)
    names = [t.get_text() for t in ax.get_yticklabels()]
    squares = [p for p in ax.patches if isinstance(p, Rectangle) and p.get_x() + p.get_width() < 16]
    largest = max(p.get_width() for p in squares)
    for p in squares:
        i, j = (round(v + p.get_width() / 2) for v in (p.get_y(), p.get_x()))
        expected = graph.weight(names[i], names[j]) / graph.adjacency.max()
        assert (p.get_width() / largest) ** 2 == pytest.approx(expected)


def test_a_weight_that_rounds_to_nothing_is_a_dot(graph_with):
    frame = pd.DataFrame([[0, 0.2, 60], [0.2, 0, 60], [60, 60, 0]], index=["a", "b", "c"])
    assert [t.get_text() for t in plot_distances(frame).texts] == ["·", "60", "·", "60", "60", "60"]


def test_small_distances_are_written_with_more_digits():
    """Graphs that lie less than 0.5 apart all showed the same dot."""
    frame = pd.DataFrame([[0, 0.2], [0.2, 0]], index=["a", "b"], columns=["a", "b"])
    assert [t.get_text() for t in plot_distances(frame).texts] == ["0.2", "0.2"]


def test_times_do_not_touch(graph_with):
    """Six dates of ten letters ran into each other, in a figure of ours and in given axes."""
    result = drift({dt.date(2026, k + 1, 1): graph_with(5, k) for k in range(6)})
    for given in (None, plt.subplots(figsize=(4, 3))[1]):
        ax = plot_drift(result, given)
        ax.figure.canvas.draw()
        labels = ax.get_xticklabels()
        assert (labels[0].get_rotation() == 30) == (given is None)
        if given is not None:
            boxes = [label.get_window_extent() for label in labels]
            assert all(a.x1 < b.x0 for a, b in pairwise(boxes))


@pytest.mark.parametrize("plot", [plot_heatmap, plot_importance])
def test_captions_count_what_is_hidden(graph_with, plot):
    """'1 features', and a rest of 1.4e-14 that was rounding."""
    graph = graph_with(4)
    names = [*graph.features, "idle"]
    wider = FeatureGraph.from_relevances(
        names,
        np.column_stack([graph.contributions, np.zeros(graph.n_rules)]),
        graph.rule_weights,
        graph.outcome,
        graph.outcomes,
    )
    text = plot(wider, top=4).get_xlabel()
    assert "1 feature with 0 of" in text or "1 more feature: 0)" in text
    for top in (0, 2.5, True):
        with pytest.raises(OptionError, match="whole number of at least 1"):
            plot(graph, top=top)


def test_a_directed_heat_map_says_which_way(graph_with):
    graph = graph_with(4)
    directed = FeatureGraph.from_relevances(
        graph.features,
        graph.contributions,
        graph.rule_weights,
        graph.outcome,
        graph.outcomes,
        projection="resource_allocation",
    )
    assert "columns give, rows receive" in plot_heatmap(directed).get_xlabel()
    assert "give" not in plot_heatmap(graph).get_xlabel()


def test_bars_below_0_do_not_cover_the_squares():
    with pytest.warns(RulelensWarning):
        graph = FeatureGraph.from_relevances(
            ["a", "b", "c"], [[1, 0.9, 0], [1, 0.5, 0.4], [0, 1, 1]], [3, 3, 3], [0] * 3, ["yes"]
        )
    assert graph.importance().min() < 0
    bars = [p for p in plot_heatmap(graph).patches if p.get_height() == 0.7]
    assert min(min(b.get_x(), b.get_x() + b.get_width()) for b in bars) >= 3 - 1e-9


@pytest.mark.parametrize("n", [1, 2, 20])
def test_the_legend_stands_clear_of_the_bars(graph_with, n):
    """The legend lay over bars and intervals of features of like importance."""
    ax = plot_importance(graph_with([f"f{i}" for i in range(n)], n), title="t")
    ax.figure.canvas.draw()
    box = ax.get_legend().get_window_extent()
    assert box.y0 >= ax.get_window_extent().y1 - 1
    assert box.x1 <= ax.figure.bbox.x1
    assert ax.title.get_window_extent().y0 >= box.y1 - 1


@pytest.mark.parametrize("kind", ["importance", "drift"])
@pytest.mark.parametrize("suffix", [".svg", ".png"])
def test_a_second_save_gives_the_same_bytes(graph_with, tmp_path, kind, suffix):
    """An automatic layout moved the axes a little at every drawing."""
    names = [f"feature {i}" for i in range(30)]
    if kind == "importance":
        ax = plot_importance(graph_with(names, 3), title="x")
    else:
        ax = plot_drift(drift({k: graph_with(6, k) for k in range(6)}), limit=12, title="x")
    files = [save_figure(ax, tmp_path / f"{k}{suffix}").read_bytes() for k in range(3)]
    assert files[0] == files[1] == files[2]


def test_distances_and_given_axes(graph_with):
    frame = distance_matrix({f"{k}": graph_with(5, k) for k in range(4)})
    _, ax = plt.subplots()
    assert plot_distances(frame, ax, title="D") is ax
    assert len([t for t in ax.texts if t.get_text() not in ("·",)]) == 12


def test_drift_names_times_and_rings_steps_beyond_the_limit(graph_with, tmp_path):
    graphs = {dt.date(2026, 1, k + 1): graph_with(5, s) for k, s in enumerate([0, 0, 7, 7])}
    result = drift(graphs)
    ax = plot_drift(result, limit=1.0, title="$")
    save_figure(ax, tmp_path / "a.png")
    ringed = [line for line in ax.lines if line.get_fillstyle() == "none"]
    assert ringed[0].get_xdata().tolist() == [2]
    assert ax.get_xticklabels()[0].get_text() == "2026-01-01"


def test_importance_has_interval_lines(graph_with):
    graph = graph_with(4)
    low, high = graph.importance().to_numpy() - 1, graph.importance().to_numpy() + 1
    zeros = np.zeros((4, 4))
    intervals = GraphIntervals(graph, zeros, zeros, low, high, zeros, [1.0], 0.9, 100, False)
    ax = plot_importance(graph, intervals=intervals)
    names = [t.get_text() for t in ax.get_yticklabels()]
    np.testing.assert_allclose(ax.lines[0].get_xdata(), graph.importance()[names] - 1)
    assert "90% interval" in [t.get_text() for t in ax.get_legend().get_texts()]
    with pytest.raises(OptionError, match="other features"):
        plot_importance(graph_with(5), intervals=intervals)


def test_parts_of_both_signs_do_not_hide_each_other():
    """With lift the bar of a feature ended at another place than its importance, unsaid."""
    with pytest.warns(RulelensWarning):
        graph = FeatureGraph.from_relevances(
            ["a", "b", "c"], [[1, 0.9, 0], [1, 0.5, 0.4], [0, 1, 1]], [3, 3, 3], [0] * 3, ["yes"]
        )
    alone = graph.alone()
    mixed = graph.importance()[alone * (graph.importance() - alone) < 0]
    assert len(mixed)
    ax = plot_importance(graph)
    (marks,) = [line for line in ax.lines if line.get_marker() == "D"]
    assert sorted(marks.get_xdata()) == pytest.approx(sorted(mixed))
    names = [t.get_text() for t in ax.get_yticklabels()]
    bars = {
        k: [p for p in ax.patches if round(p.get_y() + p.get_height() / 2) == k] for k in (0, 1, 2)
    }
    for k, name in enumerate(names):
        if name in mixed:
            assert [p.get_x() for p in bars[k]] == [0, 0]
            assert sum(p.get_width() for p in bars[k]) == pytest.approx(mixed[name])
