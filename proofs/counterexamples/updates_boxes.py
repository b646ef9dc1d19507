r"""Refuted: update list, (c) boxes of Fig. 2 (updates.boxes).

Printed in DUAT §3.3 Eq. 11, 12; DUAT App. B.3 Eq. 33, 34; DUAT App. Fig. 2:

\mathbf{W}'_{j+1,1}=\mathbf{W}'_{j+1,1}\mathbf{W}_{j,1},\
\mathbf{b}'_{j+1,3}=\mathbf{W}'_{j+1,1}\mathbf{b}_{j,3}+\mathbf{b}'_{j+1,3},\
\mathbf{W}'_{j+1,2}=\mathbf{W}'_{j+1,2}\mathbf{W}_{j,1},\
\mathbf{W}'_{j,3}=\mathbf{W}'_{j+1,1}\mathbf{W}'_{j,3}\quad(j=1,\ldots,i),\quad
\mathbf{b}'_{j,2}=(\mathbf{W}'_{j,2}\mathbf{b}'_{j-1,3}+\mathbf{b}'_{j,2})+\mathbf{W}'_{j,2}\sum_{k=1}^{j-1}\mathbf{W}'_{k,3}\sigma(\mathbf{W}'_{k,2}\mathbf{x}'_0+\mathbf{b}'_{k,2})\quad(j=2,\ldots,i+1)

Read as: (c) Fig. 2: one box per layer from top to bottom; in a box the right-hand sides are the values on entering.

Right is updates.corrected-boxes. The smallest numbers that show it; σ is relu.
"""

import numpy as np

relu = lambda z: np.maximum(z, 0)

C_1 = np.array([[1]])
b_1 = np.array([[1]])
A_2 = np.array([[1]])
A_1 = x_0 = c_1 = B_1 = c_2 = C_2 = B_2 = b_2 = np.zeros((1, 1), int)
A_3 = c_3 = C_3 = B_3 = b_3 = np.zeros((1, 1), int)

# network
x_1 = A_1 @ x_0 + c_1 + C_1 @ relu(B_1 @ x_0 + b_1)
x_2 = A_2 @ x_1 + c_2 + C_2 @ relu(B_2 @ x_1 + b_2)
x_3 = A_3 @ x_2 + c_3 + C_3 @ relu(B_3 @ x_2 + b_3)
left = x_3

# printed
W_2_1_at_1 = A_2 @ A_1
b_2_3_at_1 = A_2 @ c_1 + c_2
W_2_2_at_1 = B_2 @ A_1
W_1_3_at_1 = A_2 @ C_1
b_2_2_at_1 = B_2 @ c_1 + b_2 + B_2 @ C_1 @ relu(B_1 @ x_0 + b_1)
W_3_1_at_1 = A_3 @ W_2_1_at_1
b_3_3_at_1 = A_3 @ b_2_3_at_1 + c_3
W_3_2_at_1 = B_3 @ W_2_1_at_1
W_2_3_at_1 = A_3 @ C_2
b_3_2_at_1 = (
    B_3 @ b_2_3_at_1 + b_3 + B_3 @ (W_1_3_at_1 @ relu(B_1 @ x_0 + b_1) + C_2 @ relu(W_2_2_at_1 @ x_0 + b_2_2_at_1))
)
x_3 = (
    W_3_1_at_1 @ x_0
    + b_3_3_at_1
    + W_1_3_at_1 @ relu(B_1 @ x_0 + b_1)
    + W_2_3_at_1 @ relu(W_2_2_at_1 @ x_0 + b_2_2_at_1)
    + C_3 @ relu(W_3_2_at_1 @ x_0 + b_3_2_at_1)
)
right = x_3

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
