"""§4.1 of all versions (row uat.similar-inputs): with fixed parameters nearly identical inputs give similar outputs.

One logistic term, G(t) = logistic(2000(t − 1/2)), at inputs 0.002 apart.
"""

import sympy


def G(t):
    """The term."""
    return 1 / (1 + sympy.exp(-2000 * (t - sympy.Rational(1, 2))))


values = [G(sympy.Rational(n, 1000)) for n in (499, 501)]
apart = sympy.N(values[1] - values[0], 15)
print(f"G(0.499) = {sympy.N(values[0], 6)}, G(0.501) = {sympy.N(values[1], 6)}, apart by {apart} = tanh 1")
if apart < sympy.Rational(3, 4):
    raise SystemExit("no counterexample: the outputs are similar")
