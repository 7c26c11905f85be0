from __future__ import annotations

import contextlib
import copy
import json

import numpy as np
import pytest

from rulelens.errors import (
    FormatError,
    InputError,
    OptionError,
    OutputError,
    PreferenceError,
    RulelensError,
)
from rulelens.preference.criteria import Criteria
from rulelens.preference.profile import Profile
from rulelens.preference.questions import Question
from rulelens.preference.session import PreferenceSession
from rulelens.preference.session_file import (
    id_from_json,
    id_to_json,
    statement_from_dict,
    statement_to_dict,
)
from rulelens.preference.statements import Prefer, Recalled
from rulelens.preference.xmcda import write_xmcda


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


def test_a_skip_that_was_taken_back_is_replayed(full, tmp_path, example):
    skipped = full.skipped[-1]
    full.skip(Question("r1", "r9")).unskip().prefer("r1", "r9").unskip()
    full.save(tmp_path / "s.json")
    again = PreferenceSession.load(tmp_path / "s.json")
    assert again.events == full.events
    assert again.skipped == full.skipped == ()
    assert again.events[-1].shown == skipped
    # Without the rules that it was about, there is no skip, and none to take back.
    fewer = Criteria(("r0", "r2"), example.names, np.array([example.row("r0"), example.row("r2")]))
    left = PreferenceSession.load(tmp_path / "s.json", fewer, missing="set_aside")
    assert left.skipped == ()
    full.skip(Question("r1", "r9")).save(tmp_path / "s.json")
    assert PreferenceSession.load(tmp_path / "s.json").skipped == (("r1", "r9"),)


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
        (
            lambda d: d["events"].append(
                {"action": "undo", "at": "", "statement": None, "shown": ["r1", "r2"]}
            ),
            "is not the last one",
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
    with pytest.raises(InputError, match="cannot be read"):
        PreferenceSession.load(tmp_path / "none.json")
    (tmp_path / "x.json").write_text('{"format":\n x', encoding="utf-8")
    with pytest.raises(FormatError, match="Line 2, column 2"):
        PreferenceSession.load(tmp_path / "x.json")


def test_folder_that_does_not_exist(full, tmp_path):
    with pytest.raises(OutputError, match="does not exist"):
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


def _places(data, at=()):
    yield at
    if isinstance(data, dict | list):
        keys = data if isinstance(data, dict) else range(len(data))
        for key in keys:
            yield from _places(data[key], (*at, key))


_JUNK = [None, 5, 1.5, True, "q", [], {}, [[]], {"tuple": 5}, [1, 2], 10**400, 1e308, "9" * 5000]


def test_no_change_of_a_file_ends_in_a_traceback(example):
    """Ragged values, text among numbers and huge integers were raw ValueErrors once."""
    session = PreferenceSession(example).rank("r3>r6=r9").bound("supp", low=0.1).undo()
    data = session.to_dict()
    for place in list(_places(data))[1:]:
        if place[:2] == ("criteria", "values") and place[2:3] > (1,):
            continue  # two rows of the table are enough: the others are read alike
        for junk in _JUNK:
            changed = copy.deepcopy(data)
            holder = changed
            for key in place[:-1]:
                holder = holder[key]
            holder[place[-1]] = junk
            with contextlib.suppress(RulelensError):
                PreferenceSession.from_dict(changed)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"format": "x", "format": "y"}', "occurs twice in one object"),
        ('{"format": NaN}', "NaN is not a JSON number"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a": ' + "9" * 5000 + "}", "A number in the JSON cannot be read"),
    ],
)
@pytest.mark.parametrize("kind", [PreferenceSession, Profile])
def test_files_are_strict_json(kind, text, message, tmp_path):
    (tmp_path / "x.json").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        kind.load(tmp_path / "x.json")


def test_ids_nested_without_end_are_refused(full):
    """The recursion limit was met in reading ids, beyond the reach of the JSON reader."""
    data = full.to_dict()
    deep = "r1"
    for _ in range(3_000):
        deep = {"tuple": [deep]}
    data["events"][0]["statement"] = {"type": "prefer", "better": deep, "worse": "r1"}
    with pytest.raises(FormatError):
        PreferenceSession.from_dict(data)


@pytest.mark.parametrize("value", ["0.5", True, 10**400, None])
def test_terms_of_a_profile_are_numbers(value):
    entry = {
        "type": "recalled",
        "kind": "strict",
        "terms": [["a", value]],
        "phrase": "",
        "about": "",
    }
    with pytest.raises(FormatError):
        statement_from_dict(entry)


def test_half_a_surrogate_pair_is_kept(tmp_path):
    criteria = Criteria(("a\udc80", "b"), ("x", "y"), [[1, 0], [0, 1]])
    PreferenceSession(criteria).prefer("b", "a\udc80").save(tmp_path / "s.json")
    assert PreferenceSession.load(tmp_path / "s.json").statements == (Prefer("b", "a\udc80"),)


def test_an_id_that_is_not_finite_is_not_saved():
    with pytest.raises(PreferenceError, match="nan"):
        id_to_json(float("nan"))


@pytest.mark.parametrize("path", [None, 3, "a\0b"])
def test_what_is_no_path(full, path):
    """`save(None)` and `load(None)` ended in a raw TypeError from pathlib."""
    for act in (
        lambda: full.save(path),
        lambda: PreferenceSession.load(path),
        lambda: Profile().save(path),
        lambda: Profile.load(path),
        lambda: write_xmcda(full, path),
    ):
        with pytest.raises(OptionError, match="The path"):
            act()


def test_the_mode_of_the_file_and_links_stay(full, tmp_path):
    """Each save made the file readable by its owner only, and put a file in place of a link."""
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("")
    real.chmod(0o644)
    link.symlink_to(real)
    full.save(link)
    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o644
    assert PreferenceSession.load(real).statements == full.statements


def test_a_name_as_long_as_the_file_system_allows(full, tmp_path):
    path = tmp_path / ("x" * 250 + ".json")
    full.save(path)
    assert PreferenceSession.load(path).statements == full.statements


@pytest.mark.parametrize("key", ["labels", "background", "events"])
@pytest.mark.parametrize("value", ["", {}, None, 0])
def test_what_is_no_list_is_not_taken_for_an_empty_one(full, key, value):
    with pytest.raises(FormatError, match="list is expected"):
        PreferenceSession.from_dict(full.to_dict() | {key: value})


def test_true_is_no_version(full):
    with pytest.raises(FormatError, match="version True"):
        PreferenceSession.from_dict(full.to_dict() | {"version": True})
    with pytest.raises(FormatError, match="version True"):
        Profile.from_dict(Profile().to_dict() | {"version": True})


def test_ids_of_one_letter_are_not_read_from_a_text():
    session = PreferenceSession(Criteria("ab", ("x", "y"), np.eye(2))).rank("a>b")
    data = session.to_dict()
    data["events"][0]["statement"]["groups"] = "ab"
    with pytest.raises(FormatError, match="list is expected"):
        PreferenceSession.from_dict(data)
