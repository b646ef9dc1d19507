r"""Refuted: deleting the k-th summand of Eq. 11 removes the σ of layer k (pruning.summand).

Printed in DUAT §4.3 Eq. 16; DUAT §3.3 Eq. 11, 12:

\text{when parameters in certain layers are small enough, we can directly remove those layers since their impact on
the final result is minimal}

Read as: the sum over all j but k of W'_{j,3} σ(W'_{j,2} x'_0 + b'_{j,2}) in Eq. 11: the b'_{j,2} of the later
layers stay as they are: they still contain the deleted summand (Eq. 12).

Right is pruning.summand.everywhere. The smallest numbers that show it; σ is relu.
"""

import numpy as np

relu = lambda z: np.maximum(z, 0)

b_1 = np.array([[1]])
C_2 = np.array([[1]])
B_2 = np.array([[1]])
C_1 = np.array([[1]])
A_1 = x_0 = c_1 = B_1 = A_2 = c_2 = b_2 = np.zeros((1, 1), int)

# network
x_1 = A_1 @ x_0 + c_1 + np.zeros((1, 1), int) @ relu(B_1 @ x_0 + b_1)
x_2 = A_2 @ x_1 + c_2 + C_2 @ relu(B_2 @ x_1 + b_2)
left = x_2

# printed
W_hat_1_2 = B_1
b_hat_1_2 = b_1
s_1 = relu(W_hat_1_2 @ x_0 + b_hat_1_2)
W_hat_1_1 = A_1
b_hat_1_3 = c_1
W_hat_1_3_at_1 = C_1
W_hat_2_2 = B_2 @ W_hat_1_1
b_hat_2_2 = B_2 @ b_hat_1_3 + b_2 + B_2 @ W_hat_1_3_at_1 @ s_1
s_2 = relu(W_hat_2_2 @ x_0 + b_hat_2_2)
W_hat_2_1 = A_2 @ W_hat_1_1
b_hat_2_3 = A_2 @ b_hat_1_3 + c_2
W_hat_1_3_at_2 = A_2 @ W_hat_1_3_at_1
W_hat_2_3_at_2 = C_2
x_2 = W_hat_2_1 @ x_0 + b_hat_2_3 + W_hat_2_3_at_2 @ s_2
right = x_2

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
