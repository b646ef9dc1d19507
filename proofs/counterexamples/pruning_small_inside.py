"""v1, v2, DUAT §4.3 (row pruning.small-inside): a term whose W_j and θ_j are small can be removed.

One term with W_j = 0, θ_j = 0 and the logistic σ.
"""

import math

alpha, W, theta, x = 1, 0, 0, 0

kept, removed = alpha / (1 + math.exp(-(W * x + theta))), 0
print(f"with the term {kept}, without {removed}")
if kept == removed:
    raise SystemExit("no counterexample: the term is zero")
