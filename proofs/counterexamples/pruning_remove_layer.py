r"""Refuted: a layer with small parameters can be removed (pruning.remove-layer).

Printed in v1 §4.3 Eq. 12; v2 §4.3 Eq. 15; DUAT §4.3 Eq. 16:

\text{when parameters in certain layers are small enough, we can directly remove those layers since their impact on
the final result is minimal}

Read as: x_L ≈ x̃_L, the output without layer k, in the papers' own Eq. 20 and 30, whose shortcut is A_k x: all
parameters of layer k are zero, the smallest there are.

Right is pruning.remove-layer.bound. The smallest numbers that show it; σ is relu.
"""

import numpy as np

relu = lambda z: np.maximum(z, 0)

x_0 = np.array([[1]])
A_2 = np.array([[1]])
c_2 = C_2 = B_2 = b_2 = np.zeros((1, 1), int)

# network
x_1 = (
    np.zeros((1, 1), int) @ x_0
    + np.zeros((1, 1), int)
    + np.zeros((1, 1), int) @ relu(np.zeros((1, 1), int) @ x_0 + np.zeros((1, 1), int))
)
x_2 = A_2 @ x_1 + c_2 + C_2 @ relu(B_2 @ x_1 + b_2)
left = x_2

# printed
x_2 = A_2 @ x_0 + c_2 + C_2 @ relu(B_2 @ x_0 + b_2)
right = x_2

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
