"""A program as one list of equations, those of the functions it calls in place, evaluated step by step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.interpreter import called
from uat_jax.interpret.jaxpr_values import COPIES
from uat_jax.interpret.primitives import TABLE, check
from uat_jax.interpret.tracing import dtype_of, source_line
from uat_jax.numbers.indexed.array import Array, kind_of, literal
from uat_jax.numbers.indexed.computed_places import PLACES
from uat_jax.numbers.indexed.dimension import dimension
from uat_jax.numbers.indexed.elementwise import COMPARISONS, ELEMENTWISE
from uat_jax.numbers.indexed.infinities import check_infinities, is_open
from uat_jax.numbers.indexed.placement import PLACEMENT
from uat_jax.numbers.indexed.polynomial import Polynomial
from uat_jax.numbers.indexed.predicates import SizeCase
from uat_jax.numbers.indexed.reduction import REDUCTION
from uat_jax.numbers.indexed.sorting import SORTING
from uat_jax.numbers.indexed.whole_numbers import with_other_bits
from uat_jax.numbers.indexed.workspace import workspace
from uat_jax.typing import Atom

RULES: Mapping[str, Any] = {**ELEMENTWISE, **PLACEMENT, **PLACES, **REDUCTION, **SORTING}
"""Primitive → rule(parameters, lengths, kind of the result, *operands)."""

CONTROL: dict[str, Callable[[JaxprEqn, Sequence[Array]], list[Array]]] = {}
"""Primitive → rule(equation, operands), for those that call a program again and again (`scans`)."""

OF_SIZES = {
    "dim_as_value": frozenset(["dim", "dtype"]),
    "iota": frozenset("dtype shape dimension sharding".split()),
}
"""Primitives without float operands, which other number systems leave to JAX, and their parameters."""

LINEAR = (
    PLACEMENT.keys()
    | PLACES.keys()
    | frozenset(
        "add add_any sub neg mul convert_element_type reduce_sum cumsum dot_general and or not xor "
        "conv_general_dilated eq ne ge gt le lt select_n".split()
    )
)
"""Primitives that nest no function of reals: what they make of inputs alone is not deep."""

UNSIGNED = COMPARISONS | frozenset(
    "broadcast_in_dim concatenate gather iota reshape scatter-add select_n sort squeeze transpose".split()
)
"""Primitives that are followed for integers without sign as well, which are not negative and never wrap here."""

Value = int | np.ndarray
"""The number of a result, or a constant."""


@dataclass(frozen=True)
class Step:
    """One equation, with the numbers of its operands and results."""

    equation: JaxprEqn
    operands: tuple[Value, ...]
    results: tuple[int, ...]

    def nests(self, variable: AbstractSet[int]) -> bool:
        """Whether it applies a function of reals, other than a division by what does not vary."""
        if self.equation.primitive.name == "div":
            return self.operands[1] in variable if isinstance(self.operands[1], int) else False
        return self.equation.primitive.name not in LINEAR


@dataclass
class Steps:
    """A program as steps, with the numbers of its inputs and outputs."""

    steps: list[Step] = field(default_factory=list)
    inputs: tuple[int, ...] = ()
    outputs: tuple[Value, ...] = ()
    count: int = 0

    def new(self) -> int:
        """A number for one more result."""
        self.count += 1
        return self.count - 1

    @cached_property
    def last_use(self) -> dict[int, int]:
        """The place of the last step that needs a result; the number of steps if the program returns it."""
        last = {x: place for place, step in enumerate(self.steps) for x in step.operands if isinstance(x, int)}
        last.update(dict.fromkeys((x for x in self.outputs if isinstance(x, int)), len(self.steps)))
        return last

    def bottlenecks(self, known: AbstractSet[int], start: int) -> list[tuple[int, int]]:
        """(place of a step, its result), from a place on, where that result is the only deep one that is needed later.

        A result is deep if functions of reals stand between it and what is known, which are the inputs and results
        that were made inputs.
        """
        variable, deep, live, found = set(known), set(), set(), []
        for place, step in enumerate(self.steps):
            operands = {value for value in step.operands if isinstance(value, int)}
            if not known >= set(step.results):
                variable.update(step.results if operands & variable else ())
                if operands & deep or operands & variable and step.nests(variable):
                    deep.update(step.results)
            live |= {result for result in step.results if result in deep}
            live = {result for result in live if self.last_use.get(result, -1) > place}
            if place >= start and len(live) == 1 and live <= set(step.results):
                found.append((place, next(iter(live))))
        return found


def flattened(program: ClosedJaxpr) -> Steps:
    """The steps of a program that its outputs need, without copies: as many as of the same program from a file.

    Raises:
        UnsupportedError: it calls a function with parameters that are not followed.
    """
    found = Steps()
    found.inputs = tuple(found.new() for _ in program.jaxpr.invars)
    found.outputs = tuple(_flattened(program.jaxpr, program.consts, found.inputs, found))
    needed = {value for value in found.outputs if isinstance(value, int)}
    kept = []
    for step in reversed(found.steps):
        if needed.intersection(step.results):
            needed.update(value for value in step.operands if isinstance(value, int))
            kept.append(step)
    found.steps = kept[::-1]
    return found


def _flattened(outer: Jaxpr, constants: Sequence[Any], inputs: Sequence[Value], found: Steps) -> list[Value]:
    known: dict[Any, Value] = dict(zip(outer.invars, inputs, strict=True))
    known.update(zip(outer.constvars, map(np.asarray, constants), strict=True))

    def read(atom: Atom) -> Value:
        return np.asarray(atom.val, dtype_of(atom)) if isinstance(atom, Literal) else known[atom]

    for equation in outer.eqns:
        operands = tuple(map(read, equation.invars))
        inner = called(equation)
        if inner is not None:
            check(equation)
            program, inside = (inner.jaxpr, inner.consts) if isinstance(inner, ClosedJaxpr) else (inner, ())
            results = _flattened(program, inside, operands, found)
        elif equation.primitive.name in COPIES & TABLE.keys():
            check(equation)
            results = list(operands)
        else:
            results = [found.new() for _ in equation.outvars]
            found.steps.append(Step(equation, operands, tuple(results)))
        known.update(zip(equation.outvars, results, strict=True))
    return [read(atom) for atom in outer.outvars]


@dataclass
class Evaluation:
    """A program that is evaluated up to some step.  values: the arrays of the results so far."""

    program: Steps
    values: dict[int, Array]
    place: int = 0

    def until(self, place: int) -> None:
        """All steps before a place."""
        while self.place < place:
            workspace().check_deadline()
            step = self.program.steps[self.place]
            results = evaluated(step.equation, [self.read(value) for value in step.operands])
            self.values.update(zip(step.results, results, strict=True))
            self.place += 1

    def read(self, value: Value) -> Array:
        """The array of a result or of a constant."""
        return self.values[value] if isinstance(value, int) else _constant(value)

    def outputs(self) -> list[Array]:
        """The arrays that the program returns."""
        self.until(len(self.program.steps))
        return [self.read(value) for value in self.program.outputs]


def _constant(values: np.ndarray) -> Array:
    try:
        return literal(values)
    except UnsupportedError as error:
        return _without_entries(tuple(map(dimension, values.shape)), "f", error)


def _without_entries(lengths: tuple[Polynomial, ...], kind: str, error: UnsupportedError | SizeCase) -> Array:
    """An array whose error is raised when its entries are asked for."""
    return Array(lengths, kind, (), error, 0, False)


def evaluated(equation: JaxprEqn, operands: Sequence[Array]) -> list[Array]:
    """The results of one equation that calls no function."""
    shapes = [tuple(map(dimension, getattr(v.aval, "shape", ()))) for v in equation.outvars]
    try:
        return _by_rule(equation, shapes[0] if shapes else (), operands)
    except SizeCase as case:
        return [_without_entries(shape, "f", case) for shape in shapes]
    except UnsupportedError as error:
        located = UnsupportedError(f"{error}, at '{equation.primitive.name}'{source_line(equation)}")
        return [_without_entries(shape, "f", located) for shape in shapes]


def _more_bytes(equation: JaxprEqn) -> int:
    """How many more bytes the result of a cast has than its operand."""
    return dtype_of(equation.outvars[0]).itemsize - dtype_of(equation.invars[0]).itemsize


def _by_rule(equation: JaxprEqn, lengths: tuple[Polynomial, ...], operands: Sequence[Array]) -> list[Array]:
    name = equation.primitive.name
    if name in CONTROL:
        return CONTROL[name](equation, operands)
    check_infinities(equation, operands)
    if name not in RULES or name not in TABLE and not OF_SIZES.get(name, frozenset()) >= equation.params.keys():
        raise UnsupportedError("no rule follows this operation at all sizes")
    if name in TABLE:
        check(equation)
    kind = kind_of(np.dtype(dtype_of(equation.outvars[0])))
    if "u" in (kind, *(x.kind for x in operands)) and name not in UNSIGNED:
        raise UnsupportedError(f"'{name}' of integers without sign is not followed at all sizes")
    if name == "convert_element_type" and kind == operands[0].kind == "i" and _more_bytes(equation):
        operands = [with_other_bits(operands[0], _more_bytes(equation) < 0)]
    result = RULES[name](equation.params, lengths, kind, *operands)
    results = result if isinstance(result, list) else [result]
    if is_open(equation, operands):
        for x in results:
            x.open = True
    return results
