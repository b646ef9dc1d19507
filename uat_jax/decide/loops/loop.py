"""A loop as a sequence of steps of known integers: `scan`, `fori_loop` and `while` in one form.

The integers of a loop (its counter, an index, a flag of the first step) depend on no float; they are known for every
step beforehand, as a `Series`.  So a step at a symbolic time is a program of floats alone:

    a counter that is cast to a float       α + β·t for the time t, or else a row of known numbers
    an array that is read at a counter      a row of its own, like a row of a scanned array
    a decision by a counter                 the steps are split into classes, in each of which it is one decision
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.decide.loops.known_step import VARYING, Fixed, KnownStep, Read, Series, Steps
from uat_jax.decide.loops.walk import Value, Walk, is_concrete
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.interpreter import scan_counts
from uat_jax.interpret.tracing import is_number, source_line

LONGEST = 1 << 20
"""Loops of more steps than this are refused: their integers are written down one by one."""

SIMULATED = 1 << 12
"""Integers that do not grow evenly are computed step by step, up to so many steps."""


@dataclass(eq=False)
class Loop:
    """A loop of a number of steps, which may be symbolic, or one that ends by a decision about floats (`length` None).

    body: the program of a step, of (constants, carry, row) to (carry, row).  integers: operand of the body -> its value
    at every step, for operands that are integers; at the end for the carry: one value more than there are steps.
    test: of a loop that ends by floats, the program that says whether it goes on, and how many constants it takes.
    """

    equation: JaxprEqn
    body: ClosedJaxpr
    constants: int
    carries: int
    length: Any
    reverse: bool = False
    integers: dict[int, np.ndarray] = field(default_factory=dict)
    test: tuple[ClosedJaxpr, int] | None = None

    @property
    def line(self) -> str:
        """Where the user wrote it."""
        return source_line(self.equation)

    @property
    def first_row(self) -> int:
        """The place of the first scanned array."""
        return self.constants + self.carries

    @property
    def floats(self) -> list[int]:
        """The places of float carries among the carries."""
        variables = self.body.jaxpr.invars[self.constants : self.first_row]
        return [i for i, variable in enumerate(variables) if is_number(variable)]

    @property
    def float_rows(self) -> list[int]:
        """The places of float rows among what a step gives beside the carry."""
        return [i for i, v in enumerate(self.body.jaxpr.outvars[self.carries :]) if is_number(v)]

    def operands(self, operands: Sequence[Value]) -> list[Value]:
        """The operands of the loop's body, out of the operands of its equation."""
        return list(operands[self.test[1] :]) if self.test else list(operands[_tests(self.equation) :])

    def start(self, operands: Sequence[Value]) -> list[Value]:
        """The float carries before the first step."""
        return [operands[self.constants + i] for i in self.floats]

    def rows(self, operands: Sequence[Value], steps: Steps) -> list[Read]:
        """What is read at the steps of a class, one array for each, along a leading axis."""
        index = (self.length - 1, -1) if self.reverse and self.length is not None else (0, 1)
        scanned = [Read(self._taken(operands[i], steps), operands[i], index) for i in self._scanned()]
        walk = KnownStep(steps, VARYING, None)
        varying = [VARYING] * len(self.floats)
        walk.closed(self.body, self._arguments(operands, steps, varying, [VARYING] * len(scanned)))
        return scanned + walk.collected

    def step(
        self, operands: Sequence[Value], steps: Steps, time: Value, carry: Sequence[Value], rows: Sequence[Value]
    ) -> tuple[list[Value], list[Value]]:
        """The float carries after a step of a class, and the float rows that it gives.

        Raises:
            SplitError: the steps of the class do not all decide alike.
        """
        count = len(self._scanned())
        walk = KnownStep(steps, time, rows[count:])
        found = walk.closed(self.body, self._arguments(operands, steps, carry, rows[:count]))
        plain = [o.value if isinstance(o, Fixed) else o for o in found]
        return [plain[i] for i in self.floats], [plain[self.carries + i] for i in self.float_rows]

    def at(self, operands: Sequence[Value], step: int, carry: Sequence[Value]) -> tuple[list[Value], list[Value]]:
        """The float carries after one step that is known, and the float rows that it gives."""
        steps = np.array([step])
        rows = [lax.index_in_dim(row.array, 0, keepdims=False) for row in self.rows(operands, steps)]
        return self.step(operands, steps, VARYING, carry, rows)

    def goes_on(self, operands: Sequence[Value], carry: Sequence[Value]) -> Value:
        """Of a loop that ends by floats: 1 where it goes on from a carry, else 0."""
        assert self.test is not None
        program, constants = self.test
        (proceeds,) = Walk().closed(program, [*operands[:constants], *carry])
        return lax.convert_element_type(proceeds, np.float32)

    def results(self, carry: Sequence[Value], rows: Sequence[Value]) -> list[Value]:
        """The results of the equation: float carries and rows as given, integers as they are known."""
        carries, given = iter(carry), iter(rows)
        outputs: list[Value] = []
        for place, variable in enumerate(self.body.jaxpr.outvars):
            if is_number(variable):
                value = next(carries if place < self.carries else given)
                outputs.append(lax.rev(value, (0,)) if self.reverse and place >= self.carries else value)
            elif place < self.carries:
                outputs.append(self.integers[self.constants + place][-1])
            else:
                outputs.append(self._whole_rows(place))
        return outputs

    def _whole_rows(self, place: int) -> np.ndarray:
        """Integer rows that the loop gives."""
        assert self.length is not None
        steps = np.arange(self.length)
        walk = KnownStep(steps, VARYING, None)
        varying = [VARYING] * (len(self.floats) + len(self._scanned()))
        arguments = self._arguments(None, steps, varying[: len(self.floats)], varying[len(self.floats) :])
        value = walk.closed(self.body, arguments)[place]
        if not (isinstance(value, Series) or is_concrete(value)):
            raise UnsupportedError(f"the loop{self.line} gives integers that depend on floats")
        whole = value.values if isinstance(value, Series) else np.broadcast_to(value, (self.length, *value.shape))
        return whole[::-1] if self.reverse else whole

    def _scanned(self) -> list[int]:
        """The operands of the body that are scanned float arrays."""
        variables = self.body.jaxpr.invars
        return [i for i in range(self.first_row, len(variables)) if is_number(variables[i])]

    def _taken(self, array: Value, steps: Steps) -> Value:
        """The rows of a scanned array at the steps of a class."""
        if steps is None:
            return lax.rev(array, (0,)) if self.reverse else array
        if isinstance(self.length, int):
            return _taken(array, self.length - 1 - steps if self.reverse else steps)
        (step,) = steps.tolist()
        place = self.length - 1 - step if self.reverse else step
        return lax.slice_in_dim(array, place, place + 1)

    def _arguments(
        self, operands: Sequence[Value] | None, steps: Steps, carry: Sequence[Value], rows: Sequence[Value]
    ) -> list[Value]:
        """The operands of the body at the steps of a class; without `operands` constants are not followed."""
        carries, scanned = iter(carry), iter(rows)
        arguments: list[Value] = []
        for place, variable in enumerate(self.body.jaxpr.invars):
            if place in self.integers:
                whole = self.integers[place]
                assert steps is not None or place < self.constants
                arguments.append(whole if place < self.constants else Series(whole[steps]).settled())
            elif place < self.constants:
                arguments.append(VARYING if operands is None else Fixed(operands[place]))
            else:
                arguments.append(next(carries if place < self.first_row else scanned))
            assert is_number(variable) or place in self.integers
        return arguments


def _tests(equation: JaxprEqn) -> int:
    """How many operands of a loop belong to its test alone."""
    return equation.params["cond_nconsts"] if equation.primitive.name == "while" else 0


def _taken(array: Value, places: np.ndarray) -> Value:
    """The rows of an array at some places."""
    if len(places) > 1 and np.all(np.diff(places) == 1):
        return lax.slice_in_dim(array, int(places[0]), int(places[-1]) + 1)
    if len(places) > 1 and np.all(np.diff(places) == -1):
        return lax.rev(lax.slice_in_dim(array, int(places[-1]), int(places[0]) + 1), (0,))
    parts = [lax.slice_in_dim(array, int(place), int(place) + 1) for place in places]
    return lax.concatenate(parts, 0) if len(parts) > 1 else parts[0]


def loop_of(equation: JaxprEqn, operands: Sequence[Value]) -> Loop:
    """The loop of an equation, given its operands, the integers among them concrete.

    Raises:
        UnsupportedError: an integer depends on a float, or the loop is too long.
    """
    loop = _while(equation) if equation.primitive.name == "while" else _scan(equation)
    given = loop.operands(operands)
    for place, (variable, value) in enumerate(zip(loop.body.jaxpr.invars, given, strict=True)):
        if not is_number(variable) and not is_concrete(value):
            raise UnsupportedError(f"the loop{loop.line} is given an integer that depends on a float")
        if not is_number(variable) and place < loop.constants:
            loop.integers[place] = np.asarray(value)
        elif not is_number(variable) and place >= loop.first_row:
            loop.integers[place] = np.asarray(value)[::-1] if loop.reverse else np.asarray(value)
    if isinstance(loop.length, int) and loop.length > LONGEST:
        raise UnsupportedError(f"the loop{loop.line} has {loop.length} steps, more than {LONGEST}")
    counters = {
        loop.constants + i: np.asarray(given[loop.constants + i]) for i in range(loop.carries) if i not in loop.floats
    }
    if equation.primitive.name == "while":
        _ended(loop, operands, counters)
    elif not isinstance(loop.length, int) and (counters or loop.integers):
        raise UnsupportedError(f"the loop{loop.line} of symbolic length uses whole numbers; scan over rows instead")
    elif counters:
        loop.integers |= _counted(loop, counters, loop.length or 0)
    return loop


def _scan(equation: JaxprEqn) -> Loop:
    constants, carries = scan_counts(equation)
    body = equation.params["jaxpr"]
    closed = body if isinstance(body, ClosedJaxpr) else ClosedJaxpr(body, ())
    return Loop(equation, closed, constants, carries, equation.params["length"], bool(equation.params["reverse"]))


def _while(equation: JaxprEqn) -> Loop:
    parameters = equation.params
    body, constants = parameters["body_jaxpr"], parameters["body_nconsts"]
    closed = body if isinstance(body, ClosedJaxpr) else ClosedJaxpr(body, ())
    return Loop(equation, closed, constants, len(closed.jaxpr.outvars), None)


def _ended(loop: Loop, operands: Sequence[Value], counters: dict[int, np.ndarray]) -> None:
    """Finds out how many steps a `while` takes, or that floats decide it."""
    test, constants = loop.equation.params["cond_jaxpr"], loop.equation.params["cond_nconsts"]
    program = test if isinstance(test, ClosedJaxpr) else ClosedJaxpr(test, ())

    def proceeds(values: dict[int, np.ndarray], steps: Steps) -> Any:
        carry = [
            Series(values[loop.constants + i]).settled() if loop.constants + i in values else VARYING
            for i in range(loop.carries)
        ]
        given = [o if is_concrete(o) else VARYING for o in operands[:constants]]
        (found,) = KnownStep(steps, VARYING, None).closed(program, [*given, *carry])
        return found

    first = proceeds({place: value[None] for place, value in counters.items()}, np.arange(1))
    if not isinstance(first, Series | np.ndarray | np.generic):
        if counters:
            raise UnsupportedError(f"the loop{loop.line} ends by floats and carries an integer")
        loop.test = program, constants
        return
    length = 16
    while length <= LONGEST:
        values = _counted(loop, counters, length)
        going = proceeds({place: value[:length] for place, value in values.items()}, np.arange(length))
        if not isinstance(going, Series | np.ndarray | np.generic):
            raise UnsupportedError(f"the loop{loop.line} ends by floats after some steps, and carries an integer")
        flags = np.broadcast_to(going.values if isinstance(going, Series) else going, (length,))
        if not flags.all():
            loop.length = int(np.argmin(flags))
            loop.integers |= {place: value[: loop.length + 1] for place, value in values.items()}
            return
        length *= 4
    raise UnsupportedError(f"the loop{loop.line} runs more than {LONGEST} rounds; bound it")


def _counted(loop: Loop, counters: dict[int, np.ndarray], length: int) -> dict[int, np.ndarray]:
    """The integers that a loop carries, before every step and after the last one.

    Raises:
        UnsupportedError: they depend on floats, or do not grow evenly in a long loop.
    """
    if not length:
        return {place: value[None] for place, value in counters.items()}
    after = _advanced(loop, {place: value[None] for place, value in counters.items()}, np.arange(1))
    times = np.arange(length + 1)
    guess = {}
    for place, value in counters.items():
        if value.dtype == bool:
            guess[place] = np.broadcast_to(value, (length + 1, *value.shape))
        else:
            spread = times.astype(value.dtype).reshape(-1, *(1,) * value.ndim)
            guess[place] = value + (after[place][0] - value) * spread
    found = _advanced(loop, {place: value[:-1] for place, value in guess.items()}, times[:-1])
    if all(np.array_equal(found[place], guess[place][1:]) for place in guess):
        return guess
    if length > SIMULATED:
        raise UnsupportedError(f"the loop{loop.line} carries integers that do not grow evenly over {length} steps")
    rows = {place: [value] for place, value in counters.items()}
    for step in range(length):
        now = _advanced(loop, {place: row[-1][None] for place, row in rows.items()}, np.array([step]))
        for place, row in rows.items():
            row.append(now[place][0])
    return {place: np.stack(row) for place, row in rows.items()}


def _advanced(loop: Loop, counters: dict[int, np.ndarray], steps: Steps) -> dict[int, np.ndarray]:
    """The integers after steps, from those before them."""
    arguments: list[Value] = []
    for place in range(len(loop.body.jaxpr.invars)):
        if place in counters:
            arguments.append(Series(counters[place]))
        elif place in loop.integers:
            whole = loop.integers[place]
            arguments.append(whole if place < loop.constants else Series(whole[steps]))
        else:
            arguments.append(VARYING)
    found = KnownStep(steps, VARYING, None).closed(loop.body, arguments)
    after = {}
    for place, before in counters.items():
        value = found[place - loop.constants]
        if not (isinstance(value, Series) or is_concrete(value)):
            raise UnsupportedError(f"the loop{loop.line} carries an integer that depends on a float")
        after[place] = np.broadcast_to(value.values if isinstance(value, Series) else value, before.shape)
    return after
