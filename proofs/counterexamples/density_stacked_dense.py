"""DUAT App. A, v2 App. B, v1 App. B.2 (row density.stacked-dense): dense, as is printed of the matrix of one head, read
for all heads before W_O.

One token, two heads of one feature, every number 1: W_HV is the identity of size 2.
"""

from fractions import Fraction

import numpy as np

matrix = np.sum([np.kron(np.ones((1, 1)), np.outer(e, e)) for e in np.eye(2)], axis=0)
density = Fraction(int(np.count_nonzero(matrix)), matrix.size)
print(f"W_HV = {matrix.tolist()}\ndensity: {density}\nprinted: 1")
if density == 1:
    raise SystemExit("no counterexample: it is dense")
