"""``rulelens explain``: a model's decision on one row of a data file, by rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from rulelens.cli.progress import say, step
from rulelens.cli.tables import DataFile, read_data, table_options
from rulelens.cli.training import model_options
from rulelens.errors import OptionError

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.explain.explainer import RuleExplainer
    from rulelens.explain.explanation import Explanation
    from rulelens.explain.personal import PersonalExplanation


@click.command("explain")
@click.argument("data", type=click.Path(path_type=Path))
@table_options
@click.option("--row", type=int, required=True, help="Which row of DATA, counted from 0.")
@click.option(
    "--train",
    "method",
    type=click.Choice(["mlp", "forest", "boosting"]),
    help="Train this black box on four fifths of the rows. [default: mlp]",
)
@model_options
@click.option("--rank", metavar='"3>6>9=7"', help="Your ranking of some rules, best first.")
@click.option(
    "--method",
    "estimator",
    default="analytic",
    show_default=True,
    help="How weights are chosen: analytic, max_eps or chebyshev.",
)
@click.option("--top", default=10, show_default=True, help="How many rules to show.")
@click.option("--bins", default=4, show_default=True, help="Bins of a numeric feature.")
@click.option("--max-length", default="auto", show_default=True, help="Longest rule, or auto.")
@click.option("--min-support", default=1, show_default=True, help="Least rows a rule covers.")
@click.option("--min-confidence", default=1.0, show_default=True, help="From 0 to 1.")
@click.option("--all-rules", is_flag=True, help="Also rules of which a part already qualifies.")
@click.option("--seed", default=0, show_default=True, help="Of the split and of the training.")
@click.option("--out", type=click.Path(path_type=Path), help="Write a report: a .html file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
def command(
    data: Path,
    target: str | None,
    drop: tuple[str, ...],
    missing: tuple[str, ...],
    sep: str,
    encoding: str,
    row: int,
    method: str | None,
    model_file: Path | None,
    trust: tuple[str, ...],
    rank: str | None,
    estimator: str,
    top: int,
    bins: int,
    max_length: str,
    min_support: int,
    min_confidence: float,
    all_rules: bool,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Explain a model's decision on one row of DATA (CSV or Parquet) by rules.

    Example: rulelens explain churn.csv --target Churn --drop Phone --row 12 --out why.html
    """
    if method is not None and model_file is not None:
        raise click.UsageError("Give --train or --model, not both.")
    if target is None:
        raise click.UsageError("Name the column with the class: --target COL.")
    if max_length != "auto" and not max_length.isdigit():
        raise click.UsageError(f"--max-length is a whole number or auto, not '{max_length}'.")
    if top < 1:
        raise click.UsageError(f"--top must be at least 1, not {top}.")
    if out is not None:
        check_out(out)
    with step(f"Reading {data.name}"):
        file = read_data(
            data, target=target, drop=drop, missing=missing, sep=sep, encoding=encoding
        )
    if not 0 <= row < len(file.features):
        raise OptionError(
            f"There is no row {row}: {data.name} has {len(file.features)} rows, counted from 0."
        )
    explainer, apart, about = explain_file(
        file,
        method=method or "mlp",
        model_file=model_file,
        trust=trust,
        seed=seed,
        n_bins=bins,
        max_length="auto" if max_length == "auto" else int(max_length),
        min_support=min_support,
        min_confidence=min_confidence,
        minimal=not all_rules,
    )
    with step(f"Explaining row {row}"):
        explanation = explainer.explain(file.features.iloc[row])
    others = apart[apart.index != row]
    fidelity = explainer.fidelity(explanation.rules, others) if len(others) else None
    personal = None
    if rank is not None:
        personal = explanation.session().rank(rank).result(cast(Any, estimator), k=min(top, 5))
    if as_json:
        record = explanation.to_dict() if personal is None else personal.to_dict()
        click.echo(json.dumps(record, ensure_ascii=False, allow_nan=False))
    else:
        click.echo(text_of(explanation, personal, fidelity, top))
    if out is not None:
        from rulelens.views.report import write_report

        path = write_report(
            out,
            explanation,
            personal=personal,
            graph=graph_of(explainer, explanation),
            fidelity=fidelity,
            title=f"Why “{explanation.prediction}” for row {row} of {data.name}?",
            about=about,
        )
        say(f"Report: {path}")


def check_out(out: Path) -> None:
    """Refuse a report path at once that could not be written after minutes of work."""
    from rulelens.files import check_writable

    if out.suffix.lower() not in (".html", ".htm"):
        raise OptionError(f"A report is an .html file, not '{out.name}'.")
    check_writable(out)


def explain_file(
    file: DataFile,
    *,
    method: str,
    model_file: Path | None,
    trust: tuple[str, ...],
    seed: int,
    **options: Any,
) -> tuple[RuleExplainer, pd.DataFrame, tuple[str, ...]]:
    """A fitted explainer, the rows kept apart from it, and lines about data and model."""
    from rulelens.cli import training
    from rulelens.explain.explainer import RuleExplainer

    X, y = file.labelled
    if len(y) < len(file.features):
        say(f"{len(file.features) - len(y)} rows without a target are not used for training.")
    split = training.split_rows(y, seed)
    X_train, y_train, apart = X.iloc[split.train], y.iloc[split.train], X.iloc[split.test]
    if model_file is not None:
        with step(f"Loading {model_file.name}"):
            model = training.load_model(model_file, trust)
        name = f"the model in {model_file.name}"
    else:
        with step(f"Training {method} on {len(X_train)} rows"):
            model, remarks = training.train(cast(Any, method), X_train, y_train, seed)
        for remark in remarks:
            say(remark)
        name = {"mlp": "a multilayer perceptron", "forest": "a random forest"}.get(
            method, "gradient boosting"
        )
    with step("Asking the model and cutting the features"):
        explainer = RuleExplainer(model, **options).fit(X_train)
    about = [f"Data: {file.path.name}, {len(X_train)} training rows. Model: {name}."]
    if len(apart):
        labels = explainer.predict_labels(apart)
        hits = sum(a == b for a, b in zip(labels, y.iloc[split.test].tolist(), strict=True))
        line = f"On {len(apart)} rows kept apart the model is right in {hits / len(apart):.1%}."
        say(line)
        about.append(line)
    return explainer, apart, tuple(about)


def graph_of(explainer: RuleExplainer, explanation: Explanation) -> Any:
    """Feature graph of an explanation's rules, or None where there are none."""
    if not len(explanation):
        return None
    return explainer.feature_graph(explanation.rules)


def text_of(
    explanation: Explanation,
    personal: PersonalExplanation | None,
    fidelity: pd.DataFrame | None,
    top: int,
) -> str:
    """An explanation as plain text for a terminal."""
    from rulelens.views.explanation import explanation_view

    view = explanation_view(explanation, personal=personal, fidelity=fidelity)
    lines = [*view["summary"], *view["notes"]]
    if view["reason"]:
        lines.append(view["reason"])
    known = set() if personal is None else set(personal.reference)
    for place, r in enumerate(view["rules"][:top], start=1):
        marks = "" if personal is None or r["id"] in known else "  (new)"
        score = "" if personal is None else f"score {view['personal']['score_of'][r['id']]}, "
        apart = f", kept apart {r['fidelity']}" if fidelity is not None else ""
        lines.append(f"{place:>3}. rule {r['id']}: {' and '.join(r['conditions'])}{marks}")
        lines.append(
            f"       {score}covers {r['covered']} rows, confidence {r['confidence']} "
            f"(at least {r['confidence_low']}), recall {r['recall']}{apart}"
        )
    if len(explanation) > top:
        lines.append(f"     … and {len(explanation) - top} more rules (--top).")
    if view["relaxed"]:
        lines.append("The nearest rules that do not qualify:")
        for r in view["relaxed"]:
            lines.append(f"   -  {' and '.join(r['conditions'])}")
            lines.append(
                f"       covers {r['covered']} rows, {r['except']} of them decided otherwise "
                f"(confidence {r['confidence']})"
            )
    if personal is not None:
        lines.append("What seems to matter to you:")
        heavy = [w for w in view["personal"]["weights"] if w["value"] != "0 %"][:8]
        lines.append("   " + ", ".join(f"{w['name']} {w['value']}" for w in heavy))
        lines.extend(personal.notes)
    return "\n".join(lines)
