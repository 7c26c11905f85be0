"""Rules of a model: one function that chooses the source by the model's type name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from rulelens.core.registry import Registry
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Schema
from rulelens.errors import UnsupportedModelError
from rulelens.frames import read_schema

Source: TypeAlias = Callable[[object, "Schema | None"], RuleSet]

SOURCES: Registry[Source] = Registry("source", "rulelens.sources", UnsupportedModelError)
"""Sources by ``"package.TypeName"``, the package being the first part of the type's module."""


def extract_rules(model: object, X: object = None) -> RuleSet:
    """Rules that select exactly the rows that a model's leaves select.

    Parameters
    ----------
    model : fitted model
        scikit-learn's DecisionTreeClassifier, ExtraTreeClassifier, RandomForestClassifier or
        ExtraTreesClassifier.
    X : table or Schema, optional
        Names and kinds of the features. By default the names that the model saw when it was
        fitted, or ``x0``, ``x1``, …, all numeric.

    Returns
    -------
    RuleSet
        One rule a leaf, unordered: for every row exactly one rule of each tree fires, and it
        carries the class that this tree predicts. Provenance: ``tree`` and ``leaf``.

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
    IF petal width (cm) <= 0.800000011920929 THEN 0
    """
    import rulelens.sources.sklearn_trees  # noqa: F401  registers itself; imports no vendor

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
