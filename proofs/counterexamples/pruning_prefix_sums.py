"""v1 Eq. 12, v2 Eq. 15 (row pruning.prefix-sums): |Σ_{j≤N_1} − f| < ε + |Σ_{j≤N_2}|.

Two terms, Λ_1 = {2} and Λ_2 = {1}, so N_1 = N_2 = 1; W_j = 0 and the logistic σ, so that σ(θ_j) = σ(0) = 1/2.
"""

from fractions import Fraction

sigma_at_0 = Fraction(1, 2)
terms = [alpha * sigma_at_0 for alpha in (0, 4)]
f, epsilon, N_1, N_2 = 2, 1, 1, 1

left, right = abs(sum(terms[:N_1]) - f), epsilon + abs(sum(terms[:N_2]))
print(f"hypothesis: |t_1 + t_2 - f| = {abs(sum(terms) - f)} < {epsilon}")
print(f"printed:    {left} < {right}")
print(f"corrected:  {abs(terms[1] - f)} < {epsilon + abs(terms[0])}")
if not (abs(sum(terms) - f) < epsilon and left >= right):
    raise SystemExit("no counterexample: the printed inequality holds here")
