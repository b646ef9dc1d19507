r"""Refuted: Eq. 23 with its five assignments made one after the other (eq-23.sequential).

Printed in DUAT App. B.2 Eq. 23, 25:

\mathbf{W}'_{2,1}=\mathbf{W}'_{2,1}\mathbf{W}'_{1,1},\
\mathbf{b}'_{2,1}=\mathbf{W}'_{2,1}\mathbf{b}'_{1,3}+\mathbf{b}'_{2,3},\
\mathbf{W}'_{1,3}=\mathbf{W}'_{2,1}\mathbf{W}'_{1,3},\ \mathbf{W}'_{2,2}=\mathbf{W}'_{2,2}\mathbf{W}'_{1,1},\
\mathbf{b}'_{2,2}=(\mathbf{W}'_{2,2}\mathbf{b}'_{1,3}+\mathbf{b}'_{2,2})+\mathbf{W}'_{2,2}\mathbf{W}'_{1,3}\sigma(\mathbf{W}'_{1,2}\mathbf{x}'_0+\mathbf{b}'_{1,2})

Read as: each assignment overwrites; b_{2,1} is a slip for b_{2,3}.

Right is eq-23.simultaneous. The smallest numbers that show it; σ is relu.
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
W_2_1_at_1 = A_2 @ A_1
b_2_3_at_1 = W_2_1_at_1 @ c_1 + c_2
W_1_3_at_1 = W_2_1_at_1 @ C_1
W_2_2_at_1 = B_2 @ A_1
b_2_2_at_1 = W_2_2_at_1 @ c_1 + b_2 + W_2_2_at_1 @ W_1_3_at_1 @ relu(B_1 @ x_0 + b_1)
x_2 = W_2_1_at_1 @ x_0 + b_2_3_at_1 + W_1_3_at_1 @ relu(B_1 @ x_0 + b_1) + C_2 @ relu(W_2_2_at_1 @ x_0 + b_2_2_at_1)
right = x_2

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
