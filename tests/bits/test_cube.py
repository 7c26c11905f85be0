"""The cube against counting rows one combination at a time, and its arithmetic."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rulelens.bits.cube as module
from rulelens.bits.cube import Cube, CubeShape, estimate_bytes
from rulelens.errors import OptionError, TableError


@st.composite
def rows(draw):
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    d, n, k = draw(st.integers(1, 5)), draw(st.integers(0, 60)), draw(st.integers(1, 3))
    sizes = [int(s) for s in rng.integers(0, 4, d)]
    low = -1 if draw(st.booleans()) else 0
    codes = np.stack([rng.integers(low, s, n) if s else np.full(n, -1) for s in sizes], axis=1)
    return codes.reshape(n, d), sizes, rng.integers(0, k, n), k, draw(st.integers(1, 4))


@pytest.fixture(autouse=True, params=[(1 << 15, 4096), (7, 4)], ids=["whole", "blocks"])
def _limits(request, monkeypatch):
    monkeypatch.setattr(module, "_BLOCK_ROWS", request.param[0])
    monkeypatch.setattr(module, "_SPARSE_FROM", request.param[1])


fast = settings(deadline=None, max_examples=50)


def expected_counts(codes, y, k, features, items):
    inside = (codes[:, features] == np.array(items)).all(axis=1)
    return [int((inside & (y == c)).sum()) for c in range(k)]


@fast
@given(rows(), st.booleans())
def test_every_count(data, sparse):
    codes, sizes, y, k, length = data
    cube = Cube.count(codes, sizes, y, k, max_length=length, sparse=sparse)
    shape = CubeShape(tuple(sizes), length)
    have = [j for j, s in enumerate(sizes) if s]
    subsets = [s for n in range(1, length + 1) for s in itertools.combinations(have, n)]
    assert shape.subsets == subsets
    assert shape.n_subsets() == len(subsets)
    assert shape.n_cells() == sum(int(np.prod([sizes[j] for j in s])) for s in subsets)
    assert cube.totals.tolist() == np.bincount(y, minlength=k).tolist()
    for s in subsets:
        for items in itertools.product(*(range(sizes[j]) for j in s)):
            assert cube.of(s, items).tolist() == expected_counts(codes, y, k, s, items)


@fast
@given(rows(), st.booleans())
def test_positions_find_the_counts_of_rows(data, sparse):
    codes, sizes, y, k, length = data
    cube = Cube.count(codes[::2], sizes, y[::2], k, max_length=length, sparse=sparse)
    for s, at in cube.positions(codes):
        features = cube.shape.subsets[s]
        for row, column in zip(codes, at.tolist(), strict=True):
            items = tuple(row[list(features)].tolist())
            if column < 0:
                assert min(items) < 0 or cube.of(features, items).sum() == 0
            else:
                assert cube.counts[:, column].tolist() == cube.of(features, items).tolist()


def same(a: Cube, b: Cube) -> bool:
    """Equal in every count; cells with no row may or may not be kept."""
    if a.shape != b.shape or a.totals.tolist() != b.totals.tolist():
        return False
    for s in range(len(a.keys)):
        found = []
        for cube in (a, b):
            keys, counts = cube.columns(s)
            keys = np.arange(counts.shape[1]) if keys is None else keys
            some = counts.any(axis=0)
            found.append((keys[some].tolist(), counts[:, some].tolist()))
        if found[0] != found[1]:
            return False
    return True


@fast
@given(rows(), st.booleans(), st.booleans(), st.integers(0, 60))
def test_parts_add_up_and_are_taken_away(data, sparse, weighted, cut):
    codes, sizes, y, k, length = data
    w = np.arange(len(y)) % 4 / 4 + 0.25 if weighted else None

    def count(part):
        return Cube.count(
            codes[part],
            sizes,
            y[part],
            k,
            max_length=length,
            weights=None if w is None else w[part],
            sparse=sparse,
        )

    whole, a, b = count(slice(None)), count(slice(0, cut)), count(slice(cut, None))
    assert same(a.plus(b), whole)
    assert same(b.plus(a), whole)
    assert same(whole.minus(a), b)
    assert same(whole.minus(b).minus(a), whole.minus(whole))


def test_rows_that_were_never_counted_cannot_be_forgotten():
    codes, y = np.array([[0], [1]]), np.array([0, 1])
    cube = Cube.count(codes, [2], y, 2, max_length=1)
    with pytest.raises(TableError, match="never counted"):
        cube.minus(Cube.count(codes, [2], 1 - y, 2, max_length=1))


def test_other_shapes_do_not_join():
    row, y = np.array([[0, 0]]), np.array([0])
    cube = Cube.count(row, [2, 2], y, 1, max_length=1)
    for sizes, k, length in (([3, 2], 1, 1), ([2, 2], 2, 1), ([2, 2], 1, 2)):
        other = Cube.count(row, sizes, y, k, max_length=length)
        with pytest.raises(TableError, match="same items"):
            cube.plus(other)


def test_estimates():
    assert estimate_bytes([3, 4], 2, 2) == (3 + 4 + 12) * 16 + 3 * 200
    assert estimate_bytes([5] * 200, 4, 2, n_rows=10) < estimate_bytes([5] * 200, 4, 2)
    with pytest.raises(OptionError):
        Cube.count(np.array([[0]]), [2], np.array([0]), 1, max_length=0)
