"""Exact values with a rigorous radius, and what is known of arrays of constants.

ball_matrices.py  eigenvalues, singular values and pivoted elimination in balls
balls.py          the exact value of a JAX function with a rigorous radius
constants.py      what is known about an array that depends on constants only
decisions.py      decisions on balls
"""
