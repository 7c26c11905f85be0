"""Rules from Prolog theories as PSyKE prints them.

A clause is ``iris(PetalLength, PetalWidth, setosa) :- PetalWidth =< 1.0, PetalLength in [2.3,
4.9].`` The first clause that holds decides, so the rules are an ordered list. PSyKE's ``in [a,
b]`` means ``a < x =< b``; ``not_in`` is its opposite, which may take two rules to say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product

from rulelens.core.conditions import Condition, Interval
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Level, Schema
from rulelens.errors import ContradictionError, FormatError
from rulelens.io.format import FORMATS, Format
from rulelens.language.drafts import Draft, DraftRule, Equal, build
from rulelens.language.place import at_place, error_at, number_at

_TOKEN = re.compile(
    r"""
    (?P<space>\s+ | %[^\n]*)
  | (?P<number>[+-]?\d++(?>(?:\.\d++)?)(?>(?:[eE][+-]?\d++)?)(?![\w]))
  | (?P<variable>[A-Z_]\w*)
  | (?P<atom>[a-z]\w* | '(?:[^'\\\n]|''|\\.)*')
  | (?P<symbol>:- | =< | >= | \\= | =:= | == | [<>=(),.\[\]])
    """,
    re.VERBOSE,
)
_OPERATORS = ("=<", "<", ">", ">=", "=", "==", "=:=", "\\=", "in", "not_in")
_DEEPEST = 50
_MOST = 256
"""A clause may become at most this many rules."""


def read_prolog(
    text: str, *, features: Sequence[str] | None = None, schema: Schema | None = None
) -> RuleSet:
    """Rules of a Prolog theory.

    Parameters
    ----------
    text : str
    features : sequence of str, optional
        Names of the features: matched with the first clause's variables, which are names
        whose first letter is large, or, if they do not match, taken in order.
    schema : Schema, optional

    Raises
    ------
    FormatError
        The message shows the line, with a caret under the place.

    Examples
    --------
    >>> rules = read_prolog("iris(PetalWidth, setosa) :- PetalWidth =< 1.0. iris(W, virginica).")
    >>> print(rules)
    0: IF PetalWidth <= 1 THEN setosa
    1: IF TRUE THEN virginica
    """
    names = schema.names if schema is not None else None if features is None else tuple(features)
    reader = _Reader(text, names, schema)
    draft = Draft(text, rules=reader.theory(), ordered=True)
    return build(draft, reader.names, schema)


class _Reader:
    def __init__(self, text: str, names: tuple[str, ...] | None, schema: Schema | None) -> None:
        self.text, self.schema = text, schema
        self.given = names
        self.names: tuple[str, ...] = names or ()
        self.head: list[str] = []
        self.tokens: list[tuple[str, str, int]] = []
        position = 0
        while position < len(text):
            m = _TOKEN.match(text, position)
            if m is None:
                raise error_at(text, position, f"Unexpected {text[position]!r} in a Prolog theory.")
            if m.lastgroup != "space":
                self.tokens.append((str(m.lastgroup), m[0], position))
            position = m.end()
        self.tokens.append(("end", "", len(text)))
        self.at = 0

    def fail(self, expected: str) -> FormatError:
        _, value, position = self.tokens[self.at]
        return error_at(self.text, position, f"Expected {expected}, found {value or 'the end'!r}.")

    def take(self, *values: str) -> bool:
        if self.tokens[self.at][1] in values:
            self.at += 1
            return True
        return False

    def need(self, value: str) -> None:
        if not self.take(value):
            raise self.fail(f"'{value}'")

    def next(self, *kinds: str) -> tuple[str, str, int]:
        token = self.tokens[self.at]
        if token[0] not in kinds:
            raise self.fail(" or ".join(f"a {k}" for k in kinds))
        self.at += 1
        return token

    def theory(self) -> list[DraftRule]:
        out: list[DraftRule] = []
        while self.tokens[self.at][0] != "end":
            out += self.clause()
        if not out:
            raise FormatError("There is no clause in the text. Expected 'target(A, B, yes) :- …'.")
        return out

    def clause(self) -> list[DraftRule]:
        start = self.tokens[self.at][2]
        self.next("atom")
        self.need("(")
        arguments = [self.next("variable", "atom", "number")]
        while self.take(","):
            arguments.append(self.next("variable", "atom", "number"))
        self.need(")")
        *variables, output = arguments
        if output[0] == "variable":
            raise error_at(
                self.text, output[2], "The last argument is the class: a word or a number."
            )
        place = {v[1]: i for i, v in enumerate(variables) if v[0] == "variable"}
        if len(place) != len(variables):
            raise error_at(self.text, start, "The arguments before the class must be variables.")
        if not self.head:
            self.head = self._named(list(place), start)
        if len(place) != len(self.head):
            raise error_at(
                self.text, start, f"Expected {len(self.head)} variables, as in the first clause."
            )
        goals: list[tuple[str, list[Condition | Equal], int]] = []
        if self.take(":-"):
            self.goals(goals, place)
        if not self.take(".") and self.tokens[self.at][0] != "end":
            raise self.fail("',' or '.'")
        return self._rules(start, goals, self._level(output, None))

    def _named(self, variables: list[str], start: int) -> list[str]:
        """Feature of each variable of the first clause."""
        if self.given is None:
            self.names = tuple(variables)
            return variables
        as_variable = {n[:1].upper() + n[1:]: n for n in self.given}
        if set(variables) == set(as_variable) and len(as_variable) == len(self.given):
            return [as_variable[v] for v in variables]
        if len(variables) != len(self.given):
            raise error_at(
                self.text,
                start,
                f"The clause has {len(variables)} variables, but {len(self.given)} features are "
                "given.",
            )
        return list(self.given)

    def goals(
        self,
        out: list[tuple[str, list[Condition | Equal], int]],
        place: dict[str, int],
        depth: int = 0,
    ) -> None:
        while True:
            if depth < _DEEPEST and self.take("("):
                self.goals(out, place, depth + 1)
                self.need(")")
            elif not self.take("true"):
                out.append(self.goal(place))
            if not self.take(","):
                return

    def goal(self, place: dict[str, int]) -> tuple[str, list[Condition | Equal], int]:
        """Feature, and conditions of which one must hold."""
        start = self.tokens[self.at][2]
        before = self.tokens[self.at][1].strip("'")
        prefix = before in _OPERATORS
        if prefix:  # '=<'(X, 5)
            self.at += 1
            self.need("(")
        _, variable, position = self.next("variable")
        if variable not in place:
            raise error_at(self.text, position, f"The head has no variable {variable}.")
        name = self.head[place[variable]]
        if prefix:
            operator = before
            self.need(",")
        else:
            operator = self.tokens[self.at][1].strip("'")
            if operator not in _OPERATORS:
                raise self.fail(f"one of {', '.join(_OPERATORS)}")
            self.at += 1
        if operator in ("in", "not_in"):
            self.need("[")
            low = self.number()
            self.need(",")
            high = self.number()
            self.need("]")
            inside = at_place(self.text, start, lambda: Interval(low, high, high_closed=True))
            found: list[Condition | Equal] = [inside]
            if operator == "not_in":
                found = [Interval(high=low, high_closed=True), Interval(low=high)]
        elif operator in ("=", "==", "=:=", "\\="):
            value = self._level(self.next("atom", "number"), name)
            found = [Equal(value, operator == "\\=", False, "float64")]
        else:
            number = self.number()
            found = [
                Interval(high=number, high_closed=operator == "=<")
                if operator in ("<", "=<")
                else Interval(low=number, low_closed=operator == ">=")
            ]
        if prefix:
            self.need(")")
        return name, found, start

    def number(self) -> float:
        _, value, position = self.next("number")
        return number_at(self.text, position, value)

    def _level(self, token: tuple[str, str, int], name: str | None) -> Level:
        kind, value, position = token
        numeric = name is not None and self.schema is not None and self.schema[name].is_numeric
        if kind == "atom" and value.startswith("'"):
            value = re.sub(r"''|\\(.)", lambda m: m[1] or "'", value[1:-1])
        if kind == "number" or numeric:
            try:
                if re.fullmatch(r"[+-]?\d+", value):
                    return int(value)
                float(value)
            except ValueError:
                raise error_at(
                    self.text, position, f"Expected a number, found {value!r}."
                ) from None
            return number_at(self.text, position, value)
        return value

    def _rules(
        self, start: int, goals: list[tuple[str, list[Condition | Equal], int]], outcome: Level
    ) -> list[DraftRule]:
        """One rule, or one for each way to meet the goals that have two sides."""
        out: list[DraftRule] = []
        possible = 1
        for _, conditions, _ in goals:
            possible *= len(conditions)
        if possible > _MOST:
            raise error_at(self.text, start, f"The clause would become more than {_MOST} rules.")
        for choice in product(*(conditions for _, conditions, _ in goals)):
            pairs = [(name, c, at) for (name, _, at), c in zip(goals, choice, strict=True)]
            plain = [(n, c) for n, c, _ in pairs if not isinstance(c, Equal)]
            try:
                Rule(plain, 0).simplify()
            except ContradictionError:
                if possible > 1:
                    continue
            out.append(DraftRule(start, pairs, outcome, {}))
        return out


FORMATS.add("prolog", Format(read_prolog, None, (".pl",)))
