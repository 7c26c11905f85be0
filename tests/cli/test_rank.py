"""``rulelens rank``: answers by keys, kept at once, resumed, undone, and carried over."""

import io
import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import rulelens as rl
from rulelens.cli.asking import ask
from rulelens.preference.criteria import Criteria
from rulelens.preference.session import PreferenceSession

RANK = [sys.executable, "-c", "from rulelens.cli import main; main()", "rank"]


@pytest.fixture
def why(tmp_path) -> Path:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 3, (300, 6)).astype(float), columns=list("abcdef"))
    explainer = rl.RuleExplainer(lambda Z: (Z.sum(axis=1) > 6).astype(int)).fit(X)
    row = int(np.flatnonzero(X.sum(axis=1) > 8)[0])
    return explainer.explain(X.iloc[row]).to_json(tmp_path / "why.json")


def rank(why: Path, keys: str, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*RANK, str(why), *args], input=keys, capture_output=True, text=True, check=False,
        timeout=120,
    )  # fmt: skip


def test_answers_are_obeyed_and_kept(why):
    done = rank(why, "a\nb\nq\n", "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert len(record["statements"]) == 2
    place = {r["alternative"]: r["rank"] for r in record["ranking"]}
    session = rl.Explanation.from_json(why).resume(why.with_suffix(".session.json"))
    for s in session.statements:
        assert place[s.better] < place[s.worse]


def test_a_later_call_goes_on_and_fresh_puts_the_old_answers_aside(why):
    rank(why, "a\na\nq\n")
    done = rank(why, "b\nq\n", "--json")
    assert "Going on with 2 statements" in done.stderr
    assert len(json.loads(done.stdout)["statements"]) == 3
    done = rank(why, "q\n", "--fresh", "--json")
    assert json.loads(done.stdout)["statements"] == []
    assert why.with_name("why.session.json.old").exists()


def test_what_was_answered_before_a_crash_is_there(why):
    running = subprocess.Popen(
        [*RANK, str(why)], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    running.stdin.write("a\nb\n")
    running.stdin.flush()
    kept = why.with_suffix(".session.json")
    explanation = rl.Explanation.from_json(why)
    for _ in range(200):
        time.sleep(0.1)
        if kept.exists() and len(explanation.resume(kept).statements) == 2:
            break
    running.kill()
    running.communicate()
    assert len(explanation.resume(kept).statements) == 2


def test_undo_skip_equal_and_nonsense(why):
    done = rank(why, "u\nz\na\nu\ns\n=\nq\n", "--json")
    assert done.returncode == 0, done.stderr
    assert "There is nothing to undo" in done.stderr
    assert "That is no answer" in done.stderr
    statements = json.loads(done.stdout)["statements"]
    assert len(statements) == 1
    session = rl.Explanation.from_json(why).resume(why.with_suffix(".session.json"))
    assert [e.action for e in session.events] == ["state", "undo", "skip", "state"]


def test_best_of_five_by_number(why):
    done = rank(why, "2\nq\n", "--form", "best_of_5", "--json")
    assert done.returncode == 0, done.stderr
    assert "best" in json.loads(done.stdout)["statements"][0]


def test_another_five_after_a_skip(why):
    """After one skip only pairs were shown, and nothing said so."""
    done = rank(why, "s\ns\n2\nq\n", "--form", "best_of_5", "--json")
    assert done.returncode == 0, done.stderr
    session = rl.Explanation.from_json(why).resume(why.with_suffix(".session.json"))
    shown = [e.shown for e in session.events if e.action == "skip"]
    assert len({frozenset(ids) for ids in shown}) == 2
    assert all(len(ids) > 2 for ids in shown)
    assert len(session.statements[0].shown) > 2


def test_pairs_in_place_of_five_are_announced(monkeypatch, capsys):
    session = PreferenceSession(Criteria("ab", ("x", "y"), np.eye(2)))
    for form, times in (("best_of_5", 1), ("pair", 0)):
        monkeypatch.setattr("sys.stdin", io.StringIO("z\nu\nq\n"))
        assert ask(session, form=form) == 0
        assert capsys.readouterr().err.count("here is a pair") == times


def test_undo_takes_back_the_latest_of_answers_and_skips(why):
    """It left skips and removed an earlier answer in their place, or said there was nothing."""
    done = rank(why, "=\ns\nu\nu\ns\ns\nu\nu\nu\nq\n", "--json")
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if "Taken back" in line or "nothing" in line]
    kinds = ["skip of", "answer", "skip of", "skip of", "nothing to undo"]
    assert len(told) == len(kinds)
    assert all(kind in line for kind, line in zip(kinds, told, strict=True))
    session = rl.Explanation.from_json(why).resume(why.with_suffix(".session.json"))
    assert session.standing == ()
    assert len(session.events) == 8


def test_a_skip_of_an_earlier_call_can_be_taken_back(why):
    rank(why, "a\ns\nq\n")
    done = rank(why, "u\nq\n", "--json")
    assert "Taken back: the skip of rule" in done.stderr
    assert len(json.loads(done.stdout)["statements"]) == 1


def test_the_question_names_the_size_of_the_top(why):
    """The number of rules was shown in its place once: a loop had taken over its name."""
    done = rank(why, "q\n", "--top", "3")
    assert done.returncode == 0, done.stderr
    assert "Your top 3 is expected" in done.stderr


def test_arrow_keys_of_a_terminal(why):
    """Arrows come as three bytes; the terminal's own echo must not be needed."""
    parent, child = pty.openpty()
    running = subprocess.Popen(
        [*RANK, str(why), "--json"], stdin=child, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env=os.environ | {"TERM": "xterm"},
    )  # fmt: skip
    os.close(child)
    kept = why.with_suffix(".session.json")
    explanation = rl.Explanation.from_json(why)
    for number, key in enumerate(["\x1b[D", "\x1b[C"], start=1):
        for _ in range(300):
            os.write(parent, key.encode())
            time.sleep(0.3)
            if kept.exists() and len(explanation.resume(kept).statements) >= number:
                break
    os.write(parent, b"q")
    out, err = running.communicate(timeout=60)
    os.close(parent)
    assert running.returncode == 0, err
    assert len(json.loads(out)["statements"]) >= 2


def test_a_profile_is_written_and_used_for_the_next_row(why, tmp_path):
    profile = tmp_path / "me.json"
    rank(why, "a\na\nq\n", "--profile", str(profile))
    assert len(json.loads(profile.read_text("utf-8"))["statements"]) == 2
    other = why.with_name("other.json")
    other.write_bytes(why.read_bytes())
    done = rank(other, "q\n", "--profile", str(profile), "--json")
    assert done.returncode == 0, done.stderr
    assert "2 earlier statements" in done.stderr
    mine = json.loads(rank(why, "q\n", "--json").stdout)
    theirs = json.loads(done.stdout)
    assert [r["alternative"] for r in theirs["ranking"]] == [
        r["alternative"] for r in mine["ranking"]
    ]


def test_files_that_are_not_there_or_not_explanations(why, tmp_path):
    done = rank(tmp_path / "none.json", "")
    assert done.returncode == 1
    assert "cannot be read" in done.stderr
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    done = rank(broken, "")
    assert done.returncode == 1
    assert "format: expected 'rulelens.explanation'" in done.stderr
    assert "Traceback" not in done.stderr


def test_two_rules_in_a_narrow_terminal(why):
    """Side by side in ten columns, the left one had no room and was not shown at all."""
    done = subprocess.run(
        [*RANK, str(why)], input="q\n", capture_output=True, text=True, check=False, timeout=120,
        env=os.environ | {"COLUMNS": "24"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    boxes = [line for line in done.stderr.splitlines() if "rule" in line and line.startswith("╭")]
    assert len(boxes) == 2
    assert boxes[0].startswith("╭─ A: rule")
    assert boxes[1].startswith("╭─ B: rule")


def test_a_file_is_not_used_for_two_things(why):
    """Answers took the place of the explanation, or the profile that of the answers."""
    before = why.read_bytes()
    me = str(why.with_name("me.json"))
    for args in (["--session", str(why), "--fresh"], ["--session", me, "--profile", me]):
        done = rank(why, "a\nq\n", *args)
        assert done.returncode == 2
        assert "are the same file" in done.stderr
    assert why.read_bytes() == before
    assert sorted(p.name for p in why.parent.iterdir()) == ["why.json"]


def test_what_cannot_work_is_said_before_the_first_question(why):
    for args in (["--weights", "centre"], ["--profile", str(why.with_name("none") / "me.json")]):
        done = rank(why, "a\nq\n", *args)
        assert done.returncode == 1
        assert "Question" not in done.stderr
    assert not why.with_suffix(".session.json").exists()


def test_closed_standard_input(why):
    """It ended in a traceback: Python has no sys.stdin then."""
    done = subprocess.run(
        ["sh", "-c", '"$@" <&-', "sh", *RANK, str(why), "--json"],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["statements"] == []
