"""Why not the other class: the best rule against, and the smallest change that flips a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, product
from math import comb, prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rulelens.core.conditions import Condition
from rulelens.core.rule import Rule
from rulelens.core.schema import Level, level_key
from rulelens.errors import OptionError, TableError
from rulelens.frames import encode_row, one_row
from rulelens.personal.accuracy import Choice
from rulelens.personal.base import PersonalClassifier, is_whole
from rulelens.personal.records import PersonalRules

if TYPE_CHECKING:
    import pandas as pd


def contrast(classifier: PersonalClassifier, X: object) -> PersonalRules:
    """For each row its own rule (rank 0) and the best rule of another class (rank 1).

    Parameters
    ----------
    classifier : PIC or FastPIC
        Fitted.
    X : table, shape (n_rows, n_features)

    Returns
    -------
    PersonalRules
        A row has no entry of rank 1 where none of its items occurs with another class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulelens.personal.fast_pic import FastPIC
    >>> iris = load_iris(as_frame=True)
    >>> clf = FastPIC(max_length=2).fit(iris.data, iris.target)
    >>> print(contrast(clf, iris.data.iloc[[120]]).rules)
    0: IF petal length (cm) >= 4.93 AND petal width (cm) >= 1.7 THEN 2
    1: IF 2.81 <= sepal width (cm) < 3.61 THEN 0
    """
    codes = classifier._codes(X)
    own = classifier._choose(codes)
    best: Choice | None = None
    for c in range(len(classifier.classes_)):
        only = np.arange(len(classifier.classes_)) == c
        rival = classifier._choose(codes, among=only)
        # A row that has class c, or no rule for it, has no rival here.
        score = np.where((own.outcome == c) | np.isnan(rival.accuracy), -1.0, rival.accuracy)
        rival = Choice(
            rival.row, rival.rank + 1, rival.features, rival.outcome, score, rival.counts
        )
        if best is None:
            best = rival
            continue
        stronger = _is_better(rival, best)
        rows = np.arange(len(codes))
        both = Choice.stack([best, rival])
        best = both.take(rows + len(codes) * stronger)
    if best is None:
        return classifier._records(own, codes)
    best = best.take(np.flatnonzero(best.accuracy >= 0))
    return classifier._records(Choice.join([own, best]), codes)


def _is_better(a: Choice, b: Choice) -> NDArray[np.bool_]:
    """Where the rules of `a` go before those of `b`: accuracy, then fewer items, then rows."""
    rows = np.arange(len(a.row))
    tp_a, tp_b = a.counts[rows, a.outcome], b.counts[rows, b.outcome]
    same = a.accuracy == b.accuracy
    shorter, longer = a.lengths < b.lengths, a.lengths > b.lengths
    out: NDArray[np.bool_] = (a.accuracy > b.accuracy) | (
        same & (shorter | (~longer & (tp_a > tp_b)))
    )
    return out


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """The smallest changes of a row's items after which it has another class.

    Parameters
    ----------
    before : label
        Class of the row as it is.
    changes : tuple of mappings, best first
        Each maps a feature's name to the condition that its new value must meet.
    after : tuple of labels
        Class after each change.
    rules : tuple of Rule
        The personal rule after each change.
    score, precision : tuples of float
        Of these rules.
    searched : int
        Every combination of up to this many changed features was tried.
    """

    before: Level
    changes: tuple[dict[str, Condition], ...]
    after: tuple[Level, ...]
    rules: tuple[Rule, ...]
    score: tuple[float, ...]
    precision: tuple[float, ...]
    searched: int

    def __len__(self) -> int:
        return len(self.changes)

    def to_frame(self) -> pd.DataFrame:
        """One line a change."""
        import pandas as pd

        text = [" AND ".join(c.describe(n) for n, c in ch.items()) for ch in self.changes]
        return pd.DataFrame(
            {
                "change": text,
                "n_changes": [len(ch) for ch in self.changes],
                "before": [self.before] * len(self),
                "after": list(self.after),
                "rule": [r.antecedent() for r in self.rules],
                "score": list(self.score),
                "precision": list(self.precision),
            }
        )

    def to_dict(self) -> dict[str, object]:
        """The same as plain values, with a format version."""
        return {
            "format": "rulelens.counterfactual",
            "version": 1,
            "searched": self.searched,
            "entries": self.to_frame().to_dict("records"),
        }


def counterfactual(
    classifier: PersonalClassifier,
    row: object,
    *,
    target: Level | None = None,
    actionable: str | Iterable[str] | None = None,
    max_changes: int = 3,
    top: int = 5,
    max_rows: int = 200_000,
) -> Counterfactual:
    """The fewest items of a row whose change gives it another class.

    All combinations of one changed item are tried, then of two, and so on; the work ends with
    the first number that succeeds. This speaks of the classifier, not of the world: a change
    that flips the prediction need not have the effect in life.

    Parameters
    ----------
    classifier : PIC or FastPIC
        Fitted.
    row : one row: mapping, Series, table of one row or sequence
    target : label, optional
        The class wanted; by default any other than the row's own.
    actionable : str or iterable of str, optional
        Features that may change; by default all. A missing value may be given one.
    max_changes : int
        Most features changed together.
    top : int
        How many changes to return: by the score of the rule that then decides.
    max_rows : int
        A number of changes with more combinations than this is not tried; `searched` says so.

    Returns
    -------
    Counterfactual
        Empty where nothing up to `searched` changes flips the class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from rulelens.personal.fast_pic import FastPIC
    >>> iris = load_iris(as_frame=True)
    >>> clf = FastPIC(max_length=2).fit(iris.data, iris.target)
    >>> found = counterfactual(clf, iris.data.iloc[120], top=1)
    >>> found.before, found.after[0], found.to_frame().loc[0, "change"]
    (2, 0, 'petal length (cm) < 2.9')
    """
    check_is_fitted(classifier, "binning_")
    limits = (("max_changes", max_changes, 1), ("top", top, 1), ("max_rows", max_rows, 0))
    for name, value, least in limits:
        if not is_whole(value) or value < least:
            raise OptionError(f"{name} must be a whole number of at least {least}, not {value!r}.")
    binning, schema = classifier.binning_, classifier.schema_
    wanted = _class_code(classifier, target)
    if isinstance(actionable, str):
        actionable = [actionable]
    free = [schema.index(n) for n in (schema.names if actionable is None else actionable)]
    free = sorted({j for j in free if binning.sizes[j]})
    codes = binning.codes(encode_row(one_row(row, schema), schema))
    own = classifier._choose(codes)
    before = int(own.outcome[0])
    classes: list[Level] = classifier.classes_.tolist()
    if before == wanted:
        raise OptionError(
            f"The row has the class {classes[before]!r} already. Choose another target."
        )
    searched = 0
    for n in range(1, min(max_changes, len(free)) + 1):
        if _how_many(binning.sizes, free, n) > max_rows:
            break
        changed = np.array(list(_changes(codes[0], binning.sizes, free, n)), dtype=codes.dtype)
        searched = n
        if not len(changed):
            continue
        choice = classifier._choose(changed)
        flips = choice.outcome == wanted if wanted is not None else choice.outcome != before
        # The most frequent class for want of a rule is no reason to change anything.
        hits = np.flatnonzero(flips & ~np.isnan(choice.accuracy))
        if not len(hits):
            continue
        order = hits[np.argsort(-choice.accuracy[hits], kind="stable")][:top]
        kept = choice.take(order)
        kept = Choice(
            np.arange(len(order)),
            kept.rank,
            kept.features,
            kept.outcome,
            kept.accuracy,
            kept.counts,
        )
        records = classifier._records(kept, changed[order])
        return Counterfactual(
            classes[before],
            tuple(
                {
                    schema[int(j)].name: binning.condition(int(j), int(new[j]))
                    for j in np.flatnonzero(new != codes[0])
                }
                for new in changed[order]
            ),
            tuple(classes[c] for c in kept.outcome.tolist()),
            tuple(records.rules[int(i)] for i in records.index),
            tuple(records.score.tolist()),
            tuple(records.precision.tolist()),
            n,
        )
    return Counterfactual(classes[before], (), (), (), (), (), searched)


def _class_code(classifier: PersonalClassifier, target: Level | None) -> int | None:
    if target is None:
        return None
    known = classifier.classes_.tolist()
    plain = target.item() if isinstance(target, np.generic) else target
    keys = [level_key(c) for c in known]
    if not isinstance(plain, str | bool | int | float) or level_key(plain) not in keys:
        raise TableError(f"Unknown target {plain!r}. The classes are {known!r}.")
    return keys.index(level_key(plain))


def _how_many(sizes: list[int], free: list[int], n: int) -> int:
    """At most how many rows differ from a row in n of the free features."""
    largest = sorted((sizes[j] for j in free), reverse=True)
    return comb(len(free), n) * prod(largest[:n])


def _changes(
    row: NDArray[np.integer], sizes: list[int], free: list[int], n: int
) -> Iterator[NDArray[np.integer]]:
    """All rows that differ from a row in exactly n of the free features."""
    for features in combinations(free, n):
        others = [[c for c in range(sizes[j]) if c != row[j]] for j in features]
        for items in product(*others):
            new = row.copy()
            new[list(features)] = items
            yield new
