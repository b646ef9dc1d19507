"""DUAT App. B.3 (row references.figure-9): the Transformer's general form is based on Figure 9 in the main text.

The main text has Figures 1 to 7; the Transformer is in Figure 4.
"""

FIGURES = range(1, 8)
print(f"the figures of the main text: {', '.join(map(str, FIGURES))}; cited: 9")
if 9 in FIGURES:
    raise SystemExit("no counterexample: there is a Figure 9")
