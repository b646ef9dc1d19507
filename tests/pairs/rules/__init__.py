"""Rewriting rules of tensor compilers in our own words, each with a broken form.

`tensors`: what TensorRight proves of XLA's tensor operations; `graphs`: TASO's substitutions; `arithmetic`: the scalar
rules of XLA's algebraic simplifier and of the tests of mlir-tv.
"""

from ..row import Row
from . import arithmetic, graphs, tensors

TABLES: dict[str, tuple[Row, ...]] = {
    "tensors": tensors.ROWS,
    "graphs": graphs.ROWS,
    "arithmetic": arithmetic.ROWS,
}
ROWS: tuple[Row, ...] = tuple(row for rows in TABLES.values() for row in rows)
