"""DUAT Eq. 33 (row names.primes): x_{i+1} = (W_{i+1,1} x_0 + b_{i+1,3}) + Σ_j W_{j,3} σ(W_{j,2} x'_0 + b_{j,2}).

The input is x_0 outside σ and x'_0 inside; both are the column x'_0.
"""

USED = ["x_0", "x'_0"]
wrong = [name for name in USED if name != "x'_0"]
print(f"not the column x'_0: {wrong}")
if not wrong:
    raise SystemExit("no counterexample: one name")
