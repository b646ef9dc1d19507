"""What the small programs inside reductions and sorts do: known to be one of a few, or not known.

The whole body is compared, every operation and constant of it, with a reducer or comparator written here.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass

import numpy as np
from jax.extend.mlir import ir

from uat_jax.inputs.mlir_expressions import Expression, of_region
from uat_jax.inputs.mlir_parsing import parsed

REDUCERS = ("add", "multiply", "maximum", "minimum", "and", "or", "xor")
"""Operations that a reduction may apply in any order."""


def element_of(region: ir.Region, place: int = 0) -> str:
    """The MLIR name of the element type of one of the arguments of a region."""
    return str(ir.RankedTensorType(region.blocks[0].arguments[place].type).element_type)


def reducer(region: ir.Region) -> str | None:
    """The name of the operation that a region of two arguments applies; "second" if it returns the second of them."""
    if len(region.blocks[0].arguments) != 2:
        return None
    found, element = of_region(region), element_of(region)
    names = (*REDUCERS, "second", "logaddexp", "greater or equal")
    return next((name for name in names if found == _reducer(name, element)), None)


@functools.cache
def _reducer(name: str, element: str) -> tuple[Expression | None, ...] | None:
    """What a reducer looks like, made from the text that JAX writes."""
    t = f"tensor<{element}>"
    if element not in FLOATS and name in ("logaddexp", "greater or equal"):
        return None
    body = {
        "second": f"return %b : {t}",
        "greater or equal": f"""
            %0 = stablehlo.compare GE, %a, %b, FLOAT : ({t}, {t}) -> tensor<i1>
            return %0 : tensor<i1>""",
        "logaddexp": f"""
            %0 = stablehlo.maximum %a, %b : {t}
            %1 = stablehlo.subtract %a, %b : {t}
            %2 = stablehlo.compare NE, %1, %1, FLOAT : ({t}, {t}) -> tensor<i1>
            %3 = stablehlo.add %a, %b : {t}
            %4 = stablehlo.abs %1 : {t}
            %5 = stablehlo.negate %4 : {t}
            %6 = stablehlo.exponential %5 : {t}
            %7 = stablehlo.log_plus_one %6 : {t}
            %8 = stablehlo.add %0, %7 : {t}
            %9 = stablehlo.select %2, %3, %8 : tensor<i1>, {t}
            return %9 : {t}""",
    }.get(name, f"%0 = stablehlo.{name} %a, %b : {t}\nreturn %0 : {t}")
    return _of_text(f"%a: {t}, %b: {t}", body)


FLOATS = frozenset(["f16", "bf16", "f32", "f64"])


def _of_text(arguments: str, body: str) -> tuple[Expression | None, ...] | None:
    """The expressions of a function's results; None if it is no valid program, such as `xor` of floats."""
    kind = body.rpartition(":")[2]
    try:
        module = parsed(f"func.func @f({arguments}) -> ({kind}) {{ {body} }}".encode())
    except ValueError:
        return None
    return of_region(module.body.operations[0].regions[0])


def largest(region: ir.Region) -> str | None:
    """ "GT" or "LT" if a reducer of numbers and their places keeps the first largest or smallest number."""
    if len(region.blocks[0].arguments) != 4:
        return None
    found, number, place = of_region(region), element_of(region, 0), element_of(region, 1)
    return next((which for which in ("GT", "LT") if found == _largest(which, number, place)), None)


@functools.cache
def _largest(which: str, number: str, place: str) -> tuple[Expression | None, ...] | None:
    """What JAX writes for argmax and argmin."""
    t, i, b = f"tensor<{number}>", f"tensor<{place}>", "tensor<i1>"
    kind = _comparison(number)
    body = f"""
        %0 = stablehlo.compare {which}, %x, %y, {kind} : ({t}, {t}) -> {b}
        %1 = stablehlo.compare NE, %x, %x, {kind} : ({t}, {t}) -> {b}
        %2 = stablehlo.or %0, %1 : {b}
        %3 = stablehlo.compare EQ, %x, %y, {kind} : ({t}, {t}) -> {b}
        %4 = stablehlo.compare LT, %i, %j, {_comparison(place)} : ({i}, {i}) -> {b}
        %5 = stablehlo.and %3, %4 : {b}
        %6 = stablehlo.or %2, %5 : {b}
        %7 = stablehlo.select %2, %x, %y : {b}, {t}
        %8 = stablehlo.select %6, %i, %j : {b}, {i}
        return %7, %8 : {t}, {i}"""
    return _of_text(f"%x: {t}, %i: {i}, %y: {t}, %j: {i}", body)


def _comparison(element: str) -> str:
    return "FLOAT" if element in FLOATS else "UNSIGNED" if element == "i1" or element.startswith("u") else "SIGNED"


@dataclass(frozen=True)
class Order:
    """How a sort compares: by these operands, one after the other, all ascending or all descending."""

    keys: tuple[int, ...]
    descending: bool


def order(region: ir.Region) -> Order | None:
    """The order that a comparator establishes, of numbers that are not NaN; None if it is none that is known."""
    arguments = region.blocks[0].arguments
    (found,) = of_region(region)
    if found is None:
        return None
    count = len(arguments) // 2
    elements = tuple(element_of(region, 2 * i) for i in range(count))
    leading = [tuple(range(n)) for n in range(1, count + 1)]
    for keys, descending in itertools.product([*leading, *((i,) for i in range(1, count))], (False, True)):
        if found in _orders(elements, keys, descending):
            return Order(keys, descending)
    return None


@functools.cache
def _orders(elements: tuple[str, ...], keys: tuple[int, ...], descending: bool) -> tuple[Expression | None, ...]:
    """What comparators of an order look like: JAX's own, with and without its care for NaN and -0, and plain ones."""
    arguments = ", ".join(f"%a{i}: tensor<{e}>, %b{i}: tensor<{e}>" for i, e in enumerate(elements))
    which = "GT" if descending else "LT"
    made = [
        _comparator(elements, keys, which, careful, kind)
        for careful in (True, False)
        for kind in ("TOTALORDER", "FLOAT")
    ]
    found = [_of_text(arguments, text) for text in made]
    return tuple(of[0] for of in found if of is not None and of[0] is not None)


def _comparator(elements: tuple[str, ...], keys: tuple[int, ...], which: str, careful: bool, kind: str) -> str:
    """MLIR text: a before b by the first key in which they differ."""
    lines: list[str] = []
    b = "tensor<i1>"

    def put(text: str) -> str:
        lines.append(f"%{len(lines)} = stablehlo.{text}")
        return f"%{len(lines) - 1}"

    def usual(name: str, t: str) -> str:
        """One zero and one NaN."""
        zero, nan = (put(f"constant dense<{number}> : {t}") for number in ("0.0", _nan(t)))
        signless = put(
            f"select {put(f'compare EQ, {name}, {zero}, FLOAT : ({t}, {t}) -> {b}')}, {zero}, {name} : {b}, {t}"
        )
        return put(
            f"select {put(f'compare NE, {name}, {name}, FLOAT : ({t}, {t}) -> {b}')}, {nan}, {signless} : {b}, {t}"
        )

    pairs = []
    for i in keys:
        t = f"tensor<{elements[i]}>"
        is_float = elements[i] in FLOATS
        sides = [usual(f"%{side}{i}", t) if careful and is_float else f"%{side}{i}" for side in "ab"]
        pairs.append((*sides, t, kind if is_float else _comparison(elements[i])))
    compare = lambda how, x, y, t, of: put(f"compare {how}, {x}, {y}, {of} : ({t}, {t}) -> {b}")
    result = compare(which, *pairs[-1])
    for pair in reversed(pairs[:-1]):
        first = compare(which, *pair)
        equal = put(f"and {compare('EQ', *pair)}, {result} : {b}")
        result = put(f"or {first}, {equal} : {b}")
    return "\n".join([*lines, f"return {result} : {b}"])


def _nan(t: str) -> str:
    return {"tensor<f16>": "0x7E00", "tensor<bf16>": "0x7FC0", "tensor<f64>": "0x7FF8000000000000"}.get(t, "0x7FC00000")


def neutral(name: str, array: np.ndarray) -> bool:
    """Whether a reduction that begins with this number is one that begins with nothing."""
    return array.ndim == 0 and bool(array == NEUTRAL[name](array.dtype))


NEUTRAL = {
    "add": lambda dtype: dtype.type(0),
    "multiply": lambda dtype: dtype.type(1),
    "maximum": lambda dtype: _extreme(dtype, low=True),
    "minimum": lambda dtype: _extreme(dtype, low=False),
    "and": lambda dtype: np.bitwise_not(np.zeros((), dtype)),
    "or": lambda dtype: dtype.type(0),
    "xor": lambda dtype: dtype.type(0),
}
"""Reducer → the number that changes nothing, for a dtype."""


def _extreme(dtype: np.dtype, *, low: bool) -> object:
    if dtype.kind == "b":
        return not low
    if dtype.kind in "iu":
        return np.iinfo(dtype).min if low else np.iinfo(dtype).max
    return dtype.type(-np.inf if low else np.inf)
