"""``rulelens convert``: formats by suffix or option, errors in one line."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from rulelens.cli import main
from rulelens.cli.convert import command
from rulelens.io.formats import read_rules

TEXT = "IF age > 50 AND smoker = true THEN ill\nELSE well\n"


def run(*args: object) -> Result:
    return CliRunner().invoke(command, [str(a) for a in args], catch_exceptions=False)


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    (tmp_path / "r.rules").write_text(TEXT)
    return tmp_path / "r.rules"


def test_there_and_back(rules: Path, tmp_path: Path) -> None:
    assert run(rules, tmp_path / "r.json").exit_code == 0
    assert run(tmp_path / "r.json", tmp_path / "again.rules").exit_code == 0
    assert read_rules(tmp_path / "again.rules") == read_rules(rules)


def test_stdout_carries_the_result_alone(rules: Path) -> None:
    done = run(rules, "-", "--to", "sqlite")
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE data (age REAL, smoker INTEGER)")
    db.executemany("INSERT INTO data VALUES (?, ?)", [(60, 1), (60, 0), (None, 1)])
    found = [row[-1] for row in db.execute(done.stdout)]
    assert found == ["ill", "well", "well"]


def test_names_from_a_table(tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_text("RULE 1: IF V2 > 1 AND V1 in {True} THEN y in {a}")
    table = pd.DataFrame({"flag": [True, False], "heart rate": [1.0, 2.0], "y": ["a", "b"]})
    table.to_csv(tmp_path / "t.csv", index=False)
    done = run(
        tmp_path / "r.txt", tmp_path / "r.json", "--from", "rulex", "--data", tmp_path / "t.csv",
        "--drop", "y",
    )  # fmt: skip
    assert done.exit_code == 0
    made = read_rules(tmp_path / "r.json")
    assert made.schema.names == ("flag", "heart rate")
    assert str(made[0]) == "IF flag is True AND heart rate > 1 THEN a"


def test_names_as_options(tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_text("RULE 1: IF V2 > 1 THEN y in {a}")
    run(
        tmp_path / "r.txt",
        tmp_path / "r.json",
        "--from",
        "rulex",
        "--feature",
        "b",
        "--feature",
        "a",
    )
    assert str(read_rules(tmp_path / "r.json")[0]) == "IF a > 1 THEN a"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["r.rules", "-"], "name the format: --to FORMAT"),
        (["r.rules", "r.json", "--drop", "x"], "--drop names columns of --data"),
        (
            ["r.rules", "r.json", "--feature", "x", "--data", "t.csv"],
            "--feature or --data, not both",
        ),
    ],
)
def test_usage(args: list[str], message: str) -> None:
    done = run(*args)
    assert done.exit_code == 2
    assert message in done.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["nothing.json", "r.rules"], "cannot be read: No such file"),
        (["r.rules", "r.jsn"], "'.jsn' does not tell the format"),
        (["r.rules", "nowhere/r.json"], "nowhere' does not exist"),
        (["r.rules", "r.json", "--from", "rulexx"], "Unknown format 'rulexx'"),
    ],
)
def test_errors_are_one_line_that_says_what_to_do(
    rules: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    args: list[str], message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(rules.parent)
    with pytest.raises(SystemExit) as stop:
        main(["convert", *args])
    assert stop.value.code == 1
    assert message in capsys.readouterr().err
