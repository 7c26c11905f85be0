"""Rules that decide together: what each says for each class, for formats that others run.

Unordered rules of a boosted model carry values that are added up; those of a forest carry class
shares that are averaged. A format that is run by other programs must keep these numbers, or
refuse, or say that no rule decides alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rulelens.core.provenance import SCORE_CLASS, SECOND_FROM, SHARE, VALUE
from rulelens.core.ruleset import RuleSet
from rulelens.errors import FormatError

DECIDE_TOGETHER = (
    "No rule decides alone: the model from which these rules come adds up a number of each rule "
    "that fires, which this file does not hold."
)
_KEEP = (
    "Keep these rules as JSON or text, which hold everything; SQL and Python files hold what each "
    "rule covers."
)


@dataclass(frozen=True)
class Votes:
    """Weights whose sum for each class decides; of equal classes the first wins.

    Parameters
    ----------
    start : array of float64, shape (n_classes,)
        What each class has before any rule fires.
    order : array of int64, shape (n_rules,)
        The rules in the order in which the model adds them up.
    weights : array of float64, shape (n_rules, n_classes)
    """

    start: NDArray[np.float64]
    order: NDArray[np.int64]
    weights: NDArray[np.float64]


def decides_together(rules: RuleSet) -> bool:
    """Whether the rules carry numbers that are added up to a prediction."""
    names = rules.provenance
    return not rules.ordered and (
        (VALUE in names and SCORE_CLASS in names) or any(n.startswith(SHARE) for n in names)
    )


def votes_of(rules: RuleSet) -> Votes | None:
    """Weights that predict what the rules' model predicts; None for rules that carry none.

    One tree, whose leaves exclude each other, needs none either: its leaf has the outcome.

    Raises
    ------
    FormatError
        The numbers are not whole, or are added up in single precision, so that sums in double
        precision could decide otherwise.
    """
    if not decides_together(rules):
        return None
    if VALUE in rules.provenance and SCORE_CLASS in rules.provenance:
        return _sums(rules)
    return _shares(rules)


def _sums(rules: RuleSet) -> Votes:
    column = rules.provenance[VALUE]
    values, target = _numbers(rules, VALUE), _numbers(rules, SCORE_CLASS)
    if len(rules) and not set(np.unique(target)) <= set(range(len(rules.outcomes))):
        raise FormatError(
            f"Provenance '{SCORE_CLASS}' has other numbers than 0..{len(rules.outcomes) - 1}, the "
            "positions of the outcomes. Give rules as they were extracted from a model."
        )
    # Values of a model in single precision are exact in it, also when read back from a file.
    with np.errstate(over="ignore"):
        single = column.dtype == np.float32 or (values.astype(np.float32) == values).all()
    whole = (values * 1024 == np.floor(values * 1024)).all() and np.abs(values).sum() < 2**14
    if single and not whole:
        raise FormatError(
            "The model adds up these rules' values in single precision, and a PMML scorer in "
            f"double precision, which gives another class where classes are nearly equal. {_KEEP}"
        )
    weights = np.zeros((len(rules), len(rules.outcomes)))
    weights[np.arange(len(rules)), target.astype(np.int64)] = values
    start = np.zeros(len(rules.outcomes))
    one_score = len(rules.outcomes) == 2 and not weights[:, 0].any()
    if one_score and SECOND_FROM in rules.provenance and len(rules):
        # The second class from t on: it must be more than the number just below t.
        start[0] = np.nextafter(_numbers(rules, SECOND_FROM)[0], -np.inf)
    return Votes(start, _order(rules), weights)


def _shares(rules: RuleSet) -> Votes | None:
    names = [f"{SHARE}{c}" for c in rules.outcomes]
    if len(set(names)) < len(names) or not {*names, "tree"} <= set(rules.provenance):
        raise FormatError(
            "These rules carry class shares, but not for each class and with the rule's tree, so "
            f"that they do not tell what their forest predicts. {_KEEP}"
        )
    shares = np.stack([_numbers(rules, n) for n in names], axis=1)
    one_tree = len(np.unique(_numbers(rules, "tree"))) < 2
    if one_tree and (shares.argmax(axis=1) == rules.outcome).all():
        return None
    return Votes(np.zeros(len(names)), _order(rules), shares)


def _order(rules: RuleSet) -> NDArray[np.int64]:
    """Tree after tree, so that sums are the model's to the last bit."""
    if "tree" not in rules.provenance:
        return np.arange(len(rules))
    return np.argsort(_numbers(rules, "tree"), kind="stable")


def _numbers(rules: RuleSet, name: str) -> NDArray[np.float64]:
    column = rules.provenance[name].tolist()
    if not all(isinstance(v, int | float) and np.isfinite(v) for v in column):
        raise FormatError(
            f"Provenance '{name}' has entries that are no finite numbers, so that the rules do not "
            f"tell what their model predicts. {_KEEP}"
        )
    return np.array(column, dtype=np.float64)
