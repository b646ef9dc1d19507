"""DUAT App. B.2 (row uat.affine-term.bounded): an affine term is a finite sum Σ α_j σ(W_j x + θ_j), σ bounded by 1.

|Σ α_j σ(…)| ≤ S = Σ |α_j|, but x is S + 1 at x = S + 1.  Shown for one sum; the bound is the same for every other.
"""

import math

alpha, weights, theta = (3.0, -2.0, 5.0), (1.0, 0.5, -4.0), (0.0, 1.0, 2.0)

S = sum(map(abs, alpha))
x = S + 1
G = sum(a / (1 + math.exp(-(w * x + b))) for a, w, b in zip(alpha, weights, theta, strict=True))
print(f"S = {S}; at x = {x}: G(x) = {G:.6f}, |x - G(x)| = {abs(x - G):.6f} >= 1")
if abs(x - G) < 1:
    raise SystemExit("no counterexample: the sum is near x")
