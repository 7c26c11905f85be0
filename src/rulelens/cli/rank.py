"""``rulelens rank``: learn from a few answers which rules suit you."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, cast

import click

from rulelens.cli.asking import ask
from rulelens.cli.explain import check_out
from rulelens.cli.progress import say
from rulelens.cli.text import text_of
from rulelens.errors import OptionError, did_you_mean


def _check_apart(files: dict[str, Path]) -> None:
    """Raise if two of the files are one: what is in it would be lost."""
    seen: dict[str, str] = {}
    for name, path in files.items():
        place = os.path.realpath(path)
        if place in seen:
            raise click.UsageError(
                f"{seen[place]} and {name} are the same file, {path}. Name two different ones."
            )
        seen[place] = name


@click.command("rank")
@click.argument("explanation_file", metavar="EXPLANATION", type=click.Path(path_type=Path))
@click.option(
    "--session",
    "session_file",
    type=click.Path(path_type=Path),
    help="Where answers are kept. [default: beside EXPLANATION, .session.json]",
)
@click.option(
    "--profile",
    "profile_file",
    type=click.Path(path_type=Path),
    help="What you said about other rows; your answers are added to it at the end.",
)
@click.option("--fresh", is_flag=True, help="Do not resume: put an earlier session aside.")
@click.option(
    "--form",
    type=click.Choice(["pair", "best_of_5"]),
    default="pair",
    show_default=True,
    help="What a question looks like.",
)
@click.option(
    "--goal",
    type=click.Choice(["top_k", "ranking", "best"]),
    default="top_k",
    show_default=True,
    help="What the answers are to settle.",
)
@click.option("--answers", type=int, help="Most answers. [default: until you stop]")
@click.option(
    "--weights",
    "method",
    default="analytic",
    show_default=True,
    help="How weights are chosen: analytic, max_eps, chebyshev, centroid or bayes_pl.",
)
@click.option("--top", default=5, show_default=True, help="How many rules to show.")
@click.option("--out", type=click.Path(path_type=Path), help="Write a report: a .html file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
def command(
    explanation_file: Path,
    session_file: Path | None,
    profile_file: Path | None,
    fresh: bool,
    form: str,
    goal: str,
    answers: int | None,
    method: str,
    top: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Ask which rules of EXPLANATION suit you, and rank all of them by your answers.

    EXPLANATION is what "rulelens explain --json" printed or Explanation.to_json wrote. Every
    answer is saved at once: after a break or a crash the next call goes on where it was.

    Example: rulelens explain d.csv --target y --row 12 --json > why.json; rulelens rank why.json
    """
    from rulelens.explain.explanation import Explanation
    from rulelens.files import check_writable
    from rulelens.preference.profile import Profile
    from rulelens.preference.session import METHODS

    if answers is not None and answers < 0:
        raise click.UsageError(f"--answers must be at least 0, not {answers}.")
    if top < 1:
        raise click.UsageError(f"--top must be at least 1, not {top}.")
    if out is not None:
        check_out(out)
    explanation = Explanation.from_json(explanation_file)
    kept = session_file or explanation_file.with_suffix(".session.json")
    files = {"EXPLANATION": explanation_file, "--session": kept}
    if profile_file is not None:
        files["--profile"] = profile_file
    _check_apart(files)
    for name in ("--session", "--profile"):
        if name in files:
            check_writable(files[name])
    if method not in METHODS:
        raise OptionError(f"Unknown method {method!r}. {did_you_mean(method, METHODS)}")
    profile = Profile()
    if profile_file is not None and profile_file.exists():
        profile = Profile.load(profile_file)
        say(f"Your profile has {len(profile)} earlier statements.")
    if kept.exists() and not fresh:
        session = explanation.resume(kept)
        say(f"Going on with {len(session.statements)} statements from {kept}.")
    else:
        if kept.exists():
            aside = kept.with_name(f"{kept.name}.old")
            kept.replace(aside)
            say(f"The earlier session is now {aside}.")
        session = explanation.session(profile=profile)
        if session.conflict() is not None:
            raise OptionError(
                f"The profile {profile_file} does not fit these rules: {session.conflict()} "
                "Withdraw statements from it, or leave it out."
            )
    try:
        ask(session, limit=answers, goal=goal, form=form, k=top, save=lambda: session.save(kept))
    finally:
        session.save(kept)
    if not session.statements and not session.background:
        say("Nothing was said: all wishes weigh the same.")
    personal = session.result(cast(Any, method), k=top)
    if profile_file is not None:
        about = explanation_file.stem
        profile.without(about=about).remember(session, about).save(profile_file)
        say(f"Profile: {profile_file}")
    if as_json:
        click.echo(json.dumps(personal.to_dict(), ensure_ascii=False, allow_nan=False))
    else:
        click.echo(text_of(explanation, personal, None, top))
    if out is not None:
        say(f"Report: {personal.to_html(out)}")
    say(f"Answers: {kept}")
