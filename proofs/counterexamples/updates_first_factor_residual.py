r"""Refuted: W_{1,2} = W_{1,2}W_{1,1} in a residual network (updates.first-factor-residual).

Printed in DUAT §3.3 Eq. 11; DUAT App. B.3 Eq. 33:

\mathbf{W}'_{1,2}=\mathbf{W}'_{1,2},\,\mathbf{W}'_{1,1}

Read as: the Transformer's rule for i = 0 applied to a residual network, of which App. B.2 prints no rule for i = 0.

Right is residual.closed-form. The smallest numbers that show it; σ is relu.
"""

import numpy as np

relu = lambda z: np.maximum(z, 0)

x_0 = np.array([[1]])
C_1 = np.array([[1]])
B_1 = np.array([[1]])
A_1 = c_1 = b_1 = np.zeros((1, 1), int)

# network
x_1 = A_1 @ x_0 + c_1 + C_1 @ relu(B_1 @ x_0 + b_1)
left = x_1

# printed
W_1_2_at_1 = B_1 @ A_1
x_1 = A_1 @ x_0 + c_1 + C_1 @ relu(W_1_2_at_1 @ x_0 + b_1)
right = x_1

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
