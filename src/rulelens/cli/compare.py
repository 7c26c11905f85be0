"""``rulelens compare``: how far rule sets lie apart, and what makes the difference."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rulelens.cli.graph import check_picture
from rulelens.cli.indicators import Indicators
from rulelens.cli.progress import say, step
from rulelens.cli.rules import read_rules_file
from rulelens.cli.tables import DataFile, read_data, table_options
from rulelens.errors import FormatError

if TYPE_CHECKING:
    from rulelens.core.ruleset import RuleSet
    from rulelens.graph.alignment import RuleAlignment
    from rulelens.graph.comparison import GraphDifference
    from rulelens.graph.feature_graph import FeatureGraph

EXCEEDED = 3
_NAMED = 5


@dataclass(frozen=True)
class Side:
    """One of the files: rules, a feature graph, or both.

    ``moved`` is how far resampling the rows moves the graph, 95 of 100 times at most.
    """

    name: str
    rules: RuleSet | None
    graph: FeatureGraph | None
    moved: float | None = None


@dataclass(frozen=True)
class Step:
    """A file against the one before it."""

    first: Side
    second: Side
    change: GraphDifference | None
    rules: RuleAlignment | None


@click.command("compare")
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="A B [C]…"
)
@click.option("--data", type=click.Path(path_type=Path), help="Rows to judge the rules on.")
@table_options
@click.option(
    "--max-distance",
    type=click.FloatRange(min=0),
    help="End with exit code 3 if a file is farther than this from the one before.",
)
@click.option(
    "--format",
    "rules_format",
    metavar="NAME",
    help="Format, such as rulex, of files of rules whose suffix does not tell it.",
)
@click.option(
    "--resamples",
    type=click.IntRange(min=0),
    default=0,
    help="Resample the rows so often, to tell how far chance alone moves a graph.",
)
@click.option("--top", default=5, show_default=True, help="How many changed links to list.")
@click.option("--out", type=click.Path(path_type=Path), help="Draw it: a .png or .svg file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
def command(
    files: tuple[Path, ...],
    data: Path | None,
    target: str | None,
    drop: tuple[str, ...],
    missing: tuple[str, ...],
    sep: str,
    encoding: str,
    max_distance: float | None,
    rules_format: str | None,
    resamples: int,
    top: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Compare rule sets, or feature graphs, in the order given: each with the one before.

    A and B are files of rules, or feature graphs saved by "rulelens graph --json". Rules need
    --data and --target to be made into graphs; without, only the rules are compared.

    Example: rulelens compare 2025.json 2026.json --data heart.csv --target class
    """
    if len(files) < 2:
        raise click.UsageError("Name at least two files to compare.")
    if top < 1:
        raise click.UsageError(f"--top must be at least 1, not {top}.")
    if max_distance is not None and not math.isfinite(max_distance):
        raise click.UsageError("--max-distance must be a finite number.")
    if data is not None and target is None:
        raise click.UsageError("Name the column with the class: --target COL.")
    if data is None and target is not None:
        raise click.UsageError("--target is a column of --data. Give that file, too.")
    if resamples == 1 or (resamples and data is None):
        raise click.UsageError("--resamples needs --data, and at least 2 resamples.")
    if out is not None:
        check_picture(out)
    table = None
    if data is not None:
        with step(f"Reading {data.name}"):
            table = read_data(
                data, target=target, drop=drop, missing=missing, sep=sep, encoding=encoding
            )
    sides = []
    unique = len({path.name for path in files}) == len(set(files))
    for path in files:
        with step(f"Reading {path.name}"):
            sides.append(
                _read(path, path.name if unique else str(path), table, resamples, rules_format)
            )
    without = [s.name for s in sides if s.graph is None]
    if without and (max_distance is not None or out is not None):
        option = "--max-distance" if max_distance is not None else "--out"
        raise click.UsageError(
            f"{option} needs feature graphs, and {without[0]} has only rules. Give the rows to "
            "judge them on: --data FILE --target COL."
        )
    with step("Comparing"):
        steps = [_compare(a, b, table) for a, b in pairwise(sides)]
    beyond = [
        s
        for s in steps
        if max_distance is not None and s.change is not None and s.change.distance > max_distance
    ]
    if as_json:
        document = {
            "format": "rulelens.comparison",
            "version": 1,
            "max_distance": max_distance,
            "exceeded": bool(beyond),
            "steps": [_document(s) for s in steps],
        }
        click.echo(json.dumps(document, ensure_ascii=False, allow_nan=False))
    else:
        click.echo("\n\n".join("\n".join(_lines(s, top)) for s in steps))
    if out is not None:
        say(f"Drawing: {_draw(sides, steps, out)}")
    for s in beyond:
        assert s.change is not None
        say(
            f"rulelens: {s.second.name} is {s.change.distance:.4g} from {s.first.name}, farther "
            f"than --max-distance {max_distance:g}."
        )
    if beyond:
        sys.exit(EXCEEDED)


def _read(
    path: Path, name: str, table: DataFile | None, resamples: int, rules_format: str | None
) -> Side:
    """Rules, with their graph where there are rows; or a saved graph."""
    from rulelens.files import read_text
    from rulelens.graph.feature_graph import FeatureGraph
    from rulelens.io.formats import format_for_reading, read_rules

    if path.suffix.lower() == ".json":
        text = read_text(path)
        try:
            document = json.loads(text)
        except json.JSONDecodeError:
            document = None  # read_rules names the place of the fault
        if isinstance(document, dict) and document.get("format") == "rulelens.feature_graph":
            return Side(name, None, FeatureGraph.from_dict(document))
    try:
        chosen = format_for_reading(path)
    except FormatError:
        chosen = format_for_reading(path, rules_format)
    if table is None:
        return Side(name, read_rules(path, format=chosen), None)
    X, y = table.labelled
    rules = read_rules_file(path, X, chosen)
    if not set(rules.schema.names) <= set(X.columns):
        X = Indicators.of(X).frame
    if not resamples:
        return Side(name, rules, FeatureGraph.from_rules(rules, X, y))
    from rulelens.graph.inference import bootstrap

    intervals = bootstrap(rules, X, y, n_resamples=resamples, random_state=0)
    return Side(name, rules, intervals.graph, intervals.usual_distance)


def _compare(first: Side, second: Side, table: DataFile | None) -> Step:
    from rulelens.graph.alignment import align_rules
    from rulelens.graph.comparison import GraphDifference

    change = None
    if first.graph is not None and second.graph is not None:
        change = GraphDifference.between(first.graph, second.graph, names=(first.name, second.name))
    pairs = None
    if first.rules is not None and second.rules is not None:
        X: Any = None
        if table is not None:
            X = table.labelled[0]
            names = {*first.rules.schema.names, *second.rules.schema.names}
            if not names <= set(X.columns):
                indicators = Indicators.of(X).frame
                X = indicators.assign(**{c: X[c] for c in X.columns if c not in indicators})
        pairs = align_rules(first.rules, second.rules, X)
    return Step(first, second, change, pairs)


def _lines(s: Step, top: int) -> list[str]:
    lines = [f"{s.first.name} → {s.second.name}"]
    if s.change is None:
        lines.append("distance: unknown without rows (--data FILE --target COL)")
    else:
        lines.append(f"distance: {s.change.distance:.4g}")
        lines += [f"note: {text}" for text in _notes(s)]
        moved = [f"{x.moved:.4g} ({x.name})" for x in (s.first, s.second) if x.moved is not None]
        if moved:
            lines.append(
                f"for scale: resampling the rows moves a graph by up to {' and '.join(moved)}, "
                "95 of 100 times"
            )
        for link in _drivers(s.change)[:top]:
            pair = link["source"]
            pair += " alone" if link["kind"] == "alone" else f" with {link['target']}"
            lines.append(
                f"  {pair}: {link['first']:.2f} → {link['second']:.2f} "
                f"({link['change']:+.2f}, {link['share']:.0%} of the squared distance)"
            )
    if s.rules is not None:
        counts = _counts(s.rules)
        shown = [f"{counts[k]} {k}" for k in ("same rule", "same rows", "overlap", "same features")]
        shown = [t for t in shown if not t.startswith("0 ")]
        shown.append(f"{counts['only first']} only in {s.first.name}")
        shown.append(f"{counts['only second']} only in {s.second.name}")
        lines.append("rules: " + ", ".join(shown))
    return lines


def _notes(s: Step) -> list[str]:
    """What makes a distance say less than it seems to."""
    notes: list[str] = []
    one, two = s.first.graph, s.second.graph
    if one is None or two is None:
        return notes
    ways = [f"{g.rule_relevance}/{g.feature_relevance}, {g.projection}" for g in (one, two)]
    if ways[0] != ways[1]:
        notes.append(
            f"{s.first.name} was made by {ways[0]}, and {s.second.name} by {ways[1]}: make both "
            "graphs in one way to compare their rules."
        )
    for side, mine, other in ((s.first, one, two), (s.second, two, one)):
        lone = [f"'{name}'" for name in mine.features if name not in set(other.features)]
        if lone:
            more = f" and {len(lone) - _NAMED} more" if len(lone) > _NAMED else ""
            notes.append(f"only {side.name} has {', '.join(lone[:_NAMED])}{more}.")
    return notes


def _drivers(change: GraphDifference) -> list[dict[str, Any]]:
    return [{str(k): v for k, v in row.items()} for row in change.drivers().to_dict("records")]


def _counts(rules: RuleAlignment) -> dict[str, int]:
    return {
        "same rule": rules.count("same rule"),
        "same rows": rules.count("same rows"),
        "overlap": rules.count("overlap"),
        "same features": rules.count("same features"),
        "only first": len(rules.only_first),
        "only second": len(rules.only_second),
    }


def _document(s: Step) -> dict[str, Any]:
    out: dict[str, Any] = {"first": s.first.name, "second": s.second.name, "distance": None}
    if s.change is not None:
        out["distance"] = s.change.distance
        out["moved_by_resampling"] = [s.first.moved, s.second.moved]
        out["drivers"] = _drivers(s.change)
        out["notes"] = _notes(s)
    if s.rules is not None:
        out["rules"] = _counts(s.rules) | {"pairs": s.rules.to_dict()["pairs"]}
    return out


def _draw(sides: list[Side], steps: list[Step], out: Path) -> Path:
    """The difference of two files, or the drift along more."""
    from rulelens.plots.save import save_figure

    if len(steps) == 1:
        from rulelens.plots.graph import plot_difference

        assert steps[0].change is not None
        return save_figure(plot_difference(steps[0].change), out)
    from rulelens.graph.drift import drift
    from rulelens.plots.drift import plot_drift

    graphs = {}
    for k, side in enumerate(sides):
        assert side.graph is not None
        graphs[side.name if side.name not in graphs else f"{side.name} ({k + 1})"] = side.graph
    return save_figure(plot_drift(drift(graphs)), out)
