r"""Refuted: Eq. 32 with W_{i,3} as printed (eq-32.printed).

Printed in DUAT App. B.3 Eq. 32; v2 App. C.2 Eq. 11:

\mathbf{x}'_{i+1}=\cdots+\mathbf{W}'_{i,3}\sigma\{\mathbf{W}'_{i+1,2}\mathbf{W}_{i,1}\mathbf{x}_0+(\mathbf{W}'_{i+1,2}\mathbf{b}_{i,1}+\mathbf{b}'_{i+1,2})+\mathbf{W}'_{i+1,2}UAT_i^R\}

Read as: the factor before σ as printed; b_{i,3} for b_{i,1}; W_{i+1,2} already stands for W_{i+1,2}W_{i+1,1}.

Right is eq-32. The smallest numbers that show it; σ is relu.
"""

import numpy as np

relu = lambda z: np.maximum(z, 0)

C_i_1 = np.array([[1]])
b_i_1 = np.array([[1]])
A_i_1 = W_hat_i_1 = x_0 = b_hat_i_3 = u_i = c_i_1 = B_i_1 = C_i = np.zeros((1, 1), int)

# network
left_side = (
    A_i_1 @ (W_hat_i_1 @ x_0 + b_hat_i_3 + u_i)
    + c_i_1
    + C_i_1 @ relu(B_i_1 @ A_i_1 @ (W_hat_i_1 @ x_0 + b_hat_i_3 + u_i) + b_i_1)
)
left = left_side

# printed
right_side = (
    A_i_1 @ W_hat_i_1 @ x_0
    + A_i_1 @ b_hat_i_3
    + c_i_1
    + A_i_1 @ u_i
    + C_i @ relu(B_i_1 @ A_i_1 @ W_hat_i_1 @ x_0 + B_i_1 @ A_i_1 @ b_hat_i_3 + b_i_1 + B_i_1 @ A_i_1 @ u_i)
)
right = right_side

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
