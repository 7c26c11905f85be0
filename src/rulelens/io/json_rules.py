"""Rules as versioned JSON: exact, strict, one rule a line.

The format is described in ``docs/formats.md``. Every number is written so that it reads back
as the same number, and types are kept: ``1``, ``1.0``, ``true`` and ``"1"`` are four labels.
"""

from __future__ import annotations

import json
import math

from rulelens.core.conditions import Condition, Interval, Membership
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature
from rulelens.errors import FormatError
from rulelens.io.format import FORMATS, Format
from rulelens.io.json_reader import NAME, VERSION, read_json


def write_json(rules: RuleSet) -> str:
    """A rule set as JSON text.

    Examples
    --------
    >>> from rulelens.core.rule import Rule
    >>> from rulelens.core.schema import Schema
    >>> rule = Rule({"age": Interval(low=50)}, "ill")
    >>> rules = RuleSet.from_rules([rule], Schema.numeric(["age"]))
    >>> print(write_json(rules))
    {
    "format": "rulelens-rules",
    "version": 1,
    "schema": [
    {"name": "age", "kind": "numeric"}
    ],
    "outcomes": ["ill"],
    "ordered": false,
    "default": null,
    "rules": [
    {"if": {"age": {"low": 50.0, "low_closed": false, "high": null}}, "then": "ill"}
    ],
    "provenance": {}
    }
    """
    schema, table = rules.schema, rules.conditions
    names = [_text(f.name) for f in schema]
    conditions = [
        f"{names[f]}: {_text(condition_to_json(table.condition(i, schema)))}"
        for i, f in enumerate(table.feature.tolist())
    ]
    outcomes = [_text(v) for v in rules.outcomes]
    ends, flat, outcome = rules.offsets.tolist(), rules.indices.tolist(), rules.outcome.tolist()
    lines = [
        f'{{"if": {{{", ".join([conditions[i] for i in flat[a:b]])}}}, "then": {outcomes[c]}}}'
        for a, b, c in zip(ends, ends[1:], outcome, strict=False)
    ]
    columns = [
        f"{_text(name)}: [{', '.join(_origin_text(v, name) for v in column.tolist())}]"
        for name, column in rules.provenance.items()
    ]
    default = "null" if rules.default is None else _text(rules.default)
    return (
        f'{{\n"format": "{NAME}",\n"version": {VERSION},\n'
        f'"schema": {_lines([_feature_text(f) for f in schema], "[]")},\n'
        f'"outcomes": [{", ".join(outcomes)}],\n'
        f'"ordered": {"true" if rules.ordered else "false"},\n'
        f'"default": {default},\n'
        f'"rules": {_lines(lines, "[]")},\n'
        f'"provenance": {_lines(columns, "{}")}\n}}\n'
    )


def condition_to_json(condition: Condition) -> dict[str, object]:
    """One condition as the plain values that stand in the JSON.

    Examples
    --------
    >>> condition_to_json(Interval(2, 5, high_closed=True))
    {'low': 2.0, 'low_closed': False, 'high': 5.0, 'high_closed': True}
    >>> condition_to_json(Membership(["a"], negated=True, or_missing=True))
    {'not_in': ['a'], 'or_missing': True}
    """
    out: dict[str, object] = {}
    if isinstance(condition, Interval):
        for name, end, closed in (
            ("low", condition.low, condition.low_closed),
            ("high", condition.high, condition.high_closed),
        ):
            out[name] = None if math.isinf(end) else end
            if not math.isinf(end):
                out[f"{name}_closed"] = closed
    elif isinstance(condition, Membership):
        out["not_in" if condition.negated else "in"] = list(condition.levels)
    else:
        return {"missing": True}
    if condition.or_missing:
        out["or_missing"] = True
    if isinstance(condition, Interval) and condition.precision != "float64":
        out["precision"] = condition.precision
    return out


def _lines(items: list[str], brackets: str) -> str:
    if not items:
        return brackets
    return brackets[0] + "\n" + ",\n".join(items) + "\n" + brackets[1]


def _text(value: object) -> str:
    out = json.dumps(value, ensure_ascii=False, allow_nan=False)
    try:
        out.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return json.dumps(value)
    return out


def _origin_text(value: object, name: str) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f'{{"number": "{value}"}}'
    if value is None or isinstance(value, str | bool | int | float):
        return "null" if value is None else _text(value)
    raise FormatError(
        f"Provenance '{name}' holds a {type(value).__name__}, which JSON cannot carry. "
        "Use text, numbers, booleans or None."
    )


def _feature_text(feature: Feature) -> str:
    out = f'{{"name": {_text(feature.name)}, "kind": "{feature.kind}"'
    if feature.kind == "categorical":
        out += f', "levels": [{", ".join(_text(v) for v in feature.levels)}]'
    if feature.unit is not None:
        out += f', "unit": {_text(feature.unit)}'
    return out + "}"


FORMATS.add("json", Format(read_json, write_json, (".json",)))
