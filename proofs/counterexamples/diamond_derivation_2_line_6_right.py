r"""Refuted: line 6 of v1's derivation of property 2, read from the right (diamond.derivation-2.line-6.right).

Printed in v1 App. A Eq. 14:

[\mathbf{W}_1\diamond\mathbf{x}]\diamond\mathbf{W}_2=\mathbf{W}_1\diamond\mathbf{W}_2\diamond\mathbf{x}

Read as: read from the right: A ⋄ (B ⋄ C); v2 deleted the line.

Right is diamond.property-2.left. The smallest numbers that show it; σ is relu.
"""

import numpy as np

W_2 = np.array([[1, 0], [0, 0]])
W_1 = np.array([[0, 0], [1, 0]])
x_0 = np.array([[0], [1]])

# network
left_side = W_2.T @ W_1.T @ x_0
left = left_side

# printed
right_side = W_1.T @ W_2.T @ x_0
right = right_side

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
