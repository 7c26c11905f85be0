"""How many rows predictions get right, beside always answering the most frequent class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rulelens.views.numbers import count, share

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.personal.fast_pic import FastPIC
    from rulelens.personal.pic import PIC


@dataclass(frozen=True, slots=True)
class Score:
    """Right answers among the rows whose class is known.

    Parameters
    ----------
    rows : int
        Rows with a class that the classifier knows; only these are counted.
    right, baseline_right : int
        How many of them the rules, and always the most frequent training class, get right.
    baseline_class : str, int, float or bool
        The most frequent class of the training rows.
    missing, unknown : int
        Rows without a class, and rows of a class that no training row had.
    unknown_example : str or None
        One such class.
    """

    rows: int
    right: int
    baseline_class: Any
    baseline_right: int
    missing: int = 0
    unknown: int = 0
    unknown_example: str | None = None

    @property
    def better_than_baseline(self) -> bool | None:
        """Whether more rows are right than by always the most frequent class; None without rows."""
        return self.right > self.baseline_right if self.rows else None

    def to_dict(self) -> dict[str, Any]:
        """As fields of a JSON document."""
        return {
            "rows": self.rows,
            "right": self.right,
            "share": self.right / self.rows if self.rows else None,
            "baseline_class": self.baseline_class,
            "baseline_right": self.baseline_right,
            "baseline_share": self.baseline_right / self.rows if self.rows else None,
            "better_than_baseline": self.better_than_baseline,
            "rows_without_class": self.missing,
            "rows_of_unknown_class": self.unknown,
        }

    def lines(self, which: str, *, tuned: bool = False) -> list[str]:
        """The score, what was not counted, and a warning where the rules are of no use.

        Parameters
        ----------
        which : str
            What follows "58 rows" in the text, such as "kept apart".
        tuned : bool
            Whether the options were chosen already, so that to do so is no advice.
        """
        out = []
        if self.rows:
            out.append(
                f"On {count(self.rows, 'row')} {which} it is right in "
                f"{share(self.right / self.rows)}; always answering “{self.baseline_class}”, the "
                f"most frequent class learned from, in {share(self.baseline_right / self.rows)}."
            )
        if self.missing:
            out.append(f"Not counted: {count(self.missing, 'row')} without a class.")
        if self.unknown:
            out.append(
                f"Not counted: {count(self.unknown, 'row')} of a class that no row learned from "
                f"has, such as “{self.unknown_example}”; no rule can get them right."
            )
        if not self.rows:
            out.append("No row has a known class, so that nothing can be said of right or wrong.")
        elif self.baseline_right == self.rows:
            out.append(
                "All these rows are of that class: they cannot tell what the rules are worth."
            )
        elif not self.better_than_baseline:
            advice = (
                "Other features or more rows may be needed."
                if tuned
                else "Try --tune, which chooses the options by cross-validation."
            )
            out.append(
                f"WARNING: on these rows the rules are not better than always answering "
                f"“{self.baseline_class}”. {advice}"
            )
        return out


def score_rows(
    classifier: FastPIC | PIC, predicted: np.ndarray[Any, Any], truth: pd.Series[Any]
) -> Score:
    """Compare predictions with the classes in a column, of whatever type that column is.

    A column with gaps has 1.0 for a class 1, and one with some text has "1": classes are compared
    by how they are written.

    Parameters
    ----------
    classifier : FastPIC or PIC
        Fitted; its training rows say which class is the most frequent one.
    predicted : array, shape (n_rows,)
    truth : Series, shape (n_rows,)
        May have missing values and classes that the classifier does not know.
    """
    import pandas as pd

    classes = classifier.classes_.tolist()
    place = {_written(c): i for i, c in enumerate(classes)}
    frequent = int(np.argmax(classifier.class_counts_))
    # Only the distinct labels are looked at one by one.
    codes, labels = pd.factorize(truth)
    known = np.array([place.get(_written(v), -1) for v in labels.tolist()] + [-2], dtype=np.int64)
    true = known[codes]  # -1 is the code of a gap, and finds the last place
    answers, names = pd.factorize(pd.Series(predicted))
    answer = np.array([place[_written(v)] for v in names.tolist()], dtype=np.int64)[answers]
    unknown = np.flatnonzero(true == -1)
    return Score(
        rows=int((true >= 0).sum()),
        right=int((true == answer).sum()),
        baseline_class=classes[frequent],
        baseline_right=int((true == frequent).sum()),
        missing=int((true == -2).sum()),
        unknown=len(unknown),
        unknown_example=_written(truth.iloc[unknown[0]]) if len(unknown) else None,
    )


def _written(value: Any) -> str:
    """A class as text; a whole number the same whatever its type."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
