"""Rules of a scikit-learn pipeline, in the terms of the columns that it was given.

Scaling is undone by finding the very first double that the scaler's own arithmetic puts
beyond a threshold; one-hot and ordinal codes become sets of levels. A step that cannot be
undone exactly is an error that names it.
"""

from __future__ import annotations

from typing import Any

from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Level, Schema
from rulelens.errors import ModelError, UnsupportedModelError
from rulelens.sources.derived import Derived, level_outputs, restore
from rulelens.sources.extract import SOURCES, extract_rules
from rulelens.sources.fitted import check_fitted, with_levels
from rulelens.sources.steps import through


@SOURCES.register("sklearn.Pipeline")
def pipeline_rules(model: Any, schema: Schema | None) -> RuleSet:
    """Rules of a pipeline's last step, on the columns before the first.

    Numbers must be given in double precision, as whole-number and float64 columns are.
    """
    steps = [step for _, step in model.steps if not _is_identity(step)]
    if not steps or hasattr(steps[-1], "transform"):
        raise UnsupportedModelError(
            "The pipeline has no model at its end. Give one that ends in a classifier."
        )
    *before, last = steps
    if not before:
        return extract_rules(last, schema)
    names, n = _columns_of(model, before[0])
    given = _given(names, n, schema)
    # A first walk finds the features that are encoded, and the levels that encoders know.
    levels: dict[int, list[Level]] = {}
    columns = [Derived(i) for i in range(len(given))]
    for step in before:
        columns = through(step, columns, levels)
    source = Schema(with_levels(f, levels[i]) if i in levels else f for i, f in enumerate(given))
    # The second one follows every level.
    columns = [
        Derived(i) if f.is_numeric else Derived(i, outputs=level_outputs(f))
        for i, f in enumerate(source)
    ]
    for step in before:
        columns = through(step, columns, {})
    rules = extract_rules(last)
    if len(rules.schema) != len(columns):
        raise ModelError(
            f"The model was fitted on {len(rules.schema)} columns, but the steps before it make "
            f"{len(columns)}."
        )
    for f in rules.schema:
        if not f.is_numeric:
            raise ModelError(
                f"The model splits '{f.name}' by levels, but the steps before it make numbers. "
                "Leave the encoding to one of them."
            )
    return restore(rules, columns, source)


@SOURCES.register("sklearn.GridSearchCV")
@SOURCES.register("sklearn.RandomizedSearchCV")
@SOURCES.register("sklearn.HalvingGridSearchCV")
@SOURCES.register("sklearn.HalvingRandomSearchCV")
def search_rules(model: Any, schema: Schema | None) -> RuleSet:
    """Rules of the best model that a search found."""
    check_fitted(model, "best_estimator_")
    return extract_rules(model.best_estimator_, schema)


def _is_identity(step: Any) -> bool:
    if step is None or (isinstance(step, str) and step == "passthrough"):
        return True
    return hasattr(step, "fit_resample")  # a sampler does nothing to rows that are asked about


def _columns_of(model: Any, first: Any) -> tuple[Any, int]:
    n = getattr(model, "n_features_in_", None)
    if n is None:
        raise ModelError(
            f"This {type(model).__name__} is not fitted, or its first step "
            f"{type(first).__name__} does not say what it was fitted on. Call fit(X, y) first."
        )
    return getattr(model, "feature_names_in_", None), int(n)


def _given(names: Any, n: int, schema: Schema | None) -> Schema:
    known = None if names is None else [str(v) for v in names]
    if schema is None:
        return Schema.numeric(known if known is not None else [f"x{i}" for i in range(n)])
    if known is not None:
        missing = [v for v in known if v not in schema]
        if missing:
            raise ModelError(
                f"The pipeline was fitted with a feature '{missing[0]}' that is not among those "
                f"given: {', '.join(schema.names[:8])}{', …' if len(schema) > 8 else ''}. "
                "Give the table that it was fitted on, with its names."
            )
        return Schema(schema[v] for v in known)
    if len(schema) != n:
        raise ModelError(
            f"The pipeline was fitted on {n} features, but {len(schema)} are given. Give the table "
            "that it was fitted on, without the target."
        )
    return schema
