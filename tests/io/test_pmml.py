"""PMML: the same rows there and back, and what is refused."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rule_strategies import random_rows, rule_sets

from rulelens.core.conditions import Interval, Membership, Missing
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Schema
from rulelens.errors import FormatError
from rulelens.io.formats import format_rules, parse_rules

TEXTS = st.one_of(
    st.text(max_size=6), st.sampled_from(['a"b', "a\\b", " ", "\r\n\t", "<&>'", "true"])
)


@given(rule_sets(levels=TEXTS, outcomes=TEXTS, provenance=False), st.integers(0, 2**32))
@settings(max_examples=300, deadline=None)
def test_the_same_rows_and_a_stable_second_write(rules: RuleSet, seed: int) -> None:
    try:
        text = format_rules(rules, format="pmml")
    except FormatError as e:
        assume("XML cannot carry" not in str(e))
        raise
    again = parse_rules(text, format="pmml")
    assert format_rules(again, format="pmml") == text
    assert [f.levels for f in again.schema] == [f.levels for f in rules.schema]
    assert (again.outcomes, again.ordered, again.default) == (
        rules.outcomes,
        rules.ordered,
        rules.default,
    )
    for row in random_rows(rules.schema, rules, np.random.default_rng(seed), 25):
        assert [r.covers(row) for r in again] == [r.covers(row) for r in rules]


SCHEMA = Schema(
    [Feature("age"), Feature("c", "categorical", ("x y", "z")), Feature("b", "boolean")]
)
RULES = RuleSet.from_rules(
    [
        Rule(
            {"age": Interval(1, 5, high_closed=True, or_missing=True), "b": Membership([True])}, 1
        ),
        Rule({"c": Membership(["x y"], True)}, 2),
        Rule({"c": Missing()}, 1),
        Rule({}, 2),
    ],
    SCHEMA,
    ordered=True,
    default=2,
)


def test_the_document() -> None:
    """What the schema of PMML 4.4 asks for: elements, their order and their attributes."""
    root = ElementTree.fromstring(format_rules(RULES, format="pmml"))
    tags = [e.tag.rpartition("}")[2] for e in root]
    assert tags == ["Header", "DataDictionary", "RuleSetModel"]
    assert root.get("version") == "4.4"
    model = root[2]
    assert model.get("functionName") == "classification"
    assert [e.tag.rpartition("}")[2] for e in model] == ["MiningSchema", "RuleSet"]
    rule_set = model[1]
    assert rule_set.get("defaultScore") == "2"
    assert rule_set[0].get("criterion") == "firstHit"
    assert all(e.get("id") is not None and e.get("score") for e in rule_set[1:])
    assert root[1].get("numberOfFields") == "4"


def test_compound_rules_are_joined() -> None:
    text = format_rules(RULES, format="pmml")
    start, end = text.index('    <SimpleRule id="0"'), text.index("  </RuleSet>")
    nested = (
        '<CompoundRule><SimplePredicate field="age" operator="greaterThan" value="1"/>'
        '<SimpleRule id="a" score="1"><SimplePredicate field="c" operator="equal" value="z"/>'
        '</SimpleRule><SimpleRule id="b" score="2"><CompoundPredicate booleanOperator="and">'
        '<SimplePredicate field="age" operator="lessThan" value="3"/><True/>'
        '<SimpleSetPredicate field="c" booleanOperator="isIn"><Array n="1" type="string">z</Array>'
        "</SimpleSetPredicate></CompoundPredicate></SimpleRule></CompoundRule>"
    )
    rules = parse_rules(text[:start] + nested + text[end:], format="pmml")
    assert [r.conditions for r in rules] == [
        (("age", Interval(1)), ("c", Membership(["z"]))),
        (("age", Interval(1, 3)), ("c", Membership(["z"]))),
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("<PMML", "<!DOCTYPE x [<!ENTITY a 'b'>]><PMML", "entity declaration is not allowed"),
        ("<PMML", "<<PMML", "The text is not XML"),
        ("RuleSetModel", "TreeModel", "PMML: expected one RuleSetModel, found 0"),
        ('<DataField name="age"', '<DataField name="aged"', "no field 'age'"),
        (
            'field="age" operator="greaterThan"',
            'field="ages" operator="greaterThan"',
            "unknown field",
        ),
        ('"greaterThan"', '"isAbout"', "'isAbout' suits no continuous field"),
        ('value="1.0"', 'value="one"', "the value 'one' cannot be used"),
        ('booleanOperator="or"', 'booleanOperator="xor"', "the operator 'xor' cannot be read"),
        ('"isNotIn"', '"isAround"', "expected isIn or isNotIn"),
        ("&quot;x y&quot;", "&quot;x  y&quot;", "has no value 'x  y'"),
        ('score="1" weight', "weight", "SimpleRule.0.: has no score"),
        ("<True/>", "<False/>", "never fires"),
        ("<True/>", "", "expected one predicate, found 0"),
        ('score="1"', 'score="7"', "Unknown outcome 7"),
        ('score="1"', 'score="one"', "the value 'one' is no integer"),
    ],
)
def test_errors_name_the_element(old: str, new: str, message: str) -> None:
    text = format_rules(RULES, format="pmml")
    assert old in text
    with pytest.raises(FormatError, match=message):
        parse_rules(text.replace(old, new), format="pmml")


def test_or_between_fields_is_refused() -> None:
    text = format_rules(RULES, format="pmml").replace(
        '<SimplePredicate field="age" operator="isMissing"/>',
        '<SimplePredicate field="c" operator="isMissing"/>',
    )
    with pytest.raises(FormatError, match=r"SimpleRule\[0\]: 'or' is read only"):
        parse_rules(text, format="pmml")


def test_or_with_a_predicate_that_is_always_true_is_refused() -> None:
    """It was an IndexError, found by mutated documents."""
    text = format_rules(RULES, format="pmml")
    start = text.index('<CompoundPredicate booleanOperator="or">') + 40
    end = text.index('<SimplePredicate field="age" operator="isMissing"/>')
    with pytest.raises(FormatError, match="'or' is read only"):
        parse_rules(text[:start] + "<True/>" + text[end:], format="pmml")


def test_what_pmml_cannot_carry_is_refused() -> None:
    mixed = RuleSet.from_rules([], Schema([Feature("c", "categorical", ("1", 1))]), outcomes=["y"])
    with pytest.raises(FormatError, match="levels of several types"):
        format_rules(mixed, format="pmml")
    nul = RuleSet.from_rules([Rule({}, "\0")], Schema([Feature("a")]))
    with pytest.raises(FormatError, match="XML cannot carry"):
        format_rules(nul, format="pmml")


def test_fields_and_options_must_agree() -> None:
    text = format_rules(RULES, format="pmml")
    assert parse_rules(text, format="pmml", schema=SCHEMA, features=SCHEMA.names).schema == SCHEMA
    with pytest.raises(FormatError, match="not among those given"):
        parse_rules(text, format="pmml", features=["age"])


@pytest.mark.parametrize("value", ["1e999", "1_0", "nan"])
def test_what_is_no_number_of_xml(value: str) -> None:
    """Python reads 1_0 as 10 and 1e999 as infinity."""
    rules = RuleSet.from_rules([Rule({"a": Interval(10)}, 1)], Schema([Feature("a")]))
    text = format_rules(rules, format="pmml")
    assert 'value="10.0"' in text
    with pytest.raises(FormatError):
        parse_rules(text.replace('value="10.0"', f'value="{value}"'), format="pmml")
    with pytest.raises(FormatError):
        parse_rules(text.replace('<Value value="1"', f'<Value value="{value}"'), format="pmml")
