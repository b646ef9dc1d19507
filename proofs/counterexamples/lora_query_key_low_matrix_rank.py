"""DUAT §4.4, Eq. 17 (row lora.query-key.low-matrix-rank): a ΔW_Q of rank r changes W_HVO by one of rank N r.

That is so for a feed-forward weight.  Two tokens (1, 0, 0) and (0, 0, 0), W_Q = 0, ΔQ a single 1, the other weights the
identity: ΔA = ΔH ⊗ I_3 with ΔH of rank 1, so that rank ΔA = 3 > N r = 2.  With M ≤ 2 features the rank is at most
(N−1) M ≤ 2.
"""

import sympy

tokens, features, rank = 2, 3, 1
weight = sympy.exp(1 / sympy.sqrt(features))  # the only score that is not 0 is 1/√M
pattern = sympy.Matrix([[weight / (weight + 1), 1 / (weight + 1)], [sympy.Rational(1, 2)] * 2])
change = sympy.Matrix(sympy.kronecker_product(pattern - sympy.ones(2, 2) / 2, sympy.eye(features)))
minor = sympy.simplify(change.extract(list(range(features)), list(range(features))).det())
print(f"claimed: rank ΔA ≤ {tokens * rank};  a minor of size {features} is {sympy.N(minor, 12)}")
if abs(sympy.N(minor, 30)) < sympy.Rational(1, 10**20):
    raise SystemExit("not refuted: the minor is zero")
