"""Chapter K, biases of attention (row real.key-bias.rope): with rotary positions, too, the bias of the keys cancels.

Two tokens of two features, one head, W_Q = W_K = I; token n is turned by the angle n after the bias is added.  The
pattern at x_1 = (1, 0), x_2 = 0 with b_K = (1, 0), and without.
"""

import numpy as np


def pattern(x: np.ndarray, key_bias: np.ndarray) -> np.ndarray:
    """softmax(q kᵀ/√2) of the turned queries and keys."""
    turns = [np.array([[np.cos(n), -np.sin(n)], [np.sin(n), np.cos(n)]]) for n in range(len(x))]
    queries = np.stack([R @ q for R, q in zip(turns, x, strict=True)])
    keys = np.stack([R @ k for R, k in zip(turns, x + key_bias, strict=True)])
    weights = np.exp(queries @ keys.T / np.sqrt(2))
    return weights / weights.sum(axis=1, keepdims=True)


x = np.array([[1.0, 0.0], [0.0, 0.0]])
with_bias, without = pattern(x, np.array([1.0, 0.0])), pattern(x, np.zeros(2))
print(f"with b_K: {with_bias.round(6).tolist()}\nwithout:  {without.round(6).tolist()}")
if np.abs(with_bias - without).max() < 2.0**-20:
    raise SystemExit("no counterexample: it cancels here")
