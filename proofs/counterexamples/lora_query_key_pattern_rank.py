"""DUAT §4.4, Eq. 17 (row lora.query-key.pattern-rank): a ΔW_Q of rank 1 changes the pattern H by one of rank 1.

Three tokens x = (0, 1, 2) of one feature, W_Q = 0, ΔQ = 1, W_K = 1: the scores go from
0 to x_n x_m, and H from 1/3 everywhere to softmax(x_n x_m).  A minor of ΔH with two rows is not zero.  With two tokens
the rank is at most 1, since the rows of ΔH add up to 0.
"""

import sympy

x = (0, 1, 2)
weight = lambda n, m: sympy.exp(x[n] * x[m])
pattern = sympy.Matrix(3, 3, lambda n, m: weight(n, m) / sum(weight(n, k) for k in range(3)))
change = pattern - sympy.ones(3, 3) / 3
minor = sympy.simplify(change.extract([1, 2], [1, 2]).det())
print(f"rank of ΔW_Q = 1;  a minor of ΔH of size 2 is {minor} = {sympy.N(minor, 12)}")
if abs(sympy.N(minor, 30)) < sympy.Rational(1, 10**20):
    raise SystemExit("not refuted: the minor is zero")
