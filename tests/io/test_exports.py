"""Python, CSV, Markdown and LaTeX: what they say, and that names stay text."""

from __future__ import annotations

import csv
import io
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_strategies import random_rows, rule_sets

from rulelens.core.conditions import Interval, Membership
from rulelens.core.measures import MEASURES
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Schema
from rulelens.errors import FormatError, OptionError
from rulelens.io.formats import format_rules, write_rules
from rulelens.io.tables import rules_to_frame, write_csv
from rulelens.language.parser import parse_text

LEVELS = st.one_of(st.text(max_size=6), st.integers(-3, 3), st.floats(-5, 5))


def module_of(rules: RuleSet) -> dict[str, Any]:
    space: dict[str, Any] = {}
    exec(compile(format_rules(rules, format="python"), "rules.py", "exec"), space)  # noqa: S102
    return space


@given(rule_sets(levels=LEVELS, provenance=False), st.integers(0, 2**32))
@settings(max_examples=200, deadline=None)
def test_the_python_module_fires_the_same_rules(rules: RuleSet, seed: int) -> None:
    module = module_of(rules)
    rows = random_rows(rules.schema, rules, np.random.default_rng(seed), 30)
    for row in rows:
        expected = [k for k, rule in enumerate(rules) if rule.covers(row)]
        assert module["fired"](row) == expected
        holes = {k: math.nan if v is None else v for k, v in row.items()}
        assert module["fired"](holes) == expected
        if rules.ordered:
            found = module["decide"](row)
            decided = rules[expected[0]].outcome if expected else rules.default
            assert (type(found), found) == (type(decided), decided)
    assert [repr(v) for v in module["OUTCOMES"]] == [repr(r.outcome) for r in rules]


def test_python_cannot_tell_true_from_one() -> None:
    schema = Schema([Feature("c", "categorical", (1, True))])
    rules = RuleSet.from_rules([Rule({"c": Membership([1])}, "y")], schema)
    with pytest.raises(FormatError, match="both booleans and numbers"):
        format_rules(rules, format="python")


NASTY = RuleSet.from_rules(
    [
        Rule({"=cmd|' /C calc'!A0": Interval(1)}, "=1+1", {"@x": "+2", "n": -3}),
        Rule({"a|b_c": Membership(["<b>&", "$x^2\n{}"])}, "-"),
    ],
    Schema([Feature("=cmd|' /C calc'!A0"), Feature("a|b_c", "categorical", ("<b>&", "$x^2\n{}"))]),
    ordered=True,
    default="-",
)


def test_csv_has_no_formula_and_loses_nothing() -> None:
    rows = list(csv.reader(io.StringIO(format_rules(NASTY, format="csv"))))
    assert rows[0] == ["rule", "outcome", "length", '"@x"', "n"]
    assert rows[1][1:] == ['"=1+1"', "1", '"+2"', "-3"]
    assert rows[3] == ["ELSE", '"-"', "0", "", ""]
    for row in rows:
        for cell in row:
            assert cell == "-3" or cell[:1] not in ("=", "+", "@", "-")
    text = "\n".join(f"IF {r[0]} THEN {r[1]}" for r in rows[1:3])
    again = parse_text(text, schema=NASTY.schema)
    assert [r.conditions for r in again] == [r.conditions for r in NASTY]


def test_markdown_is_one_row_a_rule() -> None:
    lines = format_rules(NASTY, format="markdown").splitlines()
    assert lines[:2] == ["| # | rule | outcome |", "| ---: | --- | --- |"]
    assert len(lines) == 5
    for line in lines[2:]:
        assert len(re.findall(r"(?<!\\)\|", line)) == 4
        assert "<" not in line
        assert "a|b_c" not in line
    assert r"a\|b\_c" in lines[3]
    assert "&lt;b&gt;&amp;" in lines[3]
    assert lines[4] == "|  | otherwise | - |"


def test_latex_escapes_everything() -> None:
    text = format_rules(NASTY, format="latex")
    assert text.startswith("\\begin{tabular}{rll}\n\\hline\n")
    assert text.endswith("\\hline\n\\end{tabular}\n")
    row = text.splitlines()[5]
    assert r"\$x\textasciicircum{}2" in row
    assert r"\textless{}b\textgreater{}\&" in row
    assert r"b\_c" in row
    assert row.endswith(r" & - \\")


def test_a_frame_of_rules() -> None:
    frame = rules_to_frame(NASTY)
    assert list(frame.columns) == ["rule", "outcome", "length", "@x", "n"]
    assert frame["n"].tolist()[0] == -3
    clash = RuleSet.from_rules([Rule({}, 1, {"rule": 7})], NASTY.schema)
    assert rules_to_frame(clash)["provenance rule"].tolist() == [7]


@pytest.mark.parametrize("suffix", ["py", "csv", "md", "tex", "sqlite.sql", "duckdb.sql"])
def test_suffixes(tmp_path: Path, suffix: str) -> None:
    rules = RuleSet.from_rules([Rule({"a": Interval(1)}, "y")], Schema([Feature("a")]))
    write_rules(rules, tmp_path / f"r.{suffix}")
    assert (tmp_path / f"r.{suffix}").stat().st_size
    with pytest.raises(FormatError, match="does not tell the format"):
        write_rules(rules, tmp_path / "r.sql")


def test_tables_with_measures() -> None:
    schema = Schema([Feature("x")])
    rules = RuleSet.from_rules(
        [Rule({"x": Interval(1)}, "a", {"tp": 7}), Rule({"x": Interval(9)}, "b")],
        schema,
        ordered=True,
        default="a",
    )
    X, y = pd.DataFrame({"x": [0.0, 2.0, 3.0, np.nan]}), ["a", "a", "b", "b"]
    frame = rules_to_frame(rules, X, y, measures=["confidence", "recall"])
    assert frame["provenance tp"].tolist()[0] == 7
    assert frame[["tp", "fp", "fn", "tn"]].to_numpy().tolist() == [[1, 1, 1, 1], [0, 0, 2, 2]]
    assert frame["recall"].tolist() == [0.5, 0.0]
    rows = list(csv.DictReader(io.StringIO(write_csv(rules, X, y, measures=["confidence"]))))
    assert [r["confidence"] for r in rows] == ["0.5", "", ""]
    assert set(MEASURES) <= set(rules_to_frame(rules, X, y))
    for options in ({"X": X}, {"y": y}, {"measures": ["recall"]}):
        with pytest.raises(OptionError, match="Measures need rows"):
            rules_to_frame(rules, **options)
