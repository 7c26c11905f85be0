"""Trees on the paper's data sets: the authors' published numbers, and a plain numpy reference."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.tree import DecisionTreeClassifier

from rulelens.errors import RulelensWarning
from rulelens.graph.feature_graph import FeatureGraph
from rulelens.sources.extract import extract_rules

IDENTIFIERS = ["animal_name", "Sample_code_number"]


def load(data_dir, name):
    frame = pd.read_csv(data_dir / f"{name}.csv.gz")
    X = frame.iloc[:, :-1].drop(columns=IDENTIFIERS, errors="ignore").astype(float)
    return X, frame.iloc[:, -1]


@pytest.mark.data
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_zoo_gives_the_published_importances(data_dir):
    """The authors' trees of fold 0 and 8 (their choice: gini 8, entropy 6), all 10 methods."""
    X, y = load(data_dir, "zoo")
    published = pd.read_csv(data_dir / "published_importances/zoo.csv.gz", index_col=0)
    published = published.set_index(["fold", "method"])
    folds = list(StratifiedKFold(10, shuffle=True, random_state=42).split(X, y))
    compared = 0
    for fold in (0, 8):
        Xt, yt = X.iloc[folds[fold][0]], y.iloc[folds[fold][0]]
        search = GridSearchCV(
            DecisionTreeClassifier(random_state=123),
            {"criterion": ["gini", "entropy"], "max_depth": [4, 6, 8]},
            cv=StratifiedKFold(5, shuffle=True, random_state=42),
        )
        tree = search.fit(Xt, yt).best_estimator_
        gini = published.loc[(fold, "gini"), X.columns].astype(float)
        if np.abs(tree.feature_importances_ - gini).max() > 1e-9:
            pytest.skip("This scikit-learn grows other trees than 1.4.2 did.")
        rules = extract_rules(tree, Xt)
        for method, expected in published.loc[fold].iterrows():
            if not method.endswith("_centrality"):
                continue
            rule, feature, _ = method.split("_")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RulelensWarning)  # lift leaves [0, 1]
                graph = FeatureGraph.from_rules(
                    rules, Xt, yt, rule_relevance=rule, feature_relevance=feature
                )
            np.testing.assert_allclose(
                graph.importance() / 100,
                expected[X.columns].astype(float),
                rtol=0,
                atol=1e-9,
                err_msg=method,
            )
            compared += 1
    assert compared == 20


def plain_graph(tree, X, y):
    """P, q and A' of a tree by boolean masks and its own `apply`, product in long doubles."""
    t, values = tree.tree_, X.to_numpy(dtype=np.float32)
    parent = {c: (n, side) for n in range(t.node_count) for side, c in _children(t, n)}
    leaves = np.flatnonzero(t.children_left < 0)
    P, q = np.zeros((len(leaves), X.shape[1])), np.zeros(len(leaves))
    landed = tree.apply(X)
    for k, leaf in enumerate(leaves):
        own = (y == tree.classes_[np.argmax(t.value[leaf][0])]).to_numpy()
        inside = landed == leaf
        recall, error = inside[own].mean(), inside[~own].mean()
        q[k] = recall * (1 - error)
        path, node = [], leaf
        while node in parent:
            node, side = parent[node]
            path.append((node, side))
        for h in {t.feature[n] for n, _ in path}:
            kept = np.ones(len(X), dtype=bool)
            for n, side in path:
                if t.feature[n] != h:
                    x = values[:, t.feature[n]].astype(float)
                    left = np.where(np.isnan(x), bool(t.missing_go_to_left[n]), x <= t.threshold[n])
                    kept &= left == (side == "left")
            P[k, h] = (kept[~own].mean() - error) * recall
    terms = (P[:, :, None] * P[:, None, :] * q[:, None, None]).astype(np.longdouble)
    A = 1 - np.prod(1 - terms, axis=0)
    return P, q, np.asarray(100 * A / A.sum(), dtype=float)


def _children(t, n):
    if t.children_left[n] >= 0:
        yield "left", t.children_left[n]
        yield "right", t.children_right[n]


@pytest.mark.data
@pytest.mark.parametrize("name", ["zoo", "balance_scale", "hepatitis", "bcw_original", "tokyo1"])
def test_current_trees_agree_with_a_plain_reference(name, data_dir):
    X, y = load(data_dir, name)
    tree = DecisionTreeClassifier(random_state=123, max_depth=10).fit(X, y)
    P, q, A = plain_graph(tree, X, y)
    graph = FeatureGraph.from_rules(extract_rules(tree, X), X, y)
    np.testing.assert_allclose(graph.contributions, P, rtol=0, atol=1e-12)
    np.testing.assert_allclose(graph.rule_weights, q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(graph.adjacency, A, rtol=0, atol=1e-12)
