"""v2 §3.5 and App. C.2 (row dependence.v2.complete): the dynamic parameters of i+1 layers have j = 1, …, i.

W_{i+1,1} is missing.  For one layer (i = 0) the list is empty, but W_{1,1} = A_1 is a softmax.  Two tokens with
one feature, all weights 1.
"""

import numpy as np


def attention_matrix(x):
    scores = np.exp(np.outer(x, x))
    return scores / scores.sum(axis=1, keepdims=True)


left, right = attention_matrix(np.array([0.0, 1.0])), attention_matrix(np.array([1.0, 0.0]))
print(f"W_11 = {left.tolist()} at (0, 1), {right.tolist()} at (1, 0)")
if np.max(np.abs(left - right)) < 0.1:
    raise SystemExit("no counterexample: the values are equal")
