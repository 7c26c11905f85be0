from __future__ import annotations

import json

import numpy as np
import pytest

from rulelens.errors import FormatError, OptionError, OutputError, PreferenceError
from rulelens.preference.criteria import Criteria
from rulelens.preference.session import PreferenceSession
from rulelens.preference.session_file import (
    id_from_json,
    id_to_json,
    statement_from_dict,
    statement_to_dict,
)
from rulelens.preference.statements import Prefer, Recalled


@pytest.fixture
def full(example):
    session = PreferenceSession(
        example,
        labels={"r3": "rule three"},
        background=[Recalled("strict", (("Size", 1.0), ("Chrom", -1.0)), "r1 over r2", "row 4")],
    )
    session.rank("r3 > r6 = r9").prefer("r7", "r2").undo()
    session.intensity("r3", "r6", "r0", "r2").best_of("r5", ["r5", "r1", "r2"])
    session.bound("supp", high=0.5).skip(session.next_question())
    return session


def test_round_trip_replays_everything(full, tmp_path):
    full.save(tmp_path / "s.json")
    again = PreferenceSession.load(tmp_path / "s.json")
    assert again.statements == full.statements
    assert again.background == full.background
    assert again.labels == full.labels
    assert [(e.action, e.statement, e.shown) for e in again.events] == [
        (e.action, e.statement, e.shown) for e in full.events
    ]
    assert again.result().ranking == full.result().ranking
    np.testing.assert_array_equal(again.criteria.values, full.criteria.values)


def test_audit_remembers_what_was_undone(full):
    actions = [e.action for e in full.events]
    assert actions == ["state", "state", "undo", "state", "state", "state", "skip"]
    assert full.events[2].statement == Prefer("r7", "r2")
    assert all(e.at.endswith("+00:00") for e in full.events)


def test_audit_keeps_the_times_of_the_first_run(full):
    saved = full.to_dict()
    again = PreferenceSession.from_dict(saved)
    assert [e.at for e in again.events] == [e.at for e in full.events]


def test_rules_that_are_gone(full, tmp_path, example):
    full.save(tmp_path / "s.json")
    kept = [a for a in example.alternatives if a not in ("r9", "r1")]
    fewer = Criteria(tuple(kept), example.names, np.array([example.row(a) for a in kept]))
    with pytest.raises(PreferenceError, match="no longer there: r3 > r6 = r9"):
        PreferenceSession.load(tmp_path / "s.json", fewer)
    session = PreferenceSession.load(tmp_path / "s.json", fewer, missing="set_aside")
    assert len(session.set_aside) == 2
    assert len(session.statements) == 2
    with pytest.raises(OptionError, match="set_aside"):
        PreferenceSession.load(tmp_path / "s.json", fewer, missing="drop")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="x"), "no saved session"),
        (lambda d: d.update(version=2), "version 2; version 1 can be read"),
        (lambda d: d.pop("criteria"), "damaged at criteria"),
        (lambda d: d["criteria"].pop("names"), "damaged at criteria"),
        (lambda d: d.update(labels=[1]), "damaged at labels"),
        (lambda d: d.update(background=[{"type": "x"}]), "damaged at background"),
        (lambda d: d["events"].append({}), "damaged at event 7"),
        (
            lambda d: d["events"].append({"action": "fly", "at": "", "statement": None}),
            "damaged at event 7",
        ),
        (
            lambda d: d["events"].append(
                {"action": "undo", "at": "", "statement": statement_to_dict(Prefer("r1", "r2"))}
            ),
            "not the last statement",
        ),
    ],
)
def test_damaged_files_are_refused(full, change, message, tmp_path):
    data = full.to_dict()
    change(data)
    (tmp_path / "s.json").write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        PreferenceSession.load(tmp_path / "s.json")


def test_unreadable_files(tmp_path):
    with pytest.raises(FormatError, match="cannot be read"):
        PreferenceSession.load(tmp_path / "none.json")
    (tmp_path / "x.json").write_text('{"format":\n x', encoding="utf-8")
    with pytest.raises(FormatError, match="line 2 column 2"):
        PreferenceSession.load(tmp_path / "x.json")


def test_folder_that_does_not_exist(full, tmp_path):
    with pytest.raises(OutputError, match="Choose a folder that exists"):
        full.save(tmp_path / "none" / "s.json")


def test_failed_write_leaves_the_old_file(full, tmp_path, monkeypatch):
    import os

    path = tmp_path / "s.json"
    full.save(path)
    before = path.read_text(encoding="utf-8")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OutputError, match="No space left"):
        full.save(path)
    assert path.read_text(encoding="utf-8") == before
    assert [p.name for p in tmp_path.iterdir()] == ["s.json"]


@pytest.mark.parametrize("value", ["a", 3, 2.5, True, None, (1, "b", (2,))])
def test_ids_round_trip(value):
    assert id_from_json(json.loads(json.dumps(id_to_json(value)))) == value


def test_ids_that_json_lacks():
    with pytest.raises(PreferenceError, match="frozenset"):
        id_to_json(frozenset())
    with pytest.raises(FormatError, match="is no id"):
        id_from_json([1])


@pytest.mark.parametrize(
    "data", [{}, 3, {"type": "prefer"}, {"type": "intensity", "pairs": [[1, 2]]}]
)
def test_bad_statements(data):
    with pytest.raises(FormatError, match="no statement"):
        statement_from_dict(data)
