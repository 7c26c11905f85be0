"""Which of many conditions to give up, at the least cost: mixed-integer programs by HiGHS.

Each condition has a switch, 0 where it is kept. The solver lets a switch be off by 1e-6, and a
condition whose switch is at 1e-6 of 1 counts as kept though it is violated. So every answer is
checked again without switches; what cannot be kept together becomes a further constraint.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import Lock
from time import monotonic
from typing import TypeAlias

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from rulelens.errors import PreferenceError
from rulelens.preference.table import BoolArray, FloatArray

Check: TypeAlias = Callable[[BoolArray], Sequence[Sequence[int]]]

_MAX_ROUNDS = 500
_MAX_SECONDS = 60
_STRAY = b"HighsMipSolverData::"
_ONE_AT_A_TIME = Lock()


def cheapest_switches(
    costs: FloatArray, n_weights: int, parts: Sequence[LinearConstraint], check: Check
) -> BoolArray | None:
    """Which conditions to give up so that the others hold together, at the least total cost.

    Parameters
    ----------
    costs : array, shape (n,)
        Positive price of giving up each condition.
    n_weights : int
        Number of continuous unknowns (≥ 0), which come before the n switches.
    parts : sequence of LinearConstraint
        On the weights and the switches.
    check : callable
        Given which conditions are given up, sets of positions among the others that cannot hold
        together; none if they all can.

    Returns
    -------
    bool array, shape (n,), or None
        None where even giving up all of them does not help.

    Raises
    ------
    PreferenceError
        The solver gave up, or took longer than a minute.
    """
    n = len(costs)
    told, end = list(parts), monotonic() + _MAX_SECONDS
    for _ in range(_MAX_ROUNDS):
        with without_stray_lines():
            found = milp(
                np.r_[np.zeros(n_weights), costs],
                constraints=told,
                integrality=np.r_[np.zeros(n_weights), np.ones(n)],
                bounds=Bounds(0.0, np.r_[np.full(n_weights, np.inf), np.ones(n)]),
                options={"mip_rel_gap": 0.0, "time_limit": max(end - monotonic(), 0.0)},
            )
        if found.status == 2:
            return None
        if found.status == 1:
            raise PreferenceError(
                f"The mixed-integer program was not solved within {_MAX_SECONDS} s: too much is to "
                "be given up at once. Withdraw what conflict() names, statement by statement, or "
                "ask about fewer alternatives."
            )
        if found.x is None:
            break
        given_up = np.asarray(found.x[n_weights:] > 0.5)
        clashes = check(given_up)
        if not clashes:
            return given_up
        one_of_each = np.zeros((len(clashes), n_weights + n))
        for row, clash in zip(one_of_each, clashes, strict=True):
            row[n_weights + np.asarray(clash)] = 1.0
        told.append(LinearConstraint(one_of_each, 1.0, np.inf))
    raise PreferenceError(
        "The mixed-integer program was not solved: it is too close to call in floating point. "
        "Withdraw a statement, or ask with a larger margin."
    )


@contextmanager
def without_stray_lines() -> Iterator[None]:
    """Keep a line that HiGHS prints without being asked off standard output.

    Where its answer has to be repaired, HiGHS 1.12 prints the name of one of its functions by C's
    printf, past every option and past `sys.stdout`. What else is printed meanwhile, by other
    threads, comes out afterwards.
    """
    with _ONE_AT_A_TIME, ExitStack() as opened:
        try:
            _flush()
            heard = opened.enter_context(tempfile.TemporaryFile())
            kept = os.dup(1)
        except (OSError, ValueError):
            heard = None  # no standard output, or no place to keep what it gets
        if heard is None:
            yield
            return
        os.dup2(heard.fileno(), 1)
        try:
            yield
        finally:
            _flush()
            os.dup2(kept, 1)
            os.close(kept)
            heard.seek(0)
            others = b"".join(line for line in heard if not line.startswith(_STRAY))
            while others:
                others = others[os.write(1, others) :]


def _flush() -> None:
    """Write out what Python and C still hold back for standard output."""
    if sys.stdout is not None and not sys.stdout.closed:
        sys.stdout.flush()
    try:
        ctypes.CDLL("ucrtbase" if os.name == "nt" else None).fflush(None)
    except (OSError, AttributeError):  # a system without C's standard library by that name
        return
