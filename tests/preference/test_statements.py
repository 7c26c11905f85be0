from __future__ import annotations

import numpy as np
import pytest

from rulelens.errors import PreferenceError
from rulelens.preference.criteria import Criteria
from rulelens.preference.statements import (
    BestOf,
    Indifferent,
    Intensity,
    Prefer,
    Ranking,
    WeightBound,
    constraints_of,
    elementary,
    phrase,
)

TABLE = Criteria(("a", "b", "c"), ("x", "y"), [[1, 0], [0, 1], [0.5, 0.25]])


@pytest.mark.parametrize(
    ("statement", "parts", "words"),
    [
        (Prefer("a", "b"), (Prefer("a", "b"),), "a over b"),
        (Indifferent("a", "b"), (Indifferent("a", "b"),), "a as good as b"),
        (
            Ranking((("a", "b"), ("c",))),
            (Indifferent("a", "b"), Prefer("a", "c")),
            "a = b > c",
        ),
        (
            BestOf("b", ("a", "b", "c")),
            (Prefer("b", "a"), Prefer("b", "c")),
            "b best of those shown (the others: a, c)",
        ),
        (
            Intensity("a", "b", "b", "c"),
            (Intensity("a", "b", "b", "c"),),
            "a over b by more than b over c",
        ),
        (
            WeightBound("x", 0.1, 0.4),
            (WeightBound("x", 0.1), WeightBound("x", None, 0.4)),
            "weight of 'x' at least 0.1 and at most 0.4",
        ),
    ],
)
def test_parts_and_words(statement, parts, words):
    assert elementary(statement) == parts
    assert phrase(statement) == words


@pytest.mark.parametrize(
    ("statement", "kind", "row"),
    [
        (Prefer("a", "b"), "strict", [1, -1]),
        (Indifferent("a", "b"), "equal", [1, -1]),
        (Intensity("a", "b", "a", "c"), "strict", [0.5, -0.75]),
        (WeightBound("x", low=0.25), "weak", [0.75, -0.25]),
        (WeightBound("y", high=0.25), "weak", [0.25, -0.75]),
    ],
)
def test_constraint_rows(statement, kind, row):
    (constraint,) = constraints_of([statement], TABLE)
    assert constraint.kind == kind
    np.testing.assert_array_equal(constraint.row, row)


def test_constraints_remember_where_they_came_from():
    said = [Prefer("a", "b"), Ranking((("c",), ("b",), ("a",)))]
    assert [c.source for c in constraints_of(said, TABLE)] == [0, 1, 1]
    labels = {"a": "the first"}
    assert constraints_of(said, TABLE, labels=labels)[0].phrase == "the first over b"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Ranking((("a",),)), "at least 2 alternatives, this one has 1"),
        (lambda: Ranking(()), "this one has 0"),
        (lambda: Ranking((("a",), ("b", "a"))), "names 'a' twice"),
        (lambda: Ranking((("a",), (), ("b",))), "empty group"),
        (lambda: BestOf("a", ("b", "c")), "Choose one of those shown"),
        (lambda: BestOf("a", ("a", "a")), "Show at least 2"),
        (lambda: WeightBound("x"), "neither low nor high"),
        (lambda: WeightBound("x", low=1.5), r"outside \[0, 1\]"),
        (lambda: WeightBound("x", low=float("nan")), r"outside \[0, 1\]"),
        (lambda: WeightBound("x", 0.5, 0.4), "crossed"),
        (lambda: constraints_of([Prefer("a", "d")], TABLE), "Unknown alternative 'd'"),
        (lambda: constraints_of([Prefer("a", "a")], TABLE), "compared with itself"),
        (lambda: constraints_of([Indifferent("b", "b")], TABLE), "compared with itself"),
        (lambda: constraints_of([Intensity("a", "b", "a", "b")], TABLE), "with itself"),
        (lambda: constraints_of([WeightBound("z", low=0.1)], TABLE), "Unknown criterion 'z'"),
    ],
)
def test_bad_statements_are_refused(build, message):
    with pytest.raises(PreferenceError, match=message):
        build()
