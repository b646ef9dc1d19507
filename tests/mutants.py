"""Mutants of a jaxpr: copies with exactly one thing changed in one equation, and whether the change shows in numbers.

A mutant keeps the shape and dtype of every variable, so that it is a valid jaxpr again.
"""

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flint import arb
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, jaxpr_as_fun

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.interpreter import IDENTITY, interpret
from uat_jax.interpret.tracing import dtype_of, shape_of, source_line
from uat_jax.numbers.balls.balls import Balls, UndecidedError, enclose
from uat_jax.numbers.floats.doubles import Doubles

KINDS = ("operator", "operand order", "axis", "constant", "power", "dropped equation", "variable")


@dataclass(frozen=True)
class Mutant:
    """A jaxpr with one change.

    Attributes:
        kind: one of `KINDS`.
        name: the change in a few words, such as "add -> sub".
        where: the path of the equation through the nested jaxprs, such as "4:jit/0:mul", and its line if known.
        closed_jaxpr: the changed jaxpr, with the inputs and outputs of the original.
    """

    kind: str
    name: str
    where: str
    closed_jaxpr: Any

    def __str__(self) -> str:
        return f"{self.kind}: {self.name} in {self.where}"


# --- the walk: where a change can stand ----------------------------------------------------------------------------


def mutants(closed_jaxpr: ClosedJaxpr) -> Iterator[Mutant]:
    """All mutants of a jaxpr and of the jaxprs nested in it, in the order of the equations."""
    return _of_closed(closed_jaxpr, "")


def _of_closed(closed: ClosedJaxpr, path: str) -> Iterator[Mutant]:
    for i, array in enumerate(closed.consts):
        for name, changed in _other_constants(array):
            yield Mutant(
                "constant", name, f"{path}captured array {i}", closed.replace(consts=_with(closed.consts, i, changed))
            )
    for mutant in _of_jaxpr(closed.jaxpr, path):
        yield replace(mutant, closed_jaxpr=closed.replace(jaxpr=mutant.closed_jaxpr))


def _of_jaxpr(jaxpr: Jaxpr, path: str) -> Iterator[Mutant]:
    """Mutants whose `closed_jaxpr` is an open jaxpr, for the caller to close."""
    atoms = itertools.chain(jaxpr.outvars, *(equation.invars for equation in jaxpr.eqns))
    used = {atom for atom in atoms if not isinstance(atom, Literal)}
    scope = [variable for variable in (*jaxpr.constvars, *jaxpr.invars) if variable in used]
    for i, equation in enumerate(jaxpr.eqns):
        where = f"{path}{i}:{equation.primitive.name}"
        for mutant in _of_equation(equation, scope, where):
            yield replace(mutant, closed_jaxpr=jaxpr.replace(eqns=_with(jaxpr.eqns, i, mutant.closed_jaxpr)))
        for j, operand in _droppable(equation):
            name, line = f"operand {j} returned", source_line(equation)
            yield Mutant("dropped equation", name, where + line, _without(jaxpr, i, operand))
        scope += [variable for variable in equation.outvars if variable in used]


def _of_equation(equation: JaxprEqn, scope: Sequence[Any], where: str) -> Iterator[Mutant]:
    """Mutants whose `closed_jaxpr` is one equation, for the caller to put in its place."""
    line = source_line(equation)
    for kind, name, changed in _changes(equation, scope):
        if changed is not None:
            yield Mutant(kind, name, where + line, changed)
    for key, inner in _nested(equation):
        for mutant in _of_nested(inner, f"{where}/"):
            yield replace(mutant, closed_jaxpr=_with_parameter(equation, key, mutant.closed_jaxpr))


def _of_nested(inner: Any, path: str) -> Iterator[Mutant]:
    if isinstance(inner, (ClosedJaxpr, Jaxpr)):
        yield from (_of_closed if isinstance(inner, ClosedJaxpr) else _of_jaxpr)(inner, path)  # type: ignore[operator]
    else:  # the branches of a cond
        for i, branch in enumerate(inner):
            for mutant in _of_nested(branch, f"{path}branch {i}/"):
                yield replace(mutant, closed_jaxpr=tuple(_with(inner, i, mutant.closed_jaxpr)))


def _nested(equation: JaxprEqn) -> Iterator[tuple[str, Any]]:
    """The parameters that hold jaxprs; none of a `while`, which a change may keep from ending."""
    for key, value in sorted(equation.params.items()):
        first = value[0] if isinstance(value, tuple) and value else value
        if isinstance(first, (ClosedJaxpr, Jaxpr)) and equation.primitive.name != "while":
            yield key, value


def _with(items: Sequence[Any], i: int, item: Any) -> list[Any]:
    return [*items[:i], item, *items[i + 1 :]]


def _with_parameter(equation: JaxprEqn, key: str, value: Any) -> JaxprEqn:
    return equation.replace(params={**equation.params, key: value})


# --- one equation, changed in every way ----------------------------------------------------------------------------

OPERATORS = {
    "abs": ("neg", "square"),
    "add": ("sub", "mul"),
    "add_any": ("sub",),
    "and": ("bitwise_or",),
    "cos": ("sin",),
    "cummax": ("cummin",),
    "cumsum": ("cummax",),
    "div": ("mul",),
    "eq": ("ne",),
    "erf": ("tanh",),
    "erfc": ("erf",),
    "exp": ("tanh", "exp2"),
    "ge": ("le", "gt"),
    "gt": ("lt", "ge"),
    "le": ("ge", "lt"),
    "log": ("log1p",),
    "log1p": ("log",),
    "logistic": ("tanh",),
    "lt": ("gt", "le"),
    "max": ("min",),
    "min": ("max",),
    "mul": ("add", "div"),
    "ne": ("eq",),
    "neg": ("abs",),
    "or": ("bitwise_and",),
    "reduce_max": ("reduce_min", "reduce_sum"),
    "reduce_min": ("reduce_max",),
    "reduce_prod": ("reduce_sum",),
    "reduce_sum": ("reduce_max", "reduce_prod"),
    "rsqrt": ("sqrt",),
    "sign": ("tanh",),
    "sin": ("cos",),
    "sqrt": ("square", "rsqrt"),
    "square": ("abs", "sqrt"),
    "sub": ("add",),
    "tanh": ("erf", "sin"),
}
"""A primitive -> the functions of `jax.lax` that are put in its place."""

KEPT = ("axes", "axis", "reverse")
"""The parameters that a new operator takes over from the old one."""

ORDERED = ("atan2", "clamp", "concatenate", "div", "dot_general", "pow", "rem", "sub")
"""Primitives whose operands are put in the opposite order."""


def _changes(equation: JaxprEqn, scope: Sequence[Any]) -> Iterator[tuple[str, str, JaxprEqn | None]]:
    """(kind, name, changed equation), or None in its place where shapes or dtypes would change."""
    name, atoms = equation.primitive.name, equation.invars
    kept = {key: value for key, value in equation.params.items() if key in KEPT}
    for other in OPERATORS.get(name, ()):
        yield "operator", f"{name} -> {other}", _staged(functools.partial(getattr(lax, other), **kept), equation, atoms)
    for order, operands in _orders(equation):
        yield "operand order", f"{name} of {order}", _staged(_bound(equation), equation, operands)
    for key, value in _axes(equation):
        yield "axis", f"{name} with {key} = {value}", _staged(_bound(equation, **{key: value}), equation, atoms)
    for i, literal in enumerate(atoms):
        for change, changed in _other_literals(literal):
            yield "constant", f"operand {i} {change}", equation.replace(invars=_with(atoms, i, changed))
    if name == "integer_pow":
        for y in (equation.params["y"] - 1, equation.params["y"] + 1):
            yield "power", f"y = {y}", _with_parameter(equation, "y", y)
    for i, other in _other_variables(atoms, scope):
        yield "variable", f"operand {i} another variable", equation.replace(invars=_with(atoms, i, other))


def _bound(equation: JaxprEqn, **changes: Any) -> Callable[..., Any]:
    return functools.partial(equation.primitive.bind, **{**equation.params, **changes})


def _staged(function: Callable[..., Any], equation: JaxprEqn, operands: Sequence[Any]) -> JaxprEqn | None:
    """The one equation of function(*operands) in place of `equation`, or None if its results are of other types."""
    specs = [jax.ShapeDtypeStruct(shape_of(atom), dtype_of(atom)) for atom in operands]
    try:
        with jax.enable_x64(True):  # a float64 operand stays one
            (staged,) = jax.make_jaxpr(function)(*specs).eqns
    except (TypeError, ValueError):  # these operands do not fit this primitive
        return None
    if list(map(_type, staged.outvars)) != list(map(_type, equation.outvars)):
        return None
    return equation.replace(primitive=staged.primitive, params=staged.params, invars=list(operands))


def _type(atom: Any) -> tuple[tuple[int, ...], np.dtype]:
    return shape_of(atom), dtype_of(atom)


def _orders(equation: JaxprEqn) -> Iterator[tuple[str, list[Any]]]:
    name, atoms = equation.primitive.name, equation.invars
    if name in ORDERED and any(a is not b for a, b in zip(atoms, reversed(atoms), strict=True)):
        yield "reversed operands", list(reversed(atoms))
    if name == "select_n" and atoms[1] is not atoms[2]:
        yield "swapped cases", [atoms[0], atoms[2], atoms[1], *atoms[3:]]


# --- axes ----------------------------------------------------------------------------------------------------------


def _axes(equation: JaxprEqn) -> Iterator[tuple[str, Any]]:
    """(parameter, other value) for every other choice of axes, fitting or not."""
    parameters, rank = equation.params, len(shape_of(equation.outvars[0])) if equation.outvars else 0
    inner = len(shape_of(equation.invars[0])) if equation.invars else 0
    match equation.primitive.name:
        case "reduce_sum" | "reduce_max" | "reduce_min" | "reduce_prod" | "argmax" | "argmin":
            yield from _others("axes", parameters, itertools.combinations(range(inner), len(parameters["axes"])))
        case "cumsum" | "cumprod" | "cummax" | "cummin" | "cumlogsumexp":
            yield from _others("axis", parameters, range(inner))
            yield "reverse", not parameters["reverse"]
        case "transpose":
            yield from _others("permutation", parameters, itertools.permutations(range(inner)))
        case "broadcast_in_dim":
            yield from _others("broadcast_dimensions", parameters, itertools.combinations(range(rank), inner))
        case "concatenate" | "iota":
            yield from _others("dimension", parameters, range(rank))
        case "split" | "stack":
            yield from _others("axis", parameters, range(max(rank, inner)))
        case "rev":
            yield from _others(
                "dimensions", parameters, itertools.combinations(range(inner), len(parameters["dimensions"]))
            )
        case "dot_general":
            yield from _others("dimension_numbers", parameters, _contractions(equation))


def _others(key: str, parameters: dict[str, Any], values: Any) -> Iterator[tuple[str, Any]]:
    return ((key, value) for value in values if value != parameters[key])


def _contractions(equation: JaxprEqn) -> Iterator[Any]:
    """Dimension numbers of a product with one contracted axis of one operand exchanged for a free one of its size."""
    contracted, batch = equation.params["dimension_numbers"]
    for side, atom in enumerate(equation.invars):
        shape = shape_of(atom)
        free = set(range(len(shape))) - {*contracted[side], *batch[side]}
        for i, axis in enumerate(contracted[side]):
            for other in sorted(free):
                if shape[other] == shape[axis]:
                    exchanged = tuple(_with(contracted[side], i, other))
                    yield tuple(_with(contracted, side, exchanged)), batch


# --- constants -----------------------------------------------------------------------------------------------------


def _other_literals(atom: Any) -> Iterator[tuple[str, Literal]]:
    if isinstance(atom, Literal):
        for name, changed in _other_constants(np.asarray(atom.val, dtype_of(atom))):
            yield name, Literal(changed[()], atom.aval)


def _other_constants(value: Any) -> Iterator[tuple[str, np.ndarray]]:
    """A number: doubled, negated, plus one, zero. An array: its middle entry times 1 + 2^-20, or plus one."""
    if not jnp.issubdtype(value.dtype, np.number):
        return
    value = np.asarray(value)
    with np.errstate(over="ignore"):  # the most negative number of a mask, doubled
        changes = _array_changes(value) if value.ndim else _scalar_changes(value)
    for name, changed in changes.items():
        if not np.array_equal(changed, value):
            yield name, np.asarray(changed, value.dtype)


def _scalar_changes(value: np.ndarray) -> dict[str, np.ndarray]:
    one = value.dtype.type(1)
    return {"doubled": value + value, "negated": -value, "plus one": value + one, "zero": np.zeros_like(value)}


def _array_changes(value: np.ndarray) -> dict[str, np.ndarray]:
    middle = np.arange(value.size).reshape(value.shape) == value.size // 2
    number = value.dtype.type
    changes = {"entry plus one": np.where(middle, value + number(1), value)}
    if jnp.issubdtype(value.dtype, jnp.floating):
        changes["entry by 2^-20"] = np.where(middle, value * number(1 + 2.0**-20), value)
    return changes


# --- variables and dropped equations -------------------------------------------------------------------------------


def _other_variables(atoms: Sequence[Any], scope: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    """For each operand the next variable of its type in scope, in a circle."""
    for i, atom in enumerate(atoms):
        alike = [] if isinstance(atom, Literal) else [v for v in scope if _type(v) == _type(atom)]
        if len(alike) > 1:
            yield i, alike[(alike.index(atom) + 1) % len(alike)]


def _droppable(equation: JaxprEqn) -> Iterator[tuple[int, Any]]:
    """The operands that can stand for the only result."""
    if len(equation.outvars) != 1 or equation.primitive.name in IDENTITY:
        return
    for i, atom in enumerate(equation.invars):
        if _type(atom) == _type(equation.outvars[0]) and all(atom is not earlier for earlier in equation.invars[:i]):
            yield i, atom


def _without(jaxpr: Jaxpr, i: int, operand: Any) -> Jaxpr:
    """The jaxpr without its i-th equation, whose result becomes `operand`."""
    (dropped,) = jaxpr.eqns[i].outvars
    substituted = lambda atoms: [operand if atom is dropped else atom for atom in atoms]
    later = [equation.replace(invars=substituted(equation.invars)) for equation in jaxpr.eqns[i + 1 :]]
    return jaxpr.replace(eqns=[*jaxpr.eqns[:i], *later], outvars=substituted(jaxpr.outvars))


# --- what a mutant computes ----------------------------------------------------------------------------------------


def as_function(closed_jaxpr: ClosedJaxpr) -> Callable[..., tuple[jax.Array, ...]]:
    """The JAX function of a jaxpr: one array per input, a tuple of one array per output."""
    return lambda *arrays: tuple(jaxpr_as_fun(closed_jaxpr)(*arrays))


def specs_of(closed_jaxpr: ClosedJaxpr) -> tuple[jax.ShapeDtypeStruct, ...]:
    """The shapes and dtypes of a jaxpr's inputs."""
    return tuple(jax.ShapeDtypeStruct(shape_of(v), dtype_of(v)) for v in closed_jaxpr.jaxpr.invars)


class Difference(StrEnum):
    """What evaluation at random inputs says about two functions."""

    DIFFERENT = "different"
    """Some entry of the results differs at some input: the balls that enclose its two values do not meet."""
    SAME = "same"
    """No entry is seen to differ."""
    UNDEFINED = "undefined"
    """No entry is seen to differ, but some entry is finite in one of them alone, at every input."""
    UNSEEN = "unseen"
    """One of them cannot be evaluated: a primitive without a rule, an index that lies outside, an undecided tie."""


COPIES = 16

SUSPECT = 2.0**-40
"""The part of the largest entry from which on a gap in float64 is looked at in ball arithmetic, which alone decides.
A change of one weight by 2^-20 moves the results by a million times as much."""


def differs(closed_jaxpr: ClosedJaxpr, other: ClosedJaxpr, seed: int) -> Difference:
    """Whether two jaxprs of the same inputs differ at one of 16 standard normal inputs drawn from a seed."""
    random = np.random.default_rng(seed)
    arguments = [random.normal(size=(COPIES, *shape_of(v))) for v in closed_jaxpr.jaxpr.invars]
    sides = closed_jaxpr, other
    try:
        ours, theirs = (np.hstack([*map(_per_copy, interpret(side, Doubles(), arguments))]) for side in sides)
        gaps = _gaps(ours, theirs)
        if gaps.max() > SUSPECT and not _meet(sides, [argument[gaps.argmax()] for argument in arguments]):
            return Difference.DIFFERENT
    except (UndecidedError, UnsupportedError):
        return Difference.UNSEEN
    alone = np.isfinite(ours) != np.isfinite(theirs)
    return Difference.UNDEFINED if alone.all(axis=0).any() else Difference.SAME


def _per_copy(value: Any) -> np.ndarray:
    """(copies, entries); what is alike in all copies is repeated."""
    value = np.asarray(value, np.float64)
    flat = value.reshape(len(value), -1) if value.ndim else value.reshape(1, 1)
    return np.broadcast_to(flat, (COPIES, flat.shape[1]))


def _gaps(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """max |x - y| / max(|x|, |y|) over the finite entries of each copy; 0 if there are none."""
    finite = np.isfinite(x) & np.isfinite(y)
    x, y = np.where(finite, x, 0), np.where(finite, y, 0)
    scale = np.maximum(np.abs(x), np.abs(y)).max(axis=1)
    return np.abs(x - y).max(axis=1) / np.where(scale > 0, scale, 1)


def _meet(sides: Iterable[ClosedJaxpr], point: Sequence[np.ndarray]) -> bool:
    """Whether the balls around both sides' values at one input have a point in common, entry by entry."""
    ours, theirs = (enclose(side, [Balls().number(x) for x in point]) for side in sides)
    pairs = zip(np.hstack([*map(np.ravel, ours)]), np.hstack([*map(np.ravel, theirs)]), strict=True)
    return all(x.overlaps(y) if isinstance(x, arb) else x == y for x, y in pairs)
