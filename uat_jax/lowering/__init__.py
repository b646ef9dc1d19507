"""Symbolic programs as jitted JAX functions.

program.py      a straight-line program → merge(weights), evaluate(hatted, x_0)
recursion.py    the closed form's step, for a symbolic layer → the same two as loops over stacked parameters
hoisting.py     what does not depend on the argument
evaluation.py   what every head of the language means in JAX
arrays.py       the arrays of letters: names, shapes, dimensions
"""

from uat_jax.lowering.evaluation import TABLE as TABLE
from uat_jax.lowering.hoisting import split as split
from uat_jax.lowering.program import Lowered as Lowered
from uat_jax.lowering.recursion import LoweredRecursion as LoweredRecursion
