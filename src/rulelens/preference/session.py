"""A conversation about preferences: statements go in, a ranking comes out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

import numpy as np

from rulelens.errors import OptionError, PreferenceError, did_you_mean
from rulelens.preference.compatible_weights import CompatibleWeights
from rulelens.preference.ranking import TIE, PreferenceResult, build_result, checked_k
from rulelens.preference.table import Criteria, FloatArray, sizes_differ, without_offsets

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.preference.acceptability import Outlook
    from rulelens.preference.belief import Prior
    from rulelens.preference.hit_and_run import WeightSample
    from rulelens.preference.questions import Form, Goal, Question

Method: TypeAlias = Literal[
    "analytic", "max_eps", "chebyshev", "centroid", "centroid_uniform", "bayes_pl"
]
METHODS: tuple[str, ...] = (
    "analytic",
    "max_eps",
    "chebyshev",
    "centroid",
    "centroid_uniform",
    "bayes_pl",
)


class PreferenceSession(CompatibleWeights):
    """Learns which alternatives a person prefers, from a few statements.

    Parameters
    ----------
    criteria : Criteria or pandas DataFrame
        Alternatives by criteria, all gains (index = ids, columns = names). At least 2 rows.
    labels : mapping of id to str, optional
        Names of the alternatives in messages; the ids themselves by default.
    background : sequence of Recalled, optional
        Statements about other alternatives, from a `Profile`; criteria that occur only there join
        with the value 0.

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

    # --- the ranking -------------------------------------------------------------------------

    def result(self, method: str = "analytic", k: int = 5) -> PreferenceResult:
        """Weights by `method`, and all alternatives ranked by them.

        Parameters
        ----------
        method : {"analytic", "max_eps", "chebyshev", "centroid", "centroid_uniform", "bayes_pl"}
            "analytic" is the centre of the compatible weights and the default; "max_eps" the
            paper's largest margin; "chebyshev" the centre of the largest ball; "centroid" the mean
            of a sample, refused if the sample is poor ("centroid_uniform" under the uniform prior,
            see `sample`); "bayes_pl" takes the statements as noisy, so that contradictions are no
            error.
        k : int
            How many alternatives `PreferenceResult.top` gives.

        Raises
        ------
        PreferenceError
            The statements contradict each other (the message names a smallest conflict),
            "max_eps" without any strict statement, or a sample too poor for a centroid.
        OptionError
            An unknown method, or k < 1.
        """
        if method not in METHODS:
            raise OptionError(f"Unknown method {method!r}. {did_you_mean(method, METHODS)}")
        checked_k(k)
        weights, notes = self._weights(method)
        weights = weights + 0.0  # no -0.0
        if method != "bayes_pl":
            self._check_obeyed(weights)
        return self._finish(self._ranked(weights, method=method, k=k, notes=notes))

    def _check_obeyed(self, weights: FloatArray) -> None:
        """Raise if rounding made the weights break a statement: never show such a ranking."""
        if not self.polytope().holds(weights):
            raise PreferenceError(
                "The statements cannot be obeyed to the last digit with these criteria: "
                f"{sizes_differ(self._criteria)}"
            )

    def _weights(self, method: str) -> tuple[FloatArray, list[str]]:
        notes = []
        if not self._statements and not self._background:
            notes.append("Nothing was stated yet: all criteria weigh the same.")
        if method == "bayes_pl":
            posterior = self.noisy_sample()
            notes.append(
                f"Statements were taken as noisy, at {posterior.noise.mean():.2f} of the spread of "
                f"scores; effective sample size {posterior.sample.ess:.0f}, R-hat "
                f"{posterior.sample.rhat:.3f}."
            )
            return posterior.sample.centroid(), notes
        interior = self._interior()
        if method == "max_eps":
            from rulelens.preference.max_epsilon import max_epsilon

            best = max_epsilon(self.polytope())
            if best is None:
                raise PreferenceError(str(self.conflict()))
            return best[0], notes
        if method == "chebyshev":
            weights = np.maximum(interior.center, 0.0)
            return weights / weights.sum(), notes
        if method in ("centroid", "centroid_uniform"):
            sample = self.sample(prior="simplex" if method == "centroid" else "uniform")
            notes.append(
                f"Centroid of {len(sample.draws):,} draws: effective sample size "
                f"{sample.ess:.0f}, R-hat {sample.rhat:.3f}, standard error of a weight at most "
                f"{sample.mcse.max():.1e}."
            )
            return sample.centroid(), notes
        from rulelens.preference.analytic_center import analytic_center

        return analytic_center(interior).weights, notes

    def _ranked(
        self, weights: FloatArray, *, method: str, k: int, notes: Sequence[str]
    ) -> PreferenceResult:
        strict, equal = self.polytope().strict, self.polytope().equal
        return build_result(
            self._criteria,
            weights,
            method=method,
            epsilon=float((strict @ weights).min()) if len(strict) else float("nan"),
            k=k,
            reference=self.reference,
            statements=self._statements,
            notes=notes,
            # Weights obey a tie that was stated up to the rounding of a null space.
            rounding=100 * TIE if len(equal) else TIE,
        )

    def _finish(self, result: PreferenceResult) -> PreferenceResult:
        """Hook for subclasses: what `result` returns is this method's answer."""
        return result

    # --- how settled it is -------------------------------------------------------------------

    def outlook(
        self,
        result: PreferenceResult | None = None,
        *,
        prior: Prior = "mixed",
        level: float = 0.95,
        noisy: bool = False,
    ) -> Outlook:
        """How far `result` (by default of the default method) is to be trusted.

        Expected Kendall τ and Jaccard index with the person's own ranking, chances to be first and
        in the top k, and the credible set of the best alternative, under a belief `prior` (see
        `sample`). With `noisy`, statements count as noisy answers, so that contradictions are no
        error, and the belief is "simplex" in any case.
        """
        from rulelens.preference.acceptability import outlook

        if result is not None and not isinstance(result, PreferenceResult):
            raise OptionError(
                f"result is of type {type(result).__name__}. Expected what result() gave, or None."
            )
        told = self.result("bayes_pl" if noisy else "analytic") if result is None else result
        if told.criteria.alternatives != self._criteria.alternatives or (
            tuple(told.weights) != self._criteria.names
        ):
            raise OptionError(
                "The result is about other alternatives or criteria. Pass one of this session."
            )
        sample = self._draws(prior, noisy)
        return outlook(
            self._criteria,
            without_offsets(self._criteria.values) @ np.array(list(told.weights.values())),
            sample.draws,
            k=told.k,
            reference=self.reference,
            level=level,
            ess=sample.ess,
            rhat=sample.rhat,
        )

    def _draws(self, prior: Prior, noisy: bool) -> WeightSample:
        from rulelens.preference.belief import checked_prior

        checked_prior(prior)
        return self.noisy_sample().sample if noisy else self.sample(prior=prior)

    def acceptability(
        self, ranks: int = 10, *, prior: Prior = "mixed", noisy: bool = False
    ) -> pd.DataFrame:
        """Share of weights that give each alternative rank 1, 2 … `ranks`: a pandas DataFrame."""
        import pandas as pd

        from rulelens.preference.acceptability import rank_acceptability

        shares = rank_acceptability(
            without_offsets(self._criteria.values),
            self._draws(prior, noisy).draws,
            checked_k(ranks),
        )
        index = pd.Index(list(self._criteria.alternatives), tupleize_cols=False)
        return pd.DataFrame(shares, index=index, columns=range(1, shares.shape[1] + 1))

    def pairwise(self, *, prior: Prior = "mixed", noisy: bool = False) -> pd.DataFrame:
        """Share of weights that put the row's alternative above the column's."""
        import pandas as pd

        from rulelens.preference.acceptability import pairwise_probabilities

        shares = pairwise_probabilities(
            without_offsets(self._criteria.values), self._draws(prior, noisy).draws
        )
        index = pd.Index(list(self._criteria.alternatives), tupleize_cols=False)
        return pd.DataFrame(shares, index=index, columns=index)

    # --- questions ---------------------------------------------------------------------------

    def next_question(
        self,
        goal: Goal = "top_k",
        form: Form = "pair",
        k: int = 5,
        *,
        prior: Prior = "mixed",
        noisy: bool = False,
        random_state: int = 0,
    ) -> Question | None:
        """The question most worth asking, or None if no answer would tell anything new.

        Parameters
        ----------
        goal : {"top_k", "ranking", "best"}
            What the answers are to settle.
        form : {"pair", "best_of_5", "insert"}
            "insert" asks where an alternative goes in the latest ranking that was stated. After a
            skip the next best question of the same form comes. Look at `Question.form`: it is
            "pair" where no set of at least three is worth asking about ("best_of_5"), or where
            all that could be inserted was skipped ("insert").
        k : int
            Size of the top for goal "top_k" and for `Question.agreement`.
        prior : {"mixed", "simplex", "uniform"}
            What is believed before anything is said, see `sample`. "mixed" asks well whether few
            criteria matter to a person or most do. With `noisy` it is "simplex" in any case.
        noisy : bool
            Take answers as noisy: go on where they contradict each other, instead of an error.
        random_state : int
            Of the sample of weights that questions are judged by.
        """
        from rulelens.preference.inquiry import ask

        return ask(
            self, goal, form, checked_k(k), prior=prior, noisy=noisy, random_state=random_state
        )

    # --- keeping it --------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Plain state: criteria, statements and events, JSON-safe and versioned."""
        from rulelens.preference.session_file import session_to_dict

        return session_to_dict(self)

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Session from what `to_dict` gave, replaying every event."""
        from rulelens.preference.session_file import session_from_dict

        return session_from_dict(data, build=cls)[0]

    def save(self, path: str | Path) -> None:
        """Write the session as JSON; the file is complete or untouched, never half written."""
        from rulelens.preference.session_file import save_session

        save_session(self, path)

    @classmethod
    def load(
        cls,
        path: str | Path,
        criteria: Criteria | pd.DataFrame | None = None,
        *,
        missing: Literal["error", "set_aside"] = "error",
    ) -> Self:
        """Read a session that `save` wrote, replaying every event.

        Parameters
        ----------
        path : str or Path
        criteria : Criteria or DataFrame, optional
            Other alternatives to use instead of the saved ones.
        missing : {"error", "set_aside"}
            What to do with statements about alternatives that these do not have: refuse, or leave
            them out and list them in `set_aside`.
        """
        from rulelens.preference.session_file import load_session

        session, aside = load_session(path, criteria, missing=missing, build=cls)
        session._set_aside = aside
        return session

    _set_aside: tuple[str, ...] = ()

    @property
    def set_aside(self) -> tuple[str, ...]:
        """Statements that `load` left out because their alternatives are no longer there."""
        return self._set_aside
