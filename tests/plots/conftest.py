"""Graphs to draw, and figures that are closed afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from rulelens.graph.feature_graph import FeatureGraph


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    """No figure is left open by a test."""
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture(scope="session")
def graph_with() -> Callable[..., FeatureGraph]:
    """A graph over the given names, or over so many features."""

    def make(names: int | Sequence[str], seed: int = 0, links: bool = True) -> FeatureGraph:
        names = [f"f{i}" for i in range(names)] if isinstance(names, int) else list(names)
        d = len(names)
        rng = np.random.default_rng(seed)
        P = rng.random((3 * d, d)) * (rng.random((3 * d, d)) < 0.3)
        P[:d] = np.eye(d) * 0.5
        if not links:
            P[d:] = 0
        classes = np.arange(3 * d) % 2
        return FeatureGraph.from_relevances(names, P, np.full(3 * d, 0.5), classes, ["yes", "no"])

    return make
