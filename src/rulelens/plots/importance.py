"""Importance of features as bars, split in what each does alone and together with others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulelens.errors import OptionError
from rulelens.graph.feature_graph import FeatureGraph
from rulelens.graph.layout import checked_top, plain_figure
from rulelens.graph.uncertainty import GraphIntervals
from rulelens.plots.text import inches, plain, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ALONE, TOGETHER, EDGE = "#2a6f97", "#cfe1f2", "#1d3f58"
LINE = "#111111"


def plot_importance(
    graph: FeatureGraph,
    ax: Axes | None = None,
    *,
    top: int = 20,
    intervals: GraphIntervals | None = None,
    title: str | None = None,
) -> Axes:
    """Draw a bar a feature, the most important first: alone (dark), together (hatched).

    Parameters
    ----------
    graph : FeatureGraph
    ax : matplotlib Axes, optional
        By default a new figure.
    top : int, at least 1
        Draw this many features; the axis says how many there are besides.
    intervals : GraphIntervals, optional
        Bootstrap intervals of the same graph, drawn as lines with ends.
    title : str, optional

    Returns
    -------
    matplotlib Axes
        `FeatureGraph.importance` and `GraphIntervals.importance_frame` hold the numbers.
    """
    top = checked_top(top)
    importance = graph.adjacency.sum(axis=1)
    alone = graph.adjacency.diagonal()
    order = np.argsort(-importance, kind="stable")[:top]
    names = [plain(graph.features[i], width=40) for i in order]
    hidden = len(importance) - len(order)
    if ax is None:
        ax = _axes(names, lines=2 if hidden else 1, titled=title is not None)
    rows = np.arange(len(order))
    together = importance - alone
    # Parts of both signs, as lift gives, stand on both sides of 0 and would hide each other.
    mixed = (alone * together < 0)[order]
    ax.barh(rows, alone[order], color=ALONE, edgecolor=EDGE, label="alone", linewidth=0.6)
    ax.barh(
        rows,
        together[order],
        left=np.where(mixed, 0.0, alone[order]),
        color=TOGETHER,
        edgecolor=EDGE,
        hatch="////",
        label="together with others",
        linewidth=0.6,
    )
    if mixed.any():
        ax.plot(
            importance[order][mixed],
            rows[mixed],
            color=LINE,
            marker="D",
            markerfacecolor="white",
            linestyle="none",
            label="importance",
        )
    if intervals is not None:
        if intervals.graph.features != graph.features:
            raise OptionError("The intervals are of a graph with other features.")
        ax.hlines(
            rows,
            intervals.importance_low[order],
            intervals.importance_high[order],
            color=LINE,
            linewidth=1.6,
            label=f"{intervals.confidence:.0%} interval",
        )
        for ends in (intervals.importance_low, intervals.importance_high):
            ax.plot(ends[order], rows, color=LINE, marker="|", markersize=7, linestyle="none")
    ax.set_yticks(rows, names, **style(*names))
    ax.set_ylim(len(order) - 0.5, -0.5)
    rest = np.delete(importance, order).sum()
    noun = "feature" if hidden == 1 else "features"
    # On two lines: beside long names little room is left.
    note = f"\n({hidden} more {noun}: {plain_figure(rest)})" if hidden else ""
    ax.set_xlabel(f"importance, of 100{note}")
    ax.spines[["top", "right"]].set_visible(False)
    # Above the bars: inside it would hide some.
    ax.legend(
        loc="lower left",
        bbox_to_anchor=(0, 1),
        ncols=4,
        frameon=False,
        fontsize=8,
        handlelength=1.5,
        columnspacing=1.2,
    )
    if title is not None:
        ax.set_title(plain(title), pad=24, **style(plain(title)))
    return ax


def _axes(names: list[str], *, lines: int, titled: bool) -> Axes:
    """A new figure with room for the names, and for a label of so many lines below.

    matplotlib's automatic layouts would move the axes a little at every drawing, so that the
    same figure gave other files.
    """
    import matplotlib.pyplot as plt

    label = max((inches(name, 10) for name in names), default=0.0) + 0.2
    wide = max(6.4, label + 3.9)
    below, above = 0.4 + 0.17 * lines, 0.65 if titled else 0.35
    high = max(1.2, 0.27 * len(names)) + below + above
    figure = plt.figure(figsize=(wide, high))
    return figure.add_axes(
        (label / wide, below / high, 1 - (label + 0.15) / wide, 1 - (below + above) / high)
    )
