r"""Refuted: Fig. 1.d.4 of v2, brackets to the right: (W'_Vi)ᵀ ⋄ (H'_i ⋄ x'_i) (head.v2-1-d-4.right).

Printed in v2 App. B:

(\mathbf{W}'_{Vi})^T\diamond\mathbf{H}'_i\diamond\mathbf{x}'_i

Read as: right association: it is (H_i ⊗ W_Vi) x'_i.

Right is head.v2-1-d-4.left. The smallest numbers that show it; σ is relu.
"""

import numpy as np

H_i = np.array([[1]])
x_i = np.array([[1, 0]])
W_V_i = np.array([[0, 1], [0, 0]])

# network
left_side = (H_i @ x_i @ W_V_i).reshape(-1, 1)
left = left_side

# printed
right_side = np.kron(np.eye(1, dtype=int), W_V_i.T).T @ np.kron(H_i, np.eye(2, dtype=int)) @ x_i.reshape(-1, 1)
right = right_side

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
