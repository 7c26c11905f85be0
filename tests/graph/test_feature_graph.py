"""The feature graph: the paper's numbers, its algebra, and its other forms."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rulelens.core.conditions import Interval
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Schema
from rulelens.errors import FormatError, OptionError, RulelensWarning, UnknownFeatureError
from rulelens.graph.feature_graph import FeatureGraph
from rulelens.io.formats import read_rules

OPTIONS = {"deadline": None, "max_examples": 60}


def graph_of(case, **options) -> FeatureGraph:
    """Graph of a random case; a rule set with unknown outcomes only becomes empty."""
    rules = case.rules
    if len(rules) and all(r.outcome not in case.y for r in rules):
        rules = rules[:0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RulelensWarning)
        return FeatureGraph.from_rules(rules, case.X, case.y, **options)


def simple_graph(names=("a", "b", "c")) -> FeatureGraph:
    P = np.array([[0.5, 0.25, 0.0], [0.0, 0.0, 0.4], [0.2, 0.0, 0.0]])[:, : len(names)]
    return FeatureGraph.from_relevances(names, P, [0.9, 0.5, 0.1], [0, 1, 0], ["yes", "no"])


# ---------------------------------------------------------------------- the paper's numbers
@pytest.mark.data
@pytest.mark.parametrize("name", ["PIMA_CV0", "BREAST_CV0"])
def test_rulex_rules_give_the_handed_over_numbers(name, golden_dir, data_dir):
    golden = json.loads((golden_dir / "feature_graph_rulex_cv0.json").read_text("utf-8"))[name]
    data = pd.read_csv(data_dir / f"rulex/{name}.csv.gz")
    train = data.iloc[: round(0.8 * len(data)) + 1]
    assert len(train) == golden["n_train"]
    rules = read_rules(
        data_dir / f"rulex/{name}_rules.txt", format="rulex", features=golden["features"]
    )
    graph = FeatureGraph.from_rules(rules, train, train["target"])
    assert graph.n_rules == golden["n_rules"]
    close = {"rtol": 0, "atol": 1e-9}
    np.testing.assert_allclose(graph.contributions, golden["P"], **close)
    np.testing.assert_allclose(graph.rule_weights, golden["q"], **close)
    np.testing.assert_allclose(graph.adjacency, golden["A"], **close)
    np.testing.assert_allclose(graph.importance(), golden["importance"], **close)
    for label, expected in golden.get("by_class", {}).items():
        np.testing.assert_allclose(graph.for_class(label).adjacency, expected, **close)


# ---------------------------------------------------------------------- algebra
@settings(**OPTIONS)
@given(data=st.data(), kind=st.sampled_from(["relevance", "impurity"]))
def test_adjacency_agrees_with_plain_loops(data, kind, cases, reference):
    case = data.draw(cases())
    graph = graph_of(case, feature_relevance=kind)
    if graph.n_rules == len(case.rules):
        np.testing.assert_allclose(
            graph.adjacency, reference(case, "relevance", kind)[2], rtol=1e-7, atol=1e-9
        )


@settings(**OPTIONS)
@given(data=st.data())
def test_adjacency_is_symmetric_and_sums_to_100_or_0(data, cases):
    graph = graph_of(data.draw(cases()))
    A = graph.adjacency
    assert np.array_equal(A, A.T)
    assert (A >= 0).all()
    assert A.sum() == pytest.approx(100) or not A.any()
    assert graph.importance().sum() == pytest.approx(A.sum())
    assert (graph.alone() <= graph.importance() + 1e-12).all()


@settings(**OPTIONS)
@given(data=st.data())
def test_the_order_of_rules_does_not_matter(data, cases):
    case = data.draw(cases())
    order = data.draw(st.permutations(range(len(case.rules))))
    other = type(case)(case.rules[np.array(order, dtype=int)], case.X, case.y)
    np.testing.assert_allclose(graph_of(case).adjacency, graph_of(other).adjacency, atol=1e-10)


@settings(**OPTIONS)
@given(data=st.data())
def test_distance_is_a_metric(data, cases):
    f, g, h = (graph_of(data.draw(cases())) for _ in range(3))
    assert f.distance(f) == 0
    assert f.distance(g) == pytest.approx(g.distance(f))
    assert f.distance(h) <= f.distance(g) + g.distance(h) + 1e-9
    assert f.distance(g) <= 100 * 2**0.5 + 1e-9


@settings(**OPTIONS)
@given(data=st.data())
def test_class_graph_is_the_graph_of_the_rules_of_the_class(data, cases):
    case = data.draw(cases())
    whole = graph_of(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RulelensWarning)
        part = whole.for_class("yes")
        mask = whole.select(whole.outcome == whole.outcomes.index("yes"))
    assert part.n_rules == (whole.outcome == whole.outcomes.index("yes")).sum()
    assert np.array_equal(part.adjacency, mask.adjacency)
    if "yes" in case.y and whole.n_rules:
        alone = type(case)(case.rules.filter(outcome="yes"), case.X, case.y)
        np.testing.assert_allclose(part.adjacency, graph_of(alone).adjacency, atol=1e-10)


@settings(**OPTIONS)
@given(data=st.data())
def test_json_round_trip_is_exact(data, cases):
    graph = graph_of(data.draw(cases()))
    back = FeatureGraph.from_dict(json.loads(json.dumps(graph.to_dict())))
    assert back.to_dict() == graph.to_dict()
    for name in ("adjacency", "contributions", "rule_weights", "outcome"):
        assert np.array_equal(getattr(back, name), getattr(graph, name))
        assert getattr(back, name).shape == getattr(graph, name).shape


# ---------------------------------------------------------------------- edges
def rules_of(*rules: Rule) -> RuleSet:
    return RuleSet.from_rules(rules, Schema.numeric(["a", "b"]), outcomes=["yes", "no", "never"])


X = pd.DataFrame({"b": [1, 2, 3, 4], "a": [4, 3, 2, 1]})


def test_no_rules_is_an_empty_graph_with_one_warning():
    with pytest.warns(RulelensWarning, match="empty") as found:
        graph = FeatureGraph.from_rules(rules_of(), X, ["yes", "no", "no", "no"])
    assert len(found) == 1
    assert not graph.adjacency.any()
    assert graph.importance().tolist() == [0, 0]


def test_one_class_is_an_empty_graph_not_a_division_by_zero():
    with pytest.warns(RulelensWarning, match="empty"):
        graph = FeatureGraph.from_rules(
            rules_of(Rule({"a": Interval(high=2.5)}, "yes")), X, ["yes"] * 4
        )
    assert not np.isnan(graph.adjacency).any()


def test_a_rule_of_a_class_without_rows_has_no_part():
    rules = rules_of(Rule({"a": Interval(high=2.5)}, "no"), Rule({"b": Interval(low=2.5)}, "never"))
    graph = FeatureGraph.from_rules(rules, X, ["yes", "yes", "no", "no"])
    assert graph.rule_weights.tolist() == [1.0, 0.0]
    assert graph.importance().to_dict() == {"a": 100.0, "b": 0.0}
    with pytest.warns(RulelensWarning, match="empty"):
        assert not graph.for_class("never").adjacency.any()


def test_columns_are_found_by_name():
    rule = Rule({"a": Interval(high=2.5)}, "no")
    by_name = FeatureGraph.from_rules(rules_of(rule), X, ["yes", "yes", "no", "no"])
    by_place = FeatureGraph.from_rules(
        rules_of(rule), X[["a", "b"]].to_numpy(), ["yes", "yes", "no", "no"]
    )
    assert by_name.to_dict() == by_place.to_dict()


def test_lift_warns_once_that_shares_say_little():
    rules = rules_of(Rule({"a": Interval(high=1.5)}, "no"), Rule({"b": Interval(low=1.5)}, "no"))
    with pytest.warns(RulelensWarning, match="leaves") as found:
        graph = FeatureGraph.from_rules(
            rules, X, ["yes", "yes", "yes", "no"], rule_relevance="lift"
        )
    assert len(found) == 1
    assert graph.adjacency.sum() == pytest.approx(100)


def test_features_of_one_graph_only_count_as_nodes_without_links():
    one, two = simple_graph(("a", "b", "c")), simple_graph(("a", "b", "z"))
    A, B = np.zeros((4, 4)), np.zeros((4, 4))
    A[:3, :3] = one.adjacency
    B[np.ix_([0, 1, 3], [0, 1, 3])] = two.adjacency
    assert one.distance(two) == pytest.approx(np.linalg.norm(A - B))
    shuffled = FeatureGraph.from_relevances(
        ("c", "a", "b"),
        one.contributions[:, [2, 0, 1]],
        one.rule_weights,
        one.outcome,
        ["yes", "no"],
    )
    assert one.distance(shuffled) == pytest.approx(0, abs=1e-12)


def test_arrays_are_read_only_and_the_record_frozen():
    graph = simple_graph()
    with pytest.raises(ValueError, match="read-only"):
        graph.adjacency[0, 0] = 1
    with pytest.raises(AttributeError):
        graph.features = ()  # type: ignore[misc]


def test_unknown_names_are_told():
    graph = simple_graph()
    with pytest.raises(OptionError, match=r"Unknown outcome 'yess'.*Did you mean 'yes'"):
        graph.for_class("yess")
    with pytest.raises(UnknownFeatureError, match="Unknown feature 'd'"):
        graph.weight("a", "d")
    with pytest.raises(OptionError, match=r"Unknown projection 'jont'.*'joint'"):
        FeatureGraph.from_rules(rules_of(), X, ["yes"] * 4, projection="jont")
    with pytest.raises(OptionError, match="one of each a rule"):
        FeatureGraph.from_relevances(["a"], [[1.0]], [1.0, 2.0], [0, 0], ["yes"])
    with pytest.raises(OptionError, match="missing or infinite"):
        FeatureGraph.from_relevances(["a"], [[np.nan]], [1.0], [0], ["yes"])


def test_rules_are_selected_by_slice_positions_or_mask():
    graph = simple_graph()
    parts = [graph.select(c) for c in (slice(1, None), [1, 2], [-2, -1], [False, True, True])]
    assert all(np.array_equal(p.adjacency, parts[0].adjacency) for p in parts)
    with pytest.warns(RulelensWarning, match="empty"):
        assert graph.select([]).n_rules == 0
    for bad in ([True], [[0]], ["a"], [0.5], [3], [-4]):
        with pytest.raises(OptionError, match="3 rules"):
            graph.select(bad)


def test_edge_list_has_each_link_once_heaviest_first():
    frame = simple_graph().to_frame()
    assert frame["weight"].is_monotonic_decreasing
    assert frame.values.tolist()[0][:2] == ["a", "a"]
    assert set(frame["kind"]) == {"alone", "together"}
    total = frame["weight"].where(frame["kind"] == "alone", 2 * frame["weight"]).sum()
    assert total == pytest.approx(100)


def test_networkx_carries_weights_and_shares():
    graph = simple_graph()
    nx_graph = graph.to_networkx()
    assert nx_graph["a"]["b"]["weight"] == graph.weight("b", "a")
    assert nx_graph.nodes["c"]["importance"] == pytest.approx(graph.importance()["c"])
    assert nx_graph.has_edge("a", "a")
    assert not nx_graph.has_edge("a", "c")


# ---------------------------------------------------------------------- bad documents
@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"format": "other"}, "format"),
        ({"version": 99}, "version 99"),
        ({"features": ["a", "a", "c"]}, "features"),
        ({"features": "abc"}, "features"),
        ({"features": ["a", 1, "c"]}, r"features\[1\]"),
        ({"adjacency": [["1"] * 3] * 3}, r"adjacency\[0\].*'1'"),
        ({"adjacency": [[True] * 3] * 3}, r"adjacency\[0\].*True"),
        ({"adjacency": [[10**400] * 3] * 3}, r"adjacency\[0\]"),
        ({"adjacency": [[1.0] * 9]}, "adjacency"),
        ({"outcomes": ["yes", "yes"]}, "outcomes: one occurs twice"),
        ({"outcomes": ["yes", float("nan")]}, "outcomes: a number is not finite"),
        ({"adjacency": [[1.0]]}, "adjacency"),
        ({"adjacency": [[1.0, "x", 0.0]] * 3}, "adjacency"),
        ({"adjacency": [[float("nan")] * 3] * 3}, "adjacency"),
        ({"rules": None}, "rules"),
        ({"rules": {"outcome": [5], "weight": [1.0], "contributions": [[]]}}, "rules.outcome"),
        ({"rules": {"outcome": [0], "weight": [], "contributions": [[]]}}, "rules.weight"),
        ({"rules": {"outcome": [0], "weight": [1.0], "contributions": []}}, "contributions"),
        (
            {"rules": {"outcome": [0], "weight": [1.0], "contributions": [[[3, 1.0]]]}},
            r"contributions\[0\]",
        ),
        ({"projection": 3}, "projection"),
    ],
)
def test_a_bad_document_is_refused_with_its_place(change, place):
    with pytest.raises(FormatError, match=place):
        FeatureGraph.from_dict(simple_graph().to_dict() | change)
    with pytest.raises(FormatError, match="list"):
        FeatureGraph.from_dict([])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"contributions": np.ones((3, 2)), "rule_weights": [1, 1]}, r"shape \(3, 2\).*3 features"),
        ({"contributions": np.ones((2, 2))}, r"shape \(2, 2\)"),
        ({"contributions": [[1], [0.5, 1]]}, "contributions must be an array"),
        ({"contributions": [["x", 0, 0], [0, 0, 0]]}, "contributions must be an array"),
        ({"rule_weights": [[1], [1]]}, "one of each a rule"),
        ({"outcome": [0, 2]}, "one lies outside"),
        ({"outcome": [0, -1]}, "one lies outside"),
        ({"features": ["a", "b", "a"]}, "'a' occurs twice"),
        ({"features": ["a", "b", 3]}, "each of them text"),
        ({"features": "abc"}, "each of them text"),
    ],
)
def test_relevances_that_do_not_fit_are_told(change, message):
    """A transposed array was taken as it came, and the graph was of other features."""
    good = {
        "features": ["a", "b", "c"],
        "contributions": np.ones((2, 3)),
        "rule_weights": [1, 0.5],
        "outcome": [0, 1],
        "outcomes": ["yes", "no"],
    }
    FeatureGraph.from_relevances(**good)
    with pytest.raises(OptionError, match=message):
        FeatureGraph.from_relevances(**(good | change))


@pytest.mark.parametrize("n", [0, 2])
def test_no_features_at_all(n):
    with pytest.warns(RulelensWarning, match="empty"):
        graph = FeatureGraph.from_relevances([], np.zeros((n, 0)), [1] * n, [0] * n, ["yes"])
    assert graph.to_frame().empty
    assert graph.n_rules == n
