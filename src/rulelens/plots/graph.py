"""A feature graph as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rulelens.core.schema import Level
from rulelens.errors import OptionError
from rulelens.graph.comparison import GraphDifference
from rulelens.graph.feature_graph import FeatureGraph
from rulelens.graph.layout import (
    RADIUS,
    DrawnNode,
    GraphDrawing,
    difference_drawing,
    drawing,
    shared_order,
)
from rulelens.graph.uncertainty import Correction, GraphTest
from rulelens.plots.text import inches, plain, style, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NODE, ALONE, LINK, EDGE, TEXT = "#cfe1f2", "#2a6f97", "#7a8b99", "#1d3f58", "#222222"
LOSS = "#c4622d"
LineStyle: TypeAlias = str | tuple[float, tuple[float, ...]]
_FONT, _SMALL, _LETTERS, _SIDE = 9.0, 8.0, 32, 4.6
_LARGEST_RADIUS, _WIDEST = 0.085, 0.028


def plot_graph(
    graph: FeatureGraph,
    ax: Axes | None = None,
    *,
    top: int = 20,
    features: Sequence[str] | None = None,
    test: GraphTest | None = None,
    alpha: float = 0.05,
    correction: Correction = "bh",
    title: str | None = None,
) -> Axes:
    """Draw a feature graph: what matters, alone and together.

    The area of a disc is a feature's importance, the dark disc inside the part that it has by
    itself. The width of a link is its weight; the widest one is named below.

    Parameters
    ----------
    graph : FeatureGraph
    ax : matplotlib Axes, optional
        By default a new figure.
    top : int, at least 1
        Draw this many features, the most important ones; the caption counts the others.
    features : sequence of str, optional
        Draw these instead, in this order around the circle.
    test : GraphTest, optional
        Of the same graph: links that are not significant at `alpha` are dotted.
    alpha : float
    correction : {"bh", "by", "max", "none"}
        For the number of links; see `GraphTest.adjusted`.
    title : str, optional

    Returns
    -------
    matplotlib Axes
        `GraphTest.to_frame` and `FeatureGraph.to_frame` hold the numbers.
    """
    trusted = None
    if test is not None:
        if test.graph.features != graph.features:
            raise OptionError("The test is of a graph with other features. Test this graph.")
        trusted = test.significant(alpha, correction=correction)
    return draw(drawing(graph, top, features=features, trusted=trusted), ax, title=title)


def plot_difference(
    change: GraphDifference,
    ax: Axes | None = None,
    *,
    top: int = 20,
    features: Sequence[str] | None = None,
    title: str | None = None,
) -> Axes:
    """Draw what changed between two graphs; the caption says how to read it.

    Parameters
    ----------
    change : GraphDifference
    ax, top, features, title
        See `plot_graph`; `top` takes the features that changed most.

    Returns
    -------
    matplotlib Axes
        `GraphDifference.to_frame` holds the numbers.
    """
    return draw(difference_drawing(change, top, features=features), ax, title=title)


def plot_classes(
    graph: FeatureGraph,
    axes: Sequence[Axes] | None = None,
    *,
    labels: Sequence[Level] | None = None,
    top: int = 12,
) -> list[Axes]:
    """Draw the graph of each class, side by side: the same places, the same scales.

    Parameters
    ----------
    graph : FeatureGraph
    axes : sequence of matplotlib Axes, one a class, optional
        By default a new figure.
    labels : sequence, optional
        The classes to draw; by default all that have rules.
    top : int, at least 1
        Draw this many features, those most important over the classes.

    Returns
    -------
    list of matplotlib Axes
    """
    if labels is None:
        labels = [c for k, c in enumerate(graph.outcomes) if (graph.outcome == k).any()]
    if not labels:
        raise OptionError("No class has a rule: there is nothing to draw.")
    parts = [graph.for_class(c) for c in labels]
    order = shared_order(parts, top)
    pictures = [drawing(g, features=order) for g in parts]
    largest_link = max(p.largest_link for p in pictures)
    largest_node = max(p.largest_node for p in pictures)
    if axes is None:
        import matplotlib.pyplot as plt

        columns = min(len(labels), 3)
        rows = -(-len(labels) // columns)
        figure, grid = plt.subplots(
            rows, columns, figsize=(5.0 * columns, 3.6 * rows), squeeze=False
        )
        figure.subplots_adjust(0.01, 0.18 / rows, 0.99, 1 - 0.1 / rows, 0.04, 0.4)
        axes = list(grid.flat)
        for unused in axes[len(labels) :]:
            unused.set_axis_off()
    if len(axes) < len(labels):
        raise OptionError(f"{len(labels)} classes need as many axes, and {len(axes)} are given.")
    return [
        draw(
            drawing(g, features=order, largest_link=largest_link, largest_node=largest_node),
            ax,
            title=str(label),
            guide=k == 0,
        )
        for k, (g, label, ax) in enumerate(zip(parts, labels, axes, strict=False))
    ]


def draw(
    picture: GraphDrawing,
    ax: Axes | None = None,
    *,
    title: str | None = None,
    guide: bool = True,
) -> Axes:
    """Draw what `rulelens.graph.layout.drawing` has laid out; see `plot_graph`."""
    from matplotlib.patches import Circle

    names = [plain(n.name, width=_LETTERS) for n in picture.nodes]
    longest = max((inches(name, _FONT) for name in names), default=0.0) + 0.12
    if ax is None:
        import matplotlib.pyplot as plt

        beside = 2 * longest if len(picture.nodes) > 2 else max(longest, 1.0)
        wide = max(_SIDE + beside, 5.0)
        high = _SIDE + 0.75 + 0.35 * (title is not None)
        figure = plt.figure(figsize=(wide, high))
        ax = figure.add_axes((0.01, 0.7 / high, 0.98, _SIDE / high))
    scale, letters, font = _fit(ax, picture, longest)
    # Many links of one width would be one grey blot.
    thin = min(1.0, (60 / max(len(picture.links), 1)) ** 0.5)
    for link in picture.links:
        a, b = picture.nodes[link.i], picture.nodes[link.j]
        points = max(72 * scale * _WIDEST * link.width * thin, 0.25)
        # Dashes grow with the width: keep those of wide links short.
        dash: LineStyle = "--" if points < 2 else (0, (7 / points, 3.5 / points))
        ax.plot(
            [a.x, b.x],
            [a.y, b.y],
            color=LOSS if link.weight < 0 else LINK,
            linewidth=points,
            linestyle=":" if not link.trusted else "-" if link.weight > 0 else dash,
            solid_capstyle="butt",
            zorder=1,
        )
    fill = NODE if picture.compared is None else ALONE
    named = _named(picture, font / 72 / scale)
    radius = _LARGEST_RADIUS * min(1.0, (12 / max(len(picture.nodes), 1)) ** 0.5)
    for node in picture.nodes:
        r = max(radius * node.size**0.5, 0.006)
        outline, face = ("--", "white") if node.importance < 0 else ("-", fill)
        ax.add_patch(
            Circle((node.x, node.y), r, facecolor=face, edgecolor=EDGE, linestyle=outline, zorder=2)
        )
        if node.alone_share:
            inner = r * node.alone_share**0.5
            ax.add_patch(Circle((node.x, node.y), inner, facecolor=ALONE, linewidth=0, zorder=3))
        if node.name in named:
            _write_name(ax, node, r, letters, font)
    if not picture.nodes:
        ax.text(0.5, 0.5, "no features", ha="center", va="center", color=TEXT)
    figure_ = ax.get_figure(root=True)
    wide = ax.get_window_extent().width / (100.0 if figure_ is None else figure_.dpi)
    text = picture.caption(guide=guide)
    if len(named) < len(picture.nodes):
        text += f" Named: {len(named)} of {len(picture.nodes)} features."
    caption = wrap(text, max(wide, 1.0), _SMALL)
    ax.set_xlabel(caption, fontsize=_SMALL, color=TEXT, **style(caption))
    if title is not None:
        ax.set_title(plain(title), **style(plain(title)))
    return ax


def _fit(ax: Axes, picture: GraphDrawing, longest: float) -> tuple[float, int, float]:
    """Set the limits so that circle and labels fit: inches a unit, label letters, font size.

    Labels are cut only where they would take more than half of the width.
    """
    figure = ax.get_figure(root=True)
    box = ax.get_window_extent()
    dpi = 100.0 if figure is None else figure.dpi
    wide, high = max(box.width / dpi, 0.5), max(box.height / dpi, 0.5)
    unit, font, letters = min(high, wide), _FONT, _LETTERS
    heights = np.sort([n.y for n in picture.nodes if n.anchor == "start"])
    if any(n.anchor == "middle" for n in picture.nodes):  # a label above and one below
        unit = min(unit, (high - 0.5) / (2 * (RADIUS + _LARGEST_RADIUS)))
    if len(heights) > 1:
        font = float(np.clip(np.diff(heights).min() * unit * 72 / 1.2, 5.0, _FONT))
    if len(picture.nodes) > 2:
        room = wide - 2 * (longest - 0.12) * font / _FONT - 0.24
        if room < 0.5 * unit:
            room = 0.5 * unit
            letters = _fitting(picture, (wide - room) / 2 - 0.12, font)
        unit = min(unit, room + (1 - 2 * RADIUS) * unit)
    elif len(picture.nodes) == 2:
        unit = min(unit, wide * 0.6)
        # Names stand under their nodes: within the picture, and apart from each other.
        letters = _fitting(picture, min(wide - 2 * RADIUS * unit, 2 * RADIUS * unit) - 0.1, font)
    ax.set_xlim(0.5 - wide / unit / 2, 0.5 + wide / unit / 2)
    ax.set_ylim(0.5 - high / unit / 2, 0.5 + high / unit / 2)
    ax.set_aspect("equal", adjustable="box")
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    return unit, letters, font


def _named(picture: GraphDrawing, high: float) -> set[str]:
    """Names that have room: all, or those of the largest discs that do not touch each other.

    ``high`` is the height of a letter in units of the drawing.
    """
    placed: dict[str, list[float]] = {"start": [], "end": [], "middle": []}
    named = set()
    for node in sorted(picture.nodes, key=lambda n: -n.size):
        if all(abs(node.y - y) >= high for y in placed[node.anchor]) or node.anchor == "middle":
            placed[node.anchor].append(node.y)
            named.add(node.name)
    return named


def _fitting(picture: GraphDrawing, room: float, font: float) -> int:
    """How many letters every name may have to fit into so many inches; 5 at the least."""
    letters = _LETTERS
    while letters > 5 and any(
        inches(plain(n.name, width=letters), font) > room for n in picture.nodes
    ):
        letters -= 1
    return letters


def _write_name(ax: Axes, node: DrawnNode, radius: float, letters: int, font: float) -> None:
    name = plain(node.name, width=letters)
    dx, dy = node.x - 0.5, node.y - 0.5
    gap = radius + 0.015
    if node.anchor == "middle":
        below = dy <= 1e-9
        x, y, va = node.x, node.y + (-gap if below else gap), "top" if below else "bottom"
    else:
        far = float(np.hypot(dx, dy))
        x, y, va = node.x + gap * dx / far, node.y + gap * dy / far, "center_baseline"
    ax.text(
        x,
        y,
        name,
        ha={"start": "left", "end": "right", "middle": "center"}[node.anchor],
        va=va,
        fontsize=font,
        color=TEXT,
        zorder=4,
        **style(name),
    )
