"""What a value of MLIR is computed from, as data that can be compared: the operations down to some inputs.

An expression is a tuple of nodes; each node is a tuple of the operation's name, what distinguishes it, and the places
of its operands among the nodes before it.  Equal expressions compute the same function of their inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from jax.extend.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from uat_jax.errors import UnsupportedError
from uat_jax.inputs.mlir_values import constant_of, dtype_of, integers, shape_of

Node = tuple[Any, ...]  # Any: a kind and what belongs to it: nodes, numbers and names
Expression = tuple[Node, ...]

LONGEST = 2000
"""No expression that is looked for has more nodes."""

TOLD_APART = ("comparison_direction", "compare_type")
"""Attributes that are part of what an operation does; operations with others are matched by their whole text."""

NO_ATTRIBUTES = frozenset(
    f"stablehlo.{name}"
    for name in (
        "abs add and atan2 cbrt ceil clamp compare convert cosine divide exponential exponential_minus_one floor "
        "is_finite log log_plus_one logistic maximum minimum multiply negate not or power remainder "
        "round_nearest_afz round_nearest_even rsqrt select shift_left shift_right_arithmetic sign sine sqrt subtract "
        "tanh xor count_leading_zeros"
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


_Places = dict[ir.Value, int]
"""A value of a function → where it is among the nodes; a function that is called twice has two of them."""


def expression(
    value: ir.Value, inputs: Sequence[ir.Value], functions: Mapping[str, ir.Operation] = MappingProxyType({})
) -> Expression | None:
    """The expression of a value in these inputs; None if it needs another one, or more than `LONGEST` nodes.

    A call of one of `functions` is what is in it.  Arrays that hold one number, spread, are that number.
    """
    nodes: dict[Node, int] = {("input", i): i for i in range(len(inputs))}
    results: dict[tuple[str, tuple[int, ...]], list[int]] = {}  # of a function that is called with some nodes

    def place(value: ir.Value, places: _Places) -> int:
        if value not in places:
            operation = owner(value)
            if operation is None or len(nodes) > LONGEST:
                raise _OtherError
            if operation.name == "func.call":
                places.update(zip(operation.results, called(operation, places), strict=True))
            elif splat(operation) is None and _is_spread(operation):
                places[value] = place(operation.operands[0], places)
            else:
                node = _node(operation, lambda operand: place(operand, places))
                if node is None:
                    raise _OtherError
                places[value] = nodes.setdefault((*node, str(dtype_of(value.type))), len(nodes))
        return places[value]

    def called(operation: ir.Operation, places: _Places) -> list[int]:
        name = callee(operation)
        if name not in functions:
            raise _OtherError
        given = tuple(place(operand, places) for operand in operation.operands)
        if (name, given) not in results:
            (block,) = functions[name].regions[0].blocks
            *_, last = block.operations
            inner = dict(zip(block.arguments, given, strict=True))
            results[name, given] = [place(result, inner) for result in last.operands]
        return results[name, given]

    try:
        result = place(value, {value: place for place, value in enumerate(inputs)})
    except (_OtherError, RecursionError, UnsupportedError):  # of a type that is not read, or an open size
        return None
    return (*nodes, ("result", result))


def callee(call: ir.Operation) -> str:
    """The name of the function that a `func.call` calls."""
    return str(call.attributes["callee"]).removeprefix("@").strip('"')


def _is_spread(operation: ir.Operation) -> bool:
    """Whether an operation repeats one number, or changes nothing."""
    if operation.name != "stablehlo.broadcast_in_dim":
        return False
    (operand,) = operation.operands
    shape = shape_of(operand.type)
    same = shape == shape_of(operation.results[0].type)
    return (
        shape == () or same and list(integers(operation.attributes["broadcast_dimensions"])) == list(range(len(shape)))
    )


class _OtherError(Exception):
    """Something that is no part of an expression."""


def _node(operation: ir.Operation, place: Callable[[ir.Value], int]) -> Node | None:
    if (number := splat(operation)) is not None:
        return ("constant", number)
    if operation.name == "stablehlo.gather":
        return _looked_up(operation, place)
    if operation.name == "stablehlo.bitcast_convert":
        (operand,) = operation.operands
        same = shape_of(operand.type) == shape_of(operation.results[0].type)
        return (operation.name, place(operand)) if same else None
    if operation.name not in NO_ATTRIBUTES:
        return None
    told = [str(operation.attributes[key]) for key in TOLD_APART if key in operation.attributes]
    return (operation.name, *told, *(place(operand) for operand in operation.operands))


def _looked_up(operation: ir.Operation, place: Callable[[ir.Value], int]) -> Node | None:
    """The entry of a table of constants at a place for each entry of an array: the array, with one more axis of 1."""
    table, indices = operation.operands
    held, pointed = owner(table), owner(indices)
    if held is None or held.name != "stablehlo.constant" or pointed is None:
        return None
    shape = shape_of(operation.results[0].type)
    numbers = stablehlo.GatherDimensionNumbers(operation.attributes["dimension_numbers"])
    axes = [list(getattr(numbers, name)) for name in ("collapsed_slice_dims", "start_index_map", "offset_dims")]
    batching = [*numbers.operand_batching_dims, *numbers.start_indices_batching_dims]
    plain = axes == [[0], [0], []] and not batching and numbers.index_vector_dim == len(shape)
    if not plain or len(shape_of(table.type)) != 1 or integers(operation.attributes["slice_sizes"]) != (1,):
        return None
    if pointed.name != "stablehlo.broadcast_in_dim" or shape_of(indices.type) != (*shape, 1):
        return None
    (places,) = pointed.operands
    if shape_of(places.type) != shape or list(integers(pointed.attributes["broadcast_dimensions"])) != list(
        range(len(shape))
    ):
        return None
    return (operation.name, constant_of(held).tobytes().hex(), place(places))


def of_region(region: ir.Region) -> tuple[Expression | None, ...]:
    """The expressions of what a region returns, in its arguments."""
    (block,) = region.blocks
    *_, last = block.operations
    return tuple(expression(value, list(block.arguments)) for value in last.operands)
