"""The symbolic pillar: SymPy only.

language.py     matrices with checked dimensions, σ, softmax, vec, ⊗, finite sums
printing.py     expressions as text and as LaTeX
words.py        words of letters, and the rules for joining them
normal_form.py  expression → sum of words; equality
difference.py   which word differs
slices.py       what is taken for granted: that slices exist
step.py         one named equation, with its definitions and hypotheses
program.py      straight-line programs: letter = expression over earlier letters
layers.py       the layers of the papers
recurrence.py   one layer applied and collected: the update rules are read off
derivation.py   `derive`: the closed form of L layers
induction.py    Theorem 1 for every depth
updates.py      lists of update rules executed in a stated order; Theorem 2
"""
