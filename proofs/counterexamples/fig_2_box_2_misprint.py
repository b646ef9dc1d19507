"""DUAT, second figure of the appendix (row fig-2.box-2.misprint): W_{1,3} = W_{2,1} b_{1,3} + b_{2,3}.

The right side is a column of length D, W_{1,3} a D × F matrix.  The smallest sizes that show it are D = 1, F = 2.
(W_{2,1} W_{1,3} is meant.)
"""

import numpy as np

D, F = 1, 2
W21, W13, b13, b23 = np.ones((D, D)), np.ones((D, F)), np.ones((D, 1)), np.ones((D, 1))
left, right = W13, W21 @ b13 + b23
print(f"W_13 has shape {left.shape}, W_21 b_13 + b_23 has {right.shape}")
if left.shape == right.shape:
    raise SystemExit("no counterexample: the shapes are equal")
