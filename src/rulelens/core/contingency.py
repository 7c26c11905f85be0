"""The four counts of every rule, from which all measures follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulelens.core.measures import MEASURES, Counts, Floats
from rulelens.errors import RuleError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Contingency:
    """True and false positives and negatives, one entry a rule.

    Parameters
    ----------
    tp, fp, fn, tn : array of int, shape (n_rules,)
        Rows that the rule covers and that have its class; that it covers and that do not;
        that it does not cover and that have its class; neither.

    Examples
    --------
    >>> counts = Contingency([8], [2], [2], [8])
    >>> float(counts.measure("confidence")[0]), float(counts.measure("lift")[0])
    (0.8, 1.6)
    """

    tp: Counts
    fp: Counts
    fn: Counts
    tn: Counts

    def __init__(self, tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike) -> None:
        arrays = [_counts(a) for a in (tp, fp, fn, tn)]
        if len({a.shape for a in arrays}) != 1 or arrays[0].ndim != 1:
            raise RuleError("The four counts must be one-dimensional and of one length.")
        if any((a < 0).any() for a in arrays):
            raise RuleError("Counts cannot be negative.")
        for name, a in zip(("tp", "fp", "fn", "tn"), arrays, strict=True):
            a.flags.writeable = False
            object.__setattr__(self, name, a)

    @classmethod
    def from_class_counts(
        cls, covered: NDArray[np.integer], totals: NDArray[np.integer], outcome: NDArray[np.integer]
    ) -> Contingency:
        """Counts from the rows of each class that each rule covers.

        Parameters
        ----------
        covered : array of int, shape (n_rules, n_classes)
        totals : array of int, shape (n_classes,)
            All rows of each class.
        outcome : array of int, shape (n_rules,)
            Each rule's class; -1 where the class does not occur in the data.
        """
        known = outcome >= 0
        safe = np.where(known, outcome, 0)
        all_covered = covered.sum(axis=1, dtype=np.int64)
        if covered.shape[1]:
            tp = np.where(known, np.take_along_axis(covered, safe[:, None], axis=1)[:, 0], 0)
            pos = np.where(known, totals[safe], 0)
        else:
            tp = pos = np.zeros(len(outcome), dtype=np.int64)
        fp = all_covered - tp
        n = int(totals.sum())
        return cls(tp, fp, pos - tp, n - pos - fp)

    def __eq__(self, other: object) -> bool:
        """Equal in all counts of all rules."""
        if not isinstance(other, Contingency):
            return NotImplemented
        pairs = zip(self._arrays(), other._arrays(), strict=True)
        return all(np.array_equal(a, b) for a, b in pairs)

    def __hash__(self) -> int:
        return hash(tuple(a.tobytes() for a in self._arrays()))

    def _arrays(self) -> tuple[Counts, Counts, Counts, Counts]:
        return self.tp, self.fp, self.fn, self.tn

    def __len__(self) -> int:
        return len(self.tp)

    @property
    def n_rows(self) -> int:
        """Rows behind the counts."""
        return int(self.tp[0] + self.fp[0] + self.fn[0] + self.tn[0]) if len(self) else 0

    def __getitem__(self, index: NDArray[np.generic] | slice | int) -> Contingency:
        return Contingency(self.tp[index], self.fp[index], self.fn[index], self.tn[index])

    def measure(self, name: str) -> Floats:
        """One registered measure, shape (n_rules,); NaN where it is not defined."""
        return MEASURES[name](self.tp, self.fp, self.fn, self.tn)

    def to_frame(self, measures: Sequence[str] | None = None) -> pd.DataFrame:
        """One row a rule: the four counts and the measures (all registered ones if None)."""
        import pandas as pd

        names = list(MEASURES) if measures is None else list(measures)
        counts = {"tp": self.tp, "fp": self.fp, "fn": self.fn, "tn": self.tn}
        return pd.DataFrame(counts | {name: self.measure(name) for name in names})


def _counts(values: ArrayLike) -> Counts:
    given = np.array(values, ndmin=1)
    counts: Counts = given.astype(np.int64)
    if given.dtype.kind not in "biu" and not (counts == given).all():
        raise RuleError("Counts must be whole numbers.")
    return counts
