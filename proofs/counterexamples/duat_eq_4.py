"""DUAT §2.3, Eq. 4 (row duat.eq-4): only W and b depend on the input, and α does not.

Two Transformer layers, two tokens of one feature, every weight 1, no biases, σ = relu: the coefficient of the first
σ-term is α_1 = A_2(x_1) C_1 = softmax(x_1 x_1ᵀ).
"""

import numpy as np


def pattern(x: np.ndarray) -> np.ndarray:
    """softmax(x xᵀ), row by row."""
    scores = np.exp(np.outer(x, x))
    return scores / scores.sum(axis=1, keepdims=True)


def alpha_1(x: np.ndarray) -> np.ndarray:
    """A_2(x_1), where x_1 = y + relu(y) and y = A_1(x) x."""
    y = pattern(x) @ x
    return pattern(y + np.maximum(y, 0))


first, second = (alpha_1(np.array(x)) for x in ([0.0, 0.0], [1.0, 0.0]))
print(f"alpha_1 at (0, 0): {first.tolist()}\nalpha_1 at (1, 0): {second.round(6).tolist()}")
if np.abs(first - second).max() < 2.0**-20:
    raise SystemExit("no counterexample: alpha_1 is the same")
