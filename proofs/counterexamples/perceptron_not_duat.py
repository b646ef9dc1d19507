"""DUAT App. B.2 (row perceptron.not-duat): it takes a residual structure to be a DUAT.

Two layers without any skip, widths 1, weights 1, biases 0, σ = relu: x_2 = relu(0 x + b_22) with b_22 = relu(x).  That
is the form of Eq. 11, and its bias depends on the input.
"""


def relu(t):
    return max(t, 0)


def network(x):
    return relu(relu(x))


def closed_form(x, bias):
    return 0 * x + 0 * relu(x) + relu(0 * x + bias)


values = {x: (network(x), closed_form(x, bias=relu(x))) for x in (0, 1)}
print(f"x: (network, Eq. 11 with b_22 = relu(x)) = {values}; b_22 = {relu(0)} at 0, {relu(1)} at 1")
if any(left != right for left, right in values.values()) or relu(0) == relu(1):
    raise SystemExit("no counterexample: the forms differ, or the bias is the same")
