"""Rules in files: one function to read and one to write, whatever the format."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import rulelens.io.json_rules
import rulelens.io.pmml
import rulelens.io.printed_models
import rulelens.io.prolog
import rulelens.io.python_code
import rulelens.io.rulex
import rulelens.io.sql
import rulelens.io.tables
import rulelens.io.text  # noqa: F401  each registers itself
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Schema
from rulelens.errors import FormatError, SchemaError
from rulelens.files import MAX_BYTES, read_text, write_text
from rulelens.io.format import FORMATS, Format


def read_rules(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    features: Sequence[str] | None = None,
    schema: Schema | None = None,
) -> RuleSet:
    """Rules of a file.

    Parameters
    ----------
    path : path of a UTF-8 text file of at most 512 MiB
    format : str, optional
        By default what the file name's suffix says.
    features : sequence of str, optional
        Names of the features, in order, for formats that do not hold them. A file that does
        hold them must name no others.
    schema : Schema, optional
        Names, kinds and levels of the features. A file that holds a schema must agree with
        it.

    Raises
    ------
    InputError
        The file cannot be read.
    FormatError
        It does not have the expected form; the message names the file and the place.

    Examples
    --------
    >>> import tempfile
    >>> from rulelens.core.conditions import Interval
    >>> from rulelens.core.rule import Rule
    >>> rules = RuleSet.from_rules([Rule({"age": Interval(low=50)}, "ill")],
    ...                            Schema.numeric(["age"]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_rules(rules, f"{folder}/rules.json")
    ...     read_rules(f"{folder}/rules.json") == rules
    True
    """
    chosen = _format_of(path, format, "read")
    text = read_text(path)
    try:
        return parse_rules(text, format=chosen, features=features, schema=schema)
    except FormatError as e:
        raise FormatError(f"{os.fspath(path)}: {e}") from None


def write_rules(rules: RuleSet, path: str | os.PathLike[str], *, format: str | None = None) -> None:
    """Write rules to a file; an existing one is replaced at once or not at all.

    Parameters
    ----------
    rules : RuleSet
    path : path
    format : str, optional
        By default what the file name's suffix says.

    Raises
    ------
    OutputError
        The folder does not exist, or the file cannot be written.
    FormatError
        The format is not known, or cannot carry these rules.
    """
    write_text(path, format_rules(rules, format=_format_of(path, format, "written")))


def parse_rules(
    text: str,
    *,
    format: str,
    features: Sequence[str] | None = None,
    schema: Schema | None = None,
) -> RuleSet:
    """Rules of a text; see `read_rules`."""
    read = FORMATS[format].read
    if read is None:
        raise FormatError(f"The format '{format}' can be written only. {_named('read')}")
    if len(text) > MAX_BYTES:
        raise FormatError(f"The text is longer than {MAX_BYTES >> 20} MiB, the most that is read.")
    if schema is not None and features is not None and tuple(features) != schema.names:
        raise SchemaError("The features and the schema name different features. Give one of them.")
    with _collector_paused():
        return read(text, features=features, schema=schema)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Without the search for cycles: a reader makes millions of objects and no cycles.

    Python would search all of them again and again, for half of the time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def format_rules(rules: RuleSet, *, format: str) -> str:
    """Rules as text in the given format; see `write_rules`."""
    write = FORMATS[format].write
    if write is None:
        raise FormatError(f"The format '{format}' can be read only. {_named('written')}")
    return write(rules)


def _usable(form: Format, use: str) -> bool:
    return (form.read if use == "read" else form.write) is not None


def _named(use: str) -> str:
    names = [name for name in FORMATS if _usable(FORMATS[name], use)]
    return f"Formats that can be {use}: {', '.join(names)}."


def format_for_writing(path: str | os.PathLike[str], format: str | None = None) -> str:
    """Name of the format in which rules would be written to `path`.

    Raises
    ------
    FormatError
        The file name's suffix does not tell, or that format can be read only.
    """
    return _format_of(path, format, "written")


def format_for_reading(path: str | os.PathLike[str], format: str | None = None) -> str:
    """Name of the format in which rules would be read from `path`.

    Raises
    ------
    FormatError
        The file name's suffix does not tell, or that format can be written only.
    """
    return _format_of(path, format, "read")


def _format_of(path: str | os.PathLike[str], format: str | None, use: str) -> str:
    if format is not None:
        FORMATS[format]
        return format
    name = Path(path).name.lower()
    fits = [
        (len(s), n)
        for n in FORMATS
        for s in FORMATS[n].suffixes
        if name.endswith(s) and _usable(FORMATS[n], use)
    ]
    if not fits:
        suffix = Path(path).suffix
        found = f"The suffix '{suffix}'" if suffix else "A name without a suffix"
        known = sorted(
            {s for n in FORMATS if _usable(FORMATS[n], use) for s in FORMATS[n].suffixes}
        )
        raise FormatError(
            f"{os.fspath(path)}: {found} does not tell the format. Suffixes that do: "
            f"{', '.join(known)}. For another, give the option format. {_named(use)}"
        )
    return max(fits)[1]
