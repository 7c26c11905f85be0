"""Text files: read with clear errors, written whole or not at all."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any, NoReturn

from rulelens.errors import FormatError, InputError, OptionError, OutputError

MAX_BYTES = 512 << 20
"""Larger text files are not read."""


def checked_path(path: str | os.PathLike[str]) -> str:
    """The path as text, if it can be one at all.

    Raises
    ------
    OptionError
        Neither text nor a path, or text that no file name can hold.

    Examples
    --------
    >>> checked_path(Path("a.json"))
    'a.json'
    """
    try:
        name = os.fsdecode(path)
    except TypeError:
        raise OptionError(
            f"The path is {path!r} of type {type(path).__name__}. Expected the name of a file, "
            'such as "answers.json" or a pathlib.Path.'
        ) from None
    try:
        possible = b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise OptionError(
            f"The path {name!r} holds a character that no file name can have. Choose another name."
        )
    return name


def read_text(path: str | os.PathLike[str]) -> str:
    """The text of a UTF-8 file of at most 512 MiB; a byte-order mark is left out.

    Raises
    ------
    OptionError
        As `checked_path`.
    InputError
        The file cannot be read.
    FormatError
        It is too large, or not UTF-8.
    """
    name = checked_path(path)
    try:
        size = os.path.getsize(name)
        if size > MAX_BYTES:
            raise FormatError(
                f"{name}: the file has {size >> 20} MiB; at most {MAX_BYTES >> 20} MiB are read. "
                "Split it."
            )
        raw = Path(name).read_bytes()
    except OSError as e:
        raise InputError(
            f"The file {name!r} cannot be read: {e.strerror or e}. Check the path."
        ) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = raw.count(b"\n", 0, e.start) + 1
        raise FormatError(
            f"{name}: line {line} is not UTF-8 text (byte {raw[e.start]:#04x} at {e.start}). "
            "Save the file as UTF-8."
        ) from None


def parse_json(text: str) -> Any:
    """The value of strict JSON: no key twice, no NaN or Infinity, no endless nesting.

    Raises
    ------
    FormatError
    """

    def no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        out = dict(pairs)
        if len(out) != len(pairs):
            keys = [k for k, _ in pairs]
            twice = next(k for i, k in enumerate(keys) if k in keys[:i])
            shown = json.dumps(twice[:60], ensure_ascii=False)
            raise FormatError(f"The key {shown} occurs twice in one object. Remove one.")
        return out

    def no_constant(token: str) -> NoReturn:
        raise FormatError(f"{token} is not a JSON number. Write null instead.")

    try:
        return json.loads(text, object_pairs_hook=no_repeats, parse_constant=no_constant)
    except json.JSONDecodeError as e:
        raise FormatError(f"Line {e.lineno}, column {e.colno} is not JSON: {e.msg}.") from None
    except RecursionError:
        raise FormatError("The JSON is nested too deeply.") from None
    except FormatError:
        raise
    except ValueError as e:
        raise FormatError(f"A number in the JSON cannot be read: {e}.") from None


def check_writable(path: str | os.PathLike[str]) -> Path:
    """The path with links followed, if a file could be written there.

    Raises
    ------
    OptionError
        As `checked_path`.
    OutputError
        The folder does not exist or cannot be written to, or the path is a folder.
    """
    target = Path(os.path.realpath(checked_path(path)))
    if not target.parent.is_dir():
        raise OutputError(
            f"The folder {str(target.parent)!r} does not exist. Make it, or choose another path."
        )
    if os.path.isdir(target):
        raise OutputError(f"{str(target)!r} is a folder. Give the name of a file in it.")
    if not os.access(target.parent, os.W_OK):
        raise OutputError(
            f"The folder {str(target.parent)!r} cannot be written to. Choose another path."
        )
    return target


def write_bytes(path: str | os.PathLike[str], data: bytes) -> Path:
    """Write a file by way of a temporary one beside it, and return its path.

    A file that exists is replaced at once or, if anything goes wrong, left as it was.

    Raises
    ------
    OutputError
        As `check_writable`, or the disk refused.
    """
    target = check_writable(path)
    temporary = target.with_name(f".{target.name[:40]}.{secrets.token_hex(6)}")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            os.chmod(temporary, target.stat().st_mode & 0o777)
        os.replace(temporary, target)
    except OSError as e:
        temporary.unlink(missing_ok=True)
        raise OutputError(
            f"The file {str(target)!r} cannot be written: {e.strerror or e}. Choose another path."
        ) from None
    return Path(checked_path(path))


def write_text(path: str | os.PathLike[str], text: str) -> Path:
    """`write_bytes` of UTF-8 text; half of a surrogate pair, which UTF-8 lacks, is escaped."""
    return write_bytes(path, text.encode("utf-8", errors="backslashreplace"))
