from __future__ import annotations

import re
from pathlib import Path

import rulelens


def test_no_possessive_groups():
    """Python 3.11.0 to 3.11.4 match them wrongly: "1. y" gave the number "1." and lost a full stop.

    Atomic groups, and possessive single characters, are right in all of them.
    """
    for path in Path(rulelens.__file__).parent.rglob("*.py"):
        assert not re.search(r"\)[?*+]\+", path.read_text(encoding="utf-8")), path
