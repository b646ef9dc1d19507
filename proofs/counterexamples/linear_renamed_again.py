r"""Refuted: W′ may stand for the transposed W′ of DUAT's Eq. 5 (linear.renamed-again).

Printed in DUAT §3.1 Eq. 5:

\text{For convenience, we use }\mathbf{W}'_i\text{ to represent }(\mathbf{W}'_i)^T\text{. Therefore,
}\mathbf{x}'_{i+1}=\mathbf{W}'_i\mathbf{x}'_i

Read as: applied to DUAT's Eq. 5, which already prints W′x′: the sentence is left over from v2.

Right is linear.renamed. The smallest numbers that show it; σ is relu.
"""

import numpy as np

W_1 = np.array([[0, 1], [0, 0]])
x_1 = np.array([[1], [0]])

# network
left_side = (W_1 @ x_1).reshape(-1, 1)
left = left_side

# printed
right_side = np.kron(W_1, np.eye(1, dtype=int)).T @ x_1.reshape(-1, 1)
right = right_side

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
