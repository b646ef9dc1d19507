"""Chapter E: attention as a matrix that depends on its input.

matrix.py       Theorem 3 and what it is made of
slices.py       slice heads among full-width heads
heads.py        one head and all heads in each version's notation
density.py      how many entries are not zero
context.py      which tokens an output depends on
convolution.py  one-dimensional convolution, for comparison
"""
