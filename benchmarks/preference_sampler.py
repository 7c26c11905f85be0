"""The sampler against hopsy on the same polytopes: effective draws per CPU second.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python benchmarks/preference_sampler.py

hopsy is no dependency of Rulelens: --hopsy PYTHON names the interpreter of an environment that
has it (default: this one), --skip-hopsy leaves it out. It runs in a process of its own, with its
rounding, coordinate hit-and-run and a thinning of twice the dimension, from the Chebyshev centre.
Both samples are judged by the same code, and against the mean of a long run of ours.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from rulelens.preference.diagnostics import effective_sample_size
from rulelens.preference.hit_and_run import sample_weights
from rulelens.preference.polytope import Interior, Polytope

HOPSY = """
import sys, time, json
import numpy as np, hopsy
folder, n, thin, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
data = np.load(folder + "/polytope.npz")
start = time.process_time()
problem = hopsy.Problem(data["rows"], data["slack"])
try:
    problem = hopsy.round(problem)
except ValueError:  # its removal of redundant walls calls some of these polytopes unbounded
    problem = hopsy.round(problem, simplify=False)
rounded = time.process_time()
problem.starting_point = hopsy.compute_chebyshev_center(problem)
chain = hopsy.MarkovChain(problem, proposal=hopsy.UniformCoordinateHitAndRunProposal)
_, states = hopsy.sample([chain], [hopsy.RandomNumberGenerator(seed)], n_samples=n, thinning=thin)
np.save(folder + "/states.npy", np.asarray(states))
print(json.dumps([rounded - start, time.process_time() - rounded]))
"""


def ranking_polytope(m: int, size: int, seed: int = 0) -> Polytope:
    """Weights that agree with a ranking of `size` rules on m criteria."""
    rng = np.random.default_rng(seed)
    values = np.zeros((size, m))
    for row in values:
        present = rng.choice(m - 3, min(m - 3, rng.integers(2, 6)), replace=False)
        row[present] = 1.0
        row[-3:] = rng.random(), rng.random(), -len(present) / (m - 3)
    values = values[np.argsort(-values @ rng.dirichlet(np.ones(m)))]
    none = np.zeros((0, m))
    return Polytope(m, values[:-1] - values[1:], none, none)


def run_hopsy(
    python: str, interior: Interior, n: int, thin: int, seed: int
) -> tuple[np.ndarray, list[float]]:
    """hopsy's draws as weights (1, n, m), and its CPU seconds for rounding and for sampling."""
    with tempfile.TemporaryDirectory() as folder:
        np.savez(Path(folder) / "polytope.npz", rows=interior.rows, slack=interior.slack)
        done = subprocess.run(
            [python, "-c", HOPSY, folder, str(n), str(thin), str(seed)],
            capture_output=True,
            text=True,
            check=True,
        )
        states = np.load(Path(folder) / "states.npy")
    weights = interior.center + states @ interior.basis.T
    return weights, json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hopsy", default=sys.executable, help="python that has hopsy")
    parser.add_argument("--skip-hopsy", action="store_true")
    options = parser.parse_args()
    print(
        f"{'criteria':>8s} {'who':>9s} {'CPU s':>7s} {'ESS':>7s} {'ESS/CPU s':>10s} {'R-hat':>7s} "
        f"{'mean error / sd':>16s}"
    )
    for m, size in ((12, 10), (26, 15), (33, 15), (60, 20), (100, 25)):
        interior = ranking_polytope(m, size).interior()
        gold = sample_weights(interior, 200_000, n_chains=1024, thin=12 * m, random_state=99)
        mean, sd = gold.draws.mean(axis=0), gold.draws.std(axis=0)

        def error(weights: np.ndarray, mean=mean, sd=sd) -> float:
            gap = (weights.reshape(-1, len(mean)).mean(axis=0) - mean) / sd
            return float(np.sqrt(np.mean(gap**2)))

        rates, errors, last = [], [], None
        for seed in range(5):
            start = time.process_time()
            last = sample_weights(interior, random_state=seed)
            used = time.process_time() - start
            rates.append((used, last.ess, last.ess / used))
            errors.append(error(last.draws))
        used, ess, rate = np.median(rates, axis=0)
        print(
            f"{m:8d} {'rulelens':>9s} {used:7.3f} {ess:7.0f} {rate:10.0f} {last.rhat:7.4f} "
            f"{np.mean(errors):16.4f}",
            flush=True,
        )
        if options.skip_hopsy:
            continue
        weights, (rounding, sampling) = run_hopsy(options.hopsy, interior, 10_000, 2 * m, 1)
        ess = float(effective_sample_size(weights).min())
        used = rounding + sampling
        print(
            f"{m:8d} {'hopsy':>9s} {used:7.3f} {ess:7.0f} {ess / used:10.0f} {'':7s} "
            f"{error(weights):16.4f}   ratio {rate / (ess / used):.0f}, without its rounding "
            f"{rate / (ess / sampling):.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
