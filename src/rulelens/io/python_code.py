"""Rules as a plain Python module: which imports nothing."""

from __future__ import annotations

import math
from textwrap import wrap

from rulelens.core.conditions import Condition, Interval, Membership
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature
from rulelens.errors import FormatError
from rulelens.io.format import FORMATS, Format
from rulelens.io.votes import DECIDE_TOGETHER, decides_together

_HEAD = '''"""Rules written by Rulelens.

A row is a mapping from feature name to value; None or NaN is missing.
"""


def _missing(value):
    return value is None or value != value


'''


def write_python(rules: RuleSet) -> str:
    """A rule set as the source of a Python module.

    The module has ``OUTCOMES``, one outcome a rule, and ``fired(row)``, the positions of the
    rules that cover a row. An ordered list has ``decide(row)`` too: the outcome of the first
    rule that fires, or the default. Rules of a forest or a boosted model decide together: there
    is no ``decide``, and the module says that no rule decides alone.

    Examples
    --------
    >>> from rulelens.core.rule import Rule
    >>> from rulelens.core.schema import Schema
    >>> rule = Rule({"heart rate": Interval(90)}, "ill")
    >>> text = write_python(RuleSet.from_rules([rule], Schema.numeric(["heart rate"])))
    >>> print(text[text.index("def fired") :])
    def fired(row):
        out = []
        v0 = row['heart rate']
        m0 = _missing(v0)
        if (not m0 and 90.0 < v0):
            out.append(0)
        return out
    <BLANKLINE>
    """
    used = sorted(set(rules.conditions.feature.tolist()))
    table = rules.conditions
    texts = [
        _condition(f, rules.schema[f], table.condition(i, rules.schema))
        for i, f in enumerate(table.feature.tolist())
    ]
    lines = [f"# {line}" for line in _note(rules)]
    lines += ["OUTCOMES = ["]
    lines += [f"    {rules.outcomes[c]!r}," for c in rules.outcome.tolist()]
    lines += ["]", "", "", "def fired(row):", "    out = []"]
    for f in used:
        lines.append(f"    v{f} = row[{rules.schema[f].name!r}]")
        lines.append(f"    m{f} = _missing(v{f})")
    ends = rules.offsets.tolist()
    for k in range(len(rules)):
        chosen = [texts[i] for i in rules.indices[ends[k] : ends[k + 1]].tolist()]
        lines.append(f"    if {' and '.join(chosen) or 'True'}:")
        lines.append(f"        out.append({k})")
    lines.append("    return out")
    if rules.ordered:
        lines += ["", "", "def decide(row):", "    for k in fired(row):"]
        lines += ["        return OUTCOMES[k]", f"    return {rules.default!r}"]
    return _HEAD + "\n".join(lines) + "\n"


def _note(rules: RuleSet) -> list[str]:
    return wrap(DECIDE_TOGETHER, 90) if decides_together(rules) else []


def _condition(f: int, feature: Feature, condition: Condition) -> str:
    value, gone = f"v{f}", f"m{f}"
    if isinstance(condition, Interval):
        test = _interval(value, condition.to_float64())
    elif isinstance(condition, Membership):
        test = _membership(value, feature, condition)
    else:
        return gone
    if not test:
        return "True" if condition.or_missing else f"not {gone}"
    return f"({gone} or {test})" if condition.or_missing else f"(not {gone} and {test})"


def _interval(value: str, c: Interval) -> str:
    if c.low == c.high:
        return f"{value} == {c.low!r}"
    left = f"{c.low!r} {'<=' if c.low_closed else '<'} " if c.low > -math.inf else ""
    right = f" {'<=' if c.high_closed else '<'} {c.high!r}" if c.high < math.inf else ""
    return f"{left}{value}{right}" if left or right else ""


def _membership(value: str, feature: Feature, c: Membership) -> str:
    booleans = [isinstance(v, bool) for v in feature.levels]
    numbers = [isinstance(v, int | float) for v in feature.levels]
    if any(booleans) and sum(numbers) > sum(booleans):
        raise FormatError(
            f"Feature '{feature.name}' has both booleans and numbers as levels, which Python "
            "takes for equal. Make them all text."
        )
    if not c.levels:
        return ""
    levels = "".join(f"{v!r}, " for v in c.levels)
    return f"{value} {'not in' if c.negated else 'in'} ({levels.rstrip()})"


FORMATS.add("python", Format(None, write_python, (".py",)))
