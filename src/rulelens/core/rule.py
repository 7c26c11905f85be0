"""One rule: conditions on features, and the outcome they speak for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from rulelens.core.conditions import Condition, Interval, Membership, Missing, intersect
from rulelens.core.schema import Level, check_level, level_key
from rulelens.errors import ContradictionError, RuleError

Provenance: TypeAlias = tuple[tuple[str, Level], ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A conjunction of conditions and an outcome: IF all hold THEN outcome.

    Parameters
    ----------
    conditions : mapping or iterable of (feature name, condition)
        Several conditions on one feature are allowed; `simplify` merges them.
    outcome : str, int, float or bool
        The class that the rule speaks for.
    provenance : mapping or iterable of (name, value)
        Where the rule came from, such as the tree and leaf. It does not change what the
        rule selects.

    Examples
    --------
    >>> rule = Rule({"age": Interval(low=50), "smoker": Membership([True])}, "ill")
    >>> str(rule)
    'IF age > 50 AND smoker is True THEN ill'
    >>> str(rule.without("age"))
    'IF smoker is True THEN ill'
    >>> rule.covers({"age": 61.0, "smoker": True})
    True
    """

    conditions: tuple[tuple[str, Condition], ...]
    outcome: Level
    provenance: Provenance = ()

    def __init__(
        self,
        conditions: Mapping[str, Condition] | Iterable[tuple[str, Condition]],
        outcome: Level,
        provenance: Mapping[str, Level] | Iterable[tuple[str, Level]] = (),
    ) -> None:
        pairs = conditions.items() if isinstance(conditions, Mapping) else conditions
        checked = tuple((str(name), _check_condition(name, c)) for name, c in pairs)
        origin = provenance.items() if isinstance(provenance, Mapping) else provenance
        object.__setattr__(self, "conditions", checked)
        object.__setattr__(self, "outcome", check_level(outcome, "An outcome"))
        object.__setattr__(self, "provenance", tuple((str(k), _plain(v)) for k, v in origin))

    def __eq__(self, other: object) -> bool:
        """Equal in conditions, outcome (1, 1.0 and True differ) and provenance."""
        if not isinstance(other, Rule):
            return NotImplemented
        return (
            self.conditions == other.conditions
            and level_key(self.outcome) == level_key(other.outcome)
            and self.provenance == other.provenance
        )

    def __hash__(self) -> int:
        return hash((self.conditions, self.outcome, self.provenance))

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features that the rule asks about, each once, in order."""
        return tuple(dict.fromkeys(name for name, _ in self.conditions))

    def __len__(self) -> int:
        return len(self.conditions)

    def __iter__(self) -> Iterator[tuple[str, Condition]]:
        return iter(self.conditions)

    def without(self, feature: str) -> Rule:
        """The rule without its conditions on `feature`; unchanged if it has none."""
        return replace_conditions(self, tuple(p for p in self.conditions if p[0] != feature))

    def simplify(self) -> Rule:
        """At most one condition a feature: those on the same feature are intersected.

        Raises
        ------
        ContradictionError
            Two conditions on one feature exclude each other.
        """
        merged: dict[str, Condition] = {}
        for name, condition in self.conditions:
            if name not in merged:
                merged[name] = condition
                continue
            try:
                merged[name] = intersect(merged[name], condition)
            except ContradictionError:
                raise ContradictionError(
                    f"The rule '{self}' contradicts itself: '{merged[name].describe(name)}' and "
                    f"'{condition.describe(name)}' cannot both hold. Remove one of them."
                ) from None
        return replace_conditions(self, tuple(merged.items()))

    def covers(self, row: Mapping[str, Level | None]) -> bool:
        """Whether a single row, as a mapping from feature name to value, meets every condition."""
        missing = [n for n in self.features if n not in row]
        if missing:
            raise RuleError(
                f"The row has no value for {missing[0]!r}. Use None for a missing value."
            )
        return all(c.holds(row[name]) for name, c in self.conditions)  # type: ignore[arg-type]

    def antecedent(self) -> str:
        """The conditions as text; ``"TRUE"`` for a rule without any."""
        return " AND ".join(c.describe(name) for name, c in self.conditions) or "TRUE"

    def __str__(self) -> str:
        return f"IF {self.antecedent()} THEN {self.outcome}"

    def describe(self) -> str:
        """Text for people; the numbers are exact, so it selects the same rows."""
        return str(self)


def replace_conditions(rule: Rule, conditions: tuple[tuple[str, Condition], ...]) -> Rule:
    """The same rule with other conditions."""
    return replace(rule, conditions=conditions)


def _plain(value: Level) -> Level:
    out: Level = value.item() if isinstance(value, np.generic) else value
    return out


def _check_condition(name: str, condition: object) -> Condition:
    if isinstance(condition, Interval | Membership | Missing):
        return condition
    raise RuleError(
        f"The condition on '{name}' is a {type(condition).__name__}. "
        "Use Interval, Membership or Missing."
    )
