"""An adjacency matrix as a grid of squares, with importance bars; and a distance matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rulelens.graph.feature_graph import FeatureGraph
from rulelens.graph.layout import checked_top, plain_figure
from rulelens.plots.text import inches, plain, style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_BLUES, _EDGE, _TEXT = "Blues", "#1d3f58", "#222222"
_BARS = 5.0
"""Cells that the longest bar and its number take."""
_NUMBERED = 14


def plot_heatmap(
    graph: FeatureGraph, ax: Axes | None = None, *, top: int = 20, title: str | None = None
) -> Axes:
    """Draw the links of a graph as a grid of squares, with bars of importance at the right.

    The shade of a square grows with the weight; up to 14 features the weight is written in
    it (a dot stands for one that rounds to 0), beyond that its area grows, too.

    Parameters
    ----------
    graph : FeatureGraph
    ax : matplotlib Axes, optional
        By default a new figure.
    top : int, at least 1
        Show this many features, the most important ones.
    title : str, optional

    Returns
    -------
    matplotlib Axes
        `FeatureGraph.to_frame` holds the numbers.
    """
    top = checked_top(top)
    importance = graph.adjacency.sum(axis=1)
    order = np.argsort(-importance, kind="stable")[:top]
    names = [graph.features[i] for i in order]
    A = graph.adjacency[np.ix_(order, order)]
    hidden = len(importance) - len(order)
    notes = []
    if graph.directed:
        notes.append("columns give, rows receive")
    if hidden:
        noun = "feature" if hidden == 1 else "features"
        rest = np.delete(importance, order).sum()
        notes.append(f"not shown: {hidden} {noun} with {plain_figure(rest)} of 100")
    ax = _axes(ax, names, _BARS + 0.6, caption=len(notes))
    n = len(names)
    _squares(ax, A, names, numbers="{:.1f}")
    # Bars in the same axes, right of the squares: they need no room beside them.
    # Those below 0 lead to the left of a line that stands as far from the squares as they need.
    shown = importance[order]
    span = float(shown.max(initial=0.0) - shown.min(initial=0.0)) or 1.0
    lengths = (_BARS - 1.2) * shown / span
    zero = n - float(lengths.min(initial=0.0))
    ax.barh(np.arange(n), lengths, left=zero, color="#cfe1f2", edgecolor=_EDGE, height=0.7)
    for row, value in enumerate(shown):
        end = zero + max(lengths[row], 0) + 0.15
        ax.text(end, row, f"{value:.1f}", va="center", fontsize=7, color=_TEXT)
    ax.text(n, -0.7, "importance", va="bottom", fontsize=8, color=_TEXT)
    ax.set_xlim(-0.5, n + _BARS)
    if notes:
        ax.set_xlabel("\n".join(notes), fontsize=8)
    if title is not None:
        ax.set_title(
            plain(title), loc="left", **style(plain(title))
        )  # above the squares, not the bars
    return ax


def plot_distances(
    distances: pd.DataFrame, ax: Axes | None = None, *, title: str | None = None
) -> Axes:
    """Draw a matrix of distances between graphs, as `distance_matrix` gives it.

    Parameters
    ----------
    distances : pandas DataFrame, shape (n_graphs, n_graphs)
    ax : matplotlib Axes, optional
        By default a new figure.
    title : str, optional

    Returns
    -------
    matplotlib Axes
    """
    names = [str(n) for n in distances.index]
    ax = _axes(ax, names, 0.0, caption=0)
    values = distances.to_numpy(dtype=float)
    largest = float(np.abs(values).max(initial=0.0))
    numbers = "{:.0f}" if largest >= 20 else "{:.1f}" if largest >= 2 else "{:.2g}"
    _squares(ax, values, names, numbers)
    if title is not None:
        ax.set_title(plain(title), **style(plain(title)))
    return ax


def _axes(ax: Axes | None, names: list[str], extra: float, *, caption: int) -> Axes:
    """Axes as given, or a new figure with room for the names; `extra` cells at the right.

    A caption of so many lines stands below the names and needs room of its own.
    """
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    longest = max((inches(plain(name, width=26), _letters(names)) for name in names), default=0.1)
    label = longest + 0.25
    cell = 0.3 if len(names) <= 40 else 0.16
    grid = max(cell * len(names), 1.2)
    below = label + (0.15 + 0.15 * caption if caption else 0.0)
    wide, high = label + grid + cell * extra + 0.3, below + grid + 0.75
    figure = plt.figure(figsize=(wide, high))
    return figure.add_axes((label / wide, below / high, (grid + cell * extra) / wide, grid / high))


def _letters(names: list[str]) -> float:
    """Font size of names, in points."""
    return 9.0 if len(names) <= 40 else 5.0


def _squares(ax: Axes, values: NDArray[np.float64], names: list[str], numbers: str) -> None:
    import matplotlib
    from matplotlib.patches import Rectangle

    n = len(values)
    numbered = n <= _NUMBERED
    largest = float(np.abs(values).max(initial=0.0))
    shades = matplotlib.colormaps[_BLUES]
    for i, j in zip(*np.nonzero(values), strict=True):
        share = abs(values[i, j]) / largest
        side = 1.0 if numbered else 0.92 * share**0.5
        below = values[i, j] < 0
        ax.add_patch(
            Rectangle(
                (j - side / 2, i - side / 2),
                side,
                side,
                facecolor="white" if below else shades(0.05 + 0.8 * share),
                edgecolor="white" if numbered else _EDGE,
                linewidth=0.4,
            )
        )
        if numbered:
            text = numbers.format(values[i, j])
            if float(text) == 0:  # not 0, only too small to be written
                text = "·"
            dark = share > 0.55 and not below
            color = "white" if dark else _TEXT
            ax.text(j, i, text, ha="center", va="center", fontsize=7, color=color)
    labels = [plain(name, width=26) for name in names]
    ax.set_xticks(range(n), labels, rotation=90, **style(*labels))
    ax.set_yticks(range(n), labels, **style(*labels))
    ax.tick_params(length=0, labelsize=_letters(names))
    ax.set_xlim(-0.5, n - 0.5)
    ax.set_ylim(n - 0.5, -0.5)
    ax.set_aspect("equal", adjustable="box")
    for spine in ax.spines.values():
        spine.set_visible(False)
