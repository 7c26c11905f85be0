"""The result of preference learning: a ranking with its scores, weights and reasons."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from rulelens.errors import OptionError
from rulelens.preference.statements import Statement, phrase
from rulelens.preference.table import Criteria, FloatArray, IntArray, read_only, without_offsets

if TYPE_CHECKING:
    import pandas as pd

TIE = 1e-12
"""Scores closer than this part of the largest term in them are equal: that is rounding."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class PreferenceResult:
    """Alternatives ranked by the weights that were learned.

    Parameters
    ----------
    method : str
        How the weights were chosen: "analytic", "max_eps", "chebyshev" …
    criteria : Criteria
    ranking : tuple of hashable
        Ids, best first; equal scores keep the order of the criteria's rows, see `ties`.
    scores : mapping of id to float
    weights : mapping of criterion name to float
        Non-negative, sum 1.
    contributions : array, shape (n, m)
        weight × value, in the order of the criteria's rows and columns; rows sum to the scores.
    reference : tuple of hashable
        Ids that occur in statements, in the order in which they were first named.
    epsilon : float
        Smallest margin of a strict statement at these weights (with "max_eps" the optimum ε*);
        NaN if nothing strict was said.
    k : int
        How many alternatives `top` gives.
    statements : tuple of Statement
    ties : tuple of tuples of hashable
        Groups of alternatives with equal scores.
    notes : tuple of str
        What the reader should know about this result.
    """

    method: str
    criteria: Criteria
    ranking: tuple[Hashable, ...]
    scores: Mapping[Hashable, float]
    weights: Mapping[str, float]
    contributions: FloatArray
    reference: tuple[Hashable, ...]
    epsilon: float
    k: int
    statements: tuple[Statement, ...]
    ties: tuple[tuple[Hashable, ...], ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        best = ", ".join(map(repr, self.ranking[:3]))
        return (
            f"<PreferenceResult: {len(self.ranking)} alternatives by {self.method!r} from "
            f"{len(self.statements)} statements, best first {best}"
            f"{' …' if len(self.ranking) > 3 else ''}>"
        )

    @property
    def new(self) -> tuple[Hashable, ...]:
        """Ids, best first, that no statement mentions."""
        known = set(self.reference)
        return tuple(a for a in self.ranking if a not in known)

    def top(self, k: int | None = None) -> tuple[Hashable, ...]:
        """The best `k` ids (by default the `k` of the result)."""
        return self.ranking[: self.k if k is None else checked_k(k)]

    def contribution(self, alternative: Hashable) -> Mapping[str, float]:
        """What each criterion adds to the score of one alternative."""
        row = self.contributions[self.criteria.position(alternative)].tolist()
        return MappingProxyType(dict(zip(self.criteria.names, row, strict=True)))

    def to_frame(self, *, contributions: bool = False) -> pd.DataFrame:
        """Pandas DataFrame, best first: rank, score, new; with `contributions` one column each."""
        import pandas as pd

        order = [self.criteria.position(a) for a in self.ranking]
        known = set(self.reference)
        index = pd.Index(list(self.ranking), tupleize_cols=False, name="alternative")
        frame = pd.DataFrame(
            {
                "rank": np.arange(1, len(order) + 1),
                "score": [self.scores[a] for a in self.ranking],
                "new": [a not in known for a in self.ranking],
            },
            index=index,
        )
        if not contributions:
            return frame
        parts = pd.DataFrame(
            self.contributions[order], index=index, columns=list(self.criteria.names)
        )
        return pd.concat([frame, parts], axis=1)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe dict; ids that JSON lacks become text."""
        known = set(self.reference)
        rows = self.contributions.tolist()
        return {
            "format": "rulelens.preference_result",
            "version": 1,
            "method": self.method,
            "k": self.k,
            "epsilon": None if np.isnan(self.epsilon) else self.epsilon,
            "weights": dict(self.weights),
            "ranking": [
                {
                    "alternative": json_id(a),
                    "rank": i + 1,
                    "score": self.scores[a],
                    "new": a not in known,
                    "contributions": dict(
                        zip(self.criteria.names, rows[self.criteria.position(a)], strict=True)
                    ),
                }
                for i, a in enumerate(self.ranking)
            ],
            "reference": [json_id(a) for a in self.reference],
            "ties": [[json_id(a) for a in group] for group in self.ties],
            "statements": [phrase(s) for s in self.statements],
            "notes": list(self.notes),
        }


def json_id(alternative: Hashable) -> str | int | float | bool | None:
    """`alternative` as JSON holds it: numbers, text, true/false and null as they are."""
    if alternative is None or isinstance(alternative, str | int | float | bool):
        return alternative
    return str(alternative)


def checked_k(k: int) -> int:
    """`k` if it is a whole number of at least 1, else an OptionError."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise OptionError(f"k is {k!r}. Expected a whole number of at least 1.")
    return int(k)


def rank_order(
    scores: FloatArray, *, size: float = 1.0
) -> tuple[IntArray, tuple[tuple[int, ...], ...]]:
    """Positions from best to worst, ties in input order, and the groups of equal scores.

    `size` is the largest term that scores are sums of: rounding is relative to it.

    Examples
    --------
    >>> order, ties = rank_order(np.array([0.2, 0.5, 0.2 + 1e-15]))
    >>> order.tolist(), ties
    ([1, 0, 2], ((0, 2),))
    """
    order = np.argsort(-scores, kind="stable")
    steps = -np.diff(scores[order]) > TIE * size
    group = np.r_[0, np.cumsum(steps)] if len(order) else np.zeros(0, dtype=np.int64)
    order = order[np.lexsort((order, group))]
    ties: list[tuple[int, ...]] = []
    if not steps.all():
        starts = np.flatnonzero(np.r_[True, steps])
        ends = np.r_[starts[1:], len(order)]
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            if end - start > 1:
                ties.append(tuple(order[start:end].tolist()))
    return order.astype(np.int64), tuple(ties)


def build_result(
    criteria: Criteria,
    weights: FloatArray,
    *,
    method: str,
    epsilon: float,
    k: int,
    reference: Sequence[Hashable],
    statements: Sequence[Statement],
    notes: Sequence[str] = (),
    scores: FloatArray | None = None,
    rounding: float = TIE,
) -> PreferenceResult:
    """Score and rank all alternatives with `weights`.

    `rounding` is the part of the largest term below which a difference of scores is none.

    `scores` takes the place of values·weights for the order only where a method ranks by
    something else.
    """
    ids = criteria.alternatives
    values = without_offsets(criteria.values)
    utility = criteria.values @ weights if scores is None else scores
    utility = utility + 0.0  # no -0.0
    terms = values * weights if scores is None else utility
    order, tied = rank_order(
        utility if values is criteria.values or scores is not None else values @ weights,
        size=(float(np.abs(terms).max(initial=0.0)) or 1.0) * (rounding / TIE),
    )
    ties = tuple(tuple(ids[i] for i in group) for group in tied)
    said = list(notes)
    if ties:
        n_tied = sum(map(len, ties))
        said.append(
            f"{n_tied} alternatives share their score with another; they stand in input order."
        )
    return PreferenceResult(
        method=method,
        criteria=criteria,
        ranking=tuple(ids[i] for i in order.tolist()),
        scores=MappingProxyType(dict(zip(ids, utility.tolist(), strict=True))),
        weights=MappingProxyType(dict(zip(criteria.names, weights.tolist(), strict=True))),
        contributions=read_only(criteria.values * weights + 0.0),
        reference=tuple(reference),
        epsilon=epsilon,
        k=k,
        statements=tuple(statements),
        ties=ties,
        notes=tuple(said),
    )
