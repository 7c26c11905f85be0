"""Exact SHAP values of one decision tree (path-dependent), in plain numpy.

For one leaf let D be its features, z_j the share of training rows that stay on its path at the
splits on feature j, and o_j whether a row itself stays. The leaf's game is
v(S) = value · Π_{j in S} o_j · Π_{j not in S} z_j, whose Shapley values need only the elementary
symmetric sums of the other features' (z, o); a tree's values are the sum over its leaves.
"""

from __future__ import annotations

from math import factorial

import numpy as np
from sklearn.tree import DecisionTreeClassifier


def shap_values(tree: DecisionTreeClassifier, X: np.ndarray) -> np.ndarray:
    """SHAP values of the class probabilities, shape (n_rows, n_features, n_classes)."""
    t = tree.tree_
    rows = np.asarray(X, dtype=np.float32)
    n, d = rows.shape
    values = t.value[:, 0, :] / t.value[:, 0, :].sum(axis=1, keepdims=True)
    out = np.zeros((n, d, values.shape[1]))

    def walk(node: int, share: dict[int, float], stays: dict[int, np.ndarray]) -> None:
        if t.children_left[node] < 0:
            phi = _leaf(share, stays, n)
            for h, weight in phi.items():
                out[:, h] += weight[:, None] * values[node]
            return
        h = int(t.feature[node])
        x = rows[:, h].astype(np.float64)
        left = np.where(np.isnan(x), bool(t.missing_go_to_left[node]), x <= t.threshold[node])
        total = t.weighted_n_node_samples[node]
        for child, side in ((t.children_left[node], left), (t.children_right[node], ~left)):
            part = t.weighted_n_node_samples[child] / total
            walk(
                child,
                share | {h: share.get(h, 1.0) * part},
                stays | {h: stays.get(h, np.ones(n, bool)) & side},
            )

    walk(0, {}, {})
    return out


def _leaf(share: dict[int, float], stays: dict[int, np.ndarray], n: int) -> dict[int, np.ndarray]:
    """Shapley values of the game of one leaf of value 1."""
    names = list(share)
    m = len(names)
    weights = [factorial(k) * factorial(m - k - 1) / factorial(m) for k in range(m)]
    out = {}
    for i in names:
        # sums[k]: over sets S of k others, of the product of o in S and z outside S
        sums = np.zeros((m, n))
        sums[0] = 1.0
        for size, j in enumerate((j for j in names if j != i), start=1):
            for k in range(size, 0, -1):
                sums[k] = sums[k] * share[j] + sums[k - 1] * stays[j]
            sums[0] = sums[0] * share[j]
        gain = stays[i] - share[i]
        out[i] = gain * sum(w * s for w, s in zip(weights, sums, strict=True))
    return out


def check() -> None:
    """Compare with the definition, subset by subset, on a small tree."""
    from itertools import combinations

    rng = np.random.default_rng(0)
    X, y = rng.random((80, 4)), rng.integers(3, size=80)
    tree = DecisionTreeClassifier(max_depth=5, random_state=0).fit(X, y)
    t = tree.tree_

    def expected(x: np.ndarray, known: set[int], node: int = 0) -> np.ndarray:
        if t.children_left[node] < 0:
            return t.value[node, 0] / t.value[node, 0].sum()
        children = (t.children_left[node], t.children_right[node])
        if t.feature[node] in known:
            return expected(x, known, children[int(x[t.feature[node]] > t.threshold[node])])
        parts = [t.weighted_n_node_samples[c] / t.weighted_n_node_samples[node] for c in children]
        return sum(p * expected(x, known, c) for p, c in zip(parts, children, strict=True))

    fast = shap_values(tree, X[:5])
    for r, x in enumerate(X[:5].astype(np.float32)):
        for i in range(4):
            total = 0.0
            for size in range(4):
                for others in combinations([j for j in range(4) if j != i], size):
                    weight = factorial(size) * factorial(3 - size) / factorial(4)
                    known = set(others)
                    total = total + weight * (expected(x, known | {i}) - expected(x, known))
            np.testing.assert_allclose(fast[r, i], total, atol=1e-12)


if __name__ == "__main__":
    check()
    print("SHAP values agree with the definition")
