"""Whole numbers and booleans that NumPy computes are those that JAX computes, to the bit."""

import functools

import jax
import numpy as np
import pytest
from jax import lax

from uat_jax.interpret import concrete

SPECIAL = {
    "int8": [0, 1, -1, 127, -128, 77],
    "uint8": [0, 1, 2, 255, 128, 77],
    "int32": [0, 1, -1, 2**31 - 1, -(2**31), 46341],
    "uint32": [0, 1, 2, 2**32 - 1, 2**31, 65537],
    "bool": [False, True, True, False, True, False],
}
"""0, the neighbours of 0, both ends, and a number whose square does not fit."""

BINARY = {
    "add": lax.add,
    "sub": lax.sub,
    "mul": lax.mul,
    "lt": lax.lt,
    "le": lax.le,
    "gt": lax.gt,
    "ge": lax.ge,
    "eq": lax.eq,
    "ne": lax.ne,
    "and": lax.bitwise_and,
    "or": lax.bitwise_or,
    "xor": lax.bitwise_xor,
}
ARITHMETIC = {"add", "sub", "mul"}
"""Not for booleans."""


VALUES = {dtype: np.array(values, dtype) for dtype, values in SPECIAL.items()}
WHICH = np.array([True, False, True, False, False, True])


def table():
    """(name, function, operands), each function one primitive."""
    for dtype, values in VALUES.items():
        a, b = (np.ascontiguousarray(x) for x in np.meshgrid(values, values))
        last = np.asarray(values[3])  # of single numbers NumPy would warn
        for name, function in BINARY.items():
            if dtype != "bool" or name not in ARITHMETIC:
                yield f"{name}-{dtype}", function, (a, b)
                yield f"{name}-{dtype}-single", function, (last, last)
        yield f"not-{dtype}", lax.bitwise_not, (values,)
        yield f"rows-{dtype}", lambda x: lax.broadcast_in_dim(x, (4, 6, 3), (1,)), (values,)
        yield f"repeated-{dtype}", lambda x: lax.broadcast_in_dim(x, (2, 6), (0, 1)), (values[None],)
        for other in SPECIAL.keys() - {dtype}:
            yield f"{dtype}-to-{other}", lambda x, other=other: lax.convert_element_type(x, other), (values,)
        yield f"select-{dtype}", lax.select_n, (WHICH, values, values[::-1].copy())
        yield f"select-{dtype}-single", lax.select_n, (np.asarray(True), values, values[::-1].copy())
        if dtype != "bool":
            yield f"iota-{dtype}", lambda dtype=dtype: lax.broadcasted_iota(np.dtype(dtype), (3, 5, 2), 1), ()


TABLE = sorted(table(), key=lambda row: row[0])


@functools.cache
def answers():
    """What JAX says to every row, compiled at once."""
    compiled = jax.jit(lambda operands: [f(*x) for (_, f, _), x in zip(TABLE, operands, strict=True)])
    return [np.asarray(x) for x in compiled([operands for _, _, operands in TABLE])]


def on_host(function, *operands):
    (equation,) = jax.make_jaxpr(function)(*operands).eqns
    found = concrete.made_on_host(equation, operands)
    return None if found is None else found[0]


@pytest.mark.parametrize("row", range(len(TABLE)), ids=[name for name, _, _ in TABLE])
def test_numpy_computes_what_jax_computes(row):
    _, function, operands = TABLE[row]
    found, wanted = on_host(function, *operands), answers()[row]
    assert found is not None and found.dtype == wanted.dtype and found.shape == wanted.shape
    np.testing.assert_array_equal(found, wanted)


LEFT_TO_JAX = [
    (lax.select_n, (VALUES["int32"][:3] % 2, *[VALUES["int32"][:3]] * 2)),
    (lambda a: lax.convert_element_type(a, np.float32), (VALUES["int32"],)),
    (lax.population_count, (VALUES["int32"],)),
    (lax.add, (np.ones(1, np.float32), np.ones(1, np.float32))),
]


@pytest.mark.parametrize(("function", "operands"), LEFT_TO_JAX)
def test_what_has_no_rule_is_left_to_jax(function, operands):
    assert on_host(function, *operands) is None
