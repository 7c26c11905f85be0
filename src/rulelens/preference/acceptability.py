"""What a sample of weights says about ranks: who is how often where.

Scores of many alternatives under many weights are computed in blocks of single precision, where
only the few that can be among the best are kept and computed again in double precision. So the
answer is that of double precision at a fraction of its time and memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulelens.errors import OptionError
from rulelens.preference.ranking import TIE, json_id
from rulelens.preference.table import Criteria, FloatArray, IntArray, is_number, without_offsets

if TYPE_CHECKING:
    import pandas as pd

_BLOCK = 4_000_000
_PAIR_DRAWS = 400
_PAIR_ALTERNATIVES = 250


def best_positions(values: FloatArray, draws: FloatArray, k: int) -> IntArray:
    """Positions of the `k` best alternatives under each draw, best first, ties in input order.

    Parameters
    ----------
    values : array, shape (n, m)
    draws : array, shape (s, m)
    k : int
        At most n.

    Returns
    -------
    int array, shape (s, k)

    Examples
    --------
    >>> best_positions(np.eye(3), np.array([[0.1, 0.6, 0.3]]), 2)
    array([[1, 2]])
    """
    n = len(values)
    k = min(k, n)
    result = np.empty((len(draws), k), dtype=np.int64)
    single = values.astype(np.float32)
    # Scores are sums of at most m products of weights (sum 1) and values of this size.
    doubt = np.float32(4e-6 * max(float(np.abs(values).max(initial=0.0)), 1e-30))
    # 1. The k-th best among some that are likely to be good is a floor for the k-th best of all.
    some = draws[_evenly(len(draws), 48)].astype(np.float32) @ single.T
    likely = np.unique(np.argpartition(some, n - k, axis=1)[:, n - k :])
    for start, block in _blocks(draws, n):
        scores = block.astype(np.float32) @ single.T
        floor = np.partition(scores[:, likely], len(likely) - k, axis=1)[:, len(likely) - k]
        # 2. Only those that reach the floor, within the error of single precision, can be among
        #    the k best.
        row, column = np.divmod(np.flatnonzero(scores >= (floor - doubt)[:, None]), n)
        exact = np.einsum("ij,ij->i", block[row], values[column])
        # 3. Their true order, draw by draw.
        order = np.lexsort((column, -exact, row))
        first = np.searchsorted(row[order], np.arange(len(block)))
        result[start : start + len(block)] = column[order][first[:, None] + np.arange(k)]
    return result


def _blocks(draws: FloatArray, n: int) -> Iterator[tuple[int, FloatArray]]:
    size = max(1, _BLOCK // max(n, 1))
    for start in range(0, len(draws), size):
        yield start, draws[start : start + size]


def rank_acceptability(values: FloatArray, draws: FloatArray, ranks: int) -> FloatArray:
    """Share of draws in which each alternative has rank 1, 2 … `ranks`, shape (n, ranks).

    Examples
    --------
    >>> rank_acceptability(np.eye(2), np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]]), 2).round(2)
    array([[0.67, 0.33],
           [0.33, 0.67]])
    """
    n = len(values)
    best = best_positions(values, draws, ranks)
    width = best.shape[1]
    cells = np.bincount((best * width + np.arange(width)).ravel(), minlength=n * width)
    return cells.reshape(n, width) / max(1, len(draws))


def pairwise_probabilities(values: FloatArray, draws: FloatArray) -> FloatArray:
    """Share of draws in which i scores higher than j, shape (n, n); equal scores count half.

    Examples
    --------
    >>> pairwise_probabilities(np.eye(2), np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])).round(2)
    array([[0.5 , 0.67],
           [0.33, 0.5 ]])
    """
    n = len(values)
    if n > 5_000:
        raise OptionError(
            f"Pairwise probabilities of {n} alternatives need {n * n:,} cells; the limit is 5,000 "
            "alternatives. Keep the best ones first, such as result.top(500)."
        )
    wins = np.zeros((n, n))
    scores = draws @ values.T
    same = TIE * float(np.abs(values).max(initial=0.0))
    for i in range(n):
        gap = scores[:, [i]] - scores
        wins[i] = (gap > same).mean(axis=0) + 0.5 * (np.abs(gap) <= same).mean(axis=0)
    return wins


def expected_jaccard(top: IntArray, best: IntArray) -> float:
    """Mean Jaccard index of the set `top` with the sets in the rows of `best`.

    Examples
    --------
    >>> expected_jaccard(np.array([0, 1]), np.array([[1, 0], [1, 2]]))
    0.6666666666666666
    """
    shared = np.isin(best, top).sum(axis=1)
    return float(np.mean(shared / (len(top) + best.shape[1] - shared)))


def expected_tau(values: FloatArray, scores: FloatArray, draws: FloatArray) -> float:
    """Mean Kendall τ-a between the ranking by `scores` and the rankings under the draws.

    More than 250 alternatives or 400 draws are thinned evenly: their mean moves by less than
    the error of the sample.

    Examples
    --------
    >>> expected_tau(np.eye(3), np.array([3.0, 2.0, 1.0]), np.array([[0.5, 0.3, 0.2]]))
    1.0
    """
    if len(scores) < 2:
        return 1.0
    chosen = _evenly(len(scores), _PAIR_ALTERNATIVES)
    some = draws[_evenly(len(draws), _PAIR_DRAWS)]
    i, j = np.triu_indices(len(chosen), 1)
    told = np.sign(scores[chosen[i]] - scores[chosen[j]]).astype(np.int8)
    total = 0
    for draw in some @ values[chosen].T:
        total += int((told * np.sign(draw[i] - draw[j]).astype(np.int8)).sum(dtype=np.int64))
    return total / (len(some) * len(i))


def _evenly(n: int, at_most: int) -> IntArray:
    return np.unique(np.linspace(0, n - 1, min(n, at_most)).round().astype(np.int64))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Outlook:
    """How settled a ranking is, from a sample of all weights that fit what was said.

    Parameters
    ----------
    k : int
    expected_tau : float
        Kendall τ with the person's own ranking that is to be expected.
    expected_jaccard : float
        The same for the Jaccard index of the top k.
    in_top : mapping of id to float
        Share of weights that put an alternative among the k best; those never there are left out.
    first : mapping of id to float
        Share of weights that put an alternative first, largest share first ("first rules").
    credible : tuple of hashable
        Smallest set that holds the best alternative with probability `level`.
    level : float
    new_in_top : mapping of id to float
        `in_top` of alternatives that no statement mentions.
    ess, rhat : float
        Diagnostics of the sample.
    """

    k: int
    expected_tau: float
    expected_jaccard: float
    in_top: dict[Hashable, float]
    first: dict[Hashable, float]
    credible: tuple[Hashable, ...]
    level: float
    new_in_top: dict[Hashable, float]
    ess: float
    rhat: float

    def __repr__(self) -> str:
        best = next(iter(self.first), None)
        first = "" if best is None else f", {best!r} first with {self.first[best]:.2g}"
        return (
            f"<Outlook: expected τ {self.expected_tau:.3f}, expected Jaccard of the top {self.k} "
            f"{self.expected_jaccard:.3f}{first}, {len(self.credible)} in the credible set>"
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe dict."""

        def named(shares: dict[Hashable, float]) -> list[dict[str, Any]]:
            return [{"alternative": json_id(a), "share": p} for a, p in shares.items()]

        return {
            "k": self.k,
            "expected_tau": self.expected_tau,
            "expected_jaccard": self.expected_jaccard,
            "in_top": named(self.in_top),
            "first": named(self.first),
            "credible": [json_id(a) for a in self.credible],
            "level": self.level,
            "new_in_top": named(self.new_in_top),
            "ess": self.ess,
            "rhat": self.rhat,
        }

    def to_frame(self) -> pd.DataFrame:
        """Pandas DataFrame: alternatives ever in the top k, with their shares."""
        import pandas as pd

        index = pd.Index(list(self.in_top), tupleize_cols=False, name="alternative")
        return pd.DataFrame(
            {
                "in_top": list(self.in_top.values()),
                "first": [self.first.get(a, 0.0) for a in self.in_top],
                "new": [a in self.new_in_top for a in self.in_top],
            },
            index=index,
        )


def outlook(
    criteria: Criteria,
    scores: FloatArray,
    draws: FloatArray,
    *,
    k: int,
    reference: Sequence[Hashable] = (),
    level: float = 0.95,
    ess: float = float("nan"),
    rhat: float = float("nan"),
) -> Outlook:
    """Outlook of the ranking by `scores`, given draws of the weights.

    Examples
    --------
    >>> c = Criteria(("a", "b", "c"), ("x", "y"), [[1, 0], [0, 1], [0.4, 0.4]])
    >>> draws = np.array([[0.8, 0.2], [0.7, 0.3], [0.2, 0.8], [0.9, 0.1]])
    >>> o = outlook(c, c.values @ draws.mean(axis=0), draws, k=1)
    >>> o.first, o.credible, o.expected_jaccard
    ({'a': 0.75, 'b': 0.25}, ('a', 'b'), 0.75)
    """
    if not (is_number(level) and 0 < level <= 1):
        raise OptionError(f"level is {level!r}. Expected a probability in (0, 1].")
    ids = criteria.alternatives
    k = min(k, len(ids))
    values = without_offsets(criteria.values)
    best = best_positions(values, draws, k)
    told = np.argsort(-scores, kind="stable")[:k]

    def shares(positions: IntArray) -> dict[Hashable, float]:
        counts = np.bincount(positions.ravel(), minlength=len(ids))
        order = np.argsort(-counts, kind="stable")[: int((counts > 0).sum())]
        return {ids[i]: int(counts[i]) / len(draws) for i in order.tolist()}

    first, in_top = shares(best[:, 0]), shares(best)
    mass = np.cumsum(list(first.values()))
    n_credible = int(np.searchsorted(mass, level - 1e-12)) + 1
    known = set(reference)
    return Outlook(
        k=k,
        expected_tau=expected_tau(values, scores, draws),
        expected_jaccard=expected_jaccard(told, best),
        in_top=in_top,
        first=first,
        credible=tuple(first)[:n_credible],
        level=level,
        new_in_top={a: p for a, p in in_top.items() if a not in known},
        ess=ess,
        rhat=rhat,
    )
