"""The sampler against closed forms, against exact values and against itself."""

from __future__ import annotations

import numpy as np
import pytest

from rulelens.errors import OptionError, PreferenceError
from rulelens.preference.criteria import Criteria
from rulelens.preference.diagnostics import effective_sample_size, split_rhat
from rulelens.preference.hit_and_run import WeightSample, sample_weights
from rulelens.preference.polytope import Polytope, cube_interior
from rulelens.preference.session import PreferenceSession
from rulelens.preference.statements import Indifferent, WeightBound, constraints_of


def order_cone(d, k):
    """w_1 ≥ w_2 ≥ … ≥ w_k, the other d - k weights free."""
    rows = np.zeros((k - 1, d))
    rows[np.arange(k - 1), np.arange(k - 1)] = 1.0
    rows[np.arange(k - 1), np.arange(1, k)] = -1.0
    return Polytope(d, rows, np.zeros((0, d)), np.zeros((0, d)))


def order_mean(d, k):
    """E[w_i] = (1/d)·Σ_{j=i..k} 1/j for i ≤ k, else 1/d (spacings)."""
    mean = np.full(d, 1.0 / d)
    for i in range(1, k + 1):
        mean[i - 1] = sum(1.0 / j for j in range(i, k + 1)) / d
    return mean


@pytest.mark.parametrize("d", [5, 12, 30, 60])
@pytest.mark.parametrize("seed", [0, 1])
def test_simplex_mean_and_variance(d, seed):
    sample = sample_weights(Polytope.simplex(d).interior(), random_state=seed)
    assert sample.reliable
    assert (np.abs(sample.draws.mean(axis=0) - 1 / d) <= 4 * sample.mcse).all()
    true_sd = np.sqrt((d - 1) / (d**2 * (d + 1)))
    np.testing.assert_allclose(sample.draws.std(axis=0), true_sd, rtol=0.15)


@pytest.mark.parametrize("d", [5, 12, 30, 60])
@pytest.mark.parametrize("seed", [0, 1])
def test_order_cone_mean(d, seed):
    k = d // 2 + 1
    sample = sample_weights(order_cone(d, k).interior(), random_state=seed)
    assert sample.reliable
    assert sample.rhat <= 1.01
    error = np.abs(sample.draws.mean(axis=0) - order_mean(d, k))
    assert (error <= 4 * sample.mcse).all()


def test_centroid_of_the_example_is_the_exact_one(session, paper):
    sample = session.sample(60_000)
    expected = [paper["expected"]["centroid_exact"]["weights"][n] for n in session.criteria.names]
    assert (np.abs(sample.centroid() - expected) <= 4 * sample.mcse + 1e-6).all()
    ranking = list(session.result("centroid").ranking)
    assert ranking == paper["expected"]["centroid_exact"]["ranking"]


def test_reported_effective_size_is_that_of_independent_runs():
    """Var(mean) over many runs tells the effective size without looking inside a run."""
    interior = order_cone(8, 5).interior()
    runs = [sample_weights(interior, 2_048, n_chains=128, random_state=s) for s in range(150)]
    means = np.array([r.draws.mean(axis=0) for r in runs])
    truth = order_mean(8, 5)
    spread = np.concatenate([r.draws for r in runs]).std(axis=0)
    independent = spread**2 / ((means - truth) ** 2).mean(axis=0)
    reported = np.mean([(r.draws.std(axis=0) / r.mcse) ** 2 for r in runs], axis=0)
    assert reported.mean() / independent.mean() == pytest.approx(1.0, abs=0.2)


def test_draws_satisfy_ties_and_bounds_exactly():
    table = Criteria((0, 1), ("x", "y", "z", "u"), [[1, 0, 0, 0.5], [0, 1, 0.5, 0]])
    said = constraints_of([Indifferent(0, 1), WeightBound("z", high=0.3)], table)
    polytope = Polytope.of(said, 4)
    draws = sample_weights(polytope.interior(), 2_000).draws
    assert np.abs(draws @ polytope.equal.T).max() < 1e-10
    assert (draws @ polytope.weak.T).min() > -1e-10
    assert (draws >= 0).all()
    np.testing.assert_allclose(draws.sum(axis=1), 1.0)


def test_thin_polytope_is_no_harder():
    """Weights within 1e-5 of each other: hit-and-run along plain axes would stand still."""
    rows = np.array([[1, -1, 0, 0], [-1 + 1e-5, 1, 0, 0], [0, 0, 1, -1.0]])
    none = np.zeros((0, 4))
    sample = sample_weights(Polytope(4, rows, none, none).interior(), random_state=0)
    assert sample.reliable


def test_a_point_is_sampled_as_itself():
    table = Criteria((0, 1), ("x", "y"), [[1, 0], [0, 1]])
    session = PreferenceSession(table).indifferent(0, 1)
    sample = session.sample()
    np.testing.assert_allclose(sample.centroid(), [0.5, 0.5])
    assert session.result("centroid").ties == ((0, 1),)


def test_uniform_prior_is_that_of_normalised_uniform_weights():
    """Nothing said: the draws are u / Σu with u uniform on the cube, compared by moments."""
    polytope = Polytope.simplex(4)
    cube = cube_interior(polytope, polytope.interior())
    sample = sample_weights(cube, 20_000, random_state=0)
    u = np.random.default_rng(1).random((200_000, 4))
    w = u / u.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(sample.draws.mean(axis=0), 0.25, atol=4 * sample.mcse.max())
    np.testing.assert_allclose(sample.draws.std(axis=0), w.std(axis=0), rtol=0.05)


def test_centroid_under_the_uniform_prior_is_more_even(session):
    plain, uniform = (session.result(m).weights for m in ("centroid", "centroid_uniform"))
    assert max(uniform.values()) < max(plain.values())
    assert list(session.result("centroid_uniform").ranking)[:2] in (["r3", "r5"], ["r5", "r3"])


def test_same_seed_same_draws():
    interior = order_cone(6, 3).interior()
    first, again = (sample_weights(interior, 500, random_state=7).draws for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_poor_sample_gives_no_centroid():
    draws = np.full((10, 2), 0.5)
    for poor in (
        WeightSample(draws, 2, 399.0, 1.0, np.zeros(2)),
        WeightSample(draws, 2, 1e4, 1.02, np.zeros(2)),
    ):
        assert not poor.reliable
        with pytest.raises(PreferenceError, match="too poor for a centroid"):
            poor.centroid()


def test_short_run_is_refused(session):
    interior = session.polytope().interior()
    sample = sample_weights(interior, 64, n_chains=8, thin=1)
    assert not sample.reliable


@pytest.mark.parametrize("n_chains", [0, 6, 4, 33])
def test_bad_number_of_chains(n_chains):
    with pytest.raises(OptionError, match="multiple of 4"):
        sample_weights(Polytope.simplex(3).interior(), n_chains=n_chains)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_effective_size_of_an_autoregression(rho):
    """ESS / n of AR(1) is (1 - ρ) / (1 + ρ)."""
    rng = np.random.default_rng(0)
    x = np.zeros((40, 2_000, 1))
    x[:, 0] = rng.normal(size=(40, 1)) / np.sqrt(1 - rho**2)
    for t in range(1, 2_000):
        x[:, t] = rho * x[:, t - 1] + rng.normal(size=(40, 1))
    expected = x.size * (1 - rho) / (1 + rho)
    assert effective_sample_size(x)[0] == pytest.approx(expected, rel=0.12)


def test_rhat_sees_groups_that_disagree():
    x = np.random.default_rng(0).normal(size=(32, 50, 1))
    x[:8] += 1.0
    assert split_rhat(x, 4)[0] > 1.05


def test_constant_coordinate_is_no_fault():
    x = np.full((8, 10, 1), 0.25)
    assert split_rhat(x, 4)[0] == 1.0
    assert effective_sample_size(x)[0] == 80
