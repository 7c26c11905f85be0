"""Files: suffixes, encodings, folders that are not there, all or nothing."""

from __future__ import annotations

import gc
import os
from pathlib import Path

import pytest

from rulelens import files
from rulelens.core.conditions import Interval
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Schema
from rulelens.errors import FormatError, InputError, OutputError, SchemaError
from rulelens.io import formats
from rulelens.io.format import FORMATS, Format
from rulelens.io.formats import parse_rules, read_rules, write_rules

RULES = RuleSet.from_rules([Rule({"ä": Interval(low=50)}, "ill")], Schema.numeric(["ä"]))


@pytest.mark.parametrize("name", ["rules.json", "RULES.JSON", "a b.json"])
def test_the_suffix_tells_the_format(tmp_path: Path, name: str) -> None:
    write_rules(RULES, tmp_path / name)
    assert read_rules(str(tmp_path / name)) == RULES
    assert os.listdir(tmp_path) == [name]


def test_the_option_goes_before_the_suffix(tmp_path: Path) -> None:
    write_rules(RULES, tmp_path / "rules.txt", format="json")
    assert read_rules(tmp_path / "rules.txt", format="json") == RULES


@pytest.mark.parametrize("name", ["rules.jsn", "rules"])
def test_an_unknown_suffix_lists_the_formats(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("x")
    with pytest.raises(
        FormatError, match=r"Suffixes that do: .json, .*Formats that can be read: .*json"
    ):
        read_rules(tmp_path / name)
    with pytest.raises(FormatError, match=r"Formats that can be written: .*json"):
        write_rules(RULES, tmp_path / name)


def test_an_unknown_format_suggests_one(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"Unknown format 'jason'.*Did you mean 'json'"):
        read_rules(tmp_path / "x", format="jason")


def test_a_plugin_adds_a_format(tmp_path: Path) -> None:
    FORMATS.add("shout", Format(None, lambda rules: str(rules).upper(), (".shout",)))
    try:
        write_rules(RULES, tmp_path / "r.shout")
        assert (tmp_path / "r.shout").read_text(encoding="utf-8") == "0: IF Ä > 50 THEN ILL"
        with pytest.raises(FormatError, match="does not tell the format"):
            read_rules(tmp_path / "r.shout")
        with pytest.raises(FormatError, match="'shout' can be written only"):
            read_rules(tmp_path / "r.shout", format="shout")
    finally:
        FORMATS.remove("shout")


def test_a_format_that_can_be_read_only(tmp_path: Path) -> None:
    FORMATS.add("dumb", Format(lambda text, **_: RULES, None, (".dumb",)))
    try:
        with pytest.raises(FormatError, match="'dumb' can be read only"):
            write_rules(RULES, tmp_path / "r.dumb", format="dumb")
    finally:
        FORMATS.remove("dumb")


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    write_rules(RULES, tmp_path / "r.json")
    (tmp_path / "r.json").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "r.json").read_bytes())
    assert read_rules(tmp_path / "r.json") == RULES


def test_bytes_that_are_not_utf8_are_placed(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_bytes(b'{\n"a": "\xe4"}')
    with pytest.raises(FormatError, match=r"r.json: line 2 is not UTF-8 text \(byte 0xe4 at 8\)"):
        read_rules(tmp_path / "r.json")


def test_an_error_in_a_file_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text("{}")
    with pytest.raises(FormatError, match=r"r\.json: format: is missing"):
        read_rules(tmp_path / "r.json")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_rules(tmp_path / "none.json")
    with pytest.raises(InputError, match="cannot be read"):
        read_rules(tmp_path, format="json")


def test_a_file_beyond_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "MAX_BYTES", 10)
    monkeypatch.setattr(files, "MAX_BYTES", 10)
    (tmp_path / "r.json").write_text("{" * 11)
    with pytest.raises(FormatError, match="at most 0 MiB are read"):
        read_rules(tmp_path / "r.json")
    with pytest.raises(FormatError, match="longer than"):
        parse_rules("{" * 11, format="json")


def test_files_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"folder .*nowhere' does not exist"):
        write_rules(RULES, tmp_path / "nowhere" / "r.json")
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="does not exist"):
        write_rules(RULES, tmp_path / "file" / "r.json")
    (tmp_path / "d.json").mkdir()
    with pytest.raises(OutputError, match="is a folder"):
        write_rules(RULES, tmp_path / "d.json")
    with pytest.raises(OutputError, match="cannot be written"):
        write_rules(RULES, tmp_path / ("x" * 300 + ".json"))
    assert sorted(os.listdir(tmp_path)) == ["d.json", "file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere; run as another user")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(OutputError, match="Permission denied"):
        write_rules(RULES, tmp_path / "r.json")
    tmp_path.chmod(0o700)


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "r.json").write_text("old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "replace", fail)
    with pytest.raises(OutputError, match="No space left"):
        write_rules(RULES, tmp_path / "r.json")
    assert (tmp_path / "r.json").read_text() == "old"
    assert os.listdir(tmp_path) == ["r.json"]


def test_a_link_is_followed_and_permissions_are_kept(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "real.json").chmod(0o640)
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    write_rules(RULES, tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert read_rules(tmp_path / "real.json") == RULES
    assert (tmp_path / "real.json").stat().st_mode & 0o777 == 0o640


def test_features_that_contradict_the_schema() -> None:
    with pytest.raises(SchemaError, match="different features"):
        parse_rules("{}", format="json", features=["x"], schema=Schema.numeric(["y"]))


def test_reading_leaves_the_garbage_collector_as_it_was() -> None:
    for on in (False, True):
        gc.enable() if on else gc.disable()
        try:
            parse_rules("IF a > 1 THEN x", format="text")
            assert gc.isenabled() is on
            with pytest.raises(FormatError):
                parse_rules("IF a > ", format="text")
            assert gc.isenabled() is on
        finally:
            gc.enable()
