"""Personal rules of rows as a record: the rules, their counts and how sure one may be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rulelens.core.condition_table import ConditionTable
from rulelens.core.measures import ratio
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Level
from rulelens.discretize.cuts import Binning
from rulelens.errors import OptionError
from rulelens.personal.accuracy import Choice, Floats

if TYPE_CHECKING:
    import pandas as pd

FALLBACK = "no training row shares an item with this row: the most frequent class is given"
NO_ITEM = (
    "this row has no item (each value is missing, new, or the same in all training rows): the most "
    "frequent class is given"
)
TOO_FEW = (
    "no set of this row's items covers min_count training rows of one class: the most frequent "
    "class is given"
)


@dataclass(frozen=True, eq=False)
class PersonalRules:
    """One best rule for each row, and the runners-up if they were asked for.

    Entries are sorted by row and rank; the entry of rank 0 is the row's own rule.

    Parameters
    ----------
    rules : RuleSet
        The different rules, each once, in the order in which rows first need them.
    row, rank : arrays of int64, shape (n_entries,)
    index : array of int64, shape (n_entries,)
        Position of the entry's rule in `rules`.
    score : array of float64
        alpha·precision + (1 - alpha)·recall; NaN for a fallback.
    tp, fp, fn, tn : arrays, shape (n_entries,)
        The rule's four counts on the training rows (sums of weights, if rows had weights).
    reasons : tuple of str, one an entry
        Why the most frequent class is given for want of a rule; "" where there is a rule.
    """

    rules: RuleSet
    row: NDArray[np.int64]
    rank: NDArray[np.int64]
    index: NDArray[np.int64]
    score: Floats
    tp: NDArray[Any]
    fp: NDArray[Any]
    fn: NDArray[Any]
    tn: NDArray[Any]
    reasons: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.row)

    @property
    def best(self) -> NDArray[np.int64]:
        """Position in `rules` of each row's own rule, shape (n_rows,)."""
        out: NDArray[np.int64] = self.index[self.rank == 0]
        return out

    @property
    def is_fallback(self) -> NDArray[np.bool_]:
        """Which entries have no rule but the most frequent class."""
        return np.isnan(self.score)

    @property
    def precision(self) -> Floats:
        """Share of the covered training rows that have the rule's class."""
        return ratio(self.tp, self.tp + self.fp)

    @property
    def recall(self) -> Floats:
        """Share of the class's training rows that the rule covers."""
        return ratio(self.tp, self.tp + self.fn)

    def precision_interval(self) -> tuple[Floats, Floats]:
        """95 % Wilson score interval of the precision: lower and upper ends.

        A precision of 1 on three rows is not the same as on three hundred.

        References
        ----------
        E. B. Wilson (1927), Probable inference, the law of succession, and statistical
        inference.
        """
        z2 = 1.959963984540054**2
        n, p = np.asarray(self.tp + self.fp, dtype=np.float64), self.precision
        half = np.sqrt(z2 * np.maximum(p * (1 - p), 0) * n + z2 * z2 / 4)
        low, high = ((n * p + z2 / 2 + sign * half) / (n + z2) for sign in (-1, 1))
        return np.maximum(low, 0), np.minimum(high, 1)

    def to_frame(self) -> pd.DataFrame:
        """One line an entry: the rule as text, its outcome, figures, and why it is a fallback."""
        import pandas as pd

        text = [r.antecedent() for r in self.rules]
        outcome = [self.rules.outcomes[c] for c in self.rules.outcome]
        low, high = self.precision_interval()
        return pd.DataFrame(
            {
                "row": self.row,
                "rank": self.rank,
                "rule": [text[i] for i in self.index],
                "outcome": [outcome[i] for i in self.index],
                "score": self.score,
                "precision": self.precision,
                "precision_low": low,
                "precision_high": high,
                "recall": self.recall,
                "length": self.rules.lengths[self.index],
                "tp": self.tp,
                "fp": self.fp,
                "fn": self.fn,
                "tn": self.tn,
                "reason": list(self.reasons),
            }
        )

    def criteria(self, row: int = 0, *, every_outcome: bool = False) -> pd.DataFrame:
        """What a person may weigh in a row's rules, for ``PreferenceSession``: higher is better.

        Parameters
        ----------
        row : int
            Position of a row; ask for its runners-up, or there is nothing to choose from.
        every_outcome : bool
            Also rules that speak for another class than the row's own rule. By default they are
            left out, because what a person prefers must not change what is predicted.

        Returns
        -------
        DataFrame
            One line a rule, its text as the index. Columns: 1 or 0 for each feature that some
            of the rules use; precision; recall; brevity (1 for a rule without conditions, 0 for
            one on every feature). If the table has a feature of such a name, the figure is
            called "precision of the rule", in all rows alike.
        """
        import pandas as pd

        entries = np.flatnonzero(self.row == row)
        if not len(entries):
            raise OptionError(f"There is no row {row}: the rows are 0 to {self.row.max()}.")
        if not every_outcome:
            outcome = self.rules.outcome[self.index[entries]]
            entries = entries[outcome == outcome[0]]
        mine = self.index[entries]
        presence = self.rules.presence[mine]
        names = self.rules.schema.names
        columns: dict[str, NDArray[np.float64]] = {
            names[j]: presence[:, j].astype(np.float64)
            for j in np.flatnonzero(presence.any(axis=0))
        }
        figures = {
            "precision": self.precision[entries],
            "recall": self.recall[entries],
            "brevity": 1 - self.rules.lengths[mine] / max(len(names), 1),
        }
        for name, values in figures.items():
            # Not what this row's rules use decides: a name must mean the same for every row.
            while name in names:
                name += " of the rule"
            columns[name] = values
        texts = [str(self.rules[int(i)]) for i in mine]
        return pd.DataFrame(columns, index=pd.Index(texts, name="rule"))

    def to_dict(self) -> dict[str, object]:
        """The same as plain values: a format version and one record an entry."""
        frame = self.to_frame()
        records = frame.astype(object).where(frame.notna(), None).to_dict("records")
        return {"format": "rulelens.personal_rules", "version": 1, "entries": records}


def personal_rules(
    choice: Choice,
    codes: NDArray[np.integer],
    binning: Binning,
    classes: Sequence[Level],
    totals: NDArray[Any],
    *,
    min_count: float = 1,
) -> PersonalRules:
    """The rules that a choice stands for, each different one once.

    Parameters
    ----------
    choice : Choice
    codes : array of int, shape (n_rows, n_features)
        Items of the rows.
    binning : Binning
    classes : sequence of labels
    totals : array, shape (n_classes,)
        Training rows of each class.
    min_count : float
        What a rule had to cover, for the reason why there is none.
    """
    # 1. Different rules: features, their items and the outcome.
    used = choice.features >= 0
    items = np.where(used, codes[choice.row[:, None], np.maximum(choice.features, 0)], -1)
    keys = np.concatenate([choice.features, items, choice.outcome[:, None]], axis=1)
    _, first, index = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    appearance = np.argsort(first, kind="stable")
    place = np.empty(len(first), dtype=np.int64)
    place[appearance] = np.arange(len(first))
    first, index = first[appearance], place[index.reshape(-1)]
    # 2. Their conditions, each once.
    mine = used[first]
    pairs = np.stack([choice.features[first][mine], items[first][mine]], axis=1)
    distinct, position = np.unique(pairs, axis=0, return_inverse=True)
    conditions = [(int(f), binning.condition(int(f), int(c))) for f, c in distinct]
    rules = RuleSet.from_arrays(
        binning.schema,
        ConditionTable.from_conditions(conditions, binning.schema),
        np.concatenate([[0], np.cumsum(mine.sum(axis=1))]),
        position.reshape(-1),
        choice.outcome[first],
        outcomes=list(classes),
    )
    # 3. Four counts.
    entry = np.arange(len(choice.row))
    tp = choice.counts[entry, choice.outcome]
    fp = choice.counts.sum(axis=1) - tp
    pos = totals[choice.outcome]
    with_items: NDArray[np.bool_] = np.asarray((codes >= 0).any(axis=1))
    has_items = with_items[choice.row]
    why = TOO_FEW if min_count > 1 else FALLBACK
    reasons = tuple(
        "" if found else (why if some else NO_ITEM)
        for found, some in zip(
            (~np.isnan(choice.accuracy)).tolist(), has_items.tolist(), strict=True
        )
    )
    return PersonalRules(
        rules,
        choice.row,
        choice.rank,
        index,
        choice.accuracy,
        tp,
        fp,
        pos - tp,
        totals.sum() - pos - fp,
        reasons,
    )
