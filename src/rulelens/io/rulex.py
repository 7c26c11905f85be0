"""Rules as the Rulex platform prints them.

A line is ``RULE 2: IF V2 > 0.14 AND 3 < V4 <= 67.5 THEN Outcome in {car}, COVERING: 0.94(wo
cond. 1: 0.05; wo cond. 2: 0), ERROR: 0.03(wo cond. 1: 0.16; wo cond. 2: 0.58)``. "wo cond. 1:
0.05" says that the figure rises by 0.05 without the first condition.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rulelens.core.conditions import Condition, Interval, Membership
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Kind, Level, Schema
from rulelens.errors import FormatError, RuleError, RulelensError, did_you_mean
from rulelens.io.format import FORMATS, Format
from rulelens.language.tokens import UNSIGNED

NUMBER = rf"(?a:[+-]?{UNSIGNED}|[+-]?inf(?:inity)?)"
_HEAD = re.compile(r"\s*RULE\s+([0-9]{1,9})\s*:\s*IF\s+", re.IGNORECASE)
_BOUND = re.compile(rf"({NUMBER})\s*(<=|<|>=|>)\s*", re.IGNORECASE)
_SYMBOL = r"(<=|>=|<|>|==|=|\bnot\s+in\b|\bin\b(?=\s*\{))"
_OPERATOR = re.compile(rf"\s*{_SYMBOL}\s*", re.IGNORECASE)
_NEXT_OPERATOR = re.compile(_SYMBOL, re.IGNORECASE)
_QUOTED = re.compile(r'"((?:[^"]|"")*)"')
_VALUE_END = re.compile(r"\s(?:AND|THEN)\s", re.IGNORECASE)
_OPEN, _CLOSE, _COMMA = map(re.compile, (r"\s*\{\s*", r"\s*\}", r"\s*,\s*"))
_QUOTED_LEVEL = re.compile(r'"((?:[^"]|"")*)"(?=\s*[,}])')
_BARE_LEVEL = re.compile(r"[^,{}\s][^,{}]*")
_NEXT = re.compile(r"\s+(AND|THEN)\s+", re.IGNORECASE)
_FIGURE = re.compile(
    rf"\s*,\s*(COVERING|ERROR)\s*:\s*({NUMBER})\s*(?:\(([^()]*)\))?", re.IGNORECASE
)
_WITHOUT = re.compile(rf"\s*wo\s+cond\.?\s*([0-9]{{1,9}})\s*:\s*({NUMBER})\s*", re.IGNORECASE)
_POSITIONAL = re.compile(r"V([0-9]{1,9})")
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,4000})")
_FLIP = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


@dataclass(frozen=True)
class _Levels:
    """Levels as printed: their types depend on the feature."""

    texts: tuple[str, ...]
    negated: bool = False
    equals: bool = False


@dataclass(frozen=True)
class _Line:
    """One rule as printed."""

    number: int
    place: str
    conditions: tuple[tuple[str, Interval | _Levels], ...]
    outcome: str
    figures: tuple[tuple[str, float], ...]


def read_rulex(
    text: str, *, features: Sequence[str] | None = None, schema: Schema | None = None
) -> RuleSet:
    """Rules that the Rulex platform printed.

    Parameters
    ----------
    text : str
        One rule a line. Lines may stand in quotes, as in CSV; blank lines do not count.
    features : sequence of str, optional
        Names of the features, in order: ``V1`` stands for the first of them. By default the
        names in the text, as they come.
    schema : Schema, optional
        Kinds and levels too; by default a feature with intervals is numeric, and the levels
        of any other are those in the text.

    Returns
    -------
    RuleSet
        Unordered. The classes are booleans if all are ``True`` or ``False``, whole numbers if
        all are, else text. Provenance: ``number`` and, where printed, ``covering``,
        ``error``, and ``covering without NAME`` and ``error without NAME``: by how much the
        figure rises without the condition on that feature.

    Raises
    ------
    FormatError
        The message gives line and column.

    Examples
    --------
    >>> rules = read_rulex("RULE 1: IF 2 < V1 <= 5 THEN y in {no}", features=["heart rate"])
    >>> print(rules)
    0: IF 2 < heart rate <= 5 THEN no
    """
    names = schema.names if schema is not None else None if features is None else tuple(features)
    lines = [
        _LineReader(line, number, names).read()
        for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1)
        if line.strip()
    ]
    if not lines:
        raise FormatError("There is no rule in the text. Expected lines such as 'RULE 1: IF …'.")
    if schema is None:
        schema = _schema_of(lines, names)
    outcomes = _outcomes([line.outcome for line in lines])
    rules = []
    for line in lines:
        try:
            pairs = [(name, _condition(schema[name], body)) for name, body in line.conditions]
            origin: list[tuple[str, Level]] = [("number", line.number), *line.figures]
            rule = Rule(pairs, outcomes[line.outcome], origin).simplify()
            rules.append(rule)
        except RulelensError as e:
            raise FormatError(f"{line.place}: {e}") from None
    try:
        return RuleSet.from_rules(rules, schema)
    except RuleError as e:
        raise FormatError(str(e)) from None


class _LineReader:
    """Reads one line from left to right."""

    def __init__(self, line: str, number: int, names: tuple[str, ...] | None) -> None:
        if line.lstrip().startswith('"') and (m := _QUOTED.fullmatch(line.strip().rstrip(",;"))):
            line = m[1].replace('""', '"')
        self.text, self.number, self.names, self.at = line, number, names, 0
        # The longest name first: 'age at birth' must not be read as 'age'.
        self.by_length = sorted(names or (), key=len, reverse=True)

    def fail(self, expected: str) -> FormatError:
        found = self.text[self.at : self.at + 30] or "the end of the line"
        return FormatError(
            f"line {self.number}, column {self.at + 1}: expected {expected}, found {found!r}.\n"
            f"  {self.text}\n  {' ' * self.at}^"
        )

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        m = pattern.match(self.text, self.at)
        if m:
            self.at = m.end()
        return m

    def read(self) -> _Line:
        head = self.take(_HEAD)
        if head is None:
            raise self.fail("'RULE', a number and ': IF'")
        conditions = [self.condition()]
        while True:
            word = self.take(_NEXT)
            if word is None:
                raise self.fail("'AND' or 'THEN'")
            if word[1].upper() == "THEN":
                break
            conditions.append(self.condition())
        outcome = self.outcome()
        figures = self.figures([name for name, _ in conditions])
        if self.text[self.at :].strip(" \t,;."):
            raise self.fail("', COVERING:', ', ERROR:' or the end of the line")
        place = f"line {self.number}"
        return _Line(int(head[1]), place, tuple(conditions), outcome, tuple(figures))

    def condition(self) -> tuple[str, Interval | _Levels]:
        start = self.at
        first = None if self.known_name() else self.take(_BOUND)
        name = self.name()
        operator = self.take(_OPERATOR)
        if operator is None:
            raise self.fail("one of <=, <, >, >=, =, in, not in")
        op = " ".join(operator[1].lower().split())
        try:
            if first is not None:
                if op not in _FLIP or op[0] != first[2][0]:
                    raise self.fail(f"a second bound after '{first[2]}'")
                ends = (_interval(_FLIP[first[2]], float(first[1])), _interval(op, self.bound()))
                return name, _both(*ends)
            if op in _FLIP:
                return name, _interval(op, self.bound())
            if op in ("in", "not in"):
                return name, _Levels(self.levels(), negated=op != "in")
            return name, _Levels((self.value(),), equals=True)
        except RuleError as e:
            self.at = start
            raise FormatError(
                f"line {self.number}, column {start + 1}: {e}\n  {self.text}\n  {' ' * start}^"
            ) from None

    def known_name(self) -> str | None:
        for name in self.by_length:
            if self.text.startswith(name, self.at) and _OPERATOR.match(
                self.text, self.at + len(name)
            ):
                return name
        return None

    def name(self) -> str:
        known = self.known_name()
        if known is not None:
            self.at += len(known)
            return known
        start = self.at
        quoted = self.take(_QUOTED)
        if quoted:
            name = quoted[1].replace('""', '"')
        else:
            end = _NEXT_OPERATOR.search(self.text, self.at)
            name = self.text[self.at : end.start()] if end else ""
            if not name.strip() or re.search(r"(?:^|\s)(?:AND|THEN)\s", name):
                raise self.fail("a feature, an operator and a value")
            self.at += len(name.rstrip())
            name = name.strip()
        if self.names is None or name in self.names:
            return name
        position = _POSITIONAL.fullmatch(name)
        if position and 1 <= int(position[1]) <= len(self.names):
            return self.names[int(position[1]) - 1]
        self.at = start
        raise FormatError(
            f"line {self.number}, column {start + 1}: unknown feature '{name}'. "
            f"{did_you_mean(name, self.names)}\n  {self.text}\n  {' ' * start}^"
        )

    def bound(self) -> float:
        m = self.take(_NUMBER_END)
        if m is None:
            raise self.fail("a number")
        value = float(m[1])
        if math.isinf(value) and "inf" not in m[1].lower():
            self.at = m.start()
            raise self.fail("a number below 1.8e308")
        return value

    def value(self) -> str:
        quoted = self.take(_QUOTED)
        if quoted:
            return quoted[1].replace('""', '"')
        end = _VALUE_END.search(self.text, self.at)
        value = self.text[self.at : end.start() if end else len(self.text)].rstrip()
        if not value.strip():
            raise self.fail("a value")
        self.at += len(value)
        return value.strip()

    def levels(self) -> tuple[str, ...]:
        if self.take(_OPEN) is None:
            raise self.fail("'{'")
        out: list[str] = []
        while self.take(_CLOSE) is None:
            if out and self.take(_COMMA) is None:
                raise self.fail("',' or '}'")
            if quoted := self.take(_QUOTED_LEVEL):
                out.append(quoted[1].replace('""', '"'))
            elif bare := self.take(_BARE_LEVEL):
                out.append(bare[0].strip())
            else:
                raise self.fail("a level")
        return tuple(out)

    def outcome(self) -> str:
        operator = _NEXT_OPERATOR.search(self.text, self.at)
        if operator is None or operator[1].lower() not in ("in", "=", "=="):
            raise self.fail("a target, 'in' and '{class}'")
        self.at = operator.start()
        self.take(_OPERATOR)
        if operator[1].lower() != "in":
            if quoted := self.take(_QUOTED):
                return quoted[1].replace('""', '"')
            if bare := self.take(_BARE_LEVEL):
                return bare[0].strip()
            raise self.fail("a class")
        start = self.at
        labels = self.levels()
        if len(labels) != 1:
            self.at = start
            raise self.fail("one class; a rule for several classes is not a rule for one of them")
        return labels[0]

    def figures(self, names: list[str]) -> list[tuple[str, float]]:
        out = []
        while m := self.take(_FIGURE):
            figure = m[1].lower()
            out.append((figure, float(m[2])))
            for part in (m[3] or "").split(";"):
                w = _WITHOUT.fullmatch(part)
                if w is None:
                    if part.strip():
                        raise self.fail(f"'wo cond. 1: …' in the brackets before, not {part!r}")
                    continue
                k = int(w[1])
                if not 1 <= k <= len(names):
                    raise self.fail(f"a condition between 1 and {len(names)} before, not {k}")
                # Two conditions on one feature become one, for which no figure was printed.
                if names.count(names[k - 1]) == 1:
                    out.append((f"{figure} without {names[k - 1]}", float(w[2])))
        return out


_NUMBER_END = re.compile(rf"({NUMBER})(?![\w.])", re.IGNORECASE)


def _interval(op: str, value: float) -> Interval:
    if op.startswith("<"):
        return Interval(high=value, high_closed=op == "<=")
    return Interval(low=value, low_closed=op == ">=")


def _both(a: Interval, b: Interval) -> Interval:
    low, high = (a, b) if a.low > -math.inf or b.high < math.inf else (b, a)
    return Interval(low.low, high.high, low.low_closed, high.high_closed)


def _schema_of(lines: list[_Line], names: tuple[str, ...] | None) -> Schema:
    """Kinds and levels as the text has them; a feature that no rule names is numeric."""
    found: dict[str, list[str]] = {name: [] for name in names or ()}
    kinds: dict[str, Kind] = {}
    for line in lines:
        for name, body in line.conditions:
            levels = found.setdefault(name, [])
            if isinstance(body, Interval):
                kind: Kind = "numeric"
            else:
                levels.extend(v for v in body.texts if v not in levels)
                if body.equals and _is_number(body.texts[0]):
                    continue  # 'x = 5' suits both kinds
                kind = "categorical"
            if kinds.setdefault(name, kind) != kind:
                raise FormatError(
                    f"{line.place}: '{name}' has an interval in one rule and levels in another. "
                    "Give the schema."
                )
    features = []
    for name, levels in found.items():
        kind = kinds.get(name, "numeric")
        if kind == "categorical" and set(levels) <= {"True", "False"}:
            features.append(Feature(name, "boolean"))
        else:
            features.append(Feature(name, kind, tuple(levels) if kind == "categorical" else ()))
    return Schema(features)


def _is_number(text: str) -> bool:
    return re.fullmatch(NUMBER, text, re.IGNORECASE) is not None


def _condition(feature: Feature, body: Interval | _Levels) -> Condition:
    if isinstance(body, Interval):
        return body
    if feature.is_numeric:
        if len(body.texts) == 1 and not body.negated and _is_number(body.texts[0]):
            value = float(body.texts[0])
            return Interval(value, value, True, True)
        raise RuleError(
            f"Feature '{feature.name}' is numeric: its conditions are intervals, not levels. "
            "Give a schema in which it is categorical."
        )
    return Membership([_level(feature, text) for text in body.texts], body.negated)


def _level(feature: Feature, text: str) -> Level:
    """The feature's level that is printed as `text`."""
    fits = [v for v in feature.levels if str(v) == text]
    if not fits and _is_number(text):
        number = float(text)
        fits = [v for v in feature.levels if isinstance(v, int | float) and v == number]
    if not fits:
        raise RuleError(
            f"Feature '{feature.name}' has no level {text!r}. {did_you_mean(text, feature.levels)}"
        )
    return fits[0]


def _outcomes(texts: list[str]) -> dict[str, Level]:
    distinct = sorted(set(texts))
    if set(distinct) <= {"False", "True"}:
        return {t: t == "True" for t in distinct}
    if all(_INTEGER.fullmatch(t) for t in distinct):
        return {t: int(t) for t in distinct}
    return {t: t for t in distinct}


FORMATS.add("rulex", Format(read_rulex, None))
