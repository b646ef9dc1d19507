"""DUAT Eq. 11 (row names.eq-11): x_{i+1} = (W_{i+1,1} x_0 + b_{i+1,1}) + Σ_j W_{j,3} σ(W_{j,2} x_0 + b_{j,2}).

The list after it defines b_{j,3} and b_{j,2}, and no b_{j,1}; Eq. 33 has b_{i+1,3}.
"""

USED = {"W1", "b1", "W3", "W2", "b2"}
DEFINED = {"W1", "b3", "W2", "W3", "b2"}
missing = USED - DEFINED
print(f"used and not defined: {sorted(missing)}")
if not missing:
    raise SystemExit("no counterexample: every name is defined")
