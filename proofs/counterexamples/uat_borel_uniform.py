"""§2 of all versions (row uat.borel-uniform): networks approximate arbitrary Borel functions, read in the sup norm.

f(x) = 1 for x > 1/2, else 0.  A continuous G has one value g at 1/2, and the error is at least |g − 0|, from the left,
and |g − 1|, from the right.  The best g is 1/2.
"""

from fractions import Fraction

left_limit, right_limit, promised = 0, 1, Fraction(1, 4)

errors = {g: max(abs(g - left_limit), abs(g - right_limit)) for g in (Fraction(k, 8) for k in range(-8, 17))}
best = min(errors, key=errors.__getitem__)
print(f"least error {errors[best]}, at G(1/2) = {best}; promised: below {promised}")
if errors[best] < promised:
    raise SystemExit("no counterexample: the step is reached")
