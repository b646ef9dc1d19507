"""DUAT §3.3 (row nested-bias.j-terms): b_{j,2} is a UAT sum of j layers.

It has j − 1 terms.  Layers x_j = x_{j−1} + σ(x_{j−1} + b_j): what stands inside the j-th σ besides x_0 is b_{j,2}.  For
j = 1 that is the layer's own bias, without any term; the smallest example.
"""

import sympy

x_0 = x = sympy.Symbol("x_0")
numbers = []
for j in (1, 2, 3):
    argument = x + sympy.Symbol(f"b_{j}")
    bias = argument - x_0
    numbers.append(len(bias.atoms(sympy.core.function.AppliedUndef)))
    print(f"b_{j}2 = {bias}: {numbers[-1]} terms, printed {j}")
    x = x + sympy.Function(f"s_{j}")(x_0)  # s_j = sigma(argument), a function of x_0
if numbers == [1, 2, 3]:
    raise SystemExit("no counterexample: j terms")
