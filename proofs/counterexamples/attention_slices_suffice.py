"""DUAT §3.2, Eq. 7, 8, v1 and v2 §3.4 (row attention.slices-suffice): slice heads express every attention.

Two slice heads see their slices apart, so that f(x+a+b) - f(x+a) - f(x+b) + f(x) = 0 for changes a of slice 1 and b of
slice 2.  One head that sees both features, with query, key and value their sum, has another difference.
"""

import numpy as np


def softmax(scores: np.ndarray) -> np.ndarray:
    """Row by row."""
    weights = np.exp(scores)
    return weights / weights.sum(axis=1, keepdims=True)


def full_width(x: np.ndarray) -> np.ndarray:
    """softmax(q qᵀ) q, where q is the sum of both features."""
    q = x.sum(axis=1, keepdims=True)
    return softmax(q @ q.T) @ q


x, a, b = np.zeros((2, 2)), np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 0.0]])
mixed = full_width(x + a + b) - full_width(x + a) - full_width(x + b) + full_width(x)
print(f"full width: {mixed.ravel().round(6).tolist()}\nslices:     {[0, 0]}")
if np.abs(mixed - 0).max() < 2.0**-20:
    raise SystemExit("no counterexample: the difference vanishes")
