"""Equation 3: exact at both ends, plain where a factor leaves [0, 1], never NaN."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rulelens.errors import RulelensWarning
from rulelens.graph.projections import joint, normalise

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
