"""DUAT §3.2, Eq. 8 (row attention.scale-weights): dividing by √M instead of √d changes nothing.

Two heads of one feature, so d = 1 and M = 2, all weights 1: the pattern of head 1.
"""

import numpy as np


def softmax(scores: np.ndarray) -> np.ndarray:
    """Row by row."""
    weights = np.exp(scores)
    return weights / weights.sum(axis=1, keepdims=True)


x = np.array([[1.0], [0.0]])
over_d, over_M = softmax(x @ x.T / np.sqrt(1)), softmax(x @ x.T / np.sqrt(2))
print(f"over √d: {over_d[0].round(6).tolist()}\nover √M: {over_M[0].round(6).tolist()}")
if np.abs(over_d - over_M).max() < 2.0**-20:
    raise SystemExit("no counterexample: the patterns agree")
