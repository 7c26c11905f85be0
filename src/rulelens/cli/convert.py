"""``rulelens convert``: rules from one file format to another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rulelens.cli.progress import say
from rulelens.cli.tables import read_data

if TYPE_CHECKING:
    from rulelens.core.schema import Schema


@click.command("convert")
@click.argument("source", metavar="IN", type=click.Path(path_type=Path))
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--from", "source_format", metavar="FORMAT", help="Format of IN.")
@click.option("--to", "target_format", metavar="FORMAT", help="Format of OUT.")
@click.option("--feature", "features", multiple=True, help="Name of a feature, in order; repeat.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="A table whose columns give the features' names, kinds and levels, in order.",
)
@click.option("--drop", multiple=True, metavar="COL", help="Column of --data to leave out; repeat.")
def command(
    source: Path,
    target: Path,
    source_format: str | None,
    target_format: str | None,
    features: tuple[str, ...],
    data: Path | None,
    drop: tuple[str, ...],
) -> None:
    """Read rules from IN and write them to OUT, where they select the same rows.

    The formats are what the file names' suffixes say, or what --from and --to say. OUT may be
    "-" for stdout. A format that cannot carry a rule refuses it and says why.

    \b
    in and out  json (.json), text (.rules), pmml (.pmml)
    in          rulex, prolog (.pl), export_text, wittgenstein
    out         sqlite, duckdb, postgres (.sqlite.sql, …), python (.py), csv (.csv),
                markdown (.md), latex (.tex)

    Example: rulelens convert rules.txt rules.json --from rulex --data pima.csv --drop Outcome
    """
    from rulelens.io.formats import format_rules, read_rules, write_rules

    if features and data is not None:
        raise click.UsageError("Give --feature or --data, not both.")
    if drop and data is None:
        raise click.UsageError("--drop names columns of --data. Give --data too.")
    if str(target) == "-" and target_format is None:
        raise click.UsageError("With OUT '-' name the format: --to FORMAT.")
    rules = read_rules(
        source,
        format=source_format,
        features=list(features) or None,
        schema=None if data is None else _schema(data, drop),
    )
    if str(target) == "-":
        click.echo(format_rules(rules, format=target_format or ""), nl=False)
        return
    write_rules(rules, target, format=target_format)
    say(f"{len(rules)} rules: {target}")


def _schema(data: Path, drop: tuple[str, ...]) -> Schema:
    from rulelens.frames import read_schema

    return read_schema(read_data(data, target=None, drop=drop).features)
