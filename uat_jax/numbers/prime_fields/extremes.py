"""A maximum or minimum of two numbers, compared with one of them: that is a comparison of the two.

x = max(x, y) where x ≥ y, and x < max(x, y) where x < y.  JAX writes the derivative of a maximum in this way.
docs/soundness.md §8.6 has the proof.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from jax import lax
from jax.extend.core import JaxprEqn, Primitive

from uat_jax.interpret.tracing import shape_of
from uat_jax.numbers.prime_fields.expressions import Expressions
from uat_jax.numbers.prime_fields.guards import side_of

OF_MEMBERS: Mapping[str, Mapping[str, Primitive]] = {
    "max": {"eq": lax.ge_p, "ge": lax.ge_p, "lt": lax.lt_p, "ne": lax.lt_p},
    "min": {"eq": lax.le_p, "le": lax.le_p, "gt": lax.gt_p, "ne": lax.gt_p},
}
"""What x ~ max(x, y), or x ~ min(x, y), says of x and y."""

REVERSED = {"eq": "eq", "ge": "le", "gt": "lt", "le": "ge", "lt": "gt", "ne": "ne"}
"""y ~ x as a comparison of x with y."""


def of_members(
    expressions: Expressions, extremes: Mapping[int, JaxprEqn], equation: JaxprEqn, places: Sequence[int]
) -> tuple[JaxprEqn, JaxprEqn, tuple[int, int]] | None:
    """A comparison of a number with a maximum or minimum of it and another one, as one of these two.

    Args:
        expressions: the table in which they stand.
        extremes: by the places of maxima and minima of two numbers, the equations that computed them.
        equation: any.
        places: of its operands.

    Returns:
        An equation that compares the two numbers, the one that made the maximum or minimum of them, and their places;
        None if `equation` is no such comparison.
    """
    name = equation.primitive.name
    if name not in REVERSED:
        return None
    for (x, extreme), relation in ((places, name), (places[::-1], REVERSED[name])):
        made = extremes.get(extreme)
        found = None if made is None else OF_MEMBERS[made.primitive.name].get(relation)
        if made is None or found is None:
            continue
        first, second = expressions[extreme].operands
        wanted, *sides = (side_of(expressions, place) for place in (x, first, second))
        if wanted in sides:
            members = (first, second) if wanted == sides[0] else (second, first)
            shapes = tuple(expressions[place].shape for place in members)
            return _comparison(found, equation, made, shapes), made, members
    return None


@functools.lru_cache(maxsize=1024)
def _comparison(relation: Primitive, equation: JaxprEqn, made: JaxprEqn, shapes: Sequence[tuple[int, ...]]) -> JaxprEqn:
    """An equation that compares the operands of a maximum or minimum, in the order in which they have these shapes."""
    turned = tuple(map(shape_of, made.invars)) != shapes
    return equation.replace(primitive=relation, invars=made.invars[::-1] if turned else made.invars, params={})
