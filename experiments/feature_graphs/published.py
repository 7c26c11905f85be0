"""Compare with the importances that the paper's authors published, fold by fold.

The authors grew their trees with scikit-learn 1.4.2, and other versions grow others. Make that
environment and run this script in it with::

    sh experiments/feature_graphs/published.sh

It writes results/published.csv: for each data set and method the largest difference between our
importance and the published one, over the folds (relative where the published ones exceed 1). It
ends with an error if one exceeds 1e-9.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import pandas as pd
import sklearn
from recipe import RESULTS, arguments, folds, load, published_rules, tuned_tree
from sklearn.inspection import permutation_importance

from rulelens.errors import RulelensWarning
from rulelens.graph.feature_graph import FeatureGraph

SETS = ("zoo", "balance_scale", "hepatitis", "bcw_original", "tokyo1")
TOLERANCE = 1e-9


def differences(data, published: pd.DataFrame) -> list[dict[str, object]]:
    """One record a fold and method."""
    out = []
    for fold, (train, test) in enumerate(folds(data)):
        X, y = data.X.iloc[train], data.y.iloc[train]
        tree = tuned_tree(X, y)
        rules = published_rules(tree, X)
        for _, row in published[published["fold"] == fold].iterrows():
            method = str(row["method"])
            expected = row[list(X.columns)].astype(float)
            if method == "gini":
                ours = pd.Series(tree.feature_importances_, index=X.columns)
            elif method == "perm":
                permuted = permutation_importance(
                    tree, data.X.iloc[test], data.y.iloc[test], n_repeats=10, random_state=42
                ).importances_mean
                ours = pd.Series(permuted / permuted.sum(), index=X.columns)
            elif method.endswith("_centrality"):
                rule_relevance, feature_relevance, _ = method.split("_")
                with warnings.catch_warnings():
                    # lift leaves [0, 1]: the published numbers do, too
                    warnings.simplefilter("ignore", RulelensWarning)
                    graph = FeatureGraph.from_rules(
                        rules,
                        X,
                        y,
                        rule_relevance=rule_relevance,
                        feature_relevance=feature_relevance,
                    )
                ours = graph.importance() / 100
            else:
                continue
            # Permutation importances were divided by their sum, which may be next to nothing.
            size = max(1.0, float(expected.abs().max()))
            out.append(
                {
                    "data": data.name,
                    "fold": fold,
                    "method": method,
                    "difference": float(np.abs(ours - expected).max()) / size,
                }
            )
    return out


def main() -> int:
    """Run all sets; 0 if every difference is within the tolerance."""
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", default=SETS, help="names of data sets")
    options = parser.parse_args()
    if sklearn.__version__ != "1.4.2":
        print(
            f"scikit-learn is {sklearn.__version__}, not 1.4.2: trees may differ.", file=sys.stderr
        )
    records = []
    for name in options.sets:
        published = pd.read_csv(options.data / f"published_importances/{name}.csv.gz", index_col=0)
        records += differences(load(options.data, name), published)
        print(name, f"{max(r['difference'] for r in records if r['data'] == name):.1e}")
    frame = pd.DataFrame(records)
    shown = frame[frame["method"] != "gini"]
    table = shown.groupby(["data", "method"], sort=False)["difference"].agg(["max", "size"])
    table = table.rename(columns={"max": "largest_difference", "size": "folds"}).reset_index()
    table["largest_difference"] = table["largest_difference"].map("{:.0e}".format)
    RESULTS.mkdir(exist_ok=True)
    table.to_csv(RESULTS / "published.csv", index=False, lineterminator="\n")
    bad = frame[frame["difference"] > TOLERANCE]
    print(bad.to_string() if len(bad) else f"all {len(frame)} within {TOLERANCE}")
    return int(len(bad) > 0)


if __name__ == "__main__":
    raise SystemExit(main())
