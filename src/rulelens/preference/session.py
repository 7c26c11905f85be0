"""A conversation about preferences: statements go in, a ranking comes out."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

import numpy as np

from rulelens.errors import OptionError, PreferenceError, did_you_mean
from rulelens.preference.criteria import Criteria, FloatArray
from rulelens.preference.notation import parse_ranking
from rulelens.preference.ranking import PreferenceResult, build_result, checked_k
from rulelens.preference.statements import (
    Constraint,
    Indifferent,
    Prefer,
    Ranking,
    Statement,
    alternatives_in,
    check,
    constraints_of,
    phrase,
)

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.preference.conflict import Conflict
    from rulelens.preference.polytope import Interior, Polytope
    from rulelens.preference.questions import Question

Method: TypeAlias = Literal["analytic", "max_eps", "chebyshev"]
METHODS: tuple[str, ...] = ("analytic", "max_eps", "chebyshev")


class PreferenceSession:
    """Learns which alternatives a person prefers, from a few statements.

    Parameters
    ----------
    criteria : Criteria or pandas DataFrame
        Alternatives by criteria, all gains (index = ids, columns = names). At least 2 rows.
    labels : mapping of id to str, optional
        Names of the alternatives in messages; the ids themselves by default.

    Notes
    -----
    A statement that contradicts earlier ones is kept: `conflict` tells which ones clash, `result`
    raises until one of them is undone. Nothing is dropped silently.

    Examples
    --------
    >>> import pandas as pd
    >>> s = PreferenceSession(pd.DataFrame({"short": [1, 0, 0.4], "sure": [0.2, 0.9, 0.8]}))
    >>> s.result().ranking
    (0, 2, 1)
    >>> s.rank("1 > 0").result().ranking
    (1, 2, 0)
    >>> s.prefer(0, 1).conflict().phrases
    ('1 over 0', '0 over 1')
    >>> s.undo().result().top(2)
    (1, 2)
    """

    def __init__(
        self,
        criteria: Criteria | pd.DataFrame,
        *,
        labels: Mapping[Hashable, str] | None = None,
    ) -> None:
        if not isinstance(criteria, Criteria):
            if not (hasattr(criteria, "index") and hasattr(criteria, "columns")):
                raise PreferenceError(
                    f"A session needs Criteria or a pandas DataFrame, found "
                    f"{type(criteria).__name__}. Put alternatives in rows, criteria in columns."
                )
            criteria = Criteria.from_frame(criteria)
        if len(criteria) < 2:
            raise PreferenceError(
                f"There {'is' if len(criteria) == 1 else 'are'} {len(criteria)} alternative"
                f"{'' if len(criteria) == 1 else 's'}; at least 2 are needed to prefer one."
            )
        self._criteria = criteria
        self._labels = dict(labels or {})
        self._statements: tuple[Statement, ...] = ()
        self._known: tuple[tuple[Statement, ...], Polytope, Interior | None] | None = None

    # --- what was said -----------------------------------------------------------------------

    @property
    def criteria(self) -> Criteria:
        """The alternatives and their criteria."""
        return self._criteria

    @property
    def labels(self) -> Mapping[Hashable, str]:
        """Names of alternatives in messages."""
        return dict(self._labels)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Everything stated so far and not undone, in order."""
        return self._statements

    @property
    def phrases(self) -> tuple[str, ...]:
        """The statements in the user's words."""
        return tuple(phrase(s, self._labels) for s in self._statements)

    @property
    def reference(self) -> tuple[Hashable, ...]:
        """Ids that occur in statements, in order of first mention."""
        named = (a for s in self._statements for a in alternatives_in(s))
        return tuple(dict.fromkeys(named))

    def add(self, statement: Statement) -> Self:
        """Add any statement; one that names what is unknown is an error and is not kept."""
        check(statement, self._criteria)
        self._statements = (*self._statements, statement)
        return self

    def rank(self, ranking: str | Sequence[Hashable | Sequence[Hashable]]) -> Self:
        """State a ranking, best first: ``[3, 6, [9, 7]]`` or ``"3>6>9=7"``; a list is a tie.

        Raises
        ------
        PreferenceError
            An unknown id, an id named twice, fewer than 2 ids, or text that cannot be read.
        """
        if isinstance(ranking, str):
            parsed = parse_ranking(ranking)
            return self.add(Ranking(tuple(tuple(self.resolve(t) for t in g) for g in parsed)))
        groups: list[tuple[Hashable, ...]] = []
        for item in ranking:
            if item in self._criteria or isinstance(item, str) or not isinstance(item, Sequence):
                groups.append((self.resolve(item),))
            else:
                groups.append(tuple(self.resolve(a) for a in item))
        return self.add(Ranking(tuple(groups)))

    def prefer(self, better: Hashable, worse: Hashable) -> Self:
        """State that `better` is better than `worse`."""
        return self.add(Prefer(self.resolve(better), self.resolve(worse)))

    def indifferent(self, first: Hashable, second: Hashable) -> Self:
        """State that both are equally good."""
        return self.add(Indifferent(self.resolve(first), self.resolve(second)))

    def undo(self) -> Self:
        """Withdraw the last statement; an error if there is none."""
        if not self._statements:
            raise PreferenceError("There is nothing to undo: no statement was made yet.")
        self._statements = self._statements[:-1]
        return self

    def resolve(self, alternative: Hashable) -> Hashable:
        """Id that `alternative` means: itself, or the one id whose text it is."""
        if isinstance(alternative, str) and alternative not in self._criteria:
            same = [a for a in self._criteria.alternatives if str(a) == alternative]
            if len(same) == 1:
                return same[0]
        return self._criteria.alternatives[self._criteria.position(alternative)]

    # --- what follows from it ----------------------------------------------------------------

    def constraints(self) -> tuple[Constraint, ...]:
        """The statements as linear constraints on the weights."""
        return constraints_of(self._statements, self._criteria, labels=self._labels)

    def polytope(self) -> Polytope:
        """The weights that agree with every statement."""
        return self._solved()[0]

    def _solved(self) -> tuple[Polytope, Interior | None]:
        from rulelens.preference.polytope import Polytope

        if self._known is None or self._known[0] is not self._statements:
            polytope = Polytope.of(self.constraints(), len(self._criteria.names))
            self._known = (self._statements, polytope, polytope.interior())
        return self._known[1], self._known[2]

    def _interior(self) -> Interior:
        interior = self._solved()[1]
        if interior is None:
            raise PreferenceError(str(self.conflict()))
        return interior

    def conflict(self) -> Conflict | None:
        """The statements that contradict each other, or None if some weights agree with all."""
        if self._solved()[1] is not None:
            return None
        from rulelens.preference.conflict import Conflict, find_conflict

        constraints = self.constraints()
        found = find_conflict(constraints, len(self._criteria.names))
        if found is not None:
            return found
        # Consistent with a margin below the tolerance only: name all of them.
        return Conflict(
            tuple(c.statement for c in constraints),
            tuple(c.phrase for c in constraints),
            tuple(c.source for c in constraints),
            "the margin that is left is below what numbers can tell apart.",
        )

    def result(self, method: str = "analytic", k: int = 5) -> PreferenceResult:
        """Weights by `method`, and all alternatives ranked by them.

        Parameters
        ----------
        method : {"analytic", "max_eps", "chebyshev"}
            "analytic" is the centre of the compatible weights and the default; "max_eps" the
            paper's largest margin; "chebyshev" the centre of the largest ball.
        k : int
            How many alternatives `PreferenceResult.top` gives.

        Raises
        ------
        PreferenceError
            The statements contradict each other (the message names a smallest conflict), or
            "max_eps" without any strict statement.
        OptionError
            An unknown method, or k < 1.
        """
        if method not in METHODS:
            raise OptionError(f"Unknown method {method!r}. {did_you_mean(method, METHODS)}")
        checked_k(k)
        weights, notes = self._weights(method)
        return self._finish(self._ranked(weights, method=method, k=k, notes=notes))

    def _weights(self, method: str) -> tuple[FloatArray, list[str]]:
        interior = self._interior()
        notes = []
        if not self._statements:
            notes.append("Nothing was stated yet: all criteria weigh the same.")
        if method == "max_eps":
            from rulelens.preference.max_epsilon import max_epsilon

            best = max_epsilon(self.polytope())
            if best is None:
                raise PreferenceError(str(self.conflict()))
            return best[0], notes
        if method == "chebyshev":
            weights = np.maximum(interior.center, 0.0)
            return weights / weights.sum(), notes
        from rulelens.preference.analytic_center import analytic_center

        return analytic_center(interior).weights, notes

    def _ranked(
        self, weights: FloatArray, *, method: str, k: int, notes: Sequence[str]
    ) -> PreferenceResult:
        strict = self.polytope().strict
        return build_result(
            self._criteria,
            weights,
            method=method,
            epsilon=float((strict @ weights).min()) if len(strict) else float("nan"),
            k=k,
            reference=self.reference,
            statements=self._statements,
            notes=notes,
        )

    def _finish(self, result: PreferenceResult) -> PreferenceResult:
        """Hook for subclasses: what `result` returns is this method's answer."""
        return result

    def next_question(self) -> Question | None:
        """The comparison whose answer is most open, or None if none would tell anything new."""
        from rulelens.preference.analytic_center import analytic_center
        from rulelens.preference.questions import decided_pairs, nearest_pair

        interior = self._interior()
        return nearest_pair(
            self._criteria,
            self.polytope(),
            interior,
            analytic_center(interior),
            decided_pairs(self.constraints()),
        )
