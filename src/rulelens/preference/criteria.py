"""Criteria of rules: features present, support, confirmation, complexity, and what others add."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from rulelens.core.registry import Registry
from rulelens.errors import PreferenceError
from rulelens.preference.table import BoolArray, Criteria, FloatArray, IntArray, read_only

Direction: TypeAlias = Literal["gain", "cost"]


@dataclass(frozen=True, slots=True, eq=False)
class RuleEvidence:
    """What a criterion may look at: the rules' features and their four counts.

    Parameters
    ----------
    presence : bool array, shape (n_rules, d)
        Whether the rule has a condition on the feature.
    features : tuple of str, length d
        Names of all features of the table.
    tp, fp, fn, tn : int64 arrays, shape (n_rules,)
        Rows that the rule covers with its outcome (tp) or another (fp); rows that it does not
        cover with its outcome (fn) or another (tn).
    n_conditions : int64 array, shape (n_rules,)

    Examples
    --------
    >>> e = RuleEvidence([[True, False]], ("age", "bmi"), [8], [0], [2], [10], [1])
    >>> CRITERIA["support"](e)
    (array([0.4]), 'gain')
    """

    presence: BoolArray
    features: tuple[str, ...]
    tp: IntArray
    fp: IntArray
    fn: IntArray
    tn: IntArray
    n_conditions: IntArray

    def __post_init__(self) -> None:
        presence = np.array(self.presence, dtype=np.bool_)
        presence.setflags(write=False)
        object.__setattr__(self, "presence", presence)
        object.__setattr__(self, "features", tuple(str(f) for f in self.features))
        if presence.ndim != 2 or presence.shape[1] != len(self.features):
            raise PreferenceError(
                f"The presence table has shape {presence.shape}, expected (rules, "
                f"{len(self.features)}): one column for each of the features."
            )
        for name in ("tp", "fp", "fn", "tn", "n_conditions"):
            counts = np.array(getattr(self, name), dtype=np.int64)
            counts.setflags(write=False)
            object.__setattr__(self, name, counts)
            if counts.shape != (len(presence),):
                raise PreferenceError(
                    f"'{name}' has shape {counts.shape}, expected ({len(presence)},): one number "
                    "per rule."
                )


Criterion: TypeAlias = Callable[[RuleEvidence], tuple[FloatArray, Direction]]

CRITERIA: Registry[Criterion] = Registry("criterion", "rulelens.criteria", PreferenceError)


def _share(part: IntArray, whole: IntArray, empty: float) -> FloatArray:
    """part / whole, and `empty` where whole is 0."""
    result = np.full(len(part), empty)
    np.divide(part, whole, out=result, where=whole > 0)
    return result


@CRITERIA.register("support")
def support(evidence: RuleEvidence) -> tuple[FloatArray, Direction]:
    """Share of all rows that the rule covers with its outcome."""
    e = evidence
    return _share(e.tp, e.tp + e.fp + e.fn + e.tn, 0.0), "gain"


@CRITERIA.register("confirmation")
def confirmation(evidence: RuleEvidence) -> tuple[FloatArray, Direction]:
    """Nozick's N = covering - error; where no row has another outcome, the error counts as 0."""
    e = evidence
    return _share(e.tp, e.tp + e.fn, 0.0) - _share(e.fp, e.fp + e.tn, 0.0), "gain"


@CRITERIA.register("complexity")
def complexity(evidence: RuleEvidence) -> tuple[FloatArray, Direction]:
    """Number of conditions over the number of features: a cost."""
    return evidence.n_conditions / max(1, len(evidence.features)), "cost"


@CRITERIA.register("lift")
def lift(evidence: RuleEvidence) -> tuple[FloatArray, Direction]:
    """Lift / (1 + lift): 0.5 is no better than chance.

    Examples
    --------
    >>> e = RuleEvidence([[True]], ("age",), [8], [0], [2], [10], [1])
    >>> lift(e)[0].round(3)
    array([0.667])
    """
    e = evidence
    # lift = (tp / (tp + fp)) / ((tp + fn) / N), so lift / (1 + lift) = a / (a + b).
    a = (e.tp * (e.tp + e.fp + e.fn + e.tn)).astype(np.float64)
    b = ((e.tp + e.fp) * (e.tp + e.fn)).astype(np.float64)
    whole = a + b
    return np.divide(a, whole, out=np.zeros(len(a)), where=whole > 0), "gain"


@CRITERIA.register("confidence")
def confidence(evidence: RuleEvidence) -> tuple[FloatArray, Direction]:
    """Share of the covered rows that have the rule's outcome; 0 where none is covered."""
    covered = (evidence.tp + evidence.fp).astype(np.float64)
    part = evidence.tp.astype(np.float64)
    return np.divide(part, covered, out=np.zeros(len(part)), where=covered > 0), "gain"


def criterion_name(name: str, features: Sequence[str]) -> str:
    """Name of a criterion that no feature of the table has.

    A feature keeps its own name; the criterion gets "rule " put before it as often as needed.
    All features of the table count, used or not, so that a name means the same for every row.

    Examples
    --------
    >>> criterion_name("support", ["age"]), criterion_name("support", ["age", "support"])
    ('support', 'rule support')
    """
    while name in features:
        name = f"rule {name}"
    return name


def unit_gain(name: str, column: ArrayLike, direction: Direction, n_rules: int) -> FloatArray:
    """Column as a gain, after checking that it has one number in [0, 1] per rule.

    Only confirmation may be negative, down to -1.
    """
    values = np.asarray(column, dtype=np.float64)
    if values.shape != (n_rules,):
        raise PreferenceError(
            f"Criterion '{name}' has shape {values.shape}, expected ({n_rules},): one value per "
            "rule."
        )
    # Nozick's confirmation of a rule below chance is negative, and stays so.
    low = -1 if name == "confirmation" else 0
    outside = ~((values >= low) & (values <= 1))
    if outside.any():
        i = int(np.argmax(outside))
        raise PreferenceError(
            f"Criterion '{name}' is {float(values[i])!r} for rule {i}; it must lie in [{low}, 1]. "
            "Rescale it, or leave such rules out."
        )
    if direction not in ("gain", "cost"):
        raise PreferenceError(
            f"Criterion '{name}' has direction {direction!r}. Expected 'gain' or 'cost'."
        )
    return -values if direction == "cost" else values


def rule_criteria(
    presence: ArrayLike,
    feature_names: Sequence[str],
    *,
    support: ArrayLike,
    confirmation: ArrayLike,
    complexity: ArrayLike,
    alternatives: Sequence[Hashable] | None = None,
    more: Mapping[str, tuple[ArrayLike, Direction]] | None = None,
) -> Criteria:
    """The paper's criteria of rules: features present, support, confirmation, complexity.

    Parameters
    ----------
    presence : array of bool, shape (n_rules, d)
        Whether the rule has a condition on the feature.
    feature_names : sequence of str, length d
        Only features that occur in some rule become criteria.
    support, confirmation, complexity : arrays, shape (n_rules,), each in [0, 1]
        Confirmation may be negative, down to -1. Complexity is the number of conditions over d;
        it enters with its sign turned.
    alternatives : sequence of hashable, optional
        Ids of the rules; 0, 1, 2 … by default.
    more : mapping of name to (column, direction), optional
        Further criteria in [0, 1], each a "gain" or a "cost".

    Returns
    -------
    Criteria
        Columns in the order features, "support", "confirmation", "complexity", further ones; a
        name that a feature has already becomes "rule support" and so on (`criterion_name`).

    References
    ----------
    PREF-XAI, arXiv 2604.19684, equation (4).

    Examples
    --------
    >>> c = rule_criteria([[1, 0, 1], [1, 0, 0]], ["age", "sex", "bmi"], support=[0.2, 0.5],
    ...                   confirmation=[0.4, 0.9], complexity=[2 / 3, 1 / 3])
    >>> c.names
    ('age', 'bmi', 'support', 'confirmation', 'complexity')
    """
    features = tuple(str(f) for f in feature_names)
    occurs = np.asarray(presence, dtype=np.bool_)
    if occurs.ndim != 2 or occurs.shape[1] != len(features):
        raise PreferenceError(
            f"The presence table has shape {occurs.shape}, expected (rules, {len(features)}): one "
            "column for each of the feature names."
        )
    n_rules = len(occurs)
    used = np.flatnonzero(occurs.any(axis=0))
    names = [features[j] for j in used]
    columns: list[FloatArray] = [occurs[:, j].astype(np.float64) for j in used]
    measured: dict[str, tuple[ArrayLike, Direction]] = {
        "support": (support, "gain"),
        "confirmation": (confirmation, "gain"),
        "complexity": (complexity, "cost"),
    }
    for name, (column, direction) in [*measured.items(), *(more or {}).items()]:
        names.append(criterion_name(name, features))
        columns.append(unit_gain(name, column, direction, n_rules))
    ids = tuple(range(n_rules)) if alternatives is None else tuple(alternatives)
    return Criteria(ids, tuple(names), np.column_stack(columns))


def evidence_criteria(
    evidence: RuleEvidence,
    names: Sequence[str] = ("support", "confirmation", "complexity"),
    *,
    alternatives: Sequence[Hashable] | None = None,
    presence: bool = True,
) -> Criteria:
    """Criteria of rules from their evidence: features present, then the registered `names`.

    Examples
    --------
    >>> e = RuleEvidence([[1, 0], [1, 1]], ("age", "bmi"), [8, 4], [0, 0], [2, 6], [10, 10], [1, 2])
    >>> evidence_criteria(e).to_frame().round(2)
       age  bmi  support  confirmation  complexity
    0  1.0  0.0      0.4           0.8        -0.5
    1  1.0  1.0      0.2           0.4        -1.0
    """
    n_rules = len(evidence.presence)
    used = np.flatnonzero(evidence.presence.any(axis=0)) if presence else np.arange(0)
    titles = [evidence.features[j] for j in used]
    columns: list[FloatArray] = [evidence.presence[:, j].astype(np.float64) for j in used]
    for name in names:
        column, direction = CRITERIA[name](evidence)
        titles.append(criterion_name(name, evidence.features))
        columns.append(unit_gain(name, column, direction, n_rules))
    if not columns:
        raise PreferenceError("No criteria were asked for. Name at least one, or keep presence.")
    ids = tuple(range(n_rules)) if alternatives is None else tuple(alternatives)
    return Criteria(ids, tuple(titles), np.column_stack(columns))


__all__ = [
    "CRITERIA",
    "BoolArray",
    "Criteria",
    "Criterion",
    "Direction",
    "FloatArray",
    "IntArray",
    "RuleEvidence",
    "complexity",
    "confidence",
    "confirmation",
    "criterion_name",
    "evidence_criteria",
    "lift",
    "read_only",
    "rule_criteria",
    "support",
    "unit_gain",
]
