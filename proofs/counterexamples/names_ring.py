"""DUAT §4.2 (row names.ring): Ḣ = (W'_HVO)ᵀ x', where §3.2 calls the output of attention H̊'."""

PRINTED, NAME = "Ḣ", "H̊'"
print(f"printed {PRINTED}, named {NAME}")
if PRINTED == NAME:
    raise SystemExit("no counterexample: one name")
