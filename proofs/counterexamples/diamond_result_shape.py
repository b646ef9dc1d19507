"""v1 §3.2 and v2 §3.2 (row diamond.result-shape): for W of m × n and x of m × 1, y = W ⋄ x is said to be m × 1.

W ⋄ x is Wᵀx and has n elements.  The smallest example has m = 1 and n = 2.
"""

import numpy as np

W, x = np.array([[1, 1]]), np.array([[1]])
y = W.T @ x
print(f"W ⋄ x has shape {y.shape}, printed {x.shape}; W is {W.shape}")
if y.shape == x.shape:
    raise SystemExit("no counterexample: the shapes are equal")
