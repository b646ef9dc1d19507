"""v2 App. C, DUAT Eq. 32 (row names.substitution): x_i = (W_{i,1} x_0 + b_{i,3}) + UAT_i^R, substituted with b_{i,1}.

The substitution uses a name that the form of x_i does not have.
"""

GIVEN = {"W_{i,1}", "b_{i,3}", "UAT_i^R"}
SUBSTITUTED = {"W_{i,1}", "b_{i,1}", "UAT_i^R"}
missing = SUBSTITUTED - GIVEN
print(f"substituted and not given: {sorted(missing)}")
if not missing:
    raise SystemExit("no counterexample: every name is given")
