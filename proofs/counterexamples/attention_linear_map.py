"""v1 §3.4 (row attention.linear.map): attention is a linear transformation of its input.

Two tokens of one feature, one head, all weights 1: MHA(2x) against 2 MHA(x) at x = (1, 0).
"""

import numpy as np


def softmax(scores: np.ndarray) -> np.ndarray:
    """Row by row."""
    weights = np.exp(scores)
    return weights / weights.sum(axis=1, keepdims=True)


def attention(x: np.ndarray) -> np.ndarray:
    """H(x) x."""
    return softmax(np.outer(x, x)) @ x


x = np.array([1.0, 0.0])
print(f"MHA(2x):  {attention(2 * x).round(6).tolist()}\n2 MHA(x): {(2 * attention(x)).round(6).tolist()}")
if np.abs(attention(2 * x) - 2 * attention(x)).max() < 2.0**-20:
    raise SystemExit("no counterexample: it is linear here")
