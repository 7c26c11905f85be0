"""The tables of the comparison, as frames of features and text labels."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

TARGETS = {
    "mushroom": "class",
    "car_evaluation": "class",
    "nursery": "class",
    "tic_tac_toe": "class",
    "house_votes_84": "party",
    "kr_vs_kp": "class",
    "heart_statlog": "class",
    "pima": "Outcome",
    "adult": "income",
    "bank_marketing": "y",
}
CATEGORICAL = {"mushroom", "car_evaluation", "nursery", "tic_tac_toe", "house_votes_84", "kr_vs_kp"}


def load(folder: Path, name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Features and labels of a table; "?" is a missing value."""
    path = folder / "rulex" / "PIMA.csv.gz" if name == "pima" else folder / f"{name}.csv.gz"
    dtype = str if name in CATEGORICAL else None
    frame = pd.read_csv(
        path, dtype=dtype, na_values="?", keep_default_na=False, encoding="utf-8-sig"
    )
    y = frame.pop(TARGETS[name]).astype(str)
    if name == "pima":
        # Another program's split and answers stand beside the eight features.
        frame = frame.iloc[:, :8]
    return frame, y
