"""Rules as SQL that selects exactly the same rows, NULL and NaN included.

Every predicate is true or false, never NULL. Single-precision conditions are written as the
double-precision ones that select the same values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

from rulelens.core.conditions import Condition, Interval, Membership
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Level, Schema
from rulelens.errors import FormatError, did_you_mean
from rulelens.io.format import FORMATS, Format
from rulelens.io.votes import DECIDE_TOGETHER, decides_together

_LONGEST = 63
"""Bytes of a name that PostgreSQL looks at."""
Dialect: TypeAlias = Literal["sqlite", "duckdb", "postgres"]


@dataclass(frozen=True)
class _Words:
    """How a database writes what databases write differently."""

    number: Callable[[float], str]
    is_nan: str
    true: str
    false: str
    names_by_case: bool
    quote: str = '"'


def _sqlite_number(value: float) -> str:
    """Text that SQLite reads as exactly this number.

    SQLite may miss the last bit of a decimal number with more than 15 digits or a large
    exponent; a quotient of whole numbers, or their product with a power of 2, is exact.
    """
    digits, exponent = Decimal(repr(value)).as_tuple()[1:]
    if len(digits) <= 15 and isinstance(exponent, int) and abs(exponent) <= 22:
        return repr(value)
    n, d = value.as_integer_ratio()
    shift = 0
    while abs(n) >= 2**53:
        n, shift = n // 2, shift + 1
    text = f"CAST({n} AS REAL)"
    for operator, power in (("*", shift), ("/", d.bit_length() - 1)):
        for _ in range(power // 62):
            text += f" {operator} {2**62}"
        if power % 62:
            text += f" {operator} {2 ** (power % 62)}"
    return f"({text} /* {value!r} */)"


_DIALECTS: dict[str, _Words] = {
    # SQLite takes a name in double quotes that no column has for a text, and goes on.
    "sqlite": _Words(_sqlite_number, "", "1", "0", False, "`"),
    "duckdb": _Words(
        lambda v: f"CAST('{v!r}' AS DOUBLE)", "isnan(CAST({} AS DOUBLE))", "TRUE", "FALSE", False
    ),
    "postgres": _Words(
        lambda v: f"CAST('{v!r}' AS DOUBLE PRECISION)",
        "CAST({} AS DOUBLE PRECISION) = 'NaN'",
        "TRUE",
        "FALSE",
        True,
    ),
}


def where_clause(rule: Rule, schema: Schema, *, dialect: Dialect = "sqlite") -> str:
    """A predicate that is true for the rows that a rule covers, and false for all others.

    Parameters
    ----------
    rule : Rule
    schema : Schema
        Columns of the table have the features' names.
    dialect : {"sqlite", "duckdb", "postgres"}

    Raises
    ------
    FormatError
        The dialect is not known, or the database cannot tell names or levels apart.

    Examples
    --------
    >>> rule = Rule({"heart rate": Interval(90), "c": Membership(["it's"])}, "ill")
    >>> schema = Schema([Feature("heart rate"), Feature("c", "categorical", ("it's",))])
    >>> print(where_clause(rule, schema))
    (`heart rate` IS NOT NULL AND `heart rate` > 90.0) AND (`c` IS NOT NULL AND `c` IN ('it''s'))
    """
    words = _words(dialect)
    _check_names(schema, words, dialect)
    simple = rule.simplify()
    parts = [_predicate(schema[name], c, words) for name, c in simple.conditions]
    return " AND ".join(parts) or "1 = 1"


def case_expression(rules: RuleSet, *, dialect: Dialect = "sqlite") -> str:
    """The outcome of the first rule that covers a row, as one CASE expression.

    Parameters
    ----------
    rules : RuleSet
        Ordered; where no rule fires the expression is the default, or NULL without one.
    dialect : {"sqlite", "duckdb", "postgres"}
    """
    if not rules.ordered:
        raise FormatError(
            "Only an ordered rule set has one outcome for a row. For an unordered one use "
            "where_clause for each rule."
        )
    words = _words(dialect)
    _check_outcomes(rules.outcomes, dialect)
    lines = [
        f"  WHEN {where_clause(rule, rules.schema, dialect=dialect)}"
        f" THEN {_value(rule.outcome, words)}"
        for rule in rules
    ]
    if not lines:
        lines = ["  WHEN 1 = 0 THEN NULL"]
    default = "NULL" if rules.default is None else _value(rules.default, words)
    return "\n".join(["CASE", *lines, f"  ELSE {default}", "END"])


def write_sql(rules: RuleSet, *, dialect: Dialect = "sqlite", table: str = "data") -> str:
    """Queries on a table: one that adds the outcome of an ordered list, else one for each rule.

    Rules of a forest or a boosted model decide together; a comment says that none decides alone.

    Parameters
    ----------
    rules : RuleSet
    dialect : {"sqlite", "duckdb", "postgres"}
    table : str
        Name of the table that has the features as columns.
    """
    words = _words(dialect)
    source = _name(table, words)
    if rules.ordered:
        return f"SELECT *, {case_expression(rules, dialect=dialect)} AS outcome\nFROM {source};\n"
    _check_names(rules.schema, words, dialect)
    head = f"-- {DECIDE_TOGETHER}\n" if decides_together(rules) else ""
    return head + "".join(
        f"SELECT {k} AS rule, {_value(rule.outcome, words)} AS outcome, *\nFROM {source}\n"
        f"WHERE {where_clause(rule, rules.schema, dialect=dialect)};\n"
        for k, rule in enumerate(rules)
    )


def _words(dialect: str) -> _Words:
    if dialect not in _DIALECTS:
        raise FormatError(f"Unknown SQL dialect '{dialect}'. {did_you_mean(dialect, _DIALECTS)}")
    return _DIALECTS[dialect]


def _check_names(schema: Schema, words: _Words, dialect: str) -> None:
    seen: dict[object, str] = {}
    for name in schema.names:
        key = name.encode("utf-8", "replace")[:_LONGEST] if words.names_by_case else name.lower()
        other = seen.setdefault(key, name)
        if other != name:
            what = (
                f"are the same in their first {_LONGEST} bytes"
                if words.names_by_case
                else "differ in upper and lower case only"
            )
            raise FormatError(
                f"The features '{other}' and '{name}' {what}, which {dialect} cannot tell apart. "
                "Rename one of them."
            )


def _check_outcomes(outcomes: Sequence[Level], dialect: str) -> None:
    """A CASE has one type, except in SQLite, where truth values are numbers all the same."""
    kinds = {
        "text" if isinstance(v, str) else "truth value" if isinstance(v, bool) else "number"
        for v in outcomes
    }
    if len(kinds) > 1 and (dialect != "sqlite" or {"truth value", "number"} <= kinds):
        raise FormatError(
            f"The outcomes are of several types ({', '.join(sorted(kinds))}), which one column in "
            f"{dialect} cannot hold. Make them all text."
        )


def _predicate(feature: Feature, condition: Condition, words: _Words) -> str:
    column = _name(feature.name, words)
    numbers = feature.is_numeric or any(
        isinstance(v, int | float) and not isinstance(v, bool) for v in feature.levels
    )
    gone = [f"{column} IS NULL"]
    there = [f"{column} IS NOT NULL"]
    if words.is_nan and numbers:
        gone.append(words.is_nan.format(column))
        there.append(f"NOT {gone[1]}")
    if not isinstance(condition, Interval | Membership):
        return f"({' OR '.join(gone)})"
    if isinstance(condition, Interval):
        tests = _interval(column, condition.to_float64(), words)
    else:
        tests = _membership(column, feature, condition, words)
    if condition.or_missing:
        joined = " AND ".join(tests)
        if not tests:
            return "1 = 1"
        return (
            f"({' OR '.join(gone)} OR ({joined}))"
            if len(tests) > 1
            else (f"({' OR '.join(gone)} OR {joined})")
        )
    return f"({' AND '.join([*there, *tests])})"


def _interval(column: str, c: Interval, words: _Words) -> list[str]:
    if c.low == c.high:
        return [f"{column} = {words.number(c.low)}"]
    tests = []
    if c.low > -math.inf:
        tests.append(f"{column} {'>=' if c.low_closed else '>'} {words.number(c.low)}")
    if c.high < math.inf:
        tests.append(f"{column} {'<=' if c.high_closed else '<'} {words.number(c.high)}")
    return tests


def _membership(column: str, feature: Feature, c: Membership, words: _Words) -> list[str]:
    kinds = {"text" if isinstance(v, str) else type(v) is bool for v in feature.levels}
    if len(kinds) > 1:
        raise FormatError(
            f"Feature '{feature.name}' has levels of several types, which one SQL column cannot "
            "hold. Make them all text."
        )
    if not c.levels:
        return []
    values = ", ".join(_value(v, words) for v in c.levels)
    return [f"{column} {'NOT IN' if c.negated else 'IN'} ({values})"]


def _name(name: str, words: _Words) -> str:
    _check_text(name)
    return words.quote + name.replace(words.quote, 2 * words.quote) + words.quote


def _value(value: Level, words: _Words) -> str:
    if isinstance(value, bool):
        return words.true if value else words.false
    if isinstance(value, str):
        _check_text(value)
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise FormatError(f"The whole number {value} has more than 64 bits, too many for SQL.")
        return str(value)
    return words.number(value)


def _check_text(text: str) -> None:
    if "\0" in text or any("\ud800" <= c <= "\udfff" for c in text):
        raise FormatError(f"The text {text!r} has a character that SQL cannot carry. Rename it.")


def _writer(dialect: Dialect) -> Callable[[RuleSet], str]:
    return lambda rules: write_sql(rules, dialect=dialect)


for _dialect in ("sqlite", "duckdb", "postgres"):
    FORMATS.add(_dialect, Format(None, _writer(_dialect), (f".{_dialect}.sql",)))
