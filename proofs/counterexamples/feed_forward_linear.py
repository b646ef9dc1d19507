r"""Refuted: the feed-forward part consists of linear operations (feed-forward.linear).

Printed in v1 §3.5:

\text{FFN is comprised of linear operations}

Read as: the feed-forward part is a linear map, with or without a bias: its second differences are zero. v1 has no
formula for it, and so none for several layers.

Right is feed-forward.left. The smallest numbers that show it; σ is relu.
"""

import numpy as np

relu = lambda z: np.maximum(z, 0)

W_2 = np.array([[1]])
W_1 = np.array([[1]])
e_1 = np.array([[1]])
x_1 = b_1 = b_2 = np.zeros((1, 1), int)

# network
left_side = (W_2 @ relu(W_1 @ (x_1 + e_1) + b_1) + b_2 + W_2 @ relu(W_1 @ (x_1 + -1 * e_1) + b_1) + b_2).reshape(-1, 1)
left = left_side

# printed
right_side = (2 * (W_2 @ relu(W_1 @ x_1 + b_1) + b_2)).reshape(-1, 1)
right = right_side

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
