"""PIC on the command line: a data file's own classes, one best rule for each row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

import click

from rulelens.cli.progress import say, step
from rulelens.cli.score import Score, score_rows
from rulelens.cli.tables import DataFile, id_columns
from rulelens.cli.training import split_rows
from rulelens.cli.tuning import WITH_BINS, Tuning, tune
from rulelens.views.numbers import count, share

if TYPE_CHECKING:
    import pandas as pd

    from rulelens.discretize.binning import Method
    from rulelens.personal.fast_pic import FastPIC
    from rulelens.personal.pic import PIC

F = TypeVar("F", bound=Callable[..., Any])

PARAMETERS = {
    "max_length": "pic_length",
    "alpha": "alpha",
    "n_bins": "pic_bins",
    "discretizer": "pic_discretizer",
    "min_count": "min_count",
    "class_weight": "class_weight",
}
"""Parameters of the classifier, and the option of each."""
NAMES = (*PARAMETERS.values(), "tune")


@dataclass(frozen=True, slots=True)
class PicOptions:
    """What the options of PIC say, and which of them were typed."""

    alpha: float
    pic_length: int
    pic_bins: int
    pic_discretizer: Method
    min_count: int
    class_weight: Literal["balanced"] | None
    tune: bool
    typed: tuple[str, ...]

    def params(self) -> dict[str, Any]:
        """As parameters of `FastPIC` and `PIC`."""
        return {name: getattr(self, option) for name, option in PARAMETERS.items()}


@dataclass(frozen=True, slots=True)
class Fitted:
    """A classifier, its parameters, and how they were chosen where they were."""

    classifier: FastPIC | PIC
    params: dict[str, Any]
    tuning: Tuning | None

    def options_dict(self) -> dict[str, Any]:
        """Parameters and choice for a JSON document."""
        return {**self.params, "tuned": None if self.tuning is None else self.tuning.to_dict()}


def pic_options(command: F) -> F:
    """The options of PIC, which the command takes as one `pic: PicOptions`."""

    @wraps(command)
    def with_pic(*args: Any, **values: Any) -> Any:
        source = click.get_current_context().get_parameter_source
        typed = tuple(n for n in NAMES if source(n) is click.core.ParameterSource.COMMANDLINE)
        given = {name: values.pop(name) for name in NAMES}
        if given["class_weight"] == "none":
            given["class_weight"] = None
        if "pic_bins" in typed and given["pic_discretizer"] not in WITH_BINS:
            raise click.UsageError(
                f"--pic-discretizer {given['pic_discretizer']} finds the number of bins itself: "
                "it goes without --pic-bins."
            )
        return command(*args, pic=PicOptions(**given, typed=typed), **values)

    options = [
        click.option("--alpha", default=0.9, show_default=True, type=click.FloatRange(0, 1),
                     help="PIC: weight of precision against recall, from 0 to 1."),
        click.option("--pic-length", default=3, show_default=True, type=click.IntRange(min=1),
                     help="PIC: longest personal rule."),
        click.option("--pic-bins", default=3, show_default=True, type=click.IntRange(min=2),
                     help="PIC: bins of a numeric feature."),
        click.option("--pic-discretizer", default="equal_width", show_default=True,
                     type=click.Choice(["equal_width", "quantile", "mdlp", "incremental"]),
                     help="PIC: how numbers are cut into bins."),
        click.option("--min-count", default=1, show_default=True, type=click.IntRange(min=1),
                     help="PIC: least training rows of its class that a rule covers."),
        click.option("--class-weight", default="none", show_default=True,
                     type=click.Choice(["none", "balanced"]),
                     help="PIC: balanced judges precision as if all classes were as frequent."),
        click.option("--tune", is_flag=True,
                     help="PIC: choose these options by cross-validation in the rows learned "
                     "from; those that you give stay."),
    ]  # fmt: skip
    found = cast(F, with_pic)
    for option in reversed(options):
        found = option(found)
    return found


def fit_pic(X: pd.DataFrame, y: pd.Series[Any], pic: PicOptions, seed: int) -> Fitted:
    """FastPIC, or exact PIC where the table of counts would not fit into memory."""
    from rulelens.errors import SizeError
    from rulelens.personal.fast_pic import FastPIC
    from rulelens.personal.pic import PIC

    params = pic.params()
    if pic.tune:
        fixed = {p for p, flag in PARAMETERS.items() if flag in pic.typed}
        classifier, tuning = tune(X, y, params, fixed=fixed, seed=seed)
        return Fitted(classifier, tuning.params, tuning)
    with step(f"Learning personal rules from {count(len(X), 'row')}"):
        try:
            return Fitted(FastPIC(**params).fit(X, y), params, None)
        except SizeError as e:
            say(f"{e} Going on with exact PIC, which needs no table.")
            return Fitted(PIC(**params, search="exact").fit(X, y), params, None)


def train_pic(
    file: DataFile, seed: int, pic: PicOptions
) -> tuple[Fitted, pd.DataFrame, Score | None]:
    """A classifier learned from four fifths of a file's rows, the fifth kept apart, its score."""
    X, y = file.labelled
    warn_of_ids(X)
    split = split_rows(y, seed)
    fitted = fit_pic(X.iloc[split.train], y.iloc[split.train], pic, seed)
    apart, truth = X.iloc[split.test], y.iloc[split.test]
    if not len(apart):
        return fitted, apart, None
    score = score_rows(fitted.classifier, fitted.classifier.predict(apart), truth)
    for line in score.lines("kept apart", tuned=pic.tune):
        say(line)
    return fitted, apart, score


def warn_of_ids(X: pd.DataFrame) -> None:
    """Name the columns that look like identifiers."""
    for name in id_columns(X):
        say(f"'{name}' has a value of its own in nearly every row, like an ID: --drop '{name}'?")


def explain_row(
    fitted: Fitted, row: pd.DataFrame, score: Score | None
) -> tuple[dict[str, Any], str]:
    """One row's own rule, the best against it and the smallest changes: a record and a text."""
    from rulelens.personal.contrast import contrast, counterfactual
    from rulelens.views.numbers import interval_from

    classifier = fitted.classifier
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
        "options": fitted.options_dict(),
        "score": None if score is None else score.to_dict(),
        "rules": own.to_dict(),
        "contrast": rivals.to_dict(),
        "counterfactual": changes.to_dict(),
    }
    return record, "\n".join(lines)
