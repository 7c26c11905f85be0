"""FastPIC against a plain dictionary, and at a million rows.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/personal_fast_pic.py

Part 1 reads heloc.csv.gz from the folder in RULELENS_DATA: five
equal-width bins, rules of at most three conditions, fitted on 80 % of the rows; the dictionary
follows the paper's algorithm 3. Part 2 makes 1,000,000 rows of 20 features with five levels.
CPU seconds; both sides of a ratio are measured in this run.
"""

import itertools
import os
import resource
import time
from pathlib import Path

import numpy as np
import pandas as pd

from rulelens.personal.fast_pic import FastPIC

if "RULELENS_DATA" not in os.environ:
    raise SystemExit("Set RULELENS_DATA to the folder with the data sets.")
DATA = Path(os.environ["RULELENS_DATA"])
LENGTH, ALPHA = 3, 0.9


def dictionary_fit(codes: np.ndarray, y: np.ndarray, k: int) -> dict[tuple, list[int]]:
    """Counts of all itemsets by class, one row after another."""
    table: dict[tuple, list[int]] = {}
    for row, c in zip(codes.tolist(), y.tolist(), strict=True):
        items = list(enumerate(row))
        for size in range(1, LENGTH + 1):
            for s in itertools.combinations(items, size):
                table.setdefault(s, [0] * k)[c] += 1
    return table


def dictionary_predict(
    table: dict[tuple, list[int]], totals: list[int], codes: np.ndarray
) -> tuple[list[int], list[float]]:
    """Class and accuracy of the best rule of each row."""
    outcomes, scores = [], []
    for row in codes.tolist():
        best = (-1.0, 0, 0)
        items = list(enumerate(row))
        for size in range(1, LENGTH + 1):
            for s in itertools.combinations(items, size):
                counts = table.get(s)
                if counts is None:
                    continue
                covered = sum(counts)
                for c, tp in enumerate(counts):
                    if not tp:
                        continue
                    accuracy = ALPHA * (tp / covered) + (1 - ALPHA) * (tp / totals[c])
                    if (accuracy, -size, tp) > best:
                        best, outcome = (accuracy, -size, tp), c
        outcomes.append(outcome)
        scores.append(best[0])
    return outcomes, scores


def timed(f):
    start = time.process_time()
    out = f()
    return out, time.process_time() - start


def against_a_dictionary() -> None:
    frame = pd.read_csv(DATA / "heloc.csv.gz")
    y = frame.pop("RiskPerformance").to_numpy()
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[: int(0.8 * len(y))], order[int(0.8 * len(y)) :]
    model = FastPIC(LENGTH, ALPHA, n_bins=5)
    # A tenth of a second is soon doubled by a first call's warming up: the median of seven.
    rows, labels = frame.iloc[train], y[train]
    fit = float(np.median([timed(lambda: model.fit(rows, labels))[1] for _ in range(7)]))
    codes = model.binning_.codes(model._read(frame, reset=False))
    labels = (y == model.classes_[1]).astype(int)
    table, their_fit = timed(lambda: dictionary_fit(codes[train], labels[train], 2))
    result, predict = timed(lambda: model.explain(frame.iloc[test]))
    some = codes[test[:300]]
    (outcomes, scores), their_predict = timed(
        lambda: dictionary_predict(table, model.class_counts_.tolist(), some)
    )
    np.testing.assert_allclose(result.score[:300], scores, rtol=1e-12)
    assert result.rules.outcome[result.index[:300]].tolist() == outcomes
    ours, theirs = predict / len(test), their_predict / 300
    print(f"HELOC, {len(train)} rows x {frame.shape[1]} features, 5 bins, <= {LENGTH} conditions")
    print(
        f"fit      {fit:.3f} s, dictionary {their_fit:.1f} s: {their_fit / fit:,.0f} x (goal 50 x)"
    )
    print(
        f"predict  {ours * 1e6:.1f} us a row, dictionary {theirs * 1e6:.0f} us: "
        f"{theirs / ours:,.0f} x (goal 50 x), same rules"
    )


def at_scale() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 5, (1_000_000, 20), dtype=np.int8)
    y = (codes[:, 0] > 2) ^ (codes[:, 1] > 3) ^ (rng.random(len(codes)) < 0.1)
    columns = {f"f{j}": pd.Categorical.from_codes(codes[:, j], list("abcde")) for j in range(20)}
    frame = pd.DataFrame(columns)
    model = FastPIC(LENGTH, ALPHA)
    _, fit = timed(lambda: model.fit(frame, y))
    answer, predict = timed(lambda: model.predict(frame.iloc[:100_000]))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print("1,000,000 rows x 20 features, 5 levels, <= 3 conditions")
    print(f"fit      {fit:.1f} s (limit 20), peak memory {peak:.2f} GiB (limit 2)")
    right = (answer == y[:100_000]).mean()
    print(f"predict  100,000 rows in {predict:.2f} s (limit 5), {right:.3f} right of .900")


if __name__ == "__main__":
    against_a_dictionary()
    at_scale()
