"""Table 1: accuracy with the top 5 and top 10 features, and robustness of their ranks.

Ten folds of each of the 15 data sets. In each, the tuned tree of `recipe` gives the importances:
permutation on the training rows ("perm") and on the test rows ("perm_test"), Gini, mean |SHAP|
(exact and path-dependent, on the test rows), and the feature graph's. A tree with the same options
is trained on the top features of each and scored on the test rows. Robustness is the average
Spearman correlation of all pairs of folds; the printed figures count each fold against itself, too,
so "robustness_with_itself" is the one to compare. Text columns are 0/1 columns, one a level.

The printed permutation figures are those of "perm_test", but divided by their sum, which turns
their order round where the sum is negative. Either way it sees the labels of the rows on which
its choice is then scored, so it is not comparable with the other methods, and "perm" is.
`table1_printed.py` imitates what was printed.

Writes results/table1.csv, with the paper's printed figures beside ours. Name data sets to run
only those; the rows of the others are kept.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
import pandas as pd
from recipe import HERE, RESULTS, arguments, folds, load, tuned_tree, with_new_rows
from sklearn.base import clone
from sklearn.inspection import permutation_importance
from tree_shap import shap_values

from rulelens.errors import RulelensWarning
from rulelens.graph.drift import mean_spearman
from rulelens.graph.feature_graph import FeatureGraph
from rulelens.sources.extract import extract_rules

METHODS = ("perm", "perm_test", "gini", "shap", "graph")
PRINTED = pd.read_csv(HERE / "printed_table1.csv")
"""The figures of the paper's Table 1."""
SETS = list(dict.fromkeys(PRINTED["data"]))


def importances(tree, Xt, yt, Xv, yv) -> dict[str, np.ndarray]:
    """Importance of each feature, by method."""
    inside = permutation_importance(tree, Xt, yt, n_repeats=10, random_state=42)
    outside = permutation_importance(tree, Xv, yv, n_repeats=10, random_state=42)
    graph = FeatureGraph.from_rules(extract_rules(tree, Xt), Xt, yt)
    return {
        "perm": inside.importances_mean,
        "perm_test": outside.importances_mean,
        "gini": tree.feature_importances_,
        "shap": np.abs(shap_values(tree, Xv.to_numpy())).mean(axis=(0, 2)),
        "graph": graph.importance().to_numpy(),
    }


def run(data) -> pd.DataFrame:
    """One row a method."""
    found = {m: [] for m in METHODS}
    accuracy = {(m, k): [] for m in METHODS for k in (5, 10)}
    for train, test in folds(data):
        Xt, yt, Xv, yv = (
            data.X.iloc[train],
            data.y.iloc[train],
            data.X.iloc[test],
            data.y.iloc[test],
        )
        tree = tuned_tree(Xt, yt)
        for method, values in importances(tree, Xt, yt, Xv, yv).items():
            found[method].append(values)
            order = np.argsort(-values, kind="stable")
            for k in (5, 10):
                top = data.X.columns[order[:k]]
                accuracy[method, k].append(clone(tree).fit(Xt[top], yt).score(Xv[top], yv))
    printed = PRINTED[PRINTED["data"] == data.name].set_index("method").reindex(METHODS)
    return pd.DataFrame(
        {
            "data": data.name,
            "method": METHODS,
            "top5": [np.mean(accuracy[m, 5]) for m in METHODS],
            "top5_printed": printed["top5"].to_numpy(),
            "top10": [np.mean(accuracy[m, 10]) for m in METHODS],
            "top10_printed": printed["top10"].to_numpy(),
            "robustness": [mean_spearman(np.array(found[m])) for m in METHODS],
            "robustness_printed": printed["robustness"].to_numpy(),
        }
    ).round(3)


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=SETS, help="names of data sets")
    options = parser.parse_args()
    warnings.simplefilter("ignore", RulelensWarning)
    path = RESULTS / "table1.csv"
    RESULTS.mkdir(exist_ok=True)
    for name in options.sets:
        start = time.process_time()
        new = run(load(options.data, name))
        whole = with_new_rows(path, name, new, SETS)
        whole["robustness_with_itself"] = ((9 * whole["robustness"] + 1) / 10).round(3)
        whole.to_csv(path, index=False, lineterminator="\n")
        print(new.to_string(index=False), f"\n{time.process_time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
