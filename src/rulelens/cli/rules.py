"""``rulelens rules``: the rules of a tree, a forest or a file, with their measures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rulelens.cli.progress import say, step
from rulelens.cli.tables import DataFile, read_data, table_options
from rulelens.cli.training import model_options

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.core.ruleset import RuleSet

SHOWN = ("support", "confidence", "confidence_low", "recall", "error", "relevance", "lift")


@click.command("rules")
@click.argument("data", type=click.Path(path_type=Path))
@table_options
@click.option("--rules", "rules_file", type=click.Path(path_type=Path), help="A file of rules.")
@click.option(
    "--train",
    "method",
    type=click.Choice(["tree", "forest"]),
    help="Train this model and take its rules. [default: tree]",
)
@model_options
@click.option("--sort", default="relevance", show_default=True, help="Measure to sort by.")
@click.option("--top", default=20, show_default=True, help="How many rules to show.")
@click.option("--seed", default=0, show_default=True, help="Of the training.")
@click.option("--out", type=click.Path(path_type=Path), help="Save the rules: a .json file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
def command(
    data: Path,
    target: str | None,
    drop: tuple[str, ...],
    missing: tuple[str, ...],
    sep: str,
    encoding: str,
    rules_file: Path | None,
    method: str | None,
    model_file: Path | None,
    trust: tuple[str, ...],
    sort: str,
    top: int,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Rules of a tree, a forest or a file, measured on the rows of DATA.

    Example: rulelens rules heart.csv --target class --train tree --out heart-rules.json
    """
    from rulelens.core.measures import MEASURES
    from rulelens.files import check_writable

    if target is None:
        raise click.UsageError("Name the column with the class: --target COL.")
    if sum(x is not None for x in (rules_file, method, model_file)) > 1:
        raise click.UsageError("Give one of --rules, --train and --model.")
    if top < 1:
        raise click.UsageError(f"--top must be at least 1, not {top}.")
    MEASURES[sort]
    if out is not None:
        check_writable(out)
    with step(f"Reading {data.name}"):
        file = read_data(
            data, target=target, drop=drop, missing=missing, sep=sep, encoding=encoding
        )
    rules, X, y = rules_of_file(
        file,
        rules_file=rules_file,
        method=method or "tree",
        model_file=model_file,
        trust=trust,
        seed=seed,
    )
    with step(f"Measuring {len(rules)} rules on {len(X)} rows"):
        counts = rules.contingency(X, y)
        order = counts.measure(sort).argsort(kind="stable")[::-1]
        measures = [sort, *(m for m in SHOWN if m != sort)]
        shown = order if as_json else order[:top]
        readable = rules[shown].shorten(X)
        frame = counts[shown].to_frame(measures)
    if as_json:
        records = [
            {"rule": int(k), "if": r.antecedent(), "then": r.outcome, **figures}
            for k, r, figures in zip(shown, readable, _records(frame), strict=True)
        ]
        click.echo(json.dumps(records, ensure_ascii=False, allow_nan=False))
    else:
        for k, rule, (_, f) in zip(shown, readable, frame.iterrows(), strict=True):
            click.echo(f"{k}: {rule}")
            figures = ", ".join(f"{m} {f[m]:.3f}" for m in measures)
            click.echo(f"     covers {int(f['tp'] + f['fp'])} rows, {figures}")
        if len(rules) > top:
            click.echo(f"… and {len(rules) - top} more rules (--top).")
    if out is not None:
        from rulelens.io.formats import write_rules

        write_rules(rules, out)
        say(f"Rules: {out}")


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    clean = frame.astype(object).where(frame.notna(), None)
    return [{str(k): v for k, v in r.items()} for r in clean.to_dict("records")]


def rules_of_file(
    file: DataFile,
    *,
    rules_file: Path | None,
    method: str,
    model_file: Path | None,
    trust: tuple[str, ...],
    seed: int,
) -> tuple[RuleSet, pd.DataFrame, pd.Series[Any]]:
    """Rules read from a file, or of a tree or forest, with the rows to measure them on."""
    X, y = file.labelled
    if rules_file is not None:
        from rulelens.io.formats import read_rules

        with step(f"Reading {rules_file.name}"):
            # Only JSON holds the features' names; other formats count them.
            names = None if rules_file.suffix == ".json" else list(X.columns)
            rules = read_rules(rules_file, features=names)
        if not set(rules.schema.names) <= set(X.columns):
            X = with_indicators(X)
        return rules, X, y
    from rulelens.sources.extract import extract_rules

    X = with_indicators(X)
    if model_file is not None:
        from rulelens.cli.training import load_model

        with step(f"Loading {model_file.name}"):
            return extract_rules(load_model(model_file, trust), X), X, y
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    with step(f"Training a {method} on {len(X)} rows"):
        model = (
            DecisionTreeClassifier(min_samples_leaf=5, random_state=seed)
            if method == "tree"
            else RandomForestClassifier(100, max_depth=6, random_state=seed)
        )
        model.fit(X, y)
        return extract_rules(model, X), X, y


def with_indicators(X: pd.DataFrame) -> pd.DataFrame:
    """The table with each text column as one boolean column a level, ``"colour = red"``.

    scikit-learn's trees take numbers only. A missing text belongs to no level.
    """
    import pandas as pd

    columns: dict[str, pd.Series[Any]] = {}
    for name in X.columns:
        column = X[name]
        if column.dtype.kind in "biuf":
            columns[str(name)] = column
            continue
        for level in sorted(column.dropna().astype(str).unique()):
            columns[f"{name} = {level}"] = (
                column.astype(object).astype(str) == level
            ) & column.notna()
    return pd.DataFrame(columns, index=X.index)
