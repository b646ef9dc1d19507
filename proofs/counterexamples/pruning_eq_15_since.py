"""v1, v2, DUAT §4.3 (row pruning.eq-15.since): Eq. 15 holds since the sum over Λ_2 is small.

It holds where that sum is not small: two terms with W_j = 0 and the logistic σ, so that σ(θ_j) = σ(0) = 1/2.
"""

from fractions import Fraction

sigma_at_0 = Fraction(1, 2)
alpha_1, alpha_2 = 0, 2
f, epsilon, delta = 0, 2, 0

S_1, S_2 = alpha_1 * sigma_at_0, alpha_2 * sigma_at_0
print(f"Eq. 14: |S_1 + S_2 - f| = {abs(S_1 + S_2 - f)} < {epsilon}")
print(f"Eq. 15: ||S_1 - f| - |S_2|| = {abs(abs(S_1 - f) - abs(S_2))} < {epsilon}, though |S_2| = {abs(S_2)} > {delta}")
if not (abs(S_1 + S_2 - f) < epsilon and abs(abs(S_1 - f) - abs(S_2)) < epsilon and abs(S_2) > delta):
    raise SystemExit("no counterexample: Eq. 15 fails here, or the sum is small")
