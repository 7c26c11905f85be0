from __future__ import annotations

import numpy as np
import pytest

from rulelens.errors import PreferenceError
from rulelens.preference.analytic_center import analytic_center
from rulelens.preference.criteria import Criteria
from rulelens.preference.max_epsilon import max_epsilon
from rulelens.preference.polytope import Polytope, hull_basis
from rulelens.preference.programs import maximize
from rulelens.preference.statements import (
    Indifferent,
    Prefer,
    WeightBound,
    constraints_of,
)


def polytope_of(table, statements):
    return Polytope.of(constraints_of(statements, table), len(table.names))


def test_ties_hold_exactly_and_force_weights_to_zero():
    table = Criteria((0, 1), ("x", "y", "z"), [[1, 0.5, 0], [0, 0.5, 0]])
    polytope = polytope_of(table, [Indifferent(0, 1)])
    interior = polytope.interior()
    assert interior.dimension == 1
    np.testing.assert_allclose(analytic_center(interior).weights, [0, 0.5, 0.5], atol=1e-12)


def test_a_single_point_is_an_answer():
    table = Criteria((0, 1), ("x", "y"), [[1, 0], [0, 1]])
    interior = polytope_of(table, [Indifferent(0, 1)]).interior()
    assert interior.dimension == 0
    assert interior.radius == np.inf
    np.testing.assert_allclose(interior.center, [0.5, 0.5])


def test_bounds_that_meet_are_an_equality():
    table = Criteria((0, 1), ("x", "y", "z"), [[1, 0, 0], [0, 1, 0]])
    interior = polytope_of(table, [WeightBound("x", 0.2, 0.2)]).interior()
    np.testing.assert_allclose(analytic_center(interior).weights, [0.2, 0.4, 0.4], atol=1e-9)


def test_said_twice_counts_once():
    table = Criteria((0, 1), ("x", "y"), [[1, 0], [0, 1]])
    once = analytic_center(polytope_of(table, [Prefer(0, 1)]).interior()).weights
    twice = analytic_center(polytope_of(table, [Prefer(0, 1)] * 2).interior()).weights
    np.testing.assert_array_equal(once, twice)


def test_extent_of_a_row():
    polytope = Polytope.simplex(3)
    assert polytope.extent(np.array([1.0, -2.0, 0.5])) == (-2.0, 1.0)
    impossible = Polytope(2, np.zeros((0, 2)), np.array([[-1.0, -1.0]]), np.zeros((0, 2)))
    assert impossible.extent(np.ones(2)) is None


@pytest.mark.parametrize("n", [1, 2, 5])
def test_basis_is_orthonormal_and_sums_to_zero(n):
    basis = hull_basis(np.zeros((0, n)), n)
    np.testing.assert_allclose(basis.T @ basis, np.eye(n - 1), atol=1e-12)
    np.testing.assert_allclose(basis.sum(axis=0), 0, atol=1e-12)


def test_max_epsilon_needs_a_strict_statement():
    with pytest.raises(PreferenceError, match="at least one strict statement"):
        max_epsilon(Polytope.simplex(2))


def test_max_epsilon_is_none_where_bounds_contradict():
    strict, none = np.array([[1.0, -1.0]]), np.zeros((0, 2))
    at_most_40_percent_each = np.array([[-0.6, 0.4], [0.4, -0.6]])
    assert max_epsilon(Polytope(2, strict, at_most_40_percent_each, none)) is None


def test_unbounded_program_is_reported():
    with pytest.raises(PreferenceError, match="was not solved"):
        maximize([1.0], np.zeros((0, 1)), [])
