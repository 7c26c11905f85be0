"""``rulelens convert``: formats by suffix or option, errors in one line."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from rulelens.cli import main
from rulelens.cli.convert import command
from rulelens.cli.rules import command as rules_command
from rulelens.io.formats import parse_rules, read_rules, write_rules

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
        (["r.rules", "r.json", "--drop", "x"], "--drop, --target and --missing tell of --data"),
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


LONG = """RULELENS 1
FEATURE pain NUMERIC
FEATURE unused CATEGORICAL {x, y}
IF pain <= 3.5000001192092896 [float32, or missing] THEN ill
IF pain > 3.5000001192092896 [float32] THEN well
"""


@pytest.mark.parametrize("suffix", ["json", "rules", "pmml"])
@pytest.mark.parametrize("target", ["r.md", "r.tex"])
def test_thresholds_for_people_are_short(tmp_path: Path, suffix: str, target: str) -> None:
    """It printed 3.5000001192092896, where `rulelens rules` printed 3.5."""
    write_rules(parse_rules(LONG, format="text"), tmp_path / f"r.{suffix}")
    table = pd.DataFrame({"id": [7, 8], "pain": [3, 4], "unused": ["x", "y"], "y": ["a", "b"]})
    table.to_csv(tmp_path / "t.csv", index=False)
    source, out = tmp_path / f"r.{suffix}", tmp_path / target
    done = run(source, out, "--data", tmp_path / "t.csv", "--target", "y")
    assert done.exit_code == 0
    text = out.read_text()
    assert "3.5 " in text
    assert "3.50" not in text
    assert "missing" not in text
    said = [line for line in done.stderr.splitlines() if "shortest" in line]
    assert len(said) == 1
    assert "the same of the 2 rows of t.csv" in said[0]
    done = run(source, out)
    assert "3.50000011920928" in out.read_text()
    assert "--data TABLE gives the shortest" in done.stderr
    done = run(source, tmp_path / "r2.json")
    assert "--data" not in done.stderr


def test_formats_for_programs_are_never_shortened(tmp_path: Path) -> None:
    (tmp_path / "r.rules").write_text("IF pain > 3.5000001192092896 THEN ill\n")
    pd.DataFrame({"pain": [3.0, 4.5]}).to_csv(tmp_path / "t.csv", index=False)
    for target in ("r.json", "r.pmml", "r.py", "r.sqlite.sql", "r.csv"):
        run(tmp_path / "r.rules", tmp_path / target, "--data", tmp_path / "t.csv")
        assert "3.5000001192092896" in (tmp_path / target).read_text()


def test_rules_on_indicators_of_text_are_shortened(tmp_path: Path) -> None:
    (tmp_path / "r.rules").write_text(
        'IF "colour = red" = true AND pain > 0.30000001192092896 THEN a'
    )
    table = pd.DataFrame({"pain": [0.0, 0.5], "colour": ["red", "blue"]})
    table.to_csv(tmp_path / "t.csv", index=False)
    write_rules(read_rules(tmp_path / "r.rules"), tmp_path / "r.json")
    run(tmp_path / "r.json", tmp_path / "r.md", "--data", tmp_path / "t.csv")
    assert "pain &gt; 0.3 " in (tmp_path / "r.md").read_text()


def test_rules_that_were_short_are_said_nothing_of(rules: Path, tmp_path: Path) -> None:
    table = pd.DataFrame({"age": [40, 60], "smoker": [True, False]})
    table.to_csv(tmp_path / "t.csv", index=False)
    done = run(rules, tmp_path / "r.md", "--data", tmp_path / "t.csv")
    assert done.stderr == f"1 rules: {tmp_path / 'r.md'}\n"
    assert run(rules, tmp_path / "r.md").stderr == f"1 rules: {tmp_path / 'r.md'}\n"


@pytest.mark.parametrize("target", ["r.md", "r.tex"])
def test_saved_rules_for_people_are_short_as_printed(tmp_path: Path, target: str) -> None:
    """`rulelens rules` printed 2.05 and saved 2.0499999523162840."""
    x = [0.1 * k for k in range(41)]
    table = pd.DataFrame({"x": x, "y": ["a" if v < 2.02 else "b" for v in x]})
    table.to_csv(tmp_path / "t.csv", index=False)
    args = ["--target", "y", "--train", "tree", "--out", str(tmp_path / target)]
    CliRunner().invoke(rules_command, [str(tmp_path / "t.csv"), *args], catch_exceptions=False)
    thresholds = re.findall(r"\d+\.\d+", (tmp_path / target).read_text())
    assert thresholds
    assert all(len(t) < 6 for t in thresholds)
