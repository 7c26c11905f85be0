"""``rulelens demo``: the main job, offline, on data that scikit-learn ships."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import numpy as np

from rulelens.cli.asking import ask as ask_questions
from rulelens.cli.explain import check_out
from rulelens.cli.progress import say, step
from rulelens.cli.text import text_of
from rulelens.cli.training import SEED
from rulelens.errors import OptionError
from rulelens.views.numbers import share

if TYPE_CHECKING:
    from rulelens.explain.personal import ExplanationSession


@click.command("demo")
@click.option("--row", default=8, show_default=True, help="Which patient, counted from 0.")
@click.option("--answers", default=8, show_default=True, help="How many comparisons are asked.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("rulelens-demo.html"),
    show_default=True,
    help="Where the report goes.",
)
@click.option(
    "--seed", type=SEED, default=0, show_default=True, help="Of training and of the simulated user."
)
@click.option(
    "--ask/--simulate",
    default=None,
    help="Ask you, or simulate a user. [default: ask where there is a terminal]",
)
def command(row: int, answers: int, out: Path, seed: int, ask: bool | None) -> None:
    """Explain one patient of the breast-cancer data, ask what suits you, re-rank, report."""
    check_out(out)
    if answers < 0:
        raise click.UsageError(f"--answers must be at least 0, not {answers}.")
    with step("Loading the breast-cancer data and training a multilayer perceptron"):
        from sklearn.datasets import load_breast_cancer

        from rulelens.cli import training
        from rulelens.explain.explainer import RuleExplainer

        data = load_breast_cancer(as_frame=True)
        X = data.data
        y = data.target.map(dict(enumerate(data.target_names.tolist()))).astype(object)
        split = training.split_rows(y, seed)
        model, _ = training.train("mlp", X.iloc[split.train], y.iloc[split.train], seed)
    if not 0 <= row < len(X):
        raise OptionError(f"There is no patient {row}: there are {len(X)}, counted from 0.")
    apart = X.iloc[split.test[split.test != row]]
    right = float(np.mean(np.asarray(model.predict(apart)) == y.loc[apart.index].to_numpy()))
    say(f"On {len(apart)} patients kept apart the model is right in {share(right)}.")
    with step(f"Explaining patient {row}"):
        explainer = RuleExplainer(model).fit(X.iloc[split.train])
        explanation = explainer.explain(X.iloc[row])
        fidelity = explainer.fidelity(explanation.rules, apart)
    click.echo(text_of(explanation, None, fidelity, 5))
    personal, simulated = None, False
    if len(explanation) >= 2:
        session = explanation.session()
        has_terminal = all(s is not None and s.isatty() for s in (sys.stdin, sys.stderr))
        simulated = not (has_terminal if ask is None else ask)
        if simulated:
            _simulate(session, answers, seed)
        else:
            ask_questions(session, limit=answers)
        if session.statements:
            personal = session.result(k=5)
            click.echo(f"\n{'The simulated user' if simulated else 'You'} would rank them:")
            click.echo(text_of(explanation, personal, fidelity, 5, opening=False))
    with step("Drawing the feature graph and writing the report"):
        from rulelens.views.report import write_report

        graph = explainer.feature_graph(explanation.rules) if len(explanation) else None
        path = write_report(
            out,
            explanation,
            personal=personal,
            graph=graph,
            fidelity=fidelity,
            simulated=simulated,
            title=f"Why “{explanation.prediction}” for patient {row}?",
            about=(
                f"Wisconsin breast-cancer data, {len(split.train)} training rows. Model: a "
                f"multilayer perceptron, right in {share(right)} of {len(apart)} rows kept apart.",
                f"Patient {row}: the data say {y.iloc[row]}.",
            ),
        )
    click.echo(f"\nReport: {path.resolve()}")


def _simulate(session: ExplanationSession, answers: int, seed: int) -> None:
    """Answer as a user whose hidden weights are drawn at random."""
    rng = np.random.default_rng(seed)
    criteria = session.criteria
    weights = rng.random(len(criteria.names))
    utility = dict(zip(criteria.alternatives, criteria.values @ weights, strict=True))
    say(f"No terminal: a simulated user answers up to {answers} comparisons.")
    for _ in range(answers):
        question = session.next_question()
        if question is None:
            return
        a, b = question.shown
        better, worse = (a, b) if utility[a] >= utility[b] else (b, a)
        session.prefer(better, worse)
        say(f"  rule {better} over rule {worse}")
