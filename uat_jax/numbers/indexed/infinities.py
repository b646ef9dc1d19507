"""Arrays that may be infinite for inputs of positive measure, and what may be done with them.

tanh(1/(0 − u)) and −tanh(1/u) have one normal form; where u is 0, on a half-line if u is relu(x), the former is 1 and
the latter −1.  So a quotient by what may be 0 for inputs of positive measure is `open`, and so is all that is computed
of it: it goes through nothing that makes a number of an infinity (docs/soundness.md §16.3).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from jax.extend.core import JaxprEqn

from uat_jax.errors import UnsupportedError
from uat_jax.numbers.indexed.array import Array
from uat_jax.numbers.indexed.bounds import may_vanish_only_thinly, sign
from uat_jax.numbers.indexed.computed_places import PLACES
from uat_jax.numbers.indexed.placement import PLACEMENT
from uat_jax.numbers.indexed.polynomial import Kind, Polynomial
from uat_jax.numbers.prime_fields.fact_rules import catches_infinities

MOVING = PLACEMENT.keys() | PLACES.keys()
"""Operations that put entries into other places."""

DIVIDING = frozenset("div integer_pow pow rsqrt".split())
"""Operations that divide by an operand, if an exponent is negative."""

INPUT = re.compile(r"x\d+")
"""The names of inputs; other entries are those of arrays that a cut or a loop stands for, which may be 0 anywhere."""


def check_infinities(equation: JaxprEqn, operands: Sequence[Array]) -> None:
    """Nothing, if no number is made of what may be infinite for inputs of positive measure.

    Raises:
        UnsupportedError: one may be.
    """
    if equation.primitive.name not in MOVING and catches_infinities(equation, [x.open for x in operands]):
        raise UnsupportedError("a function of a quotient whose divisor may be 0 on a set of positive measure")


def is_open(equation: JaxprEqn, operands: Sequence[Array]) -> bool:
    """Whether the results of an equation may be infinite for inputs of positive measure."""
    divisors = (x for x in _divisors(equation, operands) if x.kind == "f")
    return any(x.open for x in operands) or not all(map(_vanishes_thinly, divisors))


def _divisors(equation: JaxprEqn, operands: Sequence[Array]) -> Sequence[Array]:
    """What an equation divides by."""
    name = equation.primitive.name
    if name not in DIVIDING:
        return ()
    if name == "div":
        return operands[1:]
    exponent = equation.params["y"] if name == "integer_pow" else None
    if name == "pow" and isinstance(operands[1].body, Polynomial):
        exponent = operands[1].body.number()
    return () if exponent is not None and exponent > 0 else operands[:1]


def _vanishes_thinly(divisor: Array) -> bool:
    """Whether a divisor has a sign, or is 0 on a null set of inputs."""
    body = divisor.body
    if not isinstance(body, Polynomial) or divisor.known_sign() == 2 or sign(-body) == 2:
        return True  # without entries it has no quotient
    of_inputs = all(INPUT.fullmatch(a.name) for a in body.within if a.kind is Kind.ENTRY)
    return of_inputs and may_vanish_only_thinly(body)
