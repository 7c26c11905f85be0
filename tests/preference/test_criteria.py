from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rulelens.errors import PreferenceError
from rulelens.preference.criteria import (
    CRITERIA,
    Criteria,
    RuleEvidence,
    criterion_name,
    evidence_criteria,
    rule_criteria,
)


def test_frame_round_trip():
    frame = pd.DataFrame({"a b": [0.5, 1], "naïve": [2, -3]}, index=["x", "y"])
    criteria = Criteria.from_frame(frame)
    pd.testing.assert_frame_equal(criteria.to_frame(), frame.astype(float))


def test_tuple_ids_survive_the_round_trip():
    criteria = Criteria(((1, 2), (1, 3)), ("a",), [[0.0], [1.0]])
    assert criteria.to_frame().index.tolist() == [(1, 2), (1, 3)]


def test_values_are_copied_and_read_only():
    values = np.zeros((2, 1))
    criteria = Criteria((0, 1), ("a",), values)
    values[0, 0] = 9
    assert criteria.values[0, 0] == 0
    with pytest.raises(ValueError, match="read-only"):
        criteria.values[0, 0] = 1


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Criteria((1, 1), ("a",), [[0], [1]]), "alternative 1 occurs twice"),
        (lambda: Criteria((1, 2), ("a", "a"), [[0, 1], [1, 0]]), "criterion 'a' occurs twice"),
        (lambda: Criteria((1, 2), ("a",), [[0], [np.nan]]), "'a' of alternative 2 is nan"),
        (lambda: Criteria((1, 2), ("a",), [[0], [-np.inf]]), "must be a finite number"),
        (lambda: Criteria((1, 2), ("a",), [[1e308], [-1e308]]), "Rescale such columns"),
        (lambda: Criteria((1, 2), (), np.zeros((2, 0))), "no criteria"),
        (lambda: Criteria((1, 2), ("a",), [[0, 1], [1, 0]]), r"Expected shape \(2, 1\)"),
        (lambda: Criteria(([1], [2]), ("a",), [[0], [1]]), "not hashable"),
        (lambda: Criteria.from_frame(pd.DataFrame({"a": ["x", "y"]})), "must be numbers"),
    ],
)
def test_bad_tables_are_refused(build, message):
    with pytest.raises(PreferenceError, match=message):
        build()


def test_nullable_missing_value_is_refused_as_not_finite():
    frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int64")})
    with pytest.raises(PreferenceError, match="finite"):
        Criteria.from_frame(frame)


def test_unknown_alternative_names_the_nearest():
    with pytest.raises(PreferenceError, match="Did you mean 'r3'"):
        Criteria(("r3", "x"), ("a",), [[0], [1]]).position("r33")


def evidence(**changes):
    values = {
        "presence": [[1, 0, 1], [1, 0, 0]],
        "features": ("age", "sex", "support"),
        "tp": [8, 4],
        "fp": [0, 1],
        "fn": [2, 6],
        "tn": [10, 9],
        "n_conditions": [2, 1],
    }
    return RuleEvidence(**{**values, **changes})


def test_papers_criteria_from_counts():
    criteria = evidence_criteria(evidence(), alternatives=["r1", "r2"])
    assert criteria.alternatives == ("r1", "r2")
    assert criteria.names == ("age", "support", "rule support", "confirmation", "complexity")
    expected = [[1, 1, 0.4, 0.8, -2 / 3], [1, 0, 0.2, 0.4 - 0.1, -1 / 3]]
    np.testing.assert_allclose(criteria.values, expected, atol=1e-15)


def test_array_form_agrees_with_the_evidence_form():
    e = evidence()
    by_evidence = evidence_criteria(e)
    by_array = rule_criteria(
        e.presence,
        e.features,
        support=[0.4, 0.2],
        confirmation=[0.8, 0.4 - 0.1],
        complexity=[2 / 3, 1 / 3],
    )
    assert by_array.names == by_evidence.names
    np.testing.assert_allclose(by_array.values, by_evidence.values, atol=1e-15)


def test_name_does_not_depend_on_which_features_occur():
    """A profile aligns criteria by name: the name must not change from row to row."""
    e = evidence(presence=[[1, 0, 0], [1, 0, 0]])
    assert evidence_criteria(e).names == ("age", "rule support", "confirmation", "complexity")
    assert criterion_name("support", ["support", "rule support"]) == "rule rule support"


def test_one_class_counts_no_error():
    e = evidence(fp=[0, 0], tn=[0, 0])
    criteria = evidence_criteria(e, ["confirmation"], presence=False)
    np.testing.assert_allclose(criteria.values[:, 0], [0.8, 0.4])


def test_confirmation_below_chance_stays_negative():
    criteria = evidence_criteria(evidence(fp=[10, 10], tn=[0, 0]), ["confirmation"], presence=False)
    np.testing.assert_allclose(criteria.values[:, 0], [-0.2, -0.6])


def test_added_criterion_takes_part_and_is_checked():
    CRITERIA.add("odd", lambda e: (e.tp / 8.0, "cost"))
    CRITERIA.add("broken", lambda e: (e.tp * 1.0, "gain"))
    try:
        assert evidence_criteria(evidence(), ["odd"]).values[:, -1].tolist() == [-1.0, -0.5]
        with pytest.raises(PreferenceError, match=r"'broken' is .*8\.0.* must lie in \[0, 1\]"):
            evidence_criteria(evidence(), ["broken"])
    finally:
        CRITERIA.remove("odd")
        CRITERIA.remove("broken")


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: evidence(tp=[1]), "'tp' has shape"),
        (lambda: evidence(features=("age",)), "presence table has shape"),
        (lambda: evidence_criteria(evidence(), ["suport"]), "Did you mean 'support'"),
        (lambda: evidence_criteria(evidence(), [], presence=False), "Name at least one"),
        (
            lambda: rule_criteria([[1]], ["a"], support=[1, 1], confirmation=[1], complexity=[1]),
            "'support' has shape",
        ),
        (
            lambda: rule_criteria([1], ["a"], support=[1], confirmation=[1], complexity=[1]),
            "presence table has shape",
        ),
        (
            lambda: rule_criteria(
                [[1]], ["a"], support=[1], confirmation=[1], complexity=[1], more={"z": ([1], "up")}
            ),
            "Expected 'gain' or 'cost'",
        ),
    ],
)
def test_bad_evidence_is_refused(build, message):
    with pytest.raises(PreferenceError, match=message):
        build()
