"""All versions, Eq. 5 and 6 (row linear.axis): a Linear layer of a Transformer is written W x, W of N × N.

A Transformer's Linear layer is x V.  With one token W is a number w, and no number makes w (1, 0) equal to (0, 1); with
two tokens x V commutes with their exchange P, and W x does not.
"""

import numpy as np
import sympy

w = sympy.Symbol("w")
x, V = (1, 0), ((0, 1), (0, 0))
right = [x[0] * V[0][k] + x[1] * V[1][k] for k in range(2)]
left = [w * x[0], w * x[1]]
print(f"x V = {right}, W x = {left}")
if sympy.solve([a - b for a, b in zip(left, right, strict=True)], w):
    raise SystemExit("no counterexample: some W does it")

P, W, tokens = np.array([[0, 1], [1, 0]]), np.array([[1, 0], [0, 0]]), np.array([[1], [0]])
after, before = P @ (W @ tokens), W @ (P @ tokens)
print(f"P (W x) = {after.ravel().tolist()}, W (P x) = {before.ravel().tolist()}")
if np.array_equal(after, before):
    raise SystemExit("no counterexample: the exchange of tokens makes no difference")
