"""DUAT §2.3 and Fig. 2 (row figure-2.densest): one sum fitted to two functions fits that of the densest data.

At one x, three quarters of the data have the value 1 and one quarter has 0.  The least squared error is at 3/4.
"""

from fractions import Fraction

dense, sparse = Fraction(3, 4), Fraction(1, 4)
error = lambda g: dense * (g - 1) ** 2 + sparse * g**2

mean = dense * 1 + sparse * 0
print(f"squared error at the value of the densest data, 1: {error(1)};  at the weighted mean, {mean}: {error(mean)}")
if error(mean) >= error(1):
    raise SystemExit("no counterexample: the densest data win")
