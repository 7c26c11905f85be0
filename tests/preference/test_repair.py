from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest

from rulelens.preference.conflict import consistent
from rulelens.preference.criteria import Criteria
from rulelens.preference.identifiability import identifiability
from rulelens.preference.polytope import Polytope
from rulelens.preference.repair import smallest_repair
from rulelens.preference.session import PreferenceSession


def test_nothing_to_repair(session):
    repair = session.repair()
    assert repair.statements == ()
    assert "Nothing needs to be withdrawn" in str(repair)


def test_one_wrong_answer_is_found_and_named(session):
    repair = session.prefer("r2", "r3").repair()
    assert repair.phrases == ("r2 over r3",)
    assert repair.n_kept == 9
    assert "Withdraw r2 over r3" in str(repair)
    assert json.dumps(repair.to_dict())


def test_impossible_by_itself():
    table = Criteria("ab", ("x",), [[1], [1]])
    session = PreferenceSession(table).prefer("a", "b")
    assert session.repair().phrases == ("a over b",)


def test_ties_may_be_what_is_withdrawn():
    table = Criteria("abc", ("x", "y"), [[1, 0], [0, 1], [1, 1]])
    session = PreferenceSession(table).indifferent("a", "c").prefer("b", "a").bound("y", low=0.3)
    assert session.repair().phrases == ("a as good as c",)


def test_no_constraints():
    assert smallest_repair((), 3).n_kept == 0


def test_identifiability_of_the_example(example, session):
    """Support and confirmation are proportional, complexity sums the presences."""
    report = session.identifiability()
    assert report.proportional == (("supp", "conf"),)
    assert "comp" in report.dependent
    assert not report.identifiable
    assert report.n_effective == 10
    assert "not as the true ones" in str(report)
    assert json.dumps(report.to_dict())


def test_identifiable_table():
    table = Criteria(tuple(range(9)), ("x", "y"), np.random.default_rng(0).random((9, 2)))
    report = identifiability(table, Polytope.simplex(2).interior())
    assert report.identifiable
    assert str(report).startswith("All 2 weights matter")


def test_all_the_same():
    table = Criteria("ab", ("x", "y"), [[1, 2], [1, 2]])
    report = identifiability(table, Polytope.simplex(2).interior())
    assert report.constant == ("x", "y")
    assert report.n_effective == 0


@pytest.mark.parametrize("seed", range(30))
def test_no_smaller_repair_does_it(seed):
    """Where criteria differ in size, two statements were to be withdrawn though one was enough:
    strict ones had to hold by a margin that was larger than any left."""
    rng = np.random.default_rng(seed)
    n, m = 6, 4
    values = rng.random((n, m)) * 10.0 ** rng.integers(-3, 4, m)
    session = PreferenceSession(Criteria(tuple(range(n)), tuple("abcd"), values))
    for _ in range(4):
        a, b, c = rng.permutation(n)[:3].tolist()
        session.prefer(a, b).best_of(c, [a, b, c])
    said = session.constraints()[:8]
    repair = smallest_repair(said, m)
    gone = set(zip(repair.statements, repair.sources, strict=True))
    assert consistent([c for c in said if (c.statement, c.source) not in gone], m)
    for size in range(len(gone)):
        for kept in combinations(said, len(said) - size):
            assert not consistent(kept, m)
