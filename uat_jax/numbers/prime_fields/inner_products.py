"""Cosines of angles between vectors, which lie between -1 and 1: |Σ aᵢbᵢ| ≤ √(Σ aᵢ²) √(Σ bᵢ²) (Cauchy and Schwarz).

    clip(a·b / (|a| |b|), -1, 1) = a·b / (|a| |b|)        c² (a·a) (b·b) = (a·b)²  ⟹  |c| ≤ 1

A number c is known to be a cosine by the identity on the right, however it is computed.  docs/soundness.md §8.7 has the
proof.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from jax.extend.core import JaxprEqn

from uat_jax.interpret.tracing import is_number, shape_of
from uat_jax.numbers.prime_fields.common_factors import terms_of_product, terms_of_sum
from uat_jax.numbers.prime_fields.facts import Nature
from uat_jax.numbers.prime_fields.gathering import gathered
from uat_jax.numbers.prime_fields.met_products import InnerProduct
from uat_jax.numbers.prime_fields.number import Number, rational
from uat_jax.numbers.prime_fields.residues import same, vanishes

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.fields import Fields, Value

LAW = "cosines of angles"

MOST_SUMS, MOST_TERMS = 16, 64
"""Products of vectors are kept that are so many sums of so many terms at most."""

BOUNDS = {"max": -1, "min": 1}
"""The extremes that leave a number between -1 and 1 as it is, if the other number is at most, or at least, so much."""


def meet(fields: Fields, equation: JaxprEqn, operands: Sequence[Any], results: Sequence[Any]) -> None:
    """Keep a small product of vectors."""
    name = equation.primitive.name
    if name not in ("dot_general", "reduce_sum") or LAW not in fields.functions.laws:
        return
    (result,) = results
    if (
        not isinstance(result, Number)
        or not 0 < math.prod(result.shape) <= MOST_SUMS
        or not 1 < _terms(equation) <= MOST_TERMS
        or not is_number(equation.outvars[0])
    ):
        return
    factors = _factors(fields, operands[0]) if name == "reduce_sum" else list(operands)
    numbers = [x for x in factors if isinstance(x, Number)]
    if len(factors) == len(numbers) == 2 and all(map(_is_plain, (*numbers, result))):
        fields.functions.inner_products.meet(lambda: _inner_product(fields, equation, numbers, result))


def _inner_product(
    fields: Fields, equation: JaxprEqn, factors: Sequence[Number], result: Number
) -> InnerProduct | None:
    """The squares of sums of products, None if a vector may be 0."""
    if equation.primitive.name == "reduce_sum":
        grids = terms_of_sum(equation, shape_of(equation.invars[0])) * 2
    else:
        grids = terms_of_product(equation, *map(shape_of, equation.invars))
    f = fields.functions
    rows = [gathered(f, [x], grid) for x, grid in zip(factors, grids, strict=True)]
    sums = [f.sum(f.multiply(x, x), (1,)) for x in rows]
    if not all(_is_thin(fields, x, square) for x, square in zip(factors, sums, strict=True)):
        return None
    product = f.multiply(*sums).residues
    place = None if fields.certain(*factors) else fields.place(result)
    return InnerProduct(f.multiply(result, result).residues.reshaped(product.shape), product, place)


def _terms(equation: JaxprEqn) -> int:
    """How many terms each of the sums has that a product of matrices, or a sum, is."""
    parameters, shape = equation.params, shape_of(equation.invars[0])
    axes = parameters["axes"] if equation.primitive.name == "reduce_sum" else parameters["dimension_numbers"][0][0]
    return math.prod(shape[axis] for axis in axes)


def within_one(fields: Fields, equation: JaxprEqn, operands: Sequence[Any]) -> Number | None:
    """The operand of a maximum or minimum with a number that cosines do not exceed, if it is one."""
    bound = BOUNDS.get(equation.primitive.name)
    if bound is None or not fields.functions.inner_products or not is_number(equation.outvars[0]):
        return None
    for c, other in (operands, operands[::-1]):
        if not isinstance(c, Number) or not isinstance(other, Number | np.ndarray | np.generic):
            continue
        limit = rational(fields.draw, fields.lift(other))  # type: ignore[arg-type]
        if limit is not None and limit * bound >= Fraction(1) and c.shape == shape_of(equation.outvars[0]):
            return c if _is_cosine(fields, c) else None
    return None


def _is_cosine(fields: Fields, c: Number) -> bool:
    """Whether c² (a·a) (b·b) = (a·b)² for vectors met before, entry by entry."""
    if c.known is not None or not _is_plain(c):
        return False
    f, draw = fields.functions, fields.draw
    products, size = fields.functions.inner_products.found(), math.prod(c.shape)
    if not products:
        return False
    square = f.multiply(c, c).residues
    for met in products:
        if math.prod(met.square.shape) != size or met.place not in (None, c.expression):
            continue
        draw.compared(size)
        left = draw.multiply(square.reshaped((size,)), met.product)
        if same(left, met.square):
            return True
    return False


def _is_plain(x: Number) -> bool:
    """Whether a number depends on no decision between equal numbers, and is finite wherever it is defined."""
    finite = x.special is None and x.infinite is None and x.almost is None
    return finite and x.facts is not None and not x.facts.guarded and not x.facts.hollow


def _is_thin(fields: Fields, x: Number, square: Number) -> bool:
    """Whether Σ xᵢ² is 0 on a null set only: the entries are analytic and it is not 0, or it is 1."""
    if same(square.residues, fields.draw.fraction(1, square.shape)):
        return True
    assert x.facts is not None
    return x.facts.nature is not Nature.PIECEWISE and not vanishes(square.residues).any()


def _factors(fields: Fields, x: Value) -> list[Value]:
    """The numbers whose product, entry by entry, an array is."""
    if not isinstance(x, Number) or x.expression is None:
        return []
    expression = fields.expressions[x.expression]
    if expression.equation is None or expression.equation.primitive.name != "mul":
        return []
    found = [fields.functions.small.get(place) for place in expression.operands]
    return [y for y in found if y is not None and y.shape == x.shape]
