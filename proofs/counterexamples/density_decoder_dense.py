"""All papers §4.2 (row density.decoder-dense): W_HVO of a decoder is dense.

Two tokens of one feature, a causal mask, every score 0 and every weight 1: W_HVO is the pattern H.
"""

from fractions import Fraction

import numpy as np

N = 2
seen = np.tril(np.ones((N, N)))
matrix = seen / seen.sum(axis=1, keepdims=True)
density = Fraction(int(np.count_nonzero(matrix)), matrix.size)
print(f"W_HVO = {matrix.tolist()}\ndensity: {density} = (N + 1)/(2N)\nprinted: 1")
if density == 1:
    raise SystemExit("no counterexample: it is dense")
