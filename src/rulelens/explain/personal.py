"""A personal explanation: the rules of one row, ranked as the one who asks would rank them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Self

from rulelens.errors import ExplainError
from rulelens.explain.explanation import Explanation
from rulelens.preference.criteria import Criteria, RuleEvidence, evidence_criteria
from rulelens.preference.ranking import PreferenceResult
from rulelens.preference.session import PreferenceSession
from rulelens.preference.session_file import load_session

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from rulelens.graph.feature_graph import FeatureGraph
    from rulelens.preference.profile import Profile


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

    def __str__(self) -> str:
        known = set(self.reference)
        lines = [f"The model says {self.explanation.prediction!r}. The best rules for you:"]
        for rank, a in enumerate(self.top(), start=1):
            new = "" if a in known or not known else " (new)"
            rule = self.explanation.rules[int(str(a))]
            lines.append(f"{rank}. rule {a}, score {self.scores[a]:.3f}{new}: {rule.antecedent()}")
        return "\n".join([*lines, *self.notes])

    def __repr__(self) -> str:
        return f"<PersonalExplanation: {len(self.ranking)} rules ranked by {self.method}>"

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe record of the ranking, with the explanation in it."""
        return PreferenceResult.to_dict(self) | {"explanation": self.explanation.to_dict()}

    def to_html(
        self,
        path: str | Path,
        *,
        graph: FeatureGraph | None = None,
        fidelity: pd.DataFrame | None = None,
    ) -> Path:
        """Write a report that stands by itself, and return its path.

        Parameters
        ----------
        path : str or path
            A ``.html`` file; one that exists is replaced, whole or not at all.
        graph : FeatureGraph, optional
            Such as ``explainer.feature_graph(explanation.rules)``; drawn.
        fidelity : DataFrame, optional
            ``explainer.fidelity(explanation.rules, X_new)``; shown beside each rule.
        """
        from rulelens.views.report import write_report

        return write_report(path, self.explanation, personal=self, graph=graph, fidelity=fidelity)


class ExplanationSession(PreferenceSession):
    """A preference session over the rules of one explanation.

    Parameters
    ----------
    explanation : Explanation
        With at least two rules.
    profile : Profile, optional
        What the person stated about other rows; it holds here too.

    Raises
    ------
    ExplainError
        Fewer than two rules: there is nothing to rank.
    """

    def __init__(self, explanation: Explanation, *, profile: Profile | None = None) -> None:
        super().__init__(
            rule_criteria_of(explanation),
            labels=_labels(explanation),
            background=() if profile is None else profile.statements,
        )
        self.explanation = explanation

    @classmethod
    def resume(
        cls,
        path: str | Path,
        explanation: Explanation,
        *,
        missing: Literal["error", "set_aside"] = "error",
    ) -> ExplanationSession:
        """A session that `save` wrote, over the rules of `explanation`; see `load`."""

        def build(criteria: Criteria, **given: Any) -> ExplanationSession:
            session = ExplanationSession(explanation)
            PreferenceSession.__init__(session, criteria, **given)
            return session

        found: tuple[ExplanationSession, tuple[str, ...]] = load_session(
            path, rule_criteria_of(explanation), missing=missing, build=build
        )
        found[0]._set_aside = found[1]
        return found[0]

    @classmethod
    def from_dict(cls, data: Any) -> Self:  # noqa: ARG003
        """Not here: a saved session holds no rules. Use ``explanation.resume(path)``."""
        raise ExplainError(
            "A saved session does not hold the rules that it speaks of. Use "
            "explanation.resume(path), or PreferenceSession.from_dict for the numbers alone."
        )

    @classmethod
    def load(
        cls,
        path: str | Path,  # noqa: ARG003
        criteria: Criteria | pd.DataFrame | None = None,  # noqa: ARG003
        *,
        missing: Literal["error", "set_aside"] = "error",  # noqa: ARG003
    ) -> Self:
        """Not here: a saved session holds no rules. Use ``explanation.resume(path)``."""
        return cls.from_dict(None)

    def __repr__(self) -> str:
        return f"<ExplanationSession: {len(self.explanation)} rules, {len(self.statements)} said>"

    def result(self, method: str = "analytic", k: int = 5) -> PersonalExplanation:
        """As `PreferenceSession.result`, with the rules."""
        found = super().result(method, k)
        if not isinstance(found, PersonalExplanation):
            raise TypeError("_finish must return a PersonalExplanation")
        return found

    def _finish(self, result: PreferenceResult) -> PersonalExplanation:
        values = {f.name: getattr(result, f.name) for f in fields(PreferenceResult)}
        return PersonalExplanation(**values, explanation=self.explanation)


def rule_criteria_of(explanation: Explanation) -> Criteria:
    """The paper's criteria of an explanation's rules, by rule number.

    Raises
    ------
    ExplainError
        Fewer than two rules: there is nothing to rank.
    """
    n = len(explanation)
    if n < 2:
        cut = explanation.stop in ("time", "size")
        why = explanation.reason or (
            "The search was cut short there." if cut else "Only one rule qualifies."
        )
        raise ExplainError(
            f"There is nothing to rank: {n} rule{' covers' if n == 1 else 's cover'} this row. "
            f"{why} Lower min_confidence or min_support, or pass minimal=False, to get more."
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
    return evidence_criteria(evidence)


def _labels(explanation: Explanation) -> dict[Hashable, str]:
    return {k: f"rule {k} ({r.antecedent()})" for k, r in enumerate(explanation.rules)}
