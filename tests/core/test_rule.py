"""Single rules."""

import numpy as np
import pytest

from rulelens.core.conditions import Interval, Membership, Missing
from rulelens.core.rule import Rule
from rulelens.errors import ContradictionError, RuleError, SchemaError

UP, DOWN = Interval(low=5), Interval(high=10, high_closed=True)


def test_simplify_merges_conditions_on_one_feature():
    rule = Rule([("a", UP), ("b", Membership(["x"])), ("a", DOWN)], 1, {"tree": 3})
    assert str(rule.simplify()) == "IF 5 < a <= 10 AND b is x THEN 1"
    assert rule.simplify().provenance == (("tree", 3),)
    assert len(rule) == 3
    assert rule.features == ("a", "b")
    assert rule.simplify().simplify() == rule.simplify()


def test_simplify_tells_of_a_contradiction():
    rule = Rule([("a", UP), ("a", Interval(high=5))], "yes")
    with pytest.raises(ContradictionError, match="'a > 5' and 'a < 5' cannot both hold"):
        rule.simplify()


def test_without():
    rule = Rule([("a", UP), ("b", Missing()), ("a", DOWN)], True)
    assert str(rule.without("a")) == "IF b is missing THEN True"
    assert rule.without("zzz") == rule
    assert str(rule.without("a").without("b")) == "IF TRUE THEN True"


@pytest.mark.parametrize(
    ("row", "covered"),
    [
        ({"a": 7, "c": "x"}, True),
        ({"a": 7.0, "c": "y"}, False),
        ({"a": 10, "c": "x", "more": 1}, True),
        ({"a": 5, "c": "x"}, False),
        ({"a": None, "c": "x"}, False),
        ({"a": np.float64(6), "c": np.str_("x")}, True),
        ({"a": 6, "c": None}, False),
    ],
)
def test_covers(row, covered):
    assert Rule([("a", UP), ("a", DOWN), ("c", Membership(["x"]))], 1).covers(row) is covered


def test_covers_wants_every_feature():
    with pytest.raises(RuleError, match="no value for 'a'"):
        Rule({"a": UP}, 1).covers({})


def test_equality_tells_one_from_true():
    assert Rule({"a": UP}, 1) != Rule({"a": UP}, True)
    assert Rule({"a": UP}, 1) == Rule({"a": UP}, 1.0)
    assert hash(Rule({"a": UP}, 1)) == hash(Rule({"a": UP}, 1.0))
    assert Rule({"c": Membership([1])}, 1) != Rule({"c": Membership([True])}, 1)
    assert Rule({"a": UP}, 1, {"tree": 1}) != Rule({"a": UP}, 1)


def test_numpy_outcome_and_provenance_become_plain():
    rule = Rule({}, np.int64(1), {"tree": np.int32(4)})
    assert type(rule.outcome) is int
    assert type(rule.provenance[0][1]) is int


def test_wrong_parts():
    with pytest.raises(RuleError, match="Use Interval, Membership or Missing"):
        Rule({"a": "a > 5"}, 1)
    with pytest.raises(SchemaError, match="outcome"):
        Rule({}, None)
