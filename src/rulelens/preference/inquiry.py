"""Asking a session's next question: sample the weights, pick by goal and form."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from rulelens.errors import OptionError, PreferenceError, did_you_mean
from rulelens.preference.analytic_center import analytic_center
from rulelens.preference.belief import Prior, checked_prior, sample_belief
from rulelens.preference.questions import (
    FORMS,
    GOALS,
    Form,
    Goal,
    Question,
    agreement,
    best_choice_set,
    best_insertion,
    best_pair,
    contenders,
    decided_pairs,
    nearest_pair,
)
from rulelens.preference.statements import Ranking
from rulelens.preference.table import FloatArray, IntArray, without_offsets

if TYPE_CHECKING:
    from rulelens.preference.session import PreferenceSession

_DRAWS = 1_024
_CHAINS = 128


def ask(
    session: PreferenceSession,
    goal: Goal,
    form: Form,
    k: int,
    *,
    prior: Prior = "mixed",
    noisy: bool = False,
    random_state: int = 0,
) -> Question | None:
    """The question most worth asking in `session`; see `PreferenceSession.next_question`."""
    if goal not in GOALS:
        raise OptionError(f"Unknown goal {goal!r}. {did_you_mean(goal, GOALS)}")
    if form not in FORMS:
        raise OptionError(f"Unknown form {form!r}. {did_you_mean(form, FORMS)}")
    checked_prior(prior)
    values, ids = without_offsets(session.criteria.values), session.criteria.alternatives
    skipped = {frozenset(shown) for shown in session.skipped}
    decided = decided_pairs(session.constraints()) | skipped
    if noisy:
        posterior = session.noisy_sample(1_024, random_state=random_state)
        draws, noise, certain = posterior.sample.draws, posterior.scale, None
    else:
        interior = session._interior()
        if interior.dimension == 0:
            return None
        center = analytic_center(interior)
        # Which question is best does not hang on a perfect sample: fewer steps than for a centroid.
        draws = sample_belief(
            session.polytope(),
            interior,
            _DRAWS,
            prior=prior,
            center=center,
            n_chains=_CHAINS,
            thin=2,
            burn_in=12,
            random_state=random_state,
        ).draws
        noise = None
        # Where all draws agree on all pairs: is any pair still open for certain?
        certain = partial(
            nearest_pair, session.criteria, session.polytope(), interior, center, decided
        )
    best = contenders(values, draws, k)
    known = agreement(values, draws, best[:, : min(k, len(values))])
    if form == "insert":
        chain = ranked_chain(session)
        # Skipped were questions of where one more goes among those of the chain.
        passed = [next(iter(s - set(chain))) for s in skipped if _adds_one(s, chain)]
        insertion = _insertion(session, draws, best, goal, k, chain, passed, known)
        if insertion is not None or not passed:
            return insertion
        # All that could be inserted was skipped: pairs are left.
    if form == "best_of_5":
        position = session.criteria.position
        chosen, bits = best_choice_set(
            values,
            draws,
            goal=goal,
            k=k,
            best=best,
            skipped={frozenset(position(a) for a in s) for s in skipped},
            noise=noise,
        )
        shown = [ids[i] for i in chosen.tolist()]
        if bits > 0 and len(shown) > 2:
            return Question(shown[0], shown[1], tuple(shown[2:]), "best_of_5", bits, known)
        # No set of three or more that was not skipped would tell anything: pairs are left.
    found = best_pair(
        values,
        draws,
        goal=goal,
        k=k,
        best=best,
        asked=lambda i, j: frozenset((ids[i], ids[j])) in decided,
        noise=noise,
    )
    if found is not None:
        return Question(ids[found[0]], ids[found[1]], information=found[2], agreement=known)
    rest = certain() if certain is not None else None
    return rest and Question(rest.a, rest.b, information=0.0, agreement=known)


def _adds_one(shown: frozenset[Hashable], chain: tuple[Hashable, ...]) -> bool:
    return len(shown) == len(chain) + 1 and shown.issuperset(chain)


def _insertion(
    session: PreferenceSession,
    draws: FloatArray,
    best: IntArray,
    goal: Goal,
    k: int,
    chain: tuple[Hashable, ...],
    passed: Iterable[Hashable],
    known: float,
) -> Question | None:
    position = session.criteria.position
    found = best_insertion(
        without_offsets(session.criteria.values),
        draws,
        [position(a) for a in chain],
        goal=goal,
        k=k,
        skip=[position(a) for a in passed],
        best=best,
    )
    if found is None:
        return None
    new = session.criteria.alternatives[found[0]]
    return Question(new, chain[0], chain[1:], "insert", found[1], known)


def ranked_chain(session: PreferenceSession) -> tuple[Hashable, ...]:
    """The latest stated ranking, widened by what was inserted into it since.

    Raises
    ------
    PreferenceError
        No ranking was stated.
    """
    chain: list[Hashable] = []
    for statement in session.statements:
        if not isinstance(statement, Ranking) or len(statement.groups) < 2:
            continue
        line = [group[0] for group in statement.groups]
        new = [a for a in line if a not in chain]
        if chain and len(new) == 1 and len(line) <= 3 and len(line) > 1:
            at = line.index(new[0])
            after = chain.index(line[at - 1]) + 1 if at else chain.index(line[1])
            chain.insert(after, new[0])
        else:
            chain = line
    if not chain:
        raise PreferenceError(
            "Form 'insert' asks where an alternative goes in a ranking, but none was stated. "
            "State one with rank([...]), or ask for form 'pair'."
        )
    return tuple(chain)
