"""Explanations as plain text for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.explain.explanation import Explanation
    from rulelens.explain.personal import PersonalExplanation


def text_of(
    explanation: Explanation,
    personal: PersonalExplanation | None,
    fidelity: pd.DataFrame | None,
    top: int,
    *,
    opening: bool = True,
) -> str:
    """The first `top` rules with their figures, in the person's order where there is one."""
    from rulelens.views.explanation import explanation_view
    from rulelens.views.numbers import count

    view = explanation_view(explanation, personal=personal, fidelity=fidelity)
    lines = [*view["summary"], *view["notes"]] if opening else []
    if view["reason"]:
        lines.append(view["reason"])
    known = set() if personal is None else set(personal.reference)
    for place, r in enumerate(view["rules"][:top], start=1):
        marks = "  (few rows)" if r["weak"] else ""
        if known and r["id"] not in known:
            marks += "  (new)"
        score = "" if personal is None else f"score {view['personal']['score_of'][r['id']]}, "
        apart = f", kept apart {r['fidelity']}" if fidelity is not None else ""
        rows = count(r["covered"], "row")
        lines.append(f"{place:>3}. rule {r['id']}: {' and '.join(r['conditions'])}{marks}")
        lines.append(
            f"       {score}covers {rows}, confidence {r['confidence']} ({r['interval']}), "
            f"recall {r['recall']}{apart}"
        )
        if r["same_as"]:
            lines.append(f"       {r['same_as']}")
    if len(explanation) > top:
        lines.append(f"     … and {count(len(explanation) - top, 'more rule')}.")
    if view["relaxed"]:
        lines.append("The nearest rules that do not qualify:")
        for r in view["relaxed"]:
            lines.append(f"   -  {' and '.join(r['conditions'])}")
            lines.append(
                f"       covers {count(r['covered'], 'row')}, {r['except']:,} decided otherwise "
                f"(confidence {r['confidence']})"
            )
            if r["lacks"]:
                lines.append(f"       falls short: {r['lacks']}")
    if personal is not None:
        lines.append("What moves the scores:")
        heavy = [w for w in view["personal"]["weights"] if not w["value"].startswith("0\xa0")][:8]
        lines.append("   " + ", ".join(f"{w['name']} {w['value']}" for w in heavy))
        lines.extend(personal.notes)
    return "\n".join(lines)
