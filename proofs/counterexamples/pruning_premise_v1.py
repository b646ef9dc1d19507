"""v1 §4.3, Eq. 9–12 (row pruning.premise.v1): a small sum over Λ_1 lets the sum over Λ_1 stand for f.

Two terms with W_j = 0 and the logistic σ, so that σ(θ_j) = σ(0) = 1/2: S_1 = 0 is kept, S_2 = 2 is dropped.
"""

from fractions import Fraction

sigma_at_0 = Fraction(1, 2)
alpha_1, alpha_2 = 0, 4
f, epsilon, delta = 2, 1, 0

S_1, S_2 = alpha_1 * sigma_at_0, alpha_2 * sigma_at_0
print(f"hypotheses: |S_1 + S_2 - f| = {abs(S_1 + S_2 - f)} < {epsilon} and |S_1| = {abs(S_1)} <= {delta}")
print(f"printed:    |S_1 - f| = {abs(S_1 - f)} < {epsilon + delta}")
if not (abs(S_1 + S_2 - f) < epsilon and abs(S_1) <= delta and abs(S_1 - f) >= epsilon + delta):
    raise SystemExit("no counterexample: the printed inequality holds here")
