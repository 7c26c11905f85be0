"""Files are read with clear errors and written whole or not at all."""

import os

import pytest

from rulelens.errors import FormatError, InputError, OptionError, OutputError
from rulelens.files import check_writable, read_text, write_text


def test_a_link_is_followed_and_the_mode_is_kept(tmp_path):
    real = tmp_path / "real.txt"
    real.write_text("old")
    real.chmod(0o640)
    link = tmp_path / "link.txt"
    link.symlink_to(real)
    write_text(link, "new é")
    assert link.is_symlink()
    assert real.read_text("utf-8") == "new é"
    assert real.stat().st_mode & 0o777 == 0o640


def test_names_at_the_limit_of_the_file_system(tmp_path):
    write_text(tmp_path / ("é" * 120 + ".txt"), "x")
    with pytest.raises(OutputError):
        write_text(tmp_path / ("x" * 300), "x")
    assert len(list(tmp_path.iterdir())) == 1


def test_reading_says_what_is_wrong(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_text(tmp_path / "none")
    with pytest.raises(InputError, match="cannot be read"):
        read_text(tmp_path)
    (tmp_path / "b").write_bytes(b"ok\n\xff")
    with pytest.raises(FormatError, match="line 2 is not UTF-8"):
        read_text(tmp_path / "b")
    (tmp_path / "c").write_bytes("\ufeffé".encode())
    assert read_text(tmp_path / "c") == "é"


def test_a_file_too_large_is_not_read(tmp_path, monkeypatch):
    path = tmp_path / "large"
    path.write_text("x" * 100)
    monkeypatch.setattr("rulelens.files.MAX_BYTES", 10)
    with pytest.raises(FormatError, match="at most"):
        read_text(path)


def test_check_writable_creates_nothing(tmp_path):
    assert check_writable(tmp_path / "x.txt") == tmp_path.resolve() / "x.txt"
    assert os.listdir(tmp_path) == []


def test_half_of_a_surrogate_pair_is_escaped(tmp_path):
    """A name that was no UTF-8 ended a report after all the work, in a traceback."""
    write_text(tmp_path / "x.txt", "caf\udce9")
    assert (tmp_path / "x.txt").read_text("utf-8") == "caf\\udce9"


@pytest.mark.parametrize("path", [None, 3, 2.5, ["a"], "a\0b", "a\ud800"])
def test_what_is_no_path_is_refused_in_words(path):
    """None, a number or a NUL character ended in a raw TypeError or ValueError."""
    for act in (read_text, check_writable, lambda p: write_text(p, "x")):
        with pytest.raises(OptionError, match="The path"):
            act(path)


def test_paths_as_bytes(tmp_path):
    path = write_text(bytes(tmp_path / "x.txt"), "x")
    assert path == tmp_path / "x.txt"
    assert read_text(bytes(path)) == "x"
