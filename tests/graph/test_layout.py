"""Where a graph is drawn: always the same, inside the square, nothing left out unsaid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulelens.errors import OptionError, UnknownFeatureError
from rulelens.graph.feature_graph import FeatureGraph
from rulelens.graph.layout import circle_order, drawing, shared_order


def graph_of(d: int, seed: int = 0) -> FeatureGraph:
    rng = np.random.default_rng(seed)
    P = rng.random((3 * d, d)) * (rng.random((3 * d, d)) < 0.2)
    P[0] = 0.1
    return FeatureGraph.from_relevances(
        [f"f{i}" for i in range(d)], P, np.full(3 * d, 0.5), np.zeros(3 * d), ["yes"]
    )


@settings(max_examples=40, deadline=None)
@given(d=st.integers(1, 40), seed=st.integers(0, 5), top=st.integers(1, 30))
def test_every_feature_is_drawn_or_counted(d, seed, top):
    graph = graph_of(d, seed)
    picture = drawing(graph, top)
    assert len(picture.nodes) + picture.n_hidden == d
    assert len(picture.nodes) <= top
    shown = sum(n.importance for n in picture.nodes)
    assert shown + picture.hidden_importance == pytest.approx(100)
    assert all(0 <= n.x <= 1 and 0 <= n.y <= 1 for n in picture.nodes)
    assert all(0 < link.width <= 1 for link in picture.links)
    pairs = len(picture.nodes) * (len(picture.nodes) - 1) // 2
    assert len(picture.links) + picture.n_faint <= pairs
    assert drawing(graph, top) == picture


@pytest.mark.parametrize("d", range(3, 26))
def test_names_have_room_below_one_another(d):
    nodes = drawing(graph_of(d), d).nodes
    for side in ("start", "end"):
        heights = np.sort([n.y for n in nodes if n.anchor == side])
        assert (np.diff(heights) > 0.035).all()  # 0.16 inches, or 11 points, in a 4.6 inch square


def test_the_widest_link_is_named():
    picture = drawing(graph_of(6))
    widest = max(picture.links, key=lambda link: link.weight)
    a, b = picture.nodes[widest.i].name, picture.nodes[widest.j].name
    assert widest.width == 1
    assert picture.largest_link == widest.weight
    assert f"{a} and {b}" in picture.caption()


def test_the_caption_says_what_is_hidden():
    picture = drawing(graph_of(30), 5)
    assert "Not shown: 25 features with" in picture.caption()
    assert picture.to_dict()["n_hidden"] == 25


def test_captions_have_no_exponents():
    """ "5 features with 3.54e-05 of 100" was below a picture."""
    picture = replace(drawing(graph_of(30), 5), hidden_importance=3.54e-05)
    assert "25 features with almost 0 of 100." in picture.caption()
    faint = replace(picture, n_faint=3, largest_link=1e-4)
    assert "e-" not in faint.caption().split("Not drawn")[1]


def test_the_layout_does_not_depend_on_the_order_of_features():
    graph = graph_of(12)
    back = np.arange(12)[::-1]
    mirrored = FeatureGraph.from_relevances(
        [graph.features[i] for i in back],
        graph.contributions[:, back],
        graph.rule_weights,
        graph.outcome,
        graph.outcomes,
    )
    places = {n.name: (n.x, n.y) for n in drawing(graph).nodes}
    assert {n.name: (n.x, n.y) for n in drawing(mirrored).nodes} == places


def test_linked_features_stand_side_by_side():
    weights = np.zeros((8, 8))
    for i in range(0, 8, 2):
        weights[i, (i + 3) % 8] = weights[(i + 3) % 8, i] = 1
    order = circle_order(weights, np.arange(8.0)).tolist()
    steps = [abs(order.index(i) - order.index((i + 3) % 8)) for i in range(0, 8, 2)]
    assert all(s in (1, 7) for s in steps)
    assert sorted(order) == list(range(8))


def test_very_many_features_are_laid_out_at_once():
    """Ordering 300 nodes took half a minute."""
    picture = drawing(graph_of(300), 300)
    assert len(picture.nodes) == 300
    sizes = [n.importance for n in picture.nodes]
    assert sizes == sorted(sizes, reverse=True)


def test_graphs_can_share_one_layout():
    one, two = graph_of(10, 1), graph_of(10, 2)
    order = shared_order([one, two], top=6)
    places = [
        [(n.name, n.x, n.y) for n in drawing(g, features=order, largest_link=1.0).nodes]
        for g in (one, two)
    ]
    assert places[0] == places[1]
    assert tuple(n for n, _, _ in places[0]) == order


def test_bad_options_are_told():
    graph = graph_of(3)
    for top in (0, -1, 1.5, True):
        with pytest.raises(OptionError, match="top"):
            drawing(graph, top)
    with pytest.raises(UnknownFeatureError, match="Unknown feature 'x'"):
        drawing(graph, features=["x"])
