from __future__ import annotations

import json

import numpy as np
import pytest

from rulelens.errors import OptionError
from rulelens.preference.acceptability import (
    best_positions,
    expected_tau,
    outlook,
    pairwise_probabilities,
    rank_acceptability,
)
from rulelens.preference.criteria import Criteria


@pytest.fixture
def draws():
    return np.random.default_rng(0).dirichlet(np.ones(6), 700)


@pytest.fixture
def values():
    return np.random.default_rng(1).random((300, 6)).round(2)


def test_acceptability_of_the_example_is_the_recorded_one(session, paper):
    """40,000 draws are recorded; ours differ by Monte-Carlo error only."""
    draws = session.sample(40_000).draws
    found = rank_acceptability(session.criteria.values, draws, 15)
    np.testing.assert_allclose(found.sum(axis=0), 1.0)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    for row, rule in zip(found, session.criteria.alternatives, strict=True):
        expected = paper["expected"]["rank_acceptability_40000_samples"][rule]
        np.testing.assert_allclose(row, expected, atol=0.015)


def test_best_positions_agree_with_a_full_sort(values, draws):
    expected = np.argsort(-(draws @ values.T), axis=1, kind="stable")[:, :10]
    np.testing.assert_array_equal(best_positions(values, draws, 10), expected)


def test_near_ties_are_settled_in_double_precision():
    values = np.array([[0.3], [0.3 + 1e-9], [0.3 - 1e-9]])
    assert best_positions(values, np.array([[1.0]]), 2).tolist() == [[1, 0]]


def test_exact_ties_keep_input_order():
    assert best_positions(np.ones((50, 2)), np.full((3, 2), 0.5), 3).tolist() == [[0, 1, 2]] * 3


def test_more_asked_than_there_are(values, draws):
    assert best_positions(values[:3], draws, 10).shape == (700, 3)


def test_pairwise_probabilities_add_up(values, draws):
    p = pairwise_probabilities(values[:20], draws)
    np.testing.assert_allclose(p + p.T, 1.0)
    scores = draws @ values[:20].T
    assert p[0, 1] == pytest.approx((scores[:, 0] > scores[:, 1]).mean(), abs=1e-9)


def test_pairwise_of_too_many_is_refused():
    with pytest.raises(OptionError, match="limit is 5,000"):
        pairwise_probabilities(np.zeros((5_001, 1)), np.ones((1, 1)))


def test_expected_tau_is_the_mean_of_kendalls(values, draws):
    from scipy.stats import kendalltau

    few, weights = draws[:40], draws.mean(axis=0)
    table = values[:60]
    truth = np.mean([kendalltau(table @ weights, table @ w, variant="c").statistic for w in few])
    assert expected_tau(table, table @ weights, few) == pytest.approx(truth, abs=0.01)


def test_outlook_of_the_example(session):
    assert session.outlook(prior="simplex").credible == ("r3", "r5", "r11")
    o = session.outlook(session.result(k=5))
    assert o.credible == ("r5", "r3", "r11")
    assert sum(o.first.values()) == pytest.approx(1.0)
    assert set(o.new_in_top) <= {"r5", "r11", "r4", "r1", "r13"}
    assert o.expected_jaccard > 0.9
    assert 0.85 < o.expected_tau < 1.0
    assert json.dumps(o.to_dict())
    assert o.to_frame().loc["r5", "new"]


def test_smaller_level_smaller_set(session):
    assert len(session.outlook(level=0.5).credible) == 2
    with pytest.raises(OptionError, match="level"):
        session.outlook(level=0)


def test_unknown_prior(session):
    with pytest.raises(OptionError, match="Did you mean 'simplex'"):
        session.sample(prior="simplx")


def test_k_larger_than_the_table():
    table = Criteria("ab", ("x",), [[1], [0]])
    o = outlook(table, np.array([1.0, 0.0]), np.ones((10, 1)), k=5)
    assert o.expected_jaccard == 1.0
    assert o.credible == ("a",)


def test_acceptability_and_pairwise_as_frames(session):
    shares = session.acceptability(3)
    assert shares.columns.tolist() == [1, 2, 3]
    flat = session.acceptability(3, prior="simplex")
    assert flat.loc["r3", 1] == pytest.approx(0.447, abs=0.03)
    above = session.pairwise()
    assert above.loc["r3", "r6"] == 1.0
    assert above.loc["r5", "r3"] + above.loc["r3", "r5"] == pytest.approx(1.0)
