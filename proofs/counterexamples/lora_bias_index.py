r"""Refuted: the bias outside the sum is b_{i+1,1} (lora.bias-index).

Printed in DUAT §4.4 Eq. 18; v2 §4.4 Eq. 17:

\mathbf{x}_{i+1}=(\mathbf{W}'_{i+1,1}\mathbf{x}_0+\mathbf{b}_{i+1,1})+\sum_{j=1}^{i+1}(\mathbf{W}'_{j,3}+\Delta\mathbf{W}_{j+1,3})\sigma((\mathbf{W}'_{j,2}+\Delta\mathbf{W}_{j+1,2})\mathbf{x}'_0+\mathbf{b}'_{j,2})

Read as: a product before σ and Δ of layer j; no layer has a bias b_{i+1,1}.

Right is lora.original. The smallest numbers that show it; σ is relu.
"""

import numpy as np

relu = lambda z: np.maximum(z, 0)

c_1 = np.array([[1]])
A_1 = x_0 = C_1 = ΔC_1 = B_1 = ΔB_1 = b_1 = b_1_1 = np.zeros((1, 1), int)

# network
x_1 = A_1 @ x_0 + c_1 + (C_1 + ΔC_1) @ relu((B_1 + ΔB_1) @ x_0 + b_1)
left = x_1

# printed
x_1 = A_1 @ x_0 + b_1_1 + (C_1 + ΔC_1) @ relu((B_1 + ΔB_1) @ x_0 + b_1)
right = x_1

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
