"""DUAT §2.3, §4.1 of all versions (row uat.one-function): a sum with fixed parameters can fit only one function.

G(x, t) = σ(x − t) + σ(t − x) with the ramp σ(u) = min(max(u, 0), 1), continuous and sigmoidal: two terms, no parameter
ever changes.  For t = 0 it is x, for t = 1 it is 1 − x, at every x in [0, 1].
"""

from fractions import Fraction


def ramp(u: Fraction) -> Fraction:
    """0 up to 0, then u, then 1."""
    return min(max(u, Fraction(0)), Fraction(1))


def G(x: Fraction, t: int) -> Fraction:
    """The fixed sum."""
    return ramp(x - t) + ramp(t - x)


for x in (Fraction(k, 4) for k in range(5)):
    print(f"x = {x!s:4} G(x, 0) = {G(x, 0)!s:4} G(x, 1) = {G(x, 1)}")
    if (G(x, 0), G(x, 1)) != (x, 1 - x):
        raise SystemExit("not so: G is not x and 1 - x")
if G(Fraction(0), 0) == G(Fraction(0), 1):
    raise SystemExit("no counterexample: one function only")
