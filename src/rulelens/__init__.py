"""Rulelens: see a tabular model as rules, and get the rules that suit the one who asks.

Every public name is here and is imported when it is first used, so that ``import rulelens``
costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_HOME = {
    "BlackBox": "explain.black_box",
    "Contingency": "core.contingency",
    "Criteria": "preference.criteria",
    "Explanation": "explain.explanation",
    "Feature": "core.schema",
    "FeatureGraph": "graph.feature_graph",
    "Interval": "core.conditions",
    "MEASURES": "core.measures",
    "Membership": "core.conditions",
    "Missing": "core.conditions",
    "PersonalExplanation": "explain.personal",
    "PreferenceResult": "preference.ranking",
    "PreferenceSession": "preference.session",
    "Rule": "core.rule",
    "RuleExplainer": "explain.explainer",
    "RuleSet": "core.ruleset",
    "RulelensError": "errors",
    "RulelensWarning": "errors",
    "Schema": "core.schema",
    "extract_rules": "sources.extract",
    "read_rules": "io.formats",
    "read_schema": "frames",
    "read_table": "frames",
    "write_rules": "io.formats",
}

__all__ = sorted(_HOME)  # noqa: PLE0605  # the one list of public names

if TYPE_CHECKING:
    from rulelens.core.conditions import Interval, Membership, Missing
    from rulelens.core.contingency import Contingency
    from rulelens.core.measures import MEASURES
    from rulelens.core.rule import Rule
    from rulelens.core.ruleset import RuleSet
    from rulelens.core.schema import Feature, Schema
    from rulelens.errors import RulelensError, RulelensWarning
    from rulelens.explain.black_box import BlackBox
    from rulelens.explain.explainer import RuleExplainer
    from rulelens.explain.explanation import Explanation
    from rulelens.explain.personal import PersonalExplanation
    from rulelens.frames import read_schema, read_table
    from rulelens.graph.feature_graph import FeatureGraph
    from rulelens.io.formats import read_rules, write_rules
    from rulelens.preference.criteria import Criteria
    from rulelens.preference.ranking import PreferenceResult
    from rulelens.preference.session import PreferenceSession
    from rulelens.sources.extract import extract_rules


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"rulelens.{_HOME[name]}"), name)
    raise AttributeError(f"module 'rulelens' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
