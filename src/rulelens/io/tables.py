"""Rules as tables for people: a data frame, CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from rulelens.core.measures import MEASURES
from rulelens.core.ruleset import RuleSet
from rulelens.errors import OptionError
from rulelens.io.format import FORMATS, Format
from rulelens.language.printer import print_condition
from rulelens.language.tokens import quote, write_level

if TYPE_CHECKING:
    import pandas as pd

FOR_PEOPLE = ("markdown", "latex")
"""Formats that nobody reads back, so that thresholds may be shortened on a table."""
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "\n": " ",
}


def rules_to_frame(
    rules: RuleSet, X: object = None, y: object = None, *, measures: Sequence[str] | None = None
) -> pd.DataFrame:
    """One row a rule: its conditions as text, outcome, length, provenance and measures.

    Parameters
    ----------
    rules : RuleSet
    X, y : table and classes, shape (n_rows,), optional
        Rows to measure the rules on: adds the counts ``tp``, ``fp``, ``fn`` and ``tn``, and the
        measures.
    measures : sequence of str, optional
        Names of measures; by default all registered ones.

    Examples
    --------
    >>> from rulelens.core.conditions import Interval
    >>> from rulelens.core.rule import Rule
    >>> from rulelens.core.schema import Schema
    >>> rule = Rule({"age": Interval(high=50)}, "well", {"tree": 0})
    >>> rules = RuleSet.from_rules([rule], Schema.numeric(["age"]))
    >>> print(rules_to_frame(rules))
           rule outcome  length  tree
    0  age < 50    well       1     0
    >>> frame = rules_to_frame(rules, [[40], [45], [60]], ["well", "ill", "ill"])
    >>> print(frame[["rule", "tp", "fp", "confidence"]])
           rule  tp  fp  confidence
    0  age < 50   1   1         0.5
    """
    import pandas as pd

    columns: dict[str, object] = {
        "rule": [rule.antecedent() for rule in rules],
        "outcome": [rules.outcomes[c] for c in rules.outcome],
        "length": rules.lengths,
    }
    figures = _figures(rules, X, y, measures)
    for name, column in rules.provenance.items():
        clash = name in columns or name in figures
        columns[f"provenance {name}" if clash else name] = column
    return pd.DataFrame(columns | figures)


def write_csv(
    rules: RuleSet, X: object = None, y: object = None, *, measures: Sequence[str] | None = None
) -> str:
    """One row a rule, in the words of the language of rules, so that nothing is lost or run.

    A text that a spreadsheet would take for a formula stands in double quotes. With rows and
    their classes, the columns of measures follow as in `rules_to_frame`; an undefined measure
    is an empty cell.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    figures = _figures(rules, X, y, measures)
    writer.writerow(["rule", "outcome", "length", *map(quote, rules.provenance), *figures])
    columns = [c.tolist() for c in rules.provenance.values()]
    numbers = [c.tolist() for c in figures.values()]
    outcomes = [write_level(v) for v in rules.outcomes]
    for k, text in enumerate(_antecedents(rules)):
        origin = ["" if c[k] is None else write_level(c[k]) for c in columns]
        measured = ["" if math.isnan(c[k]) else repr(c[k]) for c in numbers]
        length = int(rules.lengths[k])
        writer.writerow([text, outcomes[int(rules.outcome[k])], length, *origin, *measured])
    if rules.default is not None:
        rest = [""] * (len(columns) + len(numbers))
        writer.writerow(["ELSE", write_level(rules.default), 0, *rest])
    return out.getvalue()


def _figures(
    rules: RuleSet, X: object, y: object, measures: Sequence[str] | None
) -> dict[str, NDArray[Any]]:
    """Counts and measures of each rule; none without rows."""
    if (X is None) != (y is None):
        raise OptionError("Measures need rows and their classes. Give both X and y, or neither.")
    if X is None:
        if measures is not None:
            raise OptionError("Measures need rows to measure on. Give X and y.")
        return {}
    counts = rules.contingency(X, y)
    names = list(MEASURES) if measures is None else list(measures)
    whole = {"tp": counts.tp, "fp": counts.fp, "fn": counts.fn, "tn": counts.tn}
    return whole | {name: counts.measure(name) for name in names}


def write_markdown(rules: RuleSet) -> str:
    """A Markdown table: number, conditions, outcome."""
    rows = [["#", "rule", "outcome"], ["---:", "---", "---"]]
    rows += [[_markdown(cell) for cell in row] for row in _rows(rules)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def write_latex(rules: RuleSet) -> str:
    """A LaTeX table: number, conditions, outcome."""
    body = [" & ".join(_latex(cell) for cell in row) + r" \\" for row in _rows(rules)]
    return "\n".join(
        [
            r"\begin{tabular}{rll}",
            r"\hline",
            r"\# & rule & outcome \\",
            r"\hline",
            *body,
            r"\hline",
            r"\end{tabular}",
            "",
        ]
    )


def _antecedents(rules: RuleSet) -> list[str]:
    """Each rule's conditions in the language of rules."""
    table = rules.conditions
    texts = [
        print_condition(rules.schema[int(f)].name, table.condition(i, rules.schema))
        for i, f in enumerate(table.feature)
    ]
    flat, ends = rules.indices.tolist(), rules.offsets.tolist()
    return [
        " AND ".join(texts[i] for i in flat[ends[k] : ends[k + 1]]) or "TRUE"
        for k in range(len(rules))
    ]


def _rows(rules: RuleSet) -> list[list[str]]:
    rows = [[str(k), rule.antecedent(), str(rule.outcome)] for k, rule in enumerate(rules)]
    if rules.default is not None:
        rows.append(["", "otherwise", str(rules.default)])
    return rows


def _markdown(text: str) -> str:
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\`*_{}\[\]#|!~])", r"\\\1", text)
    return re.sub(r"\s*[\r\n]+\s*", " ", text)


def _latex(text: str) -> str:
    return "".join(_LATEX.get(c, c) for c in text.replace("\r", ""))


FORMATS.add("csv", Format(None, write_csv, (".csv",)))
FORMATS.add("markdown", Format(None, write_markdown, (".md",)))
FORMATS.add("latex", Format(None, write_latex, (".tex",)))
