"""Measures of a rule: pure functions of its four counts.

With N = tp + fp + fn + tn rows, pos = tp + fn rows of the rule's class and neg = fp + tn
others. Where a denominator is 0 a measure is NaN, never a hidden 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rulelens.core.registry import Registry
from rulelens.errors import MeasureError

Floats: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[np.int64]
Measure: TypeAlias = Callable[[Counts, Counts, Counts, Counts], Floats]

MEASURES: Registry[Measure] = Registry("measure", "rulelens.measures", MeasureError)
"""All measures by name. Add one with ``@MEASURES.register("name")``."""


def ratio(numerator: NDArray[np.generic], denominator: NDArray[np.generic]) -> Floats:
    """Elementwise quotient; NaN where the denominator is 0."""
    top = np.asarray(numerator, dtype=np.float64)
    bottom = np.asarray(denominator, dtype=np.float64)
    out = np.full(np.broadcast_shapes(top.shape, bottom.shape), np.nan)
    np.divide(top, bottom, out=out, where=bottom != 0)
    return out


@MEASURES.register("support")
def support(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Floats:
    """Share of all rows that the rule covers and that have its class: tp/N."""
    return ratio(tp, tp + fp + fn + tn)


@MEASURES.register("confidence")
def confidence(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Floats:  # noqa: ARG001
    """Share of the covered rows that have the rule's class (precision): tp/(tp+fp)."""
    return ratio(tp, tp + fp)


@MEASURES.register("lift")
def lift(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Floats:
    """Confidence over the class's share of all rows: 1 is no better than chance."""
    return ratio(confidence(tp, fp, fn, tn), ratio(tp + fn, tp + fp + fn + tn))


@MEASURES.register("recall")
def recall(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Floats:  # noqa: ARG001
    """Share of the class's rows that the rule covers (covering): tp/pos."""
    return ratio(tp, tp + fn)


@MEASURES.register("error")
def error(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Floats:  # noqa: ARG001
    """Share of the other classes' rows that the rule covers (false positive rate): fp/neg."""
    return ratio(fp, fp + tn)


@MEASURES.register("relevance")
def relevance(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Floats:
    """Recall times (1 - error): the rule relevance of feature graphs."""
    return recall(tp, fp, fn, tn) * (1 - error(tp, fp, fn, tn))


@MEASURES.register("confirmation")
def confirmation(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Floats:
    """Nozick's N: recall minus error, from -1 to 1."""
    return recall(tp, fp, fn, tn) - error(tp, fp, fn, tn)


@MEASURES.register("wracc")
def wracc(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Floats:
    """Weighted relative accuracy: coverage times (confidence - the class's share)."""
    n = tp + fp + fn + tn
    # In whole numbers: a rule no better than chance has exactly 0, not the sign of a rounding.
    return ratio(ratio(tp * n - (tp + fp) * (tp + fn), n), n)


@MEASURES.register("pic_accuracy")
def pic_accuracy(tp: Counts, fp: Counts, fn: Counts, tn: Counts, *, alpha: float = 0.9) -> Floats:
    """PIC's rule accuracy: alpha·precision + (1 - alpha)·recall; alpha from 0 to 1."""
    return alpha * confidence(tp, fp, fn, tn) + (1 - alpha) * recall(tp, fp, fn, tn)


@MEASURES.register("confidence_low")
def confidence_low(tp: Counts, fp: Counts, fn: Counts, tn: Counts) -> Floats:
    """Lower end of the 95 % Wilson score interval of the confidence.

    A confidence of 1 on three rows says little, and this says so (0.44); on 300 rows it is
    0.987. It speaks of rows drawn as the training rows were.

    References
    ----------
    E. B. Wilson (1927), Probable inference, the law of succession, and statistical inference.
    """
    z2 = 1.959963984540054**2
    n = np.asarray(tp + fp, dtype=np.float64)
    p = confidence(tp, fp, fn, tn)
    half = np.sqrt(z2 * np.maximum(p * (1 - p), 0) * np.maximum(n, 1) + z2 * z2 / 4)
    return np.maximum(ratio(n * p + z2 / 2 - half, n + z2), 0.0)
