"""Sums of products, of which some factors are the same in all terms: Σ c·xₖ·yₖ = c·Σ xₖ·yₖ.

docs/soundness.md §8.2 uses it to follow a number through a sum, entry by entry.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jax.extend.core import JaxprEqn

from uat_jax.interpret.structure import positions
from uat_jax.numbers.prime_fields.expressions import Expressions

MOST_FACTORS = 12
"""Products of more factors are not taken apart."""

MOST_TERMS = 1 << 12
"""Sums of more terms, all entries together, are not looked at."""


@dataclass(frozen=True)
class Factor:
    """A factor of each term of each of several sums.

    place: of an array in the table.  source: of shape (sums, terms): which entry of it the factor is.  inverse: whether
    it is a divisor.
    """

    place: int
    source: np.ndarray
    inverse: bool = False

    @property
    def is_common(self) -> bool:
        """Whether it is the same in all terms of each sum."""
        return bool(np.all(self.source == self.source[:, :1]))


def factors_of_sums(
    expressions: Expressions, place: int, entries: np.ndarray, rearranging: frozenset[str]
) -> list[Factor] | None:
    """The factors of the terms that some entries of a sum or of a product of matrices are.

    Args:
        expressions: the table in which the array stands.
        place: where it stands.
        entries: which of its entries are looked at, in any order.
        rearranging: primitives that move the entries of one array.

    Returns:
        The factors, None if the array is no sum or if that is too long.  A divisor is the same in all terms.
    """
    expression = expressions[place]
    equation = expression.equation
    if equation is None or equation.primitive.name not in ("dot_general", "reduce_sum"):
        return None
    shapes = [expressions[operand].shape for operand in expression.operands]
    grids = terms_of_product(equation, *shapes) if len(shapes) == 2 else terms_of_sum(equation, *shapes)
    if grids[0].shape[1] < 1 or len(entries) * grids[0].shape[1] > MOST_TERMS:
        return None
    factors: list[Factor] = []
    for operand, grid in zip(expression.operands, grids, strict=True):
        for factor in _factors(expressions, Factor(operand, grid[entries]), rearranging):
            factors.append(factor)
            if len(factors) > MOST_FACTORS:
                return None
    return factors


def terms_of_sum(equation: JaxprEqn, shape: tuple[int, ...]) -> list[np.ndarray]:
    """For each entry of the sum, which entries are its terms."""
    axes = tuple(equation.params["axes"])
    kept = [axis for axis in range(len(shape)) if axis not in axes]
    places = np.arange(math.prod(shape)).reshape(shape).transpose(*kept, *axes)
    return [places.reshape([math.prod(shape[axis] for axis in group) for group in (kept, axes)])]


def terms_of_product(equation: JaxprEqn, *shapes: tuple[int, ...]) -> list[np.ndarray]:
    """For each entry of a product, which entries of both arrays are the factors of its terms."""
    contracted, batched = equation.params["dimension_numbers"]
    sides = []
    for shape, contract, batch in zip(shapes, contracted, batched, strict=True):
        free = [axis for axis in range(len(shape)) if axis not in (*contract, *batch)]
        sizes = [math.prod(shape[axis] for axis in axes) for axes in (batch, free, contract)]
        sides.append(np.arange(math.prod(shape)).reshape(shape).transpose(*batch, *free, *contract).reshape(sizes))
    left, right = sides
    both = np.broadcast_arrays(left[:, :, None, :], right[:, None, :, :])
    return [grid.reshape(math.prod(grid.shape[:-1]), grid.shape[-1]) for grid in both]


def _factors(expressions: Expressions, whole: Factor, rearranging: frozenset[str]) -> Iterator[Factor]:
    """The factors of a factor, followed through products, quotients by what is the same in all terms, and moves."""
    expression = expressions[whole.place]
    equation, operands = expression.equation, expression.operands
    name = "" if equation is None else equation.primitive.name
    inside = lambda i, inverse=False: Factor(
        operands[i], _spread(expressions[operands[i]].shape, expression.shape, whole.source), inverse
    )
    if equation is not None and name in rearranging and len(operands) == 1:
        moved = positions(equation, [None])[expression.result].ravel()[whole.source].astype(int)
        yield from _factors(expressions, Factor(operands[0], moved), rearranging)
    elif name == "mul":
        yield from _factors(expressions, inside(0), rearranging)
        yield from _factors(expressions, inside(1), rearranging)
    elif equation is not None and (name == "square" or name == "integer_pow" and equation.params["y"] == 2):
        yield from 2 * list(_factors(expressions, inside(0), rearranging))
    elif name == "div" and inside(1).is_common:
        yield from _factors(expressions, inside(0), rearranging)
        yield inside(1, True)
    else:
        yield whole


def _spread(inner: tuple[int, ...], outer: tuple[int, ...], source: np.ndarray) -> np.ndarray:
    """Which entries of an operand they are that an operation repeats to have the shape of its result."""
    return np.broadcast_to(np.arange(math.prod(inner)).reshape(inner), outer).ravel()[source]
