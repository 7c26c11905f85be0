from __future__ import annotations

import numpy as np
import pytest

from rulelens.errors import OptionError, PreferenceError
from rulelens.preference.criteria import CRITERIA, RuleEvidence, evidence_criteria, rule_criteria
from rulelens.preference.rule_columns import (
    actionable_share,
    bootstrap_stability,
    named_values,
    similar_coverage,
)


@pytest.fixture
def evidence():
    return RuleEvidence([[1, 0], [1, 1]], ("age", "bmi"), [8, 3], [0, 1], [2, 7], [10, 9], [1, 2])


def test_registered_ones(evidence):
    table = evidence_criteria(evidence, ["lift", "confidence"], presence=False)
    lift = np.array([1 / 0.5, 0.75 / 0.5])
    np.testing.assert_allclose(table.values[:, 0], lift / (1 + lift))
    np.testing.assert_allclose(table.values[:, 1], [1.0, 0.75])
    assert "lift" in CRITERIA


def test_a_rule_that_covers_nothing():
    e = RuleEvidence([[1]], ("age",), [0], [0], [0], [0], [1])
    assert evidence_criteria(e, ["lift", "confidence"]).values.tolist() == [[1, 0, 0]]
    assert bootstrap_stability(e).tolist() == [0.0]


def test_stability_is_the_binomial_tail(evidence):
    from scipy.stats import binom

    found = bootstrap_stability(evidence, min_support=6, n_resamples=20_000)
    assert found[0] == pytest.approx(binom.sf(5, 20, 0.4), abs=0.02)
    # A rule with an exception keeps confidence 1 only where the exception is not drawn.
    assert bootstrap_stability(evidence, n_resamples=5_000)[1] == pytest.approx(0.34, abs=0.03)


def test_columns_join_as_criteria(evidence):
    table = rule_criteria(
        evidence.presence,
        evidence.features,
        support=[0.4, 0.15],
        confirmation=[0.8, 0.2],
        complexity=[0.5, 1.0],
        more={
            "actionable": (actionable_share(evidence.presence, ["age", "bmi"], ["bmi"]), "gain"),
            "values": (named_values([1, 2], most=4), "cost"),
        },
    )
    assert table.names[-2:] == ("actionable", "values")
    assert table.values[:, -2:].tolist() == [[0.0, -0.25], [0.5, -0.5]]


def test_bad_input(evidence):
    with pytest.raises(PreferenceError, match="Did you mean 'bmi'"):
        actionable_share(evidence.presence, ["age", "bmi"], ["bmj"])
    with pytest.raises(OptionError, match="names 5 values"):
        named_values([5], most=4)
    for covered, weight in (([1.0], [1.0]), ([[1.0]], [1.0, 2.0]), ([[1.0]], [-1.0])):
        with pytest.raises(PreferenceError, match="at least 0"):
            similar_coverage(covered, weight)
    assert similar_coverage([[True]], [0.0]).tolist() == [0.0]
