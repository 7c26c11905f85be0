"""Equation 3: exact at both ends, plain where a factor leaves [0, 1], never NaN."""

from __future__ import annotations

from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rulelens.errors import OptionError, RulelensWarning
from rulelens.graph.comparison import GraphDifference
from rulelens.graph.feature_graph import FeatureGraph
from rulelens.graph.projections import (
    PROJECTIONS,
    hyperbolic,
    joint,
    normalise,
    resource_allocation,
    simple,
)

shares = st.floats(0, 1).map(lambda v: round(v, 3))


def plain(P, q):
    terms = P[:, :, None] * P[:, None, :] * q[:, None, None]
    return 1 - np.prod(1 - terms, axis=0)


@given(P=arrays(float, (5, 3), elements=shares), q=arrays(float, 5, elements=shares))
def test_joint_is_the_product(P, q):
    A = joint(P, q)
    np.testing.assert_allclose(A, plain(P, q), rtol=0, atol=1e-12)
    assert np.array_equal(A, A.T)
    assert (A >= 0).all()
    assert (A <= 1).all()


def test_a_term_of_one_gives_exactly_one():
    A = joint(np.array([[1.0, 0.5], [0.3, 0.2]]), np.array([1.0, 0.7]))
    assert A[0, 0] == 1.0


def test_weak_links_among_many_rules_stay_exact():
    """1 - Π(1 - t) loses every digit of terms below 1e-16; log1p sums keep them."""
    P = np.full((1000, 1), 1e-9)
    exact = 1 - (1 - Fraction(1e-9) ** 2) ** 1000
    assert joint(P, np.ones(1000))[0, 0] == pytest.approx(float(exact), rel=1e-12)


def test_factors_outside_the_unit_interval_are_multiplied_as_they_are():
    P, q = np.array([[1.0, 0.5], [0.5, 0.5]]), np.array([3.0, 1.0])
    with pytest.warns(RulelensWarning, match="leaves"):
        A = joint(P, q)
    np.testing.assert_allclose(A, plain(P, q), rtol=1e-12)


def test_products_beyond_the_largest_double_keep_their_shares():
    P, q = np.ones((2000, 2)), np.full(2000, 5.0)
    P[:, 1] = 0.5
    with pytest.warns(RulelensWarning):
        A = joint(P, q)
    assert np.isfinite(A).all()
    assert A[0, 0] == -1.0


def test_negative_terms_are_multiplied_as_they_are():
    P, q = np.array([[0.5, -0.5]]), np.array([1.0])
    with pytest.warns(RulelensWarning):
        A = joint(P, q)
    np.testing.assert_allclose(A, plain(P, q), rtol=1e-12)


@pytest.mark.parametrize("shape", [(0, 0), (2, 2)])
def test_nothing_to_share_is_zeros_with_a_warning(shape):
    with pytest.warns(RulelensWarning, match="empty"):
        A = normalise(np.zeros(shape))
    assert np.array_equal(A, np.zeros(shape))


def test_tiny_sums_do_not_overflow():
    A = normalise(np.array([[1e-310, 0.0], [0.0, 3e-310]]))
    np.testing.assert_allclose(A, [[25, 0], [0, 75]], rtol=1e-3)


def test_reversed_signs_are_told():
    with pytest.warns(RulelensWarning, match="reversed"):
        normalise(np.array([[-1.0]]))


matrices = arrays(float, (5, 3), elements=shares)
weights = arrays(float, 5, elements=shares)


@given(P=matrices, q=weights)
def test_simple_is_the_sum(P, q):
    A = simple(P, q)
    np.testing.assert_allclose(A, np.einsum("ki,kj,k->ij", P, P, q), atol=1e-12)
    assert np.array_equal(A, A.T)


@given(P=matrices, q=weights)
def test_hyperbolic_shares_a_rule_among_its_links(P, q):
    expected = np.zeros((3, 3))
    for k in range(5):
        used = np.flatnonzero(P[k])
        for i in used:
            for j in used:
                if i != j:
                    expected[i, j] += P[k, i] * P[k, j] * q[k] / (len(used) - 1)
                elif len(used) == 1:
                    expected[i, i] += P[k, i] ** 2 * q[k]
    np.testing.assert_allclose(hyperbolic(P, q), expected, atol=1e-12)


@given(P=matrices, q=weights)
def test_resource_allocation_hands_on_what_each_feature_has(P, q):
    """Columns of used features sum to 1; unweighted, it is Zhou's equation 10."""
    e = P * q[:, None]
    A = resource_allocation(P, q)
    used = e.sum(axis=0) > 0
    np.testing.assert_allclose(A.sum(axis=0)[used], 1, atol=1e-9)
    assert not A[:, ~used].any()
    B = (P > 0).astype(float)
    expected = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            for k in range(5):
                if B[k, i] and B[k, j]:
                    expected[i, j] += 1 / B[k].sum() / B[:, j].sum()
    np.testing.assert_allclose(resource_allocation(B, np.ones(5)), expected, atol=1e-12)


@pytest.mark.parametrize("name", ["joint", "simple", "hyperbolic", "resource_allocation"])
def test_every_projection_makes_a_graph(name):
    P = np.array([[0.5, 0.25, 0.0], [0.0, 0.0, 0.4], [0.2, 0.0, 0.3]])
    graph = FeatureGraph.from_relevances(
        ["a", "b", "c"], P, [0.9, 0.5, 0.1], [0, 1, 0], ["yes", "no"], projection=name
    )
    assert graph.adjacency.sum() == pytest.approx(100)
    assert graph.directed == (name == "resource_allocation")
    assert graph.to_networkx().is_directed() == graph.directed
    assert len(graph.to_frame()) > 2
    assert graph.for_class("no").importance()["c"] == pytest.approx(100)


def test_own_projections_are_used_once_registered():
    PROJECTIONS.add("presence", lambda P, q: ((P > 0).T @ (P > 0)).astype(float))
    try:
        graph = FeatureGraph.from_relevances(
            ["a", "b"], [[0.5, 0.1]], [1.0], [0], ["yes"], projection="presence"
        )
    finally:
        PROJECTIONS.remove("presence")
    assert graph.adjacency.tolist() == [[25, 25], [25, 25]]


@pytest.fixture
def own_projection():
    names = []

    def add(name, function):
        PROJECTIONS.add(name, function)
        names.append(name)

    yield add
    for name in names:
        PROJECTIONS.remove(name)


def test_an_own_projection_that_is_symmetric_but_for_rounding_is_not_directed(own_projection):
    """A product of matrices differs from its transpose in the last digit: each link came twice."""
    own_projection("own", lambda P, q: (P * q[:, None]).T @ P + np.triu(P.T @ P, 1) * 1e-16)
    rng = np.random.default_rng(0)
    P, q = rng.random((50, 12)), rng.random(50)
    graph = FeatureGraph.from_relevances(
        [f"f{i}" for i in range(12)], P, q, np.zeros(50, int), ["yes"], projection="own"
    )
    assert not graph.directed
    assert len(graph.to_frame()) == 78


@pytest.mark.parametrize(
    ("value", "found"),
    [(np.ones((3, 3)), r"the shape \(3, 3\)"), (np.full((2, 2), np.nan), "not finite"),
     ("links", "the shape")],
)  # fmt: skip
def test_what_an_own_projection_gives_is_checked(own_projection, value, found):
    own_projection("odd", lambda P, q: value)
    with pytest.raises(OptionError, match=f"'odd' must give .*shape .2, 2.*{found}"):
        FeatureGraph.from_relevances(["a", "b"], [[1, 0.5]], [1], [0], ["yes"], projection="odd")


def test_a_directed_link_leads_from_the_giver_everywhere():
    """Tables and networkx named the receiver as the source; centralities took the other way."""
    rng = np.random.default_rng(1)
    P, q = rng.random((9, 5)) * (rng.random((9, 5)) < 0.5), rng.random(9)
    graph = FeatureGraph.from_relevances(
        list("abcde"), P, q, np.zeros(9, int), ["yes"], projection="resource_allocation"
    )
    nx_graph = graph.to_networkx()
    for row in graph.to_frame().itertuples():
        giver, receiver = graph.features.index(row.source), graph.features.index(row.target)
        assert (
            row.weight == graph.adjacency[receiver, giver] == graph.weight(row.source, row.target)
        )
        assert row.weight == nx_graph[row.source][row.target]["weight"]
    for kind, expected in {
        "pagerank": nx.pagerank(nx_graph, tol=1e-12),
        "eigenvector": nx.eigenvector_centrality(
            nx_graph, max_iter=10_000, tol=1e-12, weight="weight"
        ),
    }.items():
        found, total = graph.centrality(kind), sum(expected.values())
        assert found.to_dict() == pytest.approx(
            {k: v / total for k, v in expected.items()}, abs=1e-8
        )
    for a, b in nx_graph.edges:
        nx_graph[a][b]["length"] = 1 / nx_graph[a][b]["weight"]
    expected = nx.closeness_centrality(nx_graph, distance="length")
    assert graph.centrality("closeness").to_dict() == pytest.approx(expected)
    drivers = GraphDifference.between(graph, graph.select(slice(0, 5))).drivers()
    for row in drivers.itertuples():
        assert row.first == graph.weight(row.source, row.target)
