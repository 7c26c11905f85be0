"""Alternatives judged on criteria: one table of numbers, every column a gain."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rulelens.errors import PreferenceError, did_you_mean

if TYPE_CHECKING:
    import pandas as pd

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]
IntArray: TypeAlias = NDArray[np.int64]


LARGEST = 1e30
"""Larger values are refused: numbers of single precision end at 3e38."""
SMALLEST = 1e-30
"""Where all criteria spread over less than this, single precision sees no difference."""
_OFFSET = 1e3


def is_number(value: object) -> bool:
    """Whether `value` is a real number, and neither true nor false.

    Examples
    --------
    >>> is_number(0.5), is_number(True), is_number("0.5")
    (True, False, False)
    """
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def read_only(values: ArrayLike) -> FloatArray:
    """Copy of `values` as float64 that cannot be written to."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array


@dataclass(frozen=True, slots=True, eq=False)
class Criteria:
    """Alternatives (rows) by criteria (columns); more is better in every column.

    Parameters
    ----------
    alternatives : tuple of hashable, length n
        One id per row, each once.
    names : tuple of str, length m ≥ 1
        One name per column, each once.
    values : array of float64, shape (n, m)
        Finite numbers. A cost enters with its sign turned.

    Raises
    ------
    PreferenceError
        Shapes that do not fit, repeated ids or names, numbers that are not finite.

    Examples
    --------
    >>> c = Criteria(("a", "b"), ("short", "sure"), [[1, 0.2], [0, 0.9]])
    >>> c.values.shape, c.position("b")
    ((2, 2), 1)
    """

    alternatives: tuple[Hashable, ...]
    names: tuple[str, ...]
    values: FloatArray
    _positions: Mapping[Hashable, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "alternatives", tuple(_plain_id(a) for a in self.alternatives))
        set_(self, "names", tuple(str(n) for n in self.names))
        try:
            set_(self, "values", read_only(self.values))
        except (TypeError, ValueError, OverflowError) as error:
            raise PreferenceError(
                f"The criteria are no table of numbers ({error}). Expected one row of numbers per "
                "alternative, all rows of the same length."
            ) from None
        n, m = len(self.alternatives), len(self.names)
        if self.values.shape != (n, m):
            raise PreferenceError(
                f"The criteria have shape {self.values.shape}, but there are {n} alternatives "
                f"and {m} names. Expected shape ({n}, {m})."
            )
        if m == 0:
            raise PreferenceError("There are no criteria. At least one column is needed.")
        _no_repeats("alternative", self.alternatives)
        _no_repeats("criterion", self.names)
        if not np.isfinite(self.values).all():
            i, j = (int(x[0]) for x in np.nonzero(~np.isfinite(self.values)))
            raise PreferenceError(
                f"Criterion '{self.names[j]}' of alternative {self.alternatives[i]!r} is "
                f"{self.values[i, j]}. Every value must be a finite number: fill it in or drop it."
            )
        if np.abs(self.values).max(initial=0.0) > LARGEST:
            raise PreferenceError(
                f"The criteria hold values beyond {LARGEST:g}, which cannot be computed with. "
                "Rescale such columns, best to [0, 1]."
            )
        set_(self, "_positions", {a: i for i, a in enumerate(self.alternatives)})

    def __len__(self) -> int:
        return len(self.alternatives)

    def __contains__(self, alternative: object) -> bool:
        return isinstance(alternative, Hashable) and alternative in self._positions

    def position(self, alternative: Hashable) -> int:
        """Row number of `alternative`; an unknown id is an error that names the nearest one."""
        try:
            return self._positions[alternative]
        except (KeyError, TypeError):
            raise PreferenceError(
                f"Unknown alternative {alternative!r}. "
                f"{did_you_mean(alternative, self.alternatives)}"
            ) from None

    def row(self, alternative: Hashable) -> FloatArray:
        """Values of one alternative, shape (m,)."""
        values: FloatArray = self.values[self.position(alternative)]
        return values

    def column(self, name: str) -> int:
        """Column number of the criterion `name`; an unknown name is an error."""
        try:
            return self.names.index(name)
        except ValueError:
            raise PreferenceError(
                f"Unknown criterion '{name}'. {did_you_mean(name, self.names)}"
            ) from None

    def widened(self, names: Sequence[str]) -> Criteria:
        """The same with a column of zeros for each of `names` that is not there yet.

        Examples
        --------
        >>> Criteria(("a",), ("x",), [[1.0]]).widened(["x", "y"]).values
        array([[1., 0.]])
        """
        extra = tuple(n for n in dict.fromkeys(names) if n not in self.names)
        if not extra:
            return self
        values = np.hstack([self.values, np.zeros((len(self), len(extra)))])
        return Criteria(self.alternatives, self.names + extra, values)

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> Criteria:
        """Criteria of a pandas DataFrame: index = ids, columns = names, all gains.

        Examples
        --------
        >>> import pandas as pd
        >>> Criteria.from_frame(pd.DataFrame({"sure": [0.2, 0.9]}, index=["a", "b"])).names
        ('sure',)
        """
        try:
            if any(kind.kind == "c" for kind in frame.dtypes if isinstance(kind, np.dtype)):
                raise TypeError("it holds complex numbers")
            values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
        except (TypeError, ValueError, OverflowError) as error:
            raise PreferenceError(
                f"The criteria must be numbers, but a column is not: {error}. "
                "Convert or drop that column."
            ) from error
        names = tuple(str(n) for n in frame.columns)
        return cls(tuple(frame.index.tolist()), names, values)

    def to_frame(self) -> pd.DataFrame:
        """Pandas DataFrame with one row per alternative."""
        import pandas as pd

        index = pd.Index(list(self.alternatives), tupleize_cols=False)
        return pd.DataFrame(self.values.copy(), index=index, columns=list(self.names))


def _no_repeats(kind: str, items: Sequence[Hashable]) -> None:
    seen: set[Hashable] = set()
    for item in items:
        try:
            repeated = item in seen
        except TypeError:
            raise PreferenceError(
                f"The {kind} {item!r} cannot be an id: it is not hashable. Use a number or text."
            ) from None
        if item != item:
            raise PreferenceError(
                f"The {kind} {item!r} cannot be an id: it is not equal to itself, so that it is "
                "never found again. Use a number or text."
            )
        if repeated:
            raise PreferenceError(
                f"The {kind} {item!r} occurs twice. Each must occur once: rename or drop one."
            )
        seen.add(item)


def _plain_id(alternative: Hashable) -> Hashable:
    """Python's own number for one of numpy's, which JSON does not have."""
    numbers = np.integer | np.floating | np.bool_
    return alternative.item() if isinstance(alternative, numbers) else alternative


def without_offsets(values: FloatArray) -> FloatArray:
    """The same differences between alternatives, without offsets that rounding would drown them in.

    What all alternatives have alike changes no order, but of 10¹² + 1 and 10¹² little is left after
    a product in double precision and nothing in single. Ordinary values are returned as they are.

    Parameters
    ----------
    values : array, shape (n, m), n ≥ 1

    Examples
    --------
    >>> without_offsets(np.array([[1e12 + 1, 0.0], [1e12, 1.0]])).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    spread = float(np.ptp(values, axis=0).max(initial=0.0))
    if np.abs(values).max(initial=0.0) <= _OFFSET * spread:
        return values
    return np.asarray(values - values.min(axis=0), dtype=np.float64)


def common_size(*rows: FloatArray) -> float:
    """What to divide rows by before a solver with absolute tolerances sees them; 1 for usual ones.

    Examples
    --------
    >>> common_size(np.array([[0.2, -1.0]])), common_size(np.array([[0.0, 1e9]]))
    (1.0, 1073741824.0)
    """
    largest = max((float(np.abs(r).max(initial=0.0)) for r in rows), default=0.0)
    if largest == 0 or 1e-6 <= largest <= 1e6:
        return 1.0
    # A power of two, so that dividing rounds nothing.
    return float(2.0 ** np.round(np.log2(largest)))


LARGEST_RATIO = 1e8
"""Criteria whose spreads differ by more than this factor are refused: numbers cannot weigh them."""
ROUNDING = 1e-6
"""How far a tie may be off, as part of what it compares, before it counts as broken."""


def sizes_differ(criteria: Criteria) -> str:
    """Sentence that names the criteria of the largest and the smallest spread, and the way out."""
    spread = np.ptp(criteria.values, axis=0)
    order = [j for j in np.argsort(spread, kind="stable").tolist() if spread[j] > 0]
    if not order:
        return "All criteria are constant."
    small, large = order[0], order[-1]
    return (
        f"The criteria differ too much in size: '{criteria.names[large]}' spreads over "
        f"{float(spread[large]):.3g} and '{criteria.names[small]}' over "
        f"{float(spread[small]):.3g}. Rescale them, best to [0, 1] each."
    )
