"""How much each rule matters, and each feature within it: q and P of a feature graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulelens.bits.coverage import leave_one_out_counts, outcome_codes
from rulelens.core.contingency import Contingency
from rulelens.core.measures import MEASURES
from rulelens.core.registry import Registry
from rulelens.core.ruleset import RuleSet
from rulelens.errors import OptionError, did_you_mean
from rulelens.frames import Labels, Table

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ConditionCounts:
    """Rows that each rule covers, with and without each of its conditions.

    Parameters
    ----------
    full : array of int64, shape (n_rules, n_classes)
        Covered rows of each class.
    without : array of int64, shape (n_conditions, n_classes)
        The same for the rule without one condition; an entry for every condition of every
        rule.
    owner : array of int64, shape (n_conditions,)
        The rule of each entry of `without`.
    feature : array of int64, shape (n_conditions,)
        The feature of each entry, as a position in the schema.
    totals : array of int64, shape (n_classes,)
        All rows of each class.
    outcome : array of int64, shape (n_rules,)
        Each rule's class; -1 where it does not occur among the labels.
    """

    full: NDArray[np.int64]
    without: NDArray[np.int64]
    owner: NDArray[np.int64]
    feature: NDArray[np.int64]
    totals: NDArray[np.int64]
    outcome: NDArray[np.int64]

    @classmethod
    def of(cls, rules: RuleSet, table: Table, labels: Labels) -> ConditionCounts:
        """Count the rows of a labelled table."""
        n_classes = len(labels.classes)
        full, without = leave_one_out_counts(rules, table, labels.codes, n_classes)
        return cls(
            full,
            without,
            np.repeat(np.arange(len(rules)), rules.lengths),
            rules.conditions.feature[rules.indices].astype(np.int64),
            np.bincount(labels.codes, minlength=n_classes),
            outcome_codes(rules, labels),
        )

    @property
    def rules(self) -> Contingency:
        """The four counts of every rule."""
        return Contingency.from_class_counts(self.full, self.totals, self.outcome)

    @property
    def shortened(self) -> Contingency:
        """The four counts of every rule without one condition, an entry a condition."""
        return Contingency.from_class_counts(self.without, self.totals, self.outcome[self.owner])


FeatureRelevance: TypeAlias = Callable[[ConditionCounts], Floats]

FEATURE_RELEVANCES: Registry[FeatureRelevance] = Registry(
    "feature relevance", "rulelens.feature_relevances", OptionError
)
"""Feature relevances by name: counts → one number a condition, shape (n_conditions,)."""

EQUAL = "equal"
"""The rule relevance that is 1 for every rule."""


def relevances(
    rules: RuleSet,
    table: Table,
    labels: Labels,
    *,
    rule_relevance: str = "relevance",
    feature_relevance: str = "relevance",
) -> tuple[Floats, Floats]:
    """Feature relevance P, shape (n_rules, n_features), and rule relevance q, (n_rules,).

    A measure that is not defined for a rule (no row of its class, say) counts 0: such a rule
    has no part in the graph.

    Parameters
    ----------
    rules : RuleSet
    table : Table
    labels : Labels
    rule_relevance : str
        ``"equal"`` (1 for every rule) or the name of a registered measure: ``"relevance"``,
        ``"support"``, ``"confidence"``, ``"lift"``, …
    feature_relevance : str
        ``"relevance"``, ``"impurity"`` or another name in `FEATURE_RELEVANCES`.

    Raises
    ------
    OptionError
        An unknown relevance, or one that is infinite for some rule.

    References
    ----------
    C. Sirocchi, D. Verda, Enhancing interpretability of rule-based classifiers through
    feature graphs, equations 1, 2, 7 and 8.
    """
    if rule_relevance != EQUAL and rule_relevance not in MEASURES:
        raise OptionError(
            f"Unknown rule_relevance {rule_relevance!r}. "
            f"{did_you_mean(rule_relevance, [EQUAL, *MEASURES])}"
        )
    if feature_relevance not in FEATURE_RELEVANCES:
        raise OptionError(
            f"Unknown feature_relevance {feature_relevance!r}. "
            f"{did_you_mean(feature_relevance, FEATURE_RELEVANCES)}"
        )
    counts = ConditionCounts.of(rules, table, labels)
    P = np.zeros((len(rules), len(rules.schema)))
    P[counts.owner, counts.feature] = feature_entries(counts, feature_relevance)
    return P, rule_entries(counts.rules, rule_relevance)


def rule_entries(counts: Contingency, rule_relevance: str) -> Floats:
    """Rule relevance q from the four counts, 0 where it is not defined; shape (n_rules,)."""
    if rule_relevance == EQUAL:
        return np.ones(len(counts))
    values = counts.measure(rule_relevance)
    return _defined(values, len(counts), f"The rule relevance '{rule_relevance}'")


def feature_entries(counts: ConditionCounts, feature_relevance: str) -> Floats:
    """Feature relevance of every condition, 0 where it is not defined; (n_conditions,)."""
    values = FEATURE_RELEVANCES[feature_relevance](counts)
    return _defined(values, len(counts.owner), f"The feature relevance '{feature_relevance}'")


def _defined(values: ArrayLike, n: int, what: str) -> Floats:
    """The values that a registered function gave, checked, with 0 for those not defined."""
    try:
        given = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.empty((0, 0))
    if given.shape != (n,):
        shape = getattr(values, "shape", None)
        kind = f"a {type(values).__name__}" if shape is None else f"an array of shape {shape}"
        raise OptionError(
            f"{what} gave {kind} for {n} entries. Let it return one number for each, NaN where it "
            "is not defined."
        )
    if np.isinf(given).any():
        raise OptionError(f"{what} is infinite for some rules. Use one with finite values.")
    out: Floats = np.where(np.isnan(given), 0.0, given)
    return out


@FEATURE_RELEVANCES.register("relevance")
def error_rise(counts: ConditionCounts) -> Floats:
    """(error without the condition - error)·recall: equation 8; never negative."""
    rise = counts.shortened.measure("error") - counts.rules.measure("error")[counts.owner]
    return rise * counts.rules.measure("recall")[counts.owner]


@FEATURE_RELEVANCES.register("impurity")
def impurity_fall(counts: ConditionCounts) -> Floats:
    """Gini impurity of the shortened rule's rows, minus that of the two parts it is split in."""
    inside = counts.full[counts.owner]
    rest = counts.without - inside
    n_in, n_rest = inside.sum(axis=1), rest.sum(axis=1)
    # Impurity of the whole minus that of its parts is n_in·n_rest/n²·Σ (share_in - share_rest)².
    # In whole numbers a condition that changes no share falls by exactly 0, not by rounding.
    apart = (inside * n_rest[:, None] - rest * n_in[:, None]).astype(np.float64)
    product = n_in.astype(np.float64) * n_rest
    top = (apart**2).sum(axis=1) / np.maximum(product, 1)
    out: Floats = top / np.maximum(n_in + n_rest, 1).astype(np.float64) ** 2
    return out
