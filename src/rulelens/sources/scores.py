"""Rules that carry a number: leaf values of boosted trees, which add up to a raw score."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulelens.core.provenance import SCORE_CLASS, SECOND_FROM, VALUE
from rulelens.core.ruleset import Column, RuleSet
from rulelens.core.schema import Level, Schema
from rulelens.errors import ModelError
from rulelens.sources.tree_paths import Leaves


def score_rules(
    schema: Schema,
    leaves: Leaves,
    values: ArrayLike,
    score_class: ArrayLike | None,
    *,
    outcomes: Sequence[Level],
    base: Sequence[float],
    second_from: float | None = None,
) -> RuleSet:
    """Rules whose values add up to a model's raw score.

    Parameters
    ----------
    schema, leaves
        See `leaves_of`.
    values : array of float, shape (n_leaves,)
        In single precision if the model adds them up so.
    score_class : array of int, shape (n_leaves,), or None
        Position in `outcomes` of the class whose score a leaf adds to. None: there are two
        classes and one score, that of the second class.
    outcomes : sequence of labels
    base : sequence of float
        What each score starts from: one number, or one a class. A start that is not 0
        becomes a rule without conditions.
    second_from : float, optional
        With one score, the least with which the model says the second class. By default any
        score above 0.

    Returns
    -------
    RuleSet
        Provenance ``value``, ``score class`` (a position in the outcomes), ``tree`` and
        ``leaf``, which are -1 for a start. With one score a negative value speaks for the
        first class, and that is then the rule's outcome; with a score for each class, the
        outcome is the class of the score, and a negative value speaks against it. Provenance
        ``second class from`` keeps `second_from`.

    Raises
    ------
    ModelError
        There is one class only.
    """
    if len(outcomes) < 2:
        raise ModelError(
            f"The model knows the class {outcomes[0]!r} only, so that no value decides anything. "
            "Fit it on rows of at least two classes."
        )
    one_score = score_class is None
    values = np.asarray(values)
    start = np.asarray(base, dtype=values.dtype if values.dtype == np.float32 else float)
    given = np.flatnonzero(start)
    own = given + one_score
    value = np.concatenate([start[given], values.astype(start.dtype)])
    if score_class is None:
        score_class = np.ones(len(leaves.node))
    target = np.concatenate([own, np.asarray(score_class, np.int64)])
    none = np.full(len(given), -1)
    provenance: dict[str, Column] = {
        "tree": np.concatenate([none, leaves.tree]),
        "leaf": np.concatenate([none, leaves.node]),
        VALUE: value,
        SCORE_CLASS: target,
    }
    if one_score and second_from is not None:
        provenance[SECOND_FROM] = np.full(len(value), second_from)
    return RuleSet.from_arrays(
        schema,
        leaves.conditions,
        np.concatenate([np.zeros(len(given), np.int64), leaves.offsets]),
        leaves.indices,
        (value > 0).astype(np.int64) if one_score else target,
        outcomes=outcomes,
        provenance=provenance,
    )


def least_likelier(slope: float, precision: type[np.floating[Any]]) -> float:
    """The least score whose logistic probability is above a half in the given precision.

    Examples
    --------
    >>> least_likelier(1.0, np.float64) < 1e-15
    True
    >>> least_likelier(1.0, np.float32) > 1e-8
    True
    """
    one = precision(1)

    def passes(score: np.floating[Any]) -> bool:
        # The C library's exponential, rounded: numpy's own in single precision is less exact.
        p = one / (one + precision(math.exp(-slope * float(score))))
        return bool(p > one - p)

    low, high = precision(0), precision(1 / slope)
    while np.nextafter(low, high) < high:
        middle = (low + high) / precision(2)
        low, high = (low, middle) if passes(middle) else (middle, high)
    return float(high)


def is_scored(rules: RuleSet) -> bool:
    """Whether the rules carry values that add up to a score."""
    return VALUE in rules.provenance and SCORE_CLASS in rules.provenance


def score_weights(rules: RuleSet) -> NDArray[np.float64]:
    """What each rule adds to each class's score: shape (n_rules, n_classes)."""
    weights = np.zeros((len(rules), len(rules.outcomes)))
    target = rules.provenance[SCORE_CLASS].astype(np.int64)
    weights[np.arange(len(rules)), target] = rules.provenance[VALUE].astype(np.float64)
    return weights
