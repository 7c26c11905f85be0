"""Bootstrap and permutation: the fast path against the plain one, and honest p-values."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control
from sklearn.tree import DecisionTreeClassifier

from rulelens.core.conditions import Interval
from rulelens.core.measures import MEASURES
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Schema
from rulelens.errors import FormatError, OptionError, RulelensWarning, TableError
from rulelens.graph.feature_graph import FeatureGraph
from rulelens.graph.inference import bootstrap, permutation_test
from rulelens.graph.uncertainty import GraphIntervals, GraphTest, false_discovery
from rulelens.sources.extract import extract_rules

pytestmark = pytest.mark.filterwarnings("ignore:The feature graph is empty")


def learn(X, y):
    return extract_rules(DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y), X)


def data(n=120, d=3, signal=True, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.random((n, d)), columns=[f"f{i}" for i in range(d)])
    y = np.where((X["f0"] > 0.5) & signal, "yes", np.where(rng.random(n) < 0.3, "yes", "no"))
    return X, y


@pytest.mark.parametrize("projection", ["joint"])
def test_bootstrap_is_that_of_plain_resampling(projection):
    X, y = data()
    rules = learn(X, y)
    result = bootstrap(rules, X, y, n_resamples=30, random_state=7, projection=projection)
    rng = np.random.default_rng(7)
    draws = [rng.integers(len(X), size=len(X)) for _ in range(30)]
    shares = np.array(
        [
            FeatureGraph.from_rules(rules, X.iloc[r], y[r], projection=projection).adjacency
            for r in draws
        ]
    )
    low, high = np.quantile(shares, [0.025, 0.975], axis=0)
    np.testing.assert_allclose(result.low, low, atol=1e-10)
    np.testing.assert_allclose(result.high, high, atol=1e-10)
    sums = np.quantile(shares.sum(axis=2), [0.025, 0.975], axis=0)
    np.testing.assert_allclose([result.importance_low, result.importance_high], sums, atol=1e-10)
    np.testing.assert_allclose(result.present, (shares != 0).mean(axis=0))
    away = np.linalg.norm(shares - result.graph.adjacency, axis=(1, 2))
    np.testing.assert_allclose(result.distances, away, atol=1e-10)
    assert result.usual_distance == pytest.approx(np.quantile(away, 0.95))


@settings(max_examples=25, deadline=None)
@given(cases_data=st.data(), kind=st.sampled_from(["relevance", "impurity"]))
def test_fixed_rules_and_a_function_that_gives_them_agree(cases_data, kind, cases):
    case = cases_data.draw(cases())
    rules = case.rules.filter(outcome="yes")
    case.y[0] = "yes"

    def same(X, y):
        return rules if "yes" in y else rules[:0]

    options = {"random_state": 1, "feature_relevance": kind}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RulelensWarning)
        a = bootstrap(rules, case.X, case.y, n_resamples=5, **options)
        b = bootstrap(same, case.X, case.y, n_resamples=5, **options)
        s = permutation_test(rules, case.X, case.y, n_permutations=19, **options)
        t = permutation_test(same, case.X, case.y, n_permutations=19, **options)
    np.testing.assert_allclose(a.low, b.low, atol=1e-9)
    np.testing.assert_allclose(a.high, b.high, atol=1e-9)
    tested = ~np.isnan(s.p_values)
    assert np.array_equal(s.p_values[tested], t.p_values[tested])
    assert (t.p_values[~tested] == 1).all()
    assert np.array_equal(s.importance_p_values, t.importance_p_values)


def test_a_true_link_is_found_and_noise_is_not():
    X, y = data(n=200)
    test = permutation_test(learn, X, y, n_permutations=199, random_state=0)
    assert test.refitted
    assert test.p_values[0, 0] == 0.005
    assert test.significant()[0, 0]
    frame = test.importance_frame()
    assert frame.loc["f0", "adjusted"] < 0.05
    X, y = data(n=200, signal=False, seed=3)
    assert not permutation_test(learn, X, y, n_permutations=99, random_state=0).significant().any()


def test_the_same_seed_gives_the_same_result_and_another_seed_another():
    X, y = data()
    rules = learn(X, y)
    for function, option in ((bootstrap, "n_resamples"), (permutation_test, "n_permutations")):
        one, two, other = (
            function(rules, X, y, random_state=s, **{option: 40}).to_dict() for s in (1, 1, 2)
        )
        assert json.loads(json.dumps(one)) == two
        assert one != other


@pytest.mark.parametrize("kind", [pl.DataFrame, lambda X: X.to_numpy(), lambda X: X])
def test_any_table_can_be_resampled_for_learning(kind):
    X, y = data(n=60)
    table = kind(X)
    names = list(X.columns)

    def source(rows, labels):
        assert type(rows) is type(table)
        frame = pd.DataFrame(np.asarray(rows), columns=names)
        return RuleSet.from_rules(learn(frame, labels), Schema.numeric(names))

    result = bootstrap(source, table, y, n_resamples=5, random_state=0)
    assert (result.low <= result.high).all()
    assert result.refitted


@pytest.mark.parametrize("labels", [[1, 0], [True, False], ["a", "b"]])
def test_labels_keep_their_type_when_rules_are_learned_anew(labels):
    """Labels came back as an array of objects, which scikit-learn refuses for numbers."""
    X, y = data(n=60)
    own = np.array(labels)[(y == "yes").astype(int)]
    seen = set()

    def source(rows, y):
        seen.update(type(v) for v in y.tolist())
        return learn(rows, y)

    bootstrap(source, X, own, n_resamples=3, random_state=0)
    assert seen == {type(labels[0])}


def test_features_that_no_rule_names_together_are_not_tested():
    rules = RuleSet.from_rules(
        [Rule({"f0": Interval(low=0.5)}, "yes"), Rule({"f1": Interval(low=0.5)}, "no")],
        Schema.numeric(["f0", "f1", "f2"]),
    )
    X, y = data()
    test = permutation_test(rules, X, y, n_permutations=49, random_state=0)
    assert not np.isnan(test.p_values[0, 0])
    assert np.isnan(test.p_values[0, 1])
    assert np.isnan(test.adjusted()[2, 2])
    assert not test.significant()[0, 1]
    assert set(test.to_frame()["source"]) == {"f0", "f1"}


def test_intervals_hold_the_weights_of_stable_links():
    X, y = data(n=400)
    frame = bootstrap(learn(X, y), X, y, n_resamples=200, random_state=0).to_frame()
    top = frame.iloc[0]
    assert top["low"] <= top["weight"] <= top["high"]
    assert frame["present"].between(0, 1).all()
    importance = bootstrap(learn(X, y), X, y, n_resamples=50, random_state=0).importance_frame()
    assert list(importance.columns) == ["importance", "low", "high", "alone"]


def test_the_largest_link_of_each_shuffling_is_the_strictest_bar():
    """With 30 features Benjamini-Hochberg could find nothing in 99 shufflings."""
    X, y = data(n=200, d=12)
    test = permutation_test(learn, X, y, n_permutations=99, random_state=0)
    assert (test.max_p_values >= test.p_values).all()
    assert test.adjusted("max")[0, 0] == 0.01
    assert test.significant(correction="max")[0, 0]
    assert not test.significant(correction="bh").any()
    X, y = data(n=200, signal=False, seed=3)
    noise = permutation_test(learn, X, y, n_permutations=99, random_state=0)
    assert not noise.significant(correction="max").any()
    assert noise.to_frame(correction="max")["adjusted"].min() > 0.05


def test_bad_options_are_told():
    X, y = data()
    rules = learn(X, y)
    for bad in (1, 2.5, True):
        with pytest.raises(OptionError, match="n_resamples"):
            bootstrap(rules, X, y, n_resamples=bad)
    with pytest.raises(OptionError, match="confidence"):
        bootstrap(rules, X, y, confidence=95)
    with pytest.raises(OptionError, match="n_permutations"):
        permutation_test(rules, X, y, n_permutations=5)
    with pytest.raises(OptionError, match="must take X and y and give a RuleSet"):
        bootstrap(lambda X, y: None, X, y)  # type: ignore[arg-type,return-value]
    with pytest.raises(TableError, match="no rows"):
        bootstrap(rules, X.iloc[:0], y[:0])
    test = permutation_test(rules, X, y, n_permutations=19, random_state=0)
    with pytest.raises(OptionError, match="Unknown correction 'holm'"):
        test.adjusted("holm")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="alpha"):
        test.significant(5)


@given(st.lists(st.floats(0, 1), max_size=20))
def test_false_discovery_agrees_with_scipy(p):
    values = np.array(p)
    for method in ("bh", "by"):
        expected = false_discovery_control(values, method=method) if p else values
        np.testing.assert_allclose(false_discovery(values, method), expected, atol=1e-15)
    assert np.array_equal(false_discovery(values, "none"), values)


def test_results_are_read_back_as_they_were():
    """They could be written, and took minutes to make, but nothing read them."""
    X, y = data()
    for record in (
        bootstrap(learn, X, y, n_resamples=5, random_state=0),
        bootstrap(learn(X, y), X, y, n_resamples=5, random_state=0),
        permutation_test(learn(X, y), X, y, n_permutations=19, random_state=0),
        permutation_test(learn, X, y, n_permutations=19, random_state=0),
    ):
        document = json.loads(json.dumps(record.to_dict(), allow_nan=False))
        again = type(record).from_dict(document)
        assert again.to_dict() == record.to_dict()
        pd.testing.assert_frame_equal(again.to_frame(), record.to_frame())


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"format": "rulelens.graph"}, "graph_intervals"),
        ({"version": 2}, "version 2"),
        ({"graph": None}, "feature_graph"),
        ({"low": [[0.0]]}, "low"),
        ({"high": None}, "high"),
        ({"importance_low": [0.0, "1", 0.0]}, "importance_low"),
        ({"distances": [1.0]}, "distances"),
        ({"n_resamples": True}, "n_resamples"),
        ({"confidence": 1.5}, "confidence"),
        ({"confidence": None}, "confidence"),
        ({"refitted": "yes"}, "refitted"),
    ],
)
def test_faults_of_saved_intervals_are_told(change, place):
    X, y = data()
    good = bootstrap(learn(X, y), X, y, n_resamples=3, random_state=0).to_dict()
    with pytest.raises(FormatError, match=place):
        GraphIntervals.from_dict(good | change)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"format": "rulelens.graph_intervals"}, "graph_test"),
        ({"p_values": [[0.5]]}, "p_values"),
        ({"p_values": [[0.5] * 3, [0.5] * 2, [0.5] * 3]}, "p_values"),
        ({"p_values": [["0.5"] * 3] * 3}, "p_values"),
        ({"max_p_values": [[None] * 3] * 3}, "max_p_values"),
        ({"n_permutations": 0}, "n_permutations"),
    ],
)
def test_faults_of_saved_tests_are_told(change, place):
    X, y = data()
    good = permutation_test(learn(X, y), X, y, n_permutations=19, random_state=0).to_dict()
    with pytest.raises(FormatError, match=place):
        GraphTest.from_dict(good | change)


def test_the_largest_link_corrects_no_importances():
    """Benjamini-Hochberg's values were given under the name 'max'."""
    X, y = data()
    test = permutation_test(learn(X, y), X, y, n_permutations=19, random_state=0)
    with pytest.raises(OptionError, match="for links only"):
        test.importance_frame(correction="max")


def test_what_cannot_be_resampled_is_told():
    """No rows ended in a ZeroDivisionError, a name for rules in a TypeError."""
    X, y = data()
    rules = learn(X, y)
    with pytest.raises(TableError, match="no rows"):
        permutation_test(rules, X[:0], y[:0])
    for call in (bootstrap, permutation_test):
        with pytest.raises(OptionError, match="not a str"):
            call("rules.json", X, y)
    with pytest.raises(OptionError, match="confidence must lie"):
        bootstrap(rules, X, y, confidence="95%")


def test_directions_that_only_resamples_have_are_listed():
    """Links of a graph that happens to be symmetric lost one direction of their resamples."""
    X, y = data()
    graph = permutation_test(learn(X, y), X, y, n_permutations=19, random_state=0).graph
    even = graph.select(slice(0, 0))
    d = len(even.features)
    p = np.full((d, d), 1.0)
    p[1, 0], p[0, 1] = 0.05, 0.5
    test = GraphTest(even, p, np.ones(d), p, 19, True)
    adjusted = test.adjusted("none")
    assert (adjusted[1, 0], adjusted[0, 1]) == (0.05, 0.5)
    present = np.zeros((d, d))
    present[1, 0] = 0.5
    zeros = np.zeros((d, d))
    intervals = GraphIntervals(
        even, zeros, zeros, zeros[0], zeros[0], present, zeros[0], 0.9, 3, True
    )
    row = intervals.to_frame().iloc[0]
    assert (row["source"], row["target"]) == even.features[:2]  # the column gives


@pytest.mark.filterwarnings("ignore::rulelens.errors.RulelensWarning")
@pytest.mark.parametrize("anew", [False, True])
def test_links_beyond_all_bounds_are_not_compared(anew):
    """Each shuffling has a scale of its own where lift makes links too large for a float."""
    X, y = data()
    rule = Rule({"f0": Interval(low=0.5)}, "yes")
    few = RuleSet.from_rules([rule] * 3, Schema.numeric(["f0", "f1", "f2"]))
    many = RuleSet.from_rules([rule] * 900, Schema.numeric(["f0", "f1", "f2"]))
    MEASURES.add("large", lambda tp, fp, fn, tn: tp * 100.0)
    try:
        for rules in (few, many):
            source = (lambda rows, labels, r=rules: r) if anew else rules
            options = {"n_permutations": 19, "random_state": 0, "rule_relevance": "large"}
            if rules is few:
                permutation_test(source, X, y, **options)
                continue
            with pytest.raises(OptionError, match="too large to be compared"):
                permutation_test(source, X, y, **options)
    finally:
        MEASURES.remove("large")
