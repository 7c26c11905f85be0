"""What a parser read, into a rule set over a schema."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rulelens.core.condition_table import ConditionTable, check_condition
from rulelens.core.conditions import Condition, Interval, Membership, Precision
from rulelens.core.rule import Rule
from rulelens.core.ruleset import Column, RuleSet
from rulelens.core.schema import Feature, Kind, Level, Schema, level_key
from rulelens.errors import FormatError, RuleError, RulelensError, did_you_mean
from rulelens.language.agreement import check_agreement
from rulelens.language.place import at_place, error_at


@dataclass(frozen=True, slots=True)
class Equal:
    """``name = 5``: a number or a level, as the feature's kind decides."""

    value: Level
    negated: bool
    or_missing: bool
    precision: Precision

    def of(self, feature: Feature) -> Condition:
        """The condition on a feature."""
        if not feature.is_numeric:
            return Membership([self.value], self.negated, self.or_missing)
        try:
            number = float(self.value)
        except OverflowError:
            raise RuleError("The number has too many digits.") from None
        return Interval(number, number, True, True, self.or_missing, self.precision)


@dataclass(frozen=True, slots=True)
class DraftRule:
    """One rule as it was read."""

    position: int
    conditions: list[tuple[str, Condition | Equal, int]]
    outcome: Level
    origin: dict[str, Level]


@dataclass(slots=True)
class Draft:
    """A text as it was read: statements, before names and levels are looked up."""

    text: str
    declared: list[Feature] = field(default_factory=list)
    outcomes: list[Level] | None = None
    ordered: bool = False
    default: Level | None = None
    columns: list[str] | None = None
    rules: list[DraftRule] = field(default_factory=list)


def build(draft: Draft, names: Sequence[str] | None, schema: Schema | None) -> RuleSet:
    """The rule set of a draft; `names` or `schema` tell what the text does not."""
    schema = _schema_of(draft, names, schema)
    # 1. Each distinct condition once; those on one feature of a rule are intersected.
    pool: dict[tuple[str, Condition], int] = {}
    checked: dict[tuple[str, Condition], Condition] = {}
    offsets, flat = [0], []
    for r in draft.rules:
        pairs = []
        for name, c, at in r.conditions:
            known = None if isinstance(c, Equal) else checked.get((name, c))
            if known is None:
                known = _resolve(draft.text, schema, name, c, at)
                if not isinstance(c, Equal):
                    checked[name, c] = known
            pairs.append((name, known))
        if len({name for name, _ in pairs}) < len(pairs):
            joined = at_place(draft.text, r.position, Rule(pairs, r.outcome).simplify)
            pairs = list(joined.conditions)
        flat += [pool.setdefault(pair, len(pool)) for pair in pairs]
        offsets.append(len(flat))
    table = ConditionTable.from_conditions([(schema.index(name), c) for name, c in pool], schema)
    # 2. Outcomes.
    labels = {level_key(v): v for v in draft.outcomes or ()}
    if draft.outcomes is None:
        given = [r.outcome for r in draft.rules]
        given += [] if draft.default is None else [draft.default]
        labels = {level_key(v): v for v in given}
    codes = {key: i for i, key in enumerate(labels)}
    outcome = []
    for r in draft.rules:
        if level_key(r.outcome) not in codes:
            raise error_at(
                draft.text,
                r.position,
                f"Unknown outcome {r.outcome!r}. {did_you_mean(r.outcome, labels.values())}",
            )
        outcome.append(codes[level_key(r.outcome)])
    try:
        return RuleSet.from_arrays(
            schema,
            table,
            offsets,
            np.array(flat, dtype=np.int64),
            np.array(outcome, dtype=np.int64),
            outcomes=draft.outcomes if draft.outcomes is not None else list(labels.values()),
            ordered=draft.ordered,
            default=draft.default,
            provenance=_provenance(draft),
        )
    except RulelensError as e:
        raise FormatError(str(e)) from None


def _resolve(text: str, schema: Schema, name: str, c: Condition | Equal, at: int) -> Condition:
    if name not in schema:
        raise error_at(text, at, f"Unknown feature '{name}'. {did_you_mean(name, schema.names)}")
    feature = schema[name]
    if isinstance(c, Equal):
        number = isinstance(c.value, int | float) and not isinstance(c.value, bool)
        if feature.is_numeric and (c.negated or not number):
            raise error_at(
                text,
                at,
                f"Feature '{name}' is numeric: compare it with a number by <, <=, >, >= or =.",
            )
        equal = c
        c = at_place(text, at, lambda: equal.of(feature))
    elif (
        isinstance(c, Interval)
        and not feature.is_numeric
        and math.isinf(c.low)
        and math.isinf(c.high)
    ):
        c = Membership([], True, c.or_missing)  # IS KNOWN
    found = c
    at_place(text, at, lambda: check_condition(feature, found))
    return found


def _schema_of(draft: Draft, names: Sequence[str] | None, schema: Schema | None) -> Schema:
    if draft.declared:
        found = Schema(draft.declared)
        check_agreement(found, names, schema)
        return found
    return schema if schema is not None else _guessed(draft, names)


def _guessed(draft: Draft, names: Sequence[str] | None) -> Schema:
    """Kinds and levels as the conditions have them; a feature without any is numeric."""
    levels: dict[str, dict[tuple[str, Level], Level]] = {n: {} for n in names or ()}
    kinds: dict[str, Kind] = {}
    for r in draft.rules:
        for name, c, at in r.conditions:
            if names is not None and name not in names:
                raise error_at(
                    draft.text, at, f"Unknown feature '{name}'. {did_you_mean(name, names)}"
                )
            mine = levels.setdefault(name, {})
            values = [c.value] if isinstance(c, Equal) else []
            values += list(c.levels) if isinstance(c, Membership) else []
            mine.update({level_key(v): v for v in values})
            kind: Kind | None = None
            if isinstance(c, Membership) or (
                isinstance(c, Equal) and (c.negated or isinstance(c.value, str | bool))
            ):
                kind = "categorical"
            elif isinstance(c, Interval) and not (math.isinf(c.low) and math.isinf(c.high)):
                kind = "numeric"
            if kind is not None and kinds.setdefault(name, kind) != kind:
                raise error_at(
                    draft.text,
                    at,
                    f"'{name}' is compared with numbers in one rule and with levels in "
                    "another. Add a FEATURE line.",
                )
    features = []
    for name, mine in levels.items():
        kind = kinds.get(name, "numeric")
        if kind == "categorical" and all(isinstance(v, bool) for v in mine.values()):
            kind = "boolean"
        chosen = tuple(mine.values()) if kind == "categorical" else ()
        features.append(Feature(name, kind, chosen))
    return Schema(features)


def _provenance(draft: Draft) -> dict[str, Column]:
    names = draft.columns
    if names is None:
        names = list(dict.fromkeys(name for r in draft.rules for name in r.origin))
    out: dict[str, Column] = {}
    for r in draft.rules:
        for name in r.origin:
            if name not in names:
                raise error_at(
                    draft.text,
                    r.position,
                    f"Unknown provenance '{name}'. {did_you_mean(name, names)}",
                )
    for name in names:
        values = [r.origin.get(name) for r in draft.rules]
        column: Column = np.empty(len(values), dtype=object)
        column[:] = np.array(values, dtype=object)
        out[name] = column
        for kind, dtype in ((bool, np.bool_), (float, np.float64), (int, np.int64)):
            if values and all(type(v) is kind for v in values):
                try:
                    out[name] = np.array(values, dtype=dtype)
                except OverflowError:  # beyond 64 bits
                    break
    return out
