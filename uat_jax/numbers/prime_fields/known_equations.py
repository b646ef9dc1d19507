"""Equations of constants alone: what they give in closed form, in float64, and in balls, by which they decide."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jax.extend.core import JaxprEqn

from uat_jax.errors import InputError, UnsupportedError
from uat_jax.interpret.closed_form import rational as rational_form
from uat_jax.interpret.recognition import ConstantReading
from uat_jax.interpret.tracing import is_number, source_line
from uat_jax.numbers.balls.balls import UndecidedError, balls_evaluated, balls_of_forms
from uat_jax.numbers.balls.constants import CLOSED, ClosedForms, Enclosure, entrywise
from uat_jax.numbers.floats.doubles import Doubles
from uat_jax.numbers.prime_fields.number import Number, rational
from uat_jax.numbers.prime_fields.residues import Draw

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.fields import Value

MOST_NAMED = 3
"""Of the constants that a decision hangs on, at most so many are named."""


class KnownEquations:
    """Follows equations whose operands are constants of a draw; `lift` makes a number of a concrete array."""

    def __init__(self, draw: Draw, lift: Callable[[Value], Number]):
        self.draw = draw
        self.lift = lift
        self.doubles = Doubles()

    def whole(self, equation: JaxprEqn, balls: np.ndarray) -> Number:
        """Whole numbers that balls are for certain."""
        values = np.asarray(np.frompyfunc(float, 1, 1)(balls), np.float64)
        if not all(x.is_exact() and (x.is_nan() or x == v) for x, v in zip(balls.ravel(), values.ravel(), strict=True)):
            raise UnsupportedError(
                f"'{equation.primitive.name}'{source_line(equation)} gives a constant beyond float64"
            )
        return self.lift(values)

    def forms(self, equation: JaxprEqn, operands: Sequence[Value]) -> ClosedForms | None:
        """The result of an equation of numbers in closed form, if it has one."""
        function = CLOSED.get(equation.primitive.name)
        if function is None or not is_number(equation.outvars[0]):
            return None
        numbers = [self.lift(operand) for operand in operands]
        forms = [number.closed for number in numbers if number.special is None and number.closed is not None]
        if len(forms) < len(numbers):
            return None
        return entrywise(functools.partial(function, equation.params), *forms)

    def approximate(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[np.ndarray] | None:
        """Float64 results of an equation whose numbers are all known."""
        if not any(isinstance(operand, Number) for operand in operands):
            return None
        values = []
        for operand, atom in zip(operands, equation.invars, strict=True):
            if not isinstance(operand, Number):
                values.append(operand)
            elif operand.known is None or not is_number(atom):
                return None
            else:
                values.append(operand.known[None])
        return self.doubles.evaluate(equation, values) if self.doubles.supports(equation, values) else None

    def decided(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[np.ndarray]:
        """Concrete results, such as a comparison of constants, if they are the same for all readings of constants."""
        enclosures = [self._enclosure(operand) for operand in operands]
        try:
            return balls_evaluated(equation, [_balls(e, o) for e, o in zip(enclosures, operands, strict=True)])
        except InputError as error:
            raise UnsupportedError(f"'{equation.primitive.name}'{source_line(equation)}: {error}") from error
        except UndecidedError:
            constants = frozenset().union(*(e.constants for e in enclosures if e is not None))
            raise UnsupportedError(
                f"'{equation.primitive.name}'{source_line(equation)} decides by constants that are too close to tell "
                f"apart{_named(constants)}; use whole numbers there"
            ) from None

    def enclosures(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Enclosure]:
        """The enclosures of the results of an equation of constants."""
        parts = [self._enclosure(operand) for operand in operands]
        values = functools.cache(
            lambda: balls_evaluated(equation, [_balls(e, o) for e, o in zip(parts, operands, strict=True)])
        )
        of = [part for part in parts if part is not None]
        return [Enclosure(lambda i=i: values()[i], of) for i in range(len(equation.outvars))]

    def _enclosure(self, operand: Value) -> Enclosure | None:
        """The enclosure of a constant; None for concrete integers and booleans."""
        if not isinstance(operand, Number):
            return None
        value = rational(self.draw, operand) if operand.enclosure is None else None
        if value is not None:
            return Enclosure(lambda: balls_of_forms(ClosedForms(np.zeros(operand.shape, int), (rational_form(value),))))
        if operand.enclosure is None:
            raise UnsupportedError("a constant is known in float64 only; nothing is decided by it")
        return operand.enclosure


def _balls(enclosure: Enclosure | None, operand: Value) -> Any:  # Any: an array, as every operand is here
    """What ball arithmetic takes for an operand."""
    return operand if enclosure is None else enclosure.balls()


def _named(constants: Iterable[ConstantReading]) -> str:
    """': ' and a few of the constants, or ''."""
    texts = [constant.text for constant in sorted(constants)]
    more = f" and {len(texts) - MOST_NAMED} more" if len(texts) > MOST_NAMED else ""
    return f": {', '.join(texts[:MOST_NAMED])}{more}" if texts else ""
