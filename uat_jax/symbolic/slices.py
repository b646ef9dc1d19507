"""What a formula takes for granted: that the slices it writes exist."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import sympy

from uat_jax.errors import UnsupportedError
from uat_jax.symbolic import language as m
from uat_jax.symbolic.inequality import deduce
from uat_jax.symbolic.relations import Relation

Scope = tuple[tuple[sympy.Symbol, m.Scalar | int, m.Scalar], ...]
"""The sums around a place, the outermost first: (index, lower, upper)."""


def hypotheses(expression: m.Expression, scope: Scope = ()) -> tuple[str, ...]:
    """What has to be assumed for every E_i of an expression to be a slice: 1 ≤ i and i·d ≤ M, where not seen to hold.

    Where i is the index of a sum, it has to hold between the bounds of the sum; ``scope``: the sums around it all.
    """
    found = (text for around, part in _selections(expression, scope) for text in _assumed(part, around))
    return tuple(dict.fromkeys(found))


def _selections(e: m.Expression, scope: Scope) -> Iterator[tuple[Scope, m.Selection]]:
    if isinstance(e, m.Selection):
        yield scope, e
    inside = (*scope, (e.index, *e.bounds)) if isinstance(e, m.RangeSum) else scope
    for operand in e.operands:
        yield from _selections(operand, inside)


def _assumed(selection: m.Selection, scope: Scope) -> Iterator[str]:
    from uat_jax.symbolic.printing import scalar_text

    index, (rows, columns) = selection.index, selection.shape
    if not nonnegative(index - 1, scope):
        yield f"{scalar_text(index)} ≥ 1"
    if not nonnegative(rows - index * columns, scope):
        yield f"{scalar_text(index * columns)} ≤ {scalar_text(rows)}"


def nonnegative(value: m.Scalar, scope: Scope = (), given: Iterable[Relation] = ()) -> bool:
    """Whether value ≥ 0 is seen to hold for all values of its symbols, and of the indices of the sums around it.

    An affine function of an index is least at one of the bounds.  ``given``: relations that hold.
    """
    value = sympy.expand(value)
    for place, (index, lower, upper) in reversed(list(enumerate(scope))):
        if index in value.free_symbols:
            slope = sympy.expand(value.diff(index))
            if index in slope.free_symbols or not (slope.is_nonnegative or slope.is_nonpositive):
                return False
            least = lower if slope.is_nonnegative else upper
            return nonnegative(m.replaced(value, {index: least}), scope[:place], given)
    seen = value.is_nonnegative or sympy.factor(value).is_nonnegative  # h d − d = d (h − 1)
    return bool(seen) or _follows(value, tuple(given))


def _follows(value: m.Scalar, given: tuple[Relation, ...]) -> bool:
    try:
        return bool(given) and bool(deduce(value >= 0, given).cases)
    except UnsupportedError:  # no polynomials
        return False
