"""v1 §2, v2 §2, DUAT §2.1 (row matrix-vector.parameters-alone.attention): W′ is derived from W, read for attention.

The papers' W_HVO depends on x through H = softmax(x xᵀ): two tokens of one feature, one head, and every weight 1.
"""

import numpy as np


def matrix(x: np.ndarray) -> np.ndarray:
    """W_HVO(x) = softmax(x xᵀ) ⊗ 1, row by row."""
    scores = np.exp(np.outer(x, x))
    return scores / scores.sum(axis=1, keepdims=True)


first, second = matrix(np.array([0.0, 0.0])), matrix(np.array([1.0, 0.0]))
print(f"W_HVO at (0, 0): {first.tolist()}\nW_HVO at (1, 0): {second.round(6).tolist()}")
if np.abs(first - second).max() < 2.0**-20:  # far above the rounding of one exponential and one division
    raise SystemExit("no counterexample: the two matrices are equal")
