"""v1 §3.4, Eq. 8 (row attention.eq-8.v1-right): (W'_HVO)ᵀ (x_i)' with x_i a slice of the features, as in Eq. 7.

One token, two heads of one feature: the matrix has two columns, the slice one entry.
"""

import numpy as np

N, d, h = 1, 1, 2
matrix, slice_ = np.zeros((N * h * d, N * h * d)), np.zeros((N * d, 1))
print(f"matrix {matrix.shape}, column {slice_.shape}")
if matrix.shape[1] == slice_.shape[0]:
    raise SystemExit("no counterexample: the product is defined")
