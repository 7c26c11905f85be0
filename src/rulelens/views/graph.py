"""A feature graph as numbers for an SVG drawing and a table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rulelens.views.numbers import number

if TYPE_CHECKING:
    from rulelens.graph.feature_graph import FeatureGraph
    from rulelens.graph.layout import DrawnNode

WIDTH, HEIGHT, SIDE = 860, 480, 440
_LARGEST_RADIUS, _LARGEST_LINK, _LETTERS = 34.0, 10.0, 28


def graph_view(graph: FeatureGraph, *, top: int = 14) -> dict[str, Any]:
    """Circles, lines and texts of a feature graph; lengths in SVG units.

    A circle's area is the feature's importance; the inner disc's is the part that it has
    alone. A line's width is relative to the largest link.
    """
    from rulelens.graph.layout import drawing

    picture = drawing(graph, top)
    nodes = []
    for n in picture.nodes:
        radius = max(3.0, _LARGEST_RADIUS * math.sqrt(n.size))
        x, y = WIDTH / 2 + (n.x - 0.5) * SIDE, HEIGHT / 2 - (n.y - 0.5) * SIDE
        label_x, label_y = _label_place(n, x, y, radius)
        nodes.append(
            {
                "name": n.name,
                "label": n.name if len(n.name) <= _LETTERS else f"{n.name[: _LETTERS - 1]}…",
                "anchor": n.anchor,
                "x": round(x, 1),
                "y": round(y, 1),
                "label_x": round(label_x, 1),
                "label_y": round(label_y, 1),
                "r": round(radius, 1),
                "inner": round(radius * math.sqrt(n.alone_share), 1),
                "importance": number(n.importance, 1),
                "alone": number(n.alone, 1),
                "together": number(n.importance - n.alone, 1),
            }
        )
    links = [
        {
            "x1": nodes[k.i]["x"],
            "y1": nodes[k.i]["y"],
            "x2": nodes[k.j]["x"],
            "y2": nodes[k.j]["y"],
            "width": round(max(0.4, _LARGEST_LINK * k.width), 2),
            "title": f"{nodes[k.i]['name']} with {nodes[k.j]['name']}: {number(k.weight, 2)}",
        }
        for k in picture.links
    ]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "nodes": nodes,
        "links": links,
        "caption": picture.caption(),
        "n_rules": graph.n_rules,
        "table": sorted(nodes, key=lambda n: -n["r"]),
    }


def _label_place(node: DrawnNode, x: float, y: float, radius: float) -> tuple[float, float]:
    """Outside of the circle of nodes, beside or beyond the node."""
    gap = radius + 6
    if node.anchor == "start":
        return x + gap, y + 4
    if node.anchor == "end":
        return x - gap, y + 4
    return x, y - gap if y < HEIGHT / 2 - 1 else y + gap + 10
