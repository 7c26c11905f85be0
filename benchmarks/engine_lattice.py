"""All good rules for one row, from the lattice of its own items.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/engine_lattice.py

Reads heloc.csv.gz from the folder in RULELENS_DATA. Labels are a
small neural network's, three bins a feature, as in the paper on preference-learned
explanations. CPU milliseconds a row, mean over 200 rows, one thread; the reference counts
every set of items by comparing the training rows with boolean masks.
"""

import itertools
import os
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rulelens.bits.lattice import ItemTable, qualifying_itemsets
from rulelens.discretize.cuts import Binning
from rulelens.frames import read_labels, read_table

if "RULELENS_DATA" not in os.environ:
    raise SystemExit("Set RULELENS_DATA to the folder with the data sets.")
DATA = Path(os.environ["RULELENS_DATA"])
LIMITS = {3: 1.5, 5: 30.0}


def reference(
    codes: np.ndarray, y: np.ndarray, row: np.ndarray, outcome: int, length: int
) -> set[tuple[int, ...]]:
    """Every set of the row's items that covers its class only, by boolean masks."""
    equal = codes == row
    found = set()
    for size in range(1, length + 1):
        for combo in itertools.combinations(range(codes.shape[1]), size):
            inside = equal[:, combo].all(axis=1)
            if (y[inside] == outcome).all() and inside.any():
                found.add(combo)
    return found


def main() -> None:
    frame = pd.read_csv(DATA / "heloc.csv.gz")
    y = frame.pop("RiskPerformance").to_numpy()
    model = make_pipeline(StandardScaler(), MLPClassifier((20,), max_iter=60, random_state=0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(frame, y)
    labels = read_labels(model.predict(frame))
    table = read_table(frame)
    binning = Binning.quantiles(table, 3)
    codes = binning.codes(table)
    items = ItemTable.from_codes(codes, binning.sizes, labels.codes, 2)
    rows = np.random.default_rng(0).choice(len(codes), 200, replace=False)
    for length in (3, 4, 5):
        for minimal in (True, False):
            found = []
            start = time.process_time()
            for i in rows:
                result = qualifying_itemsets(
                    items, codes[i], int(labels.codes[i]), max_length=length, minimal=minimal
                )
                found.append(len(result))
            spent = (time.process_time() - start) / len(rows) * 1e3
            limit = f" (limit {LIMITS[length]})" if length in LIMITS else ""
            kind = "minimal" if minimal else "all    "
            print(
                f"<= {length} conditions, {kind}: {spent:6.2f} ms CPU a row{limit}, "
                f"median {np.median(found):.0f} rules"
            )
    i = int(rows[0])
    outcome = int(labels.codes[i])
    ours = qualifying_itemsets(items, codes[i], outcome, max_length=3, minimal=False)
    start = time.process_time()
    expected = reference(codes, labels.codes, codes[i], outcome, 3)
    theirs = time.process_time() - start
    assert {tuple(np.flatnonzero(m).tolist()) for m in ours.members} == expected
    start = time.process_time()
    for _ in range(20):
        qualifying_itemsets(items, codes[i], outcome, max_length=3, minimal=False)
    mine = (time.process_time() - start) / 20
    print(f"boolean masks, <= 3 conditions, all: {theirs * 1e3:.0f} ms, {theirs / mine:,.0f} x")


if __name__ == "__main__":
    main()
