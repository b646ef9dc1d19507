"""What a value of MLIR is computed from, as data that can be compared: the operations down to some inputs.

An expression is a tuple of nodes; each node is a tuple of the operation's name, what distinguishes it, and the places
of its operands among the nodes before it.  Equal expressions compute the same function of their inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jax.extend.mlir import ir

from uat_jax.inputs.mlir_values import constant_of, dtype_of

Node = tuple[Any, ...]
Expression = tuple[Node, ...]

LONGEST = 400
"""No expression that is looked for has more nodes."""

TOLD_APART = ("comparison_direction", "compare_type")
"""Attributes that are part of what an operation does; operations with others are matched by their whole text."""

NO_ATTRIBUTES = frozenset(
    f"stablehlo.{name}"
    for name in (
        "abs add and atan2 cbrt ceil clamp compare convert cosine divide exponential exponential_minus_one floor "
        "is_finite log log_plus_one logistic maximum minimum multiply negate not or power remainder "
        "round_nearest_afz round_nearest_even rsqrt select sign sine sqrt subtract tanh xor"
    ).split()
)
"""Operations that act entry by entry, so that their names and types say what they do."""


def owner(value: ir.Value) -> ir.Operation | None:
    """The operation that computes a value, or None if it is an argument of a block."""
    found: Any = value.owner
    return None if isinstance(found, ir.Block) else getattr(found, "operation", found)


def splat(operation: ir.Operation) -> str | None:
    """The number of which all entries of a constant are, exactly; None of anything else.

    Broadcasts are looked through.
    """
    while operation.name == "stablehlo.broadcast_in_dim" and (inner := owner(operation.operands[0])) is not None:
        operation = inner
    if operation.name != "stablehlo.constant":
        return None
    array = constant_of(operation)
    if array.size == 0 or any(stride for stride, size in zip(array.strides, array.shape, strict=True) if size > 1):
        return None
    return array[(0,) * array.ndim].tobytes().hex()


def expression(value: ir.Value, inputs: Sequence[ir.Value]) -> Expression | None:
    """The expression of a value in these inputs; None if it needs another one, or more than `LONGEST` nodes."""
    nodes: dict[Node, int] = {("input", i): i for i in range(len(inputs))}
    places = {value: place for place, value in enumerate(inputs)}

    def place(value: ir.Value) -> int:
        if value not in places:
            operation = owner(value)
            node = None if operation is None else _node(operation, place)
            if node is None or len(nodes) > LONGEST:
                raise _OtherError
            places[value] = nodes.setdefault((*node, str(dtype_of(value.type))), len(nodes))
        return places[value]

    try:
        result = place(value)
    except (_OtherError, RecursionError):
        return None
    return (*nodes, ("result", result))


class _OtherError(Exception):
    """Something that is no part of an expression."""


def _node(operation: ir.Operation, place: Callable[[ir.Value], int]) -> Node | None:
    if (number := splat(operation)) is not None:
        return ("constant", number)
    if operation.name not in NO_ATTRIBUTES:
        return None
    told = [str(operation.attributes[key]) for key in TOLD_APART if key in operation.attributes]
    return (operation.name, *told, *(place(operand) for operand in operation.operands))


def of_region(region: ir.Region) -> tuple[Expression | None, ...]:
    """The expressions of what a region returns, in its arguments."""
    (block,) = region.blocks
    *_, last = block.operations
    return tuple(expression(value, list(block.arguments)) for value in last.operands)
