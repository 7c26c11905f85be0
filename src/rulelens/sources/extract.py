"""Rules of a model: one function that chooses the source by the model's type name."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TypeAlias

from rulelens.core.registry import Registry
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Schema
from rulelens.errors import UnsupportedModelError
from rulelens.frames import read_schema

Source: TypeAlias = Callable[[object, "Schema | None"], RuleSet]

_BUILT_IN = (
    "sklearn_trees",
    "sklearn_boosting",
    "sklearn_histogram",
    "pipelines",
    "xgboost",
    "lightgbm",
    "catboost",
    "imodels",
    "wittgenstein",
)

SOURCES: Registry[Source] = Registry("source", "rulelens.sources", UnsupportedModelError)
"""Sources by ``"package.TypeName"``, the package being the first part of the type's module."""


def extract_rules(model: object, X: object = None) -> RuleSet:
    """Rules that select exactly the rows that a model's leaves select.

    Parameters
    ----------
    model : fitted classifier
        scikit-learn's trees, forests and bags of trees, gradient boosting (both kinds) and
        AdaBoost of trees; see ``docs/sources.md`` for the others.
    X : table or Schema, optional
        Names and kinds of the features. By default the names that the model saw when it was
        fitted, or ``x0``, ``x1``, …, all numeric.

    Returns
    -------
    RuleSet
        One rule a leaf, unordered: for every row exactly one rule of each tree fires.
        Provenance: ``tree`` and ``leaf``. A rule of a tree or forest carries the class that
        this tree predicts, and ``share of CLASS`` for each class; a rule of a boosted model
        carries a ``value`` that adds to a class's score, see `score_rules`.
        `raw_scores`, `class_shares` and `predict_rules` rebuild what the model says.

    Raises
    ------
    UnsupportedModelError
        No source for this type; the message names those that there are.
    ModelError
        The model is not fitted, or does not fit the schema.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> iris = load_iris(as_frame=True)
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(iris.data, iris.target)
    >>> print(extract_rules(tree)[0])
    IF petal width (cm) < 0.8000000417232513 THEN 0
    """
    _load_sources()
    schema = X if isinstance(X, Schema) or X is None else read_schema(X)
    for cls in type(model).__mro__:
        name = f"{cls.__module__.partition('.')[0]}.{cls.__name__}"
        if name in SOURCES:
            return SOURCES[name](model, schema)
    supported = ", ".join(sorted(SOURCES))
    raise UnsupportedModelError(
        f"No rules can be extracted from a {type(model).__module__}.{type(model).__name__}. "
        f"Supported: {supported}. For any other model, RuleExplainer explains single rows."
    )


def _load_sources() -> None:
    """Import the sources, which register themselves; none imports its vendor."""
    for name in _BUILT_IN:
        import_module(f"rulelens.sources.{name}")
