"""JSON: exact round trip, strictness, errors that name the place."""

from __future__ import annotations

import json
import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from rule_strategies import rule_sets

from rulelens.core.condition_table import ConditionTable
from rulelens.core.conditions import Interval, Membership, Missing
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Schema
from rulelens.errors import FormatError
from rulelens.io.formats import format_rules, parse_rules


def read(text: str) -> RuleSet:
    return parse_rules(text, format="json")


def write(rules: RuleSet) -> str:
    return format_rules(rules, format="json")


def typed(rules: RuleSet) -> list[object]:
    values = [*rules.outcomes, rules.default, *(v for f in rules.schema for v in f.levels)]
    values += [v for c in rules.provenance.values() for v in c.tolist()]
    return [type(v) for v in values]


SCHEMA = Schema(
    [
        Feature("age", unit="years"),
        Feature("größe.m m", "categorical", ("1", 1, True, 2.5, "")),
        Feature("smoker", "boolean"),
        Feature("unused", "categorical"),
    ]
)
RULES = RuleSet.from_rules(
    [
        Rule(
            {"age": Interval(0.1, 1e300, False, True, True, "float32")},
            "yes",
            {"tree": 1, "score": math.nan},
        ),
        Rule({"age": Missing(), "größe.m m": Membership([1, "1"], True, True)}, 1),
        Rule({"smoker": Membership([True]), "age": Interval(high=-0.5)}, True, {"note": "ü\n\"'"}),
        Rule({}, "1", {"score": -math.inf, "big": 2**70}),
    ],
    SCHEMA,
    outcomes=["yes", 1, True, "1", 2.5, "unused"],
    ordered=True,
    default=2.5,
)


def test_everything_survives() -> None:
    again = read(write(RULES))
    assert again == RULES
    assert typed(again) == typed(RULES)
    assert write(again) == write(RULES)


@given(rule_sets())
@settings(max_examples=300, deadline=None)
def test_round_trip_is_exact_and_the_second_write_is_byte_stable(rules: RuleSet) -> None:
    text = write(rules)
    again = read(text)
    assert again == rules
    assert typed(again) == typed(rules)
    assert write(again) == text
    json.loads(text, parse_constant=lambda c: pytest.fail(f"{c} is not strict JSON"))
    text.encode()


def test_provenance_keeps_its_types() -> None:
    columns = {
        "i": np.array([1, 2]),
        "f": np.array([1.0, math.nan]),
        "b": np.array([True, False]),
        "t": np.array(["a", "b"]),
        "o": np.array([None, 1.0], dtype=object),
    }
    none = ConditionTable.from_conditions([], SCHEMA)
    rules = RuleSet.from_arrays(
        SCHEMA, none, [0, 0, 0], [], [0, 0], outcomes=["x"], provenance=columns
    )
    again = read(write(rules))
    assert again == rules
    assert [again.provenance[k].dtype.kind for k in columns] == ["i", "f", "b", "O", "O"]


def test_provenance_of_whole_numbers_beyond_64_bits() -> None:
    """A column of such numbers alone was an OverflowError."""
    rules = RuleSet.from_rules([Rule({}, 1, {"n": 2**70})], SCHEMA)
    assert rules.provenance["n"].tolist() == [2**70]
    assert read(write(rules)) == rules


def test_half_a_surrogate_pair_can_be_written() -> None:
    rules = RuleSet.from_rules([Rule({}, "\ud800")], Schema([Feature("\udfff")]))
    text = write(rules)
    text.encode()
    assert read(text) == rules


GOOD = json.loads(write(RULES))


def place(path: str, value: object) -> str:
    """JSON of the good file with one place changed; path parts are split by '/'."""
    top = json.loads(json.dumps(GOOD))
    at = top
    *parents, last = [int(p) if p.isdigit() else p for p in path.split("/")]
    for p in parents:
        at = at[p]
    if value is KeyError:
        del at[last]
    else:
        at[last] = value
    return json.dumps(top)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("format", "x", 'format: expected "rulelens-rules", found "x"'),
        ("format", KeyError, "format: is missing"),
        ("version", 2, "version: found 2, but this release reads version 1"),
        ("version", True, "version: found true"),
        ("rulez", [], "rulez: is not expected. There are: .*Did you mean 'rules'"),
        ("schema", {}, "schema: expected a list, found an object"),
        ("schema/0/kind", "number", r"schema\[0\]: Feature 'age' has kind 'number'"),
        ("schema/0/name", 3, r"schema\[0\]: A feature's name must be text"),
        ("schema/0/unit", 3, r"schema\[0\].unit: expected text or null, found 3"),
        ("schema/0/units", "x", r"schema\[0\].units: is not expected"),
        ("schema/1/levels/0", None, r"schema\[1\].levels\[0\]: expected text"),
        ("schema/1/levels/0", 1.0, r"schema\[1\]: .* lists the level 1 twice|1.0 twice"),
        ("schema/2/name", "age", "schema: The feature name 'age' occurs twice"),
        ("outcomes", ["yes", 1, True, "1", 2.5, "yes"], "An outcome occurs twice"),
        ("outcomes/0", None, r"outcomes\[0\]: expected text"),
        ("ordered", 1, "ordered: expected true or false, found 1"),
        ("ordered", False, "Only an ordered rule set has a default"),
        ("default", "nobody", "Unknown default outcome 'nobody'"),
        ("rules", None, "rules: expected a list, found null"),
        ("rules/0", [], r"rules\[0\]: expected an object, found a list"),
        ("rules/0/then", "yess", r"rules\[0\].then: unknown outcome \"yess\".*Did you mean 'yes'"),
        ("rules/0/then", KeyError, r"rules\[0\].then: is missing"),
        ("rules/0/iff", {}, r"rules\[0\].iff: is not expected"),
        ("rules/0/if", [], r"rules\[0\].if: expected an object"),
        ("rules/0/if/agee", {}, r"rules\[0\].if.agee: unknown feature. .*Did you mean 'age'"),
        ("rules/0/if/age", 5, r"rules\[0\].if.age: expected an object, found 5"),
        ("rules/0/if/age", {}, r"rules\[0\].if.age.low: is missing"),
        (
            "rules/0/if/age/high",
            "x",
            r'rules\[0\].if.age.high: expected a finite number or null, found "x"',
        ),
        ("rules/0/if/age/high", True, r"rules\[0\].if.age.high: expected a finite number or null"),
        ("rules/0/if/age/high", 10**400, r"rules\[0\].if.age.high: expected a finite number"),
        ("rules/0/if/age/high", -1.0, r"rules\[0\].if.age: No number lies in"),
        ("rules/0/if/age/high_closed", 1, r"rules\[0\].if.age.high_closed: expected true or false"),
        ("rules/0/if/age/or_missing", None, r"or_missing: expected true or false, found null"),
        ("rules/0/if/age/precision", "half", r'precision: expected "float64" or "float32"'),
        ("rules/0/if/age/heigh", 1, r"rules\[0\].if.age.heigh: is not expected.*'high'"),
        ("rules/0/if/age", {"in": [1]}, r"rules\[0\].if.age: Feature 'age' is numeric"),
        ("rules/1/if/age", {"missing": False}, r"rules\[1\].if.age.missing: expected true"),
        ("rules/1/if/age", {"missing": True, "in": []}, r"age.in: is not expected"),
        ("rules/1/if/größe.m m/not_in", 1, r'rules\[1\].if\["größe.m m"\].not_in: expected a list'),
        ("rules/1/if/größe.m m/not_in/0", 7, r'rules\[1\].if\["größe.m m"\]: .* has no level 7'),
        ("rules/2/if/smoker", {"in": []}, r"rules\[2\].if.smoker: No value is in an empty set"),
        ("rules/2/if/smoker", {"low": 0, "high": 1}, "Feature 'smoker' is boolean"),
        ("provenance/score", [1], r"provenance.score: found 1 values, expected 4"),
        ("provenance/score/0", {"number": "x"}, r"provenance.score\[0\].number: expected"),
        ("provenance/score/0", [], r"provenance.score\[0\]: expected text"),
    ],
)
def test_an_error_names_the_place(path: str, value: object, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(place(path, value))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Line 1, column 1 is not JSON"),
        ("[]", "The file: expected an object, found a list"),
        ('{"a": NaN}', "NaN is not a JSON number"),
        ('{"a": -Infinity}', "-Infinity is not a JSON number"),
        ('{"a": 1, "a": 2}', 'The key "a" occurs twice'),
        ('{"a": ' + "9" * 5000 + "}", "A number in the JSON cannot be read"),
        ("[" * 200_000, "nested too deeply"),
        ('{\n"a": 1,,}', "Line 2, column"),
    ],
)
def test_text_that_is_not_strict_json(text: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read(text)


def test_a_number_beyond_the_doubles_is_refused() -> None:
    with pytest.raises(FormatError, match=r"age\.high: expected a finite number or null"):
        read(write(RULES).replace("1e+300", "1e999"))


def test_features_and_schema_must_agree() -> None:
    text = write(RULES)
    assert parse_rules(text, format="json", schema=SCHEMA, features=SCHEMA.names) == RULES
    other = Schema([*list(SCHEMA)[:2], Feature("smoker"), SCHEMA[3]])
    with pytest.raises(FormatError, match="does not agree: they differ in 'smoker'"):
        parse_rules(text, format="json", schema=other)
    with pytest.raises(FormatError, match="another order"):
        parse_rules(text, format="json", schema=Schema(list(SCHEMA)[::-1]))
    with pytest.raises(FormatError, match="not among those given"):
        parse_rules(text, format="json", features=["age"])


def test_a_hundred_thousand_rules_take_seconds() -> None:
    rng = np.random.default_rng(0)
    n, length, d = 100_000, 6, 12
    ends = rng.random(5000)
    table = ConditionTable.from_intervals(
        rng.integers(0, d, 5000), ends, ends + 0.1, np.zeros(5000, np.uint8)
    )
    by_feature = np.argsort(table.feature, kind="stable")
    starts = np.searchsorted(table.feature[by_feature], np.arange(d))
    features = np.argsort(rng.random((n, d)), axis=1)[:, :length]
    indices = by_feature[starts[features] + rng.integers(0, 300, features.shape)]
    rules = RuleSet.from_arrays(
        Schema.numeric([f"x{i}" for i in range(d)]),
        table,
        np.arange(n + 1) * length,
        indices.ravel(),
        rng.integers(0, 3, n),
        outcomes=["a", "b", "c"],
        provenance={"tree": np.arange(n)},
    )
    start = time.process_time()
    assert read(write(rules)) == rules
    assert time.process_time() - start < 20
