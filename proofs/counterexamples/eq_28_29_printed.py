r"""Refuted: attention and feed-forward part of layer i+1, with index i (eq-28-29.printed).

Printed in DUAT App. B.3 Eq. 28, 29:

MHA(\mathbf{x}_i)\mapsto\mathbf{W}'_{i,1}\mathbf{x}'_i,\quad
FFN(\mathbf{x}_i)\mapsto\mathbf{W}'_{i,3}\sigma(\mathbf{W}'_{i,2}\mathbf{x}'_i+\mathbf{b}'_{i,2})+\mathbf{b}'_{i,3}

Read as: the operations that Eq. 30 applies to x_i, with the parameters of layer i.

Right is eq-28-29.corrected. The smallest numbers that show it; σ is relu.
"""

import numpy as np

relu = lambda z: np.maximum(z, 0)

c_i = np.array([[1]])
A_i_1 = x_i = c_i_1 = C_i_1 = B_i_1 = b_i_1 = A_i = C_i = np.zeros((1, 1), int)
B_i = b_i = np.zeros((1, 1), int)

# network
x_i_1 = A_i_1 @ x_i + c_i_1 + C_i_1 @ relu(B_i_1 @ A_i_1 @ x_i + b_i_1)
left = x_i_1

# printed
x_i_1 = A_i @ x_i + C_i @ relu(B_i @ A_i @ x_i + b_i) + c_i
right = x_i_1

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
