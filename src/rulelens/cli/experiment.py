"""``rulelens experiment``: run a paper's experiment again, from a checkout of the project."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import click

from rulelens.errors import OptionError, did_you_mean


@click.command("experiment", context_settings={"ignore_unknown_options": True})
@click.argument("name", required=False)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--folder", type=click.Path(path_type=Path), default=Path("experiments"),
              show_default=True, help="Folder with the experiments.")  # fmt: skip
def command(name: str | None, arguments: tuple[str, ...], folder: Path) -> None:
    """Run experiment NAME, such as feature-graphs/synthetic; without NAME, list them all.

    What follows NAME goes to the experiment: rulelens experiment feature-graphs/pima -- --help
    """
    found = experiments(folder)
    if not found:
        raise OptionError(
            f"There are no experiments in {folder.resolve()}. Run this in a checkout of the "
            "project, or name its folder with --folder."
        )
    if name is None:
        width = max(map(len, found))
        for key, path in found.items():
            click.echo(f"{key:<{width}}  {_summary(path)}")
        return
    if name not in found:
        raise OptionError(f"Unknown experiment '{name}'. {did_you_mean(name, found)}")
    done = subprocess.run([sys.executable, str(found[name]), *arguments], check=False)
    sys.exit(done.returncode)


def experiments(folder: Path) -> dict[str, Path]:
    """Scripts of a folder by name: those that can be run, in subfolders of it."""
    out = {}
    for path in sorted(folder.glob("*/*.py")):
        if "__main__" in path.read_text("utf-8"):
            out[f"{path.parent.name}/{path.stem}".replace("_", "-")] = path
    return out


def _summary(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return text.partition("\n")[0]
