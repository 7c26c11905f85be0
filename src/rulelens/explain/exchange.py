"""Explanations as JSON: written whole, read again with every field checked."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from rulelens.core.contingency import Contingency
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Level, level_key
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
    if body.get("version") is True or body.get("version") != VERSION:
        raise FormatError(
            f"version: this Rulelens reads version {VERSION}, found {body.get('version')!r}."
        )
    prediction = _level(body.get("prediction"), "prediction")
    stop = body.get("stop")
    if stop not in _STOPS:
        raise FormatError(f"stop: expected one of {', '.join(_STOPS)}, found {stop!r}.")
    length = _count(body.get("length"), "length")
    classes = _classes(body)
    rules, counts = _rules(body, "rules", prediction, classes)
    relaxed, relaxed_counts = _rules(body, "relaxed", prediction, classes)
    reason = _text(body.get("reason"), "reason")
    if bool(reason) == bool(len(rules)):
        raise FormatError("reason: there must be one exactly where there are no rules.")
    groups = _groups(body, len(rules))
    row = {
        name: None if value is None else _level(value, f"row.{name}")
        for name, value in _object(body.get("row"), "row").items()
    }
    lacking = [name for name in rules.schema.names if name not in row]
    if lacking:
        raise FormatError(f"row: expected a value for every feature, none for {lacking[0]!r}.")
    options = _options(body)
    return Explanation(
        row=row,
        prediction=prediction,
        rules=rules,
        counts=counts,
        length=length,
        stop=stop,
        reason=reason,
        relaxed=relaxed,
        relaxed_counts=relaxed_counts,
        groups=groups,
        classes=classes,
        options=options,
        notes=tuple(_text(n, "notes") for n in _list(body.get("notes"), "notes")),
    )


def _classes(body: dict[str, Any]) -> dict[Level, int]:
    classes: dict[Level, int] = {}
    for i, pair in enumerate(_list(body.get("classes"), "classes")):
        place = f"classes[{i}]"
        if not isinstance(pair, list) or len(pair) != 2:
            raise FormatError(f"{place}: expected a label and a count, found {pair!r}.")
        label = _level(pair[0], place)
        if label in classes:
            raise FormatError(f"{place}: the class {label!r} is there already.")
        classes[label] = _count(pair[1], place)
    if sum(classes.values()) < 2:
        raise FormatError("classes: expected at least 2 training rows in all.")
    return classes


def _groups(body: dict[str, Any], n: int) -> tuple[tuple[int, ...], ...]:
    groups: list[tuple[int, ...]] = []
    seen: set[int] = set()
    for i, group in enumerate(_list(body.get("groups"), "groups")):
        ids = [_count(k, f"groups[{i}]") for k in _list(group, f"groups[{i}]")]
        if len(set(ids)) < 2 or len(set(ids)) != len(ids) or max(ids) >= n or seen & set(ids):
            raise FormatError(
                f"groups[{i}]: expected two or more different rule ids below {n}, each in one "
                f"group only, found {ids!r}."
            )
        seen |= set(ids)
        groups.append(tuple(ids))
    return tuple(groups)


def _options(body: dict[str, Any]) -> dict[str, Any]:
    from rulelens.explain.explainer import RuleExplainer, check_options

    options = _object(body.get("options"), "options")
    names = {
        "n_bins", "max_length", "min_support", "min_confidence", "min_confirmation", "minimal",
        "time_budget",
    }  # fmt: skip
    if set(options) != names:
        wrong = sorted(set(options) ^ names)
        raise FormatError(f"options: expected {', '.join(sorted(names))}; see {wrong[0]!r}.")
    try:
        check_options(RuleExplainer(None, **options))
    except (RulelensError, TypeError) as e:
        raise FormatError(f"options: {e}") from None
    return options


def _rules(
    body: dict[str, Any], key: str, prediction: Level, classes: dict[Level, int]
) -> tuple[RuleSet, Contingency]:
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
    columns = [[_count(r.get(c), f"{key}[{i}].{c}") for i, r in enumerate(items)] for c in _COUNTS]
    try:
        rules = parse_rules(json.dumps(document), format="json")
        counts = Contingency(*(np.array(c, dtype=np.int64) for c in columns))
    except RulelensError as e:
        raise FormatError(f"{key}: {e}") from None
    pos = classes.get(prediction, 0)
    neg = sum(classes.values()) - pos
    for i, rule in enumerate(rules):
        if level_key(rule.outcome) != level_key(prediction):
            raise FormatError(
                f"{key}[{i}].then: a rule speaks for {rule.outcome!r}, but the prediction is "
                f"{prediction!r}."
            )
        if counts.tp[i] + counts.fn[i] != pos or counts.fp[i] + counts.tn[i] != neg:
            raise FormatError(
                f"{key}[{i}]: its counts do not add up to the classes' {pos} and {neg} rows."
            )
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
    finite = not isinstance(value, float) or math.isfinite(value)
    if not isinstance(value, str | int | float | bool) or not finite:
        raise FormatError(f"{place}: expected text, a number or a boolean, found {value!r}.")
    return value


def _count(value: object, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise FormatError(f"{place}: expected a count, found {value!r}.")
    return value
