"""Rules of wittgenstein's RIPPER and IREP: an ordered list for one class.

A number is compared with a bin such as ``0.81 - 1.3``, which is open below and closed above;
``<3.0`` is closed above too. The list's default is the other class.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from rulelens.core.conditions import Condition, Interval, Membership
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Level, Schema
from rulelens.errors import ModelError
from rulelens.language.tokens import UNSIGNED
from rulelens.sources.extract import SOURCES
from rulelens.sources.fitted import check_fitted, with_levels

_NUMBER = rf"[+-]?{UNSIGNED}|[+-]?inf"
_RANGE = re.compile(rf"\s*({_NUMBER})\s*-\s*({_NUMBER})\s*")
_HALF = re.compile(rf"\s*([<>])\s*({_NUMBER})\s*")


@SOURCES.register("wittgenstein.RIPPER")
@SOURCES.register("wittgenstein.IREP")
def ripper_rules(model: Any, schema: Schema | None) -> RuleSet:
    """Rules of a fitted learner; see `extract_rules`.

    The model predicts True where a rule fires; here the outcome is the label of the positive
    class. It keeps no other label: the default is False for True, 0 for 1, else "not LABEL".
    """
    check_fitted(model, "ruleset_", "bin_transformer_")
    names = [str(n) for n in model.trainset_features_]
    bins = {str(k): v for k, v in (getattr(model.bin_transformer_, "bins_", None) or {}).items()}
    found = [[(str(c.feature), _plain(c.val)) for c in rule.conds] for rule in model.ruleset_.rules]
    schema = _schema(names, bins, found, schema)
    positive: Level = _plain(model.pos_class)
    other = _other(positive)
    rules = [
        Rule([(name, condition_of(schema[name], v, name in bins)) for name, v in conds], positive)
        for conds in found
    ]
    return RuleSet.from_rules(
        rules, schema, outcomes=[other, positive], ordered=True, default=other
    )


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _other(positive: Level) -> Level:
    """The label of the other class, of which the model keeps none."""
    if isinstance(positive, bool):
        return not positive
    if positive in (0, 1):
        return 1 - int(positive)
    return f"not {positive}"


def _schema(
    names: list[str],
    bins: dict[str, Any],
    found: list[list[tuple[str, Any]]],
    schema: Schema | None,
) -> Schema:
    if schema is not None:
        missing = [n for n in names if n not in schema]
        if missing:
            raise ModelError(
                f"The model was fitted with a feature '{missing[0]}' that is not among those "
                f"given: {', '.join(schema.names[:8])}. Give the table that it was fitted on."
            )
    levels: dict[str, list[Level]] = {}
    for conds in found:
        for name, value in conds:
            if name not in bins:
                levels.setdefault(name, []).append(value)
    features = []
    for name in names:
        f = Feature(name) if schema is None else schema[name]
        mine = levels.get(name, [])
        text = any(isinstance(v, str | bool) for v in mine)
        features.append(with_levels(f, mine) if mine and (text or not f.is_numeric) else f)
    return Schema(features)


def condition_of(feature: Feature, value: Any, binned: bool) -> Condition:
    """The condition that a value or the text of a bin stands for.

    Examples
    --------
    >>> print(condition_of(Feature("x"), "-1.0--0.5", True).describe("x"))
    -1 < x <= -0.5
    """
    if not binned:
        if not feature.is_numeric:
            return Membership([value])
        return Interval(float(value), float(value), True, True)
    half = _HALF.fullmatch(str(value))
    if half:
        number = float(half[2])
        if half[1] == "<":
            return Interval(high=number, high_closed=True)
        return Interval(low=number)
    both = _RANGE.fullmatch(str(value))
    if both is None:
        raise ModelError(f"The bin {value!r} of '{feature.name}' is no range such as '0.5 - 1.5'.")
    return Interval(float(both[1]), float(both[2]), high_closed=True)
