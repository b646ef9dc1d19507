r"""Refuted: nested bias: W_{j,2} original, b_{j−1,3} updated, W_{k,3} own C_k (nested-bias.original-updated-own).

Printed in DUAT §3.3 Eq. 12; DUAT App. B.3 Eq. 34; v2 §3.5:

\mathbf{b}'_{j,2}=(\mathbf{W}'_{j,2}\mathbf{b}'_{j-1,3}+\mathbf{b}'_{j,2})+\mathbf{W}'_{j,2}\sum_{k=1}^{j-1}\mathbf{W}'_{k,3}\sigma(\mathbf{W}'_{k,2}\mathbf{x}'_0+\mathbf{b}'_{k,2})

Read as: W_{j,2} original, b_{j−1,3} updated, W_{k,3} own C_k; every other parameter of Eq. 11/33 as in Theorem 1.

Right is nested-bias.original-updated-previous. The smallest numbers that show it; σ is relu.
"""

import numpy as np

relu = lambda z: np.maximum(z, 0)

C_1 = np.array([[1]])
b_1 = np.array([[1]])
C_3 = np.array([[1]])
B_3 = np.array([[1]])
A_1 = x_0 = c_1 = B_1 = A_2 = c_2 = C_2 = B_2 = np.zeros((1, 1), int)
b_2 = A_3 = c_3 = b_3 = np.zeros((1, 1), int)

# network
x_1 = A_1 @ x_0 + c_1 + C_1 @ relu(B_1 @ x_0 + b_1)
x_2 = A_2 @ x_1 + c_2 + C_2 @ relu(B_2 @ x_1 + b_2)
x_3 = A_3 @ x_2 + c_3 + C_3 @ relu(B_3 @ x_2 + b_3)
left = x_3

# printed
W_hat_1_2 = B_1
W_hat_1_1 = A_1
b_hat_1_3 = c_1
W_hat_1_3_at_1 = C_1
W_hat_2_2 = B_2 @ W_hat_1_1
W_hat_2_1 = A_2 @ W_hat_1_1
b_hat_2_3 = A_2 @ b_hat_1_3 + c_2
W_hat_1_3_at_2 = A_2 @ W_hat_1_3_at_1
W_hat_2_3_at_2 = C_2
W_hat_3_2 = B_3 @ W_hat_2_1
W_hat_3_1 = A_3 @ W_hat_2_1
b_hat_3_3 = A_3 @ b_hat_2_3 + c_3
W_hat_1_3_at_3 = A_3 @ W_hat_1_3_at_2
W_hat_2_3_at_3 = A_3 @ W_hat_2_3_at_2
W_hat_3_3_at_3 = C_3
b_hat_1_2 = b_1
s_1 = relu(W_hat_1_2 @ x_0 + b_hat_1_2)
b_hat_2_2 = B_2 @ b_hat_1_3 + b_2 + B_2 @ C_1 @ s_1
s_2 = relu(W_hat_2_2 @ x_0 + b_hat_2_2)
b_hat_3_2 = B_3 @ b_hat_2_3 + b_3 + B_3 @ (C_1 @ s_1 + C_2 @ s_2)
s_3 = relu(W_hat_3_2 @ x_0 + b_hat_3_2)
x_3 = W_hat_3_1 @ x_0 + b_hat_3_3 + W_hat_1_3_at_3 @ s_1 + W_hat_2_3_at_3 @ s_2 + W_hat_3_3_at_3 @ s_3
right = x_3

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
