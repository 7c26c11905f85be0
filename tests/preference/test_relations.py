"""Necessary and possible preferences, certificates and extreme ranks, on the paper's example."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from rulelens.errors import OptionError, PreferenceError
from rulelens.preference.certificate import exact, exact_multipliers
from rulelens.preference.criteria import Criteria
from rulelens.preference.identifiability import representable_share
from rulelens.preference.relations import extreme_ranks, is_stated
from rulelens.preference.session import PreferenceSession


@pytest.fixture(scope="module")
def proofs(example, paper):
    session = PreferenceSession(example).rank(paper["reference_ranking_eq10"])
    return {(p.better, p.worse): p for p in session.necessary_pairs()}


def test_55_necessary_pairs_45_stated_10_inferred(proofs, session, paper):
    assert sorted(proofs) == sorted(map(tuple, paper["expected"]["necessary_pairs"]))
    stated = [pair for pair in proofs if is_stated(session.constraints(), *pair)]
    assert (len(proofs), len(stated)) == (55, 45)


def test_multipliers_of_the_inferred_pairs(proofs, paper):
    for pair, expected in paper["expected"]["necessary_extra_beyond_reference"].items():
        proof = proofs[tuple(pair.split(">"))]
        found = {p.replace(" over ", ">"): float(y) for p, y in proof.multipliers}
        assert found == expected


def test_certificates_hold_in_fractions_of_the_counts(proofs, paper):
    """Independent of the library's own fractions: rows are rebuilt from the recovered counts."""
    features = paper["criteria_order"][:9]
    rows = {}
    for rule in paper["rules"]:
        count = paper["recovered"]["rule_counts"][rule["rule"]]
        rows[rule["rule"]] = [Fraction(int(f in rule["features"])) for f in features] + [
            Fraction(count, 546),
            Fraction(count, 352),
            -Fraction(rule["n_conditions"], 9),
        ]
    for (better, worse), proof in proofs.items():
        left = [a - b for a, b in zip(rows[better], rows[worse], strict=True)]
        for words, times in proof.multipliers:
            assert times > 0
            above, below = words.split(" over ")
            left = [
                v - times * (a - b) for v, a, b in zip(left, rows[above], rows[below], strict=True)
            ]
        assert min(left) >= 0
        assert dict(proof.rest) == {
            n: v for n, v in zip(paper["criteria_order"], left, strict=True) if v
        }


def ordered_alike(session, n_draws):
    """Pairs that every draw orders the same way."""
    scores = session.criteria.values @ session.sample(n_draws).draws.T
    ids = session.criteria.alternatives
    return {
        (ids[i], ids[j])
        for i in range(len(ids))
        for j in range(len(ids))
        if i != j and (scores[i] >= scores[j]).all()
    }


@pytest.mark.parametrize(("n_draws", "more"), [(16_000, 15), (200_000, 10)])
def test_unanimous_draws_are_no_proof(session, proofs, paper, rows, n_draws, more):
    """16,000 draws order 15 more pairs alike than are necessary, 200,000 still 10 more: each is
    refused, and weights that agree with every statement say the opposite, in fractions too."""
    unanimous = ordered_alike(session, n_draws)
    assert set(proofs) <= unanimous
    false_friends = unanimous - set(proofs)
    assert len(false_friends) == more
    names = paper["criteria_order"]
    stated = list(pairwise(paper["reference_ranking_eq10"]))
    for better, worse in false_friends:
        assert session.necessary(better, worse) is None
        assert session.possible(worse, better)
        found = session.counterexample(better, worse)
        weights = [Fraction(found[name]) for name in names]
        assert min(weights) >= 0
        assert sum(found.values()) == pytest.approx(1)

        def gap(a, b, w=weights):
            return sum(v * (x - y) for v, x, y in zip(w, rows[a], rows[b], strict=True))

        assert gap(worse, better) > 0
        assert all(gap(a, b) > 0 for a, b in stated)


def test_what_is_necessary_has_no_counterexample(session, proofs):
    for better, worse in proofs:
        assert session.counterexample(better, worse) is None


def test_counterexample_with_ties_bounds_and_identical_alternatives():
    table = Criteria("abcd", ("x", "y", "z"), [[1, 0, 0], [0, 1, 0], [0.6, 0.6, 0.1], [1, 0, 0]])
    session = PreferenceSession(table).indifferent("a", "b").bound("z", high=0.2)
    found = session.counterexample("a", "c")
    assert found["x"] == pytest.approx(found["y"])
    assert 0 <= found["z"] <= 0.2
    assert session.counterexample("a", "d") is None
    assert session.counterexample("a", "a") is None


@pytest.mark.parametrize("margin", ["0.001", "0.005", "0.01", "0.02", "0.03"])
def test_extreme_ranks(session, paper, margin):
    expected = paper["expected"]["extreme_ranks_exact_milp_by_min_reference_margin"][margin]
    for rule, (best, worst) in expected.items():
        found = session.extreme_ranks(rule, margin=float(margin))
        assert (found.best, found.worst) == (best, worst)


def test_reason_is_one_sentence_in_the_users_words(session):
    proof = session.necessary("r9", "r4")
    assert str(proof) == (
        "r9 is at least as good as r4 for all weights that agree with you, because you said "
        "r12 over r10 and r10 over r8."
    )
    assert json.dumps(proof.to_dict())


def test_dominance_needs_no_statement():
    table = Criteria(("a", "b"), ("x", "y"), [[1, 0.5], [0.5, 0.5]])
    proof = PreferenceSession(table).necessary("a", "b")
    assert "on every criterion" in proof.reason
    assert PreferenceSession(table).necessary("b", "a") is None


def test_ties_may_be_used_both_ways():
    table = Criteria("abc", ("x", "y", "z"), [[1, 0, 0], [0, 1, 0], [0, 1, 1]])
    session = PreferenceSession(table).indifferent("a", "b")
    assert session.necessary("c", "a").multipliers == (("a as good as b", Fraction(-1)),)


def test_possible_wants_a_margin():
    table = Criteria("ab", ("x", "y"), [[1, 0], [0, 1]])
    session = PreferenceSession(table)
    assert session.possible("a", "b")
    assert session.possible("b", "a")
    session.prefer("a", "b")
    assert not session.possible("b", "a")


def test_contradiction_implies_nothing():
    table = Criteria("ab", ("x", "y"), [[1, 0], [0, 1]])
    session = PreferenceSession(table).prefer("a", "b").prefer("b", "a")
    for act in (session.necessary, session.possible):
        with pytest.raises(PreferenceError, match="No weights agree"):
            act("a", "b")


def test_margins_too_small_or_too_large(session):
    with pytest.raises(OptionError, match=r"at least 0\.0001"):
        session.extreme_ranks("r5", margin=1e-6)
    with pytest.raises(PreferenceError, match="max_eps"):
        session.extreme_ranks("r5", margin=0.05)


def test_too_many_open_alternatives():
    values = np.random.default_rng(0).random((400, 3))
    table = Criteria(tuple(range(400)), ("x", "y", "z"), values)
    with pytest.raises(OptionError, match="too large"):
        extreme_ranks(table, PreferenceSession(table).polytope(), 0)


def test_fractions_behind_doubles():
    for n in (546, 10_459, 999_983):
        assert exact(281 / n) == Fraction(281, n)


def test_no_proof_is_no_answer():
    one = [Fraction(1), Fraction(0)]
    assert exact_multipliers([Fraction(-1), Fraction(0)], [one], np.array([0.5]), [False]) is None


def test_sixty_five_percent_of_random_rankings_are_representable(example):
    """The word consistent says little: about 65 % of random rankings of 10 rules."""
    assert representable_share(example, 10, n_trials=300) == pytest.approx(0.65, abs=0.08)
