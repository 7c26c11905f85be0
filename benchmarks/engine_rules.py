"""P and q of a 100-tree forest: packed bits against a row-wise reference, in one run.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/engine_rules.py

Reads heloc.csv.gz from the folder in RULELENS_DATA. CPU seconds of
one thread. The reference asks every row about every condition, as the usual pandas
formulation does (``frame.query`` a rule, once more for each condition left out); it is
measured on a few rules and given per rule.
"""

import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

import rulelens as rl
from rulelens.core.rule import Rule
from rulelens.frames import read_labels, read_table
from rulelens.graph.relevance import relevances

if "RULELENS_DATA" not in os.environ:
    raise SystemExit("Set RULELENS_DATA to the folder with the data sets.")
DATA = Path(os.environ["RULELENS_DATA"])


def covered_rows(rule: Rule, frame: pd.DataFrame) -> np.ndarray:
    """Which rows a rule covers, one row after another."""
    rows = frame[list(rule.features)].to_dict("records")
    return np.array([rule.covers(row) for row in rows], dtype=bool)


def reference(rule: Rule, frame: pd.DataFrame, y: np.ndarray) -> tuple[dict[str, float], float]:
    """P and q of one rule, row by row."""
    mine = y == rule.outcome

    def figures(r: Rule) -> tuple[float, float]:
        inside = covered_rows(r, frame)
        return (inside & mine).sum() / mine.sum(), (inside & ~mine).sum() / (~mine).sum()

    recall, error = figures(rule)
    rise = {f: (figures(rule.without(f))[1] - error) * recall for f in rule.features}
    return rise, recall * (1 - error)


def main() -> None:
    frame = pd.read_csv(DATA / "heloc.csv.gz")
    y = frame.pop("RiskPerformance").to_numpy()
    forest = RandomForestClassifier(100, max_depth=6, random_state=0).fit(frame, y)
    start = time.process_time()
    rules = rl.extract_rules(forest, frame)
    print(f"extract   {len(rules)} rules of 100 trees: {time.process_time() - start:.3f} s CPU")
    table, labels = read_table(frame), read_labels(y)
    spent = []
    for _ in range(5):
        start = time.process_time()
        P, q = relevances(rules, table, labels)
        spent.append(time.process_time() - start)
    ours = min(spent)
    print(f"P and q   {len(rules)} rules x {len(frame)} rows: {ours:.3f} s CPU (limit 0.15)")
    sample = np.random.default_rng(0).choice(len(rules), 4, replace=False)
    start = time.process_time()
    for k in sample.tolist():
        rise, relevance = reference(rules[k], frame, y)
        expected = [rise.get(name, 0.0) for name in rules.schema.names]
        np.testing.assert_allclose(P[k], expected, atol=1e-12)
        np.testing.assert_allclose(q[k], relevance, atol=1e-12)
    theirs = (time.process_time() - start) / len(sample)
    print(f"row-wise  {theirs:.3f} s CPU a rule, measured on {len(sample)} rules, same P and q")
    print(f"ratio     {theirs / (ours / len(rules)):,.0f} x a rule (goal 10,000 x)")


if __name__ == "__main__":
    main()
