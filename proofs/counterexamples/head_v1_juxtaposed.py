r"""Refuted: v1's [(W'_Vi)ᵀ H'_i] x'_i, written without ⋄ (head.v1-juxtaposed).

Printed in v1 App. B.2:

[\mathbf{W}_{Vi}^{\prime T}\hat{\mathbf{H}}'_i]\mathbf{x}'_i

Read as: products of matrices, H_i for Ĥ_i: it is (H_iᵀ ⊗ W_Viᵀ) x'_i.

Right is head.v2-1-d-4.left. The smallest numbers that show it; σ is relu.
"""

import numpy as np

H_i = np.array([[0, 1], [0, 0]])
x_i = np.array([[1], [0]])
W_V_i = np.array([[1]])

# network
left_side = (H_i @ x_i @ W_V_i).reshape(-1, 1)
left = left_side

# printed
right_side = np.kron(np.eye(2, dtype=int), W_V_i.T) @ np.kron(H_i, np.eye(1, dtype=int)).T @ x_i.reshape(-1, 1)
right = right_side

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
