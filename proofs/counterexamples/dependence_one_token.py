"""DUAT §3.3 and App. B.3 (row dependence.one-token): W_{1,1} is dynamic in every Transformer.

Not with one token (N = 1): each H_i is the softmax of a single number, which is 1.
"""

import numpy as np


def attention_matrix(x):
    scores = np.exp(np.outer(x, x))
    return scores / scores.sum(axis=1, keepdims=True)


values = [attention_matrix(np.array([x])).tolist() for x in (0.0, 1.0, 2.0)]
print(f"W_11 at x = 0, 1, 2: {values}")
if any(value != [[1.0]] for value in values):
    raise SystemExit("no counterexample: W_11 moves")
