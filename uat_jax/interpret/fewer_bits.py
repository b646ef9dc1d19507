"""Rounding to fewer bits than a dtype has, as `jax.lax.reduce_precision` asks for: a primitive of this package.

Casts between floats are exact here, and `reduce_precision` with all bits of its dtype is the identity.  With fewer it
is a rounding that the program means: an unknown odd function of each number.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import JaxprEqn, Primitive
from jax.interpreters import batching, mlir

from uat_jax.interpret.tracing import dtype_of
from uat_jax.typing import Array

NAME = "fewer_bits"
"""Of the primitive."""

FEWER_BITS = Primitive(NAME)


def rounded(x: jax.Array, *, exponent_bits: int, mantissa_bits: int) -> jax.Array:
    """The nearest numbers with so many bits."""
    return FEWER_BITS.bind(x, exponent_bits=exponent_bits, mantissa_bits=mantissa_bits)


def rounds(equation: JaxprEqn) -> bool:
    """Whether a `reduce_precision` keeps fewer bits than its operand has."""
    if equation.primitive.name != "reduce_precision":
        return False
    kind, bits = jnp.finfo(dtype_of(equation.invars[0])), equation.params
    return bits["exponent_bits"] < kind.nexp or bits["mantissa_bits"] < kind.nmant


@FEWER_BITS.def_impl
def _computed(x: Array, **bits: int) -> jax.Array:
    return lax.reduce_precision(x, **bits)


FEWER_BITS.def_abstract_eval(lambda x, **bits: x)
batching.defvectorized(FEWER_BITS)
mlir.register_lowering(FEWER_BITS, mlir.lower_fun(_computed, multiple_results=False))
