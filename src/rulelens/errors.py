"""Exceptions, one family per stage. Each is also the matching builtin.

Every message says what was found, what was expected and how to mend it.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class RulelensError(Exception):
    """Base of every error that Rulelens raises on purpose."""


class TableError(RulelensError, ValueError):
    """A table (rows and columns) cannot be used as it is."""


class SchemaError(RulelensError, ValueError):
    """Names, kinds or levels of features do not fit together."""


class UnknownFeatureError(SchemaError, LookupError):
    """A feature name that the schema does not have."""


class RuleError(RulelensError, ValueError):
    """A rule or rule set that cannot be built."""


class ContradictionError(RuleError):
    """A rule whose conditions on one feature exclude each other."""


class MeasureError(RulelensError, LookupError):
    """A measure that is not registered."""


class ModelError(RulelensError, ValueError):
    """A model that cannot be asked, or whose answers cannot be used."""


class UnsupportedModelError(ModelError, TypeError):
    """A model of a type from which no rules can be extracted."""


class FormatError(RulelensError, ValueError):
    """A file or text that does not have the expected form."""


class PreferenceError(RulelensError, ValueError):
    """A preference statement or session that cannot be used."""


class ExplainError(RulelensError, ValueError):
    """An explanation that cannot be given."""


class OptionError(RulelensError, ValueError):
    """An option with a value outside what it allows."""


class SizeError(OptionError):
    """Work that would need more memory than it may take; the message names a way out."""


class MissingExtraError(RulelensError, ImportError):
    """An optional package that is needed here is not installed."""


class OutputError(RulelensError, OSError):
    """A result cannot be written where it was asked for."""


class InputError(RulelensError, OSError):
    """A file cannot be read."""


class RulelensWarning(UserWarning):
    """Something the caller should know, though a result was given."""


def did_you_mean(found: object, known: Iterable[object]) -> str:
    """Sentence that names the known things, and the nearest one to `found`.

    Examples
    --------
    >>> did_you_mean("agee", ["age", "bmi"])
    "There are: age, bmi. Did you mean 'age'?"
    """
    names = [str(k) for k in known]
    shown = ", ".join(names[:12]) + (f", … ({len(names)} in all)" if len(names) > 12 else "")
    text = f"There are: {shown}." if names else "There are none."
    near = difflib.get_close_matches(str(found), names, n=1)
    return text + (f" Did you mean '{near[0]}'?" if near else "")


__all__ = [
    "ContradictionError",
    "ExplainError",
    "FormatError",
    "InputError",
    "MeasureError",
    "MissingExtraError",
    "ModelError",
    "OptionError",
    "OutputError",
    "PreferenceError",
    "RuleError",
    "RulelensError",
    "RulelensWarning",
    "SchemaError",
    "SizeError",
    "TableError",
    "UnknownFeatureError",
    "UnsupportedModelError",
    "did_you_mean",
]
