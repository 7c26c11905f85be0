"""One row's sets of items against all subsets tried one by one."""

import itertools
import time
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulelens.bits.lattice as lat
from rulelens.bits.lattice import (
    ItemTable,
    many_qualifying_itemsets,
    nearest_itemsets,
    one_pure_itemset,
    qualifying_itemsets,
)
from rulelens.errors import OptionError


@st.composite
def problems(draw, max_features=7):
    """Discretised rows with gaps, their classes, and a row to explain."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    d = draw(st.integers(1, max_features))
    n = draw(st.sampled_from([0, 1, 5, 30, 64, 130]))
    k = draw(st.integers(2, 3))
    sizes = [int(s) for s in rng.integers(0, 4, d)]
    codes = np.stack(
        [rng.integers(-1, s, n) if s else np.full(n, -1) for s in sizes], axis=1
    ).astype(np.int32)
    row = np.array([rng.integers(-1, s) if s else -1 for s in sizes], dtype=np.int32)
    if n and draw(st.booleans()):
        row = codes[0].copy()
    rule = codes[:, 0] if draw(st.booleans()) else rng.integers(0, k, n)
    y = np.where(rng.random(n) < 0.2, rng.integers(0, k, n), np.maximum(rule, 0)) % k
    return codes, sizes, y, k, row


def all_counts(codes, y, outcome, row):
    """(features, tp, fp) of every set of the row's items that is not empty."""
    have = np.flatnonzero(row >= 0)
    for size in range(1, len(have) + 1):
        for combo in itertools.combinations(have.tolist(), size):
            inside = (codes[:, combo] == row[list(combo)]).all(axis=1)
            yield combo, int((inside & (y == outcome)).sum()), int((inside & (y != outcome)).sum())


def brute(codes, y, outcome, row, *, max_length, min_count, confidence, confirmation, minimal):
    pos, neg = int((y == outcome).sum()), int((y != outcome).sum())
    good = []
    for combo, tp, fp in all_counts(codes, y, outcome, row):
        rise = tp / max(pos, 1) - fp / max(neg, 1)
        if (
            tp >= max(min_count, 1)
            and tp / (tp + fp) >= confidence
            and (rise > confirmation or confirmation == -1)
        ):
            good.append((combo, tp, fp))
    if minimal:
        sets = [set(g[0]) for g in good]
        good = [g for g in good if not any(s < set(g[0]) for s in sets)]
    return [g for g in good if max_length is None or len(g[0]) <= max_length]


def as_list(result):
    return [
        (tuple(np.flatnonzero(m).tolist()), int(t), int(f))
        for m, t, f in zip(result.members, result.tp, result.fp, strict=True)
    ]


options = st.fixed_dictionaries(
    {
        "max_length": st.sampled_from([None, 1, 2, 3, 5]),
        "min_count": st.sampled_from([1, 2, 5]),
        "confidence": st.sampled_from([1.0, 0.9, 0.55, 0.7, 0.0]),
        "confirmation": st.sampled_from([0.0, 0.1, -1.0, -0.2, 0.29]),
        "minimal": st.booleans(),
    }
)


@settings(deadline=None, max_examples=150)
@given(problems(), options, st.sampled_from([64, 1 << 20]))
def test_qualifying_itemsets(problem, chosen, batch):
    codes, sizes, y, k, row = problem
    items = ItemTable.from_codes(codes, sizes, y, k)
    before = lat._BATCH_BYTES
    lat._BATCH_BYTES = batch
    try:
        got = qualifying_itemsets(
            items,
            row,
            0,
            max_length=chosen["max_length"],
            min_count=chosen["min_count"],
            min_confidence=chosen["confidence"],
            min_confirmation=chosen["confirmation"],
            minimal=chosen["minimal"],
        )
    finally:
        lat._BATCH_BYTES = before
    expected = brute(codes, y, 0, row, **chosen)
    assert as_list(got) == expected
    check_depth(got, problem, chosen)


def check_depth(got, problem, chosen):
    """Every qualifying set up to `length` is there, and `stop` says why no longer one is."""
    codes, _, y, _, row = problem
    whole = brute(codes, y, 0, row, **chosen | {"max_length": None})
    assert as_list(got) == [g for g in whole if len(g[0]) <= max(got.length, 0)] or (
        got.stop == "exhausted" and as_list(got) == whole
    )
    if got.stop == "exhausted":
        limit = chosen["max_length"] or 99
        assert as_list(got) == [g for g in whole if len(g[0]) <= limit]
    if got.stop == "impossible":
        assert whole == []
        inside = (codes[:, row >= 0] == row[row >= 0]).all(axis=1)
        assert (inside & (y != 0)).any()


@settings(deadline=None, max_examples=80)
@given(problems(), options, st.integers(1, 4))
def test_enough_ends_after_a_whole_level(problem, chosen, enough):
    codes, sizes, y, k, row = problem
    items = ItemTable.from_codes(codes, sizes, y, k)
    got = qualifying_itemsets(
        items,
        row,
        0,
        max_length=chosen["max_length"],
        min_count=chosen["min_count"],
        min_confidence=chosen["confidence"],
        min_confirmation=chosen["confirmation"],
        minimal=chosen["minimal"],
        enough=enough,
    )
    check_depth(got, problem, chosen)
    if got.stop == "enough":
        assert len(got) >= enough
        shorter = got.members.sum(axis=1) < got.length
        assert shorter.sum() < enough


@settings(deadline=None, max_examples=60)
@given(problems(), st.integers(1, 6), st.sampled_from([1, 2]))
def test_nearest_itemsets(problem, top, min_count):
    codes, sizes, y, k, row = problem
    items = ItemTable.from_codes(codes, sizes, y, k)
    got = nearest_itemsets(items, row, 0, top=top, min_count=min_count)
    everything = [c for c in all_counts(codes, y, 0, row) if c[1] >= min_count]
    ordered = sorted(everything, key=lambda c: (-c[1] / (c[1] + c[2]), -c[1], len(c[0]), c[0]))
    kept = []
    for combo, tp, fp in ordered:
        conf = tp / (tp + fp)
        beaten = any(
            set(o) < set(combo) and t / (t + f) >= conf for o, t, f in everything if o != combo
        )
        if not beaten:
            kept.append((combo, tp, fp))
    assert as_list(got) == kept[:top]


@settings(deadline=None, max_examples=80)
@given(problems())
def test_one_pure_itemset(problem):
    codes, sizes, y, k, row = problem
    items = ItemTable.from_codes(codes, sizes, y, k)
    got = one_pure_itemset(items, row, 0)
    pure = [c for c in all_counts(codes, y, 0, row) if c[2] == 0 and c[1] >= 1]
    minimal = [c for c in pure if not any(set(o[0]) < set(c[0]) for o in pure)]
    if len(got):
        assert as_list(got)[0] in minimal
    have = row >= 0
    if have.any():
        inside = (codes[:, have] == row[have]).all(axis=1)
        # Where the whole row is pure and has support, a pure set exists and is found.
        if not (inside & (y != 0)).any() and (inside & (y == 0)).any():
            assert len(got) == 1


@settings(deadline=None, max_examples=30)
@given(problems(5), st.data())
def test_many_rows_are_each_row_alone(problem, data):
    codes, sizes, y, k, row = problem
    items = ItemTable.from_codes(codes, sizes, y, k)
    rows = np.concatenate([codes[:6], row[None, :], codes[:3]])
    outcomes = np.array(
        data.draw(st.lists(st.integers(0, k - 1), min_size=len(rows), max_size=len(rows)))
    )
    many = list(many_qualifying_itemsets(items, rows, outcomes, max_length=3))
    assert len(many) == len(rows)
    for r, o, got in zip(rows, outcomes.tolist(), many, strict=True):
        assert as_list(got) == as_list(qualifying_itemsets(items, r, o, max_length=3))


def test_equal_rows_are_searched_once():
    items = ItemTable.from_codes(np.array([[0, 1], [1, 0]]), [2, 2], np.array([0, 1]), 2)
    a, b, c = many_qualifying_itemsets(
        items, np.array([[0, 1], [1, 0], [0, 1]]), np.array([0, 1, 0])
    )
    assert a is c
    assert a is not b


@pytest.mark.parametrize("minimal", [True, False])
def test_more_items_than_bits_in_a_word(minimal):
    """Beyond 64 items the rows were not reduced; the sets are the same."""
    rng = np.random.default_rng(3)
    d, n = 90, 300
    codes = rng.integers(0, 2, (n, d)).astype(np.int32)
    y = (codes[:, 3] & codes[:, 70]) | (rng.random(n) < 0.05)
    items = ItemTable.from_codes(codes, [2] * d, y, 2)
    row = codes[0].copy()
    row[[3, 70]] = 1
    row[5] = -1
    got = qualifying_itemsets(items, row, 1, max_length=2, min_count=20, minimal=minimal)
    expected = []
    have = [j for j in range(d) if row[j] >= 0]
    for size in (1, 2):
        for combo in itertools.combinations(have, size):
            inside = (codes[:, combo] == row[list(combo)]).all(axis=1)
            tp, fp = int((inside & (y == 1)).sum()), int((inside & (y == 0)).sum())
            if tp >= 20 and not fp:
                expected.append((combo, tp, fp))
    if minimal:
        sets = [set(e[0]) for e in expected]
        expected = [e for e in expected if not any(s < set(e[0]) for s in sets)]
    assert (3, 70) in [e[0] for e in expected]
    assert as_list(got) == expected


@pytest.mark.parametrize("k", [1, 63, 64, 65, 130])
def test_reduced_rows_forbid_the_same_sets(k):
    rng = np.random.default_rng(k)
    flags = rng.random((k, 500)) < 0.5
    columns = lat.pack(np.pad(flags, ((0, 0), (0, 12))))
    reduced = lat._maximal_rows(columns)
    for _ in range(300):
        chosen = rng.choice(k, size=min(k, int(rng.integers(1, 9))), replace=False)
        some = np.bitwise_and.reduce(columns[chosen], axis=0).any()
        assert np.bitwise_and.reduce(reduced[chosen], axis=0).any() == some


def test_confidence_equal_to_the_limit_qualifies():
    """11 of 20 is 0.55, but 0.55 times 20 is more than 11 in floating point."""
    y = np.array([0] * 11 + [1] * 9 + [1] * 5)
    codes = np.array([[0]] * 20 + [[1]] * 5)
    items = ItemTable.from_codes(codes, [2], y, 2)
    got = qualifying_itemsets(items, np.array([0]), 0, min_confidence=0.55)
    assert as_list(got) == [((0,), 11, 9)]


def test_time_budget_gives_whole_levels():
    rng = np.random.default_rng(0)
    d = 40
    codes = rng.integers(0, 2, (2000, d)).astype(np.int32)
    y = rng.integers(0, 2, 2000)
    items = ItemTable.from_codes(codes, [2] * d, y, 2)
    start = time.perf_counter()
    got = qualifying_itemsets(items, codes[0], int(y[0]), minimal=False, time_budget=0.05)
    assert time.perf_counter() - start < 2
    assert got.stop == "time"
    assert got.length >= 1
    again = qualifying_itemsets(items, codes[0], int(y[0]), minimal=False, max_length=got.length)
    assert as_list(again) == as_list(got)
    none_left = qualifying_itemsets(items, codes[0], int(y[0]), time_budget=0.0)
    assert none_left.length == 1


def test_too_many_open_sets(monkeypatch):
    monkeypatch.setattr(lat, "_MAX_ALIVE", 100)
    codes = np.zeros((10, 30), dtype=np.int32)
    items = ItemTable.from_codes(codes, [2] * 30, np.array([0, 1] * 5), 2)
    got = qualifying_itemsets(items, codes[0], 0, min_confidence=0.9, minimal=False)
    assert got.stop == "size"
    assert got.length == 1


def test_no_items_and_no_rows():
    items = ItemTable.from_codes(np.full((3, 2), -1), [0, 2], np.array([0, 1, 1]), 2)
    got = qualifying_itemsets(items, np.array([-1, -1]), 0)
    assert (len(got), got.length, got.stop) == (0, 0, "exhausted")
    assert len(nearest_itemsets(items, np.array([-1, -1]), 0)) == 0
    assert len(one_pure_itemset(items, np.array([-1, -1]), 0)) == 0
    empty = ItemTable.from_codes(np.zeros((0, 2), int), [2, 2], np.zeros(0, int), 2)
    assert len(qualifying_itemsets(empty, np.array([0, 1]), 1)) == 0


def test_combinatorial_numbers_beyond_64_bits():
    k, size = 400, 30
    rng = np.random.default_rng(1)
    sets = np.sort(np.stack([rng.choice(k, size, replace=False) for _ in range(50)]), axis=1)
    assert comb(k, size) > 2**64
    lookup = lat._Lookup(sets, k)
    # Removing the place before last and adding the last back finds the set itself.
    longer = np.concatenate([sets[:, :-1], np.full((50, 1), -1)], axis=1)[:, :-1]
    found = lookup.without(np.concatenate([sets[:, :1] * 0, sets[:, :-1]], axis=1), sets[:, -1], 0)
    assert longer.shape == (50, size - 1)
    assert found.tolist() == list(range(50))


@pytest.mark.parametrize(
    "bad",
    [
        {"max_length": 0},
        {"min_count": 0},
        {"min_confidence": 1.5},
        {"min_confirmation": 1.0},
        {"min_confirmation": -1.5},
    ],
)
def test_options_are_checked(bad):
    items = ItemTable.from_codes(np.zeros((1, 1), int), [2], np.zeros(1, int), 1)
    with pytest.raises(OptionError):
        qualifying_itemsets(items, np.array([0]), 0, **bad)
