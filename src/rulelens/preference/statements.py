"""What a person may say about alternatives and weights: a closed set of values.

Every statement is a list of elementary ones, and every elementary one is a single linear
constraint on the weights, homogeneous because the weights sum to 1.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulelens.errors import PreferenceError
from rulelens.preference.table import LARGEST, Criteria, FloatArray, is_number

Kind: TypeAlias = Literal["strict", "weak", "equal"]


@dataclass(frozen=True, slots=True)
class Prefer:
    """`better` over `worse`."""

    better: Hashable
    worse: Hashable


@dataclass(frozen=True, slots=True)
class Indifferent:
    """`first` and `second` are equally good."""

    first: Hashable
    second: Hashable


@dataclass(frozen=True, slots=True)
class Ranking:
    """Groups from best to worst; the members of one group are equally good."""

    groups: tuple[tuple[Hashable, ...], ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", tuple(tuple(g) for g in self.groups))
        members = [a for group in self.groups for a in group]
        if any(not group for group in self.groups):
            raise PreferenceError(
                f"The ranking {self.groups!r} has an empty group. Put at least one alternative in "
                "each group, or leave the group out."
            )
        if len(members) < 2:
            raise PreferenceError(
                f"A ranking needs at least 2 alternatives, this one has {len(members)}."
            )
        seen: set[Hashable] = set()
        for member in members:
            if member in seen:
                raise PreferenceError(
                    f"The ranking names {member!r} twice. Name each alternative once."
                )
            seen.add(member)


@dataclass(frozen=True, slots=True)
class Intensity:
    """`better` over `worse` by more than `less_better` over `less_worse`."""

    better: Hashable
    worse: Hashable
    less_better: Hashable
    less_worse: Hashable


@dataclass(frozen=True, slots=True)
class BestOf:
    """`best` over every other one of those `shown`."""

    best: Hashable
    shown: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "shown", tuple(dict.fromkeys(self.shown)))
        if self.best not in self.shown:
            raise PreferenceError(
                f"{self.best!r} was called the best, but only {', '.join(map(str, self.shown))} "
                "were shown. Choose one of those shown."
            )
        if len(self.shown) < 2:
            raise PreferenceError("Showing one alternative asks nothing. Show at least 2.")


@dataclass(frozen=True, slots=True)
class WeightBound:
    """The weight of criterion `name` is at least `low` and at most `high` (None: no bound)."""

    name: str
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise PreferenceError(
                f"A bound is on the weight of {self.name!r}. Expected the name of a criterion."
            )
        # Numbers of numpy are no JSON.
        for side in ("low", "high"):
            if isinstance(getattr(self, side), np.integer | np.floating):
                object.__setattr__(self, side, getattr(self, side).item())
        low, high = self.low, self.high
        if low is None and high is None:
            raise PreferenceError(f"The bound on '{self.name}' gives neither low nor high.")
        for value in (low, high):
            if value is not None and not is_number(value):
                raise PreferenceError(
                    f"The bound {value!r} on the weight of '{self.name}' is no number. Expected a "
                    "number between 0 and 1, or None for no bound."
                )
            if value is not None and not 0 <= value <= 1:
                raise PreferenceError(
                    f"The bound {value!r} on the weight of '{self.name}' is outside [0, 1]. "
                    "Weights are shares: they sum to 1."
                )
        if low is not None and high is not None and low > high:
            raise PreferenceError(
                f"The bounds on the weight of '{self.name}' are crossed: low {low} > high {high}."
            )


@dataclass(frozen=True, slots=True)
class Recalled:
    """An elementary statement about other alternatives, kept as what it says about weights.

    Parameters
    ----------
    kind : {"strict", "weak", "equal"}
        The sum of value × weight over the terms is > 0, ≥ 0 or = 0.
    terms : tuple of (criterion name, value)
        Names once each, no zeros.
    phrase : str
        What was said, in the user's words at that time.
    about : str
        What it was said about, such as "row 17".
    """

    kind: Kind
    terms: tuple[tuple[str, float], ...]
    phrase: str
    about: str = ""

    def __post_init__(self) -> None:
        if self.kind not in ("strict", "weak", "equal"):
            raise PreferenceError(
                f"A recalled statement has kind {self.kind!r}. Expected strict, weak or equal."
            )
        for _, value in self.terms:
            if not is_number(value) or not abs(value) <= LARGEST:
                raise PreferenceError(
                    f"The recalled statement '{self.phrase}' has the value {value!r}. Expected a "
                    f"number of at most {LARGEST:g}."
                )
        object.__setattr__(self, "terms", tuple((str(n), float(v)) for n, v in self.terms))
        names = [n for n, _ in self.terms]
        if len(set(names)) < len(names):
            raise PreferenceError(
                f"The recalled statement '{self.phrase}' names a criterion twice. Name each once."
            )


Statement: TypeAlias = Prefer | Indifferent | Ranking | Intensity | BestOf | WeightBound | Recalled


@dataclass(frozen=True, slots=True, eq=False)
class Constraint:
    """One elementary statement as a row g: g·w > 0 (strict), ≥ 0 (weak) or = 0 (equal).

    Parameters
    ----------
    row : array of float64, shape (m,)
    kind : {"strict", "weak", "equal"}
    statement : Statement
        The elementary statement (never a Ranking or a BestOf).
    source : int
        Position of the statement that it came from.
    phrase : str
        The elementary statement in the user's words.
    """

    row: FloatArray
    kind: Kind
    statement: Statement
    source: int
    phrase: str


def elementary(statement: Statement) -> tuple[Statement, ...]:
    """The elementary statements of `statement`, each of them one constraint.

    Examples
    --------
    >>> elementary(Ranking(((3,), (9, 7))))
    (Prefer(better=3, worse=9), Indifferent(first=9, second=7))
    """
    match statement:
        case Ranking(groups):
            parts: list[Statement] = []
            for k, group in enumerate(groups):
                if k:
                    parts.append(Prefer(groups[k - 1][0], group[0]))
                parts += [Indifferent(group[0], other) for other in group[1:]]
            return tuple(parts)
        case BestOf(best, shown):
            return tuple(Prefer(best, other) for other in shown if other != best)
        case WeightBound(name, low, high) if low is not None and high is not None:
            return WeightBound(name, low, None), WeightBound(name, None, high)
        case _:
            return (statement,)


def alternatives_in(statement: Statement) -> tuple[Hashable, ...]:
    """Ids that `statement` names, each once, in order.

    Examples
    --------
    >>> alternatives_in(Ranking(((3,), (9, 7))))
    (3, 9, 7)
    """
    match statement:
        case Prefer(a, b) | Indifferent(a, b):
            ids: Sequence[Hashable] = (a, b)
        case Ranking(groups):
            ids = [a for group in groups for a in group]
        case Intensity(a, b, c, d):
            ids = (a, b, c, d)
        case BestOf(_, shown):
            ids = shown
        case WeightBound() | Recalled():
            ids = ()
    return tuple(dict.fromkeys(ids))


def phrase(statement: Statement, labels: Mapping[Hashable, str] | None = None) -> str:
    """`statement` in the user's words.

    Examples
    --------
    >>> phrase(Prefer("r3", "r6")), phrase(WeightBound("support", low=0.2))
    ('r3 over r6', "weight of 'support' at least 0.2")
    """
    named = labels or {}

    def name(a: Hashable) -> str:
        return named.get(a, str(a))

    match statement:
        case Prefer(a, b):
            return f"{name(a)} over {name(b)}"
        case Indifferent(a, b):
            return f"{name(a)} as good as {name(b)}"
        case Ranking(groups):
            return " > ".join(" = ".join(name(a) for a in group) for group in groups)
        case Intensity(a, b, c, d):
            return f"{name(a)} over {name(b)} by more than {name(c)} over {name(d)}"
        case BestOf(best, shown):
            rest = ", ".join(name(a) for a in shown if a != best)
            return f"{name(best)} best of those shown (the others: {rest})"
        case WeightBound(criterion, low, high):
            sides = [f"at least {low}"] if low is not None else []
            sides += [f"at most {high}"] if high is not None else []
            return f"weight of '{criterion}' {' and '.join(sides)}"
        case Recalled():
            return f"{statement.phrase} ({statement.about or 'earlier'})"


def check(statement: Statement, criteria: Criteria) -> None:
    """Raise PreferenceError if `statement` names what `criteria` lack, or compares x with x."""
    for alternative in alternatives_in(statement):
        criteria.position(alternative)
    match statement:
        case Prefer(a, b) | Indifferent(a, b) if a == b:
            raise PreferenceError(f"{a!r} is compared with itself. Name two different ones.")
        case Intensity(a, b, c, d) if a == b or c == d or (a, b) == (c, d):
            raise PreferenceError(
                f"'{phrase(statement)}' compares something with itself. Name two different pairs."
            )
        case WeightBound(name):
            criteria.column(name)
        case Recalled():
            for name, _ in statement.terms:
                criteria.column(name)
        case _:
            pass


def kind_of(statement: Statement) -> Kind:
    """Whether the elementary `statement` is a strict, a weak or an equality constraint."""
    match statement:
        case Indifferent():
            return "equal"
        case WeightBound():
            return "weak"
        case Recalled(kind):
            return kind
        case _:
            return "strict"


def constraint_row(
    statement: Statement,
    row: Callable[[Hashable], NDArray[Any]],
    unit: Callable[[str], NDArray[Any]],
    number: Callable[[float], Any] = float,
    nothing: Any = 0.0,
) -> NDArray[Any]:
    """Row g of the elementary `statement`, in whatever numbers `row`, `unit` and `number` give.

    Parameters
    ----------
    row : callable
        Values of an alternative.
    unit : callable
        1 for the named criterion, 0 for the others.
    number : callable
        Turns a bound into the same kind of number.
    nothing : number or array
        Zero in that kind of number.
    """
    found: NDArray[Any]
    match statement:
        case Prefer(a, b) | Indifferent(a, b):
            found = row(a) - row(b)
        case Intensity(a, b, c, d):
            found = (row(a) - row(b)) - (row(c) - row(d))
        case WeightBound(name, low, high):
            # w_j >= low is (e_j - low·1)·w >= 0, because the weights sum to 1.
            lower = low is not None
            found = unit(name) - number(low or 0.0) if lower else number(high or 0.0) - unit(name)
        case Recalled(_, terms):
            found = sum((unit(name) * number(value) for name, value in terms), start=nothing)
        case Ranking() | BestOf():
            raise PreferenceError(f"{statement!r} is not elementary. Expand it first.")
    return found


def constraints_of(
    statements: Iterable[Statement],
    criteria: Criteria,
    *,
    labels: Mapping[Hashable, str] | None = None,
) -> tuple[Constraint, ...]:
    """All elementary constraints of `statements`, in order.

    Raises
    ------
    PreferenceError
        A statement names an alternative or a criterion that `criteria` do not have.

    Examples
    --------
    >>> c = Criteria(("a", "b"), ("short", "sure"), [[1, 0.25], [0, 0.75]])
    >>> [(k.kind, k.row.tolist(), k.phrase) for k in constraints_of([Prefer("a", "b")], c)]
    [('strict', [1.0, -0.5], 'a over b')]
    """
    identity = np.eye(len(criteria.names))

    def unit(name: str) -> FloatArray:
        found: FloatArray = identity[criteria.column(name)]
        return found

    result = []
    for source, statement in enumerate(statements):
        check(statement, criteria)
        for part in elementary(statement):
            row = constraint_row(part, criteria.row, unit, nothing=np.zeros(len(identity)))
            result.append(Constraint(row, kind_of(part), part, source, phrase(part, labels)))
    return tuple(result)
