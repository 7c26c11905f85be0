"""What a format is, and the registry of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from rulelens.core.registry import Registry
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Schema
from rulelens.errors import FormatError


class Reader(Protocol):
    """Turns text into rules."""

    def __call__(
        self, text: str, *, features: Sequence[str] | None = None, schema: Schema | None = None
    ) -> RuleSet:
        """Rules of a text; `features` or `schema` tell what the text itself does not."""
        ...


@dataclass(frozen=True)
class Format:
    """One way to keep rules in a text file.

    Parameters
    ----------
    read : callable or None
        ``read(text, features=None, schema=None)`` gives a `RuleSet`; None for a format that
        can only be written.
    write : callable or None
        ``write(rules)`` gives text; None for a format that can only be read.
    suffixes : tuple of str
        File names that end so have this format, such as ``(".json",)``.
    """

    read: Reader | None = None
    write: Callable[[RuleSet], str] | None = None
    suffixes: tuple[str, ...] = ()


FORMATS: Registry[Format] = Registry("format", "rulelens.formats", FormatError)
"""Formats by name; a plugin adds its own in the entry-point group ``rulelens.formats``."""
