"""Memory of kernels that nobody has written: on a device anything may lie there, so no result may depend on it.

JAX's interpreter of kernels fills such memory with constants (NaN, the least integer, false, 0).  They are found in the
program that it runs, and which results depend on them is followed (`interpret/unwritten.py`, docs/soundness.md §11.5).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn
from jax.extend.mlir import ir

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.interpreter import programs_within
from uat_jax.interpret.primitives import REFERENCES, TABLE, refuse
from uat_jax.interpret.retracing import bound, followed, retraced, with_programs
from uat_jax.interpret.tracing import dtype_of, shape_of, source_line
from uat_jax.interpret.unwritten import GIVEN, UNWRITTEN, Follower, given, written
from uat_jax.typing import Array

NAME = "memory that a kernel has not written: "
"""How the name of a function begins that stands for such memory in a program; the rest says which."""

MAKE_NO_MEMORY = frozenset(TABLE) | REFERENCES | {"iota", "multiple_of", "num_programs", "program_id"}
"""What a kernel may be made of without JAX's interpreter filling memory while it runs the kernel."""


@dataclass(frozen=True, eq=False)
class Doubt:
    """The entries of a kernel's result that depend on memory that nobody has written, and a line about them."""

    entries: np.ndarray
    text: str


# --- the constants that stand for such memory -------------------------------------------------------------------------


def mark_memory(module: ir.Module, kernel: Jaxpr) -> None:
    """Put into the program that runs a kernel a call of `UNWRITTEN_MEMORY` around each constant that fills memory.

    Outside of the loop over the grid these are all constants but the counters of the loop: whole numbers that are not
    negative.  Within it they are the author's own, unless the kernel makes memory or reads under masks: then all are
    taken that could be what JAX fills memory with.
    """
    from uat_jax.inputs.custom_calls import UNWRITTEN_MEMORY  # most programs have no kernel

    anywhere = not all(e.primitive.name in MAKE_NO_MEMORY for inner in programs_within(kernel) for e in inner.eqns)
    functions = {str(f.attributes["sym_name"]).strip('"'): f for f in map(_operation, module.body.operations)}
    outside = _called_outside_of_loops(functions)
    for function in functions.values():
        for operation in list(_within(function)):
            once = function in outside and _operation(operation.parent) == function
            for place, operand in enumerate(operation.operands):
                constant = _constant(operand)
                if constant is None or not (once and not _counts(constant) or anywhere and _fills(constant)):
                    continue
                with ir.InsertionPoint(operation), operation.location:
                    target: dict[str, ir.Attribute] = {"call_target_name": ir.StringAttr.get(UNWRITTEN_MEMORY)}
                    call = ir.Operation.create("stablehlo.custom_call", [operand.type], [operand], target)
                operation.operands[place] = call.results[0]


def _operation(view: Any) -> ir.Operation:
    return view.operation


CONTROL = frozenset("func.func stablehlo.case stablehlo.if stablehlo.while".split())
"""Operations that run programs; what is in others, such as the comparison of a sort, makes no memory."""


def _within(operation: ir.Operation) -> Iterator[ir.Operation]:
    """The operations that an operation runs."""
    for region in operation.regions if operation.name in CONTROL else ():
        for block in region.blocks:
            for inner in map(_operation, block.operations):
                yield inner
                yield from _within(inner)


def _called_outside_of_loops(functions: dict[str, ir.Operation]) -> list[ir.Operation]:
    """`main`, and the functions that it calls outside of loops and conditionals, directly or not."""
    found = [functions["main"]]
    for function in found:
        for operation in map(_operation, function.regions[0].blocks[0].operations):
            if operation.name == "func.call":
                called = functions[str(operation.attributes["callee"]).removeprefix("@").strip('"')]
                found += [] if called in found else [called]
    return found


def _constant(operand: ir.Value) -> np.ndarray | None:
    """The array that an operand is, if it is a constant."""
    from uat_jax.inputs.mlir_values import constant_of

    maker = operand.owner
    if isinstance(maker, ir.Block) or _operation(maker).name != "stablehlo.constant":
        return None
    return constant_of(_operation(maker))


def _counts(constant: np.ndarray) -> bool:
    """Whether a constant may be what a loop counts with."""
    return constant.shape == () and constant.dtype in (np.int32, np.int64) and bool(constant >= 0)


def _fills(constant: np.ndarray) -> bool:
    """Whether JAX's interpreter may fill memory with an entry of a constant: NaN, the least number, or zero bits.

    Whole numbers of 32 and 64 bits are not filled with zeros: a zero of theirs is the author's.
    """
    if jnp.issubdtype(constant.dtype, jnp.floating):
        return bool(np.any(np.isnan(constant.astype(np.float64))))
    if constant.dtype == np.bool_:
        return not constant.all()
    least = constant == jnp.iinfo(constant.dtype).min
    return bool(np.any(least | (constant == 0) if constant.dtype.itemsize < 4 else least))


# --- the results that depend on them ----------------------------------------------------------------------------------


def check_body(equation: JaxprEqn) -> None:
    """Return unless a kernel uses numbers that nobody has written, or not yet, and that JAX's interpreter makes up.

    Raises:
        UnsupportedError: an array without entries that are written, random numbers of a device, a read under a mask
            that does not say what is read elsewhere, or a copy that may be overtaken.
    """
    for inner in programs_within(equation.params["jaxpr"]):
        for step in inner.eqns:
            if step.primitive.name not in REFERENCES:
                refuse(step)
            if step.primitive.name == "masked_load" and _leaves_open(step):
                raise UnsupportedError(
                    f"the kernel{written_at(equation)} reads under a mask{source_line(step)} and does not say what is "
                    "read elsewhere; pass other="
                )

        for early in _not_waited_for(inner.eqns):
            raise UnsupportedError(
                f"the kernel{written_at(equation)} copies memory that may be used before the copy is done"
                f"{source_line(early)}; wait for each copy before anything else is done with its memory"
            )


def _leaves_open(load: JaxprEqn) -> bool:
    """Whether a read has a mask, and no number for the places where that is false."""
    *_, mask, other = jax.tree.unflatten(load.params["args_tree"], load.invars)
    return mask is not None and other is None


def _not_waited_for(equations: Sequence[JaxprEqn]) -> Iterator[JaxprEqn]:
    """The copies for which a program does not wait before it does something else with their memory or semaphore."""
    what = lambda e: ([getattr(a, "val", a) for a in e.invars], e.params["tree"])
    used = lambda e: {a for a in e.invars if hasattr(a.aval, "inner_aval")}
    for place, copy in enumerate(equations):
        if copy.primitive.name == "dma_start":
            touching = (e for e in equations[place + 1 :] if used(copy) & used(e))
            then = next(touching, None)
            if then is None or then.primitive.name != "dma_wait" or what(then) != what(copy):
                yield copy


def doubtful(equation: JaxprEqn, program: ClosedJaxpr, operands: Sequence[Array]) -> Iterator[Doubt | None]:
    """For each result of a kernel the entries that depend on memory that nobody has written; None if none does.

    Args:
        equation: the kernel.
        program: the one that runs it, in which barriers are put around what stands for such memory.
        operands: of the kernel; whole numbers among them may be known, such as the places of blocks.
    """
    follower = Follower(lambda e: "" if _is_memory(e) else None, clamps=False)
    known = lambda x: isinstance(x, np.ndarray | np.generic | jax.Array) and not isinstance(x, Tracer)
    results = follower(program, [written(np.asarray(x)) if known(x) else given(np.shape(x)) for x in operands])
    for number, result in enumerate(results):
        bad = result.origins > GIVEN
        if not bad.any():
            yield None
            continue
        first = tuple(np.argwhere(bad)[0])
        origin = result.origins[first]
        where = "its result" if len(results) == 1 else f"its result {number}"
        count = f"{bad.sum()} of the {bad.size} entries of {where}" + (f", {list(map(int, first))} first" * bool(first))
        if origin == UNWRITTEN:
            text = f"has written nothing in {count}: on a device anything is there; write it, or return what is written"
        else:
            text = (
                f"reads memory{follower.places[origin]} that it has not written before, on which {count}, depend; "
                "write it first, as under pl.when(step == 0), or select what is written"
            )
        yield Doubt(bad, f"the kernel{written_at(equation)} {text}")


def written_at(kernel: JaxprEqn) -> str:
    """' at file:line' of the function that a kernel runs, or else of its call."""
    source = getattr(getattr(kernel.params["jaxpr"], "debug_info", None), "func_src_info", None)
    file, _, line = (source or "").partition(" at ")[2].rpartition(":")
    return f" at {Path(file).name}:{line}" if file and line.isdigit() else source_line(kernel)


def filled(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program that runs a kernel, with ones in the place of memory that nobody has written.

    No result that is not in doubt depends on what lies there, and of ones roots, logarithms and inverses are numbers.
    """

    def applied(equation: JaxprEqn, operands: list[Array]) -> list[Any]:
        if _is_memory(equation):
            return [jnp.ones(shape_of(v), dtype_of(v)) for v in equation.outvars]
        return bound(equation, operands, with_programs(equation, filled))

    constant = lambda atom, array: np.asarray(array, dtype_of(atom))
    return retraced(program, lambda *operands: followed(program, operands, constant, applied))


def _is_memory(equation: JaxprEqn) -> bool:
    """Whether an equation of a program that runs a kernel stands for memory that nobody has written."""
    return equation.primitive.name == "optimization_barrier"


def left_unwritten(result: Any, doubt: Doubt | None) -> Any:
    """A result of a kernel, in which the entries that are in doubt come through a function of a name that says so."""
    if doubt is None:
        return result
    unwritten = lambda array: array
    unwritten.__name__ = NAME + doubt.text
    return jnp.where(doubt.entries, jax.jit(unwritten)(result), result)


def check_written(program: ClosedJaxpr) -> None:
    """Return unless what a program returns depends on memory that one of its kernels has not written.

    Raises:
        UnsupportedError: it does; says which memory.
    """
    if not any(_unwritten(e) is not None for inner in programs_within(program) for e in inner.eqns):
        return
    follower = Follower(_unwritten, clamps=True)
    worst = max(result.worst for result in follower(program, [given(shape_of(v)) for v in program.jaxpr.invars]))
    if worst > GIVEN:
        raise UnsupportedError(follower.places[worst])


def _unwritten(equation: JaxprEqn) -> str | None:
    """What is said of memory that nobody has written, if an equation stands for it."""
    name = str(equation.params.get("name", ""))
    return name.removeprefix(NAME) if name.startswith(NAME) else None
