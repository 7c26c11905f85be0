"""Figures that a file prints beside its rules, against the figures on a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rulelens.bits.coverage import leave_one_out_counts, outcome_codes
from rulelens.core.contingency import Contingency
from rulelens.core.ruleset import RuleSet
from rulelens.errors import RuleError
from rulelens.frames import read_labels, read_table

if TYPE_CHECKING:
    import pandas as pd

_MEASURES = {"covering": "recall", "error": "error"}


@dataclass(frozen=True)
class PrintedDifference:
    """One printed figure that the table does not give."""

    rule: int
    figure: str
    printed: float
    found: float


@dataclass(frozen=True)
class PrintedCheck:
    """How many printed figures were checked, and those that differ.

    Parameters
    ----------
    n_figures : int
    differences : tuple of PrintedDifference
    """

    n_figures: int
    differences: tuple[PrintedDifference, ...]

    def to_dict(self) -> dict[str, object]:
        """As plain values."""
        return {"n_figures": self.n_figures, "differences": [vars(d) for d in self.differences]}

    def to_frame(self) -> pd.DataFrame:
        """One row a difference."""
        import pandas as pd

        columns = ["rule", "figure", "printed", "found"]
        return pd.DataFrame([vars(d) for d in self.differences], columns=columns)


def check_printed(rules: RuleSet, X: object, y: object, *, tolerance: float = 1e-6) -> PrintedCheck:
    """Compare the figures printed in a Rulex file with those on labelled rows.

    Parameters
    ----------
    rules : RuleSet
        As `read_rules` gives it for the format ``rulex``.
    X, y : table and labels
        The rows from which the rules were made.
    tolerance : float
        Largest difference that counts as none. Figures are printed to six decimals.

    Raises
    ------
    RuleError
        The rules carry no printed figures.

    Examples
    --------
    >>> import pandas as pd
    >>> from rulelens.io.rulex import read_rulex
    >>> rules = read_rulex("RULE 1: IF age > 50 THEN y in {ill}, COVERING: 0.5, ERROR: 0.9")
    >>> X = pd.DataFrame({"age": [40, 60, 45, 70]})
    >>> check_printed(rules, X, ["well", "ill", "ill", "well"]).differences
    (PrintedDifference(rule=0, figure='error', printed=0.9, found=0.5),)
    """
    printed = {
        name: np.array([np.nan if v is None else float(v) for v in column.tolist()])
        for name, column in rules.provenance.items()
        if name.partition(" without ")[0] in _MEASURES
    }
    if not printed:
        raise RuleError(
            "These rules carry no printed figures. Read a file that prints COVERING and ERROR."
        )
    found = _figures(rules, X, y)
    checked, differences = 0, []
    for name, values in printed.items():
        known = np.flatnonzero(~np.isnan(values))
        checked += len(known)
        there = found.get(name, np.full(len(rules), np.nan))
        for k in known[~(np.abs(values - there)[known] <= tolerance)].tolist():
            differences.append(PrintedDifference(k, name, float(values[k]), float(there[k])))
    differences.sort(key=lambda d: d.rule)
    return PrintedCheck(checked, tuple(differences))


def _figures(rules: RuleSet, X: object, y: object) -> dict[str, NDArray[np.float64]]:
    """Covering and error, and their rises without each feature: arrays of shape (n_rules,)."""
    table = read_table(X, rules.schema)
    labels = read_labels(y, table.n_rows)
    n_classes = len(labels.classes)
    full, without = leave_one_out_counts(rules, table, labels.codes, n_classes)
    totals = np.bincount(labels.codes, minlength=n_classes)
    outcome = outcome_codes(rules, labels)
    owner = np.repeat(np.arange(len(rules)), rules.lengths)
    feature = rules.conditions.feature[rules.indices]
    out = {}
    for figure, measure in _MEASURES.items():
        out[figure] = Contingency.from_class_counts(full, totals, outcome).measure(measure)
        shorter = Contingency.from_class_counts(without, totals, outcome[owner]).measure(measure)
        rise = shorter - out[figure][owner]
        for f in np.unique(feature).tolist():
            column = np.full(len(rules), np.nan)
            mine = feature == f
            column[owner[mine]] = rise[mine]
            out[f"{figure} without {rules.schema[f].name}"] = column
    return out
