"""Rulex text: what it says, and the figures that it prints."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from rulelens.core.conditions import Condition, Interval, Membership
from rulelens.core.schema import Feature, Level, Schema
from rulelens.errors import FormatError, RuleError
from rulelens.io.formats import parse_rules, read_rules
from rulelens.io.printed import PrintedDifference, check_printed


def one(condition: str, **options: object) -> tuple[str, Condition]:
    rules = parse_rules(f"RULE 1: IF {condition} THEN y in {{a}}", format="rulex", **options)
    (pair,) = rules[0].conditions
    return pair


@pytest.mark.parametrize(
    ("text", "name", "condition"),
    [
        ("V1 <= 5", "V1", Interval(high=5, high_closed=True)),
        ("V1 < 5", "V1", Interval(high=5)),
        ("V1 > -0.5", "V1", Interval(-0.5)),
        ("V1 >= .5", "V1", Interval(0.5, low_closed=True)),
        ("V1 > 5.", "V1", Interval(5)),
        ("V1 > +5", "V1", Interval(5)),
        ("V1 > 1e-05", "V1", Interval(1e-5)),
        ("V1 > -1.5E+3", "V1", Interval(-1500)),
        ("V1 <= inf", "V1", Interval()),
        ("V1 > -Infinity", "V1", Interval()),
        ("2 < V1 <= 5", "V1", Interval(2, 5, high_closed=True)),
        ("2<V1<5", "V1", Interval(2, 5)),
        ("2 <= V1 < 5", "V1", Interval(2, 5, low_closed=True)),
        ("-1e-05 <= V1 <= -.5e-6", "V1", Interval(-1e-5, -5e-7, True, True)),
        ("5 > V1 >= 2", "V1", Interval(2, 5, low_closed=True)),
        ("heart rate_2 <= 5", "heart rate_2", Interval(high=5, high_closed=True)),
        ("2 < heart rate (1/min) <= 5", "heart rate (1/min)", Interval(2, 5, high_closed=True)),
        ('"a <= b" <= 5', "a <= b", Interval(high=5, high_closed=True)),
        ("x = 5", "x", Interval(5, 5, True, True)),
        ("colour = red", "colour", Membership(["red"])),
        ("colour = dark red", "colour", Membership(["dark red"])),
        ("colour in {red}", "colour", Membership(["red"])),
        ("colour in {red, dark blue}", "colour", Membership(["red", "dark blue"])),
        (
            'colour in {"a, b", "c}", "say ""hi"""}',
            "colour",
            Membership(["a, b", "c}", 'say "hi"']),
        ),
        ("colour not in {red,blue}", "colour", Membership(["red", "blue"], True)),
        ("colour NOT  IN { red , blue }", "colour", Membership(["red", "blue"], True)),
        ("colour not in {}", "colour", Membership([], True)),
        ("b in {True}", "b", Membership([True])),
        ("b = False", "b", Membership([False])),
        ("rain in may > 3", "rain in may", Interval(3)),
    ],
)
def test_conditions(text: str, name: str, condition: Condition) -> None:
    assert one(text) == (name, condition)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("V2 > 1", "income"),
        ("income > 1", "income"),
        ("this AND that > 1", "this AND that"),
        ("2 < x > 1", "2 < x"),
        ("age at birth > 1", "age at birth"),
        ("age > 1", "age"),
        ("V1 > 1", "V1"),
    ],
)
def test_names_that_are_given_go_before_positions(text: str, name: str) -> None:
    features = ["age", "income", "age at birth", "this AND that", "2 < x", "V1"]
    assert one(text, features=features) == (name, Interval(1))


def test_levels_take_the_types_of_the_schema() -> None:
    schema = Schema([Feature("x", "categorical", (1, 2.5, "3")), Feature("b", "boolean")])
    assert one("x in {1, 2.50, 3}", schema=schema) == ("x", Membership([1, 2.5, "3"]))
    assert one("b = 1", schema=schema) == ("b", Membership([True]))
    assert one("V1 = 1", schema=schema) == ("x", Membership([1]))


def test_bounds_of_one_feature_are_joined() -> None:
    text = "RULE 1: IF a < 5 AND a < 10 AND a > 1 THEN y in {no}, COVERING: .5(wo cond. 1: .1)"
    rules = parse_rules(text, format="rulex")
    assert rules[0].conditions == (("a", Interval(1, 5)),)
    assert dict(rules[0].provenance) == {"number": 1, "covering": 0.5}


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["False", "True"], [False, True]),
        (["0", "1"], [0, 1]),
        (["01", "1"], ["01", "1"]),
        (["-3"], [-3]),
        (["1.0", "2"], ["1.0", "2"]),
        (["True", "maybe"], ["True", "maybe"]),
        (["dark red"], ["dark red"]),
    ],
)
def test_classes_have_one_type(labels: list[str], expected: list[Level]) -> None:
    text = "\n".join(f"RULE {i}: IF a > {i} THEN y in {{{v}}}" for i, v in enumerate(labels))
    rules = parse_rules(text, format="rulex")
    assert list(rules.outcomes) == expected
    assert list(map(type, rules.outcomes)) == list(map(type, expected))


def test_marks_quotes_blank_lines_and_figures() -> None:
    text = (
        '\ufeff"RULE 7: IF c in {""a, b"", d} AND n > 2 THEN y in {k}, COVERING: 0.5(wo cond. 1: '
        '0.25; wo cond. 2: 0.000000), ERROR: 0.125(wo cond. 1: 1; wo cond. 2: 1e-3)"\r\n\r\n'
        "RULE 8: IF n <= 1 THEN y = k, ERROR: 0"
    )
    rules = parse_rules(text, format="rulex")
    assert rules[0].conditions == (("c", Membership(["a, b", "d"])), ("n", Interval(2)))
    assert dict(rules[0].provenance) == {
        "number": 7,
        "covering": 0.5,
        "covering without c": 0.25,
        "covering without n": 0.0,
        "error": 0.125,
        "error without c": 1.0,
        "error without n": 0.001,
    }
    assert dict(rules[1].provenance) == {"number": 8, "error": 0.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no rule in the text"),
        ("nonsense", "line 1, column 1: expected 'RULE', a number and ': IF', found 'nonsense'"),
        ("RULE 1: IF THEN y in {a}", "column 12: expected a feature, an operator and a value"),
        ("RULE 1: IF a > x THEN y in {a}", "column 16: expected a number, found 'x THEN"),
        ("RULE 1: IF a > 5x THEN y in {a}", "column 16: expected a number"),
        ("RULE 1: IF a > 1e999 THEN y in {a}", "expected a number below 1.8e308"),
        ("RULE 1: IF a ~ 5 THEN y in {a}", "expected a feature, an operator and a value"),
        ("RULE 1: IF a > 5 OR b > 2 THEN y in {a}", "column 17: expected 'AND' or 'THEN'"),
        ("RULE 1: IF a > 5", "expected 'AND' or 'THEN', found 'the end of the line'"),
        ("RULE 1: IF 5 < a > 2 THEN y in {a}", "a second bound after '<'"),
        ("RULE 1: IF 5 < a <= 2 THEN y in {a}", "column 12: No number lies in"),
        ("RULE 1: IF a < 1 AND a > 2 THEN y in {a}", "line 1: The rule .* contradicts itself"),
        ("RULE 1: IF a in {x THEN y in {a}", "expected ',' or '}'"),
        ("RULE 1: IF a in {x,} THEN y in {a}", "expected a level"),
        ("RULE 1: IF a in {} THEN y in {a}", "line 1: No value is in an empty set"),
        ("RULE 1: IF a > 5 THEN y", "a target, 'in' and"),
        ("RULE 1: IF a > 5 THEN y in {a, b}", "expected one class"),
        ("RULE 1: IF a > 5 THEN y in {a} WHATEVER", "COVERING"),
        (
            "RULE 1: IF a > 5 THEN y in {a}, COVERING: 1(wo cond. 2: 0)",
            "a condition between 1 and 1",
        ),
        ("RULE 1: IF a > 5 THEN y in {a}, COVERING: 1(what)", "'wo cond. 1"),
        (
            "RULE 1: IF a > 5 THEN y in {a}\nRULE 2: IF a in {b} THEN y in {a}",
            "line 2: 'a' has an interval in one rule and levels in another",
        ),
    ],
)
def test_errors_say_where(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        parse_rules(text, format="rulex")


def test_an_error_shows_the_line_and_a_caret() -> None:
    with pytest.raises(FormatError) as e:
        parse_rules("RULE 1: IF agee > 5 THEN y in {a}", format="rulex", features=["age", "bmi"])
    assert str(e.value).splitlines() == [
        "line 1, column 12: unknown feature 'agee'. There are: age, bmi. Did you mean 'age'?",
        "  RULE 1: IF agee > 5 THEN y in {a}",
        "             ^",
    ]


@pytest.mark.parametrize("name", ["V0", "V3", "V01x"])
def test_positions_that_are_not_there(name: str) -> None:
    with pytest.raises(FormatError, match=f"unknown feature '{name}'"):
        one(f"{name} > 1", features=["a", "b"])


# ---------------------------------------------------------------------- printed figures
FILES = {
    "PIMA": [],
    # The printed thresholds are rounded to six decimals: one row lies between 0.1699955 and it.
    "BREAST": [PrintedDifference(4, "error without Impendance", 0.545455, 29 / 55)],
    "PIMA_CV0": [],
    "PIMA_CV1": [],
    "BREAST_CV0": [],
    "BREAST_CV1": [],
}


@pytest.mark.data
@pytest.mark.parametrize("name", FILES)
def test_every_printed_figure_is_found_again(data_dir: Path, name: str) -> None:
    """Strict lower ends, every notation of numbers: each figure, to the printed decimals."""
    frame = pd.read_csv(data_dir / "rulex" / f"{name}.csv.gz", encoding="utf-8-sig")
    target = "target" if "target" in frame else "Outcome"
    features = list(frame.columns[: frame.columns.get_loc(target)])
    if "split" in frame:
        training = frame[frame["split"] == "training"]
    else:
        training = frame.iloc[: round(0.8 * len(frame))]
    rules = read_rules(data_dir / "rulex" / f"{name}_rules.txt", format="rulex", features=features)
    check = check_printed(rules, training[features], training[target])
    lengths = rules.lengths
    assert check.n_figures == 2 * len(rules) + 2 * lengths.sum()
    assert len(check.differences) == len(FILES[name])
    for found, expected in zip(check.differences, FILES[name], strict=True):
        assert (found.rule, found.figure) == (expected.rule, expected.figure)
        assert (found.printed, found.found) == pytest.approx((expected.printed, expected.found))


def test_a_wrong_figure_is_reported() -> None:
    text = "RULE 1: IF a > 1 THEN y in {k}, COVERING: 1(wo cond. 1: 0), ERROR: 0(wo cond. 1: 1)"
    rules = parse_rules(text, format="rulex")
    X = pd.DataFrame({"a": [0, 2, 3, 4]})
    check = check_printed(rules, X, ["k", "k", "k", "m"])
    assert [(d.figure, d.found) for d in check.differences] == [
        ("covering", pytest.approx(2 / 3)),
        ("covering without a", pytest.approx(1 / 3)),
        ("error", 1.0),
        ("error without a", 0.0),
    ]
    assert check.n_figures == 4
    assert list(check.to_frame()["printed"]) == [1, 0, 0, 1]
    assert check.to_dict()["n_figures"] == 4


def test_rules_without_printed_figures() -> None:
    rules = parse_rules("RULE 1: IF a > 1 THEN y in {k}", format="rulex")
    with pytest.raises(RuleError, match="no printed figures"):
        check_printed(rules, pd.DataFrame({"a": [1]}), ["k"])


def test_only_plain_letters_and_digits_make_a_number() -> None:
    """A dotted capital I is an i where case does not count, but not for float()."""
    for text in ("İnf", "1e٣"):
        with pytest.raises(FormatError, match="expected a number"):
            parse_rules(f"RULE 1: IF 1 < V1 <= {text} THEN y in {{1}}", format="rulex")
        with pytest.raises(FormatError):
            parse_rules(f"RULE 1: IF V1 > {text} THEN y in {{1}}", format="rulex")


def test_numbers_too_long_for_a_whole_number() -> None:
    """Python refuses to read more than 4300 digits as a whole number."""
    long = "1" * 5000
    for text in (
        f"RULE {long}: IF V1 > 1 THEN y in {{1}}",
        f"RULE 1: IF V{long} > 1 THEN y in {{1}}",
        f"RULE 1: IF V1 > 1 THEN y in {{1}}, ERROR: 1.0(wo cond. {long}: 1.0)",
    ):
        with pytest.raises(FormatError):
            parse_rules(text, format="rulex", features=["a"])
    rules = parse_rules(f"RULE 1: IF V1 > 1 THEN y in {{{long}}}", format="rulex")
    assert rules.outcomes == (long,)
    tree = f"|--- feature_{long} <= 1.00\n|   |--- class: 0\n|--- feature_{long} >  1.00\n"
    with pytest.raises(FormatError):
        parse_rules(tree + "|   |--- class: 1\n", format="export_text", features=["a"])
