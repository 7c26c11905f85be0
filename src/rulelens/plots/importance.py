"""Importance of features as bars, split in what each does alone and together with others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rulelens.errors import OptionError
from rulelens.graph.feature_graph import FeatureGraph
from rulelens.graph.uncertainty import GraphIntervals
from rulelens.plots.text import plain, style

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
    if top < 1:
        raise OptionError(f"top must be at least 1, not {top!r}.")
    importance = graph.adjacency.sum(axis=1)
    alone = graph.adjacency.diagonal()
    order = np.argsort(-importance, kind="stable")[:top]
    if ax is None:
        import matplotlib.pyplot as plt

        size = (6.4, max(1.8, 0.27 * len(order) + 1.1))
        _, ax = plt.subplots(figsize=size, layout="constrained")
    rows = np.arange(len(order))
    ax.barh(rows, alone[order], color=ALONE, edgecolor=EDGE, label="alone", linewidth=0.6)
    ax.barh(
        rows,
        (importance - alone)[order],
        left=alone[order],
        color=TOGETHER,
        edgecolor=EDGE,
        hatch="////",
        label="together with others",
        linewidth=0.6,
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
    names = [plain(graph.features[i], width=40) for i in order]
    ax.set_yticks(rows, names, **style(*names))
    ax.set_ylim(len(order) - 0.5, -0.5)
    hidden = len(importance) - len(order)
    rest = importance.sum() - importance[order].sum()
    # On two lines: beside long names little room is left.
    note = f"\n({hidden} more features: {rest:.3g})" if hidden else ""
    ax.set_xlabel(f"importance, of 100{note}")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="lower right", frameon=False)
    if title is not None:
        ax.set_title(plain(title), **style(plain(title)))
    return ax
