"""Rules from what scikit-learn and wittgenstein print.

The numbers are those printed, rounded as they are: to have the model's own rules, extract them
from the model.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rulelens.core.conditions import Condition, Interval
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Level, Schema
from rulelens.errors import FormatError
from rulelens.io.format import FORMATS, Format
from rulelens.language.drafts import Draft, DraftRule, Equal, build
from rulelens.language.place import at_place, error_at, number_at
from rulelens.language.tokens import UNSIGNED

_NUMBER = rf"[+-]?{UNSIGNED}|[+-]?inf"
_FIRST = re.compile(r"\s*\|(-{1,100}) ")
_SPLIT = re.compile(rf"(?P<name>.*\S)\s*(?P<op><=|>)\s*(?P<value>{_NUMBER})")
_CLASS = re.compile(r"(?:weights: \[[^\]]*\] )?class: (?P<label>.*)")
_RANGE = re.compile(rf"({_NUMBER})\s*-\s*({_NUMBER})")
_HALF = re.compile(rf"([<>])({_NUMBER})")


def read_export_text(
    text: str, *, features: Sequence[str] | None = None, schema: Schema | None = None
) -> RuleSet:
    """Rules of a tree as scikit-learn's ``export_text`` prints it.

    ``feature_0`` stands for the first of the features given. The classes are booleans if all
    are ``True`` or ``False``, whole numbers if all are, else text.

    Examples
    --------
    >>> text = '''|--- petal width <= 0.80
    ... |   |--- class: setosa
    ... |--- petal width >  0.80
    ... |   |--- class: other
    ... '''
    >>> print(read_export_text(text))
    0: IF petal width <= 0.8 THEN setosa
    1: IF petal width > 0.8 THEN other
    """
    names = schema.names if schema is not None else None if features is None else tuple(features)
    path: list[tuple[str, Condition | Equal, int]] = []
    rules: list[DraftRule] = []
    start = 0
    first = _FIRST.match(text)
    spacing = len(first[1]) if first else 3
    pattern = re.compile(rf"(?P<bars>(?:\| {{{spacing}}})*)\|{'-' * spacing} (?P<rest>.*)")
    for line in text.splitlines(keepends=True):
        here, start = start, start + len(line)
        if not line.strip():
            continue
        m = pattern.match(line.rstrip())
        if m is None:
            raise error_at(text, here, "Expected a line of export_text, such as '|--- x <= 0.80'.")
        depth = len(m["bars"]) // (spacing + 1)
        at = here + m.start("rest")
        if depth > len(path):
            raise error_at(text, here, "This line is deeper than the line above allows.")
        del path[depth:]
        leaf = _CLASS.fullmatch(m["rest"])
        if leaf:
            rules.append(DraftRule(at, list(path), leaf["label"], {}))
            continue
        split = _SPLIT.fullmatch(m["rest"])
        if split is None:
            raise error_at(
                text,
                at,
                "Expected 'name <= number', 'name > number' or 'class: label'. Print the whole "
                "tree of a classifier, with max_depth large enough.",
            )
        value, below = number_at(text, at, split["value"]), split["op"] == "<="
        interval = Interval(high=value, high_closed=True) if below else Interval(low=value)
        path.append((_name(text, split["name"], names, at), interval, at))
    if not rules:
        raise FormatError("There is no leaf in the text. Expected what export_text prints.")
    labels = _typed([str(r.outcome) for r in rules])
    typed = [DraftRule(r.position, r.conditions, labels[str(r.outcome)], {}) for r in rules]
    return build(Draft(text, rules=typed), names, schema)


def _name(text: str, name: str, names: tuple[str, ...] | None, at: int) -> str:
    m = re.fullmatch(r"feature_([0-9]{1,9})", name)
    if names is None or name in names or m is None:
        return name
    if int(m[1]) >= len(names):
        raise error_at(text, at, f"There is no feature {m[1]}; {len(names)} are given.")
    return names[int(m[1])]


def _typed(labels: list[str]) -> dict[str, Level]:
    distinct = dict.fromkeys(labels)
    if set(distinct) <= {"False", "True"}:
        return {v: v == "True" for v in distinct}
    if all(re.fullmatch(r"-?(?:0|[1-9]\d{0,17})", v) for v in distinct):
        return {v: int(v) for v in distinct}
    return {v: v for v in distinct}


def read_wittgenstein(
    text: str, *, features: Sequence[str] | None = None, schema: Schema | None = None
) -> RuleSet:
    """Rules of RIPPER or IREP as wittgenstein prints its rule set.

    An ordered list: True where a rule fires, else False. wittgenstein leaves out the spaces of
    names and levels: they are found again among the features given and the schema's levels.

    Examples
    --------
    >>> print(read_wittgenstein("[[age=>27.0^colour=red] V [bmi=-1.0--0.5]]"))
    0: IF age > 27 AND colour is red THEN True
    1: IF -1 < bmi <= -0.5 THEN True
    ELSE False
    """
    names = schema.names if schema is not None else None if features is None else tuple(features)
    known = {n.replace(" ", ""): n for n in names or ()}
    body = re.fullmatch(r"\s*(?:<Ruleset )?\[(.*)\]>?\s*", text, re.DOTALL)
    if body is None:
        raise FormatError("Expected a rule set such as '[[a=1.0-2.0^b=x] V [c=>3.0]]'.")
    rules = []
    offset = body.start(1)
    for m in re.finditer(r"\[([^\[\]]*)\]|([^\s\[\]V])", body[1]):
        if m[2]:
            raise error_at(text, offset + m.start(), "Expected '[', a rule and ']', joined by V.")
        conditions: list[tuple[str, Condition | Equal, int]] = []
        if m[1].strip() != "True":
            for part in re.finditer(r"[^^]+", m[1]):
                at = offset + m.start(1) + part.start()
                conditions.append(_cond(text, part[0], at, known, schema))
        rules.append(DraftRule(offset + m.start(), conditions, True, {}))
    draft = Draft(text, rules=rules, outcomes=[False, True], ordered=True, default=False)
    return build(draft, names, schema)


def _cond(
    text: str, part: str, at: int, known: dict[str, str], schema: Schema | None
) -> tuple[str, Condition | Equal, int]:
    name, equals, value = (p.strip() for p in part.partition("="))
    if not equals or not name or not value:
        raise error_at(text, at, "Expected 'name=value'.")
    name = known.get(name.replace(" ", ""), name)
    numeric = schema is None or (name in schema and schema[name].is_numeric)
    both, half = _RANGE.fullmatch(value), _HALF.fullmatch(value)
    if half and numeric:
        number = number_at(text, at, half[2])
        if half[1] == "<":
            return name, Interval(high=number, high_closed=True), at
        return name, Interval(low=number), at
    if both and numeric:
        low, high = number_at(text, at, both[1]), number_at(text, at, both[2])
        return name, at_place(text, at, lambda: Interval(low, high, high_closed=True)), at
    return name, Equal(_value(value, name, schema), False, False, "float64"), at


def _value(text: str, name: str, schema: Schema | None) -> Level:
    if schema is not None and name in schema and not schema[name].is_numeric:
        for level in schema[name].levels:
            if str(level).replace(" ", "") == text.replace(" ", ""):
                return level
    if text in ("True", "False"):
        return text == "True"
    if re.fullmatch(r"-?\d{1,18}", text):
        return int(text)
    return float(text) if re.fullmatch(_NUMBER, text) else text


FORMATS.add("export_text", Format(read_export_text))
FORMATS.add("wittgenstein", Format(read_wittgenstein))
