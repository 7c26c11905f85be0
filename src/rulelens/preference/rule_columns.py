"""Further criteria for rules, beyond the paper's: off unless asked for.

They look at more than a rule's counts: at rows, or at the user's own marks. Each gives a column for
`rule_criteria(..., more={name: (column, "gain")})`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike

from rulelens.errors import OptionError, PreferenceError, did_you_mean
from rulelens.preference.criteria import RuleEvidence
from rulelens.preference.hit_and_run import Seed, generator
from rulelens.preference.table import FloatArray


def bootstrap_stability(
    evidence: RuleEvidence,
    *,
    min_support: int = 1,
    min_confidence: float = 1.0,
    n_resamples: int = 200,
    random_state: Seed = 0,
) -> FloatArray:
    """Share of resampled data sets in which each rule still has its support and confidence.

    Resampling rows moves only the rule's counts (tp, fp, rest), which are multinomial, so no row
    is needed.

    Parameters
    ----------
    min_support : int
        Rows with the outcome that the rule must cover.
    min_confidence : float

    Examples
    --------
    >>> e = RuleEvidence([[1], [1]], ("age",), [50, 1], [0, 0], [0, 49], [50, 50], [1, 1])
    >>> bootstrap_stability(e, min_support=1).round(1).tolist()
    [1.0, 0.6]
    """
    rng = generator(random_state)
    e = evidence
    total = e.tp + e.fp + e.fn + e.tn
    result = np.zeros(len(total))
    for i, n in enumerate(total.tolist()):
        if n == 0:
            continue
        shares = np.array([e.tp[i], e.fp[i], n - e.tp[i] - e.fp[i]]) / n
        counts = rng.multinomial(n, shares, size=n_resamples)
        right, wrong = counts[:, 0], counts[:, 1]
        result[i] = np.mean(
            (right >= min_support) & (right >= min_confidence * (right + wrong) - 1e-12)
        )
    return result


def similar_coverage(covered: ArrayLike, similarity: ArrayLike) -> FloatArray:
    """Share of similarity-weighted rows that each rule covers: how local it is.

    Parameters
    ----------
    covered : bool array, shape (n_rows, n_rules)
    similarity : array, shape (n_rows,), ≥ 0
        Such as the share of features on which a row falls in the same bin as the row explained.

    Examples
    --------
    >>> similar_coverage([[True, False], [True, True]], [3.0, 1.0]).tolist()
    [1.0, 0.25]
    """
    cover = np.asarray(covered, dtype=np.float64)
    weight = np.asarray(similarity, dtype=np.float64)
    if cover.ndim != 2 or weight.shape != (len(cover),) or not (weight >= 0).all():
        raise PreferenceError(
            f"Coverage has shape {cover.shape} and similarity {weight.shape}. Expected (rows, "
            "rules) and (rows,), with similarities of at least 0."
        )
    total = weight.sum()
    return np.asarray(weight @ cover / (total if total > 0 else 1.0), dtype=np.float64)


def actionable_share(
    presence: ArrayLike, feature_names: Sequence[str], actionable: Collection[str]
) -> FloatArray:
    """Share of each rule's conditions that are on features the user marked as actionable.

    Examples
    --------
    >>> actionable_share([[1, 1], [0, 1]], ["age", "bmi"], ["bmi"]).tolist()
    [0.5, 1.0]
    """
    names = [str(f) for f in feature_names]
    for name in actionable:
        if name not in names:
            raise PreferenceError(f"Unknown feature '{name}'. {did_you_mean(name, names)}")
    table = np.asarray(presence, dtype=np.float64)
    marked = np.array([n in actionable for n in names], dtype=np.float64)
    total = table.sum(axis=1)
    share: FloatArray = np.zeros(len(table))
    np.divide(table @ marked, total, out=share, where=total > 0)
    return share


def named_values(counts: Sequence[int], most: int) -> FloatArray:
    """Number of distinct values that a rule names, as a share of `most`: a cost.

    Examples
    --------
    >>> named_values([1, 3], most=4).tolist()
    [0.25, 0.75]
    """
    if most < max(counts, default=0) or most < 1:
        raise OptionError(f"most is {most}, but a rule names {max(counts, default=0)} values.")
    return np.asarray(counts, dtype=np.float64) / most
