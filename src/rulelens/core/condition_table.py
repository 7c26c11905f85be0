"""Distinct conditions of a rule set, held as columns of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from rulelens.core.conditions import Condition, Interval, Membership, Missing
from rulelens.core.schema import Feature, Schema
from rulelens.errors import ContradictionError, RuleError, did_you_mean

INTERVAL, MEMBERSHIP, MISSING = 0, 1, 2
LOW_CLOSED, HIGH_CLOSED, OR_MISSING, NEGATED, FLOAT32 = 1, 2, 4, 8, 16


@dataclass(frozen=True, eq=False)
class ConditionTable:
    """Conditions as columns; condition i is entry i of each.

    Parameters
    ----------
    feature : array of int32, shape (n_conditions,)
        Position of the feature in the schema.
    kind : array of uint8
        ``INTERVAL``, ``MEMBERSHIP`` or ``MISSING``.
    low, high : array of float64
        Ends of intervals; 0 for the other kinds.
    flags : array of uint8
        Sum of ``LOW_CLOSED``, ``HIGH_CLOSED``, ``OR_MISSING``, ``NEGATED``, ``FLOAT32``.
    level_offsets : array of int64, shape (n_conditions + 1,)
        Condition i names the levels ``level_codes[level_offsets[i]:level_offsets[i + 1]]``.
    level_codes : array of int32
        Positions in the feature's levels, ascending within a condition.
    """

    feature: NDArray[np.int32]
    kind: NDArray[np.uint8]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    flags: NDArray[np.uint8]
    level_offsets: NDArray[np.int64]
    level_codes: NDArray[np.int32]

    @classmethod
    def from_conditions(
        cls, pairs: Sequence[tuple[int, Condition]], schema: Schema
    ) -> ConditionTable:
        """Table of (feature position, condition) pairs, checked against the schema."""
        n = len(pairs)
        feature = np.fromiter((f for f, _ in pairs), np.int32, n)
        kind, flags = np.zeros(n, np.uint8), np.zeros(n, np.uint8)
        low, high = np.zeros(n), np.zeros(n)
        codes: list[list[int]] = []
        for i, (f, c) in enumerate(pairs):
            codes.append(check_condition(schema[f], c))
            match c:
                case Interval():
                    low[i], high[i] = c.low, c.high
                    flags[i] = (
                        LOW_CLOSED * c.low_closed
                        + HIGH_CLOSED * c.high_closed
                        + OR_MISSING * c.or_missing
                        + FLOAT32 * (c.precision == "float32")
                    )
                case Membership():
                    kind[i] = MEMBERSHIP
                    flags[i] = OR_MISSING * c.or_missing + NEGATED * c.negated
                case Missing():
                    kind[i] = MISSING
        offsets = np.concatenate([[0], np.cumsum([len(c) for c in codes], dtype=np.int64)])
        flat = np.fromiter((v for c in codes for v in c), np.int32, int(offsets[-1]))
        return cls(feature, kind, low, high, flags, offsets.astype(np.int64), flat)

    @classmethod
    def from_intervals(
        cls,
        feature: NDArray[np.integer],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        flags: NDArray[np.integer],
    ) -> ConditionTable:
        """Table of intervals only; an empty one that accepts missing values becomes `Missing`.

        Raises
        ------
        ContradictionError
            An interval holds no number and does not accept missing values.
        """
        n = len(feature)
        low, high = low.astype(np.float64) + 0.0, high.astype(np.float64) + 0.0
        if np.isnan(low).any() or np.isnan(high).any():
            raise RuleError("An end of an interval is NaN. Use -inf and inf for no end.")
        bits: NDArray[np.uint8] = flags.astype(np.uint8)
        bits[low == -np.inf] &= 255 - LOW_CLOSED
        bits[high == np.inf] &= 255 - HIGH_CLOSED
        empty = _empty(low, high, bits)
        lost = np.flatnonzero(empty & (bits & OR_MISSING == 0))
        if len(lost):
            at = lost[0]
            raise ContradictionError(
                f"Interval {at}, from {low[at]!r} to {high[at]!r}, holds no number."
            )
        return cls(
            feature.astype(np.int32),
            np.where(empty, MISSING, INTERVAL).astype(np.uint8),
            np.where(empty, 0.0, low),
            np.where(empty, 0.0, high),
            np.where(empty, 0, bits).astype(np.uint8),
            np.zeros(n + 1, np.int64),
            np.zeros(0, np.int32),
        )

    @classmethod
    def concatenate(cls, tables: Iterable[ConditionTable]) -> ConditionTable:
        """One table after another."""
        parts = list(tables)
        joined = {
            f.name: np.concatenate([getattr(t, f.name) for t in parts])
            for f in fields(cls)
            if f.name != "level_offsets"
        }
        sizes = np.concatenate([np.diff(t.level_offsets) for t in parts])
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return cls(level_offsets=offsets, **joined)

    def __len__(self) -> int:
        return len(self.feature)

    def arrays(self) -> tuple[NDArray[np.generic], ...]:
        """All columns."""
        return tuple(getattr(self, f.name) for f in fields(self))

    def levels_of(self, i: int) -> NDArray[np.int32]:
        """Level codes that condition `i` names."""
        return self.level_codes[self.level_offsets[i] : self.level_offsets[i + 1]]

    def condition(self, i: int, schema: Schema) -> Condition:
        """Condition `i` as a value."""
        flags = int(self.flags[i])
        or_missing = bool(flags & OR_MISSING)
        if self.kind[i] == MISSING:
            return Missing()
        if self.kind[i] == MEMBERSHIP:
            levels = schema[int(self.feature[i])].levels
            chosen = [levels[code] for code in self.levels_of(i)]
            return Membership(chosen, bool(flags & NEGATED), or_missing)
        return Interval(
            float(self.low[i]),
            float(self.high[i]),
            bool(flags & LOW_CLOSED),
            bool(flags & HIGH_CLOSED),
            or_missing,
            "float32" if flags & FLOAT32 else "float64",
        )

    def take(self, index: NDArray[np.integer]) -> ConditionTable:
        """The conditions at the given positions."""
        sizes = np.diff(self.level_offsets)[index]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        spread = np.repeat(self.level_offsets[:-1][index] - offsets[:-1], sizes)
        codes = self.level_codes[spread + np.arange(int(offsets[-1]))]
        return ConditionTable(
            self.feature[index],
            self.kind[index],
            self.low[index],
            self.high[index],
            self.flags[index],
            offsets,
            codes,
        )

    def canonical(self) -> tuple[ConditionTable, NDArray[np.int64]]:
        """Sorted table without repeats, and for each old condition its new position."""
        if not len(self):
            return self, np.zeros(0, np.int64)
        rank = self._level_set_ranks()
        keys = (rank, self.flags, self.high, self.low, self.kind, self.feature)
        order = np.lexsort(keys)
        new = np.zeros(len(order), dtype=bool)
        new[0] = True
        for key in keys:
            sorted_key = key[order]
            new[1:] |= sorted_key[1:] != sorted_key[:-1]
        position = np.empty(len(order), np.int64)
        position[order] = np.cumsum(new) - 1
        return self.take(order[new]), position

    def _level_set_ranks(self) -> NDArray[np.int64]:
        """Number of each condition's set of levels among the sorted distinct sets."""
        ranks = np.zeros(len(self), np.int64)
        named = np.flatnonzero(np.diff(self.level_offsets))
        sets = [tuple(self.levels_of(int(i)).tolist()) for i in named]
        order = {s: k + 1 for k, s in enumerate(sorted(set(sets)))}
        ranks[named] = [order[s] for s in sets]
        return ranks


def check_condition(feature: Feature, condition: Condition) -> list[int]:
    """Codes of the levels that a condition names; an error if it does not suit the feature."""
    if isinstance(condition, Missing):
        return []
    if isinstance(condition, Interval):
        if not feature.is_numeric:
            raise RuleError(
                f"Feature '{feature.name}' is {feature.kind}: its conditions name levels, "
                f"not an interval such as '{condition.describe(feature.name)}'. Use Membership."
            )
        return []
    if feature.is_numeric:
        raise RuleError(
            f"Feature '{feature.name}' is numeric: its conditions are intervals, not "
            f"'{condition.describe(feature.name)}'. Use Interval."
        )
    codes = [feature.index_of(v) for v in condition.levels]
    for level, code in zip(condition.levels, codes, strict=True):
        if code == len(feature.levels):
            raise RuleError(
                f"Feature '{feature.name}' has no level {level!r}. "
                f"{did_you_mean(level, feature.levels)}"
            )
    return sorted(codes)


def check_kinds(conditions: ConditionTable, schema: Schema) -> None:
    """Raise RuleError where a condition does not suit the feature that it is on."""
    feature, kind = conditions.feature, conditions.kind
    if not len(feature):
        return
    if not (feature.min() >= 0 and feature.max() < len(schema)):
        raise RuleError(f"Conditions' features must lie in 0..{len(schema) - 1}.")
    numeric = np.array([f.is_numeric for f in schema], dtype=bool)[feature]
    wrong = np.flatnonzero(np.where(numeric, kind == MEMBERSHIP, kind == INTERVAL))
    if len(wrong):
        f = schema[int(feature[wrong[0]])]
        raise RuleError(
            f"Condition {wrong[0]} is {'a Membership' if f.is_numeric else 'an Interval'}, but "
            f"feature '{f.name}' is {f.kind}. Numeric features take Interval, others Membership."
        )
    n_levels = np.array([len(f.levels) for f in schema])[feature]
    sizes = np.diff(conditions.level_offsets)
    codes = conditions.level_codes
    if len(codes) and not ((codes >= 0) & (codes < np.repeat(n_levels, sizes))).all():
        raise RuleError("A condition names a level code that its feature does not have.")
    nothing = (kind == MEMBERSHIP) & (sizes == 0) & (conditions.flags & NEGATED == 0)
    if nothing.any():
        raise ContradictionError(
            f"Condition {np.flatnonzero(nothing)[0]} allows no level. Use Missing or name a level."
        )


def _empty(
    low: NDArray[np.float64], high: NDArray[np.float64], flags: NDArray[np.uint8]
) -> NDArray[np.bool_]:
    """Which intervals hold no number, by the first and last number that they might hold."""
    low_closed, high_closed = (flags & LOW_CLOSED) > 0, (flags & HIGH_CLOSED) > 0
    free_low, free_high = low == -np.inf, high == np.inf
    with np.errstate(over="ignore"):  # beyond the largest double comes infinity
        first = np.where(low_closed | free_low, low, np.nextafter(low, np.inf))
        last = np.where(high_closed | free_high, high, np.nextafter(high, -np.inf))
    out: NDArray[np.bool_] = (first > last) | (low == np.inf) | (high == -np.inf)
    single = np.flatnonzero(flags & FLOAT32)
    if len(single):
        # The first single-precision number at or above `first` in double precision.
        with np.errstate(over="ignore", under="ignore"):
            a, b = (v[single].astype(np.float32) for v in (first, last))
            a = np.where(a < first[single], np.nextafter(a, np.float32(np.inf)), a)
            b = np.where(b > last[single], np.nextafter(b, np.float32(-np.inf)), b)
        out[single] |= a > b
    return out
