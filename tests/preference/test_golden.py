"""Numbers of the paper's example: page "3.4 Illustrative Example", tables 4-5, equations 9-13."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kendalltau

from rulelens.preference.ranking import rank_order
from rulelens.preference.session import PreferenceSession


def test_max_epsilon_is_20_489_from_the_counts(session, paper):
    result = session.result("max_eps")
    assert result.epsilon == pytest.approx(20 / 489, abs=1e-9)
    for name, value in paper["expected"]["max_eps_counts"]["weights"].items():
        assert result.weights[name] == pytest.approx(value, abs=1e-9)


def test_max_epsilon_is_455_11126_from_the_printed_table(printed, paper):
    result = PreferenceSession(printed).rank(paper["reference_ranking_eq10"]).result("max_eps")
    assert result.epsilon == pytest.approx(455 / 11126, abs=1e-9)
    for name, value in paper["expected"]["max_eps_rounded"]["weights"].items():
        assert result.weights[name] == pytest.approx(value, abs=1e-9)


def test_weights_and_scores_are_those_that_the_paper_prints(session, paper):
    result = session.result("max_eps")
    for name, value in paper["prus_weights_printed_eq11"].items():
        assert result.weights[name] == pytest.approx(value, abs=5e-4)
    for rule in paper["rules"]:
        assert result.scores[rule["rule"]] == pytest.approx(rule["prus_printed"], abs=5e-4)


def test_ranking_is_equation_12(session, paper):
    assert list(session.result("max_eps").ranking) == paper["ranking_eq12"]


def test_true_utility_ranks_as_equation_13(example, paper):
    weights = np.array([paper["u_true_weights_printed"][n] for n in example.names])
    order, _ = rank_order(example.values @ weights)
    assert [example.alternatives[i] for i in order] == paper["ranking_eq13"]


def _positions(ranking, ids):
    return [ranking.index(a) for a in ids]


def test_kendall_tau_of_the_two_rankings_is_99_of_105(session, paper):
    ids = sorted(paper["ranking_eq12"])
    learned = _positions(list(session.result("max_eps").ranking), ids)
    true = _positions(paper["ranking_eq13"], ids)
    assert kendalltau(learned, true).statistic == pytest.approx(99 / 105, abs=1e-12)


def test_printed_tau_0_4095_comes_from_comparing_lists_of_rule_numbers(paper):
    """The paper prints 0.4095: Kendall's τ of the two ordered lists of rule numbers, not of ranks.

    A list of ids is no score vector; the right value is 99/105 (the test above).
    """
    numbers = [[int(a[1:]) for a in paper[f"ranking_eq{e}"]] for e in (12, 13)]
    misuse = kendalltau(*numbers).statistic
    assert misuse == pytest.approx(43 / 105, abs=1e-12)
    assert round(misuse, 4) == paper["expected"]["paper_printed_tau"]


@pytest.mark.parametrize(
    ("method", "key"),
    [("analytic", "analytic_centre"), ("max_eps", "max_eps"), ("chebyshev", "chebyshev")],
)
def test_weights_of_each_method(session, paper, method, key):
    expected = paper["expected"][key]
    result = session.result(method)
    for name, value in expected["weights"].items():
        assert result.weights[name] == pytest.approx(value, abs=1e-6)
    if "ranking" in expected:
        assert list(result.ranking) == expected["ranking"]
        assert result.epsilon == pytest.approx(expected["min_reference_margin"], abs=1e-6)


def test_chebyshev_radius(session, paper):
    radius = session.polytope().interior().radius
    assert radius == pytest.approx(paper["expected"]["chebyshev"]["radius_in_hyperplane"], abs=1e-9)


def test_new_rules_and_discovery(session, paper):
    result = session.result("max_eps")
    assert set(result.new) == {r["rule"] for r in paper["rules"] if not r["reference"]}
    assert sum(a in result.new for a in result.top(5)) == paper["expected"]["new_in_top5"]


def test_conflict_of_opposite_pairs_is_found_and_named(example):
    session = PreferenceSession(example).prefer("r3", "r6").prefer("r6", "r3")
    conflict = session.conflict()
    assert conflict.phrases == ("r3 over r6", "r6 over r3")
    with pytest.raises(ValueError, match="r3 over r6; r6 over r3"):
        session.result()
    assert session.undo().conflict() is None
