"""v2 App. C.1, Eq. 6 (row names.eq-6-v2): x_2 = (W_{2,1} x_0 + b_{2,1}) + the two σ-terms.

The assignments before it make a b_{2,3} of W_{2,1} b_{1,3} + b_{2,3}; nothing is called b_{2,1}.
"""

LAYERS = {f"{letter}_{{{j},{k}}}" for j in (1, 2) for letter, k in (("W", 1), ("W", 2), ("W", 3), ("b", 2), ("b", 3))}
ASSIGNED = {"W_{2,1}", "b_{2,3}", "W_{1,3}", "W_{2,3}", "b_{2,2}"}
USED = {"W_{2,1}", "b_{2,1}", "W_{1,3}", "W_{1,2}", "b_{1,2}", "W_{2,3}", "W_{2,2}", "b_{2,2}"}
missing = USED - LAYERS - ASSIGNED
print(f"used and introduced nowhere: {sorted(missing)}")
if not missing:
    raise SystemExit("no counterexample: every name is introduced")
