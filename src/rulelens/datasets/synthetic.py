"""The feature-graph paper's synthetic tables: features that decide alone, or only together.

Features are uniform on [0, 1] and called ``X1``, ``X2``, …; the relevant ones come first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rulelens.errors import OptionError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

Truth = tuple["pd.DataFrame", NDArray[np.int64]]

_WIDTH = {2: 0.2, 3: 0.2, 4: 0.15, 5: 0.1, 6: 0.05}
_STARTS = {
    2: ((0.2, 0.7), (0.3, 0.8)),
    3: ((0.2, 0.7), (0.1, 0.6), (0.3, 0.8)),
    4: ((0.2, 0.7), (0.1, 0.6), (0.3, 0.8), (0.0, 0.5)),
    5: ((0.2, 0.7), (0.1, 0.6), (0.3, 0.8), (0.0, 0.5), (0.4, 0.9)),
    6: ((0.2, 0.75), (0.1, 0.65), (0.3, 0.85), (0.0, 0.55), (0.4, 0.95), (0.5, 0.9)),
}
MIXED = ("1-2-34", "1-234", "12-34")


def make_independent(
    n_relevant: int = 2, *, n_rows: int = 2000, n_features: int = 8, random_state: int = 0
) -> Truth:
    """Each relevant feature decides alone: the class is 1 if any is in one of its intervals.

    Parameters
    ----------
    n_relevant : int, from 2 to 6
    n_rows : int
    n_features : int, at least `n_relevant`
    random_state : int
        Seed. With the default sizes the seeds 0 to 9 give the paper's tables bit for bit,
        for which numpy's older generator is used.

    Returns
    -------
    X : pandas DataFrame, shape (n_rows, n_features)
    y : array of int64, shape (n_rows,)
        0 or 1.

    References
    ----------
    C. Sirocchi, D. Verda, Enhancing interpretability of rule-based classifiers through
    feature graphs, section 4.1.

    Examples
    --------
    >>> X, y = make_independent(2)
    >>> X.shape, int(y.sum())
    ((2000, 8), 1289)
    """
    intervals = independent_intervals(n_relevant)
    X = _uniform(n_relevant, n_rows, n_features, random_state)
    y = np.zeros(n_rows, dtype=bool)
    for j, parts in enumerate(intervals):
        y |= _inside(X.iloc[:, j].to_numpy(), parts)
    return X, y.astype(np.int64)


def make_combined(
    n_relevant: int = 2, *, n_rows: int = 2000, n_features: int = 8, random_state: int = 0
) -> Truth:
    """Relevant features decide only together: the class is 1 if most of them exceed 0.5.

    See `make_independent` for parameters and returns.

    Examples
    --------
    >>> X, y = make_combined(3)
    >>> bool(y[0] == ((X.loc[0, ["X1", "X2", "X3"]] > 0.5).sum() > 1.5))
    True
    """
    _check(n_relevant)
    X = _uniform(n_relevant, n_rows, n_features, random_state)
    above = (X.iloc[:, :n_relevant] > 0.5).to_numpy().sum(axis=1)
    return X, (above > 0.5 * n_relevant).astype(np.int64)


def make_mixed(
    kind: str = "1-2-34", *, n_rows: int = 2000, n_features: int = 8, random_state: int = 0
) -> Truth:
    """Of four relevant features some decide alone and some together.

    Parameters
    ----------
    kind : {"1-2-34", "1-234", "12-34"}
        Groups of features; the class is 1 if any group says so. A single feature says so in
        its intervals, two if both exceed 0.5, three if at least two of them do.
    n_rows, n_features, random_state
        See `make_independent`.

    Examples
    --------
    >>> X, y = make_mixed("12-34")
    >>> bool(y[0] == (X.loc[0, ["X1", "X2"]] > 0.5).all() or (X.loc[0, ["X3", "X4"]] > 0.5).all())
    True
    """
    if kind not in MIXED:
        raise OptionError(f"Unknown kind {kind!r}. {did_you_mean(kind, MIXED)}")
    X = _uniform(4, n_rows, n_features, random_state)
    intervals = independent_intervals(2)
    y = np.zeros(n_rows, dtype=bool)
    for group in kind.split("-"):
        members = [int(c) - 1 for c in group]
        if len(members) == 1:
            y |= _inside(X.iloc[:, members[0]].to_numpy(), intervals[members[0]])
        else:
            y |= (X.iloc[:, members] > 0.5).to_numpy().sum(axis=1) >= 2
    return X, y.astype(np.int64)


def independent_intervals(n_relevant: int) -> tuple[tuple[tuple[float, float], ...], ...]:
    """The closed intervals in which each relevant feature makes the class 1.

    Examples
    --------
    >>> independent_intervals(2)
    (((0.2, 0.4), (0.7, 0.9)), ((0.3, 0.5), (0.8, 1.0)))
    """
    _check(n_relevant)
    width = _WIDTH[n_relevant]
    return tuple(
        tuple((start, round(start + width, 2)) for start in starts)
        for starts in _STARTS[n_relevant]
    )


def _check(n_relevant: int) -> None:
    if n_relevant not in _STARTS:
        raise OptionError(f"n_relevant must be a whole number from 2 to 6, not {n_relevant!r}.")


def _uniform(n_relevant: int, n_rows: int, n_features: int, seed: int) -> pd.DataFrame:
    import pandas as pd

    if n_rows < 1:
        raise OptionError(f"n_rows must be at least 1, not {n_rows!r}.")
    if n_features < n_relevant:
        raise OptionError(
            f"n_features must be at least {n_relevant}, the number of relevant features, not "
            f"{n_features!r}."
        )
    stream = np.random.RandomState(seed)
    return pd.DataFrame({f"X{j + 1}": stream.rand(n_rows) for j in range(n_features)})


def _inside(x: NDArray[np.float64], parts: tuple[tuple[float, float], ...]) -> NDArray[np.bool_]:
    out = np.zeros(len(x), dtype=bool)
    for low, high in parts:
        out |= (low <= x) & (x <= high)
    return out
