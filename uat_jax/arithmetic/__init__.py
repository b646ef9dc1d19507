"""Number systems in which a jaxpr can be evaluated, and the interpreter that does it in any of them.

interpreter.py       one walk over the equations, the number system plugged in
structure.py         primitives that only move entries, in NumPy
contraction.py       matrix products of any shape, in NumPy
tracing.py           what a jaxpr says of its variables
balls.py             exact values with a rigorous radius (python-flint)
doubles.py           float64, many copies at once
rounding.py          float64 with rounding noise: the spread of a program's error
local_error.py       the error one operation may add
matmul_precision.py  how precise a device's matrix products really are
sensitivity.py       how large an error in one coefficient must be to show
"""
