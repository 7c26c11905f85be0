"""Sessions as files: versioned JSON, checked when read, written whole or not at all."""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from rulelens.errors import FormatError, OptionError, PreferenceError
from rulelens.files import parse_json, read_text, write_text
from rulelens.preference.questions import Question
from rulelens.preference.statements import (
    BestOf,
    Indifferent,
    Intensity,
    Prefer,
    Ranking,
    Recalled,
    Statement,
    WeightBound,
    alternatives_in,
    phrase,
)
from rulelens.preference.table import Criteria, is_number

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.preference.session import PreferenceSession

FORMAT = "rulelens.preference_session"
VERSION = 1

S = TypeVar("S", bound="PreferenceSession")


def _plain(value: object) -> bool:
    """Whether JSON holds `value` as it is; infinite numbers and NaN it does not."""
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, str | int | bool)


def id_to_json(alternative: Hashable) -> Any:
    """An id as JSON: text, numbers, true/false, null; a tuple as {"tuple": [...]}."""
    if _plain(alternative):
        return alternative
    if isinstance(alternative, tuple):
        return {"tuple": [id_to_json(a) for a in alternative]}
    raise PreferenceError(
        f"The id {alternative!r} of type {type(alternative).__name__} cannot be saved as JSON. Use "
        "text or whole numbers as ids."
    )


def id_from_json(value: Any) -> Hashable:
    """Inverse of `id_to_json`."""
    if isinstance(value, dict) and set(value) == {"tuple"} and isinstance(value["tuple"], list):
        return tuple(id_from_json(v) for v in value["tuple"])
    if _plain(value):
        return cast(Hashable, value)
    raise FormatError(f"{value!r} is no id. Expected text, a number or {{'tuple': [...]}}.")


def statement_to_dict(statement: Statement) -> dict[str, Any]:
    """A statement as JSON-safe dict.

    Examples
    --------
    >>> statement_to_dict(Prefer("a", 3))
    {'type': 'prefer', 'better': 'a', 'worse': 3}
    """
    match statement:
        case Prefer(a, b):
            return {"type": "prefer", "better": id_to_json(a), "worse": id_to_json(b)}
        case Indifferent(a, b):
            return {"type": "indifferent", "first": id_to_json(a), "second": id_to_json(b)}
        case Ranking(groups):
            return {"type": "ranking", "groups": [[id_to_json(a) for a in g] for g in groups]}
        case Intensity(a, b, c, d):
            ids = [id_to_json(x) for x in (a, b, c, d)]
            return {"type": "intensity", "pairs": [ids[:2], ids[2:]]}
        case BestOf(best, shown):
            ids = [id_to_json(a) for a in shown]
            return {"type": "best_of", "best": id_to_json(best), "shown": ids}
        case WeightBound(name, low, high):
            return {"type": "weight_bound", "name": name, "low": low, "high": high}
        case Recalled(kind, terms, said, about):
            return {
                "type": "recalled",
                "kind": kind,
                "terms": [list(t) for t in terms],
                "phrase": said,
                "about": about,
            }


def statement_from_dict(data: Any) -> Statement:
    """Inverse of `statement_to_dict`; a FormatError names what is wrong."""
    read = id_from_json
    try:
        match data["type"]:
            case "prefer":
                return Prefer(read(data["better"]), read(data["worse"]))
            case "indifferent":
                return Indifferent(read(data["first"]), read(data["second"]))
            case "ranking":
                return Ranking(
                    tuple(tuple(read(a) for a in list_of(g)) for g in list_of(data["groups"]))
                )
            case "intensity":
                (a, b), (c, d) = map(list_of, list_of(data["pairs"]))
                return Intensity(read(a), read(b), read(c), read(d))
            case "best_of":
                return BestOf(read(data["best"]), tuple(read(a) for a in list_of(data["shown"])))
            case "weight_bound":
                return WeightBound(data["name"], data["low"], data["high"])
            case "recalled":
                terms = tuple(
                    (_text(n), _number(v)) for n, v in map(list_of, list_of(data["terms"]))
                )
                return Recalled(data["kind"], terms, _text(data["phrase"]), _text(data["about"]))
            case other:
                raise FormatError(f"Unknown type of statement {other!r}.")
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"This is no statement: {_short(data)} ({error}).") from error


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise FormatError(f"{_short(value)} is there where a text is expected.")
    return value


def list_of(value: object) -> list[Any]:
    """`value` if it is a list: text and objects could be walked through as well."""
    if not isinstance(value, list):
        raise FormatError(f"{_short(value)} is there where a list is expected.")
    return value


def is_version(value: object, expected: int) -> bool:
    """Whether a file has the version `expected`: true is no 1."""
    return type(value) is int and value == expected


def _number(value: object) -> float:
    if not is_number(value):
        raise FormatError(f"{_short(value)} is there where a number is expected.")
    return float(cast(float, value))


def _short(value: object) -> str:
    """What was found, in a message: never pages of it."""
    try:
        return reprlib.repr(value)
    except (ValueError, RecursionError):  # whole numbers of many digits have no text
        return f"something of type {type(value).__name__}"


def session_to_dict(session: PreferenceSession) -> dict[str, Any]:
    """State of a session: everything that `session_from_dict` needs to replay it."""
    criteria = session.criteria
    return {
        "format": FORMAT,
        "version": VERSION,
        "criteria": {
            "names": list(criteria.names),
            "alternatives": [id_to_json(a) for a in criteria.alternatives],
            "values": criteria.values.tolist(),
        },
        "labels": [[id_to_json(a), text] for a, text in session.labels.items()],
        "background": [statement_to_dict(r) for r in session.background],
        "events": [
            {
                "action": e.action,
                "statement": None if e.statement is None else statement_to_dict(e.statement),
                "shown": [id_to_json(a) for a in e.shown],
                "at": e.at,
            }
            for e in session.events
        ],
    }


def session_from_dict(
    data: Any,
    criteria: Criteria | pd.DataFrame | None = None,
    *,
    missing: str = "error",
    build: Callable[..., S],
) -> tuple[S, tuple[str, ...]]:
    """Replay a saved session; returns it and the phrases of statements left out.

    Raises
    ------
    FormatError
        The data are no session of a version that can be read, with the place that is wrong.
    PreferenceError
        Statements name alternatives that `criteria` do not have, and `missing` is "error".
    """
    if missing not in ("error", "set_aside"):
        raise OptionError(f"missing is {missing!r}. Expected 'error' or 'set_aside'.")
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise FormatError(f"This is no saved session: its 'format' is not '{FORMAT}'.")
    if not is_version(data.get("version"), VERSION):
        raise FormatError(
            f"The session has version {data.get('version')!r}; version {VERSION} can be read. "
            "Update Rulelens, or save the session again with the version that wrote it."
        )
    place, given = "criteria", criteria is not None
    try:
        if criteria is None:
            table = data["criteria"]
            ids = tuple(id_from_json(a) for a in list_of(table["alternatives"]))
            names = tuple(_text(name) for name in list_of(table["names"]))
            values = [[_number(v) for v in list_of(row)] for row in list_of(table["values"])]
            criteria = Criteria(ids, names, np.array(values).reshape(-1, len(names)))
        place = "labels"
        labels = {id_from_json(a): _text(text) for a, text in map(list_of, list_of(data["labels"]))}
        place = "background"
        background = [statement_from_dict(d) for d in list_of(data["background"])]
        session = build(criteria, labels=labels, background=background)
        aside: list[str] = []
        gone: list[tuple[Hashable, ...]] = []
        for number, event in enumerate(list_of(data["events"])):
            place = f"event {number}"
            with session.clock(_text(event["at"])):
                _replay(session, event, aside, gone)
    except (FormatError, PreferenceError) as error:
        if given and not isinstance(error, FormatError) and not place.startswith("event"):
            raise  # the alternatives that were given are at fault, not the file
        raise FormatError(f"The saved session is damaged at {place}: {error}") from error
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise FormatError(f"The saved session is damaged at {place}: {error!r}.") from error
    except RecursionError:
        raise FormatError(f"The saved session is nested too deeply at {place}.") from None
    if aside and missing == "error":
        raise PreferenceError(
            f"{len(aside)} statements name alternatives that are no longer there: "
            f"{'; '.join(aside[:5])}. Load with missing='set_aside' to go on without them."
        )
    return session, tuple(aside)


def _replay(
    session: PreferenceSession, event: Any, aside: list[str], gone: list[tuple[Hashable, ...]]
) -> None:
    """Repeat one event; what is about other alternatives goes to `aside`, if a skip to `gone`."""
    action, seen = event["action"], list_of(event.get("shown", []))
    shown = tuple(id_from_json(a) for a in seen)
    if action == "skip":
        question = Question(shown[0], shown[1], shown[2:])
        if all(a in session.criteria for a in shown):
            session.skip(question)
        else:
            # A question about what is not there is never asked: nothing is lost.
            gone.append(shown)
        return
    if action == "undo" and event["statement"] is None:
        if session.skipped[-1:] == (shown,):
            session.unskip()
        elif shown in gone:
            gone.remove(shown)
        else:
            raise FormatError(f"The skip of {_short(seen)} is undone, but it is not the last one.")
        return
    statement = statement_from_dict(event["statement"])
    if action == "undo":
        # What was set aside cannot be undone, and need not be.
        said = phrase(statement)
        if session.statements and session.statements[-1] == statement:
            session.undo()
        elif said in aside:
            aside.remove(said)
        else:
            raise FormatError(f"'{said}' is undone, but it is not the last statement.")
    elif action == "state":
        known = all(a in session.criteria for a in alternatives_in(statement))
        if known and not (
            isinstance(statement, WeightBound) and statement.name not in session.criteria.names
        ):
            session.add(statement)
        else:
            aside.append(phrase(statement))
    else:
        raise FormatError(f"Unknown action {action!r}.")


def write_json(data: dict[str, Any], path: str | Path) -> None:
    """Write JSON beside `path` and move it there in one step.

    Raises
    ------
    OptionError
        What is given is no name of a file.
    OutputError
        The folder does not exist, or cannot be written to.
    """
    write_text(path, json.dumps(data, ensure_ascii=False, allow_nan=False, indent=1))


def read_json(path: str | Path) -> Any:
    """Value of a file of strict JSON; a FormatError names the line and column of a fault."""
    text = read_text(path)
    try:
        return parse_json(text)
    except FormatError as error:
        raise FormatError(f"{path}: {error}") from None


def save_session(session: PreferenceSession, path: str | Path) -> None:
    """Write `session` as JSON."""
    write_json(session_to_dict(session), path)


def load_session(
    path: str | Path,
    criteria: Criteria | pd.DataFrame | None = None,
    *,
    missing: str = "error",
    build: Callable[..., S],
) -> tuple[S, tuple[str, ...]]:
    """Read and replay what `save_session` wrote."""
    return session_from_dict(read_json(path), criteria, missing=missing, build=build)
