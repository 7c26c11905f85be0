"""Shared fixtures: where the real data sets are."""

import os
from pathlib import Path

import matplotlib
import pytest

matplotlib.use("Agg")

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
