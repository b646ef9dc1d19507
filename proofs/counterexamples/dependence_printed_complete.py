"""DUAT §3.3 and App. B.3 (row dependence.printed.complete): W_{j,3} is dynamic for i+1 > j > 1, and for no other j.

In two layers (i = 1), W_{1,3} = A_2 C_1 contains attention's matrix A_2 at x_1.  Two tokens with one feature, one head,
every weight 1, every bias 0, σ = relu; the smallest number of tokens, for one token has A_2 = 1.
"""

import numpy as np


def attention_matrix(x):
    scores = np.exp(np.outer(x, x))
    return scores / scores.sum(axis=1, keepdims=True)


def first_output_matrix(x):
    y = attention_matrix(x) @ x
    return attention_matrix(y + np.maximum(y, 0))


one, other = np.array([0.0, 1.0]), np.array([1.0, 0.0])
left, right = first_output_matrix(one), first_output_matrix(other)
print(f"W_13 = {left.tolist()} at {one.tolist()}, {right.tolist()} at {other.tolist()}")
if np.max(np.abs(left - right)) < 0.1:
    raise SystemExit("no counterexample: the values are equal")
