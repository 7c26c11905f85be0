"""Properties on small random problems, against slow plain references."""

from __future__ import annotations

import json
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rulelens.preference.acceptability import best_positions
from rulelens.preference.analytic_center import analytic_center
from rulelens.preference.conflict import consistent, find_conflict
from rulelens.preference.criteria import Criteria
from rulelens.preference.max_epsilon import max_epsilon
from rulelens.preference.polytope import Polytope
from rulelens.preference.relations import necessary
from rulelens.preference.repair import smallest_repair
from rulelens.preference.session import PreferenceSession
from rulelens.preference.session_file import statement_from_dict, statement_to_dict
from rulelens.preference.statements import Indifferent, Prefer, WeightBound, constraints_of

relaxed = settings(deadline=None, max_examples=60)
levels = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


@st.composite
def criteria_tables(draw, max_rows=7, max_columns=5):
    n = draw(st.integers(2, max_rows))
    m = draw(st.integers(1, max_columns))
    values = draw(st.lists(st.lists(levels, min_size=m, max_size=m), min_size=n, max_size=n))
    return Criteria(tuple(range(n)), tuple(f"c{j}" for j in range(m)), np.array(values))


@st.composite
def statements(draw, table, *, bounds=True):
    """Arbitrary elementary statements, consistent or not."""
    n = len(table)
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    kinds = [pairs.map(lambda p: Prefer(*p)), pairs.map(lambda p: Indifferent(*p))]
    if bounds:
        column = st.sampled_from(table.names)
        share = st.sampled_from([0.1, 0.3, 0.6])
        kinds.append(st.builds(lambda c, s: WeightBound(c, low=s), column, share))
        kinds.append(st.builds(lambda c, s: WeightBound(c, high=s), column, share))
    return draw(st.lists(st.one_of(kinds), min_size=1, max_size=6))


@st.composite
def said(draw, **options):
    table = draw(criteria_tables())
    return table, draw(statements(table, **options))


@st.composite
def honest(draw):
    """A table and a ranking of some rows that true weights really give (no equal scores)."""
    table = draw(criteria_tables(max_rows=9, max_columns=6))
    raw = draw(st.lists(st.integers(1, 9), min_size=len(table.names), max_size=len(table.names)))
    weights = np.array(raw) / sum(raw)
    scores = table.values @ weights
    order = sorted(range(len(table)), key=lambda i: -scores[i])
    kept = [order[0]]
    for above, below in pairwise(order):
        if scores[above] - scores[below] > 1e-9:
            kept.append(below)
    return table, weights, kept


def polytope_of(table, statements):
    return Polytope.of(constraints_of(statements, table), len(table.names))


def vertices(polytope):
    """Slow plain reference: all vertices of the closure, by solving every choice of tight rows."""
    rows, n = polytope.inequalities, polytope.n_weights
    fixed = np.vstack([np.ones((1, n)), polytope.equal])
    target = np.r_[1.0, np.zeros(len(polytope.equal))]
    found = []
    for n_tight in range(n):
        for chosen in combinations(range(len(rows)), n_tight):
            system = np.vstack([fixed, rows[list(chosen)]])
            if np.linalg.matrix_rank(system) < n:
                continue
            w, *_ = np.linalg.lstsq(system, np.r_[target, np.zeros(n_tight)], rcond=None)
            exact = np.abs(system @ w - np.r_[target, np.zeros(n_tight)]).max() < 1e-9
            if exact and (rows @ w > -1e-9).all():
                found.append(w)
    return np.array(found).reshape(-1, n)


@relaxed
@given(said())
def test_tight_rows_agree_with_the_vertices(problem):
    polytope = polytope_of(*problem)
    corners = vertices(polytope)
    tight = polytope.tight()
    if len(corners) == 0:
        assert tight is None
        assert polytope.interior() is None
        return
    slack = polytope.inequalities @ corners.T
    np.testing.assert_array_equal(tight, (slack < 1e-7).all(axis=1))


@relaxed
@given(said())
def test_interior_exists_exactly_when_consistent(problem):
    table, statements = problem
    constraints = constraints_of(statements, table)
    polytope = Polytope.of(constraints, len(table.names))
    corners = vertices(polytope)
    middle = corners.mean(axis=0) if len(corners) else None
    possible = middle is not None and bool((polytope.strict @ middle > 1e-7).all())
    assert consistent(constraints, len(table.names)) is possible
    interior = polytope.interior()
    assert (interior is not None) is possible
    if interior is not None:
        span = corners - corners[0]
        assert interior.dimension == np.linalg.matrix_rank(span, tol=1e-7)


@relaxed
@given(said())
def test_centres_satisfy_what_was_said(problem):
    polytope = polytope_of(*problem)
    interior = polytope.interior()
    assume(interior is not None)
    for w in (interior.center, analytic_center(interior).weights):
        assert w.sum() == pytest.approx(1)
        assert (w >= -1e-9).all()
        assert (polytope.strict @ w > 0).all()
        assert (polytope.weak @ w > -1e-9).all()
        assert np.abs(polytope.equal @ w).max(initial=0.0) < 1e-9


@relaxed
@given(honest())
def test_analytic_centre_is_stationary(problem):
    table, _, ranking = problem
    assume(len(ranking) >= 2)
    pairs = pairwise(ranking)
    interior = polytope_of(table, [Prefer(a, b) for a, b in pairs]).interior()
    center = analytic_center(interior)
    slack = interior.slack - interior.rows @ center.offset
    gradient = (interior.rows / slack[:, None]).sum(axis=0)
    step = np.linalg.solve(center.hessian, gradient) if interior.dimension else np.zeros(0)
    assert np.sqrt(max(gradient @ step, 0.0)) < 1e-7


@relaxed
@given(honest())
def test_max_epsilon_is_as_large_as_the_true_margin(problem):
    table, weights, ranking = problem
    assume(len(ranking) >= 2)
    pairs = pairwise(ranking)
    polytope = polytope_of(table, [Prefer(a, b) for a, b in pairs])
    found, epsilon = max_epsilon(polytope)
    assert epsilon >= (polytope.strict @ weights).min() - 1e-9
    assert (polytope.strict @ found).min() == pytest.approx(epsilon, abs=1e-9)


@relaxed
@given(said())
def test_conflict_is_irreducible(problem):
    table, statements = problem
    constraints = constraints_of(statements, table)
    m = len(table.names)
    conflict = find_conflict(constraints, m)
    assert (conflict is None) is consistent(constraints, m)
    assume(conflict is not None)
    core = constraints_of(conflict.statements, table)
    assert not consistent(core, m)
    for left_out in range(len(core)):
        assert consistent(core[:left_out] + core[left_out + 1 :], m)


@relaxed
@given(honest(), st.randoms(use_true_random=False))
def test_ranking_does_not_depend_on_the_order_of_alternatives(problem, random):
    table, _, ranking = problem
    assume(len(ranking) >= 2)
    shuffled = list(range(len(table)))
    random.shuffle(shuffled)
    other = Criteria(tuple(shuffled), table.names, table.values[shuffled])
    one = PreferenceSession(table).rank(ranking).result()
    two = PreferenceSession(other).rank(ranking).result()
    for name in table.names:
        assert one.weights[name] == pytest.approx(two.weights[name], abs=1e-6)
    if not one.ties:
        assert sorted(one.scores) == sorted(two.scores)
        gaps = [one.scores[a] - one.scores[b] for a, b in pairwise(one.ranking)]
        if min(gaps) > 1e-6:
            assert one.ranking == two.ranking


@relaxed
@given(said())
def test_result_or_error_and_every_statement_holds(problem):
    table, statements = problem
    session = PreferenceSession(table)
    for statement in statements:
        session.add(statement)
    if session.conflict() is not None:
        with pytest.raises(ValueError, match="No weights agree"):
            session.result()
        return
    result = session.result()
    assert sorted(result.ranking) == sorted(table.alternatives)
    np.testing.assert_allclose(result.contributions.sum(axis=1), list(result.scores.values()))
    place = {a: i for i, a in enumerate(result.ranking)}
    for statement in statements:
        if isinstance(statement, Prefer):
            assert place[statement.better] < place[statement.worse]
        if isinstance(statement, Indifferent):
            pair = {statement.first, statement.second}
            assert any(pair <= set(group) for group in result.ties)


@relaxed
@given(said(bounds=False))
def test_a_question_is_really_open(problem):
    table, statements = problem
    session = PreferenceSession(table)
    for statement in statements:
        if session.add(statement).conflict() is not None:
            session.undo()
    question = session.next_question()
    if question is None:
        return
    for better, worse in (question.shown, question.shown[::-1]):
        session.prefer(better, worse)
        assert session.conflict() is None
        session.undo()


@relaxed
@given(said(bounds=False))
def test_smallest_repair_is_smallest(problem):
    table, statements = problem
    constraints = constraints_of(statements, table)
    m = len(table.names)
    repair = smallest_repair(constraints, m)
    fewest = next(
        size
        for size in range(len(constraints) + 1)
        if any(
            consistent([c for i, c in enumerate(constraints) if i not in gone], m)
            for gone in combinations(range(len(constraints)), size)
        )
    )
    assert len(repair.statements) == fewest
    assert repair.n_kept == len(constraints) - fewest


@relaxed
@given(said())
def test_certificates_agree_with_the_vertices(problem):
    table, statements = problem
    constraints = constraints_of(statements, table)
    polytope = Polytope.of(constraints, len(table.names))
    assume(polytope.interior() is not None)
    corners = vertices(polytope)
    for a, b in combinations(table.alternatives[:4], 2):
        gap = table.row(a) - table.row(b)
        proof = necessary(table, constraints, a, b)
        assert (proof is not None) is bool((corners @ gap >= -1e-9).all())
        if proof is not None:
            total = sum(y * _row(p, constraints) for p, y in proof.multipliers)
            rest = np.array([float(dict(proof.rest).get(n, 0)) for n in table.names])
            assert (rest >= 0).all()
            np.testing.assert_allclose(np.asarray(total, dtype=float) + rest, gap, atol=1e-12)


def _row(words, constraints):
    return next(c.row for c in constraints if c.phrase == words)


@relaxed
@given(honest())
def test_best_positions_are_those_of_a_full_sort(problem):
    table, weights, _ = problem
    draws = np.vstack([weights, np.random.default_rng(0).dirichlet(np.ones(len(weights)), 20)])
    k = min(3, len(table))
    best = best_positions(table.values, draws, k)
    for draw, row in zip(draws, best, strict=True):
        scores = table.values @ draw
        np.testing.assert_allclose(scores[row], np.sort(scores)[::-1][:k], atol=1e-12)


@relaxed
@given(said())
def test_saved_statements_read_back_equal(problem):
    _, statements = problem
    for statement in statements:
        text = json.dumps(statement_to_dict(statement))
        assert statement_from_dict(json.loads(text)) == statement
