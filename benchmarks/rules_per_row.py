"""How many rules cover a row, at what length and in what time, on real data with an MLP.

For 200 random rows of each set: how many get at least 5, at least 1 and no rule, the length
reached and the seconds a row. Run with one thread: ``OMP_NUM_THREADS=1 python
benchmarks/rules_per_row.py [folder of data sets]``.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from rulelens.cli import training
from rulelens.explain.explainer import RuleExplainer

# name, target, columns that identify a person, bins and least support of the paper's Table 3
SETS = [
    ("heloc", "RiskPerformance", [], 3, 3),
    ("churn_banking", "Exited", ["RowNumber", "CustomerId", "Surname"], 4, 1),
    ("churn_telecom_3333", "Churn", [], 3, 4),
    ("churn_telecom_5000", "Churn", ["Phone"], 3, 4),
]
N_ROWS = 200


def measure(folder: Path) -> pd.DataFrame:
    """One row a data set and setting."""
    records = []
    for name, target, drop, bins, support in SETS:
        frame = pd.read_csv(folder / f"{name}.csv.gz").drop(columns=drop)
        X, y = frame.drop(columns=target), frame[target]
        model, _ = training.train("mlp", X, y, 0)
        rows = np.random.default_rng(0).choice(len(X), N_ROWS, replace=False)
        for n_bins, min_support in {(bins, support), (4, 1)}:
            start = time.process_time()
            explainer = RuleExplainer(model, n_bins=n_bins, min_support=min_support).fit(X)
            fit = time.process_time() - start
            counts, lengths, seconds, stops = [], [], [], []
            for i in rows:
                start = time.perf_counter()
                e = explainer.explain(X.iloc[i])
                seconds.append(time.perf_counter() - start)
                counts.append(len(e))
                lengths.append(e.length)
                stops.append(e.stop)
            n, t = np.array(counts), np.array(seconds)
            records.append(
                {
                    "data": name,
                    "bins": n_bins,
                    "min_support": min_support,
                    ">=5 rules": f"{(n >= 5).mean():.1%}",
                    ">=1 rule": f"{(n >= 1).mean():.1%}",
                    "none": f"{(n == 0).mean():.1%}",
                    "median rules": int(np.median(n)),
                    "median length": int(np.median(lengths)),
                    "max length": max(lengths),
                    "median ms": round(1000 * float(np.median(t)), 1),
                    "max ms": round(1000 * float(t.max()), 1),
                    "time ended": stops.count("time"),
                    "fit s": round(fit, 2),
                }
            )
    return pd.DataFrame(records)


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("RULELENS_DATA")
    if folder is None:
        raise SystemExit("Set RULELENS_DATA to the folder with the data sets.")
    with pd.option_context("display.width", 250, "display.max_columns", 30):
        print(measure(Path(folder)).to_string(index=False))
