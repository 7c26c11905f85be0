"""The command line: one file a command, loaded when it is called.

stdout carries the result, stderr the progress. Exit codes: 0 done, 2 usage, 3 a limit given
with an option is exceeded, 1 anything else, with one line that says what to do.
"""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from rulelens import __version__
from rulelens.errors import RulelensError, RulelensWarning

COMMANDS = {
    "compare": "Measure how far rule sets lie apart, and what makes the difference.",
    "convert": "Rules from one file format to another: JSON, text, Rulex, SQL, Python, tables.",
    "demo": "The main job on a data set that scikit-learn ships: explain, ask, re-rank, report.",
    "experiment": "Run a paper's experiment again, from a checkout of the project.",
    "explain": "Explain a model's decision on one row of a table by rules.",
    "graph": "Draw which features decide, alone and together.",
    "predict": "Learn one best rule for each row (PIC), and predict with it.",
    "rank": "Learn from a few answers which rules suit you, and rank all of them.",
    "rules": "Show, measure and save the rules of a tree, a forest or a file.",
}


class _LazyGroup(click.Group):
    """Knows every command's name and help without importing it."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = import_module(f"rulelens.cli.{cmd_name}").command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = click.utils.make_str(args[0])
        if name not in COMMANDS and not name.startswith("-"):
            from rulelens.errors import did_you_mean

            ctx.fail(f"There is no command '{name}'. {did_you_mean(name, COMMANDS)}")
        return super().resolve_command(ctx, args)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "-V", "--version", package_name="rulelens")
def group() -> None:
    """See a tabular model as rules, and get the rules that suit the one who asks."""


def _say_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: Any = None,
    line: str | None = None,
) -> None:
    """A warning of ours as a line of words, without the place in the code."""
    if issubclass(category, RulelensWarning):
        click.echo(f"\nrulelens: {message}", err=True)
    else:
        stream = file or sys.stderr
        stream.write(warnings.formatwarning(message, category, filename, lineno, line))


def main(args: Sequence[str] | None = None) -> Any:
    """Run the command line; an error of ours ends with one line on stderr and exit code 1."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # any name can be printed
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _say_warning
            group.main(args=None if args is None else list(args), prog_name="rulelens")
    except RulelensError as e:
        from rulelens.cli.words import for_command_line

        message = for_command_line(str(e) or type(e).__name__)
        click.echo(f"rulelens: {message}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        sys.exit(1)
    except OSError as e:
        click.echo(f"rulelens: {e.strerror or e}", err=True)
        sys.exit(1)
