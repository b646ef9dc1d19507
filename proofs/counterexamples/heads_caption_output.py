r"""Refuted: the text on Fig. 6 with Ĥ' for the output: (W'_O)ᵀ Ĥ' = Ĥ' (heads.caption.output).

Printed in DUAT §3.2:

(\mathbf{W}'_O)^T\hat{\mathbf{H}}'=\hat{\mathbf{H}}'

Read as: as the source has it, where Fig. 6.a is also called Ĥ; a ring may have been read as a hat.

Right is heads.caption.corrected. The smallest numbers that show it; σ is relu.
"""

import numpy as np

H_1 = np.array([[1]])
x = np.array([[1]])
W_V_1 = np.array([[1]])
W_O = np.zeros((1, 1), int)

# network
left_side = np.kron(np.eye(1, dtype=int), W_O.T) @ (
    H_1 @ x @ np.eye(1, 1, 0, dtype=int) @ W_V_1 @ np.eye(1, 1, 0, dtype=int).T
).reshape(-1, 1)
left = left_side

# printed
right_side = (H_1 @ x @ np.eye(1, 1, 0, dtype=int) @ W_V_1 @ np.eye(1, 1, 0, dtype=int).T).reshape(-1, 1)
right = right_side

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
