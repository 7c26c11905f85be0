"""A personal explanation: the rules of one row, ranked as the one who asks would rank them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from rulelens.errors import ExplainError
from rulelens.explain.explanation import Explanation
from rulelens.preference.criteria import RuleEvidence, evidence_criteria
from rulelens.preference.ranking import PreferenceResult
from rulelens.preference.session import PreferenceSession

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PersonalExplanation(PreferenceResult):
    """A `PreferenceResult` whose alternatives are the rules of an `Explanation`.

    Parameters
    ----------
    explanation : Explanation
        Rule k of it is alternative k.
    """

    explanation: Explanation

    def to_frame(self, *, contributions: bool = False) -> pd.DataFrame:
        """Best first: rank, score, new, the rule's text and figures; with `contributions`
        one column a criterion.
        """
        frame = PreferenceResult.to_frame(self, contributions=contributions)
        figures = self.explanation.to_frame().loc[list(self.ranking)]
        for at, name in enumerate(("rule", "outcome", "length", "support", "confidence"), start=3):
            frame.insert(at, name, figures[name].to_numpy(), allow_duplicates=True)
        return frame

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe record of the ranking, with the explanation in it."""
        return PreferenceResult.to_dict(self) | {"explanation": self.explanation.to_dict()}

    def to_html(self, path: str | Path) -> Path:
        """Write a report that stands by itself, and return its path."""
        from rulelens.views.report import write_report

        return write_report(path, self.explanation, personal=self)


class ExplanationSession(PreferenceSession):
    """A preference session over the rules of one explanation.

    Parameters
    ----------
    explanation : Explanation
        With at least two rules.

    Raises
    ------
    ExplainError
        Fewer than two rules: there is nothing to rank.
    """

    def __init__(self, explanation: Explanation) -> None:
        if len(explanation) < 2:
            why = explanation.reason or "Only one rule qualifies."
            raise ExplainError(
                f"There is nothing to rank: {len(explanation)} rule covers this row. {why} "
                "Lower min_confidence or min_support, or pass minimal=False, to get more."
            )
        counts = explanation.counts
        evidence = RuleEvidence(
            explanation.rules.presence,
            explanation.rules.schema.names,
            counts.tp,
            counts.fp,
            counts.fn,
            counts.tn,
            explanation.rules.lengths,
        )
        labels: dict[Hashable, str] = {k: r.antecedent() for k, r in enumerate(explanation.rules)}
        super().__init__(evidence_criteria(evidence), labels=labels)
        self.explanation = explanation

    def result(self, method: str = "analytic", k: int = 5) -> PersonalExplanation:
        """As `PreferenceSession.result`, with the rules."""
        found = super().result(method, k)
        if not isinstance(found, PersonalExplanation):
            raise TypeError("_finish must return a PersonalExplanation")
        return found

    def _finish(self, result: PreferenceResult) -> PersonalExplanation:
        values = {f.name: getattr(result, f.name) for f in fields(PreferenceResult)}
        return PersonalExplanation(**values, explanation=self.explanation)
