"""Rule sets: building, choosing, equality, frozenness, size."""

import copy
import pickle
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulelens.core.condition_table import FLOAT32, HIGH_CLOSED, OR_MISSING, ConditionTable
from rulelens.core.conditions import Interval, Membership, Missing
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Schema
from rulelens.errors import (
    ContradictionError,
    RuleError,
    RulelensWarning,
    SchemaError,
    UnknownFeatureError,
)

SCHEMA = Schema(
    [
        Feature("a b"),
        Feature("größe"),
        Feature("c", "categorical", ("x", "y", 1, True)),
        Feature("flag", "boolean"),
    ]
)
CONDITIONS = [
    ("a b", Interval(high=5)),
    ("a b", Interval(high=5, high_closed=True)),
    ("a b", Interval(high=5, precision="float32")),
    ("a b", Interval(low=1, or_missing=True)),
    ("größe", Interval(0, 1, True, True)),
    ("größe", Missing()),
    ("c", Membership(["x"])),
    ("c", Membership([1])),
    ("c", Membership([True])),
    ("c", Membership(["x", "y"], negated=True)),
    ("c", Membership([], negated=True)),
    ("c", Missing()),
    ("flag", Membership([True])),
    ("flag", Membership([False], or_missing=True)),
]
rules_of = st.builds(
    lambda pairs, outcome, origin: Rule({n: (n, c) for n, c in pairs}.values(), outcome, origin),
    st.lists(st.sampled_from(CONDITIONS), max_size=4),
    st.sampled_from(["yes", 1, True, 0.5]),
    st.dictionaries(
        st.sampled_from(["tree", "leaf"]), st.one_of(st.integers(0, 3), st.text(max_size=2))
    ),
)
rule_lists = st.lists(rules_of, max_size=6)


def canonical(rule: Rule) -> Rule:
    pairs = sorted(rule.simplify().conditions, key=lambda p: SCHEMA.index(p[0]))
    return Rule(pairs, rule.outcome, sorted(rule.provenance))


def build(rules: list[Rule], **options) -> RuleSet:
    return RuleSet.from_rules(rules, SCHEMA, **options)


@given(rule_lists)
def test_rules_come_back(rules):
    built = build(rules)
    assert len(built) == len(rules)
    back = [Rule(r.conditions, r.outcome, sorted(r.provenance)) for r in built]
    assert back == [canonical(r) for r in rules]
    assert built.lengths.tolist() == [len(canonical(r)) for r in rules]
    for k, r in enumerate(rules):
        names = [SCHEMA[int(j)].name for j in np.flatnonzero(built.presence[k])]
        assert names == list(canonical(r).features)


@given(rule_lists)
def test_equality_and_hash_follow_the_rules(rules):
    a, b = build(rules), build(list(build(rules)), outcomes=build(rules).outcomes)
    assert a == b
    assert hash(a) == hash(b)
    if rules:
        assert a != a[:-1]
        assert a != build(rules, ordered=True)


@given(rule_lists)
def test_copies_are_equal(rules):
    """A rule set could be neither copied nor sent to another process."""
    a = build(rules)
    for b in (copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a))):  # noqa: S301
        assert a == b
        with pytest.raises((AttributeError, ValueError)):
            b.outcome[0:1] = 0


@given(rule_lists, st.data())
def test_choosing_rules(rules, data):
    built = build(rules)
    n = len(rules)
    whole = list(built)
    positions = data.draw(st.lists(st.integers(-n, n - 1), max_size=5)) if n else []
    assert list(built[positions]) == [whole[i] for i in positions]
    assert list(built[np.array(positions, dtype=np.int32)]) == [whole[i] for i in positions]
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), dtype=bool)
    assert list(built[mask]) == [r for r, m in zip(whole, mask, strict=True) if m]
    assert list(built[::-1]) == whole[::-1]
    if n:
        assert built[-1] == whole[-1]
        assert built[np.int64(0)] == whole[0]
        assert built[0:0].outcomes == built.outcomes


@given(rule_lists)
def test_filter_agrees_with_a_loop(rules):
    built = build(rules, outcomes=["yes", 1, True, 0.5])
    whole = list(built)
    for outcome in ("yes", 1, True):
        expected = [r for r in whole if r.outcome == outcome and type(r.outcome) is type(outcome)]
        assert list(built.filter(outcome=outcome)) == expected
    got = built.filter(features=["c", "a b"], min_length=1, max_length=2)
    assert list(got) == [r for r in whole if {"c", "a b"} & set(r.features) and len(r) <= 2]
    assert list(built.filter(where=lambda r: len(r) == 1)) == [r for r in whole if len(r) == 1]


def test_text_of_a_set():
    rules = build([Rule({}, "no")] * 22, ordered=True, default="no")
    assert str(rules).splitlines()[0] == "0: IF TRUE THEN no"
    assert str(rules).splitlines()[-2:] == ["… and 2 more", "ELSE no"]
    assert repr(rules) == "<RuleSet: 22 ordered rules over 4 features, outcomes ['no']>"


def test_nothing_of_a_set_changes():
    rules = build([Rule({"a b": Interval(low=1)}, "yes", {"tree": 1})])
    with pytest.raises(AttributeError):
        rules.ordered = True
    with pytest.raises(AttributeError):
        del rules.ordered
    arrays = (
        rules.outcome,
        rules.indices,
        rules.offsets,
        rules.conditions.low,
        rules.provenance["tree"],
    )
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9
    with pytest.raises(TypeError):
        rules.provenance["tree"] = np.zeros(1)
    with pytest.raises(TypeError):
        RuleSet()


def test_arrays_given_are_not_changed_or_kept():
    offsets, indices, outcome = np.array([0, 1]), np.array([0]), np.array([0])
    table = ConditionTable.from_conditions([(0, Interval(low=1))], SCHEMA)
    rules = RuleSet.from_arrays(SCHEMA, table, offsets, indices, outcome, outcomes=["a"])
    outcome[0] = 5
    assert rules.outcome[0] == 0
    assert table.low.flags.writeable


def test_provenance_kinds_and_gaps():
    rules = build([Rule({}, 1, {"t": 1, "w": 0.5, "s": "x"}), Rule({}, 1, {"t": 2})])
    assert rules.provenance["t"].dtype == np.int64
    assert rules[1].provenance == (("t", 2),)
    with_nan = RuleSet.from_arrays(
        SCHEMA,
        ConditionTable.from_conditions([], SCHEMA),
        [0, 0],
        [],
        [0],
        outcomes=[1],
        provenance={"w": np.array([np.nan])},
    )
    assert with_nan == copy.copy(with_nan)


def test_contradictions_raise_or_drop():
    bad = Rule([("a b", Interval(high=0)), ("a b", Interval(low=0))], 1)
    good = Rule({"a b": Interval(high=0)}, 1)
    with pytest.raises(ContradictionError, match="Rule 1"):
        build([good, bad])
    with pytest.warns(RulelensWarning, match="1 of 2 rules contradict"):
        rules = build([good, bad], contradictions="drop")
    assert len(rules) == 1
    with pytest.raises(RuleError, match="'raise' or 'drop'"):
        build([], contradictions="ignore")


@pytest.mark.parametrize(
    ("rules", "error", "text"),
    [
        ([Rule({"a": Interval()}, 1)], UnknownFeatureError, "in rule 0"),
        ([Rule({"c": Interval()}, 1)], RuleError, "categorical"),
        ([Rule({"a b": Membership(["x"])}, 1)], RuleError, "numeric"),
        ([Rule({"c": Membership(["z"])}, 1)], RuleError, "no level 'z'"),
        ([Rule({"flag": Membership([1])}, 1)], RuleError, "no level 1"),
    ],
)
def test_rules_must_suit_the_schema(rules, error, text):
    with pytest.raises(error, match=text):
        build(rules)


def test_outcomes_and_default():
    with pytest.raises(RuleError, match="Unknown outcome 'maybe'"):
        build([Rule({}, "maybe")], outcomes=["yes", "no"])
    with pytest.raises(RuleError, match="twice"):
        build([], outcomes=[1, 1.0])
    with pytest.raises(RuleError, match="ordered"):
        build([Rule({}, 1)], default=1)
    with pytest.raises(RuleError, match="Unknown default"):
        build([Rule({}, 1)], outcomes=[1], ordered=True, default=True)
    with pytest.raises(SchemaError):
        build([], outcomes=[None])
    assert build([Rule({}, 1)], ordered=True, default=0).outcomes == (1, 0)
    assert build([Rule({}, 1)], ordered=True, default=1) != build(
        [Rule({}, 1)], outcomes=[1], ordered=True
    )


@pytest.mark.parametrize(
    ("offsets", "indices", "outcome", "text"),
    [
        ([0], [], [0], "2 entries"),
        ([1, 1], [0], [0], "rise from 0"),
        ([0, 2], [0], [0], "last offset"),
        ([0, 1], [7], [0], "indices must lie"),
        ([0, 1], [0], [3], "codes must lie"),
        ([0, 1], [0], [-1], "codes must lie"),
        ([0, 2], [0, 1], [0], "two conditions on 'a b'"),
    ],
)
def test_arrays_are_checked(offsets, indices, outcome, text):
    table = ConditionTable.from_conditions([(0, Interval(low=1)), (0, Interval(high=1))], SCHEMA)
    with pytest.raises(RuleError, match=text):
        RuleSet.from_arrays(SCHEMA, table, offsets, indices, outcome, outcomes=["a"])


def test_condition_arrays_are_checked():
    """An interval on a categorical feature was compared with the codes of its levels."""
    interval = ConditionTable.from_conditions([(0, Interval(low=1))], SCHEMA)
    member = ConditionTable.from_conditions([(2, Membership([True]))], SCHEMA)
    for table, feature in ((interval, 2), (member, 0), (member, 3), (interval, 9)):
        moved = ConditionTable(np.array([feature], np.int32), *table.arrays()[1:])
        with pytest.raises(RuleError):
            RuleSet.from_arrays(SCHEMA, moved, [0, 1], [0], [0], outcomes=["a"])


def test_intervals_from_arrays_that_hold_no_number():
    """A leaf that only missing values reach has a threshold of infinity."""
    table = ConditionTable.from_intervals(
        np.array([0, 1]),
        np.array([np.inf, -np.inf]),
        np.array([np.inf, np.inf]),
        np.array([OR_MISSING + FLOAT32, FLOAT32 + HIGH_CLOSED]),
    )
    assert table.condition(0, SCHEMA) == Missing()
    assert table.condition(1, SCHEMA) == Interval(precision="float32")
    for low, high, flags in ((1.0, 0.0, 0), (1.0, 1.0, 0), (1.0, 1.00000000001, FLOAT32)):
        with pytest.raises(ContradictionError):
            ConditionTable.from_intervals(
                np.array([0]), np.array([low]), np.array([high]), np.array([flags])
            )
    with pytest.raises(RuleError, match="NaN"):
        ConditionTable.from_intervals(
            np.array([0]), np.array([np.nan]), np.array([1.0]), np.array([0])
        )


ends = st.one_of(
    st.sampled_from([0.0, 1.0, float(np.float32(0.1)), 0.1, 1e300, -1e300, 1e-320]),
    st.floats(-2, 2),
    st.floats(-2, 2, width=32),
)


@given(ends, ends, st.booleans(), st.booleans(), st.booleans())
def test_intervals_from_arrays_are_refused_where_single_ones_are(low, high, a, b, single):
    flags = a + 2 * b + FLOAT32 * single
    args = (np.array([0]), np.array([low]), np.array([high]), np.array([flags]))
    try:
        expected = Interval(low, high, a, b, precision="float32" if single else "float64")
    except ContradictionError:
        with pytest.raises(ContradictionError):
            ConditionTable.from_intervals(*args)
        return
    assert ConditionTable.from_intervals(*args).condition(0, SCHEMA) == expected


def test_a_million_rules_from_arrays():
    rng = np.random.default_rng(0)
    n, k = 1_000_000, 3
    schema = Schema.numeric([f"f{i}" for i in range(30)])
    feature = np.arange(3000) % 30
    low = rng.normal(size=3000)
    table = ConditionTable.from_intervals(feature, low, np.full(3000, np.inf), np.zeros(3000, int))
    first = rng.integers(0, 30, n)
    indices = np.stack([(first + j) % 30 + 30 * rng.integers(0, 100, n) for j in range(k)], axis=1)
    tracemalloc.start()
    start = time.process_time()
    rules = RuleSet.from_arrays(
        schema, table, np.arange(0, k * n + 1, k), indices.ravel(), first % 2, outcomes=[0, 1]
    )
    spent, peak = time.process_time() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(rules) == n
    assert len(rules[n - 1]) == k
    assert spent < 30, spent
    assert peak < 600 << 20, peak
