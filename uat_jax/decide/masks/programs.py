"""Two programs, with infinities behind masks, as programs of real numbers."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from uat_jax.decide.masks.rules import applied
from uat_jax.decide.masks.truths import Truth, holds_in
from uat_jax.decide.masks.values import Rewriting, Value
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.concrete import is_array, is_keys
from uat_jax.interpret.inlining import inlined
from uat_jax.interpret.interpreter import programs_within
from uat_jax.interpret.retracing import followed, retraced
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of
from uat_jax.typing import Atom


@dataclass(frozen=True)
class Output:
    """What both programs make of one output.

    infinite: whether it may be infinite on some side.  left_out: where it is undefined for all inputs on some side;
    None if nowhere.  counts: how many entries are so on one side alone, and on both.  undefined: whether the left, and
    the right one, may be undefined for some inputs.
    """

    infinite: bool
    left_out: np.ndarray | None
    counts: tuple[int, int]
    undefined: tuple[bool, bool]


@dataclass(frozen=True)
class WithoutInfinities:
    """Two programs without infinities behind masks, of real numbers.

    given: the programs that they are made of.  outputs: what both of these make of each output.
    """

    left: ClosedJaxpr
    right: ClosedJaxpr
    given: tuple[ClosedJaxpr, ClosedJaxpr]
    ignoring: bool
    outputs: tuple[Output, ...]

    @property
    def one_side(self) -> int:
        """How many entries of outputs are undefined for all inputs on one side alone, with nothing to compare."""
        return sum(o.counts[0] for o in self.outputs)

    @property
    def both_sides(self) -> int:
        """How many entries of outputs are undefined for all inputs on both sides."""
        return sum(o.counts[1] for o in self.outputs)

    @property
    def undefined_sides(self) -> list[str]:
        """The sides, "left", "right" or both, of which some output may be undefined for some inputs."""
        return [side for k, side in enumerate(("left", "right")) if any(o.undefined[k] for o in self.outputs)]

    @cached_property
    def undefined(self) -> ClosedJaxpr:
        """A program of the same inputs, of which each output is 1 where a given program has NaN, and 0 elsewhere."""
        return _undefined(self.given, self.ignoring, self.outputs)


def has_infinity(*programs: ClosedJaxpr) -> bool:
    """Whether a constant of one of the programs, or of a function that it calls, is infinite."""
    floats = (a for program in programs for p in programs_within(program) for a in _constants(p) if a.dtype.kind == "f")
    return any((np.isinf(a)).any() for a in floats)


def _constants(program: ClosedJaxpr | Jaxpr) -> Iterator[np.ndarray]:
    literals = (a.val for e in program.eqns for a in e.invars if isinstance(a, Literal))
    constants = (
        a for a in (*getattr(program, "consts", ()), *literals) if np.isscalar(a) or is_array(a) and not is_keys(a)
    )
    return map(np.asarray, constants)


def without_infinities(left: ClosedJaxpr, right: ClosedJaxpr, *, ignoring: bool = False) -> WithoutInfinities | None:
    """Two programs whose equality says that the given ones are equal wherever both are defined; None if they are these.

    Args:
        left, right: programs of the same inputs and outputs.
        ignoring: whether what one program selects as 0 in rows that are masked whole may be anything, if the other one
            has NaN there.

    Raises:
        UnsupportedError: an infinity is used in a way for which there is no rule here.
    """
    if not has_infinity(left, right):
        return None
    programs = inlined(left), inlined(right)
    outputs = _outputs(programs, ignoring)
    if outputs is None:
        return None
    first, second = (_rewritten(p, ignoring, outputs) for p in programs)
    return WithoutInfinities(first, second, programs, ignoring, tuple(outputs))


def _outputs(programs: Sequence[ClosedJaxpr], ignoring: bool) -> list[Output] | None:
    """What both programs make of their outputs; None if no infinity stands behind a mask in them."""
    found: list[Output] = []
    rewriting = Rewriting(ignoring)

    def function(*inputs: Any) -> list[jax.Array]:
        sides = _both(rewriting, programs, inputs)
        for x, y, atom in zip(*sides, programs[0].jaxpr.outvars, strict=True):
            found.append(_output(rewriting, x, y, atom))
        return []

    retraced(programs[0], function)
    return found if rewriting.rewritten else None


def _output(rewriting: Rewriting, x: Value, y: Value, atom: Atom) -> Output:
    """What both programs make of one output."""
    if not is_number(atom) and not (x.is_plain and y.is_plain):
        raise UnsupportedError("an output that is no number depends on an infinity")
    if x.infinite is not None and y.infinite is not None and x.above != y.above:
        raise UnsupportedError("an output is infinite with different signs")
    for one, other in ((x, y), (y, x)):
        if one.ignored is not None and not any(holds_in(one.ignored, v.undefined) for v in (other, one)):
            raise UnsupportedError("an output is left out where both functions may be defined")
    nowhere = np.zeros(shape_of(atom), bool)
    a, b = (nowhere if v.undefined is None or v.undefined.constant is None else v.undefined.constant for v in (x, y))
    either = a | b
    counts = int((a ^ b).sum()), int((a & b).sum())
    undefined = x.undefined is not None, y.undefined is not None
    infinite = x.infinite is not None or y.infinite is not None
    return Output(infinite, either if either.any() else None, counts, undefined)


def _rewritten(program: ClosedJaxpr, ignoring: bool, outputs: Sequence[Output]) -> ClosedJaxpr:
    """The program; of an output that may be infinite where it is so, as 0 and 1, and its number elsewhere."""

    def function(*inputs: Any) -> list[jax.Array]:
        rewriting, results = Rewriting(ignoring), []
        (values,) = _both(rewriting, [program], inputs)
        for v, atom, output in zip(values, program.jaxpr.outvars, outputs, strict=True):
            arrays, zeros = [v.array], np.zeros(shape_of(atom), dtype_of(atom))
            if output.infinite:
                where = v.infinite or Truth(np.zeros(shape_of(atom), bool))
                number = v.array if v.infinite is None else rewriting.select(where, v.array, zeros)
                arrays = [number, lax.convert_element_type(where.array, dtype_of(atom))]
            if output.left_out is not None:
                arrays = [lax.select_n(output.left_out, a, zeros) for a in arrays]
            results += arrays
        return results

    return retraced(program, function)


def _undefined(programs: Sequence[ClosedJaxpr], ignoring: bool, outputs: Sequence[Output]) -> ClosedJaxpr:
    """A program that says where one of two programs has NaN, for each output of those without infinities."""

    def function(*inputs: Any) -> list[jax.Array]:
        rewriting, results = Rewriting(ignoring), []
        sides = _both(rewriting, programs, inputs)
        for x, y, atom, output in zip(*sides, programs[0].jaxpr.outvars, outputs, strict=True):
            where = rewriting.either(x.undefined, y.undefined) or Truth(np.zeros(shape_of(atom), bool))
            results += [lax.convert_element_type(where.array, np.float32)] * (1 + output.infinite)
        return results

    return retraced(programs[0], function)


def _both(rewriting: Rewriting, programs: Sequence[ClosedJaxpr], inputs: Sequence[Any]) -> list[list[Value]]:
    """The outputs of programs of the same inputs, in which one computation of truth values is one array."""
    given = []
    for x, v in zip(inputs, programs[0].jaxpr.invars, strict=True):
        known = rewriting.base(x) if dtype_of(v) == np.bool_ else None
        given.append(Value(x, finite=is_number(v), known=known))
    return [followed(p, given, rewriting.constant, functools.partial(applied, rewriting)) for p in programs]
