"""The statements of a conversation, in order, with everything that happened to them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

import numpy as np

from rulelens.errors import PreferenceError
from rulelens.preference.notation import parse_ranking
from rulelens.preference.statements import (
    BestOf,
    Constraint,
    Indifferent,
    Intensity,
    Prefer,
    Ranking,
    Recalled,
    Statement,
    WeightBound,
    alternatives_in,
    check,
    constraints_of,
    phrase,
)
from rulelens.preference.table import LARGEST_RATIO, SMALLEST, Criteria, sizes_differ

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.preference.questions import Question

Action: TypeAlias = Literal["state", "undo", "skip"]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened: a statement or a skipped question, made or taken back.

    Parameters
    ----------
    action : {"state", "undo", "skip"}
    statement : Statement or None
        What was stated or undone; None where it was a skip.
    shown : tuple of hashable
        Alternatives of the question that was skipped, or whose skip was undone.
    at : str
        Time in UTC, ISO 8601.
    """

    action: Action
    statement: Statement | None = None
    shown: tuple[Hashable, ...] = ()
    at: str = ""


class StatementLog:
    """Statements about the alternatives of `criteria`; the first half of a session.

    Parameters
    ----------
    criteria : Criteria or pandas DataFrame
    labels : mapping of id to str, optional
    background : sequence of Recalled
        Statements of a profile, which hold besides those made here and cannot be undone here.
    """

    def __init__(
        self,
        criteria: Criteria | pd.DataFrame,
        *,
        labels: Mapping[Hashable, str] | None = None,
        background: Sequence[Recalled] = (),
    ) -> None:
        if not isinstance(criteria, Criteria):
            if not (hasattr(criteria, "index") and hasattr(criteria, "columns")):
                raise PreferenceError(
                    f"A session needs Criteria or a pandas DataFrame, found "
                    f"{type(criteria).__name__}. Put alternatives in rows, criteria in columns."
                )
            criteria = Criteria.from_frame(criteria)
        if len(criteria) < 2:
            raise PreferenceError(
                f"There {'is' if len(criteria) == 1 else 'are'} {len(criteria)} alternative"
                f"{'' if len(criteria) == 1 else 's'}; at least 2 are needed to prefer one."
            )
        spread = np.ptp(criteria.values, axis=0)
        spread = spread[spread > 0]
        if len(spread) and spread.max() > LARGEST_RATIO * spread.min():
            raise PreferenceError(sizes_differ(criteria))
        if len(spread) and spread.max() < SMALLEST:
            raise PreferenceError(
                f"The criteria hardly differ: the largest spread of one is {spread.max():.3g}. "
                "Rescale them, best to [0, 1] each."
            )
        recalled = recalled_ones(background)
        self._criteria = criteria.widened([n for r in recalled for n, _ in r.terms])
        self._background = recalled
        self._labels = _label_texts(labels)
        self._statements: tuple[Statement, ...] = ()
        self._events: tuple[Event, ...] = ()
        self._now = ""

    @property
    def criteria(self) -> Criteria:
        """The alternatives and their criteria."""
        return self._criteria

    @property
    def labels(self) -> Mapping[Hashable, str]:
        """Names of alternatives in messages."""
        return dict(self._labels)

    @property
    def statements(self) -> tuple[Statement, ...]:
        """Everything stated so far and not undone, in order."""
        return self._statements

    @property
    def background(self) -> tuple[Recalled, ...]:
        """Statements of a profile, which hold besides those made here."""
        return self._background

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that happened, in order: the audit of this session."""
        return self._events

    @property
    def standing(self) -> tuple[Event, ...]:
        """Statements and skips that were not taken back, in order: the last one is the latest."""
        left: list[Event] = []
        for event in self._events:
            if event.action != "undo":
                left.append(event)
                continue
            undone: Action = "skip" if event.statement is None else "state"
            del left[max(i for i, e in enumerate(left) if e.action == undone)]
        return tuple(left)

    @property
    def skipped(self) -> tuple[tuple[Hashable, ...], ...]:
        """Alternatives of each question that was skipped and may not be asked again, in order."""
        return tuple(e.shown for e in self.standing if e.action == "skip")

    @property
    def phrases(self) -> tuple[str, ...]:
        """The statements in the user's words."""
        return tuple(phrase(s, self._labels) for s in self._statements)

    @property
    def reference(self) -> tuple[Hashable, ...]:
        """Ids that occur in statements, in order of first mention."""
        named = (a for s in self._statements for a in alternatives_in(s))
        return tuple(dict.fromkeys(named))

    def add(self, statement: Statement) -> Self:
        """Add any statement; one that names what is unknown is an error and is not kept."""
        if not isinstance(statement, Statement):
            raise PreferenceError(
                f"{statement!r} is no statement. Expected Prefer, Indifferent, Ranking, "
                "Intensity, BestOf, WeightBound or Recalled, or use rank, prefer, best_of …."
            )
        check(statement, self._criteria)
        self._statements = (*self._statements, statement)
        self._record("state", statement)
        return self

    @contextmanager
    def clock(self, at: str) -> Iterator[None]:
        """Record events as of the time `at`, while an earlier session is replayed."""
        self._now = at
        try:
            yield
        finally:
            self._now = ""

    def _record(
        self,
        action: Action,
        statement: Statement | None = None,
        shown: tuple[Hashable, ...] = (),
    ) -> None:
        at = self._now or datetime.now(UTC).isoformat(timespec="seconds")
        self._events = (*self._events, Event(action, statement, shown, at))

    def rank(self, ranking: str | Sequence[Hashable | Sequence[Hashable]]) -> Self:
        """State a ranking, best first: ``[3, 6, [9, 7]]`` or ``"3>6>9=7"``; a list is a tie.

        Raises
        ------
        PreferenceError
            An unknown id, an id named twice, fewer than 2 ids, or text that cannot be read.
        """
        if isinstance(ranking, str):
            parsed = parse_ranking(ranking)
            return self.add(Ranking(tuple(tuple(self.resolve(t) for t in g) for g in parsed)))
        if isinstance(ranking, AbstractSet):
            raise PreferenceError(
                f"A ranking needs an order, and {ranking!r} has none. Give a list, best first."
            )
        groups: list[tuple[Hashable, ...]] = []
        for item in _listed(ranking, "A ranking"):
            if item in self._criteria or isinstance(item, str) or not isinstance(item, Sequence):
                groups.append((self.resolve(item),))
            else:
                groups.append(tuple(self.resolve(a) for a in item))
        return self.add(Ranking(tuple(groups)))

    def prefer(self, better: Hashable, worse: Hashable) -> Self:
        """State that `better` is better than `worse`."""
        return self.add(Prefer(self.resolve(better), self.resolve(worse)))

    def indifferent(self, first: Hashable, second: Hashable) -> Self:
        """State that both are equally good."""
        return self.add(Indifferent(self.resolve(first), self.resolve(second)))

    def undo(self) -> Self:
        """Withdraw the last statement; an error if there is none. For a skip there is `unskip`."""
        if not self._statements:
            raise PreferenceError("There is nothing to undo: no statement was made yet.")
        last = self._statements[-1]
        self._statements = self._statements[:-1]
        self._record("undo", last)
        return self

    def intensity(
        self, better: Hashable, worse: Hashable, less_better: Hashable, less_worse: Hashable
    ) -> Self:
        """State that `better` beats `worse` by more than `less_better` beats `less_worse`."""
        ids = [self.resolve(a) for a in (better, worse, less_better, less_worse)]
        return self.add(Intensity(*ids))

    def best_of(self, best: Hashable, shown: Sequence[Hashable]) -> Self:
        """State that `best` is the best of those `shown`."""
        return self.add(
            BestOf(self.resolve(best), tuple(map(self.resolve, _listed(shown, "What is shown"))))
        )

    def bound(self, name: str, *, low: float | None = None, high: float | None = None) -> Self:
        """State that the weight of criterion `name` is at least `low` and at most `high`."""
        return self.add(WeightBound(name, low, high))

    def answer(self, question: Question, choice: Hashable | int | None) -> Self:
        """Answer a question of `next_question`.

        Parameters
        ----------
        question : Question
        choice : hashable, int or None
            The better (best) of those shown; with form "insert" the number of alternatives of the
            chain that are better; None for "no preference": all shown are equally good.
        """
        shown = self._shown(question)
        if choice is None and question.form != "insert":
            return self.add(Ranking((shown,)))
        if question.form == "insert":
            chain = shown[1:]
            if isinstance(choice, bool) or not isinstance(choice, int):
                raise PreferenceError(
                    f"Where {question.a!r} goes was answered by {choice!r}. Expected how many of "
                    f"the {len(chain)} others are better, 0 to {len(chain)}."
                )
            if not 0 <= choice <= len(chain):
                raise PreferenceError(
                    f"{choice} of {len(chain)} others cannot be better. Expected 0 to {len(chain)}."
                )
            around = (*chain[max(choice - 1, 0) : choice], question.a, *chain[choice : choice + 1])
            return self.add(Ranking(tuple((a,) for a in around)))
        best = self.resolve(choice)
        if len(shown) == 2 and best in shown:
            return self.add(Prefer(best, shown[1] if best == shown[0] else shown[0]))
        return self.add(BestOf(best, shown))

    def skip(self, question: Question) -> Self:
        """Leave a question unanswered; it is not asked again.

        Raises
        ------
        PreferenceError
            It is no question, or one about alternatives that this session does not have.
        """
        self._record("skip", shown=self._shown(question))
        return self

    def unskip(self) -> Self:
        """Take back the last skip, so that its question may be asked again; an error if none.

        Examples
        --------
        >>> c = Criteria(("a", "b"), ("x", "y"), [[1, 0], [0, 1]])
        >>> from rulelens.preference.questions import Question
        >>> log = StatementLog(c).skip(Question("a", "b"))
        >>> log.skipped, log.unskip().skipped
        ((('a', 'b'),), ())
        """
        skipped = self.skipped
        if not skipped:
            raise PreferenceError("There is no skip to take back: no question was skipped.")
        self._record("undo", shown=skipped[-1])
        return self

    def _shown(self, question: Question) -> tuple[Hashable, ...]:
        """Alternatives of `question`, if it is one about those of this session."""
        shown = _shown(question)
        foreign = [a for a in shown if a not in self._criteria]
        if foreign:
            raise PreferenceError(
                f"The question is about {', '.join(map(repr, foreign))}, which this session does "
                "not have: it was asked by another one. Expected what this session's own "
                "next_question() gave."
            )
        return tuple(self._criteria.alternatives[self._criteria.position(a)] for a in shown)

    def resolve(self, alternative: Hashable) -> Hashable:
        """Id that `alternative` means: itself, or the one id whose text it is."""
        if isinstance(alternative, str) and alternative not in self._criteria:
            same = [a for a in self._criteria.alternatives if str(a) == alternative]
            if len(same) == 1:
                return same[0]
        return self._criteria.alternatives[self._criteria.position(alternative)]

    def constraints(self) -> tuple[Constraint, ...]:
        """What was said as linear constraints on the weights.

        Those of the background come first; their `source` is negative, -1 for the first.
        """
        own = constraints_of(self._statements, self._criteria, labels=self._labels)
        if not self._background:
            return own
        earlier = constraints_of(self._background, self._criteria)
        return (
            *(Constraint(c.row, c.kind, c.statement, -1 - c.source, c.phrase) for c in earlier),
            *own,
        )


def _listed(items: object, what: str) -> tuple[Hashable, ...]:
    """`items` as a tuple, if they are several and not one text."""
    if isinstance(items, str | bytes) or not isinstance(items, Iterable):
        raise PreferenceError(
            f"{what} is a list of alternatives, not {items!r} of type {type(items).__name__}."
        )
    return tuple(items)


def _shown(question: Question) -> tuple[Hashable, ...]:
    from rulelens.preference.questions import Question

    if not isinstance(question, Question):
        raise PreferenceError(
            f"{question!r} is no question. Expected what next_question() gave; it gives None when "
            "nothing is left to ask."
        )
    return question.shown


def recalled_ones(background: Sequence[Recalled]) -> tuple[Recalled, ...]:
    """`background` as a tuple, if all in it are recalled statements."""
    found = tuple(background) if isinstance(background, Iterable) else (background,)
    for item in found:
        if not isinstance(item, Recalled):
            raise PreferenceError(
                f"The background has {item!r}. Expected recalled statements, such as "
                "profile.statements."
            )
    return found


def _label_texts(labels: Mapping[Hashable, str] | None) -> dict[Hashable, str]:
    if labels is None:
        return {}
    if not isinstance(labels, Mapping):
        raise PreferenceError(
            f"labels is of type {type(labels).__name__}. Expected a dict of id to text."
        )
    return {a: str(text) for a, text in labels.items()}
