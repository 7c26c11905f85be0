"""PIC on the command line: a data file's own classes, one best rule for each row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from rulelens.cli.progress import say, step
from rulelens.cli.tables import DataFile, id_columns
from rulelens.cli.training import split_rows
from rulelens.views.numbers import count, share

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.personal.fast_pic import FastPIC
    from rulelens.personal.pic import PIC

F = TypeVar("F", bound=Callable[..., Any])


def pic_options(command: F) -> F:
    """The options of PIC."""
    options = [
        click.option("--alpha", default=0.9, show_default=True, type=click.FloatRange(0, 1),
                     help="Weight of precision against recall, from 0 to 1."),
        click.option("--pic-length", default=3, show_default=True, type=click.IntRange(min=1),
                     help="Longest personal rule."),
        click.option("--pic-bins", default=3, show_default=True, type=click.IntRange(min=2),
                     help="Bins of equal width of a numeric feature."),
    ]  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def fit_pic(
    X: pd.DataFrame, y: pd.Series[Any], *, alpha: float, pic_length: int, pic_bins: int
) -> FastPIC | PIC:
    """FastPIC, or exact PIC where the table of counts would not fit into memory."""
    from rulelens.errors import SizeError
    from rulelens.personal.fast_pic import FastPIC
    from rulelens.personal.pic import PIC

    with step(f"Learning personal rules from {count(len(X), 'row')}"):
        try:
            return FastPIC(pic_length, alpha, n_bins=pic_bins).fit(X, y)
        except SizeError as e:
            say(f"{e} Going on with exact PIC, which needs no table.")
            return PIC(pic_length, alpha, n_bins=pic_bins, search="exact").fit(X, y)


def train_pic(
    file: DataFile, seed: int, **options: Any
) -> tuple[FastPIC | PIC, pd.DataFrame, pd.Series[Any]]:
    """A classifier learned from four fifths of a file's rows, and the fifth kept apart."""
    X, y = file.labelled
    for name in id_columns(X):
        say(f"'{name}' has a value of its own in nearly every row, like an ID: --drop '{name}'?")
    split = split_rows(y, seed)
    classifier = fit_pic(X.iloc[split.train], y.iloc[split.train], **options)
    apart, truth = X.iloc[split.test], y.iloc[split.test]
    if len(apart):
        right = float((classifier.predict(apart) == truth.to_numpy()).mean())
        say(f"On {count(len(apart), 'row')} kept apart it is right in {share(right)}.")
    return classifier, apart, truth


def explain_row(classifier: FastPIC | PIC, row: pd.DataFrame) -> tuple[dict[str, Any], str]:
    """One row's own rule, the best against it and the smallest changes: a record and a text."""
    from rulelens.personal.contrast import contrast, counterfactual
    from rulelens.views.numbers import interval_from

    own = classifier.explain(row, runners_up=4)
    rivals = contrast(classifier, row)
    changes = counterfactual(classifier, row, top=3)
    low, _ = own.precision_interval()
    outcomes = [own.rules.outcomes[c] for c in own.rules.outcome]
    lines = [f"PIC says “{outcomes[int(own.best[0])]}” for this row."]
    for entry in range(len(own)):
        head = "Its rule" if entry == 0 else f"Runner-up {entry}"
        rule = own.rules[int(own.index[entry])]
        lines.append(f"{head}: {rule}")
        if own.is_fallback[entry]:
            lines.append(f"     {own.reasons[entry]}")
            continue
        lines.append(
            f"     score {own.score[entry]:.3f}, covers "
            f"{count(int(own.tp[entry] + own.fp[entry]), 'row')}, precision "
            f"{share(float(own.precision[entry]))} ({interval_from(float(low[entry]))}), recall "
            f"{share(float(own.recall[entry]))}"
        )
    for entry in range(len(rivals)):
        if rivals.rank[entry] == 1:
            lines.append(f"The best rule against it: {rivals.rules[int(rivals.index[entry])]}")
            lines.append(
                f"     score {rivals.score[entry]:.3f}, precision "
                f"{share(float(rivals.precision[entry]))}"
            )
    frame = changes.to_frame()
    if len(frame):
        lines.append("The smallest changes after which it would say another class:")
        lines += [f"     {c} → {a}" for c, a in zip(frame["change"], frame["after"], strict=True)]
    else:
        lines.append(f"No change of up to {count(changes.searched, 'feature')} flips it.")
    record = {
        "format": "rulelens.personal_explanation",
        "version": 1,
        "rules": own.to_dict(),
        "contrast": rivals.to_dict(),
        "counterfactual": changes.to_dict(),
    }
    return record, "\n".join(lines)
