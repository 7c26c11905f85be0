from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from rulelens.errors import OptionError
from rulelens.preference.metrics import (
    Discovery,
    compare_methods,
    discovery,
    holm,
    jaccard,
    kendall_tau_a,
    kendall_tau_b,
    parameter_tau,
    top_regret,
)

pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=12)


@settings(deadline=None)
@given(pairs)
def test_tau_a_is_its_definition_and_tau_b_is_scipys(rows):
    a, b = np.array(rows).T
    n = len(a)
    signs = sum(
        np.sign(a[i] - a[j]) * np.sign(b[i] - b[j]) for i in range(n) for j in range(i + 1, n)
    )
    assert kendall_tau_a(a, b) == pytest.approx(2 * signs / (n * (n - 1)))
    assert kendall_tau_b(a, b) == pytest.approx(kendalltau(a, b).statistic, nan_ok=True)


def test_paper_tau_of_scores(session, example, paper):
    learned = list(session.result("max_eps").scores.values())
    true = [paper["expected"]["u_true_scores"][a] for a in example.alternatives]
    assert kendall_tau_a(learned, true) == pytest.approx(99 / 105, abs=1e-12)


def test_lists_of_ids_are_refused(paper):
    """The paper's 0.4095 is Kendall's τ of two lists of rule ids; ids that are text are refused."""
    with pytest.raises(OptionError, match="no number"):
        kendall_tau_a(paper["ranking_eq12"], paper["ranking_eq13"])


def test_parameter_tau_of_the_example(session, paper):
    weights = session.result("max_eps").weights
    rounded = {n: round(w, 9) for n, w in weights.items()}
    found = parameter_tau(rounded, paper["u_true_weights_printed"])
    assert found == pytest.approx(paper["expected"]["param_tau_a_eq7"])
    with pytest.raises(OptionError, match="different criteria"):
        parameter_tau({"x": 1.0}, {"y": 1.0})


@pytest.mark.parametrize(
    ("first", "second"), [([1], [1]), ([1, 2], [1, 2, 3]), ([[1, 2]], [[1, 2]])]
)
def test_bad_vectors(first, second):
    with pytest.raises(OptionError, match="same length, at least 2"):
        kendall_tau_a(first, second)


def test_jaccard():
    assert jaccard([], []) == 1.0
    assert jaccard([1, 2, 3], [3, 4, 5]) == 0.2


def test_discovery_of_the_example(session, paper):
    found = discovery(
        session.result("max_eps").ranking, paper["ranking_eq13"], paper["reference_ranking_eq10"]
    )
    assert found == Discovery(n_above=1, n_in_top=2, precision=1.0, recall=1.0)


def test_discovery_without_new_ones():
    found = discovery([1, 2], [1, 2], [1, 2], k=2)
    assert np.isnan(found.precision)
    assert np.isnan(found.recall)


def test_regret():
    assert top_regret([1, 0], [5, 5]) == 0.0
    assert top_regret([0, 1], [1, 0]) == 1.0


def test_holm_is_monotone_and_at_most_one():
    assert holm([0.5, 0.9, 0.02]) == pytest.approx([1.0, 1.0, 0.06])
    assert holm([]) == []


def test_comparison_of_equal_methods():
    (same,) = compare_methods({"a": [1, 2, np.nan], "b": [1, 2, 3]}, [("a", "b")])
    assert (same.n, same.n_different, same.p_holm, same.effect) == (2, 0, 1.0, 0.0)


def test_comparison_finds_a_shift():
    rng = np.random.default_rng(0)
    base = rng.normal(size=80)
    results = {"a": base, "b": base + 0.3 + 0.1 * rng.normal(size=80), "c": base}
    up, none = compare_methods(results, [("b", "a"), ("c", "a")])
    assert up.p_holm < 1e-6
    assert up.effect > 0.9
    assert none.p_holm == 1.0
