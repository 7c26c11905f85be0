"""The language of rules: what each text means, exact round trip, errors at their place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_strategies import rule_sets

from rulelens.core.condition_table import ConditionTable
from rulelens.core.conditions import Condition, Interval, Membership, Missing
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Schema
from rulelens.errors import FormatError, RulelensError
from rulelens.io.formats import format_rules, parse_rules
from rulelens.language.parser import parse_text
from rulelens.language.printer import print_rules
from rulelens.language.tokens import tokenize


def one(condition: str, **options: Any) -> tuple[str, Condition]:
    (pair,) = parse_text(f"IF {condition} THEN y", **options)[0].conditions
    return pair


@pytest.mark.parametrize(
    ("text", "name", "condition"),
    [
        ("x <= 5", "x", Interval(high=5, high_closed=True)),
        ("x < .5", "x", Interval(high=0.5)),
        ("x > -0.5", "x", Interval(-0.5)),
        ("x >= 1e-05", "x", Interval(1e-5, low_closed=True)),
        ("x=5.", "x", Interval(5, 5, True, True)),
        ("x == -5E+1", "x", Interval(-50, -50, True, True)),
        ("x <= inf", "x", Interval()),
        ("x > -inf", "x", Interval()),
        ("2 < x <= 5", "x", Interval(2, 5, high_closed=True)),
        ("-1.5<x<-.5", "x", Interval(-1.5, -0.5)),
        ("5 > x >= 2", "x", Interval(2, 5, low_closed=True)),
        ("-inf < x <= 2", "x", Interval(high=2, high_closed=True)),
        ("x in [1, 5)", "x", Interval(1, 5, True, False)),
        ("x IN (-inf, -5]", "x", Interval(high=-5, high_closed=True)),
        ("x in [-1.0, -0.5]", "x", Interval(-1, -0.5, True, True)),
        ("x IS MISSING", "x", Missing()),
        ("x is known", "x", Interval()),
        ("x is not missing", "x", Interval()),
        ("x <= 5 [or missing]", "x", Interval(high=5, high_closed=True, or_missing=True)),
        (
            "x <= 5 [float32, or missing]",
            "x",
            Interval(high=5, high_closed=True, or_missing=True, precision="float32"),
        ),
        ('"heart rate" > 5', "heart rate", Interval(5)),
        ('"\\u00e4\\"b" > 5', 'ä"b', Interval(5)),
        ("größe_2 > 5", "größe_2", Interval(5)),
        ('"if" > 5', "if", Interval(5)),
        ("c = red", "c", Membership(["red"])),
        ("c != red", "c", Membership(["red"], True)),
        ('c = "5"', "c", Membership(["5"])),
        ("c in {red}", "c", Membership(["red"])),
        ('c in {red, "dark, blue}", 5, 2.5}', "c", Membership(["red", "dark, blue}", 5, 2.5])),
        ("c not in {red} [or missing]", "c", Membership(["red"], True, True)),
        ("c NOT IN {}", "c", Membership([], True)),
        ("b = true", "b", Membership([True])),
        ("b in {FALSE}", "b", Membership([False])),
    ],
)
def test_conditions(text: str, name: str, condition: Condition) -> None:
    assert one(text) == (name, condition)


def test_equality_follows_the_kind() -> None:
    schema = Schema([Feature("c", "categorical", (5, "5")), Feature("x")])
    assert one("c = 5", schema=schema) == ("c", Membership([5]))
    assert one('c = "5"', schema=schema) == ("c", Membership(["5"]))
    assert one("x = 5", schema=schema) == ("x", Interval(5, 5, True, True))
    assert one("c is known", schema=schema) == ("c", Membership([], True))
    assert one("c = 5 AND c IN {5}")[1] == Membership([5])


def test_bounds_of_one_feature_are_joined() -> None:
    assert one("a < 5 AND a < 10 AND a > 1") == ("a", Interval(1, 5))


FULL = """RULELENS 1
FEATURE "heart rate" NUMERIC UNIT "1/min"
FEATURE c CATEGORICAL {"", 1, true, 2.5, "if"}
FEATURE b BOOLEAN
FEATURE empty CATEGORICAL {}
OUTCOMES {yes, 1, true, "1", 2.5}
ORDERED
PROVENANCE {tree, note, never}
IF 0.1 < "heart rate" <= 1e+300 [float32, or missing] AND c NOT IN {1} THEN yes FROM {note: "ü\\n"}
IF "heart rate" IS MISSING AND b IN {true} THEN 1 FROM {tree: nan}
IF TRUE THEN "1" FROM {tree: -inf, note: false}
ELSE 2.5
"""


def test_everything_in_one_text() -> None:
    rules = parse_text(FULL)
    assert print_rules(rules) == FULL
    assert rules.schema["c"].levels == ("", 1, True, 2.5, "if")
    assert [type(v) for v in rules.outcomes] == [str, int, bool, str, float]
    assert rules.default == 2.5
    assert rules.provenance["never"].tolist() == [None] * 3
    assert str(rules[2]) == "IF TRUE THEN 1"


@given(rule_sets())
@settings(max_examples=400, deadline=None)
def test_round_trip_is_exact_and_the_second_print_is_the_same(rules: RuleSet) -> None:
    text = print_rules(rules)
    again = parse_text(text)
    assert again == rules
    kinds = [[type(v) for v in (*r.outcomes, r.default)] for r in (again, rules)]
    assert kinds[0] == kinds[1]
    assert print_rules(again) == text


@given(rule_sets())
@settings(max_examples=100, deadline=None)
def test_json_and_text_say_the_same(rules: RuleSet) -> None:
    text = parse_rules(format_rules(rules, format="text"), format="text")
    assert parse_rules(format_rules(text, format="json"), format="json") == rules


WORDS = """IF THEN ELSE AND OR NOT IN IS MISSING KNOWN FEATURE NUMERIC CATEGORICAL BOOLEAN UNIT
OUTCOMES ORDERED PROVENANCE FROM RULELENS TRUE inf - nan x "a" 5 -.5 1e9 < <= > >= = != ( ) [ ] { }
, : float32 #"""


@given(
    st.one_of(
        st.text(max_size=60),
        st.lists(
            st.sampled_from(WORDS.split()),
            max_size=25,
        ).map(" ".join),
    )
)
@settings(max_examples=1500, deadline=None)
def test_any_text_gives_rules_or_an_error_of_ours(text: str) -> None:
    try:
        rules = parse_text(text)
    except FormatError:
        return
    assert parse_text(print_rules(rules)) == rules


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("IF agee > 5 THEN y", "line 1, column 4: Unknown feature 'agee'.*Did you mean 'age'"),
        ("IF age > x THEN y", "line 1, column 10: Expected a number, found 'x'"),
        ("IF age > THEN y", "column 10: Expected a number, found 'THEN'"),
        ("IF age 5 THEN y", "column 8: Expected <, <=, >, >=, =, !=, IN, NOT IN or IS, found '5'"),
        ("IF age > 5 bmi < 3 THEN y", "column 12: Expected AND or THEN, found 'bmi'"),
        ("IF age > 5", "column 11: Expected AND or THEN, found the end"),
        ("IF age > 5 THEN", "column 16: Expected a value, found the end"),
        ("IF age > 5 THEN if", "column 17: Expected a value .in double quotes"),
        ("IF if > 5 THEN y", "column 4: Expected a feature's name .in double quotes"),
        ("IF 2 < age > 5 THEN y", "column 12: Expected < or <=, found '>'"),
        ("IF 5 < age <= 2 THEN y", "column 4: No number lies in"),
        ("IF age < 1 AND age > 2 THEN y", "column 1: The rule .* contradicts itself"),
        ("IF age > 1e999 THEN y", "column 10: Expected a number below 1.8e308"),
        ("IF age > 5 [or] THEN y", "column 15: Expected MISSING, found ']'"),
        ("IF age > 5 [single] THEN y", "Expected 'or missing' or 'float32', found 'single'"),
        ("IF age in {1, THEN y", "Expected a value"),
        ("IF age in {1 THEN y", "Expected ',' or '}', found 'THEN'"),
        ("IF age in [1 5] THEN y", "Expected ',', found '5'"),
        ("IF c in {} THEN y", "column 4: No value is in an empty set"),
        ("IF c in {x} [float32] THEN y", "float32 belongs to intervals only"),
        ("IF age is old THEN y", "Expected MISSING, NOT MISSING or KNOWN, found 'old'"),
        ("IF age in {1} THEN y", "column 4: Feature 'age' is numeric"),
        ("IF age = old THEN y", "column 4: Feature 'age' is numeric: compare it with a number"),
        ("IF age ? 5 THEN y", "column 8: Unexpected '\\?'. Put names"),
        ('IF "age > 5 THEN y', "column 4: A quote opens here and is not closed"),
        ('IF "a\\x" > 5 THEN y', "Unknown escape"),
        ("WHEN age > 5 THEN y", "column 1: Expected IF, FEATURE, OUTCOMES"),
        ("RULELENS 2", "Version 2 is not known"),
        ("ELSE y\nIF age > 5 THEN y", "line 2, column 1: Expected nothing after ELSE"),
        ("OUTCOMES {a}\nIF age > 5 THEN b", "line 2, column 1: Unknown outcome 'b'"),
        ("PROVENANCE {a}\nIF age > 5 THEN b FROM {c: 1}", "Unknown provenance 'c'"),
        ("IF age > 5 THEN b FROM {c: 1, c: 2}", "provenance 'c' is given twice"),
        ("OUTCOMES {a, a}", "An outcome occurs twice"),
        ("IF age > 5 THEN " + "9" * 5000, "too many digits"),
        ("IF age = " + "9" * 400 + " THEN y", "column 4: The number has too many digits"),
    ],
)
def test_errors_point_at_the_place(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        parse_text(
            text,
            schema=Schema([Feature("age"), Feature("bmi"), Feature("c", "categorical", ("x",))]),
        )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "FEATURE a NUMERIC\nFEATURE a BOOLEAN",
            "line 2, column 1: The feature 'a' is declared twice",
        ),
        ("FEATURE a TEXT", "Expected NUMERIC, CATEGORICAL or BOOLEAN, found 'TEXT'"),
        ("FEATURE a CATEGORICAL {x, x}", "lists the level 'x' twice"),
        ("FEATURE a NUMERIC UNIT 5", "Expected a unit"),
        ("FEATURE a NUMERIC\nIF a IN {x} THEN y", "line 2, column 4: Feature 'a' is numeric"),
        ("IF a > 5 THEN y\nIF a in {x} THEN y", "line 2, column 4: 'a' is compared with numbers"),
    ],
)
def test_errors_of_declarations(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        parse_text(text)


def test_an_error_shows_the_line_and_a_caret() -> None:
    with pytest.raises(FormatError) as e:
        parse_text("# first\n\tIF age > five THEN y  # why")
    assert str(e.value).splitlines() == [
        "line 2, column 11: Expected a number, found 'five'.",
        "   IF age > five THEN y  # why",
        "            ^",
    ]
    with pytest.raises(FormatError) as e:
        parse_text("IF " + "a > 5 AND " * 500 + "b THEN y")
    assert max(map(len, str(e.value).splitlines())) < 120


def test_features_and_schema_must_agree_with_the_text() -> None:
    assert parse_text("FEATURE a NUMERIC", features=["a"]).schema == Schema.numeric(["a"])
    assert parse_text("FEATURE a NUMERIC", features=["b", "a"]).schema == Schema.numeric(["a"])
    with pytest.raises(FormatError, match="feature 'a' that is not among"):
        parse_text("FEATURE a NUMERIC", features=["b"])
    with pytest.raises(FormatError, match="given one does not agree"):
        parse_text("FEATURE a NUMERIC", schema=Schema.numeric(["b"]))
    with pytest.raises(FormatError, match="Unknown feature 'a'"):
        parse_text("IF a > 5 THEN y", features=["b"])
    assert parse_text("IF a > 5 THEN y", features=["b", "a"]).schema.names == ("b", "a")


def test_comments_blank_lines_and_a_byte_order_mark() -> None:
    rules = parse_text(
        "\ufeff# a comment\n\nIF a > 5  # why\n  AND b = 'x'".replace("'", '"') + " THEN y"
    )
    assert str(rules[0]) == "IF a > 5 AND b is x THEN y"
    assert len(parse_text("")) == 0


def test_long_runs_of_spaces_and_comments_take_no_time() -> None:
    """A pattern that splits a run of spaces in every way hangs before an unexpected character."""
    with pytest.raises(FormatError, match="Unexpected"):
        parse_text("IF a > 5 " + " \n" * 50_000 + "# x\n" * 1000 + "?")


def test_tokens_know_their_places() -> None:
    tokens = tokenize('IF "a b" <= -5')
    assert [(t.kind, t.value, t.position) for t in tokens] == [
        ("keyword", "if", 0),
        ("text", "a b", 3),
        ("symbol", "<=", 9),
        ("number", "-5", 12),
        ("end", "", 14),
    ]


def test_provenance_that_text_cannot_carry() -> None:
    none = ConditionTable.from_conditions([], Schema([Feature("a")]))
    day = np.array(["2020-01-01"], dtype="datetime64[D]")
    rules = RuleSet.from_arrays(
        Schema([Feature("a")]), none, [0, 0], [], [0], outcomes=["x"], provenance={"day": day}
    )
    with pytest.raises(RulelensError, match="Provenance day holds a date"):
        print_rules(rules)


def test_numbers_that_are_almost_one() -> None:
    x = math.nextafter(1, 2)
    rules = RuleSet.from_rules(
        [Rule({"a": Interval(1, x, True, True)}, 1.0)], Schema.numeric(["a"])
    )
    assert "1.0 <= a <= 1.0000000000000002 THEN 1.0" in print_rules(rules)
    assert parse_text(print_rules(rules)) == rules


def test_a_quoted_true_is_no_condition() -> None:
    """``IF "true" THEN`` was read as ``IF TRUE THEN``."""
    with pytest.raises(FormatError):
        parse_rules('FEATURE a NUMERIC IF "true" THEN x', format="text")


def test_zeros_keep_their_signs() -> None:
    """Equal intervals of a text are made once; -0.0 and 0.0 are equal, but two texts."""
    text = "RULELENS 1\nFEATURE a NUMERIC\nOUTCOMES {x}\n"
    text += "IF a > 0.0 THEN x\nIF a > -0.0 THEN x\nIF a > 0.0 THEN x\n"
    again = format_rules(parse_rules(text, format="text"), format="text")
    assert format_rules(parse_rules(again, format="text"), format="text") == again


def test_a_contradiction_shows_the_rule_with_its_own_outcome() -> None:
    """Pins a message that ended in "THEN 0" whatever the rule's outcome."""
    with pytest.raises(FormatError, match=r"The rule 'IF a > 5 AND a < 3 THEN y' contradicts"):
        parse_rules("IF a > 5 AND a < 3 THEN y", format="text")
