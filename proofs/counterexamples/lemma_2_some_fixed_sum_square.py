"""v2 Lemma 2 (row lemma-2.some-fixed-sum.square): a multi-layer network has the form of UAT, whatever σ is.

With σ(t) = t² a sum a x + k + Σ α_j (w_j x + b_j)², of any length, is a polynomial of degree 2: its third differences
are 0.  Two layers x_j = x_{j−1} + σ(x_{j−1}) of width 1 give a polynomial of degree 4.
"""

import sympy

x, alpha, w, b = sympy.symbols("x alpha w b")


def third_difference(f):
    return sympy.expand(f(x + 3) - 3 * f(x + 2) + 3 * f(x + 1) - f(x))


def layer(t):
    return t + t**2


term = third_difference(lambda t: alpha * (w * t + b) ** 2)
network = third_difference(lambda t: layer(layer(t)))
print(f"third difference of a term: {term}, of the network: {network}, at x = 0: {network.subs(x, 0)}")
if network.subs(x, 0) == term:
    raise SystemExit("no counterexample: the third differences are equal")
