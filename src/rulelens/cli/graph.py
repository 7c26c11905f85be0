"""``rulelens graph``: which features decide, alone and together."""

from __future__ import annotations

import json
from pathlib import Path

import click

from rulelens.cli.progress import say, step
from rulelens.cli.rules import FORMAT_HELP, check_format, rules_of_file
from rulelens.cli.tables import read_data, table_options
from rulelens.cli.training import SEED, model_options
from rulelens.core.schema import Level
from rulelens.errors import OptionError
from rulelens.files import check_writable
from rulelens.views.numbers import count


@click.command("graph")
@click.argument("data", type=click.Path(path_type=Path))
@table_options
@click.option("--rules", "rules_file", type=click.Path(path_type=Path), help="A file of rules.")
@click.option("--format", "rules_format", metavar="NAME", help=FORMAT_HELP)
@click.option(
    "--train",
    "method",
    type=click.Choice(["tree", "forest"]),
    help="Train this model and take its rules. [default: forest]",
)
@model_options
@click.option("--depth", type=int, help="Deepest tree to train. [default: none for a tree, 6]")
@click.option("--min-leaf", default=5, show_default=True, help="Least rows of a leaf in training.")
@click.option(
    "--rule-relevance",
    default="relevance",
    show_default=True,
    help="How much a rule matters: relevance, support, confidence, lift, equal or any measure.",
)
@click.option(
    "--feature-relevance",
    default="relevance",
    show_default=True,
    help="How much a feature matters in a rule: relevance or impurity.",
)
@click.option(
    "--projection",
    default="joint",
    show_default=True,
    help="joint (the paper's), simple, hyperbolic or resource_allocation.",
)
@click.option("--class", "label", metavar="LABEL", help="Only the rules for this class.")
@click.option("--top", default=20, show_default=True, help="How many features to draw and list.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the training.")
@click.option("--out", type=click.Path(path_type=Path), help="Draw it: a .png or .svg file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
def command(
    data: Path,
    target: str | None,
    drop: tuple[str, ...],
    missing: tuple[str, ...],
    sep: str,
    encoding: str,
    rules_file: Path | None,
    rules_format: str | None,
    method: str | None,
    model_file: Path | None,
    trust: tuple[str, ...],
    depth: int | None,
    min_leaf: int,
    rule_relevance: str,
    feature_relevance: str,
    projection: str,
    label: str | None,
    top: int,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Feature graph of the rules of a tree, a forest or a file, on the rows of DATA.

    Example: rulelens graph heart.csv --target class --train forest --out heart.svg
    """
    if target is None:
        raise click.UsageError("Name the column with the class: --target COL.")
    if sum(x is not None for x in (rules_file, method, model_file)) > 1:
        raise click.UsageError("Give one of --rules, --train and --model.")
    check_format(rules_file, rules_format)
    if top < 1 or min_leaf < 1 or (depth is not None and depth < 1):
        raise click.UsageError("--top, --min-leaf and --depth must be at least 1.")
    if out is not None:
        check_picture(out)
    with step(f"Reading {data.name}"):
        file = read_data(
            data, target=target, drop=drop, missing=missing, sep=sep, encoding=encoding
        )
    made = rules_of_file(
        file,
        rules_file=rules_file,
        rules_format=rules_format,
        method=method or "forest",
        model_file=model_file,
        trust=trust,
        seed=seed,
        depth=depth,
        min_leaf=min_leaf,
    )
    from rulelens.graph.feature_graph import FeatureGraph

    rules = made.rules
    with step(f"Projecting {len(rules)} rules onto {len(rules.schema)} features"):
        graph = FeatureGraph.from_rules(
            rules,
            made.X,
            made.y,
            rule_relevance=rule_relevance,
            feature_relevance=feature_relevance,
            projection=projection,
        )
    if label is not None:
        graph = graph.for_class(match_label(label, rules.outcomes))
    if as_json:
        click.echo(json.dumps(graph.to_dict(), ensure_ascii=False, allow_nan=False))
    else:
        importance = graph.importance().sort_values(ascending=False)
        alone = dict(zip(graph.features, graph.adjacency.diagonal().tolist(), strict=True))
        width = max(len(str(n)) for n in importance.index[:top])
        click.echo(f"{'feature':<{width}}  importance   alone")
        used = importance[importance != 0]
        for name, value in used.head(top).items():
            click.echo(f"{name!s:<{width}}  {value:10.2f}  {alone[str(name)]:6.2f}")
        if len(used) > top:
            click.echo(f"… and {len(used) - top} more features (--top).")
        if len(used) < len(importance):
            click.echo(f"{count(len(importance) - len(used), 'feature')} of no importance.")
    if out is not None:
        from rulelens.plots.graph import plot_graph
        from rulelens.plots.save import save_figure

        say(f"Drawing: {save_figure(plot_graph(graph, top=top, title=_title(data, label)), out)}")


def check_picture(out: Path) -> None:
    """Refuse a picture path at once that could not be written after the work."""
    from rulelens.plots.save import FORMATS

    if out.suffix.lower() not in FORMATS:
        raise OptionError(f"A drawing is a {' or '.join(FORMATS)} file, not '{out.name}'.")
    check_writable(out)


def match_label(text: str, outcomes: tuple[Level, ...]) -> Level:
    """The outcome whose text this is; an error of the rule set's own where there is none."""
    for outcome in outcomes:
        if str(outcome) == text:
            return outcome
    return text


def _title(data: Path, label: str | None) -> str:
    return data.name if label is None else f"{data.name}: {label}"
