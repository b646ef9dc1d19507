r"""Refuted: the step from Fig. 1.d.3 to 1.d.4 as a rule for transposes (head.transpose-rule).

Printed in DUAT App. A:

[\mathbf{H}'_i\mathbf{W}'_{Vi}]^T\mathbf{x}'_i=(\mathbf{H}'_i)^T[\mathbf{W}'_{Vi}]^T\mathbf{x}'_i

Read as: not claimed as a rule, for which it could be taken: [A B]ᵀ = Aᵀ Bᵀ for any two square matrices.

Right is head.duat-1-d-4. The smallest numbers that show it; σ is relu.
"""

import numpy as np

A = np.array([[1, 0], [0, 0]])
B = np.array([[0, 0], [1, 0]])
y = np.array([[0], [1]])

# network
left_side = (A @ B).T @ y
left = left_side

# printed
right_side = A.T @ B.T @ y
right = right_side

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
