"""DUAT App. B.3 (row names.eq-34): for j = 1, 2, …, i+1, the bias terms b_{i,2} are updated.

Eq. 34, which follows, updates b_{j,2}; the sentence before Eq. 12 has b_{j,2}.
"""

ANNOUNCED, UPDATED = {"b_{i,2}"}, {"b_{j,2}"}
missing = ANNOUNCED - UPDATED
print(f"announced: {sorted(ANNOUNCED)}, updated: {sorted(UPDATED)}")
if not missing:
    raise SystemExit("no counterexample: they are the same")
