"""``rulelens explain``: a model's decision on one row of a data file, by rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from rulelens.cli.pic import PicOptions, explain_row, pic_options, train_pic
from rulelens.cli.progress import say, step
from rulelens.cli.tables import DataFile, id_columns, read_data, table_options
from rulelens.cli.text import text_of
from rulelens.cli.training import SEED, model_options
from rulelens.errors import OptionError, PreferenceError, did_you_mean
from rulelens.views.numbers import count, share

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.explain.explainer import RuleExplainer
    from rulelens.explain.explanation import Explanation
    from rulelens.preference.session import PreferenceSession


@click.command("explain")
@click.argument("data", type=click.Path(path_type=Path))
@table_options
@click.option("--row", type=int, required=True, help="Which row of DATA, counted from 0.")
@click.option(
    "--train",
    "method",
    type=click.Choice(["mlp", "forest", "boosting"]),
    help="Train this black box on four fifths of the rows. [default: mlp]",
)
@model_options
@click.option(
    "--method",
    "how",
    type=click.Choice(["rules", "pic"]),
    default="rules",
    show_default=True,
    help="All rules of a black box's decision, or the one best rule learned by PIC; pic goes "
    "without --train, --model, --rank and --out.",
)
@pic_options
@click.option("--rank", metavar='"3>6>9=7"', help="Your ranking of some rules, best first.")
@click.option(
    "--weights",
    "estimator",
    default="analytic",
    show_default=True,
    help="How weights are chosen: analytic, max_eps, chebyshev, centroid or bayes_pl.",
)
@click.option("--top", default=10, show_default=True, help="How many rules to show.")
@click.option("--bins", default=4, show_default=True, help="Bins of a numeric feature.")
@click.option("--max-length", default="auto", show_default=True, help="Longest rule, or auto.")
@click.option("--min-support", default=1, show_default=True, help="Least rows a rule covers.")
@click.option("--min-confidence", default=1.0, show_default=True, help="From 0 to 1.")
@click.option("--all-rules", is_flag=True, help="Also rules of which a part already qualifies.")
@click.option(
    "--time-budget",
    default=0.5,
    show_default=True,
    help="Seconds for a search without a fixed --max-length.",
)
@click.option(
    "--seed", type=SEED, default=0, show_default=True, help="Of the split and of the training."
)
@click.option("--out", type=click.Path(path_type=Path), help="Write a report: a .html file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")
def command(
    data: Path,
    target: str | None,
    drop: tuple[str, ...],
    missing: tuple[str, ...],
    sep: str,
    encoding: str,
    row: int,
    method: str | None,
    model_file: Path | None,
    trust: tuple[str, ...],
    how: str,
    pic: PicOptions,
    rank: str | None,
    estimator: str,
    top: int,
    bins: int,
    max_length: str,
    min_support: int,
    min_confidence: float,
    all_rules: bool,
    time_budget: float,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Explain a model's decision on one row of DATA (CSV or Parquet) by rules.

    Example: rulelens explain churn.csv --target Churn --drop Phone --row 12 --out why.html

    A fifth of the rows is kept apart from making the rules; "kept apart 8 of 9" says that of 9
    such rows that a rule covers, the model decides 8 alike. Confidence is the share of covered
    training rows that the model decides alike, recall the share of all rows decided so that the
    rule covers.
    """
    if method is not None and model_file is not None:
        raise click.UsageError("Give --train or --model, not both.")
    if how != "pic" and pic.typed:
        flag = "--" + pic.typed[0].replace("_", "-")
        raise click.UsageError(f"{flag} is an option of --method pic only.")
    if target is None and model_file is None:
        raise click.UsageError("Name the column with the class: --target COL.")
    if max_length != "auto" and not (max_length.isascii() and max_length.isdigit()):
        raise click.UsageError(f"--max-length is a whole number or auto, not '{max_length}'.")
    if top < 1:
        raise click.UsageError(f"--top must be at least 1, not {top}.")
    options: dict[str, Any] = {
        "n_bins": bins,
        "max_length": "auto" if max_length == "auto" else int(max_length),
        "min_support": min_support,
        "min_confidence": min_confidence,
        "minimal": not all_rules,
        "time_budget": time_budget,
    }
    _check_early(options, rank, estimator, out)
    if out is not None and out.resolve() == data.resolve():
        raise click.UsageError("--out is DATA itself, which would be lost.")
    with step(f"Reading {data.name}"):
        file = read_data(
            data, target=target, drop=drop, missing=missing, sep=sep, encoding=encoding
        )
    if not 0 <= row < len(file.features):
        raise OptionError(
            f"There is no row {row}: {data.name} has {count(len(file.features), 'row')}, "
            "counted from 0."
        )
    if how == "pic":
        if method is not None or model_file is not None or rank is not None or out is not None:
            raise click.UsageError("--method pic goes without --train, --model, --rank and --out.")
        fitted, _, score = train_pic(file, seed, pic)
        record, text = explain_row(fitted, file.features.iloc[[row]], score)
        click.echo(json.dumps(record, ensure_ascii=False, allow_nan=False) if as_json else text)
        return
    explainer, apart, about = explain_file(
        file,
        method=method or "mlp",
        model_file=model_file,
        trust=trust,
        seed=seed,
        options=options,
    )
    with step(f"Explaining row {row}"):
        explanation = explainer.explain(file.features.iloc[row])
    about = (*about, _about_row(file, row, apart, explanation))
    others = apart[apart.index != row]
    fidelity = explainer.fidelity(explanation.rules, others) if len(others) else None
    personal = None
    if rank is not None:
        try:
            session = explanation.session().rank(rank)
            if session.conflict() is not None:
                raise PreferenceError(_short_conflict(session))
            personal = session.result(cast(Any, estimator), k=min(top, 5))
        except PreferenceError:
            if not as_json:  # the rules were dear: they are shown all the same
                click.echo(text_of(explanation, None, fidelity, top))
            raise
    if as_json:
        record = explanation.to_dict() if personal is None else personal.to_dict()
        click.echo(json.dumps(record, ensure_ascii=False, allow_nan=False))
    else:
        click.echo("\n".join(about[-1:]))
        click.echo(text_of(explanation, personal, fidelity, top))
    if out is not None:
        from rulelens.views.report import write_report

        path = write_report(
            out,
            explanation,
            personal=personal,
            graph=graph_of(explainer, explanation),
            fidelity=fidelity,
            title=f"Why “{explanation.prediction}” for row {row} of {data.name}?",
            about=about,
        )
        say(f"Report: {path}")


def _check_early(
    options: dict[str, Any], rank: str | None, estimator: str, out: Path | None
) -> None:
    """Refuse what is wrong at once, not after minutes of training."""
    from rulelens.explain.explainer import RuleExplainer, check_options
    from rulelens.preference.notation import parse_ranking
    from rulelens.preference.session import METHODS

    check_options(RuleExplainer(None, **options))
    if rank is not None:
        parse_ranking(rank)
    if estimator not in METHODS:
        raise OptionError(f"Unknown --weights '{estimator}'. {did_you_mean(estimator, METHODS)}")
    if out is not None:
        check_out(out)


def _short_conflict(session: PreferenceSession) -> str:
    """The contradiction by the rules' numbers, as the ranking was typed."""
    from rulelens.preference.session import PreferenceSession

    numbers = {k: f"rule {k}" for k in session.criteria.alternatives}
    numbered = PreferenceSession(session.criteria, labels=numbers)
    for statement in session.statements:
        numbered.add(statement)
    return str(numbered.conflict())


def _about_row(file: DataFile, row: int, apart: pd.DataFrame, explanation: Explanation) -> str:
    """What the data say about the row itself, and whether it made the rules."""
    name = file.features.index[row]
    part = (
        "It was kept apart from making the rules."
        if name in apart.index
        else ("It is one of the rows that made the rules.")
    )
    if file.target is None or file.target.isna().iloc[row]:
        return f"Row {row}: the data do not say its class. {part}"
    actual = file.target.iloc[row]
    right = (
        "as the model decided"
        if str(actual) == str(explanation.prediction)
        else (f"but the model decided {explanation.prediction!s}")
    )
    return f"Row {row}: the data say {actual!s}, {right}. {part}"


def check_out(out: Path) -> None:
    """Refuse a report path at once that could not be written after minutes of work."""
    from rulelens.files import check_writable

    if out.suffix.lower() not in (".html", ".htm"):
        raise OptionError(f"A report is an .html file, not '{out.name}'.")
    check_writable(out)


def explain_file(
    file: DataFile,
    *,
    method: str,
    model_file: Path | None,
    trust: tuple[str, ...],
    seed: int,
    options: dict[str, Any],
) -> tuple[RuleExplainer, pd.DataFrame, tuple[str, ...]]:
    """A fitted explainer, the rows kept apart from it, and lines about data and model."""
    import numpy as np

    from rulelens.cli import training
    from rulelens.explain.explainer import RuleExplainer

    for name in id_columns(file.features):
        say(f"'{name}' has a value of its own in nearly every row, like an ID: --drop '{name}'?")
    if file.target is None:
        X, y = file.features, None
        order = np.random.default_rng(seed).permutation(len(X))
        test, train = order[: len(X) // 5], order[len(X) // 5 :]
        split = training.Split(np.sort(train), np.sort(test))
    else:
        X, y = file.labelled
        if len(y) < len(file.features):
            n = len(file.features) - len(y)
            say(f"{count(n, 'row')} without a target {'is' if n == 1 else 'are'} not used.")
        split = training.split_rows(y, seed)
    X_train, apart = X.iloc[split.train], X.iloc[split.test]
    if model_file is not None:
        with step(f"Loading {model_file.name}"):
            model = training.load_model(model_file, trust)
        name = f"the model in {model_file.name}"
    else:
        assert y is not None  # the command asks for a target where it trains
        with step(f"Training {method} on {len(X_train)} rows"):
            model, remarks = training.train(cast(Any, method), X_train, y.iloc[split.train], seed)
        for remark in remarks:
            say(remark)
        name = {"mlp": "a multilayer perceptron", "forest": "a random forest"}.get(
            method, "gradient boosting"
        )
    with step("Asking the model and cutting the features"):
        explainer = RuleExplainer(model, **options).fit(X_train)
    about = [f"Data: {file.path.name}, {len(X_train):,} training rows. Model: {name}."]
    if len(apart) and y is not None:
        labels = explainer.predict_labels(apart)
        hits = sum(a == b for a, b in zip(labels, y.iloc[split.test].tolist(), strict=True))
        line = (
            f"On {count(len(apart), 'row')} kept apart the model is right in "
            f"{share(hits / len(apart))}."
        )
        if model_file is not None:
            line = line[:-1] + "; it may have been trained on them."
        say(line)
        about.append(line)
    return explainer, apart, tuple(about)


def graph_of(explainer: RuleExplainer, explanation: Explanation) -> Any:
    """Feature graph of an explanation's rules, or None where there are none."""
    if not len(explanation):
        return None
    return explainer.feature_graph(explanation.rules)
