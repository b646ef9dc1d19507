"""The jaxpr interpreter: one walk over the equations, any number system.

A *value* of a floating-point variable is whatever the arithmetic says a number is (an array of balls, a
float64 array, a tuple of residues). A value of an integer or boolean variable is an ordinary array: shapes,
indices and masks are the same in every number system, so JAX itself evaluates the equations between them.
"""

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic

import jax
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, jaxpr_as_fun
from jax.typing import ArrayLike

from uat_jax.errors import ShapeError, UnsupportedError
from uat_jax.interpret import concrete
from uat_jax.interpret.concrete import bind, is_array, is_plain, on_host
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.definitions import DEFINITIONS, defined, is_defined
from uat_jax.interpret.integer_ranges import Range, hull, limits, of_array, ranges
from uat_jax.interpret.lifetimes import Numbered, Results, V, Written, lines
from uat_jax.interpret.operation import Operation, operation_of
from uat_jax.interpret.primitives import TABLE, admit, check, refuse, refuse_complex
from uat_jax.interpret.structure import STRUCTURAL as STRUCTURAL
from uat_jax.interpret.structure import positions as positions
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of, source_line
from uat_jax.typing import Array, Atom

MOST_ROUNDS = 1_000_000
"""A loop of more rounds than this is taken for one that does not end."""

Rule = Callable[..., Any]  # Any: a value of the arithmetic, whose type a class variable cannot name
"""rule(arithmetic, equation, *operands) -> value, or a list if the primitive has several results."""

IDENTITY = frozenset("copy copy_p device_put name optimization_barrier stop_gradient xla_metadata_value".split())
"""Primitives whose results are their operands."""

BODY = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "composite": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
    "custom_vmap_call": "call",
    "linear_call": "callee",
    "remat": "jaxpr",
    "remat2": "jaxpr",
    "checkpoint": "jaxpr",
}
"""Primitives that call a function, and the parameter that holds its jaxpr."""


MOST_ENDS = 8
"""Of a loop that the input may end after more rounds than this, no end is followed."""

LOOPS = {"scan": "scan", "cond": "cond", "while": "while_loop"}
"""Other primitives that call functions, and the method of a walk that does."""


def called(equation: JaxprEqn) -> Jaxpr | ClosedJaxpr | None:
    """The jaxpr of the function that an equation calls; None for a primitive that calls none, or more than one."""
    if equation.primitive.name == "call_hi_primitive":
        return _expanded(equation)
    if equation.primitive.name == "custom_linear_solve":
        return _solver(equation)
    parameter = BODY.get(equation.primitive.name)
    # Versions of JAX name the program of a composite differently.
    return None if parameter is None else equation.params.get(parameter, equation.params.get("jaxpr"))


def inner_programs(equation: JaxprEqn) -> list[Jaxpr | ClosedJaxpr]:
    """The jaxprs of all functions that an equation calls or is given."""
    function = called(equation)
    if function is not None:
        return [function]
    parts = (leaf for value in equation.params.values() if not _is_plain(value) for leaf in jax.tree.leaves(value))
    return [part for part in parts if isinstance(part, ClosedJaxpr | Jaxpr)]


PLAIN = frozenset([bool, int, float, str, type(None), *(type(np.dtype(name)) for name in ("float32", "int32", "bool"))])
"""Kinds of parameters that hold no program."""


def _is_plain(value: object) -> bool:
    """Whether a parameter is seen at once to hold no program: most are, and every walk asks it of every equation."""
    return type(value) in PLAIN or type(value) is tuple and PLAIN.issuperset(map(type, value))


def programs_within(program: ClosedJaxpr | Jaxpr) -> tuple[ClosedJaxpr | Jaxpr, ...]:
    """A jaxpr and all those within it, each of them once."""
    jaxpr = program.jaxpr if isinstance(program, ClosedJaxpr) else program
    return (program, *_within(jaxpr))


@functools.lru_cache(maxsize=64)
def _within(jaxpr: Jaxpr) -> tuple[ClosedJaxpr | Jaxpr, ...]:
    """All jaxprs within one, in the order in which they are met; remembered, since many walks ask for them."""
    found: dict[int, ClosedJaxpr | Jaxpr] = {}
    waiting = [inner for equation in reversed(jaxpr.eqns) for inner in reversed(inner_programs(equation))]
    while waiting:
        program = waiting.pop()
        if id(program) not in found:
            found[id(program)] = program
            waiting += [inner for equation in reversed(program.eqns) for inner in reversed(inner_programs(equation))]
    return tuple(found.values())


@functools.lru_cache(maxsize=4096)
def _expanded(equation: JaxprEqn) -> ClosedJaxpr:
    """The definition that an operation of JAX 0.12 brings along, traced once for every walk over the equation."""
    operation, atoms = equation.params["_prim"], (*equation.invars, *equation.outvars)
    expand = lambda *flat: operation.expand(*jax.tree.unflatten(operation.in_tree, flat))
    with jax.enable_x64(any(dtype_of(atom).itemsize == 8 for atom in atoms)):
        return jax.make_jaxpr(expand)(*(atom.aval for atom in equation.invars))


@functools.lru_cache(maxsize=4096)
def _solver(equation: JaxprEqn) -> ClosedJaxpr:
    """What a solve with a gradient of its own returns: the result of its solver, whatever it is said to solve."""
    lengths, solve = equation.params["const_lengths"], equation.params["jaxprs"].solve
    first, count = lengths.matvec + lengths.vecmat, lengths.solve
    program = lambda *operands: jaxpr_as_fun(solve)(*operands[first : first + count], *operands[sum(lengths) :])
    with jax.enable_x64(any(dtype_of(atom).itemsize == 8 for atom in (*equation.invars, *equation.outvars))):
        return jax.make_jaxpr(program)(*(atom.aval for atom in equation.invars))


@dataclass(frozen=True, eq=False)
class Instruction:
    """What a walk asks of an equation in any arithmetic: looked up once, however often the equation is met.

    operation: what it does, None for one that calls functions.  function: the one that it calls.  loop: the method of a
    walk that follows it, "" for one that is no loop.  listed: whether its primitive stands in the table.
    """

    equation: JaxprEqn
    operation: Operation | None
    function: Jaxpr | ClosedJaxpr | None
    loop: str
    listed: bool

    @functools.cached_property
    def admitted(self) -> bool:
        """True; raises `UnsupportedError` unless the table's row covers it."""
        admit(self.equation)
        return True


@functools.lru_cache(maxsize=1 << 14)
def instruction(equation: JaxprEqn) -> Instruction:
    """What walks ask of an equation."""
    name, function = equation.primitive.name, called(equation)
    loop = "" if function is not None else LOOPS.get(name, "")
    operation = None if function is not None or loop else operation_of(equation)
    return Instruction(equation, operation, function, loop, name in TABLE)


class Arithmetic(ABC, Generic[V]):
    """A number system: how to make numbers, move them, and apply each primitive to them.

    V is the type of its values: number arrays of the arithmetic, and plain integer or boolean arrays.

    `rules` is the table from primitive name to rule; a primitive without a row is an UnsupportedError.
    """

    deadline: Deadline | None = None
    """When no equation is evaluated any more."""

    name: ClassVar[str]
    rules: ClassVar[Mapping[str, Rule]]

    integers_may_wrap: ClassVar[bool] = False
    """Whether JAX computes all integers, wrapping as on the device; else programs that may wrap are refused."""

    asks_for_ranges: frozenset[str] = frozenset()
    """Primitives that make floats by rules that look at the ranges of their operands."""

    takes_unknown: ClassVar[bool] = False
    """Whether a primitive that stands in no table is an uninterpreted function, instead of being refused."""

    follows_both: ClassVar[bool] = False
    """Whether a loop that the input may end is followed both ways; else what decides is concrete at every input."""

    input_ranges: Sequence[Range] = ()
    """What the inputs of the program range over; none are given if each may be anything that its dtype holds."""

    most_rounds: int = MOST_ROUNDS
    """Loops that run for longer are refused."""

    operand_ranges: Sequence[Range] = ()
    """The ranges of the operands of the equation that is being evaluated."""

    def branch_taken(self, predicate: V) -> V:
        """The integer or boolean by which a branch is taken, where an arithmetic knows one that its values do not show.

        A proof for all inputs knows none: what depends on the input stays undecided.
        """
        return predicate

    @abstractmethod
    def number(self, array: ArrayLike) -> V:
        """The numbers that the entries of a concrete array are, exactly."""

    def constant(self, array: Array, dtype: np.dtype) -> V:
        """A literal or captured array of a floating `dtype`; by default the number it is."""
        return self.number(array)

    @abstractmethod
    def rearrange(self, equation: JaxprEqn, operands: Sequence[V]) -> list[V]:
        """The results of a structural primitive: entries of the operands in new places."""

    @abstractmethod
    def stack(self, values: Sequence[V]) -> V:
        """Values of one shape along a new leading axis."""

    def entry(self, value: V, index: int) -> V:
        """value[index] along the leading axis."""
        return value[index]  # type: ignore[index]

    def involves(self, equation: JaxprEqn, operands: Sequence[V]) -> bool:
        """Whether the equation works on this arithmetic's numbers, so that JAX cannot evaluate it alone."""
        return operation_of(equation).takes_numbers

    def plain(self, equation: JaxprEqn, operands: Sequence[V]) -> list[V]:
        """The results of an equation that involves no numbers: NumPy arrays, keys as they are, floats as numbers.

        An integer cast to a float is the number it was: rounding it is the device's business.
        """
        if equation.primitive.name == "convert_element_type" and is_number(equation.outvars[0]):
            return [self.number(operands[0])]  # type: ignore[arg-type]
        return [
            self.number(output) if is_number(variable) else on_host(output)
            for variable, output in zip(equation.outvars, bind(equation, operands), strict=True)
        ]

    def supports(self, equation: JaxprEqn, operands: Sequence[V]) -> bool:
        """Whether `evaluate` can handle the equation."""
        name = equation.primitive.name
        known = name in self.rules or name in STRUCTURAL or name in IDENTITY
        return known or not self.involves(equation, operands)

    def uninterpreted(self, equation: JaxprEqn, operands: Sequence[V]) -> list[V] | None:
        """The results of an equation without rule and definition, where equal operands are all there is to know."""
        return None

    def definition(self, equation: JaxprEqn, operands: Sequence[V]) -> ClosedJaxpr | None:
        """A definition of a primitive that this arithmetic prefers, a function of its operands."""
        return None

    def evaluate(self, equation: JaxprEqn, operands: Sequence[V]) -> list[V]:
        """The results of one supported equation that calls no function; a rule goes before `rearrange`."""
        name = equation.primitive.name
        if name in IDENTITY:
            return list(operands)
        if not self.involves(equation, operands):
            return self.plain(equation, operands)
        if name not in self.rules:
            return self.rearrange(equation, operands)
        result = self.rules[name](self, equation, *operands)
        return list(result) if equation.primitive.multiple_results else [result]


def interpret(closed_jaxpr: ClosedJaxpr, arithmetic: Arithmetic[V], arguments: Sequence[V]) -> list[V]:
    """The outputs of a jaxpr evaluated in an arithmetic.

    `arguments` are values of the arithmetic, one per input variable. Every distinct equation is evaluated
    once: equations with the same primitive, parameters and operands share their results, as they do on a
    device.

    Raises:
        ShapeError: the number of arguments is not the number of inputs.
        UnsupportedError: the arithmetic has no rule for a primitive, the table of primitives does not cover one of its
            parameters or dtypes, or an integer that depends on the inputs may wrap.
        BudgetError: the arithmetic's deadline is over.
        MemoryLimitError: a single array would take more memory than the deadline allows.
    """
    return next(interpret_all([closed_jaxpr], arithmetic, arguments))


def interpret_all(
    programs: Sequence[ClosedJaxpr], arithmetic: Arithmetic[V], arguments: Sequence[V]
) -> Iterator[list[V]]:
    """The outputs of each of several jaxprs with the same inputs, as `interpret`; what they share is evaluated once."""
    walk = Walk(arithmetic)
    given: list[Numbered[V]] = []
    for closed in programs:
        inputs = closed.jaxpr.invars
        if len(inputs) != len(arguments):
            raise ShapeError(f"got {len(arguments)} arguments for a jaxpr of {len(inputs)} inputs; pass one for each")
        with jax.enable_x64(True):  # the types are the equations' own
            if not given:
                given = list(map(walk.argument, inputs, arguments))
                walk.ranges.update(zip((number for number, _ in given), arithmetic.input_ranges, strict=False))
            outputs = walk.jaxpr(closed.jaxpr, closed.consts, given)
        yield [value for _, value in outputs]


Deferred = tuple[JaxprEqn, Sequence[int], Sequence[int]]
"""An equation, the numbers of its operands, and those of its results."""


class Walk(Generic[V]):
    """One evaluation: value numbering in front of an arithmetic.

    A value travels as (number, value); equal numbers mean equal values whatever the arithmetic, so two
    arithmetics that walk one jaxpr evaluate the same equations in the same order.

    constants: the arrays whose ranges have not been needed yet, by number.  ranges: those that have been computed.
    deferred: the equations that make floats whose ranges have not been needed yet.
    varying: the numbers of values that depend on the inputs.
    """

    def __init__(self, arithmetic: Arithmetic[V]):
        self.arithmetic = arithmetic
        self.known = Results[V]()
        self.literals: dict[Hashable, Numbered[V]] = {}
        self.calls: list[JaxprEqn] = []
        self.count = 0
        self.constants: dict[int, Array] = {}
        self.ranges: dict[int, Range] = {}
        self.deferred: dict[int, Deferred] = {}
        self.varying: set[int] = set()

    def new(self, value: V) -> Numbered[V]:
        """A value with a number of its own."""
        self.count += 1
        return self.count, value

    def argument(self, variable: Var, value: V) -> Numbered[V]:
        """An input: any number of its dtype, or the concrete integers that are given for it."""
        numbered = self.new(value)
        if is_plain(value, variable):
            self.constants[numbered[0]] = value
        else:
            self.varying.add(numbered[0])
        return numbered

    def constant(self, atom: Atom, value: Any) -> Numbered[V]:  # Any: an array, which is a value of every arithmetic
        """A captured array.  Raises `UnsupportedError` if it is complex."""
        refuse_complex(atom, lambda: f"a constant of {dtype_of(atom)}{shape_of(atom)}")
        numbered = self.new(self.arithmetic.constant(value, dtype_of(atom)) if is_number(atom) else value)
        self.constants[numbered[0]] = value
        return numbered

    def range(self, atom: Atom, number: int) -> Range:
        """The range of a value."""
        if number in self.deferred and number not in self.ranges:
            self.resolve(number)
        if number not in self.ranges:
            array = self.constants.pop(number, None)
            self.ranges[number] = limits(dtype_of(atom)) if array is None else of_array(array)
        return self.ranges[number]

    def resolve(self, number: int) -> None:
        """Compute a deferred range, after all deferred ranges that it is computed from."""
        waiting = [number]
        while waiting:
            equation, operands, results = self.deferred[waiting[-1]]
            missing = [n for n in operands if n in self.deferred and n not in self.ranges]
            if missing:
                waiting += missing
                continue
            bounds = ranges(equation, list(map(self.range, equation.invars, operands)))
            self.ranges.update(zip(results, bounds, strict=True))
            waiting = [n for n in waiting if n not in self.ranges]

    def derived(self, value: V, parts: Sequence[tuple[Atom, Numbered[V]]]) -> Numbered[V]:
        """A value made of entries of others."""
        numbered = self.new(value)
        if parts:
            self.ranges[numbered[0]] = hull(*(self.range(atom, number) for atom, (number, _) in parts))
        if any(number in self.varying for _, (number, _) in parts):
            self.varying.add(numbered[0])
        return numbered

    def literal(self, literal: Literal) -> Numbered[V]:
        """A number that stands in an equation: the same value for the same bits."""
        return self.written(Written(literal))

    def written(self, written: Written) -> Numbered[V]:
        """The value of such a number."""
        if written.bits not in self.literals:
            self.literals[written.bits] = self.constant(written.literal, written.array)
        return self.literals[written.bits]

    def jaxpr(self, jaxpr: Jaxpr, constants: Sequence[Array], arguments: Sequence[Numbered[V]]) -> list[Numbered[V]]:
        """The outputs of a jaxpr."""
        values = {variable: self.constant(variable, c) for variable, c in zip(jaxpr.constvars, constants, strict=True)}
        values.update(zip(jaxpr.invars, arguments, strict=True))

        for equation, operands, unread in lines(jaxpr):
            read = [self.written(x) if isinstance(x, Written) else values[x] for x in operands]
            values.update(zip(equation.outvars, self.equation(equation, read), strict=True))
            for variable in unread:
                values.pop(variable, None)
        return [self.literal(x) if isinstance(x, Literal) else values[x] for x in jaxpr.outvars]

    def equation(self, equation: JaxprEqn, operands: Sequence[Numbered[V]]) -> list[Numbered[V]]:
        """The results of one equation; those that are known are not computed again."""
        self.spend(equation)
        asked = instruction(equation)
        operation = asked.operation
        if operation is None:
            return self.call(asked, operands)
        numbers = [number for number, _ in operands]
        key = (operation, *numbers) if operation.comparable else object()
        known = self.known[key]
        if known is None:
            self.hold(equation, operation)
            known = self.known.keep(key, operation, self.checked(asked, operation, operands, numbers))
        return known

    def spend(self, equation: JaxprEqn) -> None:
        """Raises `BudgetError` if the time is up."""
        if self.arithmetic.deadline is not None:
            self.arithmetic.deadline.spend(lambda: self.line(equation))

    def hold(self, equation: JaxprEqn, operation: Operation) -> None:
        """Raises `MemoryLimitError` if one array alone is more than may be held."""
        if self.arithmetic.deadline is not None and operation.is_large:
            what = f"the result of '{operation.name}'{self.line(equation)}"
            self.arithmetic.deadline.hold(operation.bytes, what)

    def checked(
        self, asked: Instruction, operation: Operation, operands: Sequence[Numbered[V]], numbers: Sequence[int]
    ) -> list[Numbered[V]]:
        """The results, unless the table of primitives or the range of an integer refuses them.

        Integers of constants alone are left to JAX, where they may wrap.
        """
        equation = asked.equation
        refuse(equation, self.line)
        if operation.is_complex:
            for variable in equation.outvars:
                refuse_complex(variable, lambda: f"the result of '{equation.primitive.name}'{self.line(equation)}")
        varies = not self.varying.isdisjoint(numbers)
        if varies or operation.takes_numbers:
            if not (asked.listed and asked.admitted) and not self.arithmetic.takes_unknown:
                raise self.missing(equation)
        results = self.bounded(equation, operation, operands, numbers, varies)
        if varies:
            self.varying.update([number for number, _ in results])
        return results

    def bounded(
        self,
        equation: JaxprEqn,
        operation: Operation,
        operands: Sequence[Numbered[V]],
        numbers: Sequence[int],
        varies: bool,
    ) -> list[Numbered[V]]:
        """The results, and their ranges; concrete integers that do not vary have those of their entries."""
        arithmetic = self.arithmetic
        if arithmetic.integers_may_wrap:
            return self.evaluate(equation, operation, operands)
        without_ranges = operation.makes_numbers_without_integers and operation.name not in arithmetic.asks_for_ranges
        if varies and without_ranges:  # nothing wraps, no case is chosen by an integer, nothing is decided by ranges
            arithmetic.operand_ranges = ()
            results = self.evaluate(equation, operation, operands)
            made = [number for number, _ in results]
            # A definition may return what it was given.
            for number in made:
                if not (number in self.ranges or number in self.deferred or number in numbers):
                    self.deferred[number] = (equation, numbers, made)
            return results
        given = lambda: list(map(self.range, equation.invars, numbers))
        bounds: list[Range] = []
        if varies or operation.takes_numbers:
            arithmetic.operand_ranges = given()
        if varies:  # what may wrap is refused before it is computed
            bounds = ranges(equation, arithmetic.operand_ranges)
        results = self.evaluate(equation, operation, operands)
        fixed = [not varies and is_plain(value, v) for (_, value), v in zip(results, equation.outvars, strict=True)]
        if not varies and not all(fixed):
            bounds = ranges(equation, given())
        for place, (number, value) in enumerate(results):
            if fixed[place]:
                self.constants[number] = value  # type: ignore[assignment]
            else:
                self.ranges[number] = bounds[place]
        return results

    def evaluate(self, equation: JaxprEqn, operation: Operation, operands: Sequence[Numbered[V]]) -> list[Numbered[V]]:
        """The results of an equation, by the arithmetic's rule or else by the primitive's definition."""
        values = [value for _, value in operands]
        if operation.is_complex:
            raise UnsupportedError(
                f"'{equation.primitive.name}'{self.line(equation)} computes with complex numbers, which are not "
                "followed; use real and imaginary parts"
            )
        if self.arithmetic.supports(equation, values):
            return [self.new(value) for value in self.arithmetic.evaluate(equation, values)]
        if not is_defined(equation):
            results = self.arithmetic.uninterpreted(equation, values)
            if results is None:
                raise self.missing(equation)
            return list(map(self.new, results))
        plain = [value if is_plain(value, atom) else None for value, atom in zip(values, equation.invars, strict=True)]
        numbers = [operand for operand, value in zip(operands, plain, strict=True) if value is None]
        self.calls.append(equation)
        program = self.arithmetic.definition(equation, values) or defined(equation, plain)
        results = self.body(program, numbers)
        self.calls.pop()
        return results

    def missing(self, equation: JaxprEqn) -> UnsupportedError:
        """The error of a primitive without rule or definition, which may stand in another primitive's definition."""
        names = (call.primitive.name for call in self.calls)
        part = "".join(f", part of '{name}'" for name in [n for n in names if n in DEFINITIONS][:1])
        return UnsupportedError(
            f"{self.arithmetic.name} has no rule for the primitive '{equation.primitive.name}'{part}"
            f"{self.line(equation)}; rewrite that line with the primitives of its table"
        )

    def call(self, asked: Instruction, operands: Sequence[Numbered[V]]) -> list[Numbered[V]]:
        """The results of a primitive that calls functions."""
        if asked.listed:
            check(asked.equation)
        self.calls.append(asked.equation)
        if asked.function is not None:
            results = self.body(asked.function, operands)
        else:
            results = getattr(self, asked.loop)(asked.equation, operands)
        self.calls.pop()
        return results

    def line(self, equation: JaxprEqn) -> str:
        """Where the user wrote the equation, or else the innermost call around it."""
        return next(filter(None, map(source_line, (equation, *reversed(self.calls)))), "")

    def body(self, jaxpr: Jaxpr | ClosedJaxpr, operands: Sequence[Numbered[V]]) -> list[Numbered[V]]:
        """The outputs of a function that an equation calls."""
        if isinstance(jaxpr, ClosedJaxpr):
            return self.jaxpr(jaxpr.jaxpr, jaxpr.consts, operands)
        return self.jaxpr(jaxpr, (), operands)

    def scan(self, equation: JaxprEqn, operands: list[Numbered[V]]) -> list[Numbered[V]]:
        """A scan, unrolled: the body is applied to (constants, carry, i-th entry of each sequence)."""
        body = getattr(equation.params["jaxpr"], "jaxpr", equation.params["jaxpr"])
        constants, carries = scan_counts(equation)
        first = constants + carries
        fixed, carry = operands[:constants], operands[constants:first]
        sequences = list(zip(equation.invars[first:], operands[first:], strict=True))
        rows = []
        for step in steps(equation):
            entries = [self.entry(atom, sequence, step) for atom, sequence in sequences]
            outputs = self.body(equation.params["jaxpr"], [*fixed, *carry, *entries])
            carry = outputs[:carries]
            rows.append(outputs[carries:])
        rows = rows[::-1] if equation.params["reverse"] else rows
        columns = zip(*rows, strict=True) if rows else [()] * len(body.outvars[carries:])
        return [*carry, *map(self.stack, equation.outvars[carries:], body.outvars[carries:], columns)]

    def entry(self, atom: Atom, sequence: Numbered[V], index: int) -> Numbered[V]:
        """sequence[index] along the leading axis of the atom's shape."""
        _, value = sequence
        row: Any = value[index] if is_plain(value, atom) else self.arithmetic.entry(value, index)  # Any: see `constant`
        return self.derived(row, [(atom, sequence)])

    def stack(self, outer: Atom, inner: Atom, rows: Sequence[Numbered[V]]) -> Numbered[V]:
        """The value of the variable `outer` from its entries along the leading axis, values of `inner`."""
        if not rows:
            return self.constant(outer, np.zeros(shape_of(outer), dtype_of(outer)))
        values: list[Any] = [value for _, value in rows]  # Any: see `constant`
        plain = all(is_plain(value, inner) for value in values)
        stacked = concrete.stack(values) if plain else self.arithmetic.stack(values)
        return self.derived(stacked, [(inner, row) for row in rows])

    def cond(self, equation: JaxprEqn, operands: Sequence[Numbered[V]]) -> list[Numbered[V]]:
        """A conditional whose predicate is concrete: the branch it names."""
        return self.body(equation.params["branches"][self.decided(equation, operands[0])], operands[1:])

    def while_loop(self, equation: JaxprEqn, operands: Sequence[Numbered[V]]) -> list[Numbered[V]]:
        """A loop whose predicate is concrete in every round, or in the last one of a few.

        Where the input decides whether a round is the last one, both are followed: the result is a selection between
        what is carried before that round and what comes out in the end (docs/soundness.md §10.7).
        """
        parameters = equation.params
        tests, bodies = parameters["cond_nconsts"], parameters["body_nconsts"]
        test, body, carry = operands[:tests], operands[tests : tests + bodies], operands[tests + bodies :]
        most = self.arithmetic.most_rounds
        ends: list[tuple[Numbered[V], Sequence[Numbered[V]]]] = []
        for _ in range(most):
            self.spend(equation)  # also where the body has no equations
            (proceed,) = self.body(parameters["cond_jaxpr"], [*test, *carry])
            if self.arithmetic.follows_both and not is_array(proceed[1]) and len(ends) < MOST_ENDS:
                ends.append((proceed, carry))
            elif not self.decided(equation, proceed):
                return self.last(equation, ends, carry)
            carry = self.body(parameters["body_jaxpr"], [*body, *carry])
        raise UnsupportedError(f"the loop{self.line(equation)} runs more than {most} rounds; bound it")

    def last(
        self,
        equation: JaxprEqn,
        ends: Sequence[tuple[Numbered[V], Sequence[Numbered[V]]]],
        carry: Sequence[Numbered[V]],
    ) -> list[Numbered[V]]:
        """What a loop carries in the end; `ends`: where it may have ended before, whether it goes on, and its carry."""
        found = list(carry)
        for proceed, earlier in reversed(ends):
            found = [
                after if before[0] == after[0] else self.body(_selection(variable), [proceed, before, after])[0]
                for variable, before, after in zip(equation.outvars, earlier, found, strict=True)
            ]
        return found

    def decided(self, equation: JaxprEqn, predicate: Numbered[V]) -> int:
        """The one integer or boolean that a predicate is in all copies."""
        value = self.arithmetic.branch_taken(predicate[1])
        distinct = np.unique(np.asarray(value)) if is_array(value) else np.empty(0)
        if distinct.size != 1:
            raise UnsupportedError(f"the branch taken{self.line(equation)} depends on the input; use jnp.where instead")
        return int(distinct.item())


def _selection(variable: Var) -> ClosedJaxpr:
    """The program that selects an array, of the type of a variable, before or after a round."""
    return _selection_of(shape_of(variable), dtype_of(variable))


@functools.lru_cache(maxsize=256)
def _selection_of(shape: tuple[int, ...], dtype: np.dtype) -> ClosedJaxpr:
    array = jax.ShapeDtypeStruct(shape, dtype)
    return jax.make_jaxpr(lax.select_n)(jax.ShapeDtypeStruct((), bool), array, array)


def scan_counts(equation: JaxprEqn) -> tuple[int, int]:
    """How many constants and how many carried values a scan has; versions of JAX name the counts differently."""
    body = getattr(equation.params["jaxpr"], "jaxpr", equation.params["jaxpr"])
    # A sequence has one axis more outside than inside.
    rank = lambda atom: len(shape_of(atom))
    same = lambda outer, inner: sum(rank(a) == rank(b) for a, b in zip(outer, inner, strict=True))
    carries = same(equation.outvars, body.outvars)
    return same(equation.invars, body.invars) - carries, carries


def steps(equation: JaxprEqn) -> Sequence[int]:
    """The order in which a scan visits the entries of its sequences."""
    steps = range(equation.params["length"])
    return steps[::-1] if equation.params["reverse"] else steps
