"""The jaxpr interpreter: one walk over the equations, any number system.

A *value* of a floating-point variable is whatever the arithmetic says a number is (an array of balls, a
float64 array, a tuple of residues). A value of an integer or boolean variable is an ordinary array: shapes,
indices and masks are the same in every number system, so JAX itself evaluates the equations between them.
"""

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

from uat_jax.arithmetic.structure import moved
from uat_jax.arithmetic.tracing import dtype_of, is_number, shape_of, source_line
from uat_jax.errors import ShapeError, UnsupportedError

Value = Any
"""A number array of the arithmetic, or a plain integer or boolean array."""

Rule = Callable[..., Any]
"""rule(arithmetic, equation, *operands) -> value, or a list if the primitive has several results."""

STRUCTURAL = frozenset(
    "broadcast_in_dim concatenate dynamic_slice dynamic_update_slice expand_dims gather pad reshape rev "
    "select_n slice split squeeze stack transpose unstack".split()
)
"""Primitives that move entries and compute none."""

IDENTITY = frozenset(["copy", "copy_p", "optimization_barrier", "stop_gradient"])
"""Primitives whose results are their operands."""

BODY = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
    "remat": "jaxpr",
    "remat2": "jaxpr",
    "checkpoint": "jaxpr",
}
"""Primitives that call a function, and the parameter that holds its jaxpr."""


class Arithmetic(ABC):
    """A number system: how to make numbers, move them, and apply each primitive to them.

    `rules` is the table from primitive name to rule; a primitive without a row is an UnsupportedError.
    """

    name: ClassVar[str]
    rules: ClassVar[Mapping[str, Rule]]

    @abstractmethod
    def number(self, array: Any) -> Value:
        """The numbers that the entries of a concrete array are, exactly."""

    def constant(self, array: Any, dtype: np.dtype) -> Value:
        """A literal or captured array of a floating `dtype`; by default the number it is."""
        return self.number(array)

    @abstractmethod
    def rearrange(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The results of a structural primitive: entries of the operands in new places."""

    @abstractmethod
    def stack(self, values: Sequence[Value]) -> Value:
        """Values of one shape along a new leading axis."""

    def entry(self, value: Value, index: int) -> Value:
        """value[index] along the leading axis."""
        return value[index]

    def plain(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The results of an equation without floating-point operands; floating results become numbers.

        An integer cast to a float is the number it was: rounding it is the device's business.
        """
        if equation.primitive.name == "convert_element_type" and is_number(equation.outvars[0]):
            return [self.number(operands[0])]
        outputs = bind(equation, operands)
        return [
            self.number(output) if is_number(variable) else output
            for variable, output in zip(equation.outvars, outputs, strict=True)
        ]

    def supports(self, equation: JaxprEqn) -> bool:
        """Whether `evaluate` can handle the equation."""
        known = equation.primitive.name in {*self.rules, *STRUCTURAL, *IDENTITY}
        return known or not any(is_number(atom) for atom in equation.invars)

    def evaluate(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The results of one supported equation that calls no function."""
        name = equation.primitive.name
        if name in IDENTITY:
            return list(operands)
        if not any(is_number(atom) for atom in equation.invars):
            return self.plain(equation, operands)
        if name in STRUCTURAL:
            return self.rearrange(equation, operands)
        result = self.rules[name](self, equation, *operands)
        return list(result) if equation.primitive.multiple_results else [result]


def bind(equation: JaxprEqn, operands: Sequence[Any], **changes: Any) -> list[Any]:
    """JAX's own results of an equation, with some of its parameters changed."""
    outputs = equation.primitive.bind(*operands, **{**equation.params, **changes})
    return list(outputs) if equation.primitive.multiple_results else [outputs]


def positions(equation: JaxprEqn, operands: Sequence[Any]) -> list[np.ndarray]:
    """Where each entry of a structural equation's results comes from.

    The equation is applied to the positions of the entries instead of the entries: position k means entry k
    of all number operands, flattened and laid end to end. Every arithmetic whose numbers are not JAX arrays
    can thus share one implementation of the structural primitives.

    Raises:
        UnsupportedError: an index lies outside its operand, so that some entry comes from nowhere.
    """
    if all(is_number(atom) for atom in equation.invars):
        return _own_positions(equation)
    return _positions(equation, operands)


@functools.lru_cache(maxsize=4096)
def _own_positions(equation: JaxprEqn) -> list[np.ndarray]:
    """The positions where only numbers are moved: the equation alone decides them, for every walk over it."""
    return _positions(equation, [None] * len(equation.invars))


def _positions(equation: JaxprEqn, operands: Sequence[Any]) -> list[np.ndarray]:
    sizes = [int(np.prod(shape_of(atom))) if is_number(atom) else 0 for atom in equation.invars]
    starts = np.cumsum([0, *sizes])
    stand_ins = [
        np.arange(start, start + size, dtype=np.int32).reshape(shape_of(atom)) if is_number(atom) else operand
        for atom, operand, start, size in zip(equation.invars, operands, starts[:-1], sizes, strict=True)
    ]
    sources = moved(equation, stand_ins)
    if sources is None:
        with jax.ensure_compile_time_eval():
            sources = [np.asarray(output) for output in bind(equation, stand_ins)]
    if any(source.size and not 0 <= source.min() <= source.max() < starts[-1] for source in sources):
        raise UnsupportedError(
            f"'{equation.primitive.name}' reads outside its operand{source_line(equation)}; keep within"
        )
    return sources


def interpret(closed_jaxpr: ClosedJaxpr, arithmetic: Arithmetic, arguments: Sequence[Value]) -> list[Value]:
    """The outputs of a jaxpr evaluated in an arithmetic.

    `arguments` are values of the arithmetic, one per input variable. Every distinct equation is evaluated
    once: equations with the same primitive, parameters and operands share their results, as they do on a
    device.

    Raises:
        ShapeError: the number of arguments is not the number of inputs.
        UnsupportedError: the arithmetic has no rule for a primitive.
    """
    inputs = closed_jaxpr.jaxpr.invars
    if len(inputs) != len(arguments):
        raise ShapeError(f"got {len(arguments)} arguments for a jaxpr of {len(inputs)} inputs; pass one for each")
    walk = _Walk(arithmetic)
    outputs = walk.jaxpr(closed_jaxpr.jaxpr, closed_jaxpr.consts, [walk.new(value) for value in arguments])
    return [value for _, value in outputs]


class _Walk:
    """One evaluation: value numbering in front of an arithmetic.

    A value travels as (number, value); equal numbers mean equal values whatever the arithmetic, so two
    arithmetics that walk one jaxpr evaluate the same equations in the same order.
    """

    def __init__(self, arithmetic: Arithmetic):
        self.arithmetic = arithmetic
        self.known: dict[Any, list[tuple[int, Value]]] = {}
        self.calls: list[JaxprEqn] = []
        self.count = 0

    def new(self, value: Value) -> tuple[int, Value]:
        self.count += 1
        return self.count, value

    def constant(self, atom: Any, value: Any) -> tuple[int, Value]:
        return self.new(self.arithmetic.constant(value, dtype_of(atom)) if is_number(atom) else value)

    def literal(self, literal: Literal) -> tuple[int, Value]:
        array = np.asarray(literal.val, dtype_of(literal))
        key = (str(array.dtype), array.tobytes())
        if key not in self.known:
            self.known[key] = [self.constant(literal, array)]
        return self.known[key][0]

    def jaxpr(self, jaxpr: Jaxpr, constants: Sequence[Any], arguments: Sequence[tuple[int, Value]]):
        values = {variable: self.constant(variable, c) for variable, c in zip(jaxpr.constvars, constants, strict=True)}
        values.update(zip(jaxpr.invars, arguments, strict=True))

        def read(atom: Any) -> tuple[int, Value]:
            return self.literal(atom) if isinstance(atom, Literal) else values[atom]

        for equation in jaxpr.eqns:
            outputs = self.equation(equation, [read(atom) for atom in equation.invars])
            values.update(zip(equation.outvars, outputs, strict=True))
        return [read(atom) for atom in jaxpr.outvars]

    def equation(self, equation: JaxprEqn, operands: list[tuple[int, Value]]) -> list[tuple[int, Value]]:
        call = self.call(equation)
        if call is not None:
            self.calls.append(equation)
            results = call(equation, operands)
            self.calls.pop()
            return results
        key = _key(equation, operands)
        if key not in self.known:
            self.check(equation)
            results = self.arithmetic.evaluate(equation, [value for _, value in operands])
            self.known[key] = [self.new(value) for value in results]
        return self.known[key]

    def call(self, equation: JaxprEqn) -> Callable | None:
        """The method that evaluates a primitive that calls functions."""
        name = equation.primitive.name
        if name in BODY:
            return lambda equation, operands: self.body(equation.params[BODY[name]], operands)
        return {"scan": self.scan, "cond": self.cond}.get(name)

    def check(self, equation: JaxprEqn) -> None:
        if self.arithmetic.supports(equation):
            return
        lines = (source_line(e) for e in (equation, *reversed(self.calls)))
        raise UnsupportedError(
            f"{self.arithmetic.name} has no rule for the primitive '{equation.primitive.name}'"
            f"{next(filter(None, lines), '')}; rewrite that line with the primitives of its table"
        )

    def body(self, jaxpr: Any, operands: Sequence[tuple[int, Value]]) -> list[tuple[int, Value]]:
        if isinstance(jaxpr, ClosedJaxpr):
            return self.jaxpr(jaxpr.jaxpr, jaxpr.consts, operands)
        return self.jaxpr(jaxpr, (), operands)

    def scan(self, equation: JaxprEqn, operands: list[tuple[int, Value]]) -> list[tuple[int, Value]]:
        """A scan, unrolled: the body is applied to (constants, carry, i-th entry of each sequence)."""
        body = getattr(equation.params["jaxpr"], "jaxpr", equation.params["jaxpr"])
        # A sequence has one axis more outside than inside; versions of JAX name the counts differently.
        rank = lambda atom: len(shape_of(atom))
        same = lambda outer, inner: sum(rank(a) == rank(b) for a, b in zip(outer, inner, strict=True))
        carries = same(equation.outvars, body.outvars)
        constants = same(equation.invars, body.invars) - carries
        fixed, carry, sequences = (
            operands[:constants],
            operands[constants : constants + carries],
            operands[constants + carries :],
        )
        steps = range(equation.params["length"])
        rows = []
        for step in reversed(steps) if equation.params["reverse"] else steps:
            entries = [self.new(self.arithmetic.entry(value, step)) for _, value in sequences]
            outputs = self.body(equation.params["jaxpr"], [*fixed, *carry, *entries])
            carry = outputs[:carries]
            rows.append([value for _, value in outputs[carries:]])
        rows = rows[::-1] if equation.params["reverse"] else rows
        return [*carry, *(self.new(self.arithmetic.stack(column)) for column in zip(*rows, strict=True))]

    def cond(self, equation: JaxprEqn, operands: list[tuple[int, Value]]) -> list[tuple[int, Value]]:
        """A conditional whose predicate is concrete: the branch it names."""
        try:
            branch = np.asarray(operands[0][1]).item()
        except ValueError as error:  # it differs from copy to copy
            raise UnsupportedError(
                f"the branch taken{source_line(equation)} depends on the input; use jnp.where instead"
            ) from error
        return self.body(equation.params["branches"][branch], operands[1:])


def _key(equation: JaxprEqn, operands: Sequence[tuple[int, Value]]) -> Any:
    """Equal for equations that compute the same thing; unique where the parameters cannot be compared."""
    parameters = tuple(sorted(equation.params.items(), key=lambda item: item[0]))
    key = (equation.primitive, parameters, tuple(number for number, _ in operands))
    try:
        hash(key)
    except TypeError:
        return object()
    return key
