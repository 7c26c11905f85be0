"""Table 1 as it was printed: the habits of the authors' notebook, imitated.

`table1.py` measures what we hold to be right. This script follows the notebook that the authors
published, <https://github.com/ChristelSirocchi/rule-graph>, to tell where the printed figures
come from:

- Permutation importances are taken on the test rows and divided by their sum. Where the sum is
  negative, which noise makes it in folds where the tree guesses poorly, this turns their order
  round: the worst feature comes first.
- Features of equal importance, most often 0, come as NumPy's sort of objects leaves them: up to 16
  features in the reverse order of their columns.
- SHAP is the interventional kind against the training rows, on the test rows, by the package
  shap. Folds in which that package refuses its own result, since it does not add up to the
  prediction, are left out of the averages.
- Rules are read as `recipe.published_rules` says.
- Robustness counts each fold's correlation with itself.
- On hill valley the search for criterion and depth had three inner folds, as elsewhere in the
  notebook, and not five.

The trees are those of scikit-learn 1.4.2. After `sh experiments/feature_graphs/published.sh` has
made that environment, run::

    .venv-published/bin/python experiments/feature_graphs/table1_printed.py

Writes results/table1_printed.csv; "folds" counts those that have a figure, and "turned" those
whose permutation importances were turned round. Name data sets to run only those; the rows of the
others are kept.
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
import pandas as pd
import sklearn
from recipe import RESULTS, arguments, folds, load, published_rules, tuned_tree, with_new_rows
from sklearn.base import clone
from sklearn.inspection import permutation_importance
from table1 import PRINTED, SETS

from rulelens.errors import RulelensWarning
from rulelens.graph.drift import mean_spearman
from rulelens.graph.feature_graph import FeatureGraph

try:
    import shap
except ImportError:
    shap = None

METHODS = ("perm_test", "gini", "shap", "graph")
INNER_FOLDS = {"hill_valley_with_noise": 3}
"""Folds of the search for criterion and depth, where not 5."""


def ranked(values: np.ndarray) -> np.ndarray:
    """Positions of the features, most important first, with the notebook's order of ties.

    The notebook sorts Python objects, not floats: with more than 16 of them ties then come in
    another order.
    """
    return np.flip(np.argsort(values.astype(object)))


def mean_shap(tree, Xt: pd.DataFrame, Xv: pd.DataFrame) -> np.ndarray | None:
    """Mean |SHAP| of each feature on the test rows; None where the package refuses its result."""
    try:
        found = shap.TreeExplainer(tree, Xt.to_numpy())(Xv.to_numpy())
    except shap.utils._exceptions.ExplainerError:
        return None
    values = np.abs(found.values).mean(axis=0).mean(axis=1)
    return values / values.sum()


def run(data) -> pd.DataFrame:
    """One row a method."""
    found = {m: [] for m in METHODS}
    accuracy = {(m, k): [] for m in METHODS for k in (5, 10)}
    turned = 0
    for train, test in folds(data):
        Xt, yt = data.X.iloc[train], data.y.iloc[train]
        Xv, yv = data.X.iloc[test], data.y.iloc[test]
        tree = tuned_tree(Xt, yt, INNER_FOLDS.get(data.name, 5))
        permuted = permutation_importance(tree, Xv, yv, n_repeats=10, random_state=42)
        means = permuted.importances_mean
        turned += int(means.sum() < 0)
        graph = FeatureGraph.from_rules(published_rules(tree, Xt), Xt, yt)
        importances = {
            "perm_test": means / means.sum(),
            "gini": tree.feature_importances_,
            "shap": mean_shap(tree, Xt, Xv) if shap else None,
            "graph": graph.importance().to_numpy(),
        }
        for method, values in importances.items():
            if values is None:
                continue
            found[method].append(values)
            order = ranked(values)
            for k in (5, 10):
                top = data.X.columns[order[:k]]
                accuracy[method, k].append(clone(tree).fit(Xt[top], yt).score(Xv[top], yv))
    printed = PRINTED[PRINTED["data"] == data.name].set_index("method")
    records = []
    for method, values in found.items():
        n = len(values)
        if n:
            record = {"data": data.name, "method": method}
            for k in (5, 10):
                record[f"top{k}"] = np.mean(accuracy[method, k])
                record[f"top{k}_printed"] = printed.loc[method, f"top{k}"]
            record["robustness"] = (mean_spearman(np.array(values)) * (n - 1) + 1) / n
            record["robustness_printed"] = printed.loc[method, "robustness"]
            record["folds"] = n
            record["turned"] = turned if method == "perm_test" else 0
            records.append(record)
    return pd.DataFrame(records).round(4)


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=SETS, help="names of data sets")
    options = parser.parse_args()
    warnings.simplefilter("ignore", RulelensWarning)
    if sklearn.__version__ != "1.4.2":
        print(
            f"scikit-learn is {sklearn.__version__}, not 1.4.2: trees may differ.", file=sys.stderr
        )
    if shap is None:
        print("SHAP is left out: the package shap is not installed.", file=sys.stderr)
    path = RESULTS / "table1_printed.csv"
    RESULTS.mkdir(exist_ok=True)
    for name in options.sets:
        start = time.process_time()
        new = run(load(options.data, name))
        whole = with_new_rows(path, name, new, SETS)
        whole.to_csv(path, index=False, lineterminator="\n")
        print(new.to_string(index=False), f"\n{time.process_time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
