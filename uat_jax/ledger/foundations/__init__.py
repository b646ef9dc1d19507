"""Chapter A and F1: what UAT sums can do, and what a DUAT function is.

approximation.py        density and its hypotheses; the chapter put together
uat_sums.py             closed intervals, activations that are not sigmoidal, the affine term
vector_output.py        sums with values in R^m
expressive_power.py     one function or many, similar inputs
transformer_density.py  what Transformers cannot approximate
duat_definition.py      the definition of DUAT: vacuity and gauge
elementary.py           evidence for elementary arguments
"""
