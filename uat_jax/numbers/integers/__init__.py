"""Programs of integers as formulas of bits.

bit_vectors.py  programs of integers as formulas over bit vectors, for the solver z3
"""
