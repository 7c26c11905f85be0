"""Speed of preference learning: CPU time of one thread, medians of several runs.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/preference_speed.py

Each line: what, median milliseconds, the bar.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from rulelens.preference.acceptability import best_positions
from rulelens.preference.analytic_center import analytic_center
from rulelens.preference.criteria import Criteria
from rulelens.preference.hit_and_run import sample_weights
from rulelens.preference.relations import necessary
from rulelens.preference.session import PreferenceSession


def rules_like(n: int, m: int, seed: int = 0) -> Criteria:
    """Criteria as rules have them: presence of features, support, confirmation, complexity."""
    rng = np.random.default_rng(seed)
    length = rng.integers(1, 7, n)
    values = np.zeros((n, m))
    values[:, : m - 3] = rng.random((n, m - 3)).argsort(axis=1) < length[:, None]
    values[:, -3] = rng.beta(1, 20, n)
    values[:, -2] = rng.beta(1, 10, n)
    values[:, -1] = -length / (m - 3)
    return Criteria(tuple(range(n)), tuple(f"c{j}" for j in range(m)), values)


def ranked_session(criteria: Criteria, size: int, seed: int = 1) -> PreferenceSession:
    """A session in which a person with hidden weights ranked `size` random alternatives."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(len(criteria.names)))
    shown = rng.choice(len(criteria), size, replace=False)
    order = shown[np.argsort(-(criteria.values[shown] @ weights))].tolist()
    return PreferenceSession(criteria).rank(order)


def median_ms(act: Callable[[], object], repeats: int = 9) -> float:
    """Median CPU time of `act` in milliseconds, after one run to warm up."""
    act()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        act()
        times.append(time.process_time() - start)
    return 1e3 * float(np.median(times))


def rerank(criteria: Criteria, order: tuple[int, ...]) -> None:
    """All that a changed ranking needs: polytope, centre, scores, ranking."""
    PreferenceSession(criteria).rank(list(order)).result()


def main() -> None:
    """Measure and print."""
    large, small = rules_like(10_000, 33), rules_like(15, 12, seed=3)
    session = ranked_session(large, 12)
    order = tuple(a for group in session.statements[0].groups for a in group)
    interior = session.polytope().interior()
    little = ranked_session(small, 10, seed=2)
    draws = sample_weights(interior, 2_000).draws[:2_000]
    hard = ranked_session(rules_like(300, 33, seed=5), 12)
    best, second = hard.result().ranking[:2]
    rows = [
        ("re-rank 10,000 rules, 33 criteria", lambda: rerank(large, order), 20.0),
        ("next question among 10,000 rules", session.next_question, 300.0),
        (
            "top-10 acceptability, 10,000 rules x 2,000 draws",
            lambda: best_positions(large.values, draws, 10),
            500.0,
        ),
        (
            "necessary-preference certificate",
            lambda: necessary(hard.criteria, hard.constraints(), best, second),
            5.0,
        ),
        ("analytic centre at 12 criteria", lambda: _centre(little), 2.0),
        ("8,000 draws of 33 weights", lambda: sample_weights(interior), 200.0),
        ("max-epsilon at 33 criteria", lambda: session.result("max_eps"), float("nan")),
    ]
    print(f"{'what':52s} {'ms':>9s} {'bar':>7s}")
    for what, act, bar in rows:
        print(f"{what:52s} {median_ms(act):9.2f} {bar:7.0f}")
    sample = sample_weights(interior)
    print(f"\nthat sample: effective size {sample.ess:.0f}, R-hat {sample.rhat:.4f}")


def _centre(session: PreferenceSession) -> None:
    analytic_center(session.polytope().interior())


if __name__ == "__main__":
    main()
