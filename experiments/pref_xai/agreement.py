"""How well a few ranked rules tell a person's whole ranking (paper: figures 2-10, table 6)."""

from __future__ import annotations

from typing import Any

import numpy as np
from tables import Case

from rulelens.preference.acceptability import best_positions, outlook
from rulelens.preference.belief import PRIORS
from rulelens.preference.criteria import FloatArray
from rulelens.preference.hit_and_run import sample_weights
from rulelens.preference.max_epsilon import max_epsilon
from rulelens.preference.metrics import discovery, jaccard, kendall_tau_a, top_regret
from rulelens.preference.plackett_luce import sample_noisy
from rulelens.preference.ranking import rank_order
from rulelens.preference.session import PreferenceSession
from rulelens.preference.simulate import SimulatedPerson, random_weights

SIZES = (*range(3, 15), 20, 30)
CALIBRATED = (5, 10, 14)
NOISES = (0.0, 0.1, 0.25, 0.5)
DRAWS = 4_096
CHAINS = 256


def measures(
    case: Case, weights: FloatArray, hidden: FloatArray, shown: list[int]
) -> dict[str, float]:
    """Agreement of learned weights with hidden ones on all rules of a row."""
    values = case.criteria.values
    told, true = values @ weights, values @ hidden
    order, best = rank_order(told)[0].tolist(), rank_order(true)[0].tolist()
    found = discovery(order, best, shown, 5)
    return {
        "tau": kendall_tau_a(told, true),
        "parameter_tau": kendall_tau_a(np.round(weights, 9), hidden),
        "j5": jaccard(order[:5], best[:5]),
        "j10": jaccard(order[:10], best[:10]),
        "new_above": found.n_above,
        "new_in_top5": found.n_in_top,
        "precision": found.precision,
        "recall": found.recall,
        "regret": top_regret(told, true),
    }


def one_person(case: Case, user: int, prior: str) -> list[dict[str, Any]]:
    """All sizes of reference ranking and all methods for one person and one row, without noise."""
    criteria = case.criteria
    rng = np.random.default_rng([11, user])
    hidden = random_weights(len(criteria.names), prior=prior, random_state=rng)[0]
    person = SimulatedPerson(criteria.values @ hidden)
    shuffled = rng.permutation(len(criteria)).tolist()
    rows: list[dict[str, Any]] = []
    for size in SIZES:
        shown = shuffled[:size]
        if len(shown) < size or len(criteria) < size + 3:
            continue
        session = PreferenceSession(criteria)
        session.rank([criteria.alternatives[i] for i in person.rank(shown)])
        if session.conflict() is not None:
            # Two of the rules shown are the same to the person: no strict ranking of them holds.
            continue
        base = {"user": user, "k": size, "rules": len(criteria), "criteria": len(criteria.names)}
        learned: dict[str, FloatArray] = {}
        for method in ("max_eps", "analytic"):
            learned[method] = np.array(list(session.result(method).weights.values()))
        interior = session.polytope().interior()
        sample = sample_weights(interior, DRAWS, n_chains=CHAINS, random_state=user)
        learned["centroid"] = sample.draws.mean(axis=0)
        for method, weights in learned.items():
            rows.append(base | {"method": method} | measures(case, weights, hidden, shown))
        first = set(best_positions(criteria.values, sample.draws, 1)[:, 0].tolist())
        best = rank_order(criteria.values @ hidden)[0].tolist()
        rows.append(
            base
            | {
                "method": "first_rules",
                "j5": jaccard(sorted(first), best[:5]),
                "j10": jaccard(sorted(first), best[:10]),
                "size": len(first),
                "has_best": float(best[0] in first),
            }
        )
    return rows


def promises(case: Case, user: int, prior: str) -> list[dict[str, Any]]:
    """What is promised of τ and J@5 under each belief, beside what comes true."""
    criteria = case.criteria
    values = criteria.values
    rng = np.random.default_rng([29, user])
    hidden = random_weights(len(criteria.names), prior=prior, random_state=rng)[0]
    person = SimulatedPerson(values @ hidden)
    best = rank_order(values @ hidden)[0].tolist()[:5]
    shuffled = rng.permutation(len(criteria)).tolist()
    rows: list[dict[str, Any]] = []
    for size in CALIBRATED:
        if len(criteria) < size + 3:
            break
        session = PreferenceSession(criteria)
        session.rank([criteria.alternatives[i] for i in person.rank(shuffled[:size])])
        if session.conflict() is not None:
            continue
        told = values @ np.array(list(session.result().weights.values()))
        tau = kendall_tau_a(told, values @ hidden)
        j5 = jaccard(rank_order(told)[0].tolist()[:5], best)
        for belief in PRIORS:
            draws = session.sample(DRAWS, prior=belief, random_state=user).draws
            promised = outlook(criteria, told, draws, k=5)
            rows.append(
                {
                    "user": user,
                    "k": size,
                    "belief": belief,
                    "tau": promised.expected_tau - tau,
                    "j5": promised.expected_jaccard - j5,
                }
            )
    return rows


def one_noisy_person(case: Case, user: int, size: int = 10) -> list[dict[str, Any]]:
    """A ranking with errors: the paper's program, repair and centre, and Bayesian Plackett-Luce."""
    criteria = case.criteria
    rng = np.random.default_rng([13, user])
    hidden = random_weights(len(criteria.names), random_state=rng)[0]
    shown = rng.permutation(len(criteria))[:size].tolist()
    rows: list[dict[str, Any]] = []
    for noise in NOISES:
        person = SimulatedPerson(criteria.values @ hidden, noise, rng)
        ranked = [criteria.alternatives[i] for i in person.rank(shown)]
        session = PreferenceSession(criteria).rank(ranked)
        base = {"user": user, "k": size, "noise": noise}
        base["consistent"] = float(session.conflict() is None)
        kept = PreferenceSession(criteria)
        withdrawn = set(session.repair().statements)
        for constraint in session.constraints():
            if constraint.statement not in withdrawn:
                kept.add(constraint.statement)
        learned = {
            "max_eps": _paper_program(session),
            "repair_analytic": np.array(list(kept.result().weights.values())),
            "bayes_pl": sample_noisy(criteria, session.statements).sample.draws.mean(axis=0),
        }
        for method, weights in learned.items():
            rows.append(base | {"method": method} | measures(case, weights, hidden, shown))
    return rows


def _paper_program(session: PreferenceSession) -> FloatArray:
    found = max_epsilon(session.polytope())
    assert found is not None
    return found[0]
