"""Packed rows and rules against rules asked row by row, with many small blocks of rows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulelens.bits.coverage as cov
import rulelens.bits.table as tab
from rulelens.bits.coverage import (
    class_counts,
    contingency,
    coverage,
    first_match,
    leave_one_out_counts,
)
from rulelens.bits.table import RowLayout, pack, pack_conditions
from rulelens.core.conditions import Interval, Membership, Missing
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Schema
from rulelens.errors import TableError
from rulelens.frames import Labels, Table, read_labels

SCHEMA = Schema([Feature("x"), Feature("z"), Feature("c", "categorical", ("p", "q", "r"))])
VALUES = [0.0, -0.0, 0.1, float(np.float32(0.1)), np.nextafter(0.1, 1), 0.5, 1.0, -1.0, 5e-324]
VALUES += [np.inf, -np.inf, np.nan, 1e308, 3.5e38, 1e-46]
ENDS = [v for v in VALUES if np.isfinite(v)]


@st.composite
def conditions(draw, feature):
    if feature == 2:
        levels = draw(st.lists(st.sampled_from("pqr"), min_size=1, max_size=2))
        member = Membership(levels, draw(st.booleans()), draw(st.booleans()))
        return draw(st.sampled_from([member, Missing()]))
    if draw(st.integers(0, 9)) == 0:
        return Missing()
    low, high = sorted(draw(st.tuples(st.sampled_from(ENDS), st.sampled_from(ENDS))))
    side = draw(st.integers(0, 3))
    if side == 0 or low == high:
        high = np.inf
    if side == 1:
        low = -np.inf
    flags = draw(st.tuples(st.booleans(), st.booleans(), st.booleans()))
    precision = draw(st.sampled_from(["float64", "float32"]))
    try:
        return Interval(low, high, *flags, precision)
    except ValueError:
        return Interval(high=0.3, precision=precision)


@st.composite
def rule_sets(draw, max_rules=8):
    rules = []
    for _ in range(draw(st.integers(0, max_rules))):
        features = draw(st.sets(st.integers(0, 2)))
        pairs = {SCHEMA[f].name: draw(conditions(f)) for f in sorted(features)}
        rules.append(Rule(pairs, draw(st.sampled_from(["a", "b"]))))
    return RuleSet.from_rules(rules, SCHEMA, outcomes=["a", "b", "never"])


@st.composite
def tables(draw, max_rows=150):
    n = draw(st.one_of(st.sampled_from([0, 1, 63, 64, 65, 128]), st.integers(0, max_rows)))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    x, z = (rng.choice(VALUES, n) for _ in range(2))
    codes = rng.choice([-1, 0, 1, 2, 3], n).astype(np.int32)
    return Table(SCHEMA, (x, z, codes), n), rng.integers(0, 3, n)


def plain_coverage(rules: RuleSet, table: Table) -> np.ndarray:
    columns = [table.values("x"), table.values("z")]
    levels = ["p", "q", "r", "unseen", None]
    columns.append([levels[c] for c in table.columns[2]])
    rows = [dict(zip(SCHEMA.names, r, strict=True)) for r in zip(*columns, strict=True)]
    out = [[rule.covers(row) for rule in rules] for row in rows]
    return np.array(out, dtype=bool).reshape(table.n_rows, len(rules))


@pytest.fixture(params=[None, 1, 200], autouse=True)
def _blocks(request, monkeypatch):
    """Whole tables at once, one word at a time, and a few words at a time."""
    if request.param:
        monkeypatch.setattr(cov, "_COLUMN_BYTES", request.param)
        monkeypatch.setattr(cov, "_BATCH_BYTES", request.param)
        monkeypatch.setattr(tab, "_BLOCK_BYTES", request.param)


fast = settings(deadline=None, max_examples=60)


@fast
@given(rule_sets(), tables())
def test_coverage(rules, data):
    table, _ = data
    assert (coverage(rules, table) == plain_coverage(rules, table)).all()
    assert coverage(rules, table).shape == (table.n_rows, len(rules))


@fast
@given(rule_sets(), tables())
def test_class_counts(rules, data):
    table, y = data
    plain = plain_coverage(rules, table)
    expected = [[plain[y == c, k].sum() for c in range(3)] for k in range(len(rules))]
    got = class_counts(rules, table, y, 3)
    assert got.tolist() == expected


@fast
@given(rule_sets(), tables())
def test_leave_one_out_counts(rules, data):
    table, y = data
    full, without = leave_one_out_counts(rules, table, y, 3)
    assert full.tolist() == class_counts(rules, table, y, 3).tolist()
    shorter = [r.without(name) for r in rules for name, _ in r]
    expected = class_counts(
        RuleSet.from_rules(shorter, SCHEMA, outcomes=["a", "b", "never"]), table, y, 3
    )
    assert without.tolist() == expected.tolist()


@fast
@given(rule_sets(), tables())
def test_first_match(rules, data):
    table, _ = data
    plain = plain_coverage(rules, table)
    expected = [int(row.argmax()) if row.any() else -1 for row in plain]
    assert first_match(rules, table).tolist() == expected


def test_first_match_beyond_one_batch_of_rules():
    x = np.arange(100.0)
    schema = Schema.numeric(["x"])
    rules = [Rule({"x": Interval(i, i, True, True)}, 1) for i in reversed(range(100))]
    got = first_match(RuleSet.from_rules(rules, schema), Table(schema, (x,), 100))
    assert got.tolist() == list(range(99, -1, -1))


@fast
@given(rule_sets(), tables())
def test_contingency(rules, data):
    table, y = data
    names = np.array(["a", "b", "c"])[y]
    labels = read_labels(names)
    if len(rules) and len(labels) and not {"a", "b"} & set(names):
        with pytest.raises(TableError, match="None of the rules' outcomes"):
            contingency(rules, table, labels)
        return
    got = contingency(rules, table, labels)
    plain = plain_coverage(rules, table)
    for k, rule in enumerate(rules):
        mine, inside = names == rule.outcome, plain[:, k]
        counts = [(inside & mine), (inside & ~mine), (~inside & mine), (~inside & ~mine)]
        assert [a[k] for a in (got.tp, got.fp, got.fn, got.tn)] == [c.sum() for c in counts]


def test_outcomes_of_other_types_are_an_error():
    rules = RuleSet.from_rules([Rule({}, "1")], SCHEMA)
    table = Table(SCHEMA, (np.zeros(2), np.zeros(2), np.zeros(2, np.int32)), 2)
    with pytest.raises(TableError, match="same type and spelling"):
        contingency(rules, table, Labels((0, 1), np.array([0, 1])))


# ---------------------------------------------------------------------- layouts
@given(st.lists(st.integers(0, 3), max_size=200), st.integers(0, 3), st.integers(0, 3))
def test_layout(codes, first, more):
    y = np.array(codes, dtype=int)
    layout = RowLayout.by_class(y, 4)
    assert sorted(layout.rows[layout.rows >= 0].tolist()) == list(range(len(y)))
    for c in range(4):
        mine = layout.rows[layout.bounds[c] * 64 : layout.bounds[c + 1] * 64]
        assert mine[mine >= 0].tolist() == np.flatnonzero(y == c).tolist()
    flags = np.stack([y % 2 == 0, y > 1])
    bits = pack(np.stack([layout.arrange(f, False) for f in flags]))
    assert (layout.unpack(bits) == flags).all()
    expected = [[f[y == c].sum() for c in range(4)] for f in flags]
    assert layout.class_counts(bits).tolist() == expected
    a, b = min(first, layout.n_words), min(first + more, layout.n_words)
    part = layout.block(a, b)
    rows = layout.rows[a * 64 : b * 64]
    inside = np.zeros(len(y), dtype=bool)
    inside[rows[rows >= 0]] = True
    expected = [[(f & inside)[y == c].sum() for c in range(4)] for f in flags]
    assert part.class_counts(bits[:, a:b]).tolist() == expected


@fast
@given(rule_sets(), tables())
def test_padding_is_never_set(rules, data):
    table, y = data
    layout = RowLayout.by_class(y, 3)
    bits = pack_conditions(rules.conditions, table, layout)
    flat = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")
    assert not flat[:, layout.rows < 0].any()


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_ends_at_the_largest_double(precision):
    """Pins a warning of numpy's: beyond the largest double comes infinity."""
    largest = np.finfo(float).max
    conditions = [
        Interval(high=largest, high_closed=True, precision=precision),
        Interval(low=-largest, precision=precision),
        Interval(-largest, largest, True, True, precision=precision),
    ]
    if precision == "float64":
        conditions.append(Interval(largest, largest, True, True))
    rules = RuleSet.from_rules([Rule({"a": c}, "y") for c in conditions], Schema.numeric(["a"]))
    values = [largest, -largest, np.inf, -np.inf, 0.0, 3.5e38]
    covered = rules.coverage(np.array(values)[:, None])
    assert covered.tolist() == [[r.covers({"a": v}) for r in rules] for v in values]
