r"""Refuted: the delta of term j is that of layer j+1 (lora.delta-index).

Printed in DUAT §4.4 Eq. 18; v2 §4.4 Eq. 17:

\mathbf{x}_{i+1}=(\mathbf{W}'_{i+1,1}\mathbf{x}_0+\mathbf{b}_{i+1,1})+\sum_{j=1}^{i+1}(\mathbf{W}'_{j,3}+\Delta\mathbf{W}_{j+1,3})\sigma((\mathbf{W}'_{j,2}+\Delta\mathbf{W}_{j+1,2})\mathbf{x}'_0+\mathbf{b}'_{j,2})

Read as: a product before σ, b_{i+1,3}, and every parameter computed from the tuned weights; there is no layer i+2
whose deltas the last term could take.

Right is lora.original. The smallest numbers that show it; σ is relu.
"""

import numpy as np

relu = lambda z: np.maximum(z, 0)

ΔC_1 = np.array([[1]])
b_1 = np.array([[1]])
A_1 = x_0 = c_1 = C_1 = B_1 = ΔB_1 = ΔB_2 = ΔC_2 = np.zeros((1, 1), int)

# network
x_1 = A_1 @ x_0 + c_1 + (C_1 + ΔC_1) @ relu((B_1 + ΔB_1) @ x_0 + b_1)
left = x_1

# printed
W_hat_1_2 = B_1 + ΔB_2
b_hat_1_2 = b_1
s_1 = relu(W_hat_1_2 @ x_0 + b_hat_1_2)
W_hat_1_1 = A_1
b_hat_1_3 = c_1
W_hat_1_3_at_1 = C_1 + ΔC_2
x_1 = W_hat_1_1 @ x_0 + b_hat_1_3 + W_hat_1_3_at_1 @ s_1
right = x_1

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
