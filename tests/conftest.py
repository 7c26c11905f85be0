"""Shared fixtures: where the real data sets are, and a reader of rules' texts."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, settings

matplotlib.use("Agg")

# A busy machine is slow; that is no fault of the code under test.
settings.register_profile("steady", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("steady")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder with the real data sets; tests that use it carry the marker `data`."""
    folder = Path(os.environ.get("RULELENS_DATA", ROOT / "../shared/data")).resolve()
    if not folder.is_dir():
        pytest.skip(f"No data sets at {folder}: set RULELENS_DATA to the folder that has them.")
    return folder


@pytest.fixture(scope="session")
def golden_dir() -> Path:
    """Folder with the papers' numbers."""
    return Path(__file__).resolve().parent / "golden"


@pytest.fixture(scope="session")
def covers_by_text() -> Callable[[str, pd.DataFrame], np.ndarray]:
    """Reads the printed text of a rule's conditions anew, and applies it to a table by pandas.

    Independent of the library: it shares no code with the engine or with the printer.
    """
    number = r"(-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)"

    def one(text: str, X: pd.DataFrame) -> np.ndarray:
        if m := re.fullmatch(rf"{number} (<=?) (.+) (<=?) {number}", text):
            column = X[m[3]].astype(float)
            low = column >= float(m[1]) if m[2] == "<=" else column > float(m[1])
            high = column <= float(m[5]) if m[4] == "<=" else column < float(m[5])
            return (low & high).to_numpy()
        if m := re.fullmatch(rf"(.+) (<=|>=|<|>) {number}", text):
            column, bound = X[m[1]].astype(float), float(m[3])
            answer = {
                "<=": column <= bound,
                ">=": column >= bound,
                "<": column < bound,
                ">": column > bound,
            }
            return answer[m[2]].to_numpy()
        if m := re.fullmatch(r"(.+) is missing", text):
            return X[m[1]].isna().to_numpy()
        if m := re.fullmatch(r"(.+) is known", text):
            return X[m[1]].notna().to_numpy()
        if m := re.fullmatch(r"(.+?) is (.+)", text):
            return (X[m[1]].notna() & (X[m[1]].astype(object).astype(str) == m[2])).to_numpy()
        raise AssertionError(f"The reader does not know the condition {text!r}.")

    def covers(text: str, X: pd.DataFrame) -> np.ndarray:
        return np.logical_and.reduce([one(part, X) for part in text.split(" AND ")])

    return covers
