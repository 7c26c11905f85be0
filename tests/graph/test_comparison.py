"""Distances, differences and their drivers."""

from __future__ import annotations

import datetime as dt
import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from rulelens.errors import OptionError
from rulelens.graph.comparison import GraphDifference
from rulelens.graph.distance import distance_matrix
from rulelens.graph.drift import drift, mean_spearman, stability
from rulelens.graph.feature_graph import FeatureGraph


def graph(seed, names="abcd", projection="joint"):
    rng = np.random.default_rng(seed)
    P = rng.random((6, len(names))) * (rng.random((6, len(names))) < 0.6)
    P[0] = 0.2
    return FeatureGraph.from_relevances(
        list(names), P, rng.random(6), np.zeros(6), ["yes"], projection=projection
    )


@settings(max_examples=30, deadline=None)
@given(seeds=st.lists(st.integers(0, 99), max_size=5), names=st.permutations("abcde"))
def test_distance_matrix_holds_all_pairs(seeds, names):
    graphs = {f"{k}": graph(s, names[: 3 + k % 3]) for k, s in enumerate(seeds)}
    frame = distance_matrix(graphs)
    assert list(frame.index) == list(frame.columns) == list(graphs)
    for a, b in combinations(graphs, 2):
        assert frame.loc[a, b] == frame.loc[b, a]
        assert frame.loc[a, b] == pytest.approx(graphs[a].distance(graphs[b]), abs=1e-9)
    assert (np.diag(frame) == 0).all()


@settings(max_examples=40, deadline=None)
@given(
    a=st.integers(0, 99),
    b=st.integers(0, 99),
    projection=st.sampled_from(["joint", "resource_allocation"]),
)
def test_drivers_explain_the_whole_distance(a, b, projection):
    first, second = graph(a, "abc", projection), graph(b, "bcd", projection)
    change = GraphDifference.between(first, second, names=("source", "change"))
    assert change.distance == pytest.approx(first.distance(second))
    frame = change.drivers()
    assert frame["share"].sum() == pytest.approx(1)
    assert frame["share"].is_monotonic_decreasing
    np.testing.assert_allclose(frame["second"] - frame["first"], frame["change"])
    assert change.importance().sum() == pytest.approx(0, abs=1e-9)
    assert json.loads(json.dumps(change.to_dict()))["distance"] == change.distance
    assert len(change.drivers(2)) == 2
    assert change.drivers(2)["share"].tolist() == frame["share"][:2].tolist()


def test_equal_graphs_have_no_drivers():
    change = GraphDifference.between(graph(1), graph(1), names=("x", "x"))
    assert change.distance == 0
    assert change.to_frame().empty


def test_drift_measures_each_step_and_the_whole_way():
    graphs = {dt.date(2026, m, 1): graph(s) for m, s in ((1, 0), (2, 0), (3, 5), (4, 9))}
    result = drift(graphs)
    frame = result.to_frame()
    states = list(graphs.values())
    assert frame["from_previous"][:2].tolist() == [0, 0]
    assert frame["from_previous"][3] == pytest.approx(states[2].distance(states[3]))
    assert frame["from_first"][3] == pytest.approx(states[0].distance(states[3]))
    assert result.drivers[1] is None
    source, target, change = result.drivers[2]
    assert change == pytest.approx(
        states[2].weight(source, target) - states[1].weight(source, target)
    )
    assert result.beyond(frame["from_previous"][2] - 1e-9)[0] == dt.date(2026, 3, 1)
    assert json.loads(json.dumps(result.to_dict()))["times"][0] == "2026-01-01"


def test_drift_needs_rising_times():
    with pytest.raises(OptionError, match="Sort the graphs"):
        drift({2025: graph(0), 2024: graph(1)})
    with pytest.raises(OptionError, match="no graph"):
        drift({})
    assert drift({"before": graph(0), "after": graph(1)}).times == ("before", "after")


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 999))
def test_mean_spearman_is_that_of_scipy(seed):
    values = np.random.default_rng(seed).integers(0, 4, size=(4, 6)).astype(float)
    values[:, :2] = [0, 1]
    expected = np.mean([spearmanr(values[i], values[j])[0] for i, j in combinations(range(4), 2)])
    assert mean_spearman(values) == pytest.approx(expected)


def test_stability_of_graphs_without_order_is_unknown():
    same = FeatureGraph.from_relevances(["a", "b"], [[0.5, 0.5]], [1], [0], ["yes"])
    assert np.isnan(stability([same, same]))
    assert stability([graph(0), graph(0)]) == pytest.approx(1)
    with pytest.raises(OptionError, match="at least 2"):
        stability([same])


def test_the_same_rules_in_another_order_are_at_distance_0():
    """The last digits of the sums gave a distance of 4e-15, beyond a limit of 0."""
    rng = np.random.default_rng(0)
    P, q = rng.random((60, 7)) * (rng.random((60, 7)) < 0.4), rng.random(60)
    names = np.array(list("abcdefg"))
    graphs = {}
    for k in range(4):
        rules, features = rng.permutation(60), rng.permutation(7)
        graphs[f"{k}"] = FeatureGraph.from_relevances(
            names[features].tolist(), P[rules][:, features], q[rules], np.zeros(60, int), ["yes"]
        )
    assert not distance_matrix(graphs).to_numpy().any()
    change = GraphDifference.between(graphs["0"], graphs["1"])
    assert change.distance == graphs["0"].distance(graphs["1"]) == 0
    assert change.drivers().empty


@pytest.mark.parametrize(
    "times",
    [
        (dt.date(2026, 2, 1), dt.date(2026, 1, 1)),
        ("2026-02-01", "2026-01-31"),
        ("2026-02-01T10:00", "2026-02-01"),
        (2.0, float("nan")),
    ],
)
def test_times_must_rise(times):
    """Dates as text were taken in any order."""
    with pytest.raises(OptionError, match="must rise"):
        drift(dict.fromkeys(times, graph(0)))


@pytest.mark.parametrize(
    "times",
    [
        (2024, "b"),
        ("b", 2024),
        (None, 1),
        (dt.datetime(2024, 1, 1), dt.datetime(2025, 1, 1, tzinfo=dt.UTC)),
    ],
)
def test_times_of_several_kinds_are_told(times):
    """They ended with a TypeError of Python's."""
    with pytest.raises(OptionError, match="cannot be compared"):
        drift(dict.fromkeys(times, graph(0)))


def test_times_of_numpy_stay_numbers():
    result = drift({np.int64(2024): graph(0), np.int64(2025): graph(1)})
    assert result.to_dict()["times"] == [2024, 2025]
    assert drift({"new": graph(0), "old": graph(1)}).times == ("new", "old")
