"""Questions in the terminal: rules side by side, answered by single keys.

With a terminal, keys are read as they are pressed, arrows included. Without one, each line of
standard input is one answer, so that a script can answer too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator
from typing import TYPE_CHECKING, cast

import click

from rulelens.cli.progress import say

if TYPE_CHECKING:
    from rulelens.preference.questions import Form, Goal, Question
    from rulelens.preference.session import PreferenceSession

_KEYS = {
    "\x1b[D": "left",
    "\x1bOD": "left",
    "\x1b[C": "right",
    "\x1bOC": "right",
    "\x1b[A": "up",
    "\x1bOA": "up",
    "\x1b[B": "down",
    "\x1bOB": "down",
    "\r": "enter",
    "\n": "enter",
    "\x03": "q",
    "\x04": "q",
}
PAIR_HELP = "← or a: the left one · → or b: the right one · = equal · s skip · u undo · q enough"
_SIDE_BY_SIDE = 50
"""Columns of a terminal from which two rules have room beside each other."""
BEST_HELP = "1 to {n}, or ↑ ↓ and Enter: the best · = all equal · s skip · u undo · q enough"


def keys() -> Iterator[str]:
    """Answers as short words: single keys of a terminal, or lines of standard input."""
    if sys.stdin is None:  # closed by the caller
        return
    if sys.stdin.isatty():
        while True:
            try:
                key = click.getchar()
            except (EOFError, KeyboardInterrupt):
                return
            yield _KEYS.get(key, key.lower())
    for line in sys.stdin:
        yield line.strip().lower() or "q"


def ask(
    session: PreferenceSession,
    *,
    limit: int | None = None,
    goal: str = "top_k",
    form: str = "pair",
    k: int = 5,
    save: Callable[[], None] = lambda: None,
) -> int:
    """Ask until enough is known, the limit is reached or the person stops.

    An answer that contradicts earlier ones is shown with what it contradicts and taken back.

    Parameters
    ----------
    session : PreferenceSession
    limit : int, optional
        Most answers.
    goal, form, k
        See `PreferenceSession.next_question`.
    save : callable
        Called after every answer.

    Returns
    -------
    int
        Answers given, without those taken back.
    """
    said = 0
    told = False
    pressed = keys()
    while limit is None or said < limit:
        question = session.next_question(cast("Goal", goal), cast("Form", form), k)
        if question is None:
            say("More answers would change nothing.")
            break
        if question.form != form and not told:
            say("No more than two rules at a time are worth asking about now: here is a pair.")
        told = question.form != form
        _show(session, question, said, k, limit)
        answer = _answer(question, pressed)
        if answer == "q":
            break
        if answer == "u":
            if _take_back(session):
                said = max(0, said - 1)
            save()
            continue
        if answer == "s":
            session.skip(question)
            save()
            continue
        session.answer(question, answer[0] if answer else None)
        said += 1
        conflict = session.conflict()
        if conflict is not None:
            say(f"{conflict}\nThe last answer is taken back.")
            session.undo()
            said -= 1
        save()
    return said


def _take_back(session: PreferenceSession) -> bool:
    """Undo the latest answer or skip, and say which; whether it was an answer."""
    if not session.standing:
        say("There is nothing to undo.")
        return False
    latest = session.standing[-1]
    if latest.statement is None:
        session.unskip()
        names = (session.labels.get(a, f"rule {a}") for a in latest.shown)
        say(f"Taken back: the skip of {' and '.join(names)}.")
        return False
    answer = session.phrases[-1]
    session.undo()
    say(f"Taken back: the answer {answer}.")
    return True


def _answer(question: Question, pressed: Iterator[str]) -> str | tuple[Hashable, ...]:
    """ "q", "u", "s", an empty tuple for no preference, or the one chosen."""
    shown = question.shown
    names = {"a": 0, "left": 0, "b": 1, "right": 1} if len(shown) == 2 else {}
    names |= {str(i + 1): i for i in range(len(shown))}
    marked = 0
    for key in pressed:
        if key in ("q", "s", "u"):
            return key
        if key == "=":
            return ()
        if key in names:
            return (shown[names[key]],)
        if len(shown) > 2 and key in ("up", "down", "enter"):
            if key == "enter":
                return (shown[marked],)
            marked = (marked + (1 if key == "down" else -1)) % len(shown)
            say(f"  marked: {marked + 1}")
            continue
        if key == "enter":
            return "q"
        say(
            f"That is no answer. {PAIR_HELP if len(shown) == 2 else BEST_HELP.format(n=len(shown))}"
        )
    return "q"


def _show(
    session: PreferenceSession, question: Question, said: int, k: int, limit: int | None
) -> None:
    from rich.console import Console
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    shown = question.shown
    explanation = getattr(session, "explanation", None)
    texts = dict(session.labels)
    if explanation is not None:
        covered = explanation.counts.tp + explanation.counts.fp
        for number, rule in enumerate(explanation.rules):
            texts[number] = f"{rule.antecedent()}\n\n{covered[number]} training rows"
    head = f"Question {said + 1}{'' if limit is None else f' of at most {limit}'}. "
    if question.agreement == question.agreement:
        head += f"Your top {k} is expected to be right to {question.agreement:.0%} (Jaccard index)"
        head += f"; this answer is worth about {question.information:.2f} bits."
    console.print(Text(f"\n{head}"))
    if question.enough:
        console.print(Text("More answers would change little: q to stop."))
    console.print(Text("Which rule would you rather be given as the reason?"))
    grid = Table.grid(expand=True, padding=(0, 1))
    panels = []
    for i, alternative in enumerate(shown):
        text = texts.get(alternative, str(alternative)).replace(" AND ", "\nAND ")
        title = f"{'AB'[i] if len(shown) == 2 else i + 1}: rule {alternative}"
        panels.append(Panel(Text(text), title=Text(title), title_align="left"))
    if len(shown) == 2 and console.width >= _SIDE_BY_SIDE:
        grid.add_column(ratio=1)
        grid.add_column(ratio=1)
        grid.add_row(*panels)
        console.print(grid)
    else:
        for panel in panels:
            console.print(panel)
    console.print(Text(PAIR_HELP if len(shown) == 2 else BEST_HELP.format(n=len(shown))))
