r"""Refuted: layers compose if each kind of operation has a reshape of its own (matrix-vector.reshape-per-operation).

Printed in v1 §3.1; v2 §3.1:

\text{identical operations throughout the LLMs network adhere to the same restructuring scheme}

Read as: only identical operations share T_D: a map of the tokens row-major, the next one, of the features,
column-major.

Right is matrix-vector.one-reshape. The smallest numbers that show it; σ is relu.
"""

import numpy as np

W_1 = np.array([[1, 0], [0, 0]])
x_0 = np.array([[0, 1], [0, 0]])
V_1 = np.array([[0, 0], [1, 0]])

# network
left_side = (W_1 @ x_0 @ V_1).T.reshape(-1, 1)
left = left_side

# printed
right_side = np.kron(V_1.T, np.eye(2, dtype=int)) @ np.kron(W_1, np.eye(2, dtype=int)) @ x_0.reshape(-1, 1)
right = right_side

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
