"""What a fitted model says about its features and classes, matched with a schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rulelens.core.schema import Feature, Level, Schema, level_key
from rulelens.errors import ModelError


def check_fitted(model: Any, *attributes: str) -> None:
    """Raise ModelError unless the model has one of the attributes that fitting gives it."""
    if not any(hasattr(model, name) for name in attributes):
        raise ModelError(f"This {type(model).__name__} is not fitted. Call fit(X, y) first.")


def check_one_target(model: Any) -> None:
    """Raise ModelError for a model that predicts several targets."""
    if getattr(model, "n_outputs_", 1) != 1:
        raise ModelError(
            f"The model predicts {model.n_outputs_} targets at once. Fit one model a target."
        )


def schema_of(
    names: Sequence[object] | None,
    n_features: int,
    schema: Schema | None,
    *,
    levels: Mapping[int, Sequence[Level]] | None = None,
) -> Schema:
    """Schema in the order in which the model knows its features.

    Parameters
    ----------
    names : sequence or None
        Names that the model saw, if it did.
    n_features : int
    schema : Schema or None
        What the caller knows: may have more features, in any order, if the model has names.
    levels : mapping of int to levels, optional
        Levels of the features that the model itself treats as categorical, by position. The
        schema's own levels of such a feature come first.

    Raises
    ------
    ModelError
        The schema does not have the model's features.
    """
    levels = levels or {}
    known = None if names is None else [str(n) for n in names]
    if schema is None:
        schema = Schema.numeric(known if known else [f"x{i}" for i in range(n_features)])
    if known is not None and set(known) <= set(schema.names):
        schema = Schema(schema[name] for name in known)
    if len(schema) != n_features:
        raise ModelError(
            f"The model was fitted on {n_features} features, but {len(schema)} are given. "
            "Give the table that it was fitted on, without the target."
        )
    if known is not None and known != list(schema.names):
        unknown = next(name for name in known if name not in schema)
        raise ModelError(
            f"The model was fitted with a feature '{unknown}' that is not among those given: "
            f"{', '.join(schema.names[:8])}{', …' if n_features > 8 else ''}. "
            "Give the table that it was fitted on, with its names, or none."
        )
    features = []
    for i, f in enumerate(schema):
        if i in levels:
            f = with_levels(f, levels[i])
        elif f.kind == "categorical":
            raise ModelError(
                f"Feature '{f.name}' is text, but the model was fitted on numbers there. "
                "Give the table that the model was fitted on."
            )
        features.append(f)
    return Schema(features)


def with_levels(feature: Feature, levels: Sequence[Level]) -> Feature:
    """The feature as a categorical one that has the given levels too, after its own.

    Where its own are booleans, 0 and 1 are these, as `code_of_level` has it.
    """
    if all(v in (0, 1) for v in levels):
        if feature.kind == "boolean":
            return feature
        if feature.levels and all(isinstance(v, bool) for v in feature.levels):
            levels = [bool(v) for v in levels]
    merged = {level_key(v): v for v in (*feature.levels, *levels)}
    return Feature(feature.name, "categorical", tuple(merged.values()), feature.unit)


def code_of_level(codes: Mapping[tuple[str, Level], int], level: Level) -> int | None:
    """The model's code of a level, by its key; None where the model has none.

    A model that was fitted on 0 and 1 takes False and True for them, and the other way round.
    """
    found = codes.get(level_key(level))
    if found is None and isinstance(level, bool):
        return codes.get(level_key(int(level)))
    if found is None and not isinstance(level, str) and level in (0, 1):
        return codes.get(level_key(bool(level)))
    return found


def named_by_place(known: Sequence[str], schema: Schema | None) -> bool:
    """Whether names that a model made up for columns without names tell only their order.

    They do unless the table's columns really have these names: then it may have another order.
    """
    return schema is None or not set(known) <= set(schema.names)


def labels_of(classes: Any) -> list[Level]:
    """Class labels as plain values."""
    out: list[Level] = np.asarray(classes).tolist()
    return out
