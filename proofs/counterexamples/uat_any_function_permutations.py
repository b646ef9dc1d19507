"""v1, v2 §4.1 (row uat.any-function.permutations): Transformers approximate any Borel function.

f(x) = (2x_1, x_2) at the two equal tokens x = (1, 1).  Without positional encodings equal tokens have equal outputs
(c, c), and c misses 2 or 1 by at least 1/2.  Shown on a block with one head and numbers drawn with seed 7.
"""

import numpy as np

random = np.random.default_rng(7)
query, key, value, up, down = random.normal(size=5)
x, f = np.array([1.0, 1.0]), np.array([2.0, 1.0])

scores = np.outer(x * query, x * key)
pattern = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
y = pattern @ x * value
output = y + down * np.maximum(up * y, 0)
print(f"T(1, 1) = {output}, f(1, 1) = {f}, error {np.abs(output - f).max():.6f} >= 1/2")
if output[0] != output[1] or np.abs(output - f).max() < 0.5:
    raise SystemExit("no counterexample: equal tokens have different outputs")
