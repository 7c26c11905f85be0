"""SQL on a PostgreSQL server, NULL and NaN included.

Runs where the environment variable RULELENS_POSTGRES names a database in which tables may be
made (``postgresql://user:password@localhost/name``) and the package psycopg is installed.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from rule_strategies import random_rows, rule_sets

from rulelens.core.conditions import Interval, Membership
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Schema
from rulelens.io.sql import case_expression, where_clause, write_sql

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6)
SETS = rule_sets(levels=TEXTS, outcomes=TEXTS, provenance=False)
KINDS = {"numeric": "DOUBLE PRECISION", "categorical": "TEXT", "boolean": "BOOLEAN"}


@pytest.fixture(scope="module")
def db() -> Iterator[Any]:
    address = os.environ.get("RULELENS_POSTGRES")
    if not address:
        pytest.skip("needs a PostgreSQL server, named by RULELENS_POSTGRES")
    psycopg = pytest.importorskip("psycopg", reason="needs the package psycopg")
    with psycopg.connect(address, autocommit=True, prepare_threshold=None) as connection:
        yield connection


def fill(db: Any, schema: Schema, rows: list[dict[str, Any]]) -> None:
    quoted = ['"' + f.name.replace('"', '""') + '"' for f in schema]
    columns = ", ".join(f"{q} {KINDS[f.kind]}" for q, f in zip(quoted, schema, strict=True))
    with db.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS pg_temp.data")
        cursor.execute(f"CREATE TEMP TABLE data ({columns}, ___row INTEGER)")
        marks = ", ".join(["%s"] * (len(schema) + 1))
        values = [
            [
                # NaN is missing too, and PostgreSQL takes it for the largest number.
                math.nan if r[f.name] is None and f.is_numeric and i % 2 else r[f.name]
                for f in schema
            ]
            for i, r in enumerate(rows)
        ]
        cursor.executemany(
            f"INSERT INTO data VALUES ({marks})", [[*v, i] for i, v in enumerate(values)]
        )


def column(db: Any, query: str) -> list[Any]:
    with db.cursor() as cursor:
        cursor.execute(query)  # without parameters, so that % is plain text
        return [v for (v,) in cursor.fetchall()]


@given(SETS, st.integers(0, 2**32))
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_postgres_selects_the_same_rows(db: Any, rules: RuleSet, seed: int) -> None:
    assume(not any("\0" in n or n == "___row" for n in rules.schema.names))
    rows = random_rows(rules.schema, rules, np.random.default_rng(seed), 40)
    for row in rows[::9]:
        for f in rules.schema:
            if f.is_numeric:
                row[f.name] = math.inf if seed % 2 else -math.inf
    fill(db, rules.schema, rows)
    for rule in rules:
        where = where_clause(rule, rules.schema, dialect="postgres")
        found = column(db, f"SELECT ({where}) FROM data ORDER BY ___row")
        assert found == [rule.covers(row) for row in rows], where
    if rules.ordered:
        case = case_expression(rules, dialect="postgres")
        expected = [next((r.outcome for r in rules if r.covers(w)), rules.default) for w in rows]
        assert column(db, f"SELECT {case} FROM data ORDER BY ___row") == expected
    with db.cursor() as cursor:
        for query in write_sql(rules, dialect="postgres").split(";\nSELECT"):
            cursor.execute(query if query.startswith("SELECT") else "SELECT" + query)


def test_whole_numbers_as_levels_and_single_precision(db: Any) -> None:
    schema = Schema([Feature("n", "categorical", (1, 2**62, -3)), Feature("x")])
    rules = RuleSet.from_rules(
        [
            Rule({"n": Membership([2**62, -3])}, 1),
            Rule({"n": Membership([1], True, True), "x": Interval(0.1, precision="float32")}, 1),
        ],
        schema,
    )
    single = float(np.float32(0.1))
    numbers = [None, 0.1, single, math.nextafter(0.1, 1), float(np.nextafter(np.float32(0.1), 1))]
    rows: list[dict[str, Any]] = [{"n": n, "x": x} for n in (None, 1, 2**62, -3) for x in numbers]
    with db.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS pg_temp.data")
        cursor.execute("CREATE TEMP TABLE data (n BIGINT, x DOUBLE PRECISION, ___row INTEGER)")
        cursor.executemany(
            "INSERT INTO data VALUES (%s, %s, %s)",
            [(r["n"], r["x"], i) for i, r in enumerate(rows)],
        )
    for rule in rules:
        where = where_clause(rule, schema, dialect="postgres")
        found = column(db, f"SELECT ({where}) FROM data ORDER BY ___row")
        assert found == [rule.covers(row) for row in rows]
