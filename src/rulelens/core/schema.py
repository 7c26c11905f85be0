"""Features and schemas: the names and kinds of a table's columns, without any data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np

from rulelens.errors import SchemaError, UnknownFeatureError, did_you_mean

Kind: TypeAlias = Literal["numeric", "categorical", "boolean"]
Level: TypeAlias = str | int | float | bool
"""A value of a categorical feature, or a class label."""

BOOLEAN_LEVELS: tuple[Level, ...] = (False, True)


def check_level(level: object, what: str) -> Level:
    """Return `level` as a plain str, bool, int or finite float; else raise SchemaError."""
    if isinstance(level, np.generic):
        level = level.item()
    if isinstance(level, bool | str | int):
        return level
    if isinstance(level, float):
        if math.isfinite(level):
            return level
        raise SchemaError(f"{what} {level!r} is not a finite number.")
    raise SchemaError(
        f"{what} {level!r} is a {type(level).__name__}. Use text, a number or a boolean."
    )


def level_key(level: Level) -> tuple[str, Level]:
    """Key by which levels and labels are the same: 1 equals 1.0, but neither True nor '1'."""
    if isinstance(level, bool):
        return ("boolean", level)
    return ("text" if isinstance(level, str) else "number", level)


@dataclass(frozen=True, slots=True)
class Feature:
    """One column of a table: its name, kind and, where it has them, levels and unit.

    Parameters
    ----------
    name : str
        Any text that is not empty: spaces, dots and every script are allowed.
    kind : {"numeric", "categorical", "boolean"}
        Numeric features take intervals; the others take sets of levels.
    levels : sequence of str, int, float or bool
        The known values of a categorical feature, in order. A boolean feature always has
        ``(False, True)``; a numeric one has none.
    unit : str or None
        Shown beside values, such as ``"mmHg"``.

    Examples
    --------
    >>> Feature("colour", "categorical", ("red", "blue")).index_of("blue")
    1
    """

    name: str
    kind: Kind = "numeric"
    levels: tuple[Level, ...] = ()
    unit: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise SchemaError(
                f"A feature's name must be text that is not empty, not {self.name!r}."
            )
        if self.kind not in get_args(Kind):
            raise SchemaError(
                f"Feature '{self.name}' has kind {self.kind!r}. "
                f"{did_you_mean(self.kind, get_args(Kind))}"
            )
        levels = tuple(check_level(v, f"Feature '{self.name}': level") for v in self.levels)
        if self.kind == "numeric" and levels:
            raise SchemaError(f"Numeric feature '{self.name}' cannot have levels.")
        if self.kind == "boolean":
            if levels and levels != BOOLEAN_LEVELS:
                raise SchemaError(
                    f"Boolean feature '{self.name}' has the levels (False, True) only."
                )
            levels = BOOLEAN_LEVELS
        keys = [level_key(v) for v in levels]
        if len(set(keys)) != len(keys):
            twice = next(v for i, v in enumerate(levels) if keys.index(level_key(v)) != i)
            raise SchemaError(f"Feature '{self.name}' lists the level {twice!r} twice.")
        object.__setattr__(self, "levels", levels)

    def _key(self) -> tuple[object, ...]:
        return (self.name, self.kind, tuple(map(level_key, self.levels)), self.unit)

    def __eq__(self, other: object) -> bool:
        """Equal in name, kind, unit and levels; 1 and True are two levels."""
        return self._key() == other._key() if isinstance(other, Feature) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    @property
    def is_numeric(self) -> bool:
        """Whether conditions on this feature are intervals."""
        return self.kind == "numeric"

    def index_of(self, level: Level) -> int:
        """Position of `level` in `levels`, or ``len(levels)`` where it is not known."""
        key = level_key(level)
        for i, known in enumerate(self.levels):
            if level_key(known) == key:
                return i
        return len(self.levels)


@dataclass(frozen=True)
class Schema:
    """The features of a table, in order; names are unique.

    Examples
    --------
    >>> schema = Schema([Feature("age"), Feature("smoker", "boolean")])
    >>> schema.index("smoker"), len(schema), schema["age"].kind
    (1, 2, 'numeric')
    """

    features: tuple[Feature, ...] = field(default=())

    def __init__(self, features: Iterable[Feature] = ()) -> None:
        features = tuple(features)
        seen: set[str] = set()
        for f in features:
            if not isinstance(f, Feature):
                raise SchemaError(f"A schema is made of Feature values, not {type(f).__name__}.")
            if f.name in seen:
                raise SchemaError(
                    f"The feature name '{f.name}' occurs twice. Rename one of the columns."
                )
            seen.add(f.name)
        object.__setattr__(self, "features", features)

    @classmethod
    def numeric(cls, names: Sequence[str]) -> Schema:
        """Schema of numeric features with the given names."""
        return cls(Feature(str(n)) for n in names)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {f.name: i for i, f in enumerate(self.features)}

    @property
    def names(self) -> tuple[str, ...]:
        """Feature names, in order."""
        return tuple(f.name for f in self.features)

    def index(self, name: str, *, where: str = "") -> int:
        """Position of the feature called `name`; `where` is added to the error's text."""
        try:
            return self._positions[name]
        except (KeyError, TypeError):
            place = f" in {where}" if where else ""
            raise UnknownFeatureError(
                f"Unknown feature {str(name)!r}{place}. {did_you_mean(name, self.names)}"
            ) from None

    def __contains__(self, name: object) -> bool:
        return name in self._positions

    def __getitem__(self, key: int | str) -> Feature:
        return self.features[self.index(key) if isinstance(key, str) else key]

    def __iter__(self) -> Iterator[Feature]:
        return iter(self.features)

    def __len__(self) -> int:
        return len(self.features)
