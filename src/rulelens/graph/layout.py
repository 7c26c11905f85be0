"""Where to draw the features of a graph: the same picture for the same graph.

Features stand on a circle, strongly linked ones side by side, so that links do not hide nodes
and labels have room outside. The record `GraphDrawing` is all that a drawing needs, whether
matplotlib or SVG makes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rulelens.errors import OptionError, UnknownFeatureError, did_you_mean

if TYPE_CHECKING:
    from rulelens.graph.comparison import GraphDifference
    from rulelens.graph.feature_graph import FeatureGraph

Floats = NDArray[np.float64]
Anchor = Literal["start", "end", "middle"]

RADIUS = 0.42
"""Radius of the circle of nodes, in the unit square."""
FAINTEST = 0.02
"""Links narrower than this part of the widest one are counted, not drawn."""
_PASSES = 20
_ORDERED = 60


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """A feature: its place in the unit square (y upwards), and its shares of 100.

    ``size`` is its importance relative to the largest one shown, from 0 to 1: scale the area
    by it. ``anchor`` tells which end of the label is next to the node.
    """

    name: str
    x: float
    y: float
    importance: float
    alone: float
    size: float
    anchor: Anchor

    @property
    def alone_share(self) -> float:
        """Part of the importance that the feature has by itself, from 0 to 1."""
        return min(max(self.alone / self.importance, 0.0), 1.0) if self.importance else 0.0


@dataclass(frozen=True, slots=True)
class DrawnLink:
    """A link between the nodes at positions i and j; ``width`` is relative, above 0 up to 1.

    ``trusted`` is False for a link that a test did not find significant.
    """

    i: int
    j: int
    weight: float
    width: float
    trusted: bool = True


@dataclass(frozen=True, slots=True)
class GraphDrawing:
    """What to draw of a feature graph.

    Parameters
    ----------
    nodes : tuple of DrawnNode
        In the order of the circle, clockwise from the top.
    links : tuple of DrawnLink
        Thinnest first, so that the widest lie on top; without those of a feature with itself.
    n_hidden : int
        Features that are not shown.
    hidden_importance : float
        Their importance in all, out of 100.
    largest_link : float
        Weight that the width 1 stands for; 0 where there is no link.
    largest_node : float
        Importance that the size 1 stands for.
    n_faint : int
        Links that are not drawn, because they are narrower than `FAINTEST` of the widest.
    compared : tuple of two str or None
        Names of the two graphs whose difference this is, second minus first.
    """

    nodes: tuple[DrawnNode, ...]
    links: tuple[DrawnLink, ...]
    n_hidden: int
    hidden_importance: float
    largest_link: float
    largest_node: float
    n_faint: int = 0
    compared: tuple[str, str] | None = None

    def guide(self) -> str:
        """How to read discs and links."""
        if self.compared is None:
            return "Disc area: importance; dark part: the feature by itself."
        first, second = self.compared
        return (
            f"Disc area: change of importance; full: more in {second}, hollow: more in {first}. "
            "Links, the same: solid or dashed."
        )

    def caption(self, *, guide: bool = True) -> str:
        """Sentences that say how to read the picture (`guide`) and what it leaves out."""
        parts = [self.guide()] if guide else []
        widest = "Widest link" if self.compared is None else "Largest change of a link"
        if self.links:
            link = self.links[-1]
            a, b = self.nodes[link.i].name, self.nodes[link.j].name
            parts.append(f"{widest}: {a} and {b}, {plain_figure(link.weight)} of 100.")
        elif len(self.nodes) > 1 and not self.n_faint:
            parts.append(
                "No two of these features act together."
                if self.compared is None
                else "No link between two features changed."
            )
        if self.n_faint:
            noun = "link" if self.n_faint == 1 else "links"
            least = FAINTEST * self.largest_link
            parts.append(f"Not drawn: {self.n_faint} {noun} below {plain_decimal(least, 2)}.")
        below = [link.weight for link in self.links] + [n.importance for n in self.nodes]
        if self.compared is None and any(value < 0 for value in below):
            parts.append("Dashed: below 0.")
        if not all(link.trusted for link in self.links):
            parts.append("Dotted: not significant.")
        if self.n_hidden:
            noun = "feature" if self.n_hidden == 1 else "features"
            rest = plain_figure(self.hidden_importance)
            tail = f" with {rest} of 100." if self.compared is None else "."
            parts.append(f"Not shown: {self.n_hidden} {noun}{tail}")
        return " ".join(parts)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def plain_figure(value: float) -> str:
    """Three digits of a figure of 100, without an exponent; what rounds to 0.00 is "almost 0".

    Examples
    --------
    >>> [plain_figure(x) for x in (3.54e-05, 0.0, 0.0312, 12.345, -4.0)]
    ['almost 0', '0', '0.0312', '12.3', '-4']
    """
    return "almost 0" if 0 < abs(value) < 0.005 else plain_decimal(value, 3)


def plain_decimal(value: float, digits: int) -> str:
    """A number with so many significant digits, without an exponent.

    Examples
    --------
    >>> plain_decimal(3.54e-05, 2), plain_decimal(1234.0, 2)
    ('0.000035', '1200')
    """
    return np.format_float_positional(value, precision=digits, fractional=False, trim="-")


def drawing(
    graph: FeatureGraph,
    top: int = 20,
    *,
    features: Sequence[str] | None = None,
    largest_link: float | None = None,
    largest_node: float | None = None,
    trusted: NDArray[np.bool_] | None = None,
) -> GraphDrawing:
    """What to draw of a feature graph, and where.

    Parameters
    ----------
    graph : FeatureGraph
    top : int, at least 1
        Show this many features, the most important ones. Those of importance 0 are left out
        as long as another is shown.
    features : sequence of str, optional
        Show these, in this order around the circle: several graphs then share one layout. See
        `shared_order`.
    largest_link, largest_node : float, optional
        Weight of a link of width 1, importance of a disc of size 1; by default the largest
        ones of this graph.
    trusted : array of bool, shape (n_features, n_features), optional
        Links that a test found significant, as `GraphTest.significant` tells; by default all.

    Raises
    ------
    OptionError
        `top` is below 1.
    UnknownFeatureError
        A name in `features` that the graph does not have.
    """
    return _picture(
        graph.features,
        graph.adjacency,
        graph.adjacency.diagonal(),
        checked_top(top),
        features,
        largest_link,
        largest_node,
        trusted,
    )


def difference_drawing(
    change: GraphDifference, top: int = 20, *, features: Sequence[str] | None = None
) -> GraphDrawing:
    """What to draw of the difference of two graphs, and where; see `drawing`.

    The features shown are those whose links, or what they do alone, changed most.
    """
    picture = _picture(
        change.features,
        change.difference,
        np.zeros(len(change.features)),
        checked_top(top),
        features,
        None,
        None,
        None,
    )
    return replace(picture, compared=change.names)


def _picture(
    names: tuple[str, ...],
    A: Floats,
    alone: Floats,
    top: int,
    features: Sequence[str] | None,
    largest_link: float | None,
    largest_node: float | None,
    trusted: NDArray[np.bool_] | None,
) -> GraphDrawing:
    importance = A.sum(axis=1)
    weights = np.abs(A + A.T) / 2
    if features is None:
        # Weights of both signs may cancel in the importance: rank by their size.
        rank = np.abs(A).sum(axis=1)
        chosen = _most_important(rank, top)
        chosen = chosen[circle_order(weights[np.ix_(chosen, chosen)], rank[chosen])]
    else:
        chosen = np.array([_position(names, name) for name in features], dtype=np.int64)
    if largest_node is None:
        largest_node = float(np.abs(importance)[chosen].max(initial=0.0))
    nodes = tuple(
        DrawnNode(
            names[f],
            x,
            y,
            float(importance[f]),
            float(alone[f]),
            min(float(abs(importance[f]) / largest_node), 1.0) if largest_node else 0.0,
            anchor,
        )
        for f, (x, y, anchor) in zip(chosen, _circle(len(chosen)), strict=True)
    )
    block = np.ix_(chosen, chosen)
    links, largest, n_faint = _links(
        A[block], largest_link, None if trusted is None else trusted[block]
    )
    hidden = np.setdiff1d(np.arange(len(importance)), chosen)
    return GraphDrawing(
        nodes,
        links,
        len(hidden),
        float(importance[hidden].sum()) + 0.0,
        largest,
        largest_node,
        n_faint,
    )


def checked_top(top: int) -> int:
    """The number of features to show, if it is a whole number of at least 1."""
    if isinstance(top, bool) or not isinstance(top, int | np.integer) or top < 1:
        raise OptionError(f"top must be a whole number of at least 1, not {top!r}.")
    return int(top)


def shared_order(graphs: Sequence[FeatureGraph], top: int = 20) -> tuple[str, ...]:
    """Names of the features to show of several graphs, in one order around the circle."""
    from rulelens.graph.distance import align

    names, stack = align(graphs)
    mean = np.abs(stack).mean(axis=0) if len(graphs) else np.zeros((0, 0))
    weights = (mean + mean.T) / 2
    importance = mean.sum(axis=1)
    chosen = _most_important(importance, checked_top(top))
    chosen = chosen[circle_order(weights[np.ix_(chosen, chosen)], importance[chosen])]
    return tuple(names[i] for i in chosen)


def _most_important(importance: Floats, top: int) -> NDArray[np.int64]:
    order = np.argsort(-importance, kind="stable")[:top]
    some = order[importance[order] > 0]
    return some if len(some) else order


def _position(names: tuple[str, ...], name: str) -> int:
    if name not in names:
        raise UnknownFeatureError(f"Unknown feature {name!r}. {did_you_mean(name, names)}")
    return names.index(name)


def _links(
    A: Floats, largest: float | None, trusted: NDArray[np.bool_] | None
) -> tuple[tuple[DrawnLink, ...], float, int]:
    weights = (A + A.T) / 2
    sure = np.ones(A.shape, dtype=bool) if trusted is None else trusted | trusted.T
    i, j = np.nonzero(np.triu(weights, 1))
    w = weights[i, j]
    if largest is None:
        largest = float(np.abs(w).max(initial=0.0))
    order = np.lexsort((j, i, np.abs(w)))
    links = tuple(
        DrawnLink(
            int(i[k]),
            int(j[k]),
            float(w[k]),
            min(float(abs(w[k]) / largest), 1.0),
            bool(sure[i[k], j[k]]),
        )
        for k in order
        if abs(w[k]) >= FAINTEST * largest
    )
    return links, largest, len(order) - len(links)


def circle_order(weights: Floats, importance: Floats) -> NDArray[np.int64]:
    """Order around a circle that puts strongly linked nodes side by side.

    Nodes are put in one after another, the most important first, where the weighted sum of
    distances along the circle is least; then pairs change places while that helps. More than 60
    nodes, whose names nobody could read, simply stand by importance.

    Parameters
    ----------
    weights : array, shape (n, n)
        Symmetric, not negative.
    importance : array, shape (n,)

    Returns
    -------
    array of int64, shape (n,)
        A permutation that begins with the most important node.
    """
    n = len(importance)
    first = np.argsort(-importance, kind="stable")
    if n < 4 or n > _ORDERED:
        return first.astype(np.int64)
    weights = weights - np.diag(np.diagonal(weights))
    if not weights.any():
        return first.astype(np.int64)
    order: list[int] = [int(first[0])]
    for node in first[1:].tolist():
        trials = [[*order[:k], node, *order[k:]] for k in range(1, len(order) + 1)]
        costs = [_cost(weights, np.array(t)) for t in trials]
        order = trials[int(np.argmin(costs))]
    best = np.array(order)
    cost = _cost(weights, best)
    for _ in range(_PASSES if n <= 40 else 1):
        before = cost
        for a in range(1, n):
            for b in range(a + 1, n):
                trial = best.copy()
                trial[[a, b]] = trial[[b, a]]
                c = _cost(weights, trial)
                if c < cost * (1 - 1e-12):
                    best, cost = trial, c
        if cost >= before:
            break
    return best


def _cost(weights: Floats, order: NDArray[np.int64]) -> float:
    steps = np.abs(np.subtract.outer(np.arange(len(order)), np.arange(len(order))))
    steps = np.minimum(steps, len(order) - steps)
    return float((weights[np.ix_(order, order)] * steps).sum())


def _circle(n: int) -> list[tuple[float, float, Anchor]]:
    """Places on the circle and ends of labels, clockwise from the top."""
    if n == 1:
        return [(0.5, 0.5, "middle")]
    if n == 2:
        return [(0.5 - RADIUS, 0.5, "middle"), (0.5 + RADIUS, 0.5, "middle")]
    if n <= 8:
        angles = 2 * np.pi * np.arange(n) / n
        places = np.column_stack([np.sin(angles), np.cos(angles)])
    else:
        right = _side((n + 1) // 2)
        left = _side(n // 2)[::-1] * [-1, 1]
        places = np.concatenate([right, left])
    return [(0.5 + RADIUS * x, 0.5 + RADIUS * y, _anchor(x)) for x, y in places.tolist()]


def _side(n: int) -> Floats:
    """Places on the right half of the circle, from top to bottom; shape (n, 2).

    Halfway between even angles and even heights: labels then never touch near the poles.
    """
    t = (np.arange(n) + 0.5) / n
    y = (np.cos(np.pi * t) + 1 - 2 * t) / 2
    return np.column_stack([np.sqrt(1 - y**2), y])


def _anchor(x: float) -> Anchor:
    return "middle" if abs(x) < 1e-9 else ("start" if x > 0 else "end")
