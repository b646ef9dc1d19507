"""v1 §3.2 and v2 §3.2 (row diamond.commutes.matrices): W ⋄ x = x ⋄ W, read with A ⋄ B = AᵀB on both sides.

The left side is the column Wᵀx, the right side the row xᵀW.  The smallest example has m = 1 and n = 2.
"""

import numpy as np

W, x = np.array([[1, 2]]), np.array([[1]])
left, right = W.T @ x, x.T @ W
print(f"W ⋄ x = {left.tolist()} of shape {left.shape}, x ⋄ W = {right.tolist()} of shape {right.shape}")
if left.shape == right.shape:
    raise SystemExit("no counterexample: the shapes are equal")
