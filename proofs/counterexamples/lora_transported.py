r"""Refuted: deltas that are updated like their weights, with the old biases (lora.transported).

Printed in DUAT §4.4 Eq. 18; v2 §4.4 Eq. 17:

\mathbf{x}_{i+1}=(\mathbf{W}'_{i+1,1}\mathbf{x}_0+\mathbf{b}_{i+1,1})+\sum_{j=1}^{i+1}(\mathbf{W}'_{j,3}+\Delta\mathbf{W}_{j+1,3})\sigma((\mathbf{W}'_{j,2}+\Delta\mathbf{W}_{j+1,2})\mathbf{x}'_0+\mathbf{b}'_{j,2})

Read as: without the stray plus, with Δ of layer j and with b_{i+1,3}: A_L…A_{j+1}ΔW_{j,3} and ΔW_{j,2}A_j…A_1 are
added, and b'_{j,2} stays as it is.

Right is lora.original. The smallest numbers that show it; σ is relu.
"""

import numpy as np

relu = lambda z: np.maximum(z, 0)

c_1 = np.array([[1]])
C_2 = np.array([[1]])
ΔB_2 = np.array([[1]])
A_1 = x_0 = C_1 = ΔC_1 = B_1 = ΔB_1 = b_1 = A_2 = np.zeros((1, 1), int)
c_2 = ΔC_2 = B_2 = b_2 = np.zeros((1, 1), int)

# network
x_1 = A_1 @ x_0 + c_1 + (C_1 + ΔC_1) @ relu((B_1 + ΔB_1) @ x_0 + b_1)
x_2 = A_2 @ x_1 + c_2 + (C_2 + ΔC_2) @ relu((B_2 + ΔB_2) @ x_1 + b_2)
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
x_2 = (
    W_hat_2_1 @ x_0
    + b_hat_2_3
    + (W_hat_1_3_at_2 + A_2 @ ΔC_1) @ relu((W_hat_1_2 + ΔB_1) @ x_0 + b_hat_1_2)
    + (W_hat_2_3_at_2 + ΔC_2) @ relu((W_hat_2_2 + ΔB_2 @ A_1) @ x_0 + b_hat_2_2)
)
right = x_2

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
