"""An explanation as a plain dict of texts and numbers, ready for a template or a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rulelens.explain.explainer import ENOUGH
from rulelens.explain.relaxation import Demands
from rulelens.views.numbers import count, interval_from, lower_end, number, share

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.core.contingency import Contingency
    from rulelens.core.ruleset import RuleSet
    from rulelens.explain.explanation import Explanation
    from rulelens.explain.personal import PersonalExplanation

MOST_ROWS = 300
"""A table shows at most so many rules, and says how many it leaves out."""

FEW_ROWS = 10
"""A rule that covers fewer training rows is marked: its confidence says little."""

LOW_FIDELITY = 0.9
"""Agreement on rows kept apart below which the reader is warned."""

MOST_SAME = 6
"""So many rules are named that cover the same rows as another, and the rest are counted."""

_STOPS = {
    "enough": "Every qualifying rule of up to {n} is here. With {enough} rules or more at this "
    "length, longer ones are not looked for.",
    "exhausted": "Every qualifying rule is here: no longer one can qualify.",
    "length": "Every qualifying rule of up to {n} is here.",
    "time": "Every qualifying rule of up to {n} is here; time ended before longer ones.",
    "size": "Every qualifying rule of up to {n} is here; longer ones were too many.",
    "impossible": "",
}


def explanation_view(
    explanation: Explanation,
    *,
    personal: PersonalExplanation | None = None,
    fidelity: pd.DataFrame | None = None,
) -> dict[str, Any]:
    """Texts of an explanation; rules are in the order in which they should be read."""
    e = explanation
    rules = rule_rows(e.rules, e.counts, fidelity=fidelity)
    for members in e.groups:
        for k in members:
            rules[k]["same_as"] = _same_text([m for m in members if m != k])
    order = list(range(len(e))) if personal is None else [int(str(a)) for a in personal.ranking]
    values = [
        {"name": name, "value": "missing" if v is None else _value_text(v)}
        for name, v in e.row.items()
    ]
    return {
        "prediction": str(e.prediction),
        "summary": _summary(e) + _apart_summary(fidelity),
        "notes": list(e.notes),
        "reason": e.reason,
        "cut_short": e.stop in ("time", "size"),
        "row": values,
        "rules": [rules[k] for k in order[:MOST_ROWS]],
        "n_rules": len(e),
        "n_hidden": max(0, len(e) - MOST_ROWS),
        "has_fidelity": fidelity is not None,
        "relaxed": _relaxed_rows(e),
        "personal": None if personal is None else _personal_view(personal, rules),
    }


def rule_rows(
    rules: RuleSet, counts: Contingency, *, fidelity: pd.DataFrame | None = None
) -> list[dict[str, Any]]:
    """One dict a rule: id, conditions, and figures as text."""
    measures = {
        name: counts.measure(name)
        for name in ("confidence", "confidence_low", "recall", "support", "confirmation")
    }
    out = []
    for k, rule in enumerate(rules):
        covered = int(counts.tp[k] + counts.fp[k])
        row = {
            "id": k,
            "conditions": [c.describe(name) for name, c in rule.conditions] or ["always"],
            "text": rule.antecedent(),
            "outcome": str(rule.outcome),
            "covered": covered,
            "weak": covered < FEW_ROWS,
            "agree": int(counts.tp[k]),
            "except": int(counts.fp[k]),
            "same_as": "",
            "lacks": "",
            **{
                name: share(float(measures[name][k]))
                for name in ("confidence", "recall", "support")
            },
            "confidence_low": lower_end(float(measures["confidence_low"][k])),
            "interval": interval_from(float(measures["confidence_low"][k])),
            "confirmation": number(float(measures["confirmation"][k]), 2),
            "fidelity": "",
        }
        if fidelity is not None:
            agree, seen = int(fidelity["agree"].iloc[k]), int(fidelity["covered"].iloc[k])
            row["fidelity"] = f"{agree} of {seen}" if seen else "none covered"
        out.append(row)
    return out


def _relaxed_rows(e: Explanation) -> list[dict[str, Any]]:
    """The nearest rules, each with what keeps it from qualifying."""
    out = rule_rows(e.relaxed, e.relaxed_counts)
    demands, counts = Demands.of(e.options), e.relaxed_counts
    for k, row in enumerate(out):
        tp, fp = int(counts.tp[k]), int(counts.fp[k])
        pos, neg = tp + int(counts.fn[k]), fp + int(counts.tn[k])
        row["lacks"] = ", ".join(demands.shortfalls(len(e.relaxed[k]), tp, fp, pos, neg))
    return out


def _same_text(others: list[int]) -> str:
    """That a rule covers the same rows as others, by their numbers."""
    named = ", ".join(str(k) for k in others[:MOST_SAME])
    more = f" and {len(others) - MOST_SAME} more" if len(others) > MOST_SAME else ""
    return f"covers the same rows as rule{'' if len(others) == 1 else 's'} {named}{more}"


def _value_text(value: object) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e16:
        return str(int(value))
    return str(value)


def _summary(e: Explanation) -> list[str]:
    total = e.n_rows
    same = e.classes.get(e.prediction, 0)
    lines = [
        f"The model decided “{e.prediction}” for this row. It decides so for {same:,} of "
        f"{total:,} training rows ({share(same / total)})."
    ]
    if len(e):
        strict = e.options["min_confidence"] == 1
        lines.append(
            f"{count(len(e), 'rule')} cover{'s' if len(e) == 1 else ''} the row and speak"
            f"{'s' if len(e) == 1 else ''} for the same decision"
            + (
                "; no training row that such a rule covers was decided otherwise."
                if strict
                else f", each in at least {share(e.options['min_confidence'])} of the training "
                "rows that it covers."
            )
        )
        if int(e.rules.lengths.max()) > e.length:
            lines.append("The search was cut short: other rules may qualify too.")
        else:
            lines.append(_STOPS[e.stop].format(n=count(e.length, "condition"), enough=ENOUGH))
    return [line for line in lines if line]


def _apart_summary(fidelity: pd.DataFrame | None) -> list[str]:
    """How far all the rules together agree with the model on rows kept apart."""
    if fidelity is None or not len(fidelity):
        return []
    agree, covered = int(fidelity["agree"].sum()), int(fidelity["covered"].sum())
    if not covered:
        return ["No row kept apart is covered by these rules, so they could not be checked there."]
    line = (
        f"On rows kept apart, a rule that covers a row agrees with the model in "
        f"{share(agree / covered)} of the cases (a row counts once for each rule that covers it)."
    )
    if agree < LOW_FIDELITY * covered:
        line += (
            " That is low: the rules hold for the training rows, but often not beyond them. "
            "Prefer rules that cover more rows, and do not rely on these."
        )
    return [line]


def _personal_view(p: PersonalExplanation, rules: list[dict[str, Any]]) -> dict[str, Any]:
    known = set(p.reference)
    largest = float(np.abs(p.contributions).max()) or 1.0
    top = []
    for rank, a in enumerate(p.top(), start=1):
        parts = [
            {
                "name": name,
                "value": number(v),
                "width": round(100 * abs(v) / largest, 1),
                "against": v < 0,
            }
            for name, v in sorted(p.contribution(a).items(), key=lambda item: -abs(item[1]))
            if abs(v) > 5e-4
        ]
        top.append(
            rules[int(str(a))]
            | {
                "rank": rank,
                "score": number(p.scores[a]),
                "new": bool(known) and a not in known,
                "parts": parts,
            }
        )
    # A weight alone misleads: what a criterion does depends on how far the rules differ in it.
    spread = np.ptp(p.contributions, axis=0)
    total, widest = float(spread.sum()) or 1.0, float(spread.max()) or 1.0
    weights = [
        {
            "name": p.criteria.names[j],
            "value": share(float(spread[j]) / total),
            "width": round(100 * float(spread[j]) / widest, 1),
        }
        for j in np.argsort(-spread, kind="stable")
    ]
    from rulelens.preference.statements import alternatives_in, phrase

    names = {a: f"rule {a}" for a in p.ranking}
    texts = {a: " and ".join(rules[int(str(a))]["conditions"]) for a in p.ranking}
    return {
        "top": top,
        "weights": weights,
        "method": p.method,
        "statements": [
            {
                "short": phrase(s, names),
                "long": [f"Rule {a}: {texts[a]}" for a in alternatives_in(s) if a in texts],
            }
            for s in p.statements
        ],
        "notes": list(p.notes),
        "score_of": {int(str(a)): number(s) for a, s in p.scores.items()},
    }
