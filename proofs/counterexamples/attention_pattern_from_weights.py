"""v1 §3.4 (row attention.pattern-from-weights): H_i is derived from W_Qi and W_Ki alone.

Two tokens of one feature, W_Q = W_K = 1: two inputs, two patterns.
"""

import numpy as np


def softmax(scores: np.ndarray) -> np.ndarray:
    """Row by row."""
    weights = np.exp(scores)
    return weights / weights.sum(axis=1, keepdims=True)


first, second = (softmax(np.outer(x, x)) for x in ([1.0, 0.0], [0.0, 0.0]))
print(f"H at (1, 0): {first[0].round(6).tolist()}\nH at (0, 0): {second[0].round(6).tolist()}")
if np.abs(first - second).max() < 2.0**-20:
    raise SystemExit("no counterexample: the patterns agree")
