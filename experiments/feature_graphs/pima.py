"""Pima: four sources of rules, how far their graphs lie apart, and stability over depth.

Sources: a tuned decision tree, RIPPER (where the package wittgenstein is installed), a
multilayer perceptron explained by a tree of 15 leaves, and the rules that the Rulex platform's
Logic Learning Machine made of the same fold. All are judged on the training rows of fold 0.
Writes results/pima_importance.csv, pima_distances.csv, pima_depth.csv and pima.png.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from recipe import GRID, RESULTS, arguments, tuned_tree
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

DEPTHS = {"3 to 15": range(3, 16), "4 to 30 (the grid)": GRID["max_depth"]}


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
    records = []
    for name, depths in DEPTHS.items():
        graph_ranks, gini_ranks, states = [], [], {}
        for depth in depths:
            tree = DecisionTreeClassifier(max_depth=depth, random_state=123).fit(X, y)
            states[f"{depth}"] = FeatureGraph.from_rules(extract_rules(tree, X), X, y)
            graph_ranks.append(states[f"{depth}"].importance().to_numpy())
            gini_ranks.append(tree.feature_importances_)
        apart = distance_matrix(states).to_numpy()
        records.append(
            {
                "depths": name,
                "spearman_graph": mean_spearman(np.array(graph_ranks)),
                "spearman_gini": mean_spearman(np.array(gini_ranks)),
                "distance_mean": apart[np.triu_indices(len(apart), 1)].mean(),
                "distance_most": apart.max(),
            }
        )
    printed = {"depths": "printed", "spearman_graph": 0.98, "spearman_gini": 0.94}
    depth_table = pd.DataFrame([*records, printed]).round(3)
    depth_table.to_csv(RESULTS / "pima_depth.csv", index=False, lineterminator="\n")
    print(depth_table.to_string(index=False))


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
