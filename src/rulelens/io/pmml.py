"""Rules as PMML 4.4 RuleSetModel.

An ordered list is scored by ``firstHit``, an unordered set by ``weightedSum``: with equal
weights, or where the rules come from a forest or a boosted model, with a rule and its weight for
each class, so that the class of the largest sum is the model's prediction. PMML has no
single-precision condition: such a condition is written as the double-precision one that selects
the same values. In PMML a comparison with a missing value is
unknown, and a rule whose predicate is unknown does not fire, as here. Levels that the model
does not know are to be used as they are (``invalidValueTreatment="asIs"``).
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

import numpy as np

from rulelens.core.conditions import Condition, Interval, Missing
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Level
from rulelens.errors import FormatError
from rulelens.io.format import FORMATS, Format
from rulelens.io.pmml_reader import read_pmml
from rulelens.io.votes import votes_of

NAMESPACE = "http://www.dmg.org/PMML-4_4"
_ESCAPES = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "\n": "&#10;",
    "\r": "&#13;",
    "\t": "&#9;",
}
_XML_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def write_pmml(rules: RuleSet) -> str:
    """A rule set as a PMML document.

    Rules that carry values or class shares, and decide by their sums, are written once for each
    class with a weight that is not 0, in the order in which the model adds them up. The first
    rules, without conditions, give each class its start, so that of equal classes the first wins.

    Raises
    ------
    FormatError
        Values that a model adds up in single precision, which PMML scorers do not; levels or
        outcomes of mixed types, of which PMML cannot carry the types, or text with
        characters that XML cannot carry.
    """
    target = "outcome"
    while target in rules.schema:
        target += "_"
    fields = [_data_field(f.name, _type_of(f), f.levels) for f in rules.schema]
    fields.append(_data_field(target, _level_type(rules.outcomes, "The outcome"), rules.outcomes))
    mining = [
        f'   <MiningField name={_attribute(f.name)} invalidValueTreatment="asIs"/>'
        for f in rules.schema
    ]
    mining.append(f'   <MiningField name={_attribute(target)} usageType="target"/>')
    default = "" if rules.default is None else f" defaultScore={_value(rules.default)}"
    criterion = "firstHit" if rules.ordered else "weightedSum"
    table = rules.conditions
    texts = [
        "\n".join(_predicate(rules.schema[int(f)].name, table.condition(i, rules.schema), 5))
        for i, f in enumerate(table.feature)
    ]
    ends = rules.offsets.tolist()
    scores = [_value(v) for v in rules.outcomes]
    body: list[str] = []
    for number, (k, code, weight) in enumerate(_weighted(rules)):
        chosen = (
            [] if k is None else [texts[i] for i in rules.indices[ends[k] : ends[k + 1]].tolist()]
        )
        body.append(f'    <SimpleRule id="{number}" score={scores[code]} weight="{weight}">')
        if not chosen:
            body.append("     <True/>")
        elif len(chosen) == 1:
            body += chosen
        else:
            body += ['     <CompoundPredicate booleanOperator="and">']
            body += [re.sub("^", " ", text, flags=re.MULTILINE) for text in chosen]
            body += ["     </CompoundPredicate>"]
        body.append("    </SimpleRule>")
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<PMML xmlns="{NAMESPACE}" version="4.4">',
        ' <Header><Application name="Rulelens"/></Header>',
        f' <DataDictionary numberOfFields="{len(fields)}">',
        *fields,
        " </DataDictionary>",
        ' <RuleSetModel functionName="classification">',
        "  <MiningSchema>",
        *mining,
        "  </MiningSchema>",
        f"  <RuleSet{default}>",
        f'   <RuleSelectionMethod criterion="{criterion}"/>',
        *body,
        "  </RuleSet>",
        " </RuleSetModel>",
        "</PMML>",
    ]
    return "\n".join(lines) + "\n"


def _weighted(rules: RuleSet) -> Iterator[tuple[int | None, int, str]]:
    """Rule (None: without conditions), class and weight of each rule of the document."""
    votes = votes_of(rules)
    if votes is None:
        for k, code in enumerate(rules.outcome.tolist()):
            yield k, code, "1"
        return
    # Every class is named, so that one whose rules do not fire has the sum 0.
    for code in range(len(rules.outcomes)):
        yield None, code, "0.0"
    for code in np.flatnonzero(votes.start).tolist():
        yield None, code, repr(float(votes.start[code]))
    for k in votes.order.tolist():
        # A rule that adds nothing is kept for its class.
        for code in np.flatnonzero(votes.weights[k]).tolist() or [int(rules.outcome[k])]:
            yield k, code, repr(float(votes.weights[k, code]))


def _type_of(feature: Feature) -> str:
    if feature.is_numeric:
        return "double"
    if feature.kind == "boolean":
        return "boolean"
    return _level_type(feature.levels, f"Feature '{feature.name}'")


def _level_type(levels: Sequence[Level], what: str) -> str:
    kinds = {bool: "boolean", str: "string", int: "integer", float: "double"}
    found = {kinds[type(v)] for v in levels}
    if len(found) > 1:
        raise FormatError(
            f"{what} has levels of several types ({', '.join(sorted(found))}), which one PMML "
            "field cannot hold. Make them all text."
        )
    return found.pop() if found else "string"


def _data_field(name: str, kind: str, levels: Sequence[Level]) -> str:
    if kind == "double" and not levels:
        return f'  <DataField name={_attribute(name)} optype="continuous" dataType="double"/>'
    values = "".join(f"<Value value={_value(v)}/>" for v in levels)
    return (
        f'  <DataField name={_attribute(name)} optype="categorical" dataType="{kind}">'
        f"{values}</DataField>"
    )


def _attribute(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    """Text as it may stand in an attribute or between tags."""
    if _XML_TEXT.search(text):
        raise FormatError(f"The text {text!r} has a character that XML cannot carry. Rename it.")
    return "".join(_ESCAPES.get(c, c) for c in text)


def _value(level: Level) -> str:
    return _attribute(_plain(level))


def _plain(level: Level) -> str:
    if isinstance(level, bool):
        return "true" if level else "false"
    return level if isinstance(level, str) else repr(level)


def _predicate(name: str, c: Condition, depth: int) -> list[str]:
    pad, field = " " * depth, f"field={_attribute(name)}"
    gone = f'<SimplePredicate {field} operator="isMissing"/>'
    there = f'<SimplePredicate {field} operator="isNotMissing"/>'
    if isinstance(c, Missing):
        return [pad + gone]
    if isinstance(c, Interval):
        c = c.to_float64()
        tests = [
            f'<SimplePredicate {field} operator="{operator}" value="{end!r}"/>'
            for operator, end in (
                ("greaterOrEqual" if c.low_closed else "greaterThan", c.low),
                ("lessOrEqual" if c.high_closed else "lessThan", c.high),
            )
            if not math.isinf(end)
        ]
    elif not c.levels:
        tests = []
    else:
        quoted = (_plain(v).replace("\\", "\\\\").replace('"', '\\"') for v in c.levels)
        array = " ".join(f'"{v}"' for v in quoted)
        inside = "isNotIn" if c.negated else "isIn"
        tests = [
            f'<SimpleSetPredicate {field} booleanOperator="{inside}">'
            f'<Array type="string" n="{len(c.levels)}">{_escaped(array)}</Array>'
            "</SimpleSetPredicate>"
        ]
    tests = tests or [there]
    if len(tests) > 1:
        tests = _compound("and", tests)
    if c.or_missing:
        tests = _compound("or", [*tests, gone])
    return [pad + t for t in tests]


def _compound(operator: str, lines: list[str]) -> list[str]:
    return [
        f'<CompoundPredicate booleanOperator="{operator}">',
        *(f" {line}" for line in lines),
        "</CompoundPredicate>",
    ]


FORMATS.add("pmml", Format(read_pmml, write_pmml, (".pmml",)))
