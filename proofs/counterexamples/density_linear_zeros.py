"""v1 App. B.1 (row density.linear-zeros): the sparsity of W ⊗ I_M, read as the share of zeros, is 1/M.

One token and one feature: W ⊗ I_1 is the number W, which is not zero.
"""

from fractions import Fraction

import numpy as np

N, M = 1, 1
matrix = np.kron(np.ones((N, N)), np.eye(M))
zeros = Fraction(int(np.sum(matrix == 0)), matrix.size)
print(f"share of zeros: {zeros}\nprinted:        {Fraction(1, M)}")
if zeros == Fraction(1, M):
    raise SystemExit("no counterexample: they agree")
