"""DUAT §4.1 (row residual-makes-biases-dynamic): it is the residual mechanism that makes the biases dynamic.

Without any skip, x_2 = C_2 σ(B_2 C_1 σ(B_1 x + b_1) + b_2): the bias in the second σ is B_2 C_1 σ(B_1 x + b_1) + b_2,
which depends on x.  Widths 1, B_1 = C_1 = B_2 = 1, b_1 = b_2 = 0, σ = relu.
"""


def bias(x):
    return max(x, 0)


left, right = bias(0), bias(1)
print(f"b_22 = {left} at x = 0, {right} at x = 1")
if left == right:
    raise SystemExit("no counterexample: the bias is the same")
