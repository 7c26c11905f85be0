"""The weights that agree with what was said, and what follows from them for certain."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rulelens.errors import PreferenceError
from rulelens.preference.statement_log import StatementLog
from rulelens.preference.statements import Recalled, Statement
from rulelens.preference.table import Criteria

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.preference.belief import Prior
    from rulelens.preference.certificate import ExactCriteria
    from rulelens.preference.conflict import Conflict
    from rulelens.preference.hit_and_run import WeightSample
    from rulelens.preference.identifiability import Identifiability
    from rulelens.preference.plackett_luce import NoisyPosterior
    from rulelens.preference.polytope import Interior, Polytope
    from rulelens.preference.relations import Certificate, ExtremeRanks
    from rulelens.preference.repair import Repair


class CompatibleWeights(StatementLog):
    """Statements and the weights that agree with them; a session without rankings and questions.

    Parameters
    ----------
    criteria : Criteria or pandas DataFrame
    labels : mapping of id to str, optional
    background : sequence of Recalled
    """

    def __init__(
        self,
        criteria: Criteria | pd.DataFrame,
        *,
        labels: Mapping[Hashable, str] | None = None,
        background: Sequence[Recalled] = (),
    ) -> None:
        super().__init__(criteria, labels=labels, background=background)
        self._known: tuple[tuple[Statement, ...], Polytope, Interior | None] | None = None
        self._samples: dict[tuple[Any, ...], WeightSample] = {}
        self._exact: ExactCriteria | None = None
        self._noisy: tuple[tuple[Any, ...], NoisyPosterior] | None = None

    def polytope(self) -> Polytope:
        """The weights that agree with every statement."""
        return self._solved()[0]

    def _solved(self) -> tuple[Polytope, Interior | None]:
        from rulelens.preference.polytope import Polytope

        if self._known is None or self._known[0] is not self._statements:
            polytope = Polytope.of(self.constraints(), len(self._criteria.names))
            self._known = (self._statements, polytope, polytope.interior())
            self._samples = {}
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

    def repair(self) -> Repair:
        """The fewest elementary statements to withdraw so that the rest can hold together."""
        from rulelens.preference.repair import smallest_repair

        return smallest_repair(self.constraints(), len(self._criteria.names))

    def sample(
        self, n_draws: int = 8_000, *, prior: Prior = "simplex", random_state: int = 0
    ) -> WeightSample:
        """Draws of weights that agree with every statement.

        Parameters
        ----------
        n_draws : int
        prior : {"simplex", "uniform", "mixed"}
            What is believed before anything is said: "simplex", all weights alike; "uniform",
            each weight drawn from [0, 1] and all divided by their sum, which prefers even weights;
            "mixed", either of the two, by how well each foresaw the statements.
        random_state : int
        """
        from rulelens.preference.belief import checked_prior, sample_belief
        from rulelens.preference.hit_and_run import checked_draws

        checked_prior(prior)
        interior = self._interior()
        # Only a whole number promises the same draws again.
        repeats = isinstance(random_state, int | np.integer)
        key = (checked_draws(n_draws), prior, random_state) if repeats else None
        if key is not None and key in self._samples:
            return self._samples[key]
        found = sample_belief(
            self.polytope(), interior, n_draws, prior=prior, random_state=random_state
        )
        if key is not None:
            self._samples[key] = found
        return found

    def noisy_sample(
        self, n_draws: int = 4_096, *, noise: float | None = None, random_state: int = 0
    ) -> NoisyPosterior:
        """Draws of weights if statements may be wrong now and then (Bayesian Plackett-Luce).

        Contradictions are no error here.

        Parameters
        ----------
        n_draws : int
        noise : float, optional
            Share of the usual spread of scores; learned if not given.
        random_state : int
        """
        from rulelens.preference.plackett_luce import sample_noisy

        said = (*self._background, *self._statements)
        key = (said, n_draws, noise, random_state)
        repeats = isinstance(random_state, int | np.integer)
        if self._noisy is None or not repeats or self._noisy[0] != key:
            found = sample_noisy(
                self._criteria, said, noise=noise, n_draws=n_draws, random_state=random_state
            )
            self._noisy = (key, found)
        return self._noisy[1]

    def necessary(self, better: Hashable, worse: Hashable) -> Certificate | None:
        """Proof that `better` is as good as `worse` for all compatible weights, or None.

        Where None, `counterexample` gives weights that say otherwise.
        """
        from rulelens.preference.relations import necessary

        self._interior()
        return necessary(
            self._criteria,
            self.constraints(),
            self.resolve(better),
            self.resolve(worse),
            labels=self._labels,
            fractions=self._fractions(),
        )

    def _fractions(self) -> ExactCriteria:
        """The criteria in fractions, which are kept: finding them takes longer than a proof."""
        from rulelens.preference.certificate import ExactCriteria

        if self._exact is None:
            self._exact = ExactCriteria(self._criteria)
        return self._exact

    def counterexample(self, better: Hashable, worse: Hashable) -> dict[str, float] | None:
        """Weights that agree with everything said and yet put `worse` above `better`, or None.

        Where there are any, `better` over `worse` is not necessary, however many draws order the
        two that way.

        Returns
        -------
        dict of criterion name to float, or None
            Weights of at least 0 that sum to 1 and keep every strict statement by a margin.

        Examples
        --------
        >>> c = Criteria(("a", "b", "c"), ("x", "y"), [[1, 0], [0, 1], [0.6, 0.8]])
        >>> CompatibleWeights(c).prefer("a", "b").counterexample("a", "c")
        {'x': 0.58..., 'y': 0.41...}
        """
        from rulelens.preference.relations import counterexample

        interior = self._interior()
        row = self._criteria.row(self.resolve(worse)) - self._criteria.row(self.resolve(better))
        weights = counterexample(self.polytope(), interior.center, row)
        if weights is None:
            return None
        return dict(zip(self._criteria.names, weights.tolist(), strict=True))

    def possible(self, better: Hashable, worse: Hashable) -> bool:
        """Whether some compatible weights put `better` above `worse` by a margin."""
        from rulelens.preference.relations import possible

        self._interior()
        row = self._criteria.row(self.resolve(better)) - self._criteria.row(self.resolve(worse))
        return possible(self.polytope(), row) is not None

    def necessary_pairs(self) -> tuple[Certificate, ...]:
        """Certificates of all necessary preferences between two alternatives."""
        from rulelens.preference.relations import necessary_pairs

        draws = self.sample().draws
        return necessary_pairs(self._criteria, self.constraints(), draws=draws, labels=self._labels)

    def extreme_ranks(self, alternative: Hashable, *, margin: float = 0.01) -> ExtremeRanks:
        """Best and worst rank of an alternative where every strict statement keeps `margin`."""
        from rulelens.preference.relations import extreme_ranks

        self._interior()
        chosen = self.resolve(alternative)
        return extreme_ranks(self._criteria, self.polytope(), chosen, margin=margin)

    def identifiability(self) -> Identifiability:
        """Which weights the criteria can tell apart at all, and how free they still are."""
        from rulelens.preference.identifiability import identifiability

        return identifiability(self._criteria, self._interior())
