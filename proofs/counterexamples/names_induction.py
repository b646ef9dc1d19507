"""DUAT App. B.2 (row names.induction): x_i = (W_{i,1} x_0 + b_{i,1}) + UAT_i^R is assumed for i layers.

For i = 1 it should be Eq. 24, x_1 = (W_{1,1} x_0 + b_{1,3}) + UAT_1^R, which has b_{1,3} and no b_{1,1}.
"""

ASSUMED = {"W_{1,1}", "b_{1,1}", "UAT_1^R"}
EQUATION_24 = {"W_{1,1}", "b_{1,3}", "UAT_1^R"}
missing = ASSUMED - EQUATION_24
print(f"assumed at i = 1 and not in Eq. 24: {sorted(missing)}")
if not missing:
    raise SystemExit("no counterexample: every name is in Eq. 24")
