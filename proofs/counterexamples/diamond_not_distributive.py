"""v1 §3.2 (row diamond.not-distributive): the diamond product is said not to be distributive.

No example can show that something always holds: the equations are multiplied out, for W, V, x and y of free symbols.
For all shapes they are proved in ../diamond.py.
"""

import sympy

m, n = 3, 2
W, V = (sympy.Matrix(m, n, lambda k, i, name=name: sympy.Symbol(f"{name}_{k + 1}{i + 1}")) for name in "WV")
x, y = (sympy.Matrix(m, 1, lambda k, _, name=name: sympy.Symbol(f"{name}_{k + 1}")) for name in "xy")


def diamond(left: sympy.Matrix, right: sympy.Matrix) -> sympy.Matrix:
    """AᵀB, multiplied out."""
    return (left.T * right).expand()


on_the_right = diamond(W, x + y) - diamond(W, x) - diamond(W, y)
on_the_left = diamond(W + V, x) - diamond(W, x) - diamond(V, x)
print(f"W ⋄ (x + y) − W ⋄ x − W ⋄ y = {on_the_right.expand().tolist()}")
print(f"(W + V) ⋄ x − W ⋄ x − V ⋄ x = {on_the_left.expand().tolist()}")
if on_the_right.expand() != sympy.zeros(n, 1) or on_the_left.expand() != sympy.zeros(n, 1):
    raise SystemExit("not refuted: a sum is not taken apart")
