"""One step of a loop at a symbolic time, for a class of steps; the integers of the loop are known for each of them.

A class of steps is an array of their numbers, in the order in which the loop visits them; or `None` for all steps of a
loop whose length is symbolic, or not known beforehand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn

from uat_jax.decide.loops.walk import Value, Walk, is_concrete, staged
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.concrete import on_host
from uat_jax.interpret.interpreter import called
from uat_jax.interpret.jaxpr_values import COPIES
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of, source_line
from uat_jax.typing import Atom

EXACT = 1 << 62
"""Whole numbers up to here are numbers of 64 bits."""


Steps = np.ndarray | None
"""A class of steps."""


def alone(steps: Steps) -> int | None:
    """The number of the only step of a class, or None."""
    return int(steps[0]) if steps is not None and len(steps) == 1 else None


@dataclass(frozen=True, eq=False)
class Series:
    """An integer or boolean array that is known at each step of a class: `values[i]` at its i-th step."""

    values: np.ndarray

    def settled(self) -> Series | np.ndarray:
        """The array itself, if it is the same at every step."""
        first = self.values[0]
        return first if np.all(self.values == first) else self


@dataclass(frozen=True)
class Fixed:
    """A float array that is the same at every step: it depends on what the loop is given, and not on its carry."""

    value: Any


@dataclass(frozen=True)
class Read:
    """What is read at the steps of a class: `array` has one row for each, along a leading axis.

    source: the array whose row a + b·t is read at the step t of the loop, if it is one; then index is (a, b), and
    `wrapped` says whether the row is read with a leading axis of one entry.
    """

    array: Any
    source: Any = None
    index: tuple[int, int] = (0, 0)
    wrapped: bool = False


VARYING = object()
"""A float array that is not followed."""


class SplitError(Exception):
    """A decision that is not the same at all steps of a class: `values` tells its steps apart."""

    def __init__(self, values: np.ndarray, where: str):
        super().__init__(where)
        self.values, self.where = values, where


class KnownStep(Walk):
    """One step at a symbolic time, for the steps of a class.

    time: the number t of the step as a float, `VARYING` where nothing is staged.  given: the rows of this step, or None
    to collect them: then `collected` has them for every step of the class.
    """

    def __init__(self, steps: Steps, time: Value, given: Sequence[Value] | None):
        super().__init__(None)
        self.steps, self.time = steps, time
        self.given = None if given is None else iter(given)
        self.collected: list[Read] = []

    def constant(self, atom: Atom, array: Any) -> Value:
        """A literal or captured array, which is the same at every step."""
        value = super().constant(atom, array)
        return Fixed(value) if is_number(atom) else value

    def equation(self, equation: JaxprEqn, operands: list[Value]) -> list[Value]:
        """The results of one equation; what depends on the counter alone is known."""
        operands = [o.settled() if isinstance(o, Series) else o for o in operands]
        function, name = called(equation), equation.primitive.name
        if name in COPIES:
            return operands
        if function is not None:
            return self.closed(function, operands)
        if any(isinstance(o, Series) for o in operands):
            return self.of_series(equation, operands)
        if name == "cond" and is_concrete(operands[0]):
            return self.closed(equation.params["branches"][int(operands[0])], operands[1:])
        if any(o is VARYING for o in operands):
            return [VARYING] * len(equation.outvars)
        fixed = all(isinstance(o, Fixed) or is_concrete(o) for o in operands)
        results = self.primitive(equation, [o.value if isinstance(o, Fixed) else o for o in operands])
        wrap = lambda value: Fixed(value) if fixed and not is_concrete(value) else value
        return list(map(wrap, results))

    def of_series(self, equation: JaxprEqn, operands: list[Value]) -> list[Value]:
        """The results where an integer operand is another one at other steps."""
        name = equation.primitive.name
        whole = all(isinstance(o, Series) or is_concrete(o) for o in operands)
        if whole and not any(map(is_number, equation.outvars)):
            return self.vectorized(equation, operands)
        if whole and name == "convert_element_type" and isinstance(operands[0], Series):
            return [self.number(equation, operands[0].values)]
        if name in ("dynamic_slice", "gather") and isinstance(operands[0], Fixed):
            return [self.row(lambda: self.sliced(equation, operands))]
        if self.given is None:
            return [VARYING] * len(equation.outvars)
        split = next(o for o in operands if isinstance(o, Series))
        raise SplitError(split.values, f"'{name}'{source_line(equation)}")

    def vectorized(self, equation: JaxprEqn, operands: list[Value]) -> list[Value]:
        """An equation between integers, at all steps of the class at once."""
        if any(jnp.issubdtype(dtype_of(atom), jax.dtypes.prng_key) for atom in (*equation.invars, *equation.outvars)):
            raise UnsupportedError(f"'{equation.primitive.name}'{source_line(equation)} has another key at every step")
        axes = [0 if isinstance(o, Series) else None for o in operands]
        arrays = [o.values if isinstance(o, Series) else o for o in operands]
        with jax.ensure_compile_time_eval(), jax.enable_x64(True):
            outputs = jax.vmap(lambda *given: staged(equation, given), in_axes=axes)(*arrays)
            return [Series(on_host(output)) for output in outputs]

    def number(self, equation: JaxprEqn, whole: np.ndarray) -> Value:
        """Known integers as floats, exactly: α + β·t if they grow evenly with the time, else a row."""
        line = _even(whole.astype(object), self.steps)
        if line is None:
            return self.row(lambda: Read(staged(equation, [whole])[0]))
        if self.time is VARYING:
            return VARYING
        variable = equation.outvars[0]
        at, by = (staged(equation, [np.asarray(part, np.int64).reshape(shape_of(variable))])[0] for part in line)
        time = jnp.broadcast_to(lax.convert_element_type(self.time, dtype_of(variable)), shape_of(variable))
        return lax.add(at, lax.mul(by, time))

    def sliced(self, equation: JaxprEqn, operands: list[Value]) -> Read:
        """What is read of a fixed array at every step of the class."""
        axes = [0 if isinstance(o, Series) else None for o in operands]
        values = lambda o: o.values if isinstance(o, Series) else o.value if isinstance(o, Fixed) else o
        (rows,) = jax.vmap(lambda *given: staged(equation, given), in_axes=axes)(*map(values, operands))
        index = self.index(equation, operands)
        return Read(rows) if index is None else Read(rows, values(operands[0]), index, wrapped=True)

    def index(self, equation: JaxprEqn, operands: list[Value]) -> tuple[int, int] | None:
        """(a, b) where a slice is the whole row a + b·t of its operand, at each step t."""
        shape = shape_of(equation.invars[0])
        if equation.primitive.name != "dynamic_slice" or equation.params["slice_sizes"] != (1, *shape[1:]):
            return None
        if not isinstance(operands[1], Series):
            return None
        line = _even(operands[1].values.astype(object), self.steps)
        inside = np.all((operands[1].values >= 0) & (operands[1].values < shape[0]))
        return (int(line[0]), int(line[1])) if line is not None and inside else None

    def row(self, rows: Any) -> Value:
        """The row of this step of an array that is known beside the loop: the next one that was given."""
        if self.given is not None:
            return next(self.given)
        self.collected.append(rows())
        return VARYING


def _even(whole: np.ndarray, steps: Steps) -> tuple[Any, Any] | None:
    """α and β with whole[i] = α + β·steps[i] for all i, or None."""
    if steps is None or len(steps) < 2:
        return None
    difference, apart = whole[1] - whole[0], int(steps[1] - steps[0])
    by = difference // apart
    at = whole[0] - by * int(steps[0])
    expected = [at + by * int(step) for step in steps]
    fits = all(np.all(a == b) for a, b in zip(whole, expected, strict=True))
    small = np.all(np.abs(np.asarray(at)) <= EXACT) and np.all(np.abs(np.asarray(by)) <= EXACT)
    return (at, by) if fits and small else None
