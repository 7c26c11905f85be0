"""SQL: the database selects the rows that the rules cover, NULL and NaN included."""

from __future__ import annotations

import math
import sqlite3
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rule_strategies import NUMBERS, random_rows, rule_sets

from rulelens.core.conditions import Interval, Membership, Missing
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Schema
from rulelens.errors import FormatError
from rulelens.io.formats import format_rules
from rulelens.io.sql import case_expression, where_clause, write_sql

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
SETS = rule_sets(levels=TEXTS, outcomes=TEXTS, provenance=False)


def sqlite_table(schema: Schema, rows: list[dict[str, Any]]) -> sqlite3.Connection:
    db = sqlite3.connect(":memory:")
    kinds = {"numeric": "REAL", "categorical": "TEXT", "boolean": "INTEGER"}
    quoted = ['"' + f.name.replace('"', '""') + '"' for f in schema]
    columns = ", ".join(f"{q} {kinds[f.kind]}" for q, f in zip(quoted, schema, strict=True))
    db.execute(f"CREATE TABLE data ({columns})")
    marks = ", ".join("?" * len(schema))
    db.executemany(
        f"INSERT INTO data VALUES ({marks})", [[r[f.name] for f in schema] for r in rows]
    )
    return db


def usable(rules: RuleSet) -> None:
    names = [f.name for f in rules.schema]
    assume(len({n.lower() for n in names}) == len(names))
    assume(not any("\0" in n for n in names))


@given(SETS, st.integers(0, 2**32))
@settings(max_examples=200, deadline=None)
def test_sqlite_selects_the_same_rows(rules: RuleSet, seed: int) -> None:
    usable(rules)
    rows = random_rows(rules.schema, rules, np.random.default_rng(seed), 40)
    db = sqlite_table(rules.schema, rows)
    for rule in rules:
        where = where_clause(rule, rules.schema)
        found = [bool(v) for (v,) in db.execute(f"SELECT ({where}) FROM data ORDER BY rowid")]
        assert found == [rule.covers(row) for row in rows], where
        assert not db.execute(f"SELECT 1 FROM data WHERE ({where}) IS NULL").fetchall()
    if rules.ordered:
        query = f"SELECT {case_expression(rules)} FROM data ORDER BY rowid"
        expected = [next((r.outcome for r in rules if r.covers(w)), rules.default) for w in rows]
        assert [v for (v,) in db.execute(query)] == expected
    db.executescript(write_sql(rules))


@given(SETS, st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_duckdb_selects_the_same_rows(rules: RuleSet, seed: int) -> None:
    duckdb = pytest.importorskip("duckdb", reason="needs the package duckdb")
    usable(rules)
    rows = random_rows(rules.schema, rules, np.random.default_rng(seed), 40)
    kinds = {"numeric": "DOUBLE", "categorical": "VARCHAR", "boolean": "BOOLEAN"}
    quoted = ['"' + f.name.replace('"', '""') + '"' for f in rules.schema]
    columns = ", ".join(f"{q} {kinds[f.kind]}" for q, f in zip(quoted, rules.schema, strict=True))
    with duckdb.connect() as db:
        db.execute(f"CREATE TABLE data (row_number INTEGER, {columns})")
        for i, row in enumerate(rows):
            values = [row[f.name] for f in rules.schema]
            # NaN is missing too, and DuckDB takes it for the largest number.
            values = [
                math.nan if v is None and f.is_numeric and i % 2 else v
                for v, f in zip(values, rules.schema, strict=True)
            ]
            marks = ", ".join("?" * (len(values) + 1))
            db.execute(f"INSERT INTO data VALUES ({marks})", [i, *values])
        for rule in rules:
            where = where_clause(rule, rules.schema, dialect="duckdb")
            query = f"SELECT ({where}) FROM data ORDER BY row_number"
            found = [v for (v,) in db.execute(query).fetchall()]
            assert found == [rule.covers(row) for row in rows], where
        db.execute(write_sql(rules, dialect="duckdb"))


@given(st.lists(NUMBERS, min_size=1, max_size=30))
@settings(max_examples=300, deadline=None)
def test_sqlite_reads_every_number_exactly(values: list[float]) -> None:
    """SQLite's own reading of decimals misses the last bit of some."""
    from rulelens.io.sql import _sqlite_number

    db = sqlite3.connect(":memory:")
    query = "SELECT " + ", ".join(_sqlite_number(v) for v in values)
    assert list(db.execute(query).fetchone()) == values


def test_against_our_own_coverage_on_a_table() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "a b": rng.normal(size=300),
            'c"d': rng.choice(["x", "it's", "ü"], 300),
            "flag": rng.choice([True, False], 300),
            "n": rng.integers(0, 5, 300),
        }
    )
    frame.loc[::7, "a b"] = np.nan
    frame.loc[::5, 'c"d'] = None
    schema = Schema(
        [
            Feature("a b"),
            Feature('c"d', "categorical", ("x", "it's", "ü")),
            Feature("flag", "boolean"),
            Feature("n", "categorical", (0, 1, 2, 3, 4)),
        ]
    )
    rules = RuleSet.from_rules(
        [
            Rule({"a b": Interval(-1, 0.3, or_missing=True), "flag": Membership([True])}, 1),
            Rule({'c"d': Membership(["it's"], True), "n": Membership([1, 2.0])}, 1),
            Rule({'c"d': Missing()}, 0),
            Rule({"a b": Interval(precision="float32")}, 0),
            Rule({}, 0),
        ],
        schema,
    )
    rows = frame.astype(object).where(frame.notna(), None).to_dict("records")
    db = sqlite_table(schema, rows)
    for k, rule in enumerate(rules):
        where = where_clause(rule, schema)
        found = [bool(v) for (v,) in db.execute(f"SELECT ({where}) FROM data ORDER BY rowid")]
        assert found == rules.coverage(frame)[:, k].tolist()
    script = format_rules(rules, format="sqlite")
    assert script.count("SELECT") == 5


def test_text_of_the_dialects() -> None:
    schema = Schema([Feature("x"), Feature("b", "boolean")])
    rule = Rule({"x": Interval(high=0.1, or_missing=True), "b": Membership([True])}, "y")
    texts = {d: where_clause(rule, schema, dialect=d) for d in ("sqlite", "duckdb", "postgres")}
    assert texts == {
        "sqlite": "(`x` IS NULL OR `x` < 0.1) AND (`b` IS NOT NULL AND `b` IN (1))",
        "duckdb": '("x" IS NULL OR isnan(CAST("x" AS DOUBLE)) OR "x" < CAST(\'0.1\' AS DOUBLE)) '
        'AND ("b" IS NOT NULL AND "b" IN (TRUE))',
        "postgres": '("x" IS NULL OR CAST("x" AS DOUBLE PRECISION) = \'NaN\' OR "x" < '
        'CAST(\'0.1\' AS DOUBLE PRECISION)) AND ("b" IS NOT NULL AND "b" IN (TRUE))',
    }


@pytest.mark.parametrize(
    ("schema", "condition", "message"),
    [
        (Schema([Feature("a"), Feature("A")]), Interval(1), "differ in upper and lower case only"),
        (Schema([Feature("a\0"), Feature("b")]), Interval(1), "SQL cannot carry"),
        (
            Schema([Feature("c", "categorical", ("1", 1))]),
            Membership([1]),
            "levels of several types",
        ),
        (Schema([Feature("c", "categorical", ("\ud800",))]), Membership(["\ud800"]), "SQL cannot"),
        (Schema([Feature("c", "categorical", (2**70,))]), Membership([2**70]), "more than 64 bits"),
    ],
)
def test_what_sql_cannot_carry_is_refused(schema: Schema, condition: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        where_clause(Rule({schema.names[0]: condition}, 1), schema)


@pytest.mark.parametrize(
    ("outcomes", "dialects"),
    [
        (["a", 1], ["duckdb", "postgres"]),
        (["a", True], ["duckdb", "postgres"]),
        ([True, 1], ["sqlite", "duckdb", "postgres"]),
        ([1, 2.5], []),
    ],
)
def test_outcomes_of_several_types(outcomes: list[Any], dialects: list[str]) -> None:
    """DuckDB and PostgreSQL took one outcome for another, or failed, where types differ."""
    schema = Schema([Feature("x")])
    made = [Rule({"x": Interval(i)}, y) for i, y in enumerate(outcomes)]
    rules = RuleSet.from_rules(made, schema, ordered=True)
    for dialect in ("sqlite", "duckdb", "postgres"):
        if dialect in dialects:
            with pytest.raises(FormatError, match="outcomes are of several types"):
                write_sql(rules, dialect=dialect)  # type: ignore[arg-type]
        else:
            write_sql(rules, dialect=dialect)  # type: ignore[arg-type]


def test_postgres_looks_at_63_bytes_of_a_name() -> None:
    """Two long names were one column, without an error."""
    names = ["ü" * 31 + "x" + end for end in "ab"]
    rule = Rule({names[0]: Interval(1)}, "y")
    with pytest.raises(FormatError, match="same in their first 63 bytes"):
        where_clause(rule, Schema.numeric(names), dialect="postgres")
    where_clause(rule, Schema.numeric(names), dialect="duckdb")


def test_options() -> None:
    rules = RuleSet.from_rules([], Schema([Feature("a")]), outcomes=["y"])
    with pytest.raises(FormatError, match="Unknown SQL dialect 'mysql'"):
        where_clause(Rule({}, 1), rules.schema, dialect="mysql")  # type: ignore[arg-type]
    with pytest.raises(FormatError, match="Only an ordered rule set"):
        case_expression(rules)
    empty = RuleSet.from_rules([], rules.schema, outcomes=["y"], ordered=True, default="y")
    db = sqlite_table(empty.schema, [{"a": 1.0}])
    assert db.execute(write_sql(empty)).fetchall() == [(1.0, "y")]


@pytest.mark.parametrize("name", ["age", "a`b", '"', "``", "new\nline"])
def test_a_column_that_is_not_there_is_an_error_in_sqlite(name: str) -> None:
    """Pins a rule that selected all rows: SQLite took the name in double quotes for a text."""
    rule = Rule({name: Interval(50)}, "ill")
    clause = where_clause(rule, Schema([Feature(name)]))
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE data (other REAL)")
    base.execute("INSERT INTO data VALUES (1)")
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        base.execute(f"SELECT * FROM data WHERE {clause}")
    quoted = name.replace("`", "``")
    base.execute(f"CREATE TABLE good (`{quoted}` REAL)")
    base.execute("INSERT INTO good VALUES (1), (51)")
    assert base.execute(f"SELECT * FROM good WHERE {clause}").fetchall() == [(51.0,)]
