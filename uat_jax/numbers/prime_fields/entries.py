"""One entry of an array as a formula of entries of other arrays, also through short sums, maxima and rows put together.

`formula` follows all entries of an array at once, in the same way; here one is followed alone.  A reduction of a few
entries is written as the operations on two numbers that it is made of, an argmax as comparisons with the largest entry
so far, a sort as exchanges of neighbours.  Of NaN these decide otherwise than a comparison or maximum that a program
writes: argmax takes NaN for the largest, and NaN > x is false.  So they are marked as parts of argmax and of sort.
docs/soundness.md §8.2 has what this rests on.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn, Primitive

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.recognition import meaning, meanings
from uat_jax.interpret.structure import positions
from uat_jax.interpret.tracing import dtype_of
from uat_jax.numbers.prime_fields.common_factors import terms_of_product, terms_of_sum
from uat_jax.numbers.prime_fields.expressions import Expression, Expressions
from uat_jax.numbers.prime_fields.formula import AnyEntries, Equals, Formula, formula_of

LONGEST = 8
"""Reductions of more entries are not written out."""

LONGEST_SORTED = 4
"""Sorted rows of more entries are not written out."""

DECIDING = frozenset("argmax argmin cummax cummin reduce_max reduce_min sort".split())
"""Reductions and sorts that decide by the signs of differences."""

FOLDED: Mapping[str, Primitive] = {
    "cummax": lax.max_p,
    "cummin": lax.min_p,
    "cumprod": lax.mul_p,
    "cumsum": lax.add_p,
    "reduce_and": lax.and_p,
    "reduce_max": lax.max_p,
    "reduce_min": lax.min_p,
    "reduce_or": lax.or_p,
    "reduce_prod": lax.mul_p,
    "reduce_sum": lax.add_p,
}
"""Reductions, and the operations on two numbers that they are made of."""

LARGER: Mapping[str, tuple[Primitive, Primitive]] = {"argmax": (lax.gt_p, lax.max_p), "argmin": (lax.lt_p, lax.min_p)}
"""When an entry takes the place of those before it, and what the best one is then."""

OF_BOOLEANS: Mapping[Primitive, Primitive] = {lax.max_p: lax.or_p, lax.min_p: lax.and_p}
"""The larger and the smaller of two decisions."""


def formula_of_entry(expressions: Expressions, places: Sequence[int], entry: int, equals: Equals) -> Formula | None:
    """What one entry of arrays of one shape is computed from; None if that is too long or cannot be followed.

    Args:
        expressions: the table in which the arrays stand.
        places: where they stand.
        entry: which entry is looked at, of the flattened arrays.
        equals: which arrays are equal.
    """
    builder = _OneEntry(expressions, expressions[places[0]].shape, equals)
    builder.source = np.array([entry])
    return formula_of(builder, places)


class _OneEntry(AnyEntries):
    """Nodes of one entry: `source` holds one number."""

    def _visited(self, place: int, used_by: JaxprEqn | None, operand: int) -> int | None:
        expression = self.expressions[place]
        equation = expression.equation
        if expression.constant is not None and used_by is not None and len(used_by.invars) > operand:
            return self._constant(expression, dtype_of(used_by.invars[operand]))
        if equation is not None:
            rule = RULES.get(equation.primitive.name)
            found = None if rule is None else rule(self, equation, expression)
            if found is not None:
                return found
        return super()._visited(place, used_by, operand)

    def _constant(self, expression: Expression, dtype: np.dtype) -> int | None:
        """An entry of a constant array, unless it is read as another number than it would be alone."""
        assert expression.constant is not None
        (entry,) = self.source
        value = expression.constant.ravel()[entry]
        if jnp.issubdtype(dtype, jnp.floating):
            found = meanings(expression.constant.astype(np.float64), dtype)
            if found is not None and found.distinct[found.codes.ravel()[entry]] != meaning(float(value), dtype):
                return None
        return self._literal(value, dtype)

    def member(self, place: int, entry: int, used_by: JaxprEqn, operand: int = 0) -> int | None:
        """The node of one entry of an array."""
        kept = self.shape, self.source
        self.shape, self.source = self.expressions[place].shape, np.array([entry])
        try:
            return self.visit(place, used_by, operand)
        finally:
            self.shape, self.source = kept

    def applied(self, primitive: Primitive, like: JaxprEqn, *operands: int | None, part_of: str = "") -> int | None:
        """A node that applies a primitive to numbers; None if one of them could not be followed."""
        return None if None in operands else self._applied(primitive, like, operands, part_of)

    def folded(self, primitive: Primitive, like: JaxprEqn, members: Sequence[int | None]) -> int | None:
        """A primitive of two operands applied to all members, from the left."""
        return functools.reduce(lambda x, y: self.applied(primitive, like, x, y), members)

    def whole(self, value: int, dtype: np.dtype) -> int:
        """The node of an integer."""
        return self._literal(np.asarray(value, dtype)[()], dtype)


def _reduced(nodes: _OneEntry, equation: JaxprEqn, expression: Expression) -> int | None:
    """A reduction of a few entries, one after the other."""
    (row,) = expression.operands
    terms = terms_of_sum(equation, nodes.expressions[row].shape)[0][nodes.source[0]]
    return _all(nodes, equation, row, terms)


def _prefix(nodes: _OneEntry, equation: JaxprEqn, expression: Expression) -> int | None:
    """What is accumulated along an axis up to an entry, or from it on."""
    (row,), axis = expression.operands, equation.params["axis"]
    places = np.arange(np.prod(expression.shape, dtype=int)).reshape(expression.shape)
    here = list(np.unravel_index(nodes.source[0], expression.shape))
    number = int(here[axis])
    here[axis] = slice(number, None) if equation.params["reverse"] else slice(0, number + 1)  # type: ignore[call-overload]
    return _all(nodes, equation, row, places[tuple(here)])


def _all(nodes: _OneEntry, equation: JaxprEqn, row: int, terms: np.ndarray) -> int | None:
    if not 0 < len(terms) <= LONGEST:
        return None
    members = [nodes.member(row, int(k), equation) for k in terms]
    return nodes.folded(FOLDED[equation.primitive.name], equation, members)


def _product(nodes: _OneEntry, equation: JaxprEqn, expression: Expression) -> int | None:
    """Σₖ xₖyₖ of a few terms."""
    shapes = [nodes.expressions[operand].shape for operand in expression.operands]
    sides = [grid[nodes.source[0]] for grid in terms_of_product(equation, *shapes)]
    if not 0 < len(sides[0]) <= LONGEST or not jnp.issubdtype(dtype_of(equation.outvars[0]), jnp.floating):
        return None
    terms = [
        nodes.applied(
            lax.mul_p,
            equation,
            *(
                nodes.member(p, int(k), equation, i)
                for i, (p, k) in enumerate(zip(expression.operands, at, strict=True))
            ),
        )
        for at in zip(*sides, strict=True)
    ]
    return nodes.folded(lax.add_p, equation, terms)


def _place_of_largest(nodes: _OneEntry, equation: JaxprEqn, expression: Expression) -> int | None:
    """The place of the first entry that is larger than all before it, and smaller than none after it."""
    (row,) = expression.operands
    terms = terms_of_sum(equation, nodes.expressions[row].shape)[0][nodes.source[0]]
    given, dtype = dtype_of(equation.invars[0]), dtype_of(equation.outvars[0])
    if not 0 < len(terms) <= LONGEST or not (jnp.issubdtype(given, jnp.floating) or given == np.bool_):
        return None
    name = equation.primitive.name
    whether, extreme = LARGER[name]
    extreme = OF_BOOLEANS[extreme] if given == np.bool_ else extreme
    best, place = nodes.member(row, int(terms[0]), equation), nodes.whole(0, dtype)
    for number, k in enumerate(terms[1:], 1):
        member = nodes.member(row, int(k), equation)
        if best is None or member is None:
            return None
        larger = nodes.typed(whether, equation, (member, best), bool, name)
        place = nodes.typed(lax.select_n_p, equation, (larger, place, nodes.whole(number, dtype)), dtype)
        best = nodes.typed(extreme, equation, (best, member), given, name)
    return place


def _sorted(nodes: _OneEntry, equation: JaxprEqn, expression: Expression) -> int | None:
    """An entry of a short sorted row: neighbours are exchanged until all are in order.

    Of what is moved along with a key it is the entry at the place that the key of this rank has.
    """
    axis, keys = equation.params["dimension"], equation.params["num_keys"]
    if keys != 1 or not expression.shape[axis] <= LONGEST_SORTED:
        return None
    row, rank = _row(nodes, expression.shape, expression.shape, axis)
    members = [nodes.member(expression.operands[0], k, equation) for k in row]
    if expression.result == 0 and _is_real(equation):
        return _in_order(nodes, equation, members)[rank]
    if not equation.params["is_stable"] or None in members:
        return None
    others = [nodes.member(expression.operands[expression.result], k, equation, expression.result) for k in row]
    dtype = dtype_of(equation.outvars[expression.result])
    return _of_rank(nodes, equation, members, others, rank, (lax.le_p, lax.lt_p), dtype)


def _largest(nodes: _OneEntry, equation: JaxprEqn, expression: Expression) -> int | None:
    """One of the largest entries of a short row, or its place; of equal ones the first comes first."""
    (operand,) = expression.operands
    shape = nodes.expressions[operand].shape
    axis = equation.params.get("axis", -1) % len(shape)
    if not shape[axis] <= LONGEST_SORTED or not _is_real(equation):
        return None
    row, rank = _row(nodes, expression.shape, shape, axis)
    members = [nodes.member(operand, k, equation) for k in row]
    if expression.result == 0:
        return _in_order(nodes, equation, members)[len(members) - 1 - rank]
    if None in members:
        return None
    dtype = dtype_of(equation.outvars[1])
    places = [nodes.whole(k, dtype) for k in range(len(members))]
    return _of_rank(nodes, equation, members, places, rank, (lax.ge_p, lax.gt_p), dtype)


def _row(nodes: _OneEntry, shape: tuple[int, ...], of: tuple[int, ...], axis: int) -> tuple[list[int], int]:
    """The entries of the row, of an array of another length along the axis, in which the entry is; and its rank."""
    here = list(np.unravel_index(nodes.source[0], shape))
    rank, here[axis] = int(here[axis]), slice(None)  # type: ignore[call-overload]
    return np.arange(math.prod(of)).reshape(of)[tuple(here)].tolist(), rank


def _in_order(nodes: _OneEntry, equation: JaxprEqn, members: Sequence[int | None]) -> list[int | None]:
    """The members in ascending order."""
    ordered, name = list(members), equation.primitive.name
    for end in range(len(ordered) - 1, 0, -1):
        for i in range(end):
            pair = ordered[i], ordered[i + 1]
            ordered[i : i + 2] = [nodes.applied(p, equation, *pair, part_of=name) for p in (lax.min_p, lax.max_p)]
    return ordered


def _of_rank(
    nodes: _OneEntry,
    equation: JaxprEqn,
    members: Sequence[int | None],
    others: Sequence[int | None],
    rank: int,
    before: tuple[Primitive, Primitive],
    dtype: np.dtype,
) -> int | None:
    """Of `others` the one that stands where the member of this rank does.

    before: whether an earlier member comes before a later one, and whether a later one comes before an earlier one.
    """
    if None in members or None in others:
        return None
    integers, name = np.dtype(np.int32), equation.primitive.name
    zero, one = nodes.whole(0, integers), nodes.whole(1, integers)
    found = others[-1]
    for j in reversed(range(len(members) - 1)):
        count = zero
        for k in range(len(members)):
            if k != j:
                pair = members[k], members[j]
                comes = nodes.typed(before[k > j], equation, pair, bool, name)  # type: ignore[arg-type]
                counted = nodes.typed(lax.select_n_p, equation, (comes, zero, one), integers)
                count = nodes.typed(lax.add_p, equation, (count, counted), integers)
        here = nodes.typed(lax.eq_p, equation, (count, nodes.whole(rank, integers)), bool)
        found = nodes.typed(lax.select_n_p, equation, (here, found, others[j]), dtype)  # type: ignore[arg-type]
    return found


def _is_real(equation: JaxprEqn) -> bool:
    return jnp.issubdtype(dtype_of(equation.invars[0]), jnp.floating)


def _put_together(nodes: _OneEntry, equation: JaxprEqn, expression: Expression) -> int | None:
    """The entry of the operand that it comes from."""
    given = [nodes.expressions[operand] for operand in expression.operands]
    supplied = [i == 0 or equation.primitive.name in ("concatenate", "pad", "stack") for i in range(len(given))]
    if any(not here and known.constant is None for here, known in zip(supplied, given, strict=True)):
        return None
    constants = [None if here else known.constant for here, known in zip(supplied, given, strict=True)]
    try:
        entry = int(positions(equation, constants, supplied)[expression.result].ravel()[nodes.source[0]])
    except UnsupportedError:
        return None
    for operand, known in enumerate(given):
        size = int(np.prod(known.shape, dtype=int))
        if entry < size:
            return nodes.member(expression.operands[operand], entry, equation, operand)
        entry -= size
    return None


def _chosen(nodes: _OneEntry, equation: JaxprEqn, expression: Expression) -> int | None:
    """The case that a constant chooses."""
    known = nodes.expressions[expression.operands[0]].constant
    if known is None:
        return None
    case = 1 + int(np.broadcast_to(known, expression.shape).ravel()[nodes.source[0]])
    if not 0 < case < len(expression.operands):
        return None
    return nodes.visit(expression.operands[case], equation, case)


def _is_finite(nodes: _OneEntry, equation: JaxprEqn, expression: Expression) -> int | None:
    """Whether an entry is a number, which cells know."""
    operand = nodes.visit(expression.operands[0], equation)
    return None if operand is None else nodes.typed(lax.is_finite_p, equation, (operand,), bool)


RULES: Mapping[str, Callable[[_OneEntry, JaxprEqn, Expression], int | None]] = {
    **{name: _prefix if name.startswith("cum") else _reduced for name in FOLDED},
    **dict.fromkeys(LARGER, _place_of_largest),
    **dict.fromkeys("concatenate dynamic_slice gather pad split stack".split(), _put_together),
    "dot_general": _product,
    "is_finite": _is_finite,
    "select_n": _chosen,
    "sort": _sorted,
    "top_k": _largest,
}
"""What is written out of an entry of a result; all else is followed as for whole arrays."""
