"""v1 §3.4, Eq. 8 (row attention.eq-8.v1-left): H̊ = (W'_HVO)ᵀ x' with H̊ the N × M matrix of Eq. 6.

One token, two features: a row on the left, a column on the right.
"""

import numpy as np

N, M = 1, 2
left = np.zeros((N, M))
right = np.zeros((N * M, N * M)).T @ np.zeros((N * M, 1))
print(f"left {left.shape}, right {right.shape}")
if left.shape == right.shape:
    raise SystemExit("no counterexample: the shapes agree")
