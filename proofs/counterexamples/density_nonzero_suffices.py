"""DUAT and v2 §3.2/3.4 (row density.nonzero-suffices): W_HVO is dense as long as the weights are non-zero.

One token, so that H = 1.  One head of two features: W_V W_O has a column of zeros.  Two heads of three features, where
all weights are 1 but one entry of W_O, which is -2: a block of three zeros in 36 entries.
"""

from fractions import Fraction

import numpy as np


def density(W_HVO: np.ndarray) -> Fraction:
    """The share of entries that are not zero."""
    return Fraction(int(np.count_nonzero(W_HVO)), W_HVO.size)


small = (np.array([[1, 1], [1, 1]]) @ np.array([[1, 1], [-1, 1]])).T
W_V, W_O = np.kron(np.eye(2, dtype=int), np.ones((3, 3), int)), np.ones((6, 6), int)
W_O[2, 0] = -2
large = (W_V @ W_O).T
print(f"W_HVO = {small.tolist()}, density {density(small)}; six features: density {density(large)}\nprinted: 1")
if 1 in (density(small), density(large)):
    raise SystemExit("no counterexample: it is dense")
