"""Chapter L: what evaluating the forms costs.

evaluation.py  σ-evaluations and products of the nested, memoised and two-stream forms
attention.py   the matrix of attention against its factors
paths.py       the rank of a product of attention matrices
evaluators.py  the forms as JAX functions, counted on their jaxprs
"""
