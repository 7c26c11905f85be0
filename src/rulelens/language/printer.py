"""Rules into text that reads back as the same rules."""

from __future__ import annotations

import math

from rulelens.core.conditions import Condition, Interval, Missing
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature
from rulelens.errors import FormatError
from rulelens.language.tokens import quote, write_level

VERSION = 1


def print_rules(rules: RuleSet) -> str:
    """A rule set as text; `parse_text` reads it back exactly.

    Examples
    --------
    >>> from rulelens.core.rule import Rule
    >>> from rulelens.core.schema import Schema
    >>> rule = Rule({"heart rate": Interval(2, 5, high_closed=True)}, "ill", {"tree": 0})
    >>> print(print_rules(RuleSet.from_rules([rule], Schema.numeric(["heart rate"]))))
    RULELENS 1
    FEATURE "heart rate" NUMERIC
    OUTCOMES {ill}
    PROVENANCE {tree}
    IF 2.0 < "heart rate" <= 5.0 THEN ill FROM {tree: 0}
    """
    lines = [f"RULELENS {VERSION}"]
    lines += [_feature(f) for f in rules.schema]
    lines.append(f"OUTCOMES {{{', '.join(map(write_level, rules.outcomes))}}}")
    if rules.ordered:
        lines.append("ORDERED")
    columns = [(quote(name), column.tolist()) for name, column in rules.provenance.items()]
    if columns:
        lines.append(f"PROVENANCE {{{', '.join(name for name, _ in columns)}}}")
    table = rules.conditions
    conditions = [
        print_condition(rules.schema[int(f)].name, table.condition(i, rules.schema))
        for i, f in enumerate(table.feature)
    ]
    outcomes = [write_level(v) for v in rules.outcomes]
    flat, ends = rules.indices.tolist(), rules.offsets.tolist()
    for k, code in enumerate(rules.outcome.tolist()):
        body = " AND ".join([conditions[i] for i in flat[ends[k] : ends[k + 1]]]) or "TRUE"
        origin = [f"{name}: {_origin(c[k], name)}" for name, c in columns if c[k] is not None]
        tail = f" FROM {{{', '.join(origin)}}}" if origin else ""
        lines.append(f"IF {body} THEN {outcomes[code]}{tail}")
    if rules.default is not None:
        lines.append(f"ELSE {write_level(rules.default)}")
    return "\n".join(lines) + "\n"


def print_condition(name: str, condition: Condition) -> str:
    """One condition as text.

    Examples
    --------
    >>> print_condition("x", Interval(high=5, or_missing=True))
    'x < 5.0 [or missing]'
    >>> from rulelens.core.conditions import Membership
    >>> print_condition("c", Membership(["a", 1], negated=True))
    'c NOT IN {1, a}'
    """
    name = quote(name)
    if isinstance(condition, Missing):
        return f"{name} IS MISSING"
    flags = []
    if isinstance(condition, Interval):
        body = _interval(name, condition)
        if condition.precision == "float32":
            flags.append("float32")
    else:
        levels = ", ".join(map(write_level, condition.levels))
        body = f"{name} {'NOT IN' if condition.negated else 'IN'} {{{levels}}}"
    if condition.or_missing:
        flags.append("or missing")
    return body + (f" [{', '.join(flags)}]" if flags else "")


def _interval(name: str, c: Interval) -> str:
    if c.low == c.high:
        return f"{name} = {c.low!r}"
    left, right = ("<=" if closed else "<" for closed in (c.low_closed, c.high_closed))
    if c.low == -math.inf and c.high == math.inf:
        return f"{name} IS KNOWN"
    if c.low == -math.inf:
        return f"{name} {right} {c.high!r}"
    if c.high == math.inf:
        return f"{name} {'>=' if c.low_closed else '>'} {c.low!r}"
    return f"{c.low!r} {left} {name} {right} {c.high!r}"


def _feature(feature: Feature) -> str:
    out = f"FEATURE {quote(feature.name)} {feature.kind.upper()}"
    if feature.kind == "categorical":
        out += f" {{{', '.join(map(write_level, feature.levels))}}}"
    return out if feature.unit is None else f"{out} UNIT {write_level(feature.unit)}"


def _origin(value: object, name: str) -> str:
    if isinstance(value, str | bool | int | float):
        return write_level(value)
    raise FormatError(
        f"Provenance {name} holds a {type(value).__name__}, which the text cannot carry. "
        "Use text, numbers, booleans or None."
    )
