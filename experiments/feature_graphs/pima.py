"""Pima: four sources of rules, how far their graphs lie apart, and stability over depth.

Sources: a tuned decision tree, RIPPER (where the package wittgenstein is installed), a
multilayer perceptron explained by a tree of 15 leaves, and the rules that the Rulex platform's
Logic Learning Machine made of the same fold. All are judged on the training rows of fold 0.

Stability: one tree a depth, on the training rows of fold 0, and the average of the trees of five
folds. The paper's figures are of the second kind, for depths 6, 9, 12 and 15 (so its authors'
published notebook), and count each depth's correlation with itself.

Writes results/pima_importance.csv, pima_distances.csv, pima_depth.csv and pima.png.
"""

from __future__ import annotations

import warnings
from itertools import combinations

import numpy as np
import pandas as pd
from recipe import GRID, RESULTS, arguments, tuned_tree
from sklearn.model_selection import StratifiedKFold
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from rulelens.core.ruleset import RuleSet
from rulelens.errors import RulelensWarning
from rulelens.graph.distance import distance_matrix
from rulelens.graph.drift import mean_spearman
from rulelens.graph.feature_graph import FeatureGraph
from rulelens.graph.layout import shared_order
from rulelens.io.formats import read_rules
from rulelens.plots.graph import plot_graph
from rulelens.plots.save import save_figure
from rulelens.sources.extract import extract_rules

DEPTHS = {
    "6, 9, 12, 15": (6, 9, 12, 15),
    "3 to 15": range(3, 16),
    "4 to 30 (the grid)": GRID["max_depth"],
}
PRINTED = {
    "depths": "printed: 6, 9, 12, 15",
    "trees": 5,
    "graph_with_itself": 0.98,
    "gini_with_itself": 0.94,
}


def ripper_rules(X: pd.DataFrame, y: pd.Series) -> RuleSet | None:
    """Rules of wittgenstein's RIPPER for the class True; None where it is not installed."""
    try:
        from wittgenstein import RIPPER
    except ImportError:
        print("RIPPER is left out: pip install wittgenstein")
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = RIPPER(random_state=0)
        model.fit(X, y, pos_class=True)
        fires = np.asarray(model.predict(X))
    rules = extract_rules(model, X)
    if not np.array_equal(rules.coverage(X).any(axis=1), fires):
        raise SystemExit("The rules read from RIPPER do not select the rows that it selects.")
    return rules


def main() -> None:
    options = arguments(__doc__.splitlines()[0]).parse_args()
    warnings.simplefilter("ignore", RulelensWarning)
    frame = pd.read_csv(options.data / "rulex/PIMA_CV0.csv.gz")
    train = frame.iloc[: round(0.8 * len(frame)) + 1]
    X, y = train.drop(columns="target"), train["target"]
    # 1. Four sources.
    mlp = make_pipeline(StandardScaler(), MLPClassifier((32,), max_iter=2000, random_state=0))
    answers = mlp.fit(X, y).predict(X)
    surrogate = DecisionTreeClassifier(max_leaf_nodes=15, random_state=0).fit(X, answers)
    print(f"fidelity of the 15 rules to the MLP: {surrogate.score(X, answers):.3f}")
    sources = {
        "decision tree": extract_rules(tuned_tree(X, y), X),
        "RIPPER": ripper_rules(X, y),
        "MLP + CART": extract_rules(surrogate, X),
        "LLM (Rulex)": read_rules(
            options.data / "rulex/PIMA_CV0_rules.txt", format="rulex", features=list(X.columns)
        ),
    }
    graphs = {
        name: FeatureGraph.from_rules(rules, X, y)
        for name, rules in sources.items()
        if rules is not None
    }
    importance = pd.DataFrame({name: g.importance() for name, g in graphs.items()}).round(2)
    distances = distance_matrix(graphs).round(2)
    print(importance, distances, sep="\n")
    RESULTS.mkdir(exist_ok=True)
    importance.to_csv(RESULTS / "pima_importance.csv", lineterminator="\n")
    distances.to_csv(RESULTS / "pima_distances.csv", lineterminator="\n")
    draw(graphs)
    # 2. Trees of growing depth: do the ranks of features stay?
    whole = pd.read_csv(options.data / "rulex/PIMA.csv.gz", encoding="utf-8-sig")
    rows, labels = whole[list(X.columns)], whole["Outcome"].astype(str)
    five = StratifiedKFold(5, shuffle=True, random_state=42).split(rows, labels)
    parts = [(rows.iloc[k], labels.iloc[k]) for k, _ in five]
    records = [
        {"depths": name, "trees": len(learned), **stability(list(depths), learned)}
        for name, depths in DEPTHS.items()
        for learned in ([(X, y)], parts)
    ]
    depth_table = pd.DataFrame([*records, PRINTED]).round(3)
    depth_table.to_csv(RESULTS / "pima_depth.csv", index=False, lineterminator="\n")
    print(depth_table.to_string(index=False))


def stability(depths: list[int], parts: list[tuple[pd.DataFrame, pd.Series]]) -> dict[str, float]:
    """How well the ranks of the features agree between depths, each the average over the parts."""
    links, gini = [], []
    for depth in depths:
        trees = [
            DecisionTreeClassifier(max_depth=depth, random_state=123).fit(X, y) for X, y in parts
        ]
        graphs = [
            FeatureGraph.from_rules(extract_rules(tree, X), X, y)
            for tree, (X, y) in zip(trees, parts, strict=True)
        ]
        links.append(np.mean([g.adjacency for g in graphs], axis=0))
        gini.append(np.mean([t.feature_importances_ for t in trees], axis=0))
    graph_ranks = mean_spearman(np.array(links).sum(axis=2))
    gini_ranks = mean_spearman(np.array(gini))
    apart = [np.linalg.norm(a - b) for a, b in combinations(links, 2)]
    n = len(depths)
    return {
        "spearman_graph": graph_ranks,
        "spearman_gini": gini_ranks,
        "graph_with_itself": ((n - 1) * graph_ranks + 1) / n,
        "gini_with_itself": ((n - 1) * gini_ranks + 1) / n,
        "distance_mean": float(np.mean(apart)),
        "distance_most": float(np.max(apart)),
    }


def draw(graphs: dict[str, FeatureGraph]) -> None:
    """The graphs on one layout."""
    import matplotlib.pyplot as plt

    order = shared_order(list(graphs.values()))
    figure, axes = plt.subplots(1, len(graphs), figsize=(6 * len(graphs), 5))
    figure.subplots_adjust(0.01, 0.14, 0.99, 0.92, 0.05)
    for (name, graph), ax in zip(graphs.items(), axes, strict=True):
        plot_graph(graph, ax, features=order, title=name)
    save_figure(figure, RESULTS / "pima.png", dpi=60)


if __name__ == "__main__":
    main()
