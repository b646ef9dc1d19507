"""Operations on arrays of t entries that keep the form Σ_k fixed_k·row_k[i]; every one holds for all t ≥ 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn

from uat_jax.decide.loops.along import Along, Factor, Moving, opposite, plain, product, quotient, row_of, total, without
from uat_jax.decide.loops.walk import Value
from uat_jax.decide.loops.whole_numbers import written
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of

if TYPE_CHECKING:
    from uat_jax.decide.loops.prefix import Prefix

Rule = Callable[["Prefix", JaxprEqn, list[Value]], Along]

MOST_FACTORS = 4
"""Powers up to this are written as products."""


def _sum(walk: Prefix, equation: JaxprEqn, operands: list[Value]) -> Along:
    """x + y, x − y."""
    x, y = (_spread(walk, equation, o, operands) for o in operands)
    terms = tuple(opposite(f, r) for f, r in y.terms) if equation.primitive.name == "sub" else y.terms
    return Along(x.axis, (*x.terms, *terms))


def _times(walk: Prefix, equation: JaxprEqn, operands: list[Value]) -> Along:
    """x·y and x²."""
    both = operands * 2 if len(operands) == 1 else operands
    x, y = (_spread(walk, equation, o, operands) for o in both)
    return Along(x.axis, tuple((product(f, g), product(r, s)) for f, r in x.terms for g, s in y.terms))


def _power(walk: Prefix, equation: JaxprEqn, operands: list[Value]) -> Along:
    """xⁿ: of a row alone, or as a product."""
    (x,), n = operands, equation.params["y"]
    if x.pure() is not None:
        return walk.structural(equation, operands)
    if not 1 <= n <= MOST_FACTORS:
        raise walk.refused(equation, "is a power of what depends on all steps")
    found = x
    for _ in range(n - 1):
        found = _times(walk, equation, [found, x])
    return found


def _negated(walk: Prefix, equation: JaxprEqn, operands: list[Value]) -> Along:
    """−x."""
    (x,) = operands
    return Along(x.axis, tuple(opposite(f, r) for f, r in x.terms))


def _cast(walk: Prefix, equation: JaxprEqn, operands: list[Value]) -> Along:
    """A float as one of another type: of both factors of every product."""
    (x,), dtype = operands, dtype_of(equation.outvars[0])
    of = lambda value: None if value is None else lax.convert_element_type(value, dtype)
    return Along(x.axis, tuple((of(f), of(r)) for f, r in x.terms))


def _divided(walk: Prefix, equation: JaxprEqn, operands: list[Value]) -> Along:
    """x/y for a y that is one product."""
    x, y = (_spread(walk, equation, o, operands) for o in operands)
    if len(y.terms) != 1:
        raise walk.refused(equation, "divides by a sum of a row and what depends on all steps")
    ((fixed, row),) = y.terms
    return Along(x.axis, tuple((quotient(f, fixed), quotient(r, row)) for f, r in x.terms))


def _exponential(walk: Prefix, equation: JaxprEqn, operands: list[Value]) -> Along:
    """exp(fixed + row) = exp(fixed)·exp(row)."""
    (x,) = operands
    fixed, row = parted(walk, equation, x)
    of = lambda value: None if value is None else walk.stage(equation, [value])[0]
    return Along(x.axis, ((of(fixed), of(row)),))


def _raised(walk: Prefix, equation: JaxprEqn, operands: list[Value]) -> Along:
    """c^(fixed + row) = c^fixed·c^row for a c > 0 that no step changes; other powers of rows alone."""
    base, exponent = operands
    known = isinstance(exponent, Along) and (exponent.number is not None or is_number(equation.invars[1]))
    if isinstance(base, Along | Moving) or not known:
        return walk.structural(equation, operands)
    if exponent.number is not None:
        exponent = written(walk, equation, exponent.number, exponent.axis)
    (_, number), (fixed, row) = (
        parted(walk, equation, _spread(walk, equation, o, [exponent])) for o in (base, exponent)
    )
    of = lambda value: None if value is None else walk.powered(number, value)
    return Along(exponent.axis, ((of(fixed), of(row)),))


def parted(walk: Prefix, equation: JaxprEqn, x: Along) -> tuple[Factor, Factor]:
    """A sum as one part that does not depend on the row and one that is the row's alone.

    Raises:
        UnsupportedError: a product of both stands in it.
    """
    if any(f is not None and r is not None for f, r in x.terms):
        raise walk.refused(equation, "is applied to a product of a row and what depends on all steps")
    fixed, rows = [f for f, r in x.terms if r is None], [r for _, r in x.terms if r is not None]
    return total(fixed) if fixed else None, total(rows) if rows else None


def _spread(walk: Prefix, equation: JaxprEqn, operand: Value, operands: Sequence[Value]) -> Along:
    """An operand of an entrywise operation as products of the shape of its result.

    A scalar is the same for all entries, and so is an array of one entry along an axis for all entries along it.
    """
    axis = next(o.axis for o in operands if isinstance(o, Along))
    shape = without(shape_of(equation.outvars[0]), axis)
    wide = lambda value: value if value is None or np.shape(value) == shape else jnp.broadcast_to(value, shape)
    if isinstance(operand, Along):
        if operand.number is not None and not operand.terms:
            raise walk.refused(equation, "mixes whole numbers and floats")
        return replace(operand, terms=tuple((wide(f), wide(r)) for f, r in operand.terms))
    value = wide(lax.convert_element_type(row_of(plain(operand), axis), dtype_of(equation.outvars[0])))
    return Along(axis, ((value, None) if isinstance(operand, Moving) else (None, value),))


RULES: Mapping[str, Rule] = {
    "add": _sum,
    "add_any": _sum,
    "sub": _sum,
    "mul": _times,
    "square": _times,
    "neg": _negated,
    "convert_element_type": _cast,
    "div": _divided,
    "exp": _exponential,
    "exp2": _exponential,
    "integer_pow": _power,
    "pow": _raised,
}
"""Operations on floats that keep sums of products."""
