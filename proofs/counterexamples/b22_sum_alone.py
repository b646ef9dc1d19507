r"""Refuted: b_{2,2} is the UAT sum of the first layer, without a constant (b22.sum-alone).

Printed in v2 App. C.1 Eq. 6:

\mathbf{b}'_{2,2}\text{ clearly has the same mathematical form as UAT}

Read as: its own σ-term is all of it.

Right is b22.constant-and-sum. The smallest numbers that show it; σ is relu.
"""

import numpy as np

relu = lambda z: np.maximum(z, 0)

b_2 = np.array([[1]])
B_2 = c_1 = C_1 = B_1 = x_0 = b_1 = np.zeros((1, 1), int)

# network
left_side = B_2 @ c_1 + b_2 + B_2 @ C_1 @ relu(B_1 @ x_0 + b_1)
left = left_side

# printed
right_side = B_2 @ C_1 @ relu(B_1 @ x_0 + b_1)
right = right_side

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
