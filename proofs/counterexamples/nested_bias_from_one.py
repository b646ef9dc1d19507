r"""Refuted: the nested bias for j = 1, b_{0,3} undefined (nested-bias.from-one).

Printed in DUAT §3.3 Eq. 12; DUAT App. B.3 Eq. 34:

\mathbf{b}'_{j,2}=(\mathbf{W}'_{j,2}\mathbf{b}'_{j-1,3}+\mathbf{b}'_{j,2})+\mathbf{W}'_{j,2}\sum_{k=1}^{j-1}\mathbf{W}'_{k,3}\sigma(\mathbf{W}'_{k,2}\mathbf{x}'_0+\mathbf{b}'_{k,2})\quad
j=1,2,\ldots,i+1

Read as: Eq. 34's range, at j = 1: b_{0,3} may be any column (its heading prints b_{i,2} for b_{j,2}).

Right is nested-bias.from-one-zero. The smallest numbers that show it; σ is relu.
"""

import numpy as np

B_1 = np.array([[1]])
b_0_3 = np.array([[1]])
b_1 = C_k = s_k = np.zeros((1, 1), int)

# network
left_side = b_1
left = left_side

# printed
right_side = B_1 @ b_0_3 + b_1 + B_1 @ (np.zeros((1, 1), int))
right = right_side

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
