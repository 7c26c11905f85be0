"""What better questions are worth, and what a profile brings to the next row."""

from __future__ import annotations

from typing import Any

import numpy as np
from tables import Case

from rulelens.preference.criteria import Criteria, FloatArray
from rulelens.preference.metrics import jaccard, kendall_tau_a, top_regret
from rulelens.preference.plackett_luce import sample_noisy
from rulelens.preference.profile import Profile
from rulelens.preference.questions import best_pair
from rulelens.preference.ranking import rank_order
from rulelens.preference.session import PreferenceSession
from rulelens.preference.simulate import SimulatedPerson, random_weights

CHECKED = (5, 8, 10, 12, 15, 20, 25, 29, 33, 37, 41)
JUDGED = (0, 1, 3, 5, 10)
PER_ROW = 8


def sorting_cost(size: int) -> int:
    """Comparisons to sort `size` rules by binary insertion."""
    return sum(int(np.ceil(np.log2(k + 1))) for k in range(1, size))


def agreement(values: FloatArray, weights: FloatArray, utility: FloatArray) -> dict[str, float]:
    """τ, J@5, J@10 and regret of learned weights."""
    told = values @ weights
    order, best = rank_order(told)[0].tolist(), rank_order(utility)[0].tolist()
    return {
        "tau": kendall_tau_a(told, utility),
        "j5": jaccard(order[:5], best[:5]),
        "j10": jaccard(order[:10], best[:10]),
        "regret": top_regret(told, utility),
    }


def learned_weights(session: PreferenceSession, method: str = "analytic") -> FloatArray:
    """Weights by a method, the default one if none is named."""
    return np.array(list(session.result(method).weights.values()))


def asked_person(case: Case, user: int) -> list[dict[str, Any]]:
    """One person without errors: random rankings, pairs and best-of-five, by effort."""
    criteria = case.criteria
    values, ids = criteria.values, criteria.alternatives
    rng = np.random.default_rng([17, user])
    hidden = random_weights(len(criteria.names), random_state=rng)[0]
    utility = values @ hidden
    person = SimulatedPerson(utility)
    rows: list[dict[str, Any]] = []

    def note(strategy: str, effort: int, session: PreferenceSession, method: str) -> None:
        found = agreement(values, learned_weights(session, method), utility)
        rows.append({"user": user, "strategy": strategy, "effort": effort} | found)

    shuffled = rng.permutation(len(criteria)).tolist()
    for size in range(3, 15):
        session = PreferenceSession(criteria)
        session.rank([ids[i] for i in person.rank(shuffled[:size])])
        if session.conflict() is None:
            note("random_ranking", sorting_cost(size), session, "analytic")
    for strategy, form, prior, method, budget in (
        ("pair", "pair", "simplex", "analytic", 41),
        ("pair_mixed", "pair", "mixed", "analytic", 41),
        ("pair_uniform", "pair", "uniform", "centroid_uniform", 41),
        ("best_of_5", "best_of_5", "simplex", "analytic", 41),
    ):
        session, effort = PreferenceSession(criteria), 0
        due = [c for c in CHECKED if c <= budget]
        while due:
            question = session.next_question("top_k", form, prior=prior)
            if question is None:
                break
            best = person.best_of([criteria.position(a) for a in question.shown])
            session.answer(question, ids[best])
            if session.conflict() is not None:
                session.undo()
                session.skip(question)
                continue
            effort += len(question.shown) - 1
            while due and effort >= due[0]:
                note(strategy, due.pop(0), session, method)
        for rest in due:
            # Nothing is left to ask: more effort changes nothing.
            note(strategy, rest, session, method)
    return rows


def noisy_asked_person(
    case: Case, user: int, noise: float, budget: int = 25
) -> list[dict[str, Any]]:
    """One person with errors: pairs chosen from the noisy posterior, and a random ranking."""
    criteria = case.criteria
    values, ids = criteria.values, criteria.alternatives
    rng = np.random.default_rng([19, user])
    hidden = random_weights(len(criteria.names), random_state=rng)[0]
    utility = values @ hidden
    person = SimulatedPerson(utility, noise, rng)
    session = PreferenceSession(criteria)
    asked: set[frozenset[int]] = set()
    draws, wrong = None, 0
    for step in range(budget):
        posterior = sample_noisy(
            criteria, session.statements, n_draws=1_024, start=draws, random_state=step
        )
        draws = posterior.sample.draws
        found = best_pair(
            values, draws, asked=lambda i, j: frozenset((i, j)) in asked, noise=posterior.scale
        )
        if found is None:
            break
        a, b, _ = found
        asked.add(frozenset((a, b)))
        if not person.prefers(a, b):
            a, b = b, a
        wrong += utility[a] < utility[b]
        session.prefer(ids[a], ids[b])
    final = sample_noisy(criteria, session.statements, start=draws, random_state=budget)
    weights = final.sample.draws.mean(axis=0)
    base = {"user": user, "noise": noise}
    rows = [
        base
        | {"strategy": "pair_bayes", "wrong": wrong / budget}
        | agreement(values, weights, utility)
    ]
    shown = rng.permutation(len(criteria))[:10].tolist()
    ranked = PreferenceSession(criteria).rank([ids[i] for i in person.rank(shown)])
    random = sample_noisy(criteria, ranked.statements).sample.draws.mean(axis=0)
    return [*rows, base | {"strategy": "random_ranking"} | agreement(values, random, utility)]


def profile_person(cases: list[Case], user: int) -> list[dict[str, Any]]:
    """One person judges row after row; J@5 on the last, unseen row after 0, 1, 3 … of them."""
    *judged, unseen = cases
    names = tuple(dict.fromkeys(n for c in cases for n in c.criteria.names))
    hidden = dict(
        zip(names, random_weights(len(names), random_state=[23, user])[0].tolist(), strict=True)
    )
    profile = Profile()
    rows = []
    for number in range(len(judged) + 1):
        if number in JUDGED:
            rows.append(
                {"user": user, "judged": number} | _on_unseen(profile, unseen.criteria, hidden)
            )
        if number < len(judged):
            profile = _judge(profile, judged[number].criteria, hidden, f"row {number}")
    return rows


def _utility(criteria: Criteria, hidden: dict[str, float]) -> FloatArray:
    return criteria.values @ np.array([hidden.get(n, 0.0) for n in criteria.names])


def _on_unseen(profile: Profile, criteria: Criteria, hidden: dict[str, float]) -> dict[str, float]:
    session = profile.session(criteria)
    known = session.criteria
    return agreement(known.values, learned_weights(session), _utility(known, hidden))


def _judge(profile: Profile, criteria: Criteria, hidden: dict[str, float], about: str) -> Profile:
    session = profile.session(criteria)
    utility = _utility(session.criteria, hidden)
    for _ in range(PER_ROW):
        question = session.next_question()
        if question is None:
            break
        a, b = question.shown
        place = session.criteria.position
        session.answer(question, a if utility[place(a)] > utility[place(b)] else b)
        if session.conflict() is not None:
            session.undo()
            break
    return profile.remember(session, about)
