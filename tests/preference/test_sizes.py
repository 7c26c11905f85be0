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
