"""Determinants that JAX computes from the factors of `lu`: det A, its sign, and log |det A|, for all orders of rows.

JAX's own programs for them are followed once as expressions, without values.  A program that computes the same from the
same factors, by the same operations, has what they have.  docs/soundness.md §8.4 has the proof.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr

from uat_jax.numbers.prime_fields.number import Number

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.fields import Fields

MOST_ROWS = 6
"""Determinants of more rows are not written out."""

WRITTEN_OUT = 3
"""Of so many rows JAX itself computes a determinant without factors."""


@functools.lru_cache(maxsize=256)
def programs_of_jax(shape: tuple[int, ...], dtype: np.dtype) -> tuple[ClosedJaxpr, ...]:
    """What JAX does for `slogdet`, and for `det` where that takes what `slogdet` gives."""
    functions = [jnp.linalg.slogdet, *([jnp.linalg.det] if shape[-1] > WRITTEN_OUT else [])]
    with jax.enable_x64(dtype == np.float64):
        return tuple(jax.make_jaxpr(function)(jax.ShapeDtypeStruct(shape, dtype)) for function in functions)


def written_out(fields: Fields, matrices: Number, dtype: np.dtype) -> list[Number]:
    """sign det A, log |det A| and det A."""
    return [fields.lift(x) for x in fields.inner(_program(matrices.shape, dtype), [matrices])]


@functools.lru_cache(maxsize=256)
def _program(shape: Sequence[int], dtype: np.dtype) -> ClosedJaxpr:
    def program(a: jax.Array) -> tuple[jax.Array, ...]:
        d = determinant(a)
        return jnp.sign(d), jnp.log(jnp.abs(d)), d

    with jax.enable_x64(True):
        return jax.make_jaxpr(program)(jax.ShapeDtypeStruct(shape, dtype))


def determinant(a: jax.Array) -> jax.Array:
    """Along one column after the other: the minors of the first k columns from those of the first k - 1."""
    n = a.shape[-1]
    minors: dict[tuple[int, ...], jax.Array] = {(i,): a[..., i, 0] for i in range(n)}
    for k in range(1, n):
        minors = {rows: _minor(a[..., k], minors, rows) for rows in itertools.combinations(range(n), k + 1)}
    return minors[tuple(range(n))]


def _minor(column: jax.Array, smaller: Mapping[tuple[int, ...], jax.Array], rows: tuple[int, ...]) -> jax.Array:
    """The determinant of some rows, along their last column."""
    terms = [column[..., row] * smaller[tuple(r for r in rows if r != row)] for row in rows]
    first, *others = reversed(terms)
    for place, term in enumerate(others):
        first = first + term if place % 2 else first - term
    return first
