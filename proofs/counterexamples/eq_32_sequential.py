r"""Refuted: the five assignments after Eq. 32, in printed order (eq-32.sequential).

Printed in DUAT App. B.3 Eq. 32:

\mathbf{W}'_{i+1,1}=\mathbf{W}'_{i+1,1}\mathbf{W}_{i,1},\
\mathbf{b}'_{i+1,3}=(\mathbf{W}'_{i+1,1}\mathbf{b}_{i,1}+\mathbf{b}'_{i+1,3}),\ UAT^R_i=\mathbf{W}'_{i+1,1}UAT^R_i,\
\mathbf{W}'_{i+1,2}=\mathbf{W}'_{i+1,2}\mathbf{W}_{i,1},\
\mathbf{b}'_{i+1,2}=(\mathbf{W}'_{i+1,2}\mathbf{b}_{i,1}+\mathbf{b}'_{i+1,2})+\mathbf{W}'_{i+1,2}UAT^R_i

Read as: each assignment overwrites; W_{i+1,3} for the printed W_{i,3}, b_{i,3} for b_{i,1}.

Right is eq-32.simultaneous. The smallest numbers that show it; σ is relu.
"""

import numpy as np

relu = lambda z: np.maximum(z, 0)

A_i_1 = np.array([[1]])
b_hat_i_3 = np.array([[1]])
W_hat_i_1 = x_0 = u_i = c_i_1 = C_i_1 = B_i_1 = b_i_1 = np.zeros((1, 1), int)

# network
x_i_1 = (
    A_i_1 @ (W_hat_i_1 @ x_0 + b_hat_i_3 + u_i)
    + c_i_1
    + C_i_1 @ relu(B_i_1 @ A_i_1 @ (W_hat_i_1 @ x_0 + b_hat_i_3 + u_i) + b_i_1)
)
left = x_i_1

# printed
W_i_1_1_at_1 = A_i_1 @ W_hat_i_1
b_i_1_3_at_1 = W_i_1_1_at_1 @ b_hat_i_3 + c_i_1
U_i_at_1 = W_i_1_1_at_1 @ u_i
W_i_1_2_at_1 = B_i_1 @ A_i_1 @ W_hat_i_1
b_i_1_2_at_1 = W_i_1_2_at_1 @ b_hat_i_3 + b_i_1 + W_i_1_2_at_1 @ U_i_at_1
x_i_1 = W_i_1_1_at_1 @ x_0 + b_i_1_3_at_1 + U_i_at_1 + C_i_1 @ relu(W_i_1_2_at_1 @ x_0 + b_i_1_2_at_1)
right = x_i_1

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
