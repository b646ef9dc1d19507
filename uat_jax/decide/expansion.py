"""Programs in the primitives that are followed: what stands for others is written out, and so are errors.

A library may bring primitives of its own, with an implementation in Python that JAX can trace: the equation is replaced
by what is traced.  A branch of a conditional that calls a host function which never returns is an error that the
program raises there: for such inputs it is undefined (docs/soundness.md §10.10).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend import source_info_util
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from jax.typing import DTypeLike

from uat_jax.decide.exported_calls import exported, is_exported
from uat_jax.decide.kernel_memory import check_written, left_unwritten
from uat_jax.decide.kernels import is_kernel, kernel, named
from uat_jax.decide.outside_names import call_outside, is_call, never_returns
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.fewer_bits import rounded, rounds
from uat_jax.interpret.interpreter import called, programs_within
from uat_jax.interpret.primitives import has_name_of_own, is_own
from uat_jax.interpret.retracing import bound, retraced, with_programs
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of, source_line
from uat_jax.typing import Array, Atom

SPECIAL = frozenset(["bitcast_convert_type", "nextafter", "platform_index"])
"""Primitives of JAX that are written out where that is possible."""

MARK = np.float32(2.0**-77)
"""(MARK - MARK)/(MARK - MARK) is what stands for an error: a program of its own hardly writes it."""

MADE_OF_MARK = {
    ("broadcast_in_dim", "mark"): "mark",
    ("sub", "mark", "mark"): "zero",
    ("div", "zero", "zero"): "error",
    ("convert_element_type", "error"): "error",
    ("complex", "error", "error"): "error",
}
"""(primitive, what its operands are) → what its result is, on the way from `MARK` to an error."""


def expanded(program: ClosedJaxpr) -> ClosedJaxpr:
    """A program of the same inputs and outputs, without the primitives of other libraries and without errors.

    What JAX chooses by the platform is what it chooses for the one on which this process computes.

    Raises:
        UnsupportedError: a kernel cannot be followed, an output depends on memory that a kernel has not written, or a
            primitive has the name of one of JAX and is another one that JAX cannot trace.
    """
    found = _expanded(program)
    check_written(found)
    return found


def _expanded(program: ClosedJaxpr) -> ClosedJaxpr:
    """A program that computes what the given one does, in the simpler primitives that `expanded` names."""
    if not any(_changes(equation) for inner in programs_within(program) for equation in inner.eqns):
        return program
    return retraced(program, lambda *arguments: _results(program, arguments, _Known()))


def raising(program: ClosedJaxpr | Jaxpr) -> Iterator[str]:
    """The places, such as 'at step.py:12', at which an expanded program raises an error for some inputs."""
    for inner in programs_within(program):
        for equation in inner.eqns:
            if equation.primitive.name == "cond" and any(map(is_error, equation.params["branches"])):
                yield source_line(equation).strip() or "in a library"


def is_error(branch: ClosedJaxpr | Jaxpr) -> bool:
    """Whether a branch of a conditional stands for an error: whether all of its results do."""
    jaxpr = getattr(branch, "jaxpr", branch)
    known: dict[Var, str | None] = {}
    kind = lambda atom: ("mark" if np.all(atom.val == MARK) else None) if isinstance(atom, Literal) else known.get(atom)
    for equation in jaxpr.eqns:
        made = MADE_OF_MARK.get((equation.primitive.name, *map(kind, equation.invars)))
        known.update(dict.fromkeys(equation.outvars, made))
    return bool(jaxpr.outvars) and all(kind(atom) == "error" for atom in jaxpr.outvars)


def _changes(equation: JaxprEqn) -> bool:
    name = equation.primitive.name
    if name == "cond":
        return any(map(_surely_raises, equation.params["branches"]))
    return name in SPECIAL or any(
        found(equation) for found in (is_call, is_kernel, is_exported, rounds, _is_for_one_use, _is_foreign)
    )


UNROUNDED = frozenset(
    "abs and broadcast_in_dim clamp copy copy_p eq ge gt is_finite le lt max min ne neg not or reshape select_n sign "
    "squeeze".split()
)
"""Primitives that never round: what they make of floats, every device and the real numbers agree on."""


class _Known:
    """The values of single floats that a program makes of constants alone, of which `nextafter` takes neighbours.

    A neighbour is a constant like one that is written: what is computed of it is computed of real numbers.
    """

    def __init__(self) -> None:
        self.values: dict[int, tuple[Any, np.ndarray]] = {}

    def of(self, x: Array) -> np.ndarray | None:
        """The value of a constant, or of what was made of constants without rounding; None of all else."""
        return x if isinstance(x, np.ndarray) else self.values.get(id(x), (None, None))[1]

    def computed(self, equation: JaxprEqn, operands: Sequence[Array], results: list[jax.Array]) -> list[jax.Array]:
        """The results of an equation; if its operands are single numbers that are known, what they are is kept."""
        atoms = (*equation.invars, *equation.outvars)
        single = all(not shape_of(a) and isinstance(dtype_of(a), np.dtype) for a in atoms)  # a key is none
        given = [self.of(x) for x in operands] if single else [None]
        if _rounds(equation) or any(x is None or _is_subnormal(x) for x in given):
            return results
        with jax.ensure_compile_time_eval():
            found = list(map(np.asarray, bound(equation, given, equation.params)))
        self.values |= {id(x): (x, value) for x, value in zip(results, found, strict=True)}
        return results


def _rounds(equation: JaxprEqn) -> bool:
    """Whether an equation may round; a cast to integers or booleans, or to the dtype that it is given, does not."""
    if equation.primitive.name != "convert_element_type":
        return equation.primitive.name not in UNROUNDED
    new = dtype_of(equation.outvars[0])
    return bool(jnp.issubdtype(new, jnp.floating)) and new != dtype_of(equation.invars[0])


def _is_subnormal(x: np.ndarray) -> bool:
    """Whether a float is so small that some devices take it for 0."""
    return bool(jnp.issubdtype(x.dtype, jnp.floating) and 0 < abs(x) < jnp.finfo(x.dtype).tiny)


def _results(program: ClosedJaxpr | Jaxpr, inputs: Sequence[Any], floats: _Known) -> list[jax.Array]:
    """What a program returns, written out."""
    jaxpr, constants = (program.jaxpr, program.consts) if isinstance(program, ClosedJaxpr) else (program, ())
    values: dict[Var, Array] = dict(zip(jaxpr.invars, inputs, strict=True))
    values |= dict(zip(jaxpr.constvars, constants, strict=True))
    later = {e.outvars[0]: e for e in jaxpr.eqns if _is_for_one_use(e)}
    stacks = {e.outvars[0]: e for e in jaxpr.eqns if e.primitive.name == "stack"}

    def read(atom: Atom) -> Any:
        if isinstance(atom, Literal):
            return np.asarray(atom.val, dtype_of(atom))
        if atom not in values:  # it is used for something else
            (values[atom],) = _applied(later[atom], list(map(read, later[atom].invars)), floats)
        return values[atom]

    for equation in jaxpr.eqns:
        if equation.outvars and equation.outvars[0] in later:
            continue
        found = _sign_bits(equation, later, read) or _first_that_holds(equation, {**stacks, **later}, read)
        found = found or _applied(equation, list(map(read, equation.invars)), floats)
        values.update(zip(equation.outvars, found, strict=True))
    return list(map(read, jaxpr.outvars))


def _applied(equation: JaxprEqn, operands: list[Any], floats: _Known) -> list[Any]:
    """The results of an equation."""
    if has_name_of_own(equation.primitive):
        function = implementation(equation)
        if function is None:
            raise UnsupportedError(
                f"'{equation.primitive.name}'{source_line(equation)} is a primitive of another library with the name "
                "of one of JAX, and has no implementation that JAX can trace; give it another name"
            )
        return _results(function, operands, floats)
    if is_kernel(equation):
        program, doubts = kernel(equation, operands)
        with source_info_util.user_context(equation.source_info.traceback):
            found = named(lambda *arrays: _results(program, arrays, _Known()))(*operands)
            return list(map(left_unwritten, found, doubts))
    function = called(equation) or implementation(equation) or exported(equation)
    name = equation.primitive.name
    if function is not None:
        return _results(function, operands, floats)
    if rounds(equation):
        with source_info_util.user_context(equation.source_info.traceback):
            return [rounded(*operands, **equation.params)]
    if is_call(equation):
        return call_outside(equation, operands)
    if name == "platform_index":
        return [np.int32(_platform(equation.params["platforms"]))]
    if name == "cond" and isinstance(operands[0], np.ndarray | np.generic):
        branches = equation.params["branches"]
        return _results(branches[int(np.clip(operands[0], 0, len(branches) - 1))], operands[1:], floats)
    known = [floats.of(x) for x in operands]
    if name == "nextafter" and all(x is not None for x in known):
        with np.errstate(over="ignore", under="ignore"):
            return [np.asarray(np.nextafter(*known))]  # type: ignore[call-overload]
    parameters = with_programs(equation, lambda inner: _error(inner) if _surely_raises(inner) else _expanded(inner))
    return floats.computed(equation, operands, bound(equation, operands, parameters))


def _is_for_one_use(equation: JaxprEqn) -> bool:
    """Whether an equation makes the bits of floats, or the place of the first boolean that is true."""
    name = equation.primitive.name
    return name == "bitcast_convert_type" or name == "argmax" and dtype_of(equation.invars[0]) == np.bool_


def _first_that_holds(
    equation: JaxprEqn, makers: Mapping[Any, JaxprEqn], read: Callable[[Any], Any]
) -> list[Any] | None:
    """A choice by the place of the first boolean that is true, as by `jnp.select`: where(b₀, c₀, where(b₁, …, c₀)).

    If none is true the place is 0.
    """
    if equation.primitive.name != "select_n" or isinstance(equation.invars[0], Literal):
        return None
    place, cases = makers.get(equation.invars[0]), list(map(read, equation.invars[1:]))
    stack = makers.get(place.invars[0]) if place is not None and place.primitive.name == "argmax" else None
    if place is None or stack is None or stack.primitive.name != "stack" or len(stack.invars) != len(cases):
        return None
    if (stack.params["axis"],) != tuple(place.params["axes"]) or shape_of(place.outvars[0]) != cases[0].shape:
        return None
    with source_info_util.user_context(equation.source_info.traceback):
        chosen = cases[0]
        for boolean, case in reversed(list(zip(map(read, stack.invars), cases, strict=True))):
            chosen = lax.select(boolean, case, chosen)
    return [chosen]


def _sign_bits(equation: JaxprEqn, bits: Mapping[Var, JaxprEqn], read: Callable[[Any], Any]) -> list[Any] | None:
    """The sign bit of a float, which `jnp.signbit` shifts down: whether a real number is below 0."""
    if equation.primitive.name not in ("shift_right_arithmetic", "shift_right_logical"):
        return None
    shifted, places = equation.invars
    if isinstance(shifted, Literal) or shifted not in bits or not isinstance(places, Literal):
        return None
    if bits[shifted].primitive.name != "bitcast_convert_type":
        return None
    (number,), dtype = bits[shifted].invars, dtype_of(equation.outvars[0])
    if not is_number(number) or int(np.asarray(places.val)) != 8 * dtype.itemsize - 1:
        return None
    if dtype_of(number).itemsize != dtype.itemsize:
        return None
    with source_info_util.user_context(equation.source_info.traceback):
        found = lax.convert_element_type(lax.lt(read(number), lax.full_like(read(number), 0)), dtype)
        return [lax.neg(found) if equation.primitive.name == "shift_right_arithmetic" else found]


def _platform(platforms: Sequence[Sequence[str] | None]) -> int:
    """Which of the platforms is the one on which this process computes; None stands for all others."""
    names = {jax.default_backend(), *(("cuda", "rocm") if jax.default_backend() == "gpu" else ())}
    return next(i for i, some in enumerate(platforms) if some is None or names & set(some))


# --- primitives of other libraries ------------------------------------------------------------------------------------


def _is_foreign(equation: JaxprEqn) -> bool:
    """Whether a primitive was implemented outside of JAX, by a function of Python, or is called as one of JAX."""
    if is_own(equation.primitive):
        return False
    implementation = getattr(equation.primitive, "impl", None)
    of_jax = getattr(implementation, "__module__", "jax").partition(".")[0] in ("jax", "functools")
    return inspect.isfunction(implementation) and not of_jax or has_name_of_own(equation.primitive)


def implementation(equation: JaxprEqn) -> ClosedJaxpr | None:
    """What the implementation of a primitive of another library computes, or None if JAX cannot trace it."""
    if not _is_foreign(equation):
        return None
    specs = [jax.ShapeDtypeStruct(shape_of(atom), dtype_of(atom)) for atom in equation.invars]
    wide = any(dtype_of(atom).itemsize == 8 for atom in (*equation.invars, *equation.outvars))
    function = lambda *operands: equation.primitive.impl(*operands, **equation.params)
    try:
        with jax.enable_x64(wide):
            program = jax.make_jaxpr(function)(*specs)
    except Exception:  # whatever a library's own code raises under the tracer: the primitive stays as it is
        return None
    made = [(shape_of(v), dtype_of(v)) for v in equation.outvars]
    same_primitive = any(e.primitive is equation.primitive for inner in programs_within(program) for e in inner.eqns)
    return None if same_primitive or made != [(v.shape, v.dtype) for v in program.out_avals] else program


# --- errors -----------------------------------------------------------------------------------------------------------


def _surely_raises(branch: ClosedJaxpr | Jaxpr) -> bool:
    """Whether every result of a branch needs the result of a host function that never returns."""
    jaxpr = getattr(branch, "jaxpr", branch)
    return bool(jaxpr.outvars) and all(_waiting(branch, [False] * len(jaxpr.invars)))


def _waiting(program: ClosedJaxpr | Jaxpr, inputs: Sequence[bool]) -> list[bool]:
    """Which results of a program need a host function that never returns, given which inputs do."""
    jaxpr = getattr(program, "jaxpr", program)
    waits = {v for v, waiting in zip(jaxpr.invars, inputs, strict=True) if waiting}
    waiting = lambda atom: not isinstance(atom, Literal) and atom in waits
    for equation in jaxpr.eqns:
        operands, function = list(map(waiting, equation.invars)), called(equation)
        if function is not None:
            found = _waiting(function, operands)
        else:
            raises = equation.primitive.name == "pure_callback" and never_returns(equation.params["callback"])
            found = [raises or any(operands) and equation.primitive.name == "pure_callback"] * len(equation.outvars)
        waits.update(v for v, waits_too in zip(equation.outvars, found, strict=True) if waits_too)
    return list(map(waiting, jaxpr.outvars))


def _error(branch: ClosedJaxpr) -> ClosedJaxpr:
    """A branch of the same types that computes 0/0: where it is taken, the program is undefined."""

    def undefined(*operands: Array) -> list[Any]:
        return [_undefined(shape_of(v), dtype_of(v)) for v in branch.jaxpr.outvars]

    return retraced(branch, undefined)


def _undefined(shape: tuple[int, ...], dtype: DTypeLike) -> Any:
    """0/0, cast to the dtype; of a complex number both parts."""
    mark = lax.broadcast(MARK, shape)
    zeros = lax.sub(mark, mark)
    found = lax.div(zeros, zeros)
    return lax.convert_element_type(
        lax.complex(found, found) if jnp.issubdtype(dtype, jnp.complexfloating) else found, dtype
    )
