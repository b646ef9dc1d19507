"""Programs without calls and loops: one list of equations, each value computed once, just before it is needed."""

from __future__ import annotations

import functools
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.concrete import bind
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.interpreter import IDENTITY, called, scan_counts, steps
from uat_jax.interpret.operation import Operation, operation_of
from uat_jax.interpret.primitives import check
from uat_jax.interpret.structure import STRUCTURAL
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of, source_line
from uat_jax.typing import Array

Atom = Var | Literal
"""A variable, or a number that stands in an equation."""

MOVES = STRUCTURAL | {"convert_element_type"}
"""Primitives that put entries into other places."""

SMALL = 1 << 12
"""Captured arrays of at most so many entries are compared bit by bit."""

MOST_EQUATIONS = 200_000
"""A program whose loops, unrolled, have more equations than this is not flattened."""


def program_of(
    constants: Mapping[Var, Any], inputs: Sequence[Var], outputs: Sequence[Atom], equations: Sequence[JaxprEqn]
) -> ClosedJaxpr:
    """The program of a list of equations, from arrays that are known and inputs to outputs."""
    debug = jax.make_jaxpr(lambda: ())().jaxpr.debug_info
    jaxpr = Jaxpr(list(constants), list(inputs), list(outputs), list(equations), debug_info=debug)
    return ClosedJaxpr(jaxpr, list(constants.values()))


@dataclass(frozen=True)
class FlatProgram:
    """A program as one list of equations.

    inputs: its variables.  constants: the arrays that it captures, by variable.  equations: in an order in which every
    one comes just before the first that needs it.  outputs: what it returns.
    """

    inputs: tuple[Var, ...]
    constants: dict[Var, Any]
    equations: tuple[JaxprEqn, ...]
    outputs: tuple[Atom, ...]
    operations: Mapping[Var, Operation]

    @functools.cached_property
    def producer(self) -> dict[Var, int]:
        """The place of the equation that computes a variable."""
        return {v: place for place, equation in enumerate(self.equations) for v in equation.outvars}

    @functools.cached_property
    def last_use(self) -> dict[Var, int]:
        """The place of the last equation that needs a variable; that behind the last one for outputs."""
        uses = {v: place for place, equation in enumerate(self.equations) for v in variables(equation.invars)}
        return uses | dict.fromkeys(variables(self.outputs), len(self.equations))

    @functools.cached_property
    def free(self) -> frozenset[Var]:
        """What is computed of constants alone, or is an input with its entries in other places."""
        constant, free = set(self.constants), set(self.inputs)
        for equation in self.equations:
            operands = set(variables(equation.invars))
            if constant.issuperset(operands):
                constant.update(equation.outvars)
            elif equation.primitive.name in MOVES and (constant | free).issuperset(operands):
                free.update(equation.outvars)
        return frozenset(constant | free)

    def live_behind(self) -> Iterator[tuple[int, tuple[Var, ...]]]:
        """The places behind equations whose results are needed later, and what is needed there that is not `free`."""
        live: dict[Var, None] = {}
        for place, equation in enumerate(self.equations):
            for v in variables(equation.invars):
                if self.last_use[v] == place:
                    live.pop(v, None)
            made = [v for v in equation.outvars if self.last_use.get(v, -1) > place and v not in self.free]
            live.update(dict.fromkeys(made))
            if made:
                yield place + 1, tuple(live)

    def cone(self, targets: Iterable[Var], known: Collection[Var], first: int = 0) -> list[int]:
        """The places of the equations by which targets are computed from known variables, inputs and constants.

        Only those from a place on, `first`.
        """
        places: set[int] = set()
        waiting = [v for v in targets if v not in known]
        while waiting:
            place = self.producer.get(waiting.pop())
            if place is not None and place >= first and place not in places:
                places.add(place)
                waiting += [v for v in variables(self.equations[place].invars) if v not in known]
        return sorted(places)

    def computed_from(self, known: Collection[Var], target: Var, first: int, without: Collection[str]) -> bool:
        """Whether equations from a place on compute a variable from known ones, and from what is `free`.

        They may not be of the primitives that are to be done `without`.
        """
        waiting, seen = [target], set[Var]()
        while waiting:
            variable = waiting.pop()
            if variable in known or variable in self.free or variable in seen:
                continue
            seen.add(variable)
            equation = self.equations[self.producer[variable]]
            if self.producer[variable] < first or equation.primitive.name in without:
                return False
            waiting += variables(equation.invars)
        return True


def variables(atoms: Iterable[Atom]) -> Iterator[Var]:
    """The variables among some atoms, in their order."""
    return (atom for atom in atoms if not isinstance(atom, Literal))


def flattened(program: ClosedJaxpr, deadline: Deadline | None = None) -> FlatProgram:
    """A program with its calls inlined and its scans unrolled; equal equations are one.

    Raises:
        BudgetError: the deadline is over.
        UnsupportedError: a branch or a loop whose length is not known, or too many equations.
    """
    return flattened_together([program], deadline)[0]


def flattened_together(programs: Sequence[ClosedJaxpr], deadline: Deadline | None = None) -> list[FlatProgram]:
    """Programs of the same inputs, in which one variable stands for what is computed in the same way in several.

    Raises what `flattened` raises.
    """
    inputs = tuple(Var(v.aval) for v in programs[0].jaxpr.invars)
    flat = Flattening(deadline)
    with jax.enable_x64(True):  # the types are the equations' own
        outputs = [tuple(flat.inlined(program, inputs)) for program in programs]
    return [
        FlatProgram(inputs, flat.constants, tuple(_ordered(flat.equations, o)), o, flat.operations) for o in outputs
    ]


class Flattening:
    """Equations that are collected, with new variables for their results."""

    def __init__(self, deadline: Deadline | None = None) -> None:
        self.deadline = deadline
        self.equations: list[JaxprEqn] = []
        self.constants: dict[Var, Any] = {}
        self._arrays: dict[int, Var] = {}
        self._bits: dict[Hashable, Var] = {}
        self.operations: dict[Var, Operation] = {}
        self._known: dict[Hashable, list[Atom]] = {}

    def inlined(self, program: Jaxpr | ClosedJaxpr, operands: Sequence[Atom]) -> list[Atom]:
        """The results of a program, whose equations are appended."""
        jaxpr, constants = (program.jaxpr, program.consts) if isinstance(program, ClosedJaxpr) else (program, ())
        values: dict[Var, Atom] = dict(zip(jaxpr.invars, operands, strict=True))
        values |= {v: self.constant(v, array) for v, array in zip(jaxpr.constvars, constants, strict=True)}
        read = lambda atom: atom if isinstance(atom, Literal) else values[atom]
        for equation in jaxpr.eqns:
            results = self.results(equation, [read(atom) for atom in equation.invars])
            values.update(zip(equation.outvars, results, strict=True))
        return [read(atom) for atom in jaxpr.outvars]

    def constant(self, variable: Var, array: Array) -> Var:
        """The variable of a captured array: the same one for the same array, and for small ones of the same bits."""
        if id(array) not in self._arrays:
            key = _bits(array)
            if key is None or key not in self._bits:
                new = self._bits[key or id(array)] = Var(variable.aval)
                self.constants[new] = array
            self._arrays[id(array)] = self._bits[key or id(array)]
        return self._arrays[id(array)]

    def results(self, equation: JaxprEqn, operands: list[Atom]) -> list[Atom]:
        """The results of one equation of these operands."""
        name, function = equation.primitive.name, called(equation)
        if name in IDENTITY:
            return operands
        if function is not None:
            check(equation)
            return self.inlined(function, operands)
        if name == "scan":
            check(equation)
            return self.unrolled(equation, operands)
        if name in ("cond", "while"):
            raise UnsupportedError(f"'{name}'{source_line(equation)} is not unrolled; use a scan of known length")
        written = [atom for atom in operands if isinstance(atom, Literal)]
        if len(written) == len(operands) and all(map(_is_index, (*operands, *equation.outvars))):
            return _computed(equation, written)
        if name == "dynamic_slice" and len(written) == len(operands) - 1 and written == operands[1:]:
            starts = tuple(int(np.asarray(atom.val)) for atom in written)
            return self.inlined(_part(aval_of(operands[0]), starts, equation.params["slice_sizes"]), operands[:1])
        operation = operation_of(equation)
        key = _key(operation, operands)
        if key not in self._known:
            found = self._known[key] = self.appended(equation, operands)
            self.operations.update(dict.fromkeys(found[:1], operation))  # type: ignore[arg-type]
        return self._known[key]

    def appended(self, equation: JaxprEqn, operands: list[Atom]) -> list[Atom]:
        """New variables, computed by the equation from these operands."""
        if len(self.equations) >= MOST_EQUATIONS:
            raise UnsupportedError(f"the program has more than {MOST_EQUATIONS} equations when its loops are unrolled")
        outputs = [Var(v.aval) for v in equation.outvars]
        self.equations.append(equation.replace(invars=operands, outvars=outputs))
        return list(outputs)

    def unrolled(self, equation: JaxprEqn, operands: list[Atom]) -> list[Atom]:
        """The results of a scan: its body is applied to (constants, carry, i-th entry of each sequence)."""
        body = getattr(equation.params["jaxpr"], "jaxpr", equation.params["jaxpr"])
        constants, carries = scan_counts(equation)
        fixed, carry, sequences = operands[:constants], operands[constants:][:carries], operands[constants + carries :]
        rows: list[list[Atom]] = []
        for step in steps(equation):
            if self.deadline is not None:
                self.deadline.check(lambda: source_line(equation))
            entries = [self.inlined(_entry(aval_of(s), step), [s])[0] for s in sequences]
            outputs = self.inlined(equation.params["jaxpr"], [*fixed, *carry, *entries])
            carry = outputs[:carries]
            rows.append(outputs[carries:])
        rows = rows[::-1] if equation.params["reverse"] else rows
        if not rows:
            raise UnsupportedError(f"the scan{source_line(equation)} has no steps")
        stacked = [_stacked(aval_of(v), len(rows)) for v in body.outvars[carries:]]
        return [*carry, *(self.inlined(s, list(c))[0] for s, c in zip(stacked, zip(*rows, strict=True), strict=True))]


def _is_index(atom: Atom) -> bool:
    """Whether an atom is one whole number, or true or false."""
    return shape_of(atom) == () and not jnp.issubdtype(dtype_of(atom), jax.dtypes.extended) and not is_number(atom)


def _computed(equation: JaxprEqn, operands: Sequence[Literal]) -> list[Atom]:
    """The results of an equation on whole numbers that are written, such as which step of a loop it is."""
    check(equation)
    results = bind(equation, [np.asarray(atom.val, dtype_of(atom)) for atom in operands])
    return [Literal(np.asarray(x), v.aval) for x, v in zip(results, equation.outvars, strict=True)]


def _bits(array: Array) -> tuple[str, tuple[int, ...], bytes] | None:
    """The type and the bits of a small array of numbers; None of another one."""
    if not isinstance(array, np.ndarray | jax.Array) or array.size > SMALL:
        return None
    if jnp.issubdtype(array.dtype, jax.dtypes.extended):
        return None
    return str(array.dtype), array.shape, np.asarray(array).tobytes()


Kind = tuple[tuple[int, ...], Any]
"""Shape and dtype, which may be one of random keys."""


def aval_of(atom: Atom) -> Kind:
    """Shape and dtype of an atom."""
    return shape_of(atom), dtype_of(atom)


@functools.lru_cache(maxsize=4096)
def _entry(kind: Kind, index: int) -> ClosedJaxpr:
    return jax.make_jaxpr(lambda a: jax.lax.index_in_dim(a, index, keepdims=False))(jax.ShapeDtypeStruct(*kind))


@functools.lru_cache(maxsize=4096)
def _part(kind: Kind, starts: tuple[int, ...], sizes: tuple[int, ...]) -> ClosedJaxpr:
    """A part of an array, moved inside it as `jax.lax.dynamic_slice` does."""
    inside = [min(max(0, start), n - size) for start, n, size in zip(starts, kind[0], sizes, strict=True)]
    ends = [start + size for start, size in zip(inside, sizes, strict=True)]
    return jax.make_jaxpr(lambda a: jax.lax.slice(a, inside, ends))(jax.ShapeDtypeStruct(*kind))


@functools.lru_cache(maxsize=4096)
def _stacked(kind: Kind, count: int) -> ClosedJaxpr:
    return jax.make_jaxpr(lambda *rows: jnp.stack(rows))(*[jax.ShapeDtypeStruct(*kind)] * count)


def _key(operation: Operation, operands: Sequence[Atom]) -> Any:
    """Equal for equations that compute the same thing; unique where the parameters cannot be compared."""
    if not operation.comparable:
        return object()
    return operation, *[_of_literal(atom) if isinstance(atom, Literal) else atom for atom in operands]


def _of_literal(literal: Literal) -> tuple[Any, bytes]:
    array = np.asarray(literal.val, dtype_of(literal))
    return array.dtype, array.tobytes()


def _ordered(equations: Sequence[JaxprEqn], outputs: Sequence[Atom]) -> list[JaxprEqn]:
    """The equations that outputs need, each just before the first that needs it, the longer branch first."""
    producer = {v: place for place, equation in enumerate(equations) for v in equation.outvars}
    needs: list[list[int]] = []
    height: list[int] = []
    for equation in equations:
        places = list(dict.fromkeys(producer[v] for v in variables(equation.invars) if v in producer))
        height.append(1 + max((height[p] for p in places), default=0))
        needs.append(sorted(places, key=lambda p: height[p]))  # the last one is visited first
    done: dict[int, None] = {}
    roots = dict.fromkeys(producer[v] for v in variables(outputs) if v in producer)
    waiting = [(place, False) for place in sorted(roots, key=lambda p: height[p])]
    while waiting:
        place, visited = waiting.pop()
        if place in done:
            continue
        if visited:
            done[place] = None
            continue
        waiting.append((place, True))
        waiting += [(p, False) for p in needs[place] if p not in done]
    return [equations[place] for place in done]
