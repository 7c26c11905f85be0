"""``rulelens predict``: a class and one rule for every row of a file."""

from __future__ import annotations

import json
from pathlib import Path

import click

from rulelens.cli.pic import PicOptions, fit_pic, pic_options, train_pic, warn_of_ids
from rulelens.cli.progress import say, step
from rulelens.cli.score import score_rows
from rulelens.cli.tables import read_data, table_options
from rulelens.cli.training import SEED
from rulelens.errors import TableError, did_you_mean


@click.command("predict")
@click.argument("data", type=click.Path(path_type=Path))
@table_options
@click.option(
    "--new",
    "new_file",
    type=click.Path(path_type=Path),
    help="Rows to predict. [default: a fifth of DATA, kept apart from learning]",
)
@pic_options
@click.option(
    "--seed",
    type=SEED,
    default=0,
    show_default=True,
    help="Of the split and of the folds of --tune.",
)
@click.option("--out", type=click.Path(path_type=Path), help="Write to this .csv file instead.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of CSV.")
def command(
    data: Path,
    target: str | None,
    drop: tuple[str, ...],
    missing: tuple[str, ...],
    sep: str,
    encoding: str,
    new_file: Path | None,
    pic: PicOptions,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Learn from DATA, and give each row of --new its class and the one rule that gives it.

    The result is a CSV table: row (counted from 0 in its file), prediction, the probability that
    goes with it, the rule, and the rule's precision with its 95 % interval, recall and counts.

    On rows whose class is known (those kept apart, or --new with the column of --target) it says
    how many are right, beside always answering the most frequent class, and warns where the rules
    are not better. With --tune the options are chosen first, without a look at these rows.

    Example: rulelens predict train.csv --target class --new new.csv --out predictions.csv
    """
    import numpy as np

    from rulelens.files import check_writable, write_text

    if target is None:
        raise click.UsageError("Name the column with the class: --target COL.")
    if out is not None:
        check_writable(out)
        if out.resolve() in (data.resolve(), None if new_file is None else new_file.resolve()):
            raise click.UsageError("--out is an input file, which would be lost.")
    with step(f"Reading {data.name}"):
        file = read_data(
            data, target=target, drop=drop, missing=missing, sep=sep, encoding=encoding
        )
    if new_file is None:
        fitted, rows, score = train_pic(file, seed, pic)
    else:
        with step(f"Reading {new_file.name}"):
            rows = read_data(
                new_file, target=None, missing=missing, sep=sep, encoding=encoding
            ).features
        lacking = [c for c in file.features.columns if c not in rows.columns]
        if lacking:
            raise TableError(
                f"{new_file} has no column {lacking[0]!r}. {did_you_mean(lacking[0], rows.columns)}"
            )
        truth = rows[target] if target in rows.columns else None
        rows = rows[list(file.features.columns)]
        X, y = file.labelled
        warn_of_ids(X)
        fitted = fit_pic(X, y, pic, seed)
        score = None
        if truth is not None:
            score = score_rows(fitted.classifier, fitted.classifier.predict(rows), truth)
            for line in score.lines(f"of {new_file.name}", tuned=pic.tune):
                say(line)
    classifier = fitted.classifier
    with step(f"Predicting {len(rows)} rows"):
        found = classifier.explain(rows)
        frame = found.to_frame()
        frame["row"] = rows.index.to_numpy()[frame["row"].to_numpy()]
        # A rule is chosen for recall too: the most probable class may be another.
        outcome = found.rules.outcome[found.best]
        probability = classifier.predict_proba(rows)[np.arange(len(rows)), outcome]
        frame = frame.drop(columns="rank").rename(columns={"outcome": "prediction"})
        frame.insert(2, "probability", probability)
    order = ["row", "prediction", *(c for c in frame.columns if c not in ("row", "prediction"))]
    frame = frame[order]
    if as_json:
        records = frame.astype(object).where(frame.notna(), None).to_dict("records")
        document = {
            "format": "rulelens.predictions",
            "version": 1,
            "options": fitted.options_dict(),
            "score": None if score is None else score.to_dict(),
            "rows": records,
        }
        text = json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n"
    else:
        text = frame.to_csv(index=False)
    if out is None:
        click.echo(text, nl=False)
    else:
        say(f"Predictions: {write_text(out, text)}")
