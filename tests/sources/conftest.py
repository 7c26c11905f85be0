"""Lets the tests beside this file import `source_tables`, and `rule_strategies` of the formats."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "io"))
sys.path.insert(0, str(Path(__file__).parent))
