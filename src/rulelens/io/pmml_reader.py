"""Rules from PMML documents with a RuleSetModel."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rulelens.core.conditions import Condition, Interval, Membership, Missing, intersect
from rulelens.core.provenance import SCORE_CLASS, VALUE
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Level, Schema
from rulelens.errors import FormatError, RulelensError
from rulelens.language.agreement import check_agreement

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_COMPARISONS: dict[str, Callable[[float], Interval]] = {
    "lessThan": lambda v: Interval(high=v),
    "lessOrEqual": lambda v: Interval(high=v, high_closed=True),
    "greaterThan": lambda v: Interval(low=v),
    "greaterOrEqual": lambda v: Interval(low=v, low_closed=True),
    "equal": lambda v: Interval(v, v, True, True),
}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_PREDICATES = ("SimplePredicate", "SimpleSetPredicate", "CompoundPredicate", "True", "False")
_ITEM = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|(\S+))')
_DEEPEST = 100
_Known: TypeAlias = dict[tuple[str | None, ...], tuple[str, Condition]]
"""Simple predicates that were read before: forests repeat them."""


def read_pmml(
    text: str, *, features: Sequence[str] | None = None, schema: Schema | None = None
) -> RuleSet:
    """Rules of a PMML document with one RuleSetModel.

    Rules of ``firstHit`` are an ordered list, and so are those of ``weightedMax``, the largest
    weight first. Weights of ``weightedSum`` that differ become provenance ``value`` and
    ``score class``, whose sums predict; rules at the start that only name the classes, with the
    weight 0, are left out.

    Parameters
    ----------
    text : str
    features, schema : optional
        If given, what the document's fields must agree with.

    Raises
    ------
    FormatError
        Not XML, no rule set, or a predicate that is no conjunction of conditions on one field
        each (``or`` is read only with ``isMissing``), or a default score beside weights that
        are added up. The message names the element.
    """
    root = _parse(text)
    model = _one(root, "RuleSetModel")
    fields = {e.get("name", ""): e for e in _all(_one(root, "DataDictionary"), "DataField")}
    mining = _all(_one(model, "MiningSchema"), "MiningField")
    used = {e.get("name", ""): e.get("usageType", "active") for e in mining}
    for name in used:
        if name not in fields:
            raise FormatError(f"The DataDictionary has no field {name!r}, which the model uses.")
    targets = [name for name, use in used.items() if use in ("target", "predicted")]
    try:
        found = Schema(_feature(fields[n]) for n, use in used.items() if use == "active")
    except RulelensError as e:
        raise FormatError(str(e)) from None
    check_agreement(found, features, schema)
    label: Callable[[str], Level] = _reader(fields[targets[0]]) if targets else str
    rule_set = _one(model, "RuleSet")
    criteria = [e.get("criterion") for e in _all(rule_set, "RuleSelectionMethod")]
    criterion = criteria[0] if criteria else None
    ordered = criterion in ("firstHit", "weightedMax")
    default = rule_set.get("defaultScore")
    values = _all(fields[targets[0]], "Value") if targets else []
    classes = [label(e.get("value", "")) for e in values]
    rules = []
    weights = []
    known: _Known = {}
    for place, element, predicates in _rules(rule_set, "RuleSet", ()):
        pairs = [pair for p in predicates for pair in _conditions(p, found, place, known)]
        try:
            rules.append(Rule(pairs, label(element.attrib["score"])).simplify())
        except RulelensError as e:
            raise FormatError(f"{place}: {e}") from None
        weights.append(1.0 if criterion == "firstHit" else _weight(element, place))
    if criterion == "weightedMax":
        order = sorted(range(len(rules)), key=lambda k: -weights[k])
        rules = [rules[k] for k in order]
    summed = criterion == "weightedSum" and (len(set(weights)) > 1 or min(weights, default=1) <= 0)
    if summed:
        if default is not None:
            raise FormatError(
                "RuleSet: a defaultScore where no rule fires and weights that are added up cannot "
                "be kept together. Remove the defaultScore, or use firstHit."
            )
        start = _start(rules, weights, classes)
        rules, weights = rules[start:], weights[start:]
    try:
        made = RuleSet.from_rules(
            rules,
            found,
            outcomes=classes or None,
            ordered=ordered,
            default=None if default is None or not ordered else label(default),
        )
    except RulelensError as e:
        raise FormatError(f"RuleSet: {e}") from None
    if not summed:
        return made
    return RuleSet.from_arrays(
        made.schema,
        made.conditions,
        made.offsets,
        made.indices,
        made.outcome,
        outcomes=made.outcomes,
        provenance={
            VALUE: np.array(weights, np.float64),
            SCORE_CLASS: made.outcome.astype(np.int64),
        },
    )


def _start(rules: list[Rule], weights: list[float], classes: list[Level]) -> int:
    """How many rules at the start only name the classes: one each, always, with the weight 0."""
    n = len(classes)
    empty = not any(weights[:n]) and not any(r.conditions for r in rules[:n])
    return n if empty and [r.outcome for r in rules[:n]] == classes else 0


def _weight(rule: Element, place: str) -> float:
    text = rule.get("weight", "1")
    try:
        weight = _number(text)
    except ValueError as e:
        raise FormatError(f"{place}: the weight {text!r} cannot be used: {e}.") from None
    if not math.isfinite(weight):
        raise FormatError(f"{place}: the weight {text!r} is no finite number.")
    return weight


def _parse(text: str) -> Element:
    import xml.etree.ElementTree as ElementTree

    # Without a document type there are no entities that could blow up or reach out.
    if re.search(r"<!\s*(?:DOCTYPE|ENTITY)", text, re.IGNORECASE):
        raise FormatError("A document type or entity declaration is not allowed. Remove it.")
    try:
        return ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as e:
        raise FormatError(f"The text is not XML: {e}. Expected a PMML document.") from None


def _tag(element: Element) -> str:
    return _local(element.tag)


@lru_cache(maxsize=256)
def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _all(parent: Element, name: str) -> list[Element]:
    return [e for e in parent if _tag(e) == name]


def _one(parent: Element, name: str) -> Element:
    found = _all(parent, name)
    if len(found) != 1:
        raise FormatError(f"{_tag(parent)}: expected one {name}, found {len(found)}.")
    return found[0]


def _feature(field: Element) -> Feature:
    name = field.get("name", "")
    if field.get("optype") == "continuous":
        return Feature(name)
    if field.get("dataType") == "boolean":
        return Feature(name, "boolean")
    read = _reader(field)
    return Feature(
        name, "categorical", tuple(read(e.get("value", "")) for e in _all(field, "Value"))
    )


def _number(text: str) -> float:
    """A number of XML: not Python's own ``1_000``, and none that is too large."""
    value = float(text)
    if "_" in text or (math.isinf(value) and "inf" not in text.lower()):
        raise ValueError("no number below 1.8e308")
    return value


def _reader(field: Element) -> Callable[[str], Level]:
    """How a field's values are read from text."""
    kind, name = field.get("dataType", "string"), field.get("name", "")

    def read(text: str) -> Level:
        try:
            if kind == "integer":
                return int(text.replace("_", "?"))
            if kind in ("double", "float"):
                return _number(text)
            return _BOOLEANS[text] if kind == "boolean" else text
        except (ValueError, KeyError):
            raise FormatError(f"Field {name!r}: the value {text!r} is no {kind}.") from None

    return read


def _rules(
    parent: Element, place: str, above: tuple[Element, ...]
) -> Iterator[tuple[str, Element, tuple[Element, ...]]]:
    """Place, element and predicates of each simple rule; those of compound rules are joined."""
    if len(above) > _DEEPEST:
        raise FormatError(f"{place}: rules are nested more than {_DEEPEST} deep.")
    number = 0
    for e in parent:
        if _tag(e) not in ("SimpleRule", "CompoundRule"):
            continue
        here = f"{place}/{_tag(e)}[{number}]"
        number += 1
        predicates = [p for p in e if _tag(p) in _PREDICATES]
        if len(predicates) != 1:
            raise FormatError(f"{here}: expected one predicate, found {len(predicates)}.")
        if _tag(e) == "CompoundRule":
            yield from _rules(e, here, (*above, predicates[0]))
        elif "score" not in e.attrib:
            raise FormatError(f"{here}: has no score. Add it.")
        else:
            yield here, e, (*above, predicates[0])


def _conditions(
    predicate: Element, schema: Schema, place: str, known: _Known, depth: int = 0
) -> list[tuple[str, Condition]]:
    """Conditions whose conjunction a predicate is."""
    tag = _tag(predicate)
    if depth > _DEEPEST:
        raise FormatError(f"{place}: predicates are nested more than {_DEEPEST} deep.")
    if tag == "True":
        return []
    if tag == "SimplePredicate":
        key = tuple(map(predicate.get, ("field", "operator", "value")))
        if key not in known:
            known[key] = _simple(predicate, schema, place)
        return [known[key]]
    if tag == "SimpleSetPredicate":
        return [_set(predicate, schema, place)]
    if tag != "CompoundPredicate":
        raise FormatError(f"{place}: a rule with {tag} never fires. Remove it.")
    operator = predicate.get("booleanOperator")
    parts = [
        _conditions(p, schema, place, known, depth + 1) for p in predicate if _tag(p) in _PREDICATES
    ]
    if operator == "and":
        return [pair for part in parts for pair in part]
    if operator == "or":
        return [_or_missing(parts, place)]
    raise FormatError(f"{place}: the operator {operator!r} cannot be read. Use and, or or.")


def _or_missing(parts: list[list[tuple[str, Condition]]], place: str) -> tuple[str, Condition]:
    pairs = [pair for part in parts for pair in part]
    names = {name for name, _ in pairs}
    missing = [part for part in parts if len(part) == 1 and isinstance(part[0][1], Missing)]
    others = [part for part in parts if part not in missing]
    if len(names) != 1 or len(missing) != 1 or len(others) != 1 or not others[0]:
        raise FormatError(
            f"{place}: 'or' is read only between a condition on a field and isMissing of that "
            "field. Split the rule."
        )
    joined = others[0][0][1]
    for _, condition in others[0][1:]:
        joined = _placed(place, joined, condition)
    if isinstance(joined, Missing):
        return names.pop(), joined
    return names.pop(), replace(joined, or_missing=True)


def _placed(place: str, a: Condition, b: Condition) -> Condition:
    try:
        return intersect(a, b)
    except RulelensError as e:
        raise FormatError(f"{place}: {e}") from None


def _field_of(predicate: Element, schema: Schema, place: str) -> Feature:
    name = predicate.get("field", "")
    if name not in schema:
        raise FormatError(
            f"{place}: unknown field {name!r}. The model uses: {', '.join(schema.names)}."
        )
    return schema[name]


def _simple(predicate: Element, schema: Schema, place: str) -> tuple[str, Condition]:
    feature = _field_of(predicate, schema, place)
    operator, value = predicate.get("operator", ""), predicate.get("value", "")
    if operator == "isMissing":
        return feature.name, Missing()
    if operator == "isNotMissing":
        return feature.name, Interval() if feature.is_numeric else Membership([], True)
    if not feature.is_numeric:
        if operator not in ("equal", "notEqual"):
            raise FormatError(
                f"{place}: '{operator}' suits no field with levels ({feature.name!r})."
            )
        return feature.name, Membership([_level(feature, value, place)], operator == "notEqual")
    try:
        return feature.name, _COMPARISONS[operator](_number(value))
    except KeyError:
        raise FormatError(
            f"{place}: '{operator}' suits no continuous field ({feature.name!r})."
        ) from None
    except ValueError as e:
        raise FormatError(f"{place}: the value {value!r} cannot be used: {e}.") from None


def _set(predicate: Element, schema: Schema, place: str) -> tuple[str, Condition]:
    feature = _field_of(predicate, schema, place)
    if feature.is_numeric:
        raise FormatError(f"{place}: the continuous field {feature.name!r} cannot be in a set.")
    operator = predicate.get("booleanOperator")
    if operator not in ("isIn", "isNotIn"):
        raise FormatError(f"{place}: expected isIn or isNotIn, found {operator!r}.")
    text = _one(predicate, "Array").text or ""
    items = [
        m[2] if m[1] is None else re.sub(r"\\(.)", r"\1", m[1], flags=re.DOTALL)
        for m in _ITEM.finditer(text)
    ]
    if not items and operator == "isIn":
        raise FormatError(f"{place}: a rule with an empty set never fires. Remove it.")
    levels = [_level(feature, item, place) for item in items]
    return feature.name, Membership(levels, operator == "isNotIn")


def _level(feature: Feature, text: str, place: str) -> Level:
    for level in feature.levels:
        shown = str(level).lower() if isinstance(level, bool) else str(level)
        if shown == text or (isinstance(level, bool) and _BOOLEANS.get(text) is level):
            return level
    raise FormatError(f"{place}: the field {feature.name!r} has no value {text!r}. Declare it.")
