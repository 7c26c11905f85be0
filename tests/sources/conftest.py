"""Lets the tests beside this file import `rule_strategies`, which lies with the formats' tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "io"))
