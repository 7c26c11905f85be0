"""The experiments on preference-learned explanations, one command:

    RULELENS_DATA=<folder> python experiments/pref_xai/run.py [PART ...] [--users 100] [--quick]

Set OMP_NUM_THREADS=1: the arrays are small, and threads only get in each other's way.
Parts: black_box, agreement, calibration, noise, asking, asking_noise, profiles, figures (all by
default).
Every person's rows are appended to raw/<part>.csv as soon as they are known, so that a run that
was stopped goes on where it was. Small tables and figures go to results/.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from agreement import one_noisy_person, one_person, promises
from asking import asked_person, noisy_asked_person, profile_person
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from sklearn.metrics import accuracy_score, balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from summary import figures, summarize
from tables import RECIPES, Case, Cases, ThresholdMLP, load

HERE = Path(__file__).parent
RAW, RESULTS = HERE / "raw", HERE / "results"
PAPER_SETS = ("banking", "telecom", "telecom5000", "heloc", "wisconsin")
SMALL_SETS = ("wine", "wdbc")
AT_MOST = 600
SEED = 20_604


class Raw:
    """Rows of one part, in a file that grows by whole units and is never rewritten."""

    def __init__(self, part: str) -> None:
        RAW.mkdir(exist_ok=True)
        self.path = RAW / f"{part}.csv"
        self.done: set[str] = set()
        if self.path.exists():
            known = pd.read_csv(self.path, usecols=["unit"])
            self.done = set(known["unit"].astype(str))

    def add(self, unit: str, rows: list[dict[str, Any]]) -> None:
        """Append a unit's rows as (unit, row, key, value), whatever keys they have."""
        new = not self.path.exists()
        with self.path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            if new:
                writer.writerow(["unit", "row", "key", "value"])
            for number, row in enumerate(rows or [{"empty": 1}]):
                writer.writerows([unit, number, key, value] for key, value in row.items())
        self.done.add(unit)


def units(
    part: str,
    names: list[str],
    n: int,
    work: Callable[[Cases, Case, int], list[dict[str, Any]]],
    *,
    seed: int,
    length: Callable[[str], int | str] = lambda name: 3 if name in SMALL_SETS else "auto",
) -> None:
    """Do `work` for `n` persons, each with a random row, on each data set; skip what is done."""
    raw = Raw(part)
    with progress() as bar:
        task = bar.add_task(part, total=len(names) * n)
        for name in names:
            todo = [u for u in range(n) if f"{name}/{u}" not in raw.done]
            bar.update(task, description=f"{part} {name}", advance=n - len(todo))
            if not todo:
                continue
            cases = Cases(name, length(name))
            for user in todo:
                case = next(cases.draw(1, seed + user, at_most=AT_MOST))
                raw.add(f"{name}/{user}", [{"data": name, **r} for r in work(cases, case, user)])
                bar.advance(task)


def progress() -> Progress:
    """Progress bar with what is left."""
    from rich.console import Console

    return Progress(
        TextColumn("{task.description:28s}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
    )


def black_box(n: int) -> None:
    """Tables 1-3 and figure 1: accuracy in 10 folds, and the number of rules per class."""
    raw = Raw("black_box")
    for name in PAPER_SETS:
        X, y = load(name)
        for fold, (train, test) in enumerate(
            StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)
        ):
            if f"{name}/{fold}" in raw.done:
                continue
            told = ThresholdMLP(RECIPES[name]).fit(X.iloc[train], y[train]).predict(X.iloc[test])
            found = {
                "data": name,
                "accuracy": accuracy_score(y[test], told),
                "balanced": balanced_accuracy_score(y[test], told),
            }
            raw.add(f"{name}/{fold}", [found])
        if f"{name}/rules" in raw.done:
            continue
        cases = Cases(name)
        rng = np.random.default_rng(SEED)
        rows = []
        for row in rng.choice(len(cases.X), min(2 * n, len(cases.X)), replace=False).tolist():
            explanation = cases.explainer.explain(cases.X.iloc[row])
            rows.append(
                {
                    "data": name,
                    "outcome": explanation.prediction,
                    "rules": len(explanation),
                    "length": explanation.length,
                }
            )
        raw.add(f"{name}/rules", rows)


def agreement(n: int) -> None:
    """Reference rankings of 3 to 30 rules, both kinds of person, all methods."""
    names = [*PAPER_SETS, *SMALL_SETS]
    for prior in ("uniform", "simplex"):

        def work(_: Cases, case: Case, user: int, prior: str = prior) -> list[dict[str, Any]]:
            return [{"prior": prior, **r} for r in one_person(case, user, prior)]

        units(f"agreement_{prior}", names, n, work, seed=SEED)


def calibration(n: int) -> None:
    """What is promised and what comes true, four times as many persons: differences are small."""
    for prior in ("uniform", "simplex"):

        def work(_: Cases, case: Case, user: int, prior: str = prior) -> list[dict[str, Any]]:
            return [{"prior": prior, **r} for r in promises(case, user, prior)]

        units(f"calibration_{prior}", [*PAPER_SETS, *SMALL_SETS], 4 * n, work, seed=SEED + 6_000)


def noise(n: int) -> None:
    """Rankings with errors."""
    units("noise", list(SMALL_SETS), n, lambda _, c, u: one_noisy_person(c, u), seed=SEED + 1_000)


def asking(n: int) -> None:
    """Chosen questions against random rankings, persons without errors."""
    units("asking", list(SMALL_SETS), n, lambda _, c, u: asked_person(c, u), seed=SEED + 2_000)


def asking_noise(n: int) -> None:
    """Chosen questions, persons with some (about one in seven), few and many wrong answers."""
    for noise in (0.25, 0.1, 0.5):

        def work(_: Cases, case: Case, user: int, noise: float = noise) -> list[dict[str, Any]]:
            return noisy_asked_person(case, user, noise)

        units(f"asking_noise_{noise}", list(SMALL_SETS), n, work, seed=SEED + 3_000)


def profiles(n: int) -> None:
    """Rows judged before, and the agreement on a row never seen."""

    def work(cases: Cases, case: Case, user: int) -> list[dict[str, Any]]:
        others: Iterator[Case] = cases.draw(10, SEED + 5_000 + user, at_most=AT_MOST)
        return profile_person([*others, case], user)

    units("profiles", ["wine", "wdbc", "heloc"], n, work, seed=SEED + 4_000)


PARTS: dict[str, Callable[[int], None]] = {
    "black_box": black_box,
    "agreement": agreement,
    "calibration": calibration,
    "noise": noise,
    "asking": asking,
    "asking_noise": asking_noise,
    "profiles": profiles,
}


def main() -> None:
    """Run what is asked for, then write the tables and figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, "figures", []], default=[])
    parser.add_argument("--users", type=int, default=100, help="persons a data set (default 100)")
    parser.add_argument("--quick", action="store_true", help="5 persons, to try it out")
    options = parser.parse_args()
    n = 5 if options.quick else options.users
    for part in options.parts or PARTS:
        if part in PARTS:
            PARTS[part](n)
    summarize(RAW, RESULTS)
    figures(RESULTS)


if __name__ == "__main__":
    main()
