r"""Refuted: the σ-terms of a multi-layer network have fixed biases (lemma-2.fixed-bias).

Printed in v2 App. C.1; DUAT App. B.2:

\text{The multi-layer network of this form still corresponds to the mathematical form of UAT}

Read as: UAT: the network's own σ-terms, written on x_0, have parameters that do not depend on the input, so that
the argument of the second σ is w x_0 + β (whether some other fixed sum equals the network depends on σ).

Right is lemma-2.dynamic-bias. The smallest numbers that show it; σ is relu.
"""

import numpy as np

relu = lambda z: np.maximum(z, 0)

B_2 = np.array([[1]])
e = np.array([[1]])
C_1 = np.array([[1]])
B_1 = np.array([[1]])
A_1 = x_0 = c_1 = b_1 = b_2 = β = np.zeros((1, 1), int)

# network
d = (
    B_2 @ (A_1 @ (x_0 + e) + c_1 + C_1 @ relu(B_1 @ (x_0 + e) + b_1))
    + b_2
    + -2 * (B_2 @ (A_1 @ x_0 + c_1 + C_1 @ relu(B_1 @ x_0 + b_1)) + b_2)
    + B_2 @ (A_1 @ (x_0 + -1 * e) + c_1 + C_1 @ relu(B_1 @ (x_0 + -1 * e) + b_1))
    + b_2
)
left = d

# printed
d = B_2 @ A_1 @ (x_0 + e) + β + -2 * (B_2 @ A_1 @ x_0 + β) + B_2 @ A_1 @ (x_0 + -1 * e) + β
right = d

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
