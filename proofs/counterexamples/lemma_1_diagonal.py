"""Lemma 1 with v1's diagonal α_j (row lemma-1.diagonal): β α_j would have to be diagonal again.

Two outputs, β of ones, α = diag(1, 1).
"""

import numpy as np

beta, alpha = np.ones((2, 2)), np.eye(2)
entry = (beta @ alpha)[0, 1]
print(f"entry (1, 2) of β α is {entry:g}, of a diagonal matrix 0")
if entry == 0:
    raise SystemExit("no counterexample: β α is diagonal")
