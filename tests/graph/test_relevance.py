"""P and q against a slow plain reference, and the registries behind them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulelens.core.conditions import Interval
from rulelens.core.measures import MEASURES
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Schema
from rulelens.errors import OptionError, TableError
from rulelens.frames import read_labels, read_table
from rulelens.graph.relevance import FEATURE_RELEVANCES, relevances

PAIRS = list(
    itertools.product(
        ["relevance", "support", "confidence", "lift", "equal"], ["relevance", "impurity"]
    )
)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), pair=st.sampled_from(PAIRS))
def test_agrees_with_plain_loops(data, pair, cases, reference):
    case = data.draw(cases())
    table, labels = read_table(case.X, case.rules.schema), read_labels(case.y)
    if len(case.rules) and all(r.outcome not in case.y for r in case.rules):
        case = type(case)(case.rules[:0], case.X, case.y)
    P, q = relevances(case.rules, table, labels, rule_relevance=pair[0], feature_relevance=pair[1])
    P_plain, q_plain, _ = reference(case, *pair)
    np.testing.assert_allclose(P, P_plain, rtol=0, atol=1e-12)
    np.testing.assert_allclose(q, q_plain, rtol=0, atol=1e-12)
    assert (P >= 0).all()


def two_rules() -> tuple[RuleSet, np.ndarray, list[str]]:
    schema = Schema.numeric(["a", "b"])
    rules = RuleSet.from_rules(
        [Rule({"a": Interval(high=2), "b": Interval(low=0)}, "yes"), Rule({}, "no")], schema
    )
    return rules, np.array([[1.0, 1.0], [1.0, -1.0], [3.0, 1.0], [3.0, -1.0]]), list("ynny")


def test_rule_without_conditions_has_weight_but_no_features():
    rules, X, _ = two_rules()
    y = read_labels(["yes", "no", "no", "yes"])
    P, q = relevances(rules, read_table(X, rules.schema), y)
    assert P[1].tolist() == [0, 0]
    assert q.tolist() == [0.5, 0.0]


def test_labels_of_another_type_are_an_error():
    rules, X, _ = two_rules()
    with pytest.raises(TableError, match="same type and spelling"):
        relevances(rules, read_table(X, rules.schema), read_labels([1, 0, 0, 1]))


@pytest.mark.parametrize("name", ["rule_relevance", "feature_relevance"])
def test_unknown_relevance_names_the_near_one(name):
    rules, X, _ = two_rules()
    y = read_labels(["yes", "no", "no", "yes"])
    with pytest.raises(OptionError, match="Did you mean 'relevance'"):
        relevances(rules, read_table(X, rules.schema), y, **{name: "relevence"})


def test_own_relevances_are_used_once_registered():
    rules, X, _ = two_rules()
    table, y = read_table(X, rules.schema), read_labels(["yes", "no", "no", "yes"])
    FEATURE_RELEVANCES.add("half", lambda counts: np.full(len(counts.owner), 0.5))
    MEASURES.add("coverage", lambda tp, fp, fn, tn: (tp + fp) / (tp + fp + fn + tn))
    try:
        P, q = relevances(rules, table, y, rule_relevance="coverage", feature_relevance="half")
    finally:
        FEATURE_RELEVANCES.remove("half")
        MEASURES.remove("coverage")
    assert P.tolist() == [[0.5, 0.5], [0, 0]]
    assert q.tolist() == [0.25, 1.0]


def test_infinite_relevance_is_an_error():
    """numpy's nan_to_num turned infinity into 1.8e308, which then drowned every other rule."""
    rules, X, _ = two_rules()
    table, y = read_table(X, rules.schema), read_labels(["yes", "no", "no", "yes"])
    FEATURE_RELEVANCES.add("endless", lambda counts: np.full(len(counts.owner), np.inf))
    try:
        with pytest.raises(OptionError, match="infinite"):
            relevances(rules, table, y, feature_relevance="endless")
    finally:
        FEATURE_RELEVANCES.remove("endless")


def test_a_condition_that_changes_no_share_has_no_impurity_fall():
    """Rounding gave 1e-16, and the graph of such rules was 100 % of that noise."""
    rng = np.random.default_rng(0)
    schema = Schema.numeric(["a", "b"])
    rules = RuleSet.from_rules([Rule({"a": Interval(high=0.5), "b": Interval(low=0)}, "x")], schema)
    for shares in rng.integers(1, 12, (40, 3)):
        # The same shares of the classes on both sides of the cut, in other numbers.
        left, right = rng.integers(1, 9, 2)
        y = np.repeat(["x", "y", "z"], shares).tolist() * int(left + right)
        n = int(shares.sum())
        X = np.column_stack([np.repeat([0.0, 1.0], [left * n, right * n]), np.ones(len(y))])
        table, labels = read_table(X, schema), read_labels(y)
        P, _ = relevances(rules, table, labels, feature_relevance="impurity")
        assert P.tolist() == [[0, 0]]
        _, q = relevances(rules, table, labels, rule_relevance="wracc")
        assert q.tolist() == [0]


@pytest.mark.parametrize(
    ("value", "found"),
    [(lambda c: 1.0, "a float"), (lambda c: np.zeros((2, 2)), r"shape \(2, 2\)"),
     (lambda c: ["x", "y"], "a list")],
)  # fmt: skip
def test_own_relevances_of_another_shape_are_told(value, found):
    rules, X, _ = two_rules()
    table, y = read_table(X, rules.schema), read_labels(["yes", "no", "no", "yes"])
    FEATURE_RELEVANCES.add("odd", value)
    MEASURES.add("odd", lambda tp, fp, fn, tn: value(tp))
    try:
        for name in ("feature_relevance", "rule_relevance"):
            with pytest.raises(OptionError, match=f"'odd' gave .*{found}"):
                relevances(rules, table, y, **{name: "odd"})
    finally:
        FEATURE_RELEVANCES.remove("odd")
        MEASURES.remove("odd")
