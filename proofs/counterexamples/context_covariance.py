"""DUAT App. C, Eq. 35 (row context.covariance): the H_i are elements of the covariance matrix of the input.

A covariance is symmetric, has no negative variance, does not change when a constant is added to every token, and is
M × M.  The scores x W_QK xᵀ inside H_i are and do none of this.
"""

import numpy as np


def scores(x: list, W: list) -> np.ndarray:
    """x W_QK xᵀ."""
    tokens = np.array(x)
    return tokens @ np.array(W) @ tokens.T


sheared = scores([[1, 0], [0, 1]], [[0, 1], [0, 0]])
negative = scores([[1]], [[-1]])
still, moved = scores([[0]], [[1]]), scores([[1]], [[1]])
tall = scores([[1], [1]], [[1]])
print(f"not symmetric:   {sheared.tolist()}\nnegative:        {negative.tolist()}")
print(f"not centred:     {still.tolist()} at x = 0, {moved.tolist()} at x + 1")
print(f"not M × M:       {tall.shape} for N = 2, M = 1")
if (sheared == sheared.T).all() or negative >= 0 or (still == moved).all() or tall.shape == (1, 1):
    raise SystemExit("no counterexample: it is a covariance")
