"""Rules as tables for people: a data frame, CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from rulelens.core.ruleset import RuleSet
from rulelens.io.format import FORMATS, Format
from rulelens.language.printer import print_condition
from rulelens.language.tokens import quote, write_level

if TYPE_CHECKING:
    import pandas as pd

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


def rules_to_frame(rules: RuleSet) -> pd.DataFrame:
    """One row a rule: its conditions as text, outcome, length and provenance.

    Examples
    --------
    >>> from rulelens.core.conditions import Interval
    >>> from rulelens.core.rule import Rule
    >>> from rulelens.core.schema import Schema
    >>> rule = Rule({"age": Interval(high=50)}, "well", {"tree": 0})
    >>> print(rules_to_frame(RuleSet.from_rules([rule], Schema.numeric(["age"]))))
           rule outcome  length  tree
    0  age < 50    well       1     0
    """
    import pandas as pd

    columns: dict[str, object] = {
        "rule": [rule.antecedent() for rule in rules],
        "outcome": [rules.outcomes[c] for c in rules.outcome],
        "length": rules.lengths,
    }
    for name, column in rules.provenance.items():
        columns[name if name not in columns else f"provenance {name}"] = column
    return pd.DataFrame(columns)


def write_csv(rules: RuleSet) -> str:
    """One row a rule, in the words of the language of rules, so that nothing is lost or run.

    A text that a spreadsheet would take for a formula stands in double quotes.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["rule", "outcome", "length", *map(quote, rules.provenance)])
    columns = [c.tolist() for c in rules.provenance.values()]
    outcomes = [write_level(v) for v in rules.outcomes]
    for k, text in enumerate(_antecedents(rules)):
        origin = ["" if c[k] is None else write_level(c[k]) for c in columns]
        length = int(rules.lengths[k])
        writer.writerow([text, outcomes[int(rules.outcome[k])], length, *origin])
    if rules.default is not None:
        writer.writerow(["ELSE", write_level(rules.default), 0, *[""] * len(columns)])
    return out.getvalue()


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
