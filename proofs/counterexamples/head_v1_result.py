r"""Refuted: v1's W'_WHi x'_i, written without ⋄ (head.v1-result).

Printed in v1 App. B.2; v2 App. B:

\hat{\mathbf{H}}_i[\mathbf{x}_i\mathbf{W}_{Vi}]\mapsto\mathbf{W}'_{WHi}\mathbf{x}'_i

Read as: H_i for Ĥ_i; a product of a matrix and a column, W'_WHi = H'_i W'_Vi as in the other figures; v2 prints
W'_HVi x'_i once and then W'_HVi ⋄ x'_i.

Right is head.duat-1-d-3. The smallest numbers that show it; σ is relu.
"""

import numpy as np

H_i = np.array([[1]])
x_i = np.array([[1, 0]])
W_V_i = np.array([[0, 1], [0, 0]])

# network
left_side = (H_i @ x_i @ W_V_i).reshape(-1, 1)
left = left_side

# printed
right_side = np.kron(H_i, np.eye(2, dtype=int)).T @ np.kron(np.eye(1, dtype=int), W_V_i.T).T @ x_i.reshape(-1, 1)
right = right_side

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
