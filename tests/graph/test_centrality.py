"""Centralities against networkx and by hand."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulelens.errors import OptionError
from rulelens.graph.centrality import CENTRALITIES, eigenvector, pagerank
from rulelens.graph.feature_graph import FeatureGraph


def random_adjacency(seed, d=6, symmetric=True):
    rng = np.random.default_rng(seed)
    A = rng.random((d, d)) * (rng.random((d, d)) < 0.6)
    A = (A + A.T) / 2 if symmetric else A
    return A / A.sum() * 100


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000), symmetric=st.booleans())
def test_pagerank_is_that_of_networkx(seed, symmetric):
    A = random_adjacency(seed, symmetric=symmetric)
    # networkx sends along rows, the adjacency along columns
    expected = nx.pagerank(nx.from_numpy_array(A.T, create_using=nx.DiGraph), tol=1e-12)
    np.testing.assert_allclose(pagerank(A), [expected[i] for i in range(len(A))], atol=1e-8)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000))
def test_eigenvector_belongs_to_the_largest_eigenvalue(seed):
    A = random_adjacency(seed)
    v = eigenvector(A)
    largest = np.linalg.eigvalsh(A)[-1]
    np.testing.assert_allclose(A @ v, largest * v, atol=1e-5)
    assert v.sum() == pytest.approx(1)


def chain():
    """b between a and c; d alone."""
    return FeatureGraph.from_relevances(
        ["a", "b", "c", "d"],
        [[0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0, 0.1]],
        [1, 1, 1],
        [0, 0, 0],
        ["yes"],
    )


def test_the_middle_of_a_chain_is_central():
    graph = chain()
    assert graph.centrality("betweenness").to_dict() == pytest.approx(
        {"a": 0, "b": 1 / 3, "c": 0, "d": 0}
    )
    closeness = graph.centrality("closeness")
    assert closeness["b"] > closeness["a"] == pytest.approx(closeness["c"])
    assert closeness["d"] == 0
    assert graph.centrality().equals(graph.importance().rename("strength"))


@pytest.mark.parametrize("kind", sorted(CENTRALITIES))
def test_an_empty_graph_has_no_centre(kind):
    with pytest.warns(UserWarning, match="empty"):
        graph = FeatureGraph.from_relevances(["a", "b"], np.zeros((0, 2)), [], [], ["yes"])
    values = graph.centrality(kind)
    assert values.name == kind
    assert values.nunique() == 1
    assert np.isfinite(values).all()


def test_bad_requests_are_told():
    with pytest.raises(OptionError, match=r"Unknown centrality 'pagerang'.*'pagerank'"):
        chain().centrality("pagerang")
    with pytest.warns(UserWarning, match="leaves"):
        graph = FeatureGraph.from_relevances(
            ["a", "b"], [[1, 0], [1, 0], [0, 1]], [3, 3, 30], [0, 0, 0], ["yes"]
        )
    with pytest.raises(OptionError, match="at least 0"):
        graph.centrality("pagerank")
