r"""Refuted: UAT_{i+1}^R from UAT_i^R with the product W_{i+1,1}W_{i,1} (remainder.overwritten).

Printed in DUAT App. B.2 Eq. 27:

UAT^R_{i+1}=\mathbf{W}'_{i+1,1}UAT^R_i+\mathbf{W}'_{i+1,3}\sigma(\mathbf{W}'_{i+1,2}\mathbf{x}'_0+\mathbf{b}'_{i+1,2})

Read as: W_{i+1,1} is A_{i+1} Ŵ_{i,1}, as the sentence before has just set it; W_{i+1,2} and b_{i+1,2} are those of
Eq. 27.

Right is remainder.original. The smallest numbers that show it; σ is relu.
"""

import numpy as np

relu = lambda z: np.maximum(z, 0)

A_i_1 = np.array([[1]])
u_i = np.array([[1]])
W_hat_i_1 = x_0 = b_hat_i_3 = c_i_1 = C_i_1 = B_i_1 = b_i_1 = np.zeros((1, 1), int)

# network
left_side = (
    A_i_1 @ (W_hat_i_1 @ x_0 + b_hat_i_3 + u_i)
    + c_i_1
    + C_i_1 @ relu(B_i_1 @ (W_hat_i_1 @ x_0 + b_hat_i_3 + u_i) + b_i_1)
    + -1 * (A_i_1 @ W_hat_i_1 @ x_0 + A_i_1 @ b_hat_i_3 + c_i_1)
)
left = left_side

# printed
right_side = A_i_1 @ W_hat_i_1 @ u_i + C_i_1 @ relu(B_i_1 @ W_hat_i_1 @ x_0 + B_i_1 @ b_hat_i_3 + b_i_1 + B_i_1 @ u_i)
right = right_side

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
