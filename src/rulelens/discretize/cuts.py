"""Cut points of numeric features, and tables cut by them into items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rulelens.core.conditions import Condition, Interval, Membership, Missing
from rulelens.core.schema import Schema
from rulelens.errors import OptionError, TableError
from rulelens.frames import Table


def quantile_cuts(values: NDArray[np.float64], n_bins: int) -> NDArray[np.float64]:
    """Cut points that split values into about equal parts; bins are half open, ``[low, high)``.

    Parameters
    ----------
    values : array of float64, shape (n_rows,)
        NaN counts as missing and is left out.
    n_bins : int
        At most this many bins. A column with no more distinct values has a bin for each.

    Returns
    -------
    array of float64
        Increasing; empty for a constant column.

    Notes
    -----
    A cut is the decimal number with fewest digits that splits the values where the quantile
    does, so that the text of a rule is short and still exact. A quantile equal to the lowest
    value would leave an empty bin: it is moved just above that value. Equal cuts are merged.

    Examples
    --------
    >>> quantile_cuts(np.array([1.0, 2.0, 3.0, 4.0, 5.00001, 6.0, 7.0, 8.0]), 2)
    array([5.])
    """
    if n_bins < 2:
        raise OptionError(f"n_bins must be at least 2, not {n_bins}.")
    distinct = np.unique(values[~np.isnan(values)])
    if len(distinct) < 2:
        return np.zeros(0)
    if np.isinf(distinct[[0, -1]]).any():
        raise TableError("infinite values cannot be cut into bins")
    if len(distinct) <= n_bins:
        uppers = np.arange(1, len(distinct))
    else:
        # The linear interpolation of halves cannot overflow, even at 1e308.
        scale = 0.5 if max(-distinct[0], distinct[-1]) > 1e300 else 1.0
        known = values[~np.isnan(values)] * scale
        edges = np.quantile(known, np.linspace(0, 1, n_bins + 1)[1:-1])
        uppers = np.unique(np.maximum(np.searchsorted(distinct * scale, edges, side="left"), 1))
    return np.array([shortest_between(distinct[i - 1], distinct[i]) for i in uppers])


def shortest_between(low: float, high: float) -> float:
    """The double in (low, high] whose decimal text has fewest digits.

    Examples
    --------
    >>> shortest_between(12.34567, 12.35001), shortest_between(36.0, 41.0)
    (12.35, 40.0)
    """
    a, b = Decimal(float(low)), Decimal(float(high))
    place = (b - a).adjusted() + 1
    for exponent in range(place, place - 20, -1):
        unit = Decimal(1).scaleb(exponent)
        below = (b / unit).to_integral_value(rounding=ROUND_FLOOR)
        # One step above the exact value of `high` may still be `high`: -3.1 is -3.100…088.
        for candidate in (float((below + 1) * unit), float(below * unit)):
            if low < candidate <= high:
                return candidate
    return float(high)


@dataclass(frozen=True, eq=False)
class Binning:
    """How each feature of a table is cut into items, learned from training rows.

    The items of a numeric feature are its bins; of any other, its levels; where training
    rows had missing values, "missing" may be one item more. A feature with a single item has
    none, since it tells no row from another; but where some training rows lacked the value,
    the single item does.

    Parameters
    ----------
    schema : Schema
    cuts : tuple of arrays
        Cut points of each numeric feature; empty for the others.
    has_missing : tuple of bool
        Whether "missing" is an item.
    some_lack : tuple of bool, optional
        Whether some training rows, but not all, lacked the value though "missing" is no item.
    """

    schema: Schema
    cuts: tuple[NDArray[np.float64], ...]
    has_missing: tuple[bool, ...]
    some_lack: tuple[bool, ...] = ()

    @classmethod
    def quantiles(cls, table: Table, n_bins: int | Sequence[int] = 4) -> Binning:
        """Cut every numeric feature by the quantiles of a table.

        Raises
        ------
        TableError
            A feature has infinite values.
        """
        n = len(table.schema)
        counts = [int(n_bins)] * n if np.isscalar(n_bins) else list(n_bins)  # type: ignore[arg-type]
        if len(counts) != n:
            raise OptionError(f"n_bins has {len(counts)} entries, but there are {n} features.")
        cuts, gaps = [], []
        for feature, column, bins in zip(table.schema, table.columns, counts, strict=True):
            if not feature.is_numeric:
                cuts.append(np.zeros(0))
                gaps.append(partly(column < 0))
                continue
            infinite = np.flatnonzero(np.isinf(column))
            if len(infinite):
                raise TableError(
                    f"Feature '{feature.name}' is infinite in {len(infinite)} rows, the first "
                    f"of them row {infinite[0]}. Replace these values, or make them missing."
                )
            cuts.append(quantile_cuts(np.asarray(column, dtype=np.float64), bins))
            gaps.append(partly(np.isnan(column)))
        return cls(table.schema, tuple(cuts), tuple(gaps))

    @cached_property
    def sizes(self) -> list[int]:
        """Number of items of each feature; 0 for a feature that tells no row from another."""
        out = []
        some_lack = self.some_lack or (False,) * len(self.cuts)
        for feature, cuts, gap, lack in zip(
            self.schema, self.cuts, self.has_missing, some_lack, strict=True
        ):
            n = (len(cuts) + 1 if feature.is_numeric else len(feature.levels)) + gap
            out.append(n if n > 1 or lack else 0)
        return out

    def codes(self, table: Table) -> NDArray[np.int32]:
        """Item of each row on each feature: shape (n_rows, n_features), -1 for none.

        A level that training rows did not have, or a missing value where none was missing,
        has no item. Numbers outside the training range fall into the end bins.
        """
        out = np.full((table.n_rows, len(self.schema)), -1, dtype=np.int32)
        for j, (feature, column) in enumerate(zip(self.schema, table.columns, strict=True)):
            size, gap = self.sizes[j], self.has_missing[j]
            if not size:
                continue
            if feature.is_numeric:
                missing = np.isnan(column)
                out[:, j] = np.searchsorted(self.cuts[j], column, side="right")
                out[missing, j] = size - 1 if gap else -1
            else:
                known = (column >= 0) & (column < len(feature.levels))
                out[:, j] = np.where(known, column, -1)
                if gap:
                    out[column < 0, j] = size - 1
        return out

    def condition(self, feature: int, code: int) -> Condition:
        """The condition that an item stands for."""
        f, cuts = self.schema[feature], self.cuts[feature]
        if self.has_missing[feature] and code == self.sizes[feature] - 1:
            return Missing()
        if not f.is_numeric:
            return Membership([f.levels[code]])
        low = -np.inf if code == 0 else float(cuts[code - 1])
        high = np.inf if code == len(cuts) else float(cuts[code])
        return Interval(low, high, low_closed=True, high_closed=False)


def partly(missing: NDArray[np.bool_]) -> bool:
    """Whether some rows miss the value and some do not: only then does it tell rows apart."""
    return bool(missing.any() and not missing.all())
