"""How good a rule of one row is, and the order in which rules are preferred."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Yardstick:
    """What makes one rule better than another.

    Parameters
    ----------
    alpha : float in [0, 1]
        Weight of precision; recall has the rest.
    totals : array, shape (n_classes,)
        Training rows of each class.
    class_weights : array of float64, shape (n_classes,), or None
        Factor by which the rows of each class count in the precision: priors other than
        those of the training rows. Recall is within a class and does not change.
    min_count : int
        Least number of covered rows of the rule's class. Where rows have weights, the least sum
        of weights; 1 asks for any covered row, however light.
    among : array of bool, shape (n_classes,), or None
        The classes that rules may speak for; None for all.
    """

    alpha: float
    totals: NDArray[Any]
    class_weights: Floats | None = None
    min_count: int = 1
    among: NDArray[np.bool_] | None = None

    def same_order(self, other: Yardstick) -> bool:
        """Whether both order rules alike."""
        a, b = self.class_weights, other.class_weights
        weights = a is b or (a is not None and b is not None and np.array_equal(a, b))
        among = self.among is None and other.among is None
        return weights and among and (self.alpha, self.min_count) == (other.alpha, other.min_count)

    def best_class(self, counts: NDArray[Any]) -> tuple[NDArray[np.int64], Floats, NDArray[Any]]:
        """Best class of each set of items, its accuracy, and the rows of it that are covered.

        Parameters
        ----------
        counts : array, shape (n_classes, n_sets)
            Covered rows of each class.

        Returns
        -------
        outcome : array of int64, shape (n_sets,)
            Higher accuracy first, then more covered rows, then the first class.
        accuracy : array of float64
            alpha·precision + (1 - alpha)·recall; -1 where no class may be chosen.
        tp : array
        """
        m = counts.shape[1]
        outcome, best = np.zeros(m, dtype=np.int64), np.full(m, -1.0)
        tp = np.zeros(m, dtype=counts.dtype)
        weighted = counts if self.class_weights is None else counts * self.class_weights[:, None]
        covered = np.asarray(weighted.sum(axis=0), dtype=np.float64)
        covered[covered <= 0] = 1.0
        for c in range(len(counts)):
            if self.among is not None and not self.among[c]:
                continue
            accuracy = self.alpha * (weighted[c] / covered)
            accuracy += (1 - self.alpha) * (counts[c] / (float(self.totals[c]) or 1.0))
            accuracy[~self._suffices(counts[c])] = -1.0
            better = (accuracy > best) | ((accuracy == best) & (counts[c] > tp) & (best >= 0))
            outcome[better], best[better], tp[better] = c, accuracy[better], counts[c][better]
        return outcome, best, tp

    def precision(self, counts: NDArray[Any], outcome: NDArray[np.int64]) -> Floats:
        """Precision of each set of items for a class: `counts` as in `best_class`."""
        weighted = counts if self.class_weights is None else counts * self.class_weights[:, None]
        covered = np.asarray(weighted.sum(axis=0), dtype=np.float64)
        covered[covered <= 0] = 1.0
        out: Floats = weighted[outcome, np.arange(len(outcome))] / covered
        return out

    def bound(self, counts: NDArray[Any]) -> Floats:
        """Accuracy that no set of more items can exceed, shape (n_sets,).

        More items cover fewer rows, so recall cannot grow; precision is at most 1.
        """
        out = np.full(counts.shape[1], -1.0)
        for c in range(len(counts)):
            if self.among is not None and not self.among[c]:
                continue
            most = self.alpha + (1 - self.alpha) * (counts[c] / (float(self.totals[c]) or 1.0))
            np.maximum(out, np.where(self._suffices(counts[c]), most, -1.0), out=out)
        return out

    def _suffices(self, covered: NDArray[Any]) -> NDArray[np.bool_]:
        # Weights may all be below 1, as those that sum to 1: a row is a row.
        enough: NDArray[np.bool_] = covered > 0
        return enough if self.min_count <= 1 else enough & (covered >= self.min_count)


def is_needless(
    features: int, outcome: int, precision: float, kept: list[tuple[int, int, float]]
) -> bool:
    """Whether a better rule says the same in fewer conditions and is no less precise.

    Parameters
    ----------
    features : int
        The features of the rule, as bits.
    kept : list of (features, outcome, precision)
        Rules that go before it.
    """
    return any(
        o == outcome and p >= precision and f & features == f and f != features for f, o, p in kept
    )


@dataclass(frozen=True, eq=False)
class Choice:
    """Chosen sets of items: entry i is the rule of rank ``rank[i]`` for row ``row[i]``.

    Parameters
    ----------
    row, rank : arrays of int64, shape (n_entries,)
        Sorted by row, then rank; rank 0 is the best. Every row has rank 0.
    features : array of int64, shape (n_entries, max_length)
        The features whose items make the rule, ascending, then -1.
    outcome : array of int64
    accuracy : array of float64
        NaN where no rule was found and the class is the most frequent one.
    counts : array, shape (n_entries, n_classes)
        Covered training rows of each class.
    """

    row: NDArray[np.int64]
    rank: NDArray[np.int64]
    features: NDArray[np.int64]
    outcome: NDArray[np.int64]
    accuracy: Floats
    counts: NDArray[Any]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of items of each rule."""
        out: NDArray[np.int64] = (self.features >= 0).sum(axis=1)
        return out

    def take(self, entries: NDArray[np.generic]) -> Choice:
        """The entries at the given positions."""
        parts = (self.row, self.rank, self.features, self.outcome, self.accuracy, self.counts)
        return Choice(*(p[entries] for p in parts))

    @classmethod
    def stack(cls, parts: list[Choice]) -> Choice:
        """Entries of several choices, one after another."""
        names = ("row", "rank", "features", "outcome", "accuracy", "counts")
        return cls(*(np.concatenate([getattr(p, n) for p in parts]) for n in names))

    @classmethod
    def join(cls, parts: list[Choice]) -> Choice:
        """Entries of several choices, sorted by row and rank."""
        out = cls.stack(parts)
        return out.take(np.lexsort((out.rank, out.row)))
