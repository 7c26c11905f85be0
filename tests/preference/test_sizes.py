"""Criteria of very different sizes: statements are obeyed, or it is said that they cannot be."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulelens.errors import PreferenceError
from rulelens.preference.session import PreferenceSession
from rulelens.preference.table import Criteria


def test_a_dominated_alternative_is_not_put_first_by_rounding():
    """Statements that no weights obey gave a ranking against them, without a word."""
    table = pd.DataFrame([[0.0, -8000], [0.0002, 2000], [0.0001, -4800]], columns=["x", "y"])
    session = PreferenceSession(table).rank([2, 0, 1])
    for method in ("analytic", "max_eps", "chebyshev"):
        with pytest.raises(PreferenceError):
            session.result(method)


def test_sizes_beyond_what_numbers_can_weigh_are_refused():
    """A false conflict was reported, with a reason that was not so."""
    table = pd.DataFrame({"turnover": [1e9, 0], "share": [0.2, 0.9]})
    with pytest.raises(PreferenceError, match="'turnover' spreads over 1e"):
        PreferenceSession(table)


def test_tiny_criteria_are_ranked_as_stated():
    """Scores of 1e-12 all counted as ties, and stood in input order."""
    table = pd.DataFrame({"a": [1, 0, 0.4], "b": [0.2, 0.9, 0.8]}) * 1e-12
    result = PreferenceSession(table).rank("1>0").result()
    assert result.ranking.index(1) < result.ranking.index(0)
    assert result.ties == ()


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**6), size=st.integers(0, 8))
def test_a_ranking_is_obeyed_or_refused(seed, size):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(3, 7), rng.integers(2, 5)
    values = rng.normal(size=(n, m)).round(2) * 10.0 ** rng.integers(-size, size + 1, m)
    order = rng.permutation(n)[:3].tolist()
    for method in ("analytic", "max_eps", "chebyshev"):
        try:
            result = PreferenceSession(pd.DataFrame(values)).rank(order).result(method)
        except PreferenceError:
            continue
        scores = [result.scores[a] for a in order]
        assert scores == sorted(scores, reverse=True)
        assert len(set(scores)) == 3
        places = [result.ranking.index(a) for a in order]
        assert places == sorted(places)


@pytest.mark.parametrize("size", [2.0**-40, 2.0**40, 1e9])
@pytest.mark.parametrize("seed", range(8))
def test_certain_answers_do_not_hang_on_the_unit_of_the_criteria(seed, size):
    """Tolerances were absolute: small criteria had no possible preference, large ones a raw
    complaint about a contradiction that was none."""
    values = np.random.default_rng(seed).integers(0, 5, (6, 4)) / 4
    told = []
    for scale in (1.0, size):
        criteria = Criteria(tuple(range(6)), tuple("abcd"), values * scale)
        session = PreferenceSession(criteria).prefer(0, 1).prefer(2, 3)
        if session.conflict() is not None:
            told.append(None)
            continue
        pairs = [(a, b) for a in range(6) for b in range(6) if a != b]
        proofs = {p: session.necessary(*p) for p in pairs}
        question = session.next_question()
        told.append(
            (
                {p for p, proof in proofs.items() if proof},
                {p for p, proof in proofs.items() if proof and proof.margin > 1e-9 * scale},
                {p for p in pairs if session.possible(*p)},
                {c.better for c in session.necessary_pairs()},
                session.result().ranking,
                question and question.shown,
            )
        )
    assert told[0] == told[1]


def test_a_tie_that_forces_a_weight_to_zero_holds():
    """The weight came out as 1e-17, and the tie then counted as broken."""
    table = pd.DataFrame([[0.25, 0, 0], [0, 0, 0], [0, 0, 0.25]], columns=["a", "b", "c"])
    result = PreferenceSession(table).prefer(0, 1).indifferent(1, 2).result()
    assert result.ranking[0] == 0
    assert result.ties == ((1, 2),)


THREE = np.array([[1, 0, 0.3], [0, 1, 0.3], [0.5, 0.6, 0]])


def told(values, margin):
    """Everything that a session says after one statement, but for scores."""
    session = PreferenceSession(Criteria((0, 1, 2), tuple("abc"), values)).prefer(0, 1)
    methods = ("analytic", "max_eps", "chebyshev", "centroid", "centroid_uniform", "bayes_pl")
    results = [session.result(m) for m in methods]
    outlook, question = session.outlook(), session.next_question()
    return (
        [(r.ranking, r.ties) for r in results],
        np.round([list(r.weights.values()) for r in results], 6).tolist(),
        (outlook.expected_tau, outlook.first, outlook.in_top),
        (question.shown, round(question.information, 6)),
        session.next_question("ranking").shown,
        session.next_question(noisy=True).shown,
        session.acceptability().round(6).to_numpy().tolist(),
        session.pairwise().round(6).to_numpy().tolist(),
        [str(session.necessary(a, b)) for a in range(3) for b in range(3) if a != b],
        [session.counterexample(a, b) is None for a in range(3) for b in range(3)],
        [(r.best, r.worst) for r in (session.extreme_ranks(a, margin=margin) for a in range(3))],
        str(session.identifiability()),
        session.prefer(1, 0).conflict().phrases,
        session.repair().phrases,
    )


@pytest.mark.parametrize("power", [-95, -40, 40, 95])
def test_nothing_hangs_on_the_unit(power):
    """Beyond some size max_eps raised an error that said "None", the noisy method ignored what was
    said, extreme ranks found no weights and questions ended in an overflow."""
    size = 2.0**power
    # The smallest margin is absolute where criteria are of usual sizes or smaller ones.
    margin = 0.015625
    expected = told(THREE, margin)
    if power < 0:
        with pytest.raises(PreferenceError, match="by a margin of"):
            told(THREE * size, margin)
    found = told(THREE * size, margin * size)
    assert found == expected


@pytest.mark.parametrize("offset", [2.0**12, 2.0**40])
def test_what_all_have_alike_changes_nothing(offset):
    """With 1e12 and 1e12 + 1 the better of a stated pair "shared its score" with the worse."""
    values = np.array([[1, 0, 0.25], [0, 1, 0.25], [0.5, 0.625, 0]])
    assert told(values + np.array([offset, 0, 0]), 0.01) == told(values, 0.01)
    with_constant = np.c_[values, np.full(3, offset)]
    session = PreferenceSession(Criteria((0, 1, 2), tuple("abcd"), with_constant)).prefer(0, 1)
    assert session.result().ties == ()
    assert session.next_question() is not None


def test_sizes_that_cannot_be_computed_with():
    for size, message in ((1e-40, "hardly differ"), (5e-324, "hardly differ"), (1e40, "beyond")):
        with pytest.raises(PreferenceError, match=message):
            PreferenceSession(pd.DataFrame(THREE * size))


def test_pinned_weights_have_no_poor_sample():
    """Their rounding was taken for a walk that mixes badly: "effective size 276"."""
    table = pd.DataFrame(THREE, columns=list("abc"))
    for session in (
        PreferenceSession(table).bound("a", low=0.3, high=0.3),
        PreferenceSession(table[["a", "b"]]).bound("a", low=0.3, high=0.3),
    ):
        for method in ("centroid", "bayes_pl"):
            assert session.result(method).weights["a"] == pytest.approx(0.3, abs=1e-12)


def test_no_weight_is_minus_zero():
    weights = PreferenceSession(pd.DataFrame(THREE)).bound("0", high=0).result().weights
    assert str(weights["0"]) == "0.0"


@pytest.mark.parametrize("seed", range(40))
def test_what_was_called_equal_is_shown_as_equal(seed):
    """Scores of a stated tie differed by more than what counted as rounding."""
    rng = np.random.default_rng(seed)
    values = rng.random((6, 4)) * 10.0 ** rng.integers(-3, 4, 4)
    session = PreferenceSession(pd.DataFrame(values)).indifferent(0, 2).indifferent(1, 4)
    if session.conflict() is None:
        for method in ("analytic", "chebyshev"):
            ties = session.result(method).ties
            assert any({0, 2} <= set(group) for group in ties)
            assert any({1, 4} <= set(group) for group in ties)
