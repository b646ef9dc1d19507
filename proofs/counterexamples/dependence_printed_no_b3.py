"""DUAT §3.3 and App. B.3 (row dependence.printed.no-b3): no b_{j,3} is on the list of dynamic parameters.

b_{2,3} = A_2 b_{1,3} + b_{2,3} moves with attention's matrix A_2 if b_{1,3} differs from token to token.  Two tokens
with one feature, all weights 1, b_{1,3} = (0, 1), other biases 0, σ = relu.
"""

import numpy as np


def attention_matrix(x):
    scores = np.exp(np.outer(x, x))
    return scores / scores.sum(axis=1, keepdims=True)


def second_bias(x, c):
    y = attention_matrix(x) @ x
    return attention_matrix(y + np.maximum(y, 0) + c) @ c


one, other = np.array([0.0, 1.0]), np.array([1.0, 0.0])
left, right = (second_bias(x, np.array([0.0, 1.0])) for x in (one, other))
print(f"b_23 = {left.tolist()} at {one.tolist()}, {right.tolist()} at {other.tolist()}")
same = [second_bias(x, np.array([1.0, 1.0])).tolist() for x in (one, other)]
print(f"with the same bias for both tokens: {same[0]} and {same[1]}")
if np.max(np.abs(left - right)) < 0.01:
    raise SystemExit("no counterexample: the values are equal")
