"""The report: one HTML file that stands by itself, readable with scripts off.

It has no script and asks for nothing from outside (its content security policy forbids
both), and every name and value in it is treated as text.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rulelens.files import write_text
from rulelens.views.explanation import explanation_view
from rulelens.views.graph import graph_view

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.explain.explanation import Explanation
    from rulelens.explain.personal import PersonalExplanation
    from rulelens.graph.feature_graph import FeatureGraph


def write_report(
    path: str | os.PathLike[str],
    explanation: Explanation,
    *,
    personal: PersonalExplanation | None = None,
    graph: FeatureGraph | None = None,
    fidelity: pd.DataFrame | None = None,
    title: str | None = None,
    about: tuple[str, ...] = (),
    simulated: bool = False,
) -> Path:
    """Write the report of an explanation, and return its path.

    Parameters
    ----------
    path : str or path
        A ``.html`` file; one that exists is replaced, whole or not at all.
    explanation : Explanation
    personal : PersonalExplanation, optional
        The same rules as one person ranks them.
    graph : FeatureGraph, optional
        Drawn, with its figures as a table.
    fidelity : DataFrame, optional
        `RuleExplainer.fidelity` of the explanation's rules on rows kept apart.
    title : str, optional
    about : tuple of str
        Further lines on the data and the model.
    simulated : bool
        Say that no person answered.

    Raises
    ------
    OutputError
        The folder does not exist or cannot be written to.
    """
    html = render_report(
        explanation,
        personal=personal,
        graph=graph,
        fidelity=fidelity,
        title=title,
        about=about,
        simulated=simulated,
    )
    return write_text(path, html)


def render_report(
    explanation: Explanation,
    *,
    personal: PersonalExplanation | None = None,
    graph: FeatureGraph | None = None,
    fidelity: pd.DataFrame | None = None,
    title: str | None = None,
    about: tuple[str, ...] = (),
    simulated: bool = False,
) -> str:
    """The report as HTML text; see `write_report`."""
    view = explanation_view(explanation, personal=personal, fidelity=fidelity)
    return _render(
        "report.html",
        {
            "title": title or f"Why “{explanation.prediction}”?",
            "about": about,
            "simulated": simulated,
            "graph": None if graph is None else graph_view(graph),
            **view,
        },
    )


def _render(template: str, values: dict[str, Any]) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("rulelens.views"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(values)
