"""DUAT App. B.2 (row remainder.definition): UAT_i^R = Σ_j W_{j,2} σ(W_{j,1} x_0 + b_{j,1}).

W_{j,1} is D × D and W_{j,2} is F × D, so that the sum has length F; it is added to a column of length D.  The smallest
sizes at which that does not fit are D = 1, F = 2.  (W_{j,3} σ(W_{j,2} x_0 + b_{j,2}) has length D.)
"""

import numpy as np

D, F = 1, 2
W1, W2, b1, x = np.ones((D, D)), np.ones((F, D)), np.ones((D, 1)), np.ones((D, 1))
term, affine = W2 @ np.maximum(W1 @ x + b1, 0), W1 @ x + b1
print(f"the sum has shape {term.shape}, what it is added to {affine.shape}")
if term.shape == affine.shape:
    raise SystemExit("no counterexample: the shapes are equal")
