r"""Refuted: W'_HVO = W'_O W'_HV with DUAT's transposed matrices (heads.order.transposed).

Printed in DUAT §3.2 Eq. 9:

\mathbf{W}'_{HVO}=\mathbf{W}'_O\mathbf{W}'_{HV}

Read as: primed matrices as in (W'_HV)ᵀ x' = Ĥ', (W'_O)ᵀ Ĥ' = H̊', (W'_HVO)ᵀ x' = H̊' of the same page.

Right is heads.order.corrected. The smallest numbers that show it; σ is relu.
"""

import numpy as np

H_1 = np.array([[1]])
x = np.array([[1, 0]])
W_V_1 = np.array([[0, 1], [0, 0]])
W_O = np.array([[0, 0], [0, 1]])

# network
left_side = (H_1 @ x @ np.eye(2, 2, 0, dtype=int) @ W_V_1 @ np.eye(2, 2, 0, dtype=int).T @ W_O).reshape(-1, 1)
left = left_side

# printed
right_side = (
    np.kron(np.eye(1, dtype=int), W_O.T).T
    @ np.kron(H_1, (np.eye(2, 2, 0, dtype=int) @ W_V_1 @ np.eye(2, 2, 0, dtype=int).T).T).T
).T @ x.reshape(-1, 1)
right = right_side

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
