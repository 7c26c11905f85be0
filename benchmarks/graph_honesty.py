"""How often a link of pure noise is called significant at 5 %: it should be in 5 % of cases.

Labels are drawn independently of the features, so every link is noise. Three ways to test:

refitted    the tree is learned from every shuffling anew, as from the labels
other rows  the tree was learned from other rows than those it is tested on
same rows   the tree was learned from the rows that it is tested on, and held fixed: wrong
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.tree import DecisionTreeClassifier

from rulelens.errors import RulelensWarning
from rulelens.graph.inference import permutation_test
from rulelens.sources.extract import extract_rules


def learn(X, y):
    tree = DecisionTreeClassifier(max_depth=4, min_samples_leaf=5, random_state=0)
    return extract_rules(tree.fit(X, y), X)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--permutations", type=int, default=99)
    options = parser.parse_args()
    warnings.simplefilter("ignore", RulelensWarning)
    shares: dict[str, list[np.ndarray]] = {"refitted": [], "other rows": [], "same rows": []}
    found: dict[str, list[tuple[bool, bool]]] = {name: [] for name in shares}
    start = time.process_time()
    for seed in range(options.repetitions):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(rng.random((240, 4)), columns=list("abcd"))
        y = rng.integers(2, size=240)
        here, there = slice(0, 120), slice(120, 240)
        rules = learn(X[there], y[there])
        for name, source in (("refitted", learn), ("other rows", rules)):
            shares_of(name, source, X[here], y[here], seed, options, shares, found)
        shares_of("same rows", rules, X[there], y[there], seed, options, shares, found)
    print(f"{options.repetitions} repetitions, {time.process_time() - start:.0f} s")
    for name, values in shares.items():
        flat = np.concatenate(values)
        bh, largest = np.mean(found[name], axis=0)
        print(
            f"{name:10s}  significant at 5 %: {(flat <= 0.05).mean():.1%} of {len(flat)} links; "
            f"any link after Benjamini-Hochberg: {bh:.1%}, max: {largest:.1%} of repetitions"
        )


def shares_of(name, source, X, y, seed, options, shares, found) -> None:
    test = permutation_test(source, X, y, n_permutations=options.permutations, random_state=seed)
    p = test.p_values[np.triu_indices(4)]
    shares[name].append(p[~np.isnan(p)])
    found[name].append(
        tuple(bool(test.significant(0.05, correction=c).any()) for c in ("bh", "max"))
    )


if __name__ == "__main__":
    main()
