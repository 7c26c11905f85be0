"""``rulelens rules``: the rules of a tree, a forest or a file, with their measures."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from numpy.typing import NDArray

from rulelens.cli.indicators import Indicators
from rulelens.cli.progress import say, step
from rulelens.cli.tables import DataFile, id_columns, read_data, table_options
from rulelens.cli.training import SEED, check_numbers, load_model, model_options, split_rows
from rulelens.views.numbers import count, share

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.core.ruleset import RuleSet

FORMAT_HELP = "Format of the file of rules, such as rulex. [default: by its suffix]"
SHOWN = ("support", "confidence", "confidence_low", "recall", "error", "relevance", "lift")


@click.command("rules")
@click.argument("data", type=click.Path(path_type=Path))
@table_options
@click.option("--rules", "rules_file", type=click.Path(path_type=Path), help="A file of rules.")
@click.option("--format", "rules_format", metavar="NAME", help=FORMAT_HELP)
@click.option(
    "--train",
    "method",
    type=click.Choice(["tree", "forest"]),
    help="Train this model and take its rules. [default: tree]",
)
@model_options
@click.option("--depth", type=int, help="Deepest tree to train. [default: none for a tree, 6]")
@click.option("--min-leaf", default=5, show_default=True, help="Least rows of a leaf in training.")
@click.option("--sort", default="relevance", show_default=True, help="Measure to sort by.")
@click.option("--top", default=20, show_default=True, help="How many rules to show.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Of the training.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Save the rules: .json; .csv with measures."
)
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
    sort: str,
    top: int,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Rules of a tree, a forest or a file, measured on the rows of DATA.

    With --train, a fifth of the rows is kept apart from training: "kept apart 8 of 9" says that of
    9 such rows that a rule covers, 8 have its class.

    \b
    support     share of all rows that the rule covers and that have its class
    confidence  share of the covered rows that have its class
    recall      share of its class's rows that it covers
    error       share of the other classes' rows that it covers
    relevance   recall times (1 - error)
    lift        confidence over the class's share of all rows

    Rules of a file are read in its format; V1, V2, … then stand for the columns of DATA.

    \b
    Example: rulelens rules heart.csv --target class --train tree --out heart-rules.json
             rulelens rules pima.csv --target Outcome --rules pima.txt --format rulex
    """
    from rulelens.core.measures import MEASURES
    from rulelens.files import check_writable
    from rulelens.io.formats import format_for_writing

    if target is None:
        raise click.UsageError("Name the column with the class: --target COL.")
    if sum(x is not None for x in (rules_file, method, model_file)) > 1:
        raise click.UsageError("Give one of --rules, --train and --model.")
    check_format(rules_file, rules_format)
    if top < 1 or min_leaf < 1 or (depth is not None and depth < 1):
        raise click.UsageError("--top, --min-leaf and --depth must be at least 1.")
    MEASURES[sort]
    if out is not None:
        check_writable(out)
        format_for_writing(out)
    with step(f"Reading {data.name}"):
        file = read_data(
            data, target=target, drop=drop, missing=missing, sep=sep, encoding=encoding
        )
    made = rules_of_file(
        file,
        rules_file=rules_file,
        rules_format=rules_format,
        method=method or "tree",
        model_file=model_file,
        trust=trust,
        seed=seed,
        depth=depth,
        min_leaf=min_leaf,
    )
    rules = made.rules
    with step(f"Measuring {len(rules)} rules on {len(made.X)} rows"):
        counts = rules.contingency(made.X, made.y)
        order = np.lexsort((np.arange(len(rules)), -counts.tp, -_rank_key(counts.measure(sort))))
        measures = [sort, *(m for m in SHOWN if m != sort)]
        shown = order if as_json else order[:top]
        readable = rules[shown].shorten(made.X)
        frame = counts[shown].to_frame(measures)
        apart = None
        if len(made.X_apart):
            checked = rules[shown].contingency(made.X_apart, made.y_apart)
            apart = np.stack([checked.tp, checked.tp + checked.fp], axis=1)
    if as_json:
        records = [
            {"rule": int(k), "if": r.antecedent(), "then": r.outcome, **figures}
            | ({} if apart is None else {"apart_agree": int(a[0]), "apart_covered": int(a[1])})
            for k, r, figures, a in zip(
                shown, readable, _records(frame), shown if apart is None else apart, strict=True
            )
        ]
        document = {"format": "rulelens.measured_rules", "version": 1, "rules": records}
        click.echo(json.dumps(document, ensure_ascii=False, allow_nan=False))
    else:
        for place, (k, rule) in enumerate(zip(shown, readable, strict=True)):
            f = frame.iloc[place]
            click.echo(f"{k}: {rule}")
            figures = ", ".join(f"{m} {f[m]:.3f}" for m in measures)
            kept = "" if apart is None else f", kept apart {apart[place, 0]} of {apart[place, 1]}"
            click.echo(f"     covers {count(int(f['tp'] + f['fp']), 'row')}, {figures}{kept}")
        if len(rules) > top:
            click.echo(f"… and {len(rules) - top} more rules (--top).")
    if out is not None:
        from rulelens.files import write_text
        from rulelens.io.formats import write_rules
        from rulelens.io.tables import FOR_PEOPLE, write_csv

        if format_for_writing(out) == "csv":
            write_text(out, write_csv(rules, made.X, made.y))
        elif format_for_writing(out) in FOR_PEOPLE:
            write_rules(rules.shorten(made.X), out)  # as they are printed
        else:
            write_rules(rules, out)
        say(f"Rules: {out}")


def _rank_key(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Undefined measures go last."""
    return np.where(np.isnan(values), -np.inf, values)


@dataclass(frozen=True)
class MadeRules:
    """Rules, the rows to measure them on, and rows that had no part in making them."""

    rules: RuleSet
    X: pd.DataFrame
    y: pd.Series[Any]
    X_apart: pd.DataFrame
    y_apart: pd.Series[Any]


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    clean = frame.astype(object).where(frame.notna(), None)
    return [{str(k): v for k, v in r.items()} for r in clean.to_dict("records")]


def check_format(rules_file: Path | None, rules_format: str | None) -> None:
    """Refuse a format of no file, and one that cannot be read, before the work."""
    if rules_format is None:
        return
    if rules_file is None:
        raise click.UsageError("--format is that of a file of rules. Give --rules FILE, too.")
    from rulelens.io.formats import format_for_reading

    format_for_reading(rules_file, rules_format)


def read_rules_file(path: Path, X: pd.DataFrame, rules_format: str | None = None) -> RuleSet:
    """Rules of a file; formats that do not hold names count the table's columns.

    A column that no rule asks about is then of the table's own kind.
    """
    from rulelens.core.ruleset import RuleSet
    from rulelens.core.schema import Schema
    from rulelens.frames import read_schema
    from rulelens.io.formats import format_for_reading, read_rules

    chosen = format_for_reading(path, rules_format)
    if chosen in ("json", "pmml"):
        return read_rules(path, format=chosen)
    rules = read_rules(path, format=chosen, features=list(X.columns))
    used = set(rules.conditions.feature.tolist())
    own = read_schema(X)
    schema = Schema(f if i in used else own[f.name] for i, f in enumerate(rules.schema))
    return RuleSet.from_arrays(
        schema,
        rules.conditions,
        rules.offsets,
        rules.indices,
        rules.outcome,
        outcomes=rules.outcomes,
        ordered=rules.ordered,
        default=rules.default,
        provenance=rules.provenance,
    )


def rules_of_file(
    file: DataFile,
    *,
    rules_file: Path | None,
    method: str,
    model_file: Path | None,
    trust: tuple[str, ...],
    seed: int,
    depth: int | None = None,
    min_leaf: int = 5,
    rules_format: str | None = None,
) -> MadeRules:
    """Rules read from a file, or of a tree or forest, with the rows to measure them on.

    Rows are kept apart only where a model is trained here: of rules and models that come from
    elsewhere nobody knows which rows made them.
    """
    X, y = file.labelled
    if rules_file is not None:
        with step(f"Reading {rules_file.name}"):
            rules = read_rules_file(rules_file, X, rules_format)
        if not set(rules.schema.names) <= set(X.columns):
            X = Indicators.of(X).frame  # made of the indicators of text columns
        return MadeRules(rules, X, y, X[:0], y[:0])
    from rulelens.sources.extract import extract_rules

    for name in id_columns(X):
        say(f"'{name}' has a value of its own in nearly every row, like an ID: --drop '{name}'?")
    coded = Indicators.of(X)
    check_numbers(coded.frame)
    if model_file is not None:
        with step(f"Loading {model_file.name}"):
            model = load_model(model_file, trust)
            known = getattr(model, "feature_names_in_", None)
            plain = known is not None and set(known) <= set(X.columns)
            table = X[list(known)] if plain and known is not None else coded.frame
            rules = extract_rules(model, table)
            return MadeRules(rules if plain else coded.undo(rules), X, y, X[:0], y[:0])
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.tree import DecisionTreeClassifier

    split = split_rows(y, seed)
    X_train, y_train = X.iloc[split.train], y.iloc[split.train]
    X_apart, y_apart = X.iloc[split.test], y.iloc[split.test]
    with step(f"Training a {method} on {len(X_train)} rows"):
        model = (
            DecisionTreeClassifier(max_depth=depth, min_samples_leaf=min_leaf, random_state=seed)
            if method == "tree"
            else RandomForestClassifier(
                100, max_depth=depth or 6, min_samples_leaf=min_leaf, random_state=seed
            )
        )
        model.fit(coded.frame.iloc[split.train], y_train)
        rules = coded.undo(extract_rules(model, coded.frame))
    if len(X_apart):
        right = float((model.predict(coded.frame.iloc[split.test]) == y_apart.to_numpy()).mean())
        say(f"On {len(X_apart):,} rows kept apart the {method} is right in {share(right)}.")
    return MadeRules(rules, X_train, y_train, X_apart, y_apart)
