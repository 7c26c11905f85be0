"""How often bootstrap intervals hold the truth: it should be in 95 % of cases.

The truth is the graph of the same rules on 400,000 rows; each repetition sees 400 of them. The
rules were learned from other rows and are held fixed.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from rulelens.errors import RulelensWarning
from rulelens.graph.feature_graph import FeatureGraph
from rulelens.graph.inference import bootstrap
from rulelens.sources.extract import extract_rules


def rows(n: int, rng: np.random.Generator) -> tuple[pd.DataFrame, np.ndarray]:
    X = pd.DataFrame(rng.random((n, 5)), columns=list("abcde"))
    y = ((X["a"] > 0.5) ^ (X["b"] > 0.4) | (X["c"] > 0.8)).to_numpy() ^ (rng.random(n) < 0.15)
    return X, y.astype(int)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=300)
    parser.add_argument("--resamples", type=int, default=300)
    options = parser.parse_args()
    warnings.simplefilter("ignore", RulelensWarning)
    rng = np.random.default_rng(0)
    X, y = rows(1000, rng)
    rules = extract_rules(DecisionTreeClassifier(max_depth=5, random_state=0).fit(X, y), X)
    truth = FeatureGraph.from_rules(rules, *rows(400_000, rng))
    A, importance = truth.adjacency, truth.importance().to_numpy()
    large = np.triu(A > 0.5)
    links, sums = [], []
    start = time.process_time()
    for seed in range(options.repetitions):
        X, y = rows(400, rng)
        b = bootstrap(rules, X, y, n_resamples=options.resamples, random_state=seed)
        links.append(((b.low <= A) & (b.high >= A))[large])
        sums.append((b.importance_low <= importance) & (importance <= b.importance_high))
    print(
        f"{len(rules)} rules, {options.repetitions} repetitions, "
        f"{time.process_time() - start:.0f} s"
    )
    names = np.array(truth.features)
    for (i, j), share in zip(np.argwhere(large), np.mean(links, axis=0), strict=True):
        print(f"link {names[i]}-{names[j]} of weight {A[i, j]:5.2f}: {share:.1%}")
    for name, value, share in zip(names, importance, np.mean(sums, axis=0), strict=True):
        print(f"importance of {name}, {value:5.2f}: {share:.1%}")
    big = np.array(sums)[:, importance > 0.5]
    print(f"above 0.5: all links {np.mean(links):.1%}, all importances {big.mean():.1%}")


if __name__ == "__main__":
    main()
