from __future__ import annotations

import numpy as np
import pytest

from rulelens.errors import OptionError
from rulelens.preference.belief import log_evidence, sample_belief
from rulelens.preference.criteria import Criteria
from rulelens.preference.polytope import Polytope
from rulelens.preference.session import PreferenceSession
from rulelens.preference.simulate import random_weights


def session_of(n_criteria, pairs, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.random((12, n_criteria))
    session = PreferenceSession(
        Criteria(tuple(range(12)), tuple("abcdefghij"[:n_criteria]), values)
    )
    hidden = rng.dirichlet(np.ones(n_criteria))
    for _ in range(pairs):
        a, b = rng.choice(12, 2, replace=False).tolist()
        session.prefer(*((a, b) if (values[a] - values[b]) @ hidden > 0 else (b, a)))
    return session


def odds_of(session, n_draws=8_000):
    dimension = session._interior().dimension
    draws = [session.sample(n_draws, prior=p).draws for p in ("simplex", "uniform")]
    return log_evidence(*draws, dimension)


@pytest.mark.parametrize("n_criteria", [2, 3, 5, 8])
@pytest.mark.parametrize("pairs", [0, 1, 4])
def test_evidence_is_the_share_of_weights_drawn_beforehand_that_agree(n_criteria, pairs):
    session = session_of(n_criteria, pairs, seed=n_criteria)
    rows = session.polytope().strict
    shares = []
    for prior in ("uniform", "simplex"):
        weights = random_weights(n_criteria, 400_000, prior=prior, random_state=1)
        shares.append(np.mean((weights @ rows.T > 0).all(axis=1)))
    expected = np.log(shares[0] / shares[1])
    assert odds_of(session) == pytest.approx(expected, abs=0.1)


def test_evidence_of_a_tie_is_that_of_a_near_tie():
    """Said to be equal: the share of weights for which it is so within a hair, in the limit."""
    session = session_of(4, 1, seed=3).indifferent(2, 5)
    row = session.criteria.values[2] - session.criteria.values[5]
    strict = session.polytope().strict
    shares = []
    for prior in ("uniform", "simplex"):
        weights = random_weights(4, 2_000_000, prior=prior, random_state=1)
        near = np.abs(weights @ row) < 0.004
        shares.append(np.mean(near & (weights @ strict.T > 0).all(axis=1)))
    assert odds_of(session) == pytest.approx(np.log(shares[0] / shares[1]), abs=0.1)


def test_mixed_draws_are_those_of_persons_of_both_kinds_who_would_say_the_same():
    """Slow plain reference: keep those of many persons, half of each kind, who agree."""
    session = session_of(4, 3, seed=11)
    rows = session.polytope().strict
    both = [random_weights(4, 400_000, prior=p, random_state=2) for p in ("uniform", "simplex")]
    people = np.vstack(both)
    agreeing = people[(people @ rows.T > 0).all(axis=1)]
    sample = session.sample(20_000, prior="mixed")
    assert len(sample.draws) == pytest.approx(20_000, rel=0.05)
    error = np.abs(sample.draws.mean(axis=0) - agreeing.mean(axis=0))
    assert (error < 4 * sample.mcse + 0.003).all()
    for share in (0.1, 0.5, 0.9):
        told = np.quantile(sample.draws, share, axis=0)
        np.testing.assert_allclose(told, np.quantile(agreeing, share, axis=0), atol=0.015)
    assert sample.reliable
    assert sample.ess > 5_000


@pytest.mark.parametrize("prior", ["mixed", "simplex", "uniform"])
@pytest.mark.parametrize("pairs", [0, 3, 40])
def test_draws_agree_with_what_was_said(prior, pairs):
    session = session_of(6, pairs, seed=5)
    draws = session.sample(2_000, prior=prior).draws
    assert (draws >= 0).all()
    np.testing.assert_allclose(draws.sum(axis=1), 1)
    assert (draws @ session.polytope().strict.T > -1e-9).all()
    again = session_of(6, pairs, seed=5).sample(2_000, prior=prior).draws
    assert (draws == again).all()


def test_each_belief_keeps_some_draws_whatever_was_said():
    """Extreme weights, said plainly: "uniform" never foresaw them, and yet it is not ruled out."""
    session = PreferenceSession(Criteria(tuple(range(12)), tuple("abcdefghijkl"), np.eye(12)))
    session.bound("a", low=0.6)
    assert odds_of(session) < -10
    sample = session.sample(8_000, prior="mixed")
    assert (sample.draws[:, 0] > 0.6 - 1e-9).all()


def test_many_criteria_without_overlap():
    """With 300 criteria the two beliefs hardly share a draw: the odds stay finite."""
    session = PreferenceSession(
        Criteria(("a", "b"), tuple(map(str, range(300))), np.eye(2, 300))
    ).prefer("a", "b")
    sample = session.sample(1_000, prior="mixed")
    assert np.isfinite(sample.draws).all()
    assert np.isfinite(odds_of(session, 1_000))


def test_one_point_is_left():
    two = PreferenceSession(Criteria("ab", ("x", "y"), [[1, 0], [0, 1]])).indifferent("a", "b")
    np.testing.assert_allclose(two.sample(prior="mixed").draws, 0.5, atol=1e-9)


def test_one_criterion():
    one = PreferenceSession(Criteria("ab", ("x",), [[1], [0]]))
    np.testing.assert_allclose(one.sample(prior="mixed").draws, 1)
    assert one.outlook().credible == ("a",)


def test_unknown_belief():
    triangle = Polytope.simplex(3)
    with pytest.raises(OptionError, match="Did you mean 'simplex'"):
        sample_belief(triangle, triangle.interior(), 100, prior="simplx")


@pytest.mark.parametrize("prior", ["simplx", None, ["mixed"]])
def test_no_belief_of_that_name(prior):
    session = session_of(3, 0)
    for ask in (session.sample, session.outlook, session.next_question, session.pairwise):
        with pytest.raises(OptionError, match="Unknown prior"):
            ask(prior=prior)
        if ask != session.sample:
            with pytest.raises(OptionError, match="Unknown prior"):
                ask(prior=prior, noisy=True)


def test_the_outlook_of_both_kinds_of_person_lies_between():
    """The default promise is no further off than that of the belief that is wrong."""
    session = session_of(8, 6, seed=2)
    promised = {p: session.outlook(prior=p).expected_tau for p in ("simplex", "mixed", "uniform")}
    assert session.outlook().expected_tau == promised["mixed"]
    low, high = sorted((promised["simplex"], promised["uniform"]))
    assert low < promised["mixed"] < high
