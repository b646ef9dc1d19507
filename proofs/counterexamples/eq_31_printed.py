r"""Refuted: Eq. 31 with W_{i,3} as printed (eq-31.printed).

Printed in DUAT App. B.3 Eq. 31; v2 App. C.2:

\mathbf{x}'_{i+1}=(\mathbf{W}'_{i+1,1}\mathbf{x}'_i+\mathbf{b}'_{i+1,3})+\mathbf{W}'_{i,3}\sigma(\mathbf{W}'_{i+1,2}\mathbf{x}'_i+\mathbf{b}'_{i+1,2})

Read as: W_{i+1,2} already stands for W_{i+1,2}W_{i+1,1}.

Right is eq-31.corrected. The smallest numbers that show it; σ is relu.
"""

import numpy as np

relu = lambda z: np.maximum(z, 0)

C_i_1 = np.array([[1]])
b_i_1 = np.array([[1]])
A_i_1 = x_i = c_i_1 = B_i_1 = C_i = np.zeros((1, 1), int)

# network
x_i_1 = A_i_1 @ x_i + c_i_1 + C_i_1 @ relu(B_i_1 @ A_i_1 @ x_i + b_i_1)
left = x_i_1

# printed
x_i_1 = A_i_1 @ x_i + c_i_1 + C_i @ relu(B_i_1 @ A_i_1 @ x_i + b_i_1)
right = x_i_1

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
