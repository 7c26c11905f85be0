"""Explanations as JSON: written whole, read again with every field checked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from rulelens.core.contingency import Contingency
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Level
from rulelens.errors import FormatError, RulelensError
from rulelens.io.formats import format_rules, parse_rules

if TYPE_CHECKING:
    from rulelens.explain.explanation import Explanation

FORMAT, VERSION = "rulelens.explanation", 1
_COUNTS = ("tp", "fp", "fn", "tn")
_STOPS = ("enough", "exhausted", "length", "time", "size", "impossible")


def rules_to_list(
    rules: RuleSet, counts: Contingency, measures: tuple[str, ...]
) -> list[dict[str, Any]]:
    """One dict a rule: id, text, conditions, outcome, counts and measures (None: undefined)."""
    document = json.loads(format_rules(rules, format="json"))["rules"]
    columns = {m: counts.measure(m) for m in measures}
    return [
        {
            "id": k,
            "text": rule.antecedent(),
            **document[k],
            "length": len(rule),
            **{c: int(getattr(counts, c)[k]) for c in _COUNTS},
            **{m: None if np.isnan(v[k]) else float(v[k]) for m, v in columns.items()},
        }
        for k, rule in enumerate(rules)
    ]


def explanation_from_dict(record: object) -> Explanation:
    """The explanation that `Explanation.to_dict` gave; without its training rows.

    Raises
    ------
    FormatError
        Not such a record, another version, or a field that does not fit; its place is named.
    """
    from rulelens.explain.explanation import Explanation

    body = _object(record, "the record")
    if body.get("format") != FORMAT:
        raise FormatError(f"format: expected '{FORMAT}', found {body.get('format')!r}.")
    if body.get("version") != VERSION:
        raise FormatError(
            f"version: this Rulelens reads version {VERSION}, found {body.get('version')!r}."
        )
    rules, counts = _rules(body, "rules")
    relaxed, relaxed_counts = _rules(body, "relaxed")
    prediction = _level(body.get("prediction"), "prediction")
    stop = body.get("stop")
    if stop not in _STOPS:
        raise FormatError(f"stop: expected one of {', '.join(_STOPS)}, found {stop!r}.")
    length = body.get("length")
    if isinstance(length, bool) or not isinstance(length, int) or length < 0:
        raise FormatError(f"length: expected a whole number from 0, found {length!r}.")
    classes: dict[Level, int] = {}
    for i, pair in enumerate(_list(body.get("classes"), "classes")):
        place = f"classes[{i}]"
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[1], int):
            raise FormatError(f"{place}: expected a label and a count, found {pair!r}.")
        classes[_level(pair[0], place)] = pair[1]
    groups = []
    for i, group in enumerate(_list(body.get("groups"), "groups")):
        ids = _list(group, f"groups[{i}]")
        if not all(isinstance(k, int) and 0 <= k < len(rules) for k in ids):
            raise FormatError(f"groups[{i}]: expected rule ids below {len(rules)}, found {ids!r}.")
        groups.append(tuple(ids))
    row = {
        name: None if value is None else _level(value, f"row.{name}")
        for name, value in _object(body.get("row"), "row").items()
    }
    return Explanation(
        row=row,
        prediction=prediction,
        rules=rules,
        counts=counts,
        length=length,
        stop=stop,
        reason=_text(body.get("reason"), "reason"),
        relaxed=relaxed,
        relaxed_counts=relaxed_counts,
        groups=tuple(groups),
        classes=classes,
        options=_object(body.get("options"), "options"),
        notes=tuple(_text(n, "notes") for n in _list(body.get("notes"), "notes")),
    )


def _rules(body: dict[str, Any], key: str) -> tuple[RuleSet, Contingency]:
    items = [_object(r, f"{key}[{i}]") for i, r in enumerate(_list(body.get(key), key))]
    document: dict[str, Any] = {
        "format": "rulelens-rules",
        "version": 1,
        "schema": body.get("schema"),
        "outcomes": body.get("outcomes"),
        "ordered": False,
        "default": None,
        "rules": [{k: r[k] for k in ("if", "then") if k in r} for r in items],
        "provenance": {},
    }
    try:
        rules = parse_rules(json.dumps(document), format="json")
        columns = [
            [_count(r.get(c), f"{key}[{i}].{c}") for i, r in enumerate(items)] for c in _COUNTS
        ]
        counts = Contingency(*(np.array(c, dtype=np.int64) for c in columns))
    except RulelensError as e:
        raise FormatError(f"{key}: {e}") from None
    return rules, counts


def _object(value: object, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise FormatError(f"{place}: expected an object, found {type(value).__name__}.")
    return value


def _list(value: object, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise FormatError(f"{place}: expected a list, found {type(value).__name__}.")
    return value


def _text(value: object, place: str) -> str:
    if not isinstance(value, str):
        raise FormatError(f"{place}: expected text, found {value!r}.")
    return value


def _level(value: object, place: str) -> Level:
    if not isinstance(value, str | int | float | bool):
        raise FormatError(f"{place}: expected text, a number or a boolean, found {value!r}.")
    return value


def _count(value: object, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise FormatError(f"{place}: expected a count, found {value!r}.")
    return value
