"""Values of a closed form with t rows: what is fixed, what depends on t, whole numbers, and arrays with t entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jax import lax

from uat_jax.decide.loops.walk import Value, is_concrete

Factor = Value | None
"""An array, where None is 1."""


@dataclass(frozen=True, eq=False)
class Moving:
    """An array without an axis of t entries that depends on t."""

    value: Value


@dataclass(frozen=True)
class Number:
    """The whole number a·i + b + c·t, where i is the number of a step; a is 0 where there is no axis of t entries."""

    a: int
    b: int
    c: int

    def __add__(self, other: Number) -> Number:
        return Number(self.a + other.a, self.b + other.b, self.c + other.c)

    def times(self, factor: int) -> Number:
        """A whole multiple."""
        return Number(factor * self.a, factor * self.b, factor * self.c)

    @property
    def is_constant(self) -> bool:
        """Whether it is the same at every step and for every t."""
        return not self.a and not self.c


@dataclass(frozen=True, eq=False)
class Along:
    """An array with an axis of t entries: the sum of products (fixed, row), where None is 1.

    Both have the shape without that axis.  number: what its entry i is, if that is a whole number; there are no terms
    then, unless it is written as a float.
    """

    axis: int
    terms: tuple[tuple[Factor, Factor], ...]
    number: Number | None = None

    def pure(self) -> Value | None:
        """The row, if nothing in it depends on t."""
        return self.terms[0][1] if len(self.terms) == 1 and self.terms[0][0] is None else None


def plain(value: Value) -> Value:
    """The array itself."""
    return value.value if isinstance(value, Moving) else value


def number_of(value: Value) -> Number | None:
    """The whole number that a value is, or None."""
    if isinstance(value, Number):
        return value
    if isinstance(value, Along):
        return value.number
    return Number(0, int(value), 0) if is_concrete(value) and not np.ndim(value) else None


def product(x: Factor, y: Factor) -> Factor:
    """x·y; a scalar is the same for all entries."""
    if x is None or y is None:
        return y if x is None else x
    like = max(x, y, key=np.ndim)
    return lax.mul(shaped(x, like), shaped(y, like))


def quotient(x: Factor, y: Factor) -> Factor:
    """x/y."""
    if y is None:
        return x
    return lax.div(lax.full(y.shape, 1, y.dtype) if x is None else x, y)


def opposite(fixed: Factor, row: Factor) -> tuple[Factor, Factor]:
    """The product with the other sign."""
    if row is not None:
        return fixed, lax.neg(row)
    return None if fixed is None else lax.neg(fixed), None


def shaped(value: Value, like: Value) -> Value:
    """A scalar as an array of another's shape and dtype."""
    value = lax.convert_element_type(value, like.dtype)
    return value if np.ndim(value) or not like.shape else lax.broadcast(value, like.shape)


def total(values: Sequence[Value]) -> Value:
    """The sum of arrays, some of which may be scalars."""
    most = max(values, key=np.ndim)
    found = shaped(values[0], most)
    for value in values[1:]:
        found = lax.add(found, shaped(value, most))
    return found


def without(shape: Sequence[Any], axis: int) -> tuple[Any, ...]:
    """The shape without an axis."""
    return (*shape[:axis], *shape[axis + 1 :])


def row_of(value: Value, axis: int) -> Value:
    """The row of an array with one entry along an axis, which stands for t equal ones."""
    return lax.squeeze(value, (axis,)) if np.ndim(value) else value
