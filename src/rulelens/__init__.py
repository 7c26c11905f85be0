"""Rulelens: see a tabular model as rules, and get the rules that suit the one who asks.

Every public name is here and is imported when it is first used, so that ``import rulelens``
costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

_HOME = {
    "align_rules": "graph.alignment",
    "BlackBox": "explain.black_box",
    "bootstrap": "graph.inference",
    "CENTRALITIES": "graph.centrality",
    "check_printed": "io.printed",
    "class_shares": "sources.predictions",
    "Contingency": "core.contingency",
    "contrast": "personal.contrast",
    "counterfactual": "personal.contrast",
    "CRITERIA": "preference.criteria",
    "Criteria": "preference.criteria",
    "distance_matrix": "graph.distance",
    "drift": "graph.drift",
    "Explanation": "explain.explanation",
    "extract_rules": "sources.extract",
    "FastPIC": "personal.fast_pic",
    "Feature": "core.schema",
    "FEATURE_RELEVANCES": "graph.relevance",
    "FeatureGraph": "graph.feature_graph",
    "format_rules": "io.formats",
    "FORMATS": "io.format",
    "GraphDifference": "graph.comparison",
    "Interval": "core.conditions",
    "MEASURES": "core.measures",
    "Membership": "core.conditions",
    "Missing": "core.conditions",
    "parse_rules": "io.formats",
    "permutation_test": "graph.inference",
    "PersonalExplanation": "explain.personal",
    "PIC": "personal.pic",
    "PICSearch": "personal.tuning",
    "plot_classes": "plots.graph",
    "plot_difference": "plots.graph",
    "plot_distances": "plots.heatmap",
    "plot_drift": "plots.drift",
    "plot_graph": "plots.graph",
    "plot_heatmap": "plots.heatmap",
    "plot_importance": "plots.importance",
    "predict_rules": "sources.predictions",
    "PreferenceResult": "preference.ranking",
    "PreferenceSession": "preference.session",
    "Profile": "preference.profile",
    "PROJECTIONS": "graph.projections",
    "raw_scores": "sources.predictions",
    "read_rules": "io.formats",
    "read_schema": "frames",
    "read_table": "frames",
    "Rule": "core.rule",
    "RuleExplainer": "explain.explainer",
    "RulelensError": "errors",
    "RulelensWarning": "errors",
    "RuleSet": "core.ruleset",
    "rules_to_frame": "io.tables",
    "save_figure": "plots.save",
    "Schema": "core.schema",
    "SOURCES": "sources.extract",
    "stability": "graph.drift",
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
    from rulelens.graph.alignment import align_rules
    from rulelens.graph.centrality import CENTRALITIES
    from rulelens.graph.comparison import GraphDifference
    from rulelens.graph.distance import distance_matrix
    from rulelens.graph.drift import drift, stability
    from rulelens.graph.feature_graph import FeatureGraph
    from rulelens.graph.inference import bootstrap, permutation_test
    from rulelens.graph.projections import PROJECTIONS
    from rulelens.graph.relevance import FEATURE_RELEVANCES
    from rulelens.io.format import FORMATS
    from rulelens.io.formats import format_rules, parse_rules, read_rules, write_rules
    from rulelens.io.printed import check_printed
    from rulelens.io.tables import rules_to_frame
    from rulelens.personal.contrast import contrast, counterfactual
    from rulelens.personal.fast_pic import FastPIC
    from rulelens.personal.pic import PIC
    from rulelens.personal.tuning import PICSearch
    from rulelens.plots.drift import plot_drift
    from rulelens.plots.graph import plot_classes, plot_difference, plot_graph
    from rulelens.plots.heatmap import plot_distances, plot_heatmap
    from rulelens.plots.importance import plot_importance
    from rulelens.plots.save import save_figure
    from rulelens.preference.criteria import CRITERIA, Criteria
    from rulelens.preference.profile import Profile
    from rulelens.preference.ranking import PreferenceResult
    from rulelens.preference.session import PreferenceSession
    from rulelens.sources.extract import SOURCES, extract_rules
    from rulelens.sources.predictions import class_shares, predict_rules, raw_scores


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(f"rulelens.{_HOME[name]}"), name)
    raise AttributeError(f"module 'rulelens' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
