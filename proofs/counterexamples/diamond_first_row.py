r"""Refuted: the first row of W ⋄ x as v1 prints it (diamond.first-row).

Printed in v1 §3.2 Eq. 4:

w_{1}x_1+w_{31}*x_2+\cdots w_{m,1}x_m

Read as: w_1 is w_{1,1} and w_31 is w_{3,1}.

Right is diamond.transpose. The smallest numbers that show it; σ is relu.
"""

import numpy as np

w_2_1 = np.array([[1]])
x_2 = np.array([[1]])
w_1_1 = x_1 = w_3_1 = x_3 = np.zeros((1, 1), int)

# network
left_side = w_1_1 @ x_1 + w_2_1 @ x_2 + w_3_1 @ x_3
left = left_side

# printed
right_side = w_1_1 @ x_1 + w_3_1 @ x_2 + w_3_1 @ x_3
right = right_side

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
