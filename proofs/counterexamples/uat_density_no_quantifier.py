"""DUAT §2.1, Eq. 2 (row uat.density.no-quantifier): |G(x) − f(x)| < ε without "for all x".

f(x) = 4x(1−x) is 0, 1, 0 at 0, 1/2, 1.  At each x one constant term is exact; a monotone G misses one of the three
values by at least 1/2: if all errors were e < 1/2, G(0) and G(1) would be below 1/2 and G(1/2) above.
"""

from fractions import Fraction

points = [Fraction(0), Fraction(1, 2), Fraction(1)]
f = [4 * x * (1 - x) for x in points]
grid = [Fraction(k, 8) for k in range(9)]
monotone = [(a, b, c) for a in grid for b in grid for c in grid if a <= b <= c or a >= b >= c]

each = 0  # G is the constant f(x), for the x at hand
best = min(max(abs(g - y) for g, y in zip(values, f, strict=True)) for values in monotone)
print(f"one term for each x:    error {each}")
print(f"one term for all x:     error at least {best} (best monotone G on a grid of eighths)")
if each == best:
    raise SystemExit("no counterexample: one term does both")
