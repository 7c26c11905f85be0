from __future__ import annotations

import numpy as np
import pytest

from rulelens.errors import OptionError
from rulelens.preference.criteria import Criteria
from rulelens.preference.plackett_luce import choices_of, sample_noisy, score_spread
from rulelens.preference.session import PreferenceSession
from rulelens.preference.statements import (
    BestOf,
    Indifferent,
    Intensity,
    Prefer,
    Ranking,
    Recalled,
    WeightBound,
)

TABLE = Criteria("abc", ("x", "y", "z"), [[1, 0, 0], [0, 1, 0], [0.2, 0.2, 0.5]])


def grid_mean(statements, noise):
    """Slow plain reference: posterior mean on a fine grid over the triangle."""
    step = 1 / 240
    x, y = np.meshgrid(np.arange(step / 2, 1, step), np.arange(step / 2, 1, step))
    inside = x + y < 1
    w = np.stack([x[inside], y[inside], 1 - x[inside] - y[inside]])
    scale = noise * score_spread(TABLE, np.random.default_rng(0))
    fit = choices_of(statements, TABLE)
    scores = fit.gaps @ w
    p = np.exp(fit.log_likelihood(scores, np.full(w.shape[1], scale)))
    return (w * p).sum(axis=1) / p.sum()


@pytest.mark.parametrize(
    "statements",
    [
        [Prefer("a", "b")],
        [Prefer("a", "b"), Prefer("b", "a"), Prefer("c", "a")],
        [Ranking((("c",), ("a",), ("b",)))],
        [Indifferent("a", "b"), BestOf("c", ("a", "b", "c"))],
        [Intensity("a", "b", "c", "b")],
        [Recalled("strict", (("x", 1.0), ("z", -0.5)), "said")],
        [Recalled("equal", (("x", 1.0), ("z", -0.5)), "said")],
    ],
)
def test_posterior_mean_is_that_of_a_grid(statements):
    sample = sample_noisy(TABLE, statements, noise=0.3, random_state=0).sample
    assert sample.reliable
    error = np.abs(sample.draws.mean(axis=0) - grid_mean(statements, 0.3))
    assert (error <= 4 * sample.mcse + 0.003).all()


def test_likelihood_of_a_ranking_is_plackett_luce():
    choices = choices_of([Ranking((("c",), ("a",), ("b",)))], TABLE)
    w = np.array([0.5, 0.3, 0.2])
    strength = dict(zip("abc", np.exp(TABLE.values @ w / 0.1), strict=True))
    expected = strength["c"] / sum(strength.values())
    expected *= strength["a"] / (strength["a"] + strength["b"])
    found = choices.log_likelihood((choices.gaps @ w)[:, None], np.array([0.1]))
    assert np.exp(found[0]) == pytest.approx(expected)


def test_contradictions_are_no_error(session):
    session.prefer("r6", "r3")
    assert session.conflict() is not None
    result = session.result("bayes_pl")
    assert result.ranking.index("r3") < 5
    assert "noisy" in result.notes[0]


def test_nothing_said_is_the_simplex():
    sample = sample_noisy(TABLE, []).sample
    np.testing.assert_allclose(sample.draws.mean(axis=0), 1 / 3, atol=0.03)


def test_bounds_hold_for_every_draw():
    said = [WeightBound("x", low=0.4), WeightBound("y", high=0.2), Prefer("b", "a")]
    draws = sample_noisy(TABLE, said, noise=0.2).sample.draws
    assert draws[:, 0].min() >= 0.4 - 1e-9
    assert draws[:, 1].max() <= 0.2 + 1e-9


def test_bounds_that_contradict():
    with pytest.raises(OptionError, match="bounds on the weights contradict"):
        sample_noisy(TABLE, [WeightBound("x", low=0.6), WeightBound("y", low=0.6)])


def test_noise_is_learned():
    """Consistent answers make the learned noise small, contradicting ones large."""
    rng = np.random.default_rng(0)
    table = Criteria(tuple(range(40)), tuple("uvwxyz"), rng.random((40, 6)))
    utility = table.values @ rng.dirichlet(np.ones(6))
    pairs = [rng.choice(40, 2, replace=False).tolist() for _ in range(40)]
    right = [Prefer(a, b) if utility[a] > utility[b] else Prefer(b, a) for a, b in pairs]
    wrong = [Prefer(p.worse, p.better) if i % 3 == 0 else p for i, p in enumerate(right)]
    careful, careless = (sample_noisy(table, s).noise.mean() for s in (right, wrong))
    assert careful < 0.2 < careless


def test_warm_start_and_seeds():
    first = sample_noisy(TABLE, [Prefer("a", "b")], noise=0.3, n_draws=1024)
    again = sample_noisy(TABLE, [Prefer("a", "b")], noise=0.3, n_draws=1024)
    np.testing.assert_array_equal(first.sample.draws, again.sample.draws)
    warm = sample_noisy(TABLE, [Prefer("a", "b")], noise=0.3, start=first.sample.draws)
    assert np.abs(warm.sample.draws.mean(0) - first.sample.draws.mean(0)).max() < 0.05


def test_one_criterion():
    table = Criteria("ab", ("x",), [[1], [0]])
    assert PreferenceSession(table).prefer("b", "a").result("bayes_pl").ranking == ("a", "b")


@pytest.mark.parametrize("noise", [0, -1, float("nan")])
def test_bad_noise(noise):
    with pytest.raises(OptionError, match="above 0"):
        sample_noisy(TABLE, [], noise=noise)


def test_questions_and_outlook_go_on_after_contradictions(session):
    session.prefer("r6", "r3")
    question = session.next_question(noisy=True)
    assert question == session.next_question(noisy=True)
    assert 0 < question.information <= 1
    outlook = session.outlook(noisy=True)
    assert outlook.expected_jaccard < 0.95
    assert session.acceptability(1, noisy=True)[1].sum() == pytest.approx(1.0)
    session.answer(question, question.b)
    assert session.noisy_sample().sample.reliable


@pytest.fixture
def in_blocks(monkeypatch):
    """Many exchanges at once, as above 100 criteria, in problems of any size."""
    monkeypatch.setattr("rulelens.preference.slice_chains._MANY", 1)
    monkeypatch.setattr("rulelens.preference.slice_chains._BLOCKS", 3)


@pytest.mark.parametrize("noise", [0.3, None])
def test_many_exchanges_at_once_have_the_same_posterior(noise, monkeypatch):
    rng = np.random.default_rng(5)
    values = rng.random((20, 12))
    table = Criteria(tuple(range(20)), tuple(map(str, range(12))), values)
    said = [Ranking(((0,), (1,), (2,))), Prefer(3, 4), Prefer(2, 0), WeightBound("3", 0.1, 0.3)]
    one = sample_noisy(table, said, noise=noise, n_draws=16_384).sample
    monkeypatch.setattr("rulelens.preference.slice_chains._MANY", 1)
    monkeypatch.setattr("rulelens.preference.slice_chains._BLOCKS", 3)
    many = sample_noisy(table, said, noise=noise, n_draws=16_384).sample
    assert one.reliable
    assert many.reliable
    for power in (1, 2):
        gap = (one.draws**power).mean(axis=0) - (many.draws**power).mean(axis=0)
        error = (one.draws**power).std(axis=0) * np.sqrt(1 / one.ess + 1 / many.ess)
        assert (np.abs(gap) <= 4 * error).all()


def test_many_exchanges_at_once_and_a_grid(in_blocks):
    said = [Prefer("a", "b"), Prefer("b", "a"), Prefer("c", "a")]
    sample = sample_noisy(TABLE, said, noise=0.3).sample
    error = np.abs(sample.draws.mean(axis=0) - grid_mean(said, 0.3))
    assert (error <= 4 * sample.mcse + 0.003).all()


@pytest.mark.parametrize("n_criteria", [101, 500])
def test_hundreds_of_criteria_have_a_reliable_sample(n_criteria):
    """500 criteria took 19 s, with an effective size of 1,500; now 2 s and above 3,000."""
    rng = np.random.default_rng(n_criteria)
    values = rng.random((60, n_criteria))
    table = Criteria(tuple(range(60)), tuple(map(str, range(n_criteria))), values)
    said = [Prefer(a, a + 1) for a in range(0, 40, 2)]
    sample = sample_noisy(table, said).sample
    assert sample.reliable
    assert sample.ess > 1_500
    assert (sample.draws >= 0).all()
    np.testing.assert_allclose(sample.draws.sum(axis=1), 1.0)
