"""Mixed-integer programs: every answer is checked again, and nothing is printed."""

from __future__ import annotations

import os
from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, linprog

from rulelens.errors import PreferenceError
from rulelens.preference import switches
from rulelens.preference.session import PreferenceSession
from rulelens.preference.switches import cheapest_switches, without_stray_lines
from rulelens.preference.table import Criteria


def some_session(seed: int, *, sizes: bool) -> tuple[PreferenceSession, list[int]]:
    """Alternatives that random weights rank, and what they say about the first six."""
    rng = np.random.default_rng(seed)
    n, m = (int(rng.integers(4, 8)), int(rng.integers(2, 6)))
    values = rng.random((n, m))
    if sizes:
        values *= 10.0 ** rng.integers(-4, 4, m)
    order = np.argsort(-(values @ rng.dirichlet(np.ones(m))))[:3].tolist()
    table = Criteria(tuple(range(n)), tuple(map(str, range(m))), values)
    session = PreferenceSession(table)
    for better, worse in pairwise(order):
        session.prefer(better, worse)
    return session, order


def fewest_given_up(rows: np.ndarray, strict: np.ndarray, margin: float) -> int | None:
    """Plain reference: every set of rows, from the smallest, one linear program each."""
    n, m = rows.shape
    for size in range(n + 1):
        for gone in combinations(range(n), size):
            kept = np.delete(rows, gone, axis=0)
            kept = kept / np.abs(kept).max(axis=1, keepdims=True)
            upper = np.vstack(
                [np.c_[-kept, np.ones(len(kept))], np.c_[-strict, np.zeros(len(strict))]]
            )
            limits = np.r_[np.zeros(len(kept)), np.full(len(strict), -margin)]
            found = linprog(
                np.r_[np.zeros(m), -1.0], upper, limits, np.r_[np.ones(m), 0.0][None], [1.0],
                bounds=[(0, None)] * m + [(None, 1)], method="highs-ds",
            )  # fmt: skip
            if found.status == 0 and found.x[-1] >= -1e-9:
                return size
    return None


@pytest.mark.parametrize("sizes", [False, True])
@pytest.mark.parametrize("seed", range(14))
def test_extreme_ranks_are_those_of_trying_every_set(seed, sizes):
    """With criteria of different sizes one answer in twenty was wrong: the solver let a switch be
    off by 1e-6, and the violation that this hides is a million times larger."""
    session, order = some_session(seed, sizes=sizes)
    values, strict = session.criteria.values, session.polytope().strict
    for margin in (1e-4, 1e-2):
        for alternative in {order[0], order[-1], len(values) - 1}:
            gaps = np.delete(values[alternative] - values, alternative, axis=0)
            above, below = (fewest_given_up(g, strict, margin) for g in (gaps, -gaps))
            if above is None or below is None:
                with pytest.raises(PreferenceError, match="margin"):
                    session.extreme_ranks(alternative, margin=margin)
                continue
            found = session.extreme_ranks(alternative, margin=margin)
            assert (found.best, found.worst) == (1 + above, len(values) - below)


def test_the_solver_prints_nothing(capfd):
    """HiGHS prints the name of one of its functions by printf where it repairs an answer."""
    rng = np.random.default_rng(23)
    n, m = int(rng.integers(4, 25)), int(rng.integers(2, 12))
    rng.random((n, m))
    values = (rng.random((n, m)) < 0.4).astype(float)
    order = np.argsort(-(values @ rng.dirichlet(np.ones(m)))).tolist()
    session = PreferenceSession(Criteria(tuple(range(n)), tuple(map(str, range(m))), values))
    for better, worse in pairwise(order):
        session.prefer(better, worse)
    session.prefer(order[-1], order[0]).indifferent(order[1], order[2])
    assert session.repair().phrases
    assert capfd.readouterr() == ("", "")


def test_only_stray_lines_are_kept_back(capfd):
    with without_stray_lines():
        os.write(1, b"HighsMipSolverData::transformNewIntegerFeasibleSolution tmpSolver.run();\n")
        print("from another thread")
        os.write(1, b"the end, without a line break")
    assert capfd.readouterr().out == "from another thread\nthe end, without a line break"


def test_without_a_standard_output(monkeypatch):
    def closed(_: int) -> int:
        raise OSError(9, "Bad file descriptor")

    monkeypatch.setattr(os, "dup", closed)
    with without_stray_lines():
        pass


def test_errors_inside_come_through_and_restore_the_output(capfd):
    with pytest.raises(ZeroDivisionError), without_stray_lines():
        raise ZeroDivisionError
    os.write(1, b"here again")
    assert capfd.readouterr().out == "here again"


def test_what_cannot_be_kept_together_is_excluded():
    """One weight that is to be ≥ 1 and ≤ 0; the switches do not say so, the check does."""
    part = LinearConstraint(np.array([[1.0, 0.0, 0.0]]), 0.0, 1.0)
    rounds = []

    def check(given_up):
        rounds.append(given_up.tolist())
        return [] if given_up.any() else [[0, 1]]

    found = cheapest_switches(np.array([1.0, 0.9]), 1, [part], check)
    assert found.tolist() == [False, True]
    assert rounds == [[False, False], [False, True]]


def test_a_check_that_is_never_content(monkeypatch):
    monkeypatch.setattr(switches, "_MAX_ROUNDS", 3)
    part = LinearConstraint(np.array([[1.0, 0.0]]), 0.0, 1.0)
    with pytest.raises(PreferenceError, match="too close to call"):
        cheapest_switches(np.array([1.0]), 1, [part], lambda given_up: [[0]])


def test_nothing_helps():
    part = LinearConstraint(np.array([[1.0, 0.0]]), -2.0, -1.0)
    assert cheapest_switches(np.array([1.0]), 1, [part], lambda given_up: []) is None


def test_a_program_that_takes_too_long_is_refused(monkeypatch):
    """Eighty statements of which a quarter was wrong kept the repair busy for minutes."""
    monkeypatch.setattr(switches, "_MAX_SECONDS", 0)
    session, order = some_session(0, sizes=False)
    session.prefer(order[-1], order[0])
    with pytest.raises(PreferenceError, match="not solved within 0 s"):
        session.repair()
