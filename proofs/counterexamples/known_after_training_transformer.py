"""v2 App. C (row known-after-training.transformer): once training is complete the combined parameters are known.

In a Transformer W_{2,1} = A_2 A_1 is a product of attention matrices, which depend on the input.  Two tokens with one
feature, all weights 1, all biases 0, σ = relu.
"""

import numpy as np


def attention_matrix(x):
    scores = np.exp(np.outer(x, x))
    return scores / scores.sum(axis=1, keepdims=True)


def combined(x):
    first = attention_matrix(x)
    y = first @ x
    return attention_matrix(y + np.maximum(y, 0)) @ first


left, right = combined(np.array([0.0, 1.0])), combined(np.array([1.0, 0.0]))
print(f"W_21 = {left.tolist()} at (0, 1), {right.tolist()} at (1, 0)")
if np.max(np.abs(left - right)) < 0.1:
    raise SystemExit("no counterexample: the values are equal")
