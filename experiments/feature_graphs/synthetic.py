"""Synthetic sets: does the graph tell features that decide alone from those that need others?

13 configurations (2 to 6 relevant features, independent or combined, and three mixed kinds), 10
seeds each. A tuned tree's rules become a graph on all rows. The ratio is the sum of the diagonal
(what features do alone) over the sum of the rest. Writes results/synthetic.csv (a row a
configuration) and results/synthetic.png (the mean adjacency of each).
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from recipe import RESULTS, arguments, tuned_tree

from rulelens.datasets import make_combined, make_independent, make_mixed
from rulelens.datasets.synthetic import MIXED
from rulelens.errors import RulelensWarning
from rulelens.graph.feature_graph import FeatureGraph
from rulelens.plots.heatmap import plot_heatmap
from rulelens.plots.save import save_figure
from rulelens.sources.extract import extract_rules

CONFIGURATIONS = {
    **{f"independent {k}": lambda s, k=k: make_independent(k, random_state=s) for k in range(2, 7)},
    **{f"combined {k}": lambda s, k=k: make_combined(k, random_state=s) for k in range(2, 7)},
    **{f"mixed {k}": lambda s, k=k: make_mixed(k, random_state=s) for k in MIXED},
}


def ratio(A: np.ndarray) -> float:
    """Diagonal over the rest."""
    return float(np.trace(A) / (A.sum() - np.trace(A)))


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    warnings.simplefilter("ignore", RulelensWarning)
    records, means = [], {}
    for name, make in CONFIGURATIONS.items():
        graphs, gini = [], []
        for seed in range(options.seeds):
            X, y = make(seed)
            tree = tuned_tree(X, pd.Series(y))
            graphs.append(FeatureGraph.from_rules(extract_rules(tree, X), X, y))
            gini.append(tree.feature_importances_)
        ratios = [ratio(g.adjacency) for g in graphs]
        means[name] = np.mean([g.adjacency for g in graphs], axis=0)
        relevant = 4 if name.startswith("mixed") else int(name[-1])
        importance = means[name].sum(axis=1)
        records.append(
            {
                "configuration": name,
                "ratio_mean": np.mean(ratios),
                "ratio_least": min(ratios),
                "ratio_most": max(ratios),
                "importance_of_relevant": importance[:relevant].sum(),
                "gini_of_relevant": 100 * np.mean(gini, axis=0)[:relevant].sum(),
            }
        )
        print(records[-1], flush=True)
    table = pd.DataFrame(records).round(3)
    RESULTS.mkdir(exist_ok=True)
    table.to_csv(RESULTS / "synthetic.csv", index=False, lineterminator="\n")
    print(table.to_string(index=False))
    for k in range(2, 7):
        least = table.loc[table["configuration"] == f"independent {k}", "ratio_least"].item()
        most = table.loc[table["configuration"] == f"combined {k}", "ratio_most"].item()
        print(f"{k} features: every independent set above every combined one: {least > most}")
    draw(means)


def draw(means: dict[str, np.ndarray]) -> None:
    """Mean adjacency of each configuration."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(3, 5, figsize=(22, 12), layout="constrained")
    for row, kind in zip(axes, ("independent", "combined", "mixed"), strict=True):
        names = [n for n in means if n.startswith(kind)]
        for ax in row[len(names) :]:
            ax.set_axis_off()
        for name, ax in zip(names, row, strict=False):
            A = means[name]
            graph = FeatureGraph(
                tuple(f"X{i + 1}" for i in range(len(A))), A, np.zeros((0, len(A))), [], [], (0, 1)
            )
            plot_heatmap(graph, ax, title=name)
    save_figure(figure, RESULTS / "synthetic.png", dpi=60)


if __name__ == "__main__":
    main()
