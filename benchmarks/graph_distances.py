"""All distances between 200 rule sets of 500 rules each; CPU seconds, one thread."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from rulelens.graph.distance import distance_matrix
from rulelens.graph.feature_graph import FeatureGraph
from rulelens.sources.extract import extract_rules


def main() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.random((2000, 20)), columns=[f"f{i}" for i in range(20)])
    y = ((X["f0"] > 0.5) ^ (X["f1"] > 0.3) ^ (rng.random(len(X)) < 0.2)).astype(int)
    forest = RandomForestClassifier(100, max_leaf_nodes=60, random_state=0, n_jobs=1).fit(X, y)
    rules = extract_rules(forest, X)
    sets = [rules[np.sort(rng.choice(len(rules), 500, replace=False))] for _ in range(200)]
    start = time.process_time()
    graphs = {f"set {k}": FeatureGraph.from_rules(r, X, y) for k, r in enumerate(sets)}
    built = time.process_time()
    distance_matrix(graphs)
    end = time.process_time()
    print(f"200 graphs of 500 rules on {len(X)} rows: {built - start:.2f} s")
    print(f"19,900 distances: {end - built:.3f} s; together {end - start:.2f} s")


if __name__ == "__main__":
    main()
