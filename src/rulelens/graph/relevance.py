"""How much each rule matters, and each feature within it: q and P of a feature graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulelens.bits.coverage import leave_one_out_counts, outcome_codes
from rulelens.core.contingency import Contingency
from rulelens.core.ruleset import RuleSet
from rulelens.errors import OptionError, did_you_mean
from rulelens.frames import Labels, Table

Floats: TypeAlias = NDArray[np.float64]
RuleRelevance: TypeAlias = Literal["relevance", "support", "confidence", "lift", "equal"]
FeatureRelevance: TypeAlias = Literal["relevance", "impurity"]

RULE_RELEVANCES = ("relevance", "support", "confidence", "lift", "equal")
FEATURE_RELEVANCES = ("relevance", "impurity")


def relevances(
    rules: RuleSet,
    table: Table,
    labels: Labels,
    *,
    rule_relevance: RuleRelevance = "relevance",
    feature_relevance: FeatureRelevance = "relevance",
) -> tuple[Floats, Floats]:
    """Feature relevance P, shape (n_rules, n_features), and rule relevance q, (n_rules,).

    A measure that is not defined for a rule (no row of its class, say) counts 0: such a rule
    has no part in the graph.

    References
    ----------
    The feature-graph paper, equations 1 and 2 and section 3.
    """
    if rule_relevance not in RULE_RELEVANCES:
        raise OptionError(
            f"Unknown rule_relevance '{rule_relevance}'. "
            f"{did_you_mean(rule_relevance, RULE_RELEVANCES)}"
        )
    if feature_relevance not in FEATURE_RELEVANCES:
        raise OptionError(
            f"Unknown feature_relevance '{feature_relevance}'. "
            f"{did_you_mean(feature_relevance, FEATURE_RELEVANCES)}"
        )
    n_classes = len(labels.classes)
    full, without = leave_one_out_counts(rules, table, labels.codes, n_classes)
    totals = np.bincount(labels.codes, minlength=n_classes)
    outcome = outcome_codes(rules, labels)
    counts = Contingency.from_class_counts(full, totals, outcome)
    q = (
        np.ones(len(rules))
        if rule_relevance == "equal"
        else np.nan_to_num(counts.measure(rule_relevance), nan=0.0)
    )
    owner = np.repeat(np.arange(len(rules)), rules.lengths)
    entry = _FEATURE[feature_relevance](full, without, owner, totals, outcome)
    P = np.zeros((len(rules), len(rules.schema)))
    P[owner, rules.conditions.feature[rules.indices]] = np.nan_to_num(entry, nan=0.0)
    return P, q


def _error_rise(
    full: NDArray[np.int64],
    without: NDArray[np.int64],
    owner: NDArray[np.int64],
    totals: NDArray[np.int64],
    outcome: NDArray[np.int64],
) -> Floats:
    """(error without the condition - error)·covering; never negative."""
    shortened = Contingency.from_class_counts(without, totals, outcome[owner])
    counts = Contingency.from_class_counts(full, totals, outcome)
    rise = shortened.measure("error") - counts.measure("error")[owner]
    return rise * counts.measure("recall")[owner]


def _impurity_fall(
    full: NDArray[np.int64],
    without: NDArray[np.int64],
    owner: NDArray[np.int64],
    totals: NDArray[np.int64],  # noqa: ARG001
    outcome: NDArray[np.int64],  # noqa: ARG001
) -> Floats:
    """Gini impurity of the shortened rule's rows, minus that of their two parts."""
    inside = full[owner]
    rest = without - inside
    n, n_in, n_rest = (a.sum(axis=1) for a in (without, inside, rest))
    parts = n_in * _gini(inside) + n_rest * _gini(rest)
    return _gini(without) - np.divide(parts, n, out=np.zeros(len(n)), where=n > 0)


def _gini(counts: NDArray[np.int64]) -> Floats:
    """Gini impurity of rows of class counts; 0 for no rows."""
    n = counts.sum(axis=1, keepdims=True)
    share = np.divide(counts, n, out=np.zeros(counts.shape), where=n > 0)
    return np.where(n[:, 0] > 0, 1 - (share**2).sum(axis=1), 0.0)


_FEATURE: dict[str, Callable[..., Floats]] = {
    "relevance": _error_rise,
    "impurity": _impurity_fall,
}
