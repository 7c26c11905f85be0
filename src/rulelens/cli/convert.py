"""``rulelens convert``: rules from one file format to another."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rulelens.cli.indicators import Indicators
from rulelens.cli.progress import say
from rulelens.cli.rules import read_rules_file
from rulelens.cli.tables import read_data, table_options

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.core.ruleset import RuleSet

LONG = 9
"""Characters from which a threshold is hard to read."""


@click.command("convert")
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.argument("out", metavar="OUT", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--from", "source_format", metavar="FORMAT", help="Format of IN.")
@click.option("--to", "target_format", metavar="FORMAT", help="Format of OUT.")
@click.option("--feature", "features", multiple=True, help="Name of a feature, in order; repeat.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="A table: its columns give the features' names, kinds and levels, in order, and its rows "
    "the shortest thresholds for .md and .tex.",
)
@table_options
def command(
    source: Path,
    out: Path,
    source_format: str | None,
    target_format: str | None,
    features: tuple[str, ...],
    data: Path | None,
    target: str | None,
    drop: tuple[str, ...],
    missing: tuple[str, ...],
    sep: str,
    encoding: str,
) -> None:
    """Read rules from IN and write them to OUT, where they select the same rows.

    The formats are what the file names' suffixes say, or what --from and --to say. OUT may be
    "-" for stdout. A format that cannot carry a rule refuses it and says why.

    \b
    in and out  json (.json), text (.rules), pmml (.pmml)
    in          rulex, prolog (.pl), export_text, wittgenstein
    out         sqlite, duckdb, postgres (.sqlite.sql, …), python (.py), csv (.csv),
                markdown (.md), latex (.tex)

    With --data, .md and .tex have the shortest thresholds that select the same rows of the table.

    \b
    Example: rulelens convert rules.txt rules.json --from rulex --data pima.csv --drop Outcome
             rulelens convert rules.json rules.md --data heart.csv
    """
    from rulelens.frames import read_schema
    from rulelens.io.formats import format_for_writing, format_rules, read_rules, write_rules
    from rulelens.io.tables import FOR_PEOPLE

    if features and data is not None:
        raise click.UsageError("Give --feature or --data, not both.")
    if data is None and (drop or missing or target is not None):
        raise click.UsageError("--drop, --target and --missing tell of --data. Give --data too.")
    if str(out) == "-" and target_format is None:
        raise click.UsageError("With OUT '-' name the format: --to FORMAT.")
    rows = None
    if data is not None:
        rows = read_data(
            data, target=target, drop=drop, missing=missing, sep=sep, encoding=encoding
        ).features
    for_people = format_for_writing(out, target_format) in FOR_PEOPLE
    if for_people and data is not None and rows is not None:
        rules = _shortened(_read_for_rows(source, rows, source_format), rows, data.name)
    else:
        rules = read_rules(
            source,
            format=source_format,
            features=list(features) or None,
            schema=None if rows is None else read_schema(rows),
        )
        if for_people and _is_long(rules):
            say("Thresholds have all their digits; --data TABLE gives the shortest for its rows.")
    if str(out) == "-":
        click.echo(format_rules(rules, format=target_format or ""), nl=False)
        return
    write_rules(rules, out, format=target_format)
    say(f"{len(rules)} rules: {out}")


def _read_for_rows(source: Path, rows: pd.DataFrame, source_format: str | None) -> RuleSet:
    """Rules of a file that may hold its own features, of which the table may have more."""
    from rulelens.frames import read_schema
    from rulelens.io.formats import format_for_reading, read_rules

    chosen = format_for_reading(source, source_format)
    if chosen in ("json", "pmml", "text"):
        return read_rules_file(source, rows, chosen)
    return read_rules(source, format=chosen, schema=read_schema(rows))


def _shortened(rules: RuleSet, rows: pd.DataFrame, name: str) -> RuleSet:
    if not set(rules.schema.names) <= set(rows.columns):
        rows = Indicators.of(rows).frame  # made of the indicators of text columns
    short = rules.shorten(rows)
    if short != rules:
        say(
            f"Thresholds are the shortest that select the same of the {len(rows):,} rows of {name}."
            " Other rows may differ: keep the rules in another format, too."
        )
    return short


def _is_long(rules: RuleSet) -> bool:
    ends = {*rules.conditions.low.tolist(), *rules.conditions.high.tolist()}
    return any(len(repr(abs(end)).removesuffix(".0")) >= LONG for end in ends if isfinite(end))
