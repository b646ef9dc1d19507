"""v1 §3.4 (row attention.linear.derivative): W_HVO(x) is the derivative of attention.

Two tokens of one feature, one head, all weights 1, x = (1, 0).  y_2 = (x_1 e^{x_2 x_1} + x_2 e^{x_2²}) / (…) has, at x,
the derivative 3/4 with respect to x_2; the entry of W_HVO(x) = softmax(x xᵀ) is 1/2.
"""

import sympy

x = sympy.symbols("x_1 x_2", real=True)
weights = [sympy.exp(x[1] * other) for other in x]
output = sum(w * other for w, other in zip(weights, x, strict=True)) / sum(weights)
at = {x[0]: 1, x[1]: 0}
derivative, entry = sympy.diff(output, x[1]).subs(at), (weights[1] / sum(weights)).subs(at)
print(f"derivative: {derivative}\nW_HVO:      {entry}")
if derivative == entry:
    raise SystemExit("no counterexample: they agree")
