"""DUAT App. B.3 (row serial.needs-w21): to compute W_{3,1} one must calculate W_{2,1} = A_2 A_1.

W_{3,1} = (A_3 A_2) A_1 does not need it: matrix products are associative.
"""

import sympy

A1, A2, A3 = (sympy.Matrix(2, 2, lambda i, j, n=n: sympy.Symbol(f"a{n}_{i}{j}")) for n in (1, 2, 3))
through_W21 = A3 * (A2 * A1)
without_it = (A3 * A2) * A1
difference = (through_W21 - without_it).expand()
print(f"A_3 (A_2 A_1) - (A_3 A_2) A_1 = {difference.tolist()}, for all 2 x 2 matrices")
if not difference.is_zero_matrix:
    raise SystemExit("no counterexample: the products differ")
