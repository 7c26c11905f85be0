"""Time and memory to extract the rules of a large forest: adult, 100 trees of any depth.

Run: ``python benchmarks/sources_forest.py [FOLDER]``; FOLDER has ``adult.csv.gz``. The peer
walks every path in Python, as rule extractors commonly do, on the first trees only; both are
measured in one run, CPU time, one thread.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

from rulelens.sources.extract import extract_rules


def walk(tree: Any, node: int = 0, path: tuple[tuple[int, bool, float], ...] = ()) -> list[object]:
    """Each leaf's bounds, one dictionary a leaf."""
    left, right = tree.children_left[node], tree.children_right[node]
    if left < 0:
        bounds: dict[int, list[float]] = {}
        for f, below, t in path:
            b = bounds.setdefault(f, [-np.inf, np.inf])
            b[below] = min(b[1], t) if below else max(b[0], t)
        return [(bounds, tree.value[node, 0].argmax())]
    f, t = tree.feature[node], tree.threshold[node]
    return walk(tree, left, (*path, (f, True, t))) + walk(tree, right, (*path, (f, False, t)))


def main() -> None:
    folder = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("RULELENS_DATA")
    if folder is None:
        raise SystemExit("Set RULELENS_DATA to the folder with the data sets.")
    frame = pd.read_csv(f"{folder}/adult.csv.gz")
    X, y = frame.iloc[:, :-1], frame.iloc[:, -1]
    X = X.apply(lambda c: c if c.dtype.kind in "if" else c.astype("category").cat.codes)
    forest = RandomForestClassifier(100, random_state=0).fit(X, y)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    rules = extract_rules(forest)
    ours = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    walked = sum(len(walk(t.tree_)) for t in forest.estimators_[:5])
    peer = (time.process_time() - start) / walked * len(rules)
    print(f"{len(rules)} rules, {len(rules.indices)} conditions, {len(rules.conditions)} distinct")
    print(f"rulelens {ours:.2f} s; peak memory {before / 1024:.0f} -> {peak / 1024:.0f} MiB")
    print(f"walking in Python {peer:.1f} s (from 5 trees): {peer / ours:.1f} x")


if __name__ == "__main__":
    main()
