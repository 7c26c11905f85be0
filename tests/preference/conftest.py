"""The paper's worked example (arXiv 2604.19684, section 3.4), as printed and as recovered."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rulelens.preference.criteria import Criteria
from rulelens.preference.session import PreferenceSession

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture(scope="session")
def paper() -> dict[str, Any]:
    return json.loads((GOLDEN / "prefxai_example.json").read_text(encoding="utf-8"))


def exact_rows(paper: dict[str, Any]) -> dict[str, list[Fraction]]:
    """Each rule's criteria as fractions, from the recovered counts."""
    features = paper["criteria_order"][:9]
    n_rows = paper["recovered"]["N_total"]
    n_class = paper["recovered"]["n_predicted_class"]
    rows = {}
    for rule in paper["rules"]:
        count = paper["recovered"]["rule_counts"][rule["rule"]]
        rows[rule["rule"]] = [
            *(Fraction(int(f in rule["features"])) for f in features),
            Fraction(count, n_rows),
            Fraction(count, n_class),
            -Fraction(rule["n_conditions"], 9),
        ]
    return rows


@pytest.fixture(scope="session")
def rows(paper: dict[str, Any]) -> dict[str, list[Fraction]]:
    return exact_rows(paper)


@pytest.fixture(scope="session")
def example(paper: dict[str, Any], rows: dict[str, list[Fraction]]) -> Criteria:
    values = np.array([[float(v) for v in row] for row in rows.values()])
    return Criteria(tuple(rows), tuple(paper["criteria_order"]), values)


@pytest.fixture(scope="session")
def printed() -> Criteria:
    """The table as the paper prints it, three decimals."""
    with (GOLDEN / "prefxai_table5.csv").open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    features = list(table[0])[2:11]
    values = [
        [float(r[f]) for f in features]
        + [float(r["support"]), float(r["confirmation"]), -float(r["complexity"])]
        for r in table
    ]
    names = (*features, "supp", "conf", "comp")
    return Criteria(tuple(r["rule"] for r in table), names, np.array(values))


@pytest.fixture
def session(example: Criteria, paper: dict[str, Any]) -> PreferenceSession:
    return PreferenceSession(example).rank(paper["reference_ranking_eq10"])
