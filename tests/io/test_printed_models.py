"""Prolog theories, export_text and wittgenstein's text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier, export_text

from rulelens.core.conditions import Interval, Membership
from rulelens.core.schema import Feature, Level, Schema
from rulelens.errors import FormatError
from rulelens.io.formats import parse_rules

REAL = """
iris(PetalLength, PetalWidth, SepalLength, SepalWidth, setosa) :- PetalWidth =< 1.0.
iris(PetalLength1, PetalWidth1, SepalLength1, SepalWidth1, versicolor) :- PetalLength1 > 4.9,
    SepalWidth1 in [2.9, 3.2].
iris(PetalLength7, PetalWidth7, SepalLength7, SepalWidth7, versicolor) :- PetalLength7 > 3.0.
iris(PetalLength8, PetalWidth8, SepalLength8, SepalWidth8, 'big one') :- true.
"""
TREPAN = (
    "iris(SepalLength, SepalWidth, PetalWidth, PetalLength, setosa) :- '=<'(PetalLength, 2.28). "
    "iris(SepalLength, SepalWidth, PetalWidth, PetalLength, virginica) :- ('>'(PetalLength, 2.28), "
    "not_in(PetalLength, [2.28, 4.87]), in(PetalWidth, [0.65, 1.64])). "
    "iris(SepalLength, SepalWidth, PetalWidth, PetalLength, virginica) :- true"
)


def test_prolog_as_real_prints_it() -> None:
    rules = parse_rules(REAL, format="prolog")
    assert rules.ordered
    assert rules.schema.names == ("PetalLength", "PetalWidth", "SepalLength", "SepalWidth")
    assert [dict(r.conditions) for r in rules] == [
        {"PetalWidth": Interval(high=1, high_closed=True)},
        {"PetalLength": Interval(4.9), "SepalWidth": Interval(2.9, 3.2, high_closed=True)},
        {"PetalLength": Interval(3)},
        {},
    ]
    assert [r.outcome for r in rules] == ["setosa", "versicolor", "versicolor", "big one"]


def test_prolog_as_trepan_prints_it() -> None:
    """``not_in`` leaves the side that the other bounds allow."""
    rules = parse_rules(TREPAN, format="prolog")
    assert [dict(r.conditions) for r in rules] == [
        {"PetalLength": Interval(high=2.28, high_closed=True)},
        {"PetalLength": Interval(4.87), "PetalWidth": Interval(0.65, 1.64, high_closed=True)},
        {},
    ]


def test_prolog_features_by_name_or_in_order() -> None:
    text = "y(A, B, no) :- B > 1. y(A2, B2, yes) :- B2 not_in [-1.5, 2e-05], A2 \\= 'x y'."
    schema = Schema([Feature("b"), Feature("a", "categorical", ("x y", "z"))])
    rules = parse_rules(text, format="prolog", schema=schema)
    assert [dict(r.conditions) for r in rules] == [
        {"b": Interval(1)},
        {"a": Membership(["x y"], True), "b": Interval(high=-1.5, high_closed=True)},
        {"a": Membership(["x y"], True), "b": Interval(2e-5)},
    ]
    ordered = parse_rules("y(A, B, no) :- B > 1.", format="prolog", features=["one", "two"])
    assert str(ordered[0]) == "IF two > 1 THEN no"
    number = parse_rules("y(A, 0.5) :- A = 3.", format="prolog")
    assert (number[0].outcome, dict(number[0].conditions)) == (
        0.5,
        {"A": Interval(3, 3, True, True)},
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no clause"),
        ("iris(A, b) :- A ~ 5.", "column 17: Unexpected '~'"),
        ("iris(A, b) :- A > x.", "Expected a number, found 'x'"),
        ("iris(A, b) :- C > 5.", "The head has no variable C"),
        ("iris(A, B) :- A > 5.", "The last argument is the class"),
        ("iris(a, b) :- A > 5.", "must be variables"),
        ("iris(A, b) :- A > 5. iris(A, B, c).", "Expected 1 variables"),
        ("iris(A, b) :- A > 5 B", "Expected ',' or '.'"),
        ("iris(A, b) :- A in [5, 2].", "No number lies in"),
        ("iris(A, b) :- A > 5, A < 2.", "contradicts itself"),
        ("iris(A, b) :- A is 5.", "Expected one of"),
        ("iris(A, b) :- " + ", ".join(["A not_in [1, 2]"] * 10), "more than 256 rules"),
        ("iris(A, b) :- (A > 5.", r"Expected '\)'"),
    ],
)
def test_prolog_errors(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        parse_rules(text, format="prolog")


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("labels", [[0, 1, 2], ["a b", "c", "ü"], [False, True, True]])
def test_export_text(weights: bool, labels: list[Level]) -> None:
    iris = load_iris(as_frame=True)
    y = np.array(labels, dtype=object)[iris.target].tolist()
    model = DecisionTreeClassifier(random_state=0).fit(iris.data, y)
    text = export_text(
        model,
        feature_names=list(iris.data.columns),
        decimals=12,
        show_weights=weights,
        max_depth=99,
    )
    rules = parse_rules(text, format="export_text")
    assert len(rules) == model.get_n_leaves()
    covered = rules.coverage(iris.data)
    assert (covered.sum(axis=1) == 1).all()
    outcome = np.array(rules.outcomes, dtype=object)[rules.outcome]
    assert (outcome[covered.argmax(axis=1)] == np.array(y, dtype=object)).all()
    numbered = export_text(model, decimals=12, max_depth=99)
    assert parse_rules(numbered, format="export_text", features=list(iris.data.columns)).coverage(
        iris.data
    ).sum() == len(y)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "There is no leaf"),
        ("x <= 5", "line 1, column 1: Expected a line of export_text"),
        ("|--- x <= 5\n|   |   |--- class: 1", "line 2, column 1: This line is deeper"),
        ("|--- x <= 5\n|   |--- truncated branch of depth 2", "Print the whole tree"),
        ("|--- value: [3.0]", "Print the whole tree of a classifier"),
    ],
)
def test_export_text_errors(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        parse_rules(text, format="export_text")


@pytest.mark.parametrize("spacing", [1, 2, 7])
def test_export_text_with_another_spacing(spacing: int) -> None:
    """Pins an error at the first line of what export_text prints with its option."""
    iris = load_iris(as_frame=True)
    model = DecisionTreeClassifier(random_state=0).fit(iris.data, iris.target)
    options: Any = {"max_depth": 99, "feature_names": list(iris.data.columns), "decimals": 12}
    wide, usual = (export_text(model, spacing=s, **options) for s in (spacing, 3))
    assert parse_rules(wide, format="export_text") == parse_rules(usual, format="export_text")


def test_export_text_names_by_number() -> None:
    with pytest.raises(FormatError, match="no feature 3; 2 are given"):
        parse_rules(
            "|--- feature_3 <= 5\n|   |--- class: 1", format="export_text", features=["a", "b"]
        )


def test_wittgenstein() -> None:
    text = """[[n=>27.0] V
    [ab=0.81-1.3^c=dark red] V
    [ab=-0.05-0.22 ^ flag=True] V [ab=<-1.26^k=5] V
    [True]]"""
    schema = Schema(
        [
            Feature("n"),
            Feature("a b"),
            Feature("c", "categorical", ("dark red", "1-2")),
            Feature("flag", "boolean"),
            Feature("k"),
        ]
    )
    rules = parse_rules(text, format="wittgenstein", schema=schema)
    assert [dict(r.conditions) for r in rules] == [
        {"n": Interval(27)},
        {"a b": Interval(0.81, 1.3, high_closed=True), "c": Membership(["dark red"])},
        {"a b": Interval(-0.05, 0.22, high_closed=True), "flag": Membership([True])},
        {"a b": Interval(high=-1.26, high_closed=True), "k": Interval(5, 5, True, True)},
        {},
    ]
    assert (rules.outcomes, rules.default, rules.ordered) == ((False, True), False, True)
    level = parse_rules("[[c=1-2]]", format="wittgenstein", schema=schema)
    assert dict(level[0].conditions) == {"c": Membership(["1-2"])}
    frame = pd.DataFrame({"n": [30.0, 1.0]})
    small = parse_rules("<Ruleset [[n=>27.0]]>", format="wittgenstein")
    assert small.coverage(frame)[:, 0].tolist() == [True, False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("n=>27", "Expected a rule set such as"),
        ("[[n>27]]", "column 3: Expected 'name=value'"),
        ("[[n=5-2]]", "column 3: No number lies in"),
        ("[n=5]", r"Expected '\[', a rule and '\]'"),
        ("[[n=1-2] V [n=x]]", "'n' is compared with numbers in one rule and with levels"),
    ],
)
def test_wittgenstein_errors(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        parse_rules(text, format="wittgenstein")


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("prolog", "y(A, no) :- A =< {}."),
        ("prolog", "y(A, no) :- A in [1.0, {}]."),
        ("prolog", "y(A, no) :- A = {}."),
        ("export_text", "|--- a <= {}\n|   |--- class: 0\n|--- a >  {}\n|   |--- class: 1\n"),
        ("wittgenstein", "[[a=<{}]]"),
        ("wittgenstein", "[[a=1-{}]]"),
    ],
)
def test_a_number_too_large_is_no_infinity(format: str, text: str) -> None:
    """``a <= 1e999`` was read as a condition that every number meets."""
    parse_rules(text.replace("{}", "1e300"), format=format)
    with pytest.raises(FormatError, match=r"below 1\.8e308"):
        parse_rules(text.replace("{}", "1e999"), format=format)
