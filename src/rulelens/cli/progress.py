"""Progress on stderr: one line a step, with the time that it took."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import click


@contextmanager
def step(text: str) -> Iterator[None]:
    """Say what is being done, and how long it took, on stderr."""
    click.echo(f"{text} … ", err=True, nl=False)
    start = time.perf_counter()
    try:
        yield
    except BaseException:
        click.echo("", err=True)
        raise
    click.echo(f"{time.perf_counter() - start:.1f} s", err=True)


def say(text: str) -> None:
    """One line on stderr."""
    click.echo(text, err=True)
