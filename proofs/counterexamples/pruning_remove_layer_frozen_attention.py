"""DUAT §4.3 (row pruning.remove-layer.frozen-attention): the bound of fixed parameters for attention.

Two tokens of one feature, all attention weights 1.  Layer 1 is x + 3 relu(x) and is removed; layer 2 is A(x) x with
A(x) = I + softmax(x xᵀ), rows of which sum to 2.
"""

import numpy as np


def attention_matrix(x):
    """I + softmax(x xᵀ)."""
    scores = np.exp(np.outer(x, x))
    return np.eye(len(x)) + scores / scores.sum(axis=1, keepdims=True)


x_0 = np.array([1.0, 0.0])
x_1 = x_0 + 3 * np.maximum(x_0, 0)
size = max(np.abs(attention_matrix(x)).sum(axis=1).max() for x in (x_0, x_1))
actual = np.abs(attention_matrix(x_1) @ x_1 - attention_matrix(x_0) @ x_0).max()
bound = size * np.abs(x_1 - x_0).max()
print(f"difference {actual:.6f}, bound {bound:.6f}")
if actual <= bound + 1 / 4:  # rounding stays below 2^-40
    raise SystemExit("no counterexample: the bound holds here")
