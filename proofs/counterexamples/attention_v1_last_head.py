"""v1 §3.4 (row attention.v1-last-head): H_h V_h = Ĥ, where Ĥ is Concat(Ĥ_1, …, Ĥ_h).

One token, two heads of one feature: one head has one column, Ĥ has two.
"""

import numpy as np

N, d, h = 1, 1, 2
left = np.ones((N, N)) @ np.ones((N, d))
right = np.concatenate([np.ones((N, d))] * h, axis=1)
print(f"left {left.shape}, right {right.shape}")
if left.shape == right.shape:
    raise SystemExit("no counterexample: the shapes agree")
