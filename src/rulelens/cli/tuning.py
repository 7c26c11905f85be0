"""Options of PIC chosen by cross-validation, with the progress on stderr."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Set
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import click

from rulelens.cli.progress import say, step
from rulelens.errors import SizeError, TableError
from rulelens.views.numbers import count, share

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.personal.fast_pic import FastPIC

FOLDS = 5
TRIED: dict[str, tuple[Any, ...]] = {
    "max_length": (1, 2, 3),
    "alpha": (0.5, 0.8, 0.9, 0.95, 0.99),
    "n_bins": (3, 5),
    "discretizer": ("equal_width", "mdlp"),
    "min_count": (1, 5, 20),
    "class_weight": (None, "balanced"),
}
"""What is tried for each option that was not given."""
WITH_BINS = ("equal_width", "quantile")
"""The discretisers that take a number of bins."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """The chosen parameters, and the mean share of right rows in the folds."""

    params: dict[str, Any]
    share: float
    baseline_share: float
    combinations: int
    folds: int

    def to_dict(self) -> dict[str, Any]:
        """As fields of a JSON document."""
        return {
            "share": self.share,
            "baseline_share": self.baseline_share,
            "combinations": self.combinations,
            "folds": self.folds,
        }

    def typed(self) -> str:
        """The chosen parameters as options of the command line."""
        p = self.params
        words = [f"--pic-length {p['max_length']}", f"--alpha {p['alpha']}"]
        words.append(f"--pic-discretizer {p['discretizer']}")
        if p["discretizer"] in WITH_BINS:
            words.append(f"--pic-bins {p['n_bins']}")
        words.append(f"--min-count {p['min_count']}")
        words.append(f"--class-weight {p['class_weight'] or 'none'}")
        return " ".join(words)


class _ToldFolds:
    """Stratified folds that say on stderr which of them has begun."""

    def __init__(self, seed: int) -> None:
        from sklearn.model_selection import StratifiedKFold

        self._folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)

    def get_n_splits(self, *_: Any) -> int:
        return FOLDS

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Any, Any]]:
        with warnings.catch_warnings():
            # A class with fewer rows than folds is missing from some of them: no fault here.
            warnings.filterwarnings("ignore", "The least populated class")
            rows = list(self._folds.split(X, y, groups))
        for k, fold in enumerate(rows, start=1):
            click.echo(f"{k}/{FOLDS} ", err=True, nl=False)
            yield fold


def tune(
    X: pd.DataFrame, y: pd.Series[Any], params: dict[str, Any], *, fixed: Set[str], seed: int
) -> tuple[FastPIC, Tuning]:
    """The best combination of options for these rows, fitted on all of them.

    Parameters
    ----------
    X, y : DataFrame, Series
        The rows to learn from. No other row has a part in the choice.
    params : dict
        A value of each option of `FastPIC` that the command line has.
    fixed : set of str
        Those of `params` that stay as they are.
    seed : int
        Of the folds.

    Raises
    ------
    TableError
        No class has a row for each fold.
    SizeError
        Not even the shortest rules can be counted in memory.
    """
    from rulelens.personal.tuning import PICSearch

    frequent = int(y.value_counts().max())
    if frequent < FOLDS:
        raise TableError(
            f"--tune needs a class with at least {FOLDS} rows to learn from; the most frequent one "
            f"has {frequent}. Leave out --tune, or give more rows."
        )
    tried = {name: (params[name],) if name in fixed else TRIED[name] for name in TRIED}
    if "n_bins" in fixed and "discretizer" not in fixed:
        tried["discretizer"] = ("equal_width",)  # the others would not use the given number
    while True:
        search = PICSearch(
            tried["max_length"],
            tried["alpha"],
            n_bins=tried["n_bins"],
            discretizers=tried["discretizer"],
            min_counts=tried["min_count"],
            class_weights=tried["class_weight"],
            cv=_ToldFolds(seed),
        )
        cuts = sum(len(tried["n_bins"]) if d in WITH_BINS else 1 for d in tried["discretizer"])
        ways = cuts * prod(len(v) for n, v in tried.items() if n not in ("n_bins", "discretizer"))
        try:
            with step(
                f"Trying {count(ways, 'combination')} of options in {FOLDS} folds of "
                f"{count(len(X), 'row')}"
            ):
                search.fit(X, y)
        except SizeError as e:
            reason = str(e).partition(" Use ")[0]  # the rest is advice in the library's words
            if len(tried["max_length"]) == 1:
                raise SizeError(
                    f"{reason} --tune needs that table: give a smaller --pic-length, --drop "
                    "columns with many values, or leave out --tune."
                ) from e
            tried["max_length"] = tried["max_length"][:-1]
            most = count(tried["max_length"][-1], "condition")
            say(f"{reason} Going on with rules of at most {most}.")
            continue
        break
    tuning = Tuning(dict(search.best_params_), search.best_score_, frequent / len(y), ways, FOLDS)
    say(
        f"Chosen: {tuning.typed()} (right in {share(tuning.share)} in the folds, where always the "
        f"most frequent class is right in {share(tuning.baseline_share)}; as the best of "
        f"{ways:,}, a little too high for new rows)."
    )
    return search.best_estimator_, tuning
