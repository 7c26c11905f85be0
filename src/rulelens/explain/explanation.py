"""An explanation: the rules that cover one row and agree with the model's decision on it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from rulelens.bits.lattice import ItemTable, Stop
from rulelens.core.contingency import Contingency
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Level
from rulelens.errors import ExplainError, FormatError
from rulelens.explain.exchange import FORMAT, VERSION, explanation_from_dict, rules_to_list
from rulelens.files import parse_json, read_text, write_text
from rulelens.io.formats import format_rules

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from rulelens.explain.personal import ExplanationSession
    from rulelens.graph.feature_graph import FeatureGraph
    from rulelens.preference.profile import Profile

SHOWN_MEASURES = ("support", "confidence", "confidence_low", "recall", "confirmation", "lift")
"""Measures that explanations show."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """Rules that cover one row and speak for the class that the model gave it.

    All counts are of training rows, labelled by the model itself: "tp" are covered rows with
    the same decision. Rule k of `rules` is called k everywhere.

    Parameters
    ----------
    row : mapping of feature name to value
        None for a missing value.
    prediction : label
        The model's own answer for the row; no rule ever speaks for another class.
    rules : RuleSet
        By falling support, then by length.
    counts : Contingency
    length : int
        Every qualifying rule up to this many conditions is here. After a search that was cut
        short ("time", "size") a longer rule may be here too, if it was found directly.
    stop : str
        Why the search ended: "enough", "exhausted", "length", "time", "size", "impossible".
    reason : str
        Why there is no rule; empty where there are some.
    relaxed, relaxed_counts : RuleSet and Contingency
        Where no rule was found, the nearest ones that do not qualify, with their true
        figures: those with the support by falling confidence, or, where no rule has it,
        those with the confidence by falling support.
    groups : tuple of tuples of int
        Rules that cover exactly the same training rows; only groups of two or more.
    classes : mapping of label to int
        Training rows of each class, by the model's labels.
    options : mapping
        What was asked for: ``min_support``, ``min_confidence``, ``n_bins`` and so on.
    notes : tuple of str
        What the reader should know.
    """

    row: Mapping[str, Level | None]
    prediction: Level
    rules: RuleSet
    counts: Contingency
    length: int
    stop: Stop
    reason: str
    relaxed: RuleSet
    relaxed_counts: Contingency
    groups: tuple[tuple[int, ...], ...]
    classes: Mapping[Level, int]
    options: Mapping[str, Any]
    notes: tuple[str, ...]
    _items: ItemTable | None = field(default=None, repr=False)
    _members: NDArray[np.int64] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.rules)

    @property
    def n_rows(self) -> int:
        """Training rows behind the counts."""
        return sum(self.classes.values())

    def covered_rows(self, k: int) -> NDArray[np.int64]:
        """Numbers of the training rows that rule `k` covers, ascending.

        Raises
        ------
        ExplainError
            The explanation was read from a file: it no longer has the training rows.
        """
        if self._items is None or self._members is None:
            raise ExplainError(
                "This explanation has no training rows with it. Use rules.coverage(X)."
            )
        if not 0 <= k < len(self):
            raise ExplainError(
                f"There is no rule {k}: the explanation has {len(self)} "
                f"rule{'' if len(self) == 1 else 's'}."
            )
        chosen = self._members[k][self._members[k] >= 0]
        bits = np.bitwise_and.reduce(self._items.columns[chosen], axis=0)
        return np.flatnonzero(self._items.layout.unpack(bits[None])[0])

    def to_frame(self) -> pd.DataFrame:
        """One row a rule: text, length, the four counts, measures and coverage group."""
        frame = self.counts.to_frame(SHOWN_MEASURES)
        frame.insert(0, "rule", [r.antecedent() for r in self.rules])
        frame.insert(1, "outcome", [self.prediction] * len(self.rules))
        frame.insert(2, "length", self.rules.lengths)
        group = np.full(len(self), -1)
        for number, members in enumerate(self.groups):
            group[list(members)] = number
        frame["group"] = group
        frame.index.name = "id"
        return frame

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe record, with its format's version; `from_dict` reads it."""
        document = json.loads(format_rules(self.rules[:0], format="json"))
        return {
            "format": FORMAT,
            "version": VERSION,
            "row": dict(self.row),
            "prediction": self.prediction,
            "length": self.length,
            "stop": self.stop,
            "reason": self.reason,
            "notes": list(self.notes),
            "options": dict(self.options),
            "classes": [[label, n] for label, n in self.classes.items()],
            "groups": [list(g) for g in self.groups],
            "schema": document["schema"],
            "outcomes": document["outcomes"],
            "rules": rules_to_list(self.rules, self.counts, SHOWN_MEASURES),
            "relaxed": rules_to_list(self.relaxed, self.relaxed_counts, SHOWN_MEASURES),
        }

    @staticmethod
    def from_dict(record: object) -> Explanation:
        """The explanation that `to_dict` gave; it no longer has the training rows.

        Raises
        ------
        FormatError
            The record does not fit; the message names the place.
        """
        return explanation_from_dict(record)

    def to_json(self, path: str | Path) -> Path:
        """Write the record to a file, and return its path; `from_json` reads it."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False, indent=1)
        return write_text(path, text + "\n")

    @staticmethod
    def from_json(path: str | Path) -> Explanation:
        """The explanation that `to_json` wrote.

        Raises
        ------
        InputError, FormatError
        """
        text = read_text(path)
        try:
            return explanation_from_dict(parse_json(text))
        except FormatError as e:
            raise FormatError(f"{path}: {e}") from None

    def session(self, *, profile: Profile | None = None) -> ExplanationSession:
        """A session that learns which of these rules suit the one who asks.

        Parameters
        ----------
        profile : Profile, optional
            What the person stated about other rows; it holds here too.

        Raises
        ------
        ExplainError
            Fewer than two rules: there is nothing to rank.
        """
        from rulelens.explain.personal import ExplanationSession

        return ExplanationSession(self, profile=profile)

    def resume(
        self, path: str | Path, *, missing: Literal["error", "set_aside"] = "error"
    ) -> ExplanationSession:
        """A session over these rules that was saved; see `PreferenceSession.load`."""
        from rulelens.explain.personal import ExplanationSession

        return ExplanationSession.resume(path, self, missing=missing)

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

        return write_report(path, self, graph=graph, fidelity=fidelity)

    def __repr__(self) -> str:
        noun = "rule" if len(self) == 1 else "rules"
        return f"<Explanation: {len(self)} {noun} for {self.prediction!r}>"

    def __str__(self) -> str:
        head = f"The model says {self.prediction!r}."
        if not len(self):
            return f"{head} {self.reason}"
        shown = [f"{k}: {r.antecedent()}" for k, r in zip(range(20), self.rules, strict=False)]
        rest = [f"… and {len(self) - 20} more"] if len(self) > 20 else []
        agree = (
            "1 rule covers the row and agrees"
            if len(self) == 1
            else (f"{len(self)} rules cover the row and agree")
        )
        return "\n".join([f"{head} {agree}:", *shown, *rest])
