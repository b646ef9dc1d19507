"""The matrix products of a program: which there are, how many operations they are, and on which dtypes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

from uat_jax.bench.case import UnavailableError
from uat_jax.interpret.interpreter import inner_programs
from uat_jax.interpret.tracing import dtype_of, shape_of
from uat_jax.typing import Parameters

WIDE = {"float64": "emulates float64, and not to the last bit", "int64": "has no 64-bit integer products"}
WIDE["uint64"] = WIDE["int64"]
"""Dtype → why a TPU does not multiply matrices of it."""


class Product(NamedTuple):
    """One equation that multiplies matrices."""

    dtypes: frozenset[str]
    """The dtypes of its operands and its result."""
    operations: int
    """2 · (entries of the result) · (terms of each), as often as it is carried out, on all devices together."""


def products(program: ClosedJaxpr) -> Iterator[Product]:
    """Every `dot_general` of a program, those of its loops and calls too.

    A scan carries out its body as often as it is long, a `shard_map` on every device of its mesh; a body of `while`
    and every branch of `cond` are taken to be carried out once.
    """
    return _products(program, 1)


def check_products(program: ClosedJaxpr, platform: str) -> None:
    """Raise `UnavailableError` for a product that the platform does not compute as IEEE arithmetic says."""
    if platform != "tpu":
        return
    for product in products(program):
        for dtype in sorted(product.dtypes & WIDE.keys()):
            raise UnavailableError(f"got a product of {dtype} matrices for a TPU, which {WIDE[dtype]}; take int8 limbs")


def _products(program: Jaxpr | ClosedJaxpr, times: int) -> Iterator[Product]:
    for equation in program.eqns:
        if equation.primitive.name == "dot_general":
            yield _product(equation, times)
        for inner in inner_programs(equation):
            yield from _products(inner, times * _repeated(equation))


def _product(equation: JaxprEqn, times: int) -> Product:
    (contracted, _), _ = equation.params["dimension_numbers"]
    (result,) = equation.outvars
    terms = math.prod(shape_of(equation.invars[0])[axis] for axis in contracted)
    dtypes = frozenset(str(dtype_of(atom)) for atom in (*equation.invars, result))
    return Product(dtypes, 2 * times * math.prod(shape_of(result)) * terms)


def _repeated(equation: JaxprEqn) -> int:
    parameters: Parameters = equation.params
    if equation.primitive.name == "scan":
        return parameters["length"]
    return parameters["mesh"].size if equation.primitive.name == "shard_map" else 1
