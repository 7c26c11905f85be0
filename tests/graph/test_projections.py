"""Equation 3: exact at both ends, plain where a factor leaves [0, 1], never NaN."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rulelens.errors import RulelensWarning
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
