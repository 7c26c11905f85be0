"""How well a learned preference agrees with the true one, and whether methods really differ."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rulelens.errors import OptionError
from rulelens.preference.table import FloatArray


def _vectors(first: ArrayLike, second: ArrayLike) -> tuple[FloatArray, FloatArray]:
    try:
        a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise OptionError(
            "Kendall's τ compares two vectors of scores or ranks, one number per alternative. "
            f"Found something that is no number: {error}."
        ) from error
    if a.ndim != 1 or a.shape != b.shape or len(a) < 2:
        raise OptionError(
            f"Kendall's τ compares two vectors of the same length, at least 2; found shapes "
            f"{a.shape} and {b.shape}. Give scores or ranks in one order of alternatives, not "
            "lists of ids."
        )
    return a, b


def kendall_tau_a(first: ArrayLike, second: ArrayLike) -> float:
    """(concordant - discordant pairs) / all pairs; a tie counts 0. The paper's equation (7).

    Parameters
    ----------
    first, second : arrays, shape (n,)
        Scores (or both: ranks) of the same alternatives in the same order. Never lists of ids.

    Examples
    --------
    >>> round(kendall_tau_a([3, 2, 1, 1], [4, 3, 2, 1]), 4)
    0.8333
    """
    a, b = _vectors(first, second)
    return float(_pair_signs(a, b) / (len(a) * (len(a) - 1) / 2))


def kendall_tau_b(first: ArrayLike, second: ArrayLike) -> float:
    """Kendall's τ with ties taken out of the denominator; NaN if one vector is constant.

    Examples
    --------
    >>> round(kendall_tau_b([3, 2, 1, 1], [4, 3, 2, 1]), 4)
    0.9129
    """
    a, b = _vectors(first, second)
    scale = np.sqrt(_untied(a) * _untied(b))
    return float(_pair_signs(a, b) / scale) if scale > 0 else float("nan")


def _untied(a: FloatArray) -> float:
    """Number of pairs with different values."""
    counts = np.unique(a, return_counts=True)[1].astype(np.float64)
    return len(a) * (len(a) - 1) / 2 - float((counts * (counts - 1)).sum()) / 2


def _pair_signs(a: FloatArray, b: FloatArray) -> float:
    """Concordant minus discordant pairs: τ-b, found in n log n steps, times its denominator."""
    from scipy.stats import kendalltau

    scale = np.sqrt(_untied(a) * _untied(b))
    return float(np.round(kendalltau(a, b).statistic * scale)) if scale > 0 else 0.0


def parameter_tau(learned: Mapping[str, float], true: Mapping[str, float]) -> float:
    """Kendall τ-a between two weightings of the same criteria.

    Bounded by what the criteria can tell apart at all, see `identifiability`: proportional
    criteria, such as support and confirmation of rules with confidence 1, share their weight in a
    way that no answer reveals.

    Examples
    --------
    >>> parameter_tau({"x": 0.6, "y": 0.4}, {"x": 0.9, "y": 0.1})
    1.0
    """
    if set(learned) != set(true):
        raise OptionError(
            f"The weightings name different criteria: {sorted(set(learned) ^ set(true))} occur in "
            "one of them only."
        )
    names = list(learned)
    return kendall_tau_a([learned[n] for n in names], [true[n] for n in names])


def jaccard(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """Shared members over all members of two sets; 1 for two empty ones.

    Examples
    --------
    >>> jaccard(["a", "b"], ["b", "c"])
    0.3333333333333333
    """
    a, b = set(first), set(second)
    return len(a & b) / len(a | b) if a | b else 1.0


@dataclass(frozen=True, slots=True)
class Discovery:
    """New alternatives that a ranking brings to the top, and whether they belong there.

    Parameters
    ----------
    n_above : int
        New alternatives above the best reference one (the paper's "discovery").
    n_in_top : int
        New alternatives among the first k (the paper's "new in top 5").
    precision : float
        Share of those in the top that are in the true top too; NaN if there are none.
    recall : float
        Share of the new alternatives of the true top that were found; NaN if there are none.
    """

    n_above: int
    n_in_top: int
    precision: float
    recall: float


def discovery(
    ranking: Sequence[Hashable],
    true_ranking: Sequence[Hashable],
    reference: Sequence[Hashable],
    k: int = 5,
) -> Discovery:
    """Discovery of new alternatives, with precision and recall.

    Examples
    --------
    >>> discovery(["n", "a", "m", "b"], ["n", "a", "b", "m"], ["a", "b"], k=2)
    Discovery(n_above=1, n_in_top=1, precision=1.0, recall=1.0)
    """
    known = set(reference)
    above = 0
    for alternative in ranking:
        if alternative in known:
            break
        above += 1
    found = {a for a in ranking[:k] if a not in known}
    wanted = {a for a in true_ranking[:k] if a not in known}
    hits = len(found & wanted)
    return Discovery(
        above,
        len(found),
        hits / len(found) if found else float("nan"),
        hits / len(wanted) if wanted else float("nan"),
    )


def top_regret(scores: ArrayLike, utilities: ArrayLike) -> float:
    """How much worse the alternative ranked first is than the best, as a share of the range.

    Examples
    --------
    >>> top_regret([0.1, 0.9, 0.5], [1.0, 0.6, 0.0])
    0.4
    """
    told, true = np.asarray(scores, dtype=np.float64), np.asarray(utilities, dtype=np.float64)
    width = float(true.max() - true.min())
    return float(true.max() - true[told.argmax()]) / width if width > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """Paired comparison of two methods.

    Parameters
    ----------
    first, second : str
    n : int
        Pairs; `n_different` of them differ.
    n_different : int
    mean_difference : float
    effect : float
        Matched-pairs rank-biserial correlation, -1 to 1; 0 if nothing differs.
    p_value : float
        Two-sided Wilcoxon signed-rank; 1 if nothing differs.
    p_holm : float
        Corrected by Holm for all comparisons made together.
    """

    first: str
    second: str
    n: int
    n_different: int
    mean_difference: float
    effect: float
    p_value: float
    p_holm: float


def compare_methods(
    results: Mapping[str, ArrayLike], pairs: Sequence[tuple[str, str]]
) -> tuple[Comparison, ...]:
    """Wilcoxon signed-rank tests of paired results, Holm-corrected, with effect sizes.

    Parameters
    ----------
    results : mapping of method to array, shape (n,)
        One number per person, the persons in one order. Pairs with a NaN are left out.
    pairs : sequence of (method, method)

    Examples
    --------
    >>> x = np.arange(20.0)
    >>> c, = compare_methods({"a": x + 1, "b": x}, [("a", "b")])
    >>> c.mean_difference, c.effect, c.p_value < 1e-4
    (1.0, 1.0, True)
    """
    from scipy.stats import rankdata, wilcoxon

    raw = []
    for first, second in pairs:
        gap = np.asarray(results[first], dtype=np.float64) - np.asarray(
            results[second], dtype=np.float64
        )
        gap = gap[np.isfinite(gap)]
        moved = gap[gap != 0]
        if len(moved) == 0:
            raw.append((len(gap), 0, float(gap.mean()) if len(gap) else 0.0, 0.0, 1.0))
            continue
        ranks = rankdata(np.abs(moved))
        effect = float((ranks * np.sign(moved)).sum() / ranks.sum())
        p_value = float(wilcoxon(moved).pvalue)
        raw.append((len(gap), len(moved), float(gap.mean()), effect, p_value))
    corrected = holm([r[4] for r in raw])
    return tuple(
        Comparison(a, b, *r, p) for (a, b), r, p in zip(pairs, raw, corrected, strict=True)
    )


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction, in the order given.

    References
    ----------
    Holm: A simple sequentially rejective multiple test procedure (1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    corrected = [0.0] * len(p_values)
    largest = 0.0
    for step, i in enumerate(order.tolist()):
        largest = max(largest, min(1.0, (len(p_values) - step) * p_values[i]))
        corrected[i] = largest
    return corrected
