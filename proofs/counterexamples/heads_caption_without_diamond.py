r"""Refuted: captions write W'_WH x' where the text has W'_WH ⋄ x' (heads.caption.without-diamond).

Printed in v1 Fig. 4; v1 App. B.2; v2 App. B; DUAT App. B:

\mathbf{W}'_{WH}\mathbf{x}'=\hat{\mathbf{H}}'

Read as: W'_WH (v2, DUAT: W'_HV) is the matrix of the text, for which W'_WH ⋄ x' = Ĥ', in DUAT (W'_HV)ᵀ x' = Ĥ'; in
both appendices it is the caption of Fig. 1.

Right is heads.stacked. The smallest numbers that show it; σ is relu.
"""

import numpy as np

H_1 = np.array([[1]])
x = np.array([[1, 0]])
W_V_1 = np.array([[0, 1], [0, 0]])

# network
left_side = (H_1 @ x @ np.eye(2, 2, 0, dtype=int) @ W_V_1 @ np.eye(2, 2, 0, dtype=int).T).reshape(-1, 1)
left = left_side

# printed
right_side = np.kron(H_1, (np.eye(2, 2, 0, dtype=int) @ W_V_1 @ np.eye(2, 2, 0, dtype=int).T).T).T @ x.reshape(-1, 1)
right = right_side

print("network", left.ravel().tolist(), "printed", right.ravel().tolist())
if np.array_equal(left, right):
    raise SystemExit("both values are equal: nothing is refuted")
