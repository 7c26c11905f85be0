"""Fuzz the readers: no exception but ours, no hang, no memory that blows up.

Run: ``python benchmarks/fuzz_readers.py [--reader NAME] [--minutes 10] [--seed 0]``; without
``--reader`` each reader gets its minutes in turn. Texts are real ones (of Rulex, those of the
folder in RULELENS_DATA where it is set) changed at random places,
pieces repeated very often, and random pieces. A fault is any exception that is not a
`RulelensError`, a parse of more than 5 s of CPU time, memory that grows by more than 1 GiB, or
rules that were read but are others after writing and reading again. The exit status tells
whether there was a fault; the text of the first of each kind is printed.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import signal
import sys
import time
import traceback
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

from rulelens.core.conditions import Interval, Membership, Missing
from rulelens.core.rule import Rule
from rulelens.core.ruleset import RuleSet
from rulelens.core.schema import Feature, Schema
from rulelens.errors import FormatError, RulelensError
from rulelens.io.formats import format_rules, parse_rules

_WORD = re.compile(r"-?[\w.]+|[^\w\s]+|\s+")
SECONDS = 5.0
GIBIBYTE = 1 << 30
LONGEST = 300_000
FEATURES = ("PetalWidth", "PetalLength", "heart rate", "b")
SCHEMA = Schema(
    [
        Feature("a", unit="1/min"),
        Feature("c d", "categorical", ("x", 'y"', "a, b")),
        Feature("b", "boolean"),
    ]
)
RULES = RuleSet.from_rules(
    [
        Rule({"a": Interval(1, 2.5, True, False, True, "float32"), "b": Membership([True])}, "y"),
        Rule({"a": Missing(), "c d": Membership(["x", "a, b"], True)}, "z"),
        Rule({"a": Interval(-1e-05), "c d": Membership(['y"'], False, True)}, "y"),
        Rule({}, "z"),
    ],
    SCHEMA,
    ordered=True,
    default="y",
)
TEXTS = {
    "rulex": [
        "\ufeffRULE 2: IF V2 > 0.142593 AND 3 < V4 <= 67.5 THEN Outcome in {car}, COVERING: 1.0"
        "(wo cond. 1: 0.0; wo cond. 2: 0.0), ERROR: 0.05(wo cond. 1: 0.56; wo cond. 2: 0.07)\n"
        '"RULE 3: IF V1 in {red, ""a, b""} AND V3 not in {x} THEN Outcome in {bus}"\n',
        "RULE 1: IF -1e-05 < V1 <= inf AND V2 = 3 THEN y = 1\nRULE 2: IF V2 > .5 THEN y = 0\n",
    ],
    "prolog": [
        "iris(PetalWidth, PetalLength, setosa) :- PetalWidth =< 1.0, PetalLength in [2.3, 4.9].\n"
        "iris(A, B, 'big one') :- '>'(A, 2.28), not_in(B, [2.28, 4.87]). iris(A, B, x) :- true.",
        "y(A, B, no) :- B > 1. % why\ny(A2, B2, yes) :- B2 not_in [-1.5, 2e-05], A2 \\= 'x y'.",
    ],
    "export_text": [
        "|--- PetalWidth <= 0.80\n|   |--- class: 0\n|--- PetalWidth >  0.80\n"
        "|   |--- PetalLength <= -1.5e-05\n|   |   |--- class: 1\n"
        "|   |--- PetalLength >  -1.5e-05\n|   |   |--- weights: [1.00, 2.00] class: 2\n",
        "|--- class: a b\n",
    ],
    "wittgenstein": [
        "[[PetalWidth=>27.0^colour=red] V [PetalLength=-1.0--0.5]]",
        "<Ruleset [[heartrate=<1e-05^b=True] V [c=1-2] V [True]]>",
    ],
}
PIECES = (
    *"\0\t\n\r \"'\\()[]{}<>=,.:;^&|-+#%_é\u2028\u0130\ud800",
    *("9" * 400, "-", "1e999", "1e-05", ".5", "inf", "nan", "-0", "0x1", "1_0", "²", "١"),
    *("true", "null", "AND", "OR", "NOT IN", "not in", "IS MISSING", "ELSE", "THEN", "IF", " V "),
    *(
        "&#0;",
        "&lt;",
        "<!DOCTYPE a [",
        "]]>",
        "<![CDATA[",
        "<a>",
        "\\u0000",
        "\\ud800",
        "[or missing]",
    ),
    *("|   ", "|---", ":-", "=<", "in", "not_in", "V1", "V0", "V99999999999", "RULE 1:", "ERROR:"),
)


class TooLongError(Exception):
    """A parse took more than its seconds."""


def start_texts(reader: str) -> list[str]:
    """Real texts of a format."""
    texts = list(TEXTS.get(reader, ()))
    if not texts:
        whole = RuleSet.from_rules(list(RULES), SCHEMA)
        texts = [format_rules(r, format=reader) for r in (RULES, whole)]
    folder = os.environ.get("RULELENS_DATA")
    if reader == "rulex" and folder:
        rulex = Path(folder) / "rulex"
        texts += [p.read_text("utf-8")[:20_000] for p in sorted(rulex.glob("*_rules.txt"))]
    return texts


def changed(rng: random.Random, texts: list[str]) -> str:
    """A text, changed at random places; or random pieces."""
    if rng.random() < 0.1:
        return "".join(rng.choice(PIECES) for _ in range(rng.randint(0, 60)))
    text = rng.choice(texts)
    for _ in range(rng.choice((0, 0, 1, 1, 2, 4))):
        words = list(_WORD.finditer(text[:20_000]))
        if words:
            old, new = rng.choice(words), rng.choice(words)[0]
            text = text[: old.start()] + new + text[old.end() :]
    if len(text) > 4000 and rng.random() < 0.9:
        start = text.rfind("\n", 0, rng.randrange(len(text))) + 1
        text = text[start : start + rng.randint(50, 2000)]
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3, 8))):
        i = rng.randint(0, len(text))
        j = min(len(text), i + rng.choice((0, 0, 1, 1, 2, 5, 20, 100)))
        kind = rng.random()
        if kind < 0.55:
            new = rng.choice(PIECES)
        elif kind < 0.8:
            other = rng.choice(texts)
            k = rng.randint(0, len(other))
            new = other[k : k + rng.randint(0, 60)]
        elif kind < 0.85:
            new = chr(rng.randrange(0x110000))
        else:
            new = text[i : i + rng.randint(1, 30)]
        if rng.random() < 0.03:
            new *= rng.choice((10, 100, 1000, 20_000))
        text = (text[:i] + new + text[j:])[:LONGEST]
    return text


def options(rng: random.Random) -> dict[str, object]:
    """No option, or names, or a schema."""
    kind = rng.random()
    if kind < 0.5:
        return {}
    return {"features": FEATURES} if kind < 0.75 else {"schema": SCHEMA}


def _stop(*_: object) -> None:
    raise TooLongError


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def fault_of(text: str, reader: str, given: dict[str, object]) -> tuple[str, bool]:
    """What is wrong with reading this text ("" for nothing), and whether rules came out."""
    before = _memory()
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    fault, rules = "", None
    try:
        rules = parse_rules(text, format=reader, **given)  # type: ignore[arg-type]
    except RulelensError:
        pass
    except TooLongError:
        fault = f"more than {SECONDS} s at " + traceback.format_exc().splitlines()[-4].strip()
    except Exception as e:  # noqa: BLE001  # any other exception is what is looked for
        place = traceback.extract_tb(e.__traceback__)[-1]
        fault = f"{type(e).__name__}: {e} at {place.filename}:{place.lineno}"
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    if _memory() - before > GIBIBYTE:
        fault = "memory grew by more than 1 GiB"
    if rules is not None and len(text) < 20_000:
        for form in ("json", "text", "pmml"):
            try:
                written = format_rules(rules, format=form)
                back = parse_rules(written, format=form)
            except FormatError as e:
                if form != "pmml":
                    fault = f"rules that were read cannot be kept as {form}: {e}"
                continue
            if form != "pmml" and back != rules:
                fault = f"other rules after writing as {form}"
            if format_rules(back, format=form) != written:
                fault = f"other bytes when written as {form} again"
    return fault, rules is not None


def fuzz(reader: str, minutes: float, seed: int) -> int:
    """Number of faults that were found."""
    rng = random.Random(f"{reader}{seed}")
    texts = start_texts(reader)
    for text in texts:
        parse_rules(text[: text.rfind("\n") + 1] or text, format=reader)
    start, count, read, slowest = time.monotonic(), 0, 0, 0.0
    faults: dict[str, int] = {}
    while time.monotonic() - start < 60 * minutes:
        text, given = changed(rng, texts), options(rng)
        begun = time.process_time()
        fault, good = fault_of(text, reader, given)
        slowest = max(slowest, time.process_time() - begun)
        count += 1
        read += good
        if fault:
            kind = fault[:60]
            faults[kind] = faults.get(kind, 0) + 1
            if faults[kind] == 1:
                print(f"FAULT {reader}: {fault}\n  {given}\n  {text[:3000]!r}", flush=True)
    print(
        f"{reader}: {time.monotonic() - start:.0f} s, {count} texts, {read} of them read, slowest "
        f"{slowest:.2f} s, memory {_memory() >> 20} MiB, faults {sum(faults.values())}",
        flush=True,
    )
    return sum(faults.values())


def main() -> None:
    readers = ("json", "text", "rulex", "prolog", "export_text", "wittgenstein", "pmml")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reader", choices=readers, action="append")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    signal.signal(signal.SIGVTALRM, _stop)
    resource.setrlimit(resource.RLIMIT_AS, (4 * GIBIBYTE, 4 * GIBIBYTE))
    found = [fuzz(r, chosen.minutes, chosen.seed) for r in chosen.reader or readers]
    sys.exit(1 if any(found) else 0)


if __name__ == "__main__":
    main()
