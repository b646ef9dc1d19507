r"""Refuted: W_{j+1,2} = W_{j+1,2}W_{j,1} on a Transformer's own weights (updates.raw-weights).

Printed in DUAT §3.3 Eq. 11; DUAT App. B.3 Eq. 33:

\mathbf{W}'_{j+1,2}=\mathbf{W}'_{j+1,2}\mathbf{W}_{j,1}

Read as: Eq. 30 is not applied first, but for the factor of W_{1,2} that is printed for i = 0; the other rules are
the corrected ones.

Right is updates.corrected-boxes. The smallest numbers that show it; σ is relu.
"""

import numpy as np

relu = lambda z: np.maximum(z, 0)

c_1 = np.array([[1]])
C_2 = np.array([[1]])
B_2 = np.array([[1]])
A_1 = x_0 = C_1 = B_1 = b_1 = A_2 = c_2 = b_2 = np.zeros((1, 1), int)

# network
x_1 = A_1 @ x_0 + c_1 + C_1 @ relu(B_1 @ A_1 @ x_0 + b_1)
x_2 = A_2 @ x_1 + c_2 + C_2 @ relu(B_2 @ A_2 @ x_1 + b_2)
left = x_2

# printed
W_1_2_at_1 = B_1 @ A_1
W_2_1_at_1 = A_2 @ A_1
b_2_3_at_1 = A_2 @ c_1 + c_2
W_2_2_at_1 = B_2 @ A_1
W_1_3_at_1 = A_2 @ C_1
b_2_2_at_1 = B_2 @ c_1 + b_2 + B_2 @ C_1 @ relu(W_1_2_at_1 @ x_0 + b_1)
x_2 = (
    W_2_1_at_1 @ x_0
    + b_2_3_at_1
    + W_1_3_at_1 @ relu(W_1_2_at_1 @ x_0 + b_1)
    + C_2 @ relu(W_2_2_at_1 @ x_0 + b_2_2_at_1)
)
right = x_2

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
