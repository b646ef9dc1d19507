"""DUAT Eq. 14 (row names.w-j-t): the first sum has "W j^T", the second W_j^T."""

FIRST, SECOND = "W j^T", "W_j^T"
print(f"first sum {FIRST}, second sum {SECOND}")
if FIRST == SECOND:
    raise SystemExit("no counterexample: one name")
