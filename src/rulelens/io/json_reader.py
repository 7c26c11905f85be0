"""Rules from versioned JSON, checked place by place."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from rulelens.core.condition_table import ConditionTable, check_condition
from rulelens.core.conditions import Condition, Interval, Membership, Missing
from rulelens.core.ruleset import Column, RuleSet
from rulelens.core.schema import Feature, Level, Schema, level_key
from rulelens.errors import FormatError, RuleError, RulelensError, SchemaError, did_you_mean
from rulelens.files import parse_json
from rulelens.language.agreement import check_agreement

NAME, VERSION = "rulelens-rules", 1
_TOP = ("format", "version", "schema", "outcomes", "ordered", "default", "rules", "provenance")


def read_json(
    text: str, *, features: Sequence[str] | None = None, schema: Schema | None = None
) -> RuleSet:
    """Rules of a JSON text.

    Parameters
    ----------
    text : str
    features, schema : optional
        If given, what the text must agree with.

    Raises
    ------
    FormatError
        Not strict JSON (the message gives line and column), or not of this format (it names
        the place, such as ``rules[3].if.age.high``).
    """
    top = _object(parse_json(text), "", required=("format", "version"))
    if top["format"] != NAME:
        _fail("format", f'"{NAME}"', top["format"])
    if type(top["version"]) is not int or top["version"] != VERSION:
        raise FormatError(
            f"version: found {_found(top['version'])}, but this release reads version {VERSION}. "
            "Write the file again with this release, or read it with a newer one."
        )
    top = _object(top, "", required=_TOP, optional=())
    found = _read_schema(_list(top["schema"], "schema"))
    check_agreement(found, features, schema)
    outcomes = [
        _level(v, f"outcomes[{i}]") for i, v in enumerate(_list(top["outcomes"], "outcomes"))
    ]
    codes = {level_key(v): i for i, v in enumerate(outcomes)}
    if type(top["ordered"]) is not bool:
        _fail("ordered", "true or false", top["ordered"])
    default = None if top["default"] is None else _level(top["default"], "default")
    table, offsets, indices, outcome = _read_rules(_list(top["rules"], "rules"), found, codes)
    columns = _object(top["provenance"], "provenance")
    provenance = {
        name: _column(values, len(outcome), _at("provenance", name))
        for name, values in columns.items()
    }
    try:
        return RuleSet.from_arrays(
            found,
            table,
            offsets,
            indices,
            outcome,
            outcomes=outcomes,
            ordered=top["ordered"],
            default=default,
            provenance=provenance,
        )
    except RuleError as e:
        raise FormatError(str(e)) from None


def _read_schema(items: list[Any]) -> Schema:
    features = []
    for i, item in enumerate(items):
        place = f"schema[{i}]"
        item = _object(item, place, required=("name", "kind"), optional=("levels", "unit"))
        levels = [
            _level(v, f"{place}.levels[{j}]")
            for j, v in enumerate(_list(item.get("levels", []), f"{place}.levels"))
        ]
        unit = item.get("unit")
        if unit is not None and not isinstance(unit, str):
            _fail(f"{place}.unit", "text or null", unit)
        try:
            features.append(Feature(item["name"], item["kind"], tuple(levels), unit))
        except SchemaError as e:
            raise FormatError(f"{place}: {e}") from None
    try:
        return Schema(features)
    except SchemaError as e:
        raise FormatError(f"schema: {e}") from None


def _read_rules(
    items: list[Any], schema: Schema, codes: dict[tuple[str, Level], int]
) -> tuple[ConditionTable, list[int], list[int], list[int]]:
    pool: list[tuple[int, Condition]] = []
    known: dict[tuple[str, str], int] = {}
    offsets, indices, outcome = [0], [], []
    for k, item in enumerate(items):
        # Each distinct condition is checked once: a forest repeats them many times.
        if type(item) is not dict or item.keys() != {"if", "then"}:
            _object(item, f"rules[{k}]", required=("if", "then"), optional=())
        if type(item["if"]) is not dict:
            _object(item["if"], f"rules[{k}].if")
        for name, body in item["if"].items():
            key = (name, repr(body))
            position = known.get(key)
            if position is None:
                place = _at(f"rules[{k}].if", name)
                if name not in schema:
                    raise FormatError(
                        f"{place}: unknown feature. {did_you_mean(name, schema.names)}"
                    )
                pair = (schema.index(name), _read_condition(body, place))
                try:
                    check_condition(schema[pair[0]], pair[1])
                except RulelensError as e:
                    raise FormatError(f"{place}: {e}") from None
                position = known[key] = len(pool)
                pool.append(pair)
            indices.append(position)
        offsets.append(len(indices))
        label = _level(item["then"], f"rules[{k}].then")
        code = codes.get(level_key(label))
        if code is None:
            raise FormatError(
                f"rules[{k}].then: unknown outcome {_found(label)}. "
                f"{did_you_mean(label, [v for _, v in codes])}"
            )
        outcome.append(code)
    return ConditionTable.from_conditions(pool, schema), offsets, indices, outcome


def _read_condition(body: Any, place: str) -> Condition:
    keys = set(_object(body, place))
    or_missing = _flag(body, "or_missing", place)
    try:
        if "missing" in keys:
            _object(body, place, required=("missing",), optional=())
            if body["missing"] is not True:
                _fail(f"{place}.missing", "true", body["missing"])
            return Missing()
        for key in ("in", "not_in"):
            if key in keys:
                _object(body, place, required=(key,), optional=("or_missing",))
                items = _list(body[key], f"{place}.{key}")
                levels = [_level(v, f"{place}.{key}[{i}]") for i, v in enumerate(items)]
                return Membership(levels, key == "not_in", or_missing)
        _object(
            body,
            place,
            required=("low", "high"),
            optional=("low_closed", "high_closed", "or_missing", "precision"),
        )
        precision = body.get("precision", "float64")
        if precision not in ("float64", "float32"):
            _fail(f"{place}.precision", '"float64" or "float32"', precision)
        return Interval(
            _end(body["low"], -math.inf, f"{place}.low"),
            _end(body["high"], math.inf, f"{place}.high"),
            _flag(body, "low_closed", place),
            _flag(body, "high_closed", place),
            or_missing,
            precision,
        )
    except RuleError as e:
        raise FormatError(f"{place}: {e}") from None


def _column(values: Any, n: int, place: str) -> Column:
    plain = [_origin(v, f"{place}[{i}]") for i, v in enumerate(_list(values, place))]
    if len(plain) != n:
        raise FormatError(f"{place}: found {len(plain)} values, expected {n}, one for each rule.")
    for kind, dtype in ((bool, np.bool_), (float, np.float64), (int, np.int64)):
        if plain and all(type(v) is kind for v in plain):
            try:
                return np.array(plain, dtype=dtype)
            except OverflowError:  # a whole number beyond 64 bits stays what it is
                break
    column = np.empty(n, dtype=object)
    column[:] = plain
    return column


# ---------------------------------------------------------------------- values and places
def _at(place: str, key: str) -> str:
    if key.isidentifier():
        return f"{place}.{key}" if place else key
    return f"{place}[{json.dumps(key, ensure_ascii=False)}]"


def _found(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    shown = "null" if value is None else json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 60 else shown[:57] + "…"


def _fail(place: str, expected: str, value: Any) -> NoReturn:
    raise FormatError(f"{place}: expected {expected}, found {_found(value)}.")


def _object(
    value: Any,
    place: str,
    *,
    required: tuple[str, ...] = (),
    optional: tuple[str, ...] | None = None,
) -> dict[str, Any]:
    """`value`, an object that has the required keys and, if `optional` is given, no others."""
    if not isinstance(value, dict):
        _fail(place or "The file", "an object", value)
    for key in required:
        if key not in value:
            raise FormatError(f"{_at(place, key)}: is missing. Add it.")
    allowed = (*required, *(optional or ()))
    for key in value if optional is not None else ():
        if key not in allowed:
            raise FormatError(f"{_at(place, key)}: is not expected. {did_you_mean(key, allowed)}")
    return value


def _list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        _fail(place, "a list", value)
    return value


def _level(value: Any, place: str) -> Level:
    if isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    _fail(place, "text, a finite number, true or false", value)


def _flag(body: dict[str, Any], key: str, place: str) -> bool:
    value = body.get(key, False)
    if type(value) is not bool:
        _fail(f"{place}.{key}", "true or false", value)
    return value


def _end(value: Any, unbounded: float, place: str) -> float:
    if value is None:
        return unbounded
    if type(value) in (int, float):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    _fail(place, "a finite number or null", value)


def _origin(value: Any, place: str) -> Level | None:
    if isinstance(value, dict):
        body = _object(value, place, required=("number",), optional=())
        if body["number"] not in ("nan", "inf", "-inf"):
            _fail(f"{place}.number", '"nan", "inf" or "-inf"', body["number"])
        return float(body["number"])
    return None if value is None else _level(value, place)
