"""v1 App. A (row diamond.w12): W_1 ⋄ [x ⋄ W_2] = W_2ᵀ ⋄ W_1 ⋄ x = W_12 with W_12 = W_1ᵀW_2ᵀ.  It must be W_12 x.

A column is equated with a matrix.  Where both are numbers, n = 1, W_1 = W_2 = 1 and x = 0 show it.
"""

import numpy as np

W1, W2 = np.array([[1]]), np.array([[1]])
x = np.array([[0]])
left, printed = W1.T @ (W2.T @ x), W1.T @ W2.T
print(f"n = 1: W_1 ⋄ [x ⋄ W_2] = {left.item()}, W_12 = {printed.item()}")
if left.item() == printed.item():
    raise SystemExit("no counterexample: both are equal")

W, column = np.eye(2, dtype=int), np.ones((2, 1), dtype=int)
shapes = (W.T @ (W.T @ column)).shape, (W.T @ W.T).shape
print(f"n = 2: shapes {shapes[0]} and {shapes[1]}")
if shapes[0] == shapes[1]:
    raise SystemExit("no counterexample: the shapes are equal")
