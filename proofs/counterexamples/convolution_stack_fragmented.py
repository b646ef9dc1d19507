"""DUAT §4.1, v2 §4.1 (row convolution.stack-fragmented): a stack of convolutions sees 2r + 1 tokens.

Two layers of kernels (1, 1, 1), so r = 1, on a single 1 among zeros: it reaches five places.
"""

import numpy as np

impulse = np.zeros(7)
impulse[3] = 1
twice = np.convolve(np.convolve(impulse, np.ones(3), "same"), np.ones(3), "same")
seen = int(np.count_nonzero(twice))
print(f"after two layers: {twice.astype(int).tolist()}\nseen: {seen} = 2rL + 1\nprinted: {2 * 1 + 1}")
if seen == 3:
    raise SystemExit("no counterexample: it sees three tokens")
