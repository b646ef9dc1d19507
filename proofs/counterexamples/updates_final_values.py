r"""Refuted: update list, (e) all right-hand sides final (updates.final-values).

Printed in DUAT §3.3 Eq. 11, 12; DUAT App. B.3 Eq. 33, 34:

\mathbf{W}'_{j+1,1}=\mathbf{W}'_{j+1,1}\mathbf{W}_{j,1},\
\mathbf{b}'_{j+1,3}=\mathbf{W}'_{j+1,1}\mathbf{b}_{j,3}+\mathbf{b}'_{j+1,3},\
\mathbf{W}'_{j+1,2}=\mathbf{W}'_{j+1,2}\mathbf{W}_{j,1},\
\mathbf{W}'_{j,3}=\mathbf{W}'_{j+1,1}\mathbf{W}'_{j,3}\quad(j=1,\ldots,i),\quad
\mathbf{b}'_{j,2}=(\mathbf{W}'_{j,2}\mathbf{b}'_{j-1,3}+\mathbf{b}'_{j,2})+\mathbf{W}'_{j,2}\sum_{k=1}^{j-1}\mathbf{W}'_{k,3}\sigma(\mathbf{W}'_{k,2}\mathbf{x}'_0+\mathbf{b}'_{k,2})\quad(j=2,\ldots,i+1)

Read as: (e) Every symbol on the right is the final value, except the assigned one, which is the original. The order
is wrong by itself: with W_{j,3} as printed, and with W_{k,3} for every k ≤ j in its place.

Right is updates.corrected-boxes. The smallest numbers that show it; σ is relu.
"""

import numpy as np

relu = lambda z: np.maximum(z, 0)

c_1 = np.array([[1]])
A_2 = np.array([[1]])
A_1 = x_0 = C_1 = B_1 = b_1 = c_2 = C_2 = B_2 = np.zeros((1, 1), int)
b_2 = np.zeros((1, 1), int)

# network
x_1 = A_1 @ x_0 + c_1 + C_1 @ relu(B_1 @ x_0 + b_1)
x_2 = A_2 @ x_1 + c_2 + C_2 @ relu(B_2 @ x_1 + b_2)
left = x_2

# printed
W_2_1_at_final = A_2 @ A_1
b_2_3_at_final = W_2_1_at_final @ c_1 + c_2
W_1_3_at_final = W_2_1_at_final @ C_1
W_2_2_at_final = B_2 @ A_1
b_2_2_at_final = W_2_2_at_final @ c_1 + b_2 + W_2_2_at_final @ W_1_3_at_final @ relu(B_1 @ x_0 + b_1)
x_2 = (
    W_2_1_at_final @ x_0
    + b_2_3_at_final
    + W_1_3_at_final @ relu(B_1 @ x_0 + b_1)
    + C_2 @ relu(W_2_2_at_final @ x_0 + b_2_2_at_final)
)
right = x_2

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
