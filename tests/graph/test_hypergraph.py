"""Groups of features behind rules."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulelens.graph.feature_graph import FeatureGraph


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000))
def test_every_rule_with_relevance_is_in_one_group(seed):
    rng = np.random.default_rng(seed)
    P = rng.random((12, 4)) * (rng.random((12, 4)) < 0.4)
    P[0, 0] = 0.5
    q = np.where(rng.random(12) < 0.2, 0.0, rng.random(12))
    q[0] = 0.5
    graph = FeatureGraph.from_relevances(
        ["a", "b", "c", "d"], P, q, rng.integers(2, size=12), ["yes", "no"]
    )
    hyper = graph.hypergraph()
    members = sorted(k for e in hyper.edges for k in e.rules)
    assert members == [k for k in range(12) if P[k].any() and q[k]]
    weights = [e.weight for e in hyper.edges]
    assert weights == sorted(weights, reverse=True)
    assert sum(weights) == pytest.approx(q[members].sum())
    assert len({(e.features, e.outcome) for e in hyper.edges}) == len(hyper.edges)


def test_forms():
    graph = FeatureGraph.from_relevances(
        ["a", "b", "c"], [[0.5, 0.2, 0], [0.1, 0.3, 0]], [0.5, 0.25], [0, 1], ["yes", "no"]
    )
    hyper = graph.hypergraph()
    assert hyper.to_frame()["size"].tolist() == [2, 2]
    assert json.loads(json.dumps(hyper.to_dict()))["edges"][0]["features"] == ["a", "b"]


def test_xgi_has_nodes_and_weighted_edges():
    pytest.importorskip("xgi", reason="xgi is optional: pip install 'rulelens[graph]'")
    graph = FeatureGraph.from_relevances(
        ["a", "b", "c"], [[0.5, 0.2, 0], [0.1, 0.3, 0]], [0.5, 0.25], [0, 1], ["yes", "no"]
    )
    out = graph.hypergraph().to_xgi()
    assert set(out.nodes) == {"a", "b", "c"}
    assert out.edges.attrs("weight").aslist() == [0.5, 0.25]
    assert out.edges.members(0) == {"a", "b"}
