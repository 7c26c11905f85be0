"""The graph tells features that decide alone from those that need others: known truth."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from rulelens.datasets import make_combined, make_independent, make_mixed
from rulelens.graph.feature_graph import FeatureGraph
from rulelens.sources.extract import extract_rules


def graph_of(made):
    X, y = made
    tree = DecisionTreeClassifier(max_depth=10, random_state=123).fit(X, y)
    return FeatureGraph.from_rules(extract_rules(tree, X), X, y)


def ratio(graph):
    diagonal = np.trace(graph.adjacency)
    return diagonal / (100 - diagonal)


@pytest.mark.parametrize("k", range(2, 7))
def test_independent_features_weigh_on_the_diagonal(k):
    alone, together = graph_of(make_independent(k)), graph_of(make_combined(k))
    assert ratio(alone) > ratio(together)
    for graph in (alone, together):
        assert graph.importance().iloc[:k].sum() > 99


def test_the_link_of_a_combined_pair_is_the_strongest():
    graph = graph_of(make_mixed("1-2-34"))
    links = graph.to_frame().query("kind == 'together'")
    assert {links.iloc[0]["source"], links.iloc[0]["target"]} == {"X3", "X4"}
