"""v2 §3.5 and App. C.2 (row dependence.v2.first-layers): all W_{j,3}, j = 1, …, i, of i layers are dynamic.

The last one is not: W_{i,3} is the weight of the last feed-forward part itself.  One layer (i = 1), written as a sum,
gives W_{1,3} = C_1 whatever the input is.
"""

import sympy

x, A, B, C, b, c = sympy.symbols("x A B C b c")
sigma = sympy.Function("sigma")
attention = sympy.Function("A")(x)  # it may depend on x in any way
layer = attention * x + c + C * sigma(B * attention * x + b)
last = layer.coeff(sigma(B * attention * x + b))
print(f"x_1 = {layer}; the factor of the last sigma is {last}, its derivative in x is {sympy.diff(last, x)}")
if last.has(x):
    raise SystemExit("no counterexample: the factor depends on the input")
