"""DUAT §3.2, Fig. 5.c and App. A, Fig. 1.d.5 (row head.row-or-column): (W'_HV)ᵀ x' = (Ĥ')ᵀ.

One token, two features: a column on the left, a row on the right.
"""

import numpy as np

N, M = 1, 2
left = np.zeros((N * M, N * M)).T @ np.zeros((N * M, 1))
right = np.zeros((N * M, 1)).T
print(f"left {left.shape}, right {right.shape}")
if left.shape == right.shape:
    raise SystemExit("no counterexample: the shapes agree")
