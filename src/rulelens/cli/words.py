"""Messages of the library in the words of the command line."""

from __future__ import annotations

import re

_OPTIONS = {
    "n_bins": "--bins",
    "max_length": "--max-length",
    "min_support": "--min-support",
    "min_confidence": "--min-confidence",
    "minimal=False": "--all-rules",
    "time_budget": "--time-budget",
    "the option format": "the format by --from, --to or --format, if the command has it",
}
_PATTERN = re.compile("|".join(rf"(?<![\w-]){re.escape(name)}(?!\w)" for name in _OPTIONS))


def for_command_line(message: str) -> str:
    """The message with options called as they are typed here.

    Examples
    --------
    >>> for_command_line("Lower min_confidence, or pass minimal=False.")
    'Lower --min-confidence, or pass --all-rules.'
    """
    return _PATTERN.sub(lambda m: _OPTIONS[m[0]], message)
