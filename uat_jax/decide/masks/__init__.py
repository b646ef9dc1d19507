"""Programs in which no infinity stands behind a mask any more: a number and where it is infinite, followed one by one.

    where(m, a, -∞)                   the number a, which is -∞ where m is false
    exp(where(m, a, -∞))              where(m, exp(a), 0)
    max(where(m, a, -∞)) along axes   max(where(m, a, min a)), which is -∞ where m is false for the whole row
    (-∞) - (-∞)                       any number, and a mark: the given program has NaN there

So the softmax of masked scores becomes a program of real numbers.  Both programs are rewritten alike, and their results
are compared wherever neither has NaN.  docs/soundness.md §10.6 proves that this is enough.

truths.py     truth values, and what they are made of
signs.py      which numbers are defined for all inputs
values.py     a number, and where it is infinite or undefined
rules.py      what becomes of an equation
programs.py   two programs without infinities
"""
