"""Q and R in prime fields: A = Q R by Gram and Schmidt, with roots whose signs are not looked at.

Reflections make the same Q and R up to the signs of columns: Rₖₖ² = ‖vₖ‖² is all that is used of the diagonal of R.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.definitions import defined
from uat_jax.interpret.linear_algebra import orthogonalised
from uat_jax.interpret.tracing import dtype_of, shape_of, source_line
from uat_jax.numbers.prime_fields.facts import Facts, Nature
from uat_jax.numbers.prime_fields.gathering import gathered
from uat_jax.numbers.prime_fields.number import Letter, Number, from_quadratic
from uat_jax.numbers.prime_fields.residues import same
from uat_jax.numbers.prime_fields.uninterpreted import apply_uninterpreted, of_matrix, refuse_infinite

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.fields import Fields


MOST_COLUMNS = 6
"""Of more columns, whose degrees are too large, or of none, the factors are unknown functions of the matrix."""


def factorised(fields: Fields, equation: JaxprEqn, x: Number) -> list[Number]:
    """The rule of `qr`: the first columns of Q and rows of R, as many as the equation makes."""
    if not 0 < min(x.shape[-2:]) <= MOST_COLUMNS:
        return apply_uninterpreted(fields, equation, [x])
    q, r = _factors(fields, equation, x)
    size = shape_of(equation.outvars[0])[-1]
    return [q.moved(lambda a: a[..., :size]), r.moved(lambda a: a[..., :size, :])]


def reflections(fields: Fields, equation: JaxprEqn, x: Number) -> list[Number]:
    """The rule of `geqrf`: R above the diagonal; what lies below it, and τ, are unknown functions, but Q is kept."""
    if not 0 < min(x.shape[-2:]) <= MOST_COLUMNS:
        return apply_uninterpreted(fields, equation, [x])
    q, r = _factors(fields, equation, x)
    below = of_matrix(fields, "reflections", x, x.shape)
    source = np.arange(2 * np.prod(x.shape, dtype=int)).reshape(2, *x.shape)
    packed = gathered(fields.functions, [r, below], np.where(np.triu(np.ones(x.shape[-2:], bool)), *source))
    taus = of_matrix(fields, "factors of reflections", x, shape_of(equation.outvars[1]))
    fields.functions.reflections.append((packed, taus, q))
    return [packed, taus]


def multiplied(fields: Fields, equation: JaxprEqn, *operands: Any) -> list[Number]:
    """The rules of `ormqr` and `householder_product`: a product with the Q that is kept, or else their definition."""
    packed, taus, *others = (fields.lift(operand) for operand in operands)
    kept = fields.functions.reflections
    fields.draw.compared((1 + len(kept)) * (packed.residues.levels[0][0].size + taus.residues.levels[0][0].size))
    q = next((q for a, t, q in kept if _same(a, packed) and _same(t, taus)), None)
    if q is None:
        return fields.inner_numbers(defined(equation, [None] * len(equation.invars)), [packed, taus, *others])
    if not others:
        columns = shape_of(equation.outvars[0])[-1]
        return [q.moved(lambda a: a[..., :columns])]
    (c,), parameters = others, equation.params
    return fields.inner_numbers(
        _product(q.shape, c.shape, dtype_of(equation.invars[0]), parameters["left"], parameters["transpose"]), [q, c]
    )


def _same(x: Number, y: Number) -> bool:
    """Whether two numbers are the same elements."""
    return same(x.residues, y.residues)


@functools.lru_cache(maxsize=256)
def _product(q: Sequence[int], c: Sequence[int], dtype: np.dtype, left: bool, transpose: bool) -> ClosedJaxpr:
    """The program that multiplies Q or Qᵀ with C, from the left or the right."""

    def program(q: jax.Array, c: jax.Array) -> jax.Array:
        q = q.swapaxes(-1, -2) if transpose else q
        return jax.numpy.matmul(q, c, precision="highest") if left else jax.numpy.matmul(c, q, precision="highest")

    with jax.enable_x64(True):
        return jax.make_jaxpr(program)(jax.ShapeDtypeStruct(q, dtype), jax.ShapeDtypeStruct(c, dtype))


def _factors(fields: Fields, equation: JaxprEqn, x: Number) -> tuple[Number, Number]:
    """Q, with as many columns as rows, and R, of the shape of A.  Columns of Q beyond those of A are unknown functions.

    Raises:
        UnsupportedError: columns depend on each other for all inputs, or an entry may be infinite.
    """
    refuse_infinite(equation, x)
    parts = fields.inner_numbers(_orthogonalised(x.shape, dtype_of(equation.invars[0])), [x])
    columns, rows, squares = map(fields.lift, parts)
    if any(part.special is not None for part in (columns, rows)):
        raise UnsupportedError(
            f"'{equation.primitive.name}'{source_line(equation)} has columns that depend on each other for all inputs"
        )
    *batch, m, n = x.shape
    inverse = of_matrix(fields, "diagonal of R", x, squares.shape).residues
    diagonal = Letter(fields.draw.multiply(squares.residues, inverse), inverse, squares.residues, False)
    q = _times(fields, columns, diagonal.moved(lambda a: np.broadcast_to(a[..., None, :], (len(a), *columns.shape))))
    r = _times(fields, rows, diagonal.moved(lambda a: np.broadcast_to(a[..., None], (len(a), *rows.shape))))
    rest, zeros = (*batch, m, m - min(m, n)), (*batch, m - min(m, n), n)
    q = _beside(fields, [q, of_matrix(fields, "other columns of Q", x, rest)], -1)
    return q, _beside(fields, [r, fields.number(np.zeros(zeros))], -2)


def _times(fields: Fields, x: Number, letter: Letter) -> Number:
    """x·ℓ, where ℓ² is the divisor in x."""
    assert x.facts is not None
    nothing = np.zeros(x.shape, bool)
    facts = Facts(Nature.PIECEWISE, x.facts.defined, x.facts.hollow, nothing, nothing, x.facts.thin, x.facts.guarded)
    return from_quadratic(fields.draw, None, x.residues, letter).but(facts=facts)


def _beside(fields: Fields, parts: Sequence[Number], axis: int) -> Number:
    """Numbers next to each other."""
    if not parts[1].residues.levels[0].size:
        return parts[0]
    ends = np.cumsum([np.prod(part.shape, dtype=int) for part in parts])
    places = [
        np.arange(end - np.prod(part.shape, dtype=int), end).reshape(part.shape)
        for end, part in zip(ends, parts, strict=True)
    ]
    return gathered(fields.functions, parts, np.concatenate(places, axis))


@functools.lru_cache(maxsize=256)
def _orthogonalised(shape: tuple[int, ...], dtype: np.dtype) -> ClosedJaxpr:
    with jax.enable_x64(True):
        return jax.make_jaxpr(orthogonalised)(jax.ShapeDtypeStruct(shape, dtype))
