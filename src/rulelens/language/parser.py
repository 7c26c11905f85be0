"""Text into rules."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NoReturn, TypeVar

from rulelens.core.conditions import Condition, Interval, Membership, Missing, Precision
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Kind, Level, Schema
from rulelens.language.drafts import Draft, DraftRule, Equal, build
from rulelens.language.place import at_place, error_at
from rulelens.language.printer import VERSION
from rulelens.language.tokens import Token, tokenize

T = TypeVar("T")
_ORDER = ("<", "<=", ">", ">=")
_FLIP = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def parse_text(
    text: str, *, features: Sequence[str] | None = None, schema: Schema | None = None
) -> RuleSet:
    """Rules of a text in the language that ``docs/formats.md`` describes.

    Parameters
    ----------
    text : str
    features : sequence of str, optional
        Names of the features, in order, for a text without FEATURE lines.
    schema : Schema, optional
        The same with kinds and levels. With FEATURE lines it must agree with them.

    Raises
    ------
    FormatError
        The message shows the line, with a caret under the place.

    Examples
    --------
    >>> rules = parse_text('''
    ...     IF "heart rate" > 90 AND smoker = true THEN ill
    ...     IF age in [20, 30) AND colour NOT IN {red, "dark blue"} [or missing] THEN well
    ...     ELSE well
    ... ''')
    >>> rules.default, len(rules), rules.schema["colour"].levels
    ('well', 2, ('dark blue', 'red'))
    """
    return build(_Parser(text).statements(), features, schema)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.at = 0
        self.draft = Draft(text)
        self.intervals: dict[tuple[float | bool | str, ...], Interval] = {}

    # ------------------------------------------------------------------ tokens
    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def fail(self, message: str, token: Token | None = None) -> NoReturn:
        token = self.token if token is None else token
        raise error_at(self.text, token.position, message)

    def expected(self, what: str) -> NoReturn:
        found = "the end" if self.token.kind == "end" else repr(self._shown(self.token))
        self.fail(f"Expected {what}, found {found}.")

    def _shown(self, token: Token) -> str:
        return self.text[token.position : self.tokens[self.at + 1].position].split("#")[0].strip()

    def is_end(self) -> bool:
        return self.tokens.kinds[self.at] == "end"

    def take(self, kind: str, *values: str) -> Token | None:
        tokens, at = self.tokens, self.at
        if tokens.kinds[at] == kind and (not values or tokens.values[at] in values):
            self.at += 1
            return tokens[at]
        return None

    def need(self, what: str, kind: str, *values: str) -> Token:
        return self.take(kind, *values) or self.expected(what)

    # ------------------------------------------------------------------ statements
    def statements(self) -> Draft:
        if self.take("keyword", "rulelens"):
            version = self.need("a version", "number")
            if version.value != str(VERSION):
                self.fail(
                    f"Version {version.value} is not known; this release reads {VERSION}.", version
                )
        while not self.is_end():
            token = self.token
            if self.take("keyword", "if"):
                self.rule(token.position)
            elif self.take("keyword", "feature"):
                self.feature(token)
            elif self.take("keyword", "outcomes"):
                self.draft.outcomes = [v for v, _ in self.braces(self.level)]
            elif self.take("keyword", "ordered"):
                self.draft.ordered = True
            elif self.take("keyword", "provenance"):
                self.draft.columns = [v for v, _ in self.braces(self.name)]
            elif self.take("keyword", "else"):
                self.draft.default = self.level()
                self.draft.ordered = True
                if not self.is_end():
                    self.expected("nothing after ELSE, which is the last line")
            else:
                self.expected("IF, FEATURE, OUTCOMES, ORDERED, PROVENANCE or ELSE")
        return self.draft

    def feature(self, start: Token) -> None:
        name = self.name()
        kind = self.need(
            "NUMERIC, CATEGORICAL or BOOLEAN", "keyword", "numeric", "categorical", "boolean"
        )
        levels = [v for v, _ in self.braces(self.level)] if kind.value == "categorical" else []
        unit = None
        if self.take("keyword", "unit"):
            unit = (self.take("word") or self.need("a unit", "text")).value
        kinds: dict[str, Kind] = {"numeric": "numeric", "boolean": "boolean"}
        made = at_place(
            self.text,
            start.position,
            lambda: Feature(name, kinds.get(kind.value, "categorical"), tuple(levels), unit),
        )
        if any(f.name == name for f in self.draft.declared):
            self.fail(f"The feature '{name}' is declared twice. Remove one line.", start)
        self.draft.declared.append(made)

    def rule(self, position: int) -> None:
        conditions = []
        token = self.token
        if token[:2] == ("keyword", "true") and self.tokens[self.at + 1].value == "then":
            self.at += 1
        else:
            conditions.append(self.condition())
            while self.take("keyword", "and"):
                conditions.append(self.condition())
        self.need("AND or THEN", "keyword", "then")
        outcome = self.level()
        origin: dict[str, Level] = {}
        if self.take("keyword", "from"):
            for name, value in self.braces(self.name, self.origin_value):
                if name in origin:
                    self.fail(f"The provenance '{name}' is given twice in one rule.")
                origin[name] = value
        self.draft.rules.append(DraftRule(position, conditions, outcome, origin))

    # ------------------------------------------------------------------ conditions
    def condition(self) -> tuple[str, Condition | Equal, int]:
        start = self.token.position
        if self.token.kind == "number" or self.is_infinity():
            low = self.number()
            first = self.need("<, <=, > or >=", "symbol", *_ORDER).value
            name = self.name()
            second = self.need(
                f"{first[0]} or {first[0]}=", "symbol", first[0], f"{first[0]}="
            ).value
            bounds = [(_FLIP[first], low), (second, self.number())]
        else:
            name = self.name()
            if self.take("keyword", "is"):
                return name, self.is_what(start), start
            if self.token.value in ("in", "not") and self.token.kind == "keyword":
                return name, self.in_what(start), start
            op = self.need(
                "<, <=, >, >=, =, !=, IN, NOT IN or IS", "symbol", *_ORDER, "=", "==", "!="
            )
            if op.value in ("=", "==", "!="):
                value = self.level()
                or_missing, precision = self.flags()
                return name, Equal(value, op.value == "!=", or_missing, precision), start
            bounds = [(op.value, self.number())]
        ends = {"low": -math.inf, "high": math.inf}
        closed = {"low": False, "high": False}
        for op_, value in bounds:
            side = "low" if op_.startswith(">") else "high"
            ends[side], closed[side] = value, op_.endswith("=")
        return name, self.interval(start, ends, closed), start

    def interval(self, start: int, ends: dict[str, float], closed: dict[str, bool]) -> Interval:
        or_missing, precision = self.flags()
        low, high = ends["low"], ends["high"]
        # -0.0 and 0.0 are one key, but two texts.
        key = (low, high, *closed.values(), or_missing, precision)
        known = self.intervals.get(key) if low and high else None
        if known is None:
            known = self.intervals[key] = at_place(
                self.text,
                start,
                lambda: Interval(low, high, closed["low"], closed["high"], or_missing, precision),
            )
        return known

    def is_what(self, start: int) -> Condition:
        if self.take("keyword", "missing"):
            return Missing()
        negated = self.take("keyword", "not") is not None
        if negated and self.take("keyword", "missing"):
            return self.known(start)
        if not negated and self.take("keyword", "known"):
            return self.known(start)
        self.expected("MISSING, NOT MISSING or KNOWN")

    def known(self, start: int) -> Condition:
        return self.interval(
            start, {"low": -math.inf, "high": math.inf}, {"low": False, "high": False}
        )

    def in_what(self, start: int) -> Condition:
        negated = self.take("keyword", "not") is not None
        self.need("IN", "keyword", "in")
        bracket = None if negated else self.take("symbol", "[", "(")
        if bracket:
            low = self.number()
            self.need("','", "symbol", ",")
            high = self.number()
            end = self.need("']' or ')'", "symbol", "]", ")")
            closed = {"low": bracket.value == "[", "high": end.value == "]"}
            return self.interval(start, {"low": low, "high": high}, closed)
        levels = [v for v, _ in self.braces(self.level)]
        or_missing, precision = self.flags()
        if precision != "float64":
            self.fail("float32 belongs to intervals only.")
        return at_place(self.text, start, lambda: Membership(levels, negated, or_missing))

    def flags(self) -> tuple[bool, Precision]:
        or_missing, precision = False, "float64"
        if self.take("symbol", "["):
            while True:
                if self.take("keyword", "or"):
                    self.need("MISSING", "keyword", "missing")
                    or_missing = True
                else:
                    self.need("'or missing' or 'float32'", "keyword", "float32")
                    precision = "float32"
                if self.take("symbol", "]"):
                    break
                self.need("',' or ']'", "symbol", ",")
        return or_missing, "float32" if precision == "float32" else "float64"

    # ------------------------------------------------------------------ values
    def name(self) -> str:
        token = self.take("word") or self.take("text")
        if token is None:
            if self.token.kind == "keyword":
                self.expected(
                    "a feature's name (in double quotes if it is one of the language's words)"
                )
            self.expected("a name")
        return token.value

    def is_infinity(self) -> bool:
        kinds, values, at = self.tokens.kinds, self.tokens.values, self.at
        if kinds[at] == "symbol" and values[at] in ("-", "+"):
            at += 1
        return kinds[at] == "keyword" and values[at] == "inf"

    def number(self) -> float:
        if self.is_infinity():
            sign = self.take("symbol", "-", "+")
            self.at += 1
            return -math.inf if sign and sign.value == "-" else math.inf
        token = self.need("a number", "number")
        value = float(token.value)
        if math.isinf(value):
            self.fail("Expected a number below 1.8e308; write inf for no bound.", token)
        return value

    def level(self) -> Level:
        token = self.take("word") or self.take("text")
        if token:
            return token.value
        token = self.take("keyword", "true", "false")
        if token:
            return token.value == "true"
        token = self.take("number")
        if token is None:
            if self.token.kind == "keyword":
                self.expected("a value (in double quotes if it is one of the language's words)")
            self.expected("a value")
        if token.value.lstrip("+-").isdigit():
            try:
                return int(token.value)
            except ValueError:
                self.fail("This whole number has too many digits.", token)
        value = float(token.value)
        if math.isinf(value):
            self.fail("Expected a number below 1.8e308.", token)
        return value

    def origin_value(self) -> Level:
        self.need("':'", "symbol", ":")
        if self.take("keyword", "nan"):
            return math.nan
        return self.number() if self.is_infinity() else self.level()

    def braces(
        self, item: Callable[[], T], second: Callable[[], Level] = lambda: 0
    ) -> list[tuple[T, Level]]:
        self.need("'{'", "symbol", "{")
        out: list[tuple[T, Level]] = []
        while not self.take("symbol", "}"):
            if out:
                self.need("',' or '}'", "symbol", ",")
            out.append((item(), second()))
        return out
