"""Arrays that may be infinite for inputs of positive measure, and what keeps them so.

tanh(1/(0 − u)) and −tanh(1/u) have one normal form; where u is 0, on a half-line if u is relu(x), the former is 1 and
the latter −1.  So a quotient by what may be 0 for inputs of positive measure goes through nothing that makes a number
of an infinity (docs/soundness.md §16.3).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction

from jax.extend.core import JaxprEqn

from uat_jax.arithmetic.fact_rules import catches_infinities
from uat_jax.errors import UnsupportedError
from uat_jax.indexed.array import Array
from uat_jax.indexed.bounds import may_vanish_only_thinly, sign
from uat_jax.indexed.computed_places import PLACES
from uat_jax.indexed.placement import PLACEMENT
from uat_jax.indexed.polynomial import Kind, Letter, Polynomial, alone, of
from uat_jax.indexed.workspace import workspace

MOVING = PLACEMENT.keys() | PLACES.keys() | {"scan"}
"""Operations that put entries into other places, and loops, whose steps are looked at one by one."""

INPUT = re.compile(r"x\d+")
"""The names of inputs; other arrays are cuts and what loops carry."""

OF_FINITE = re.compile(r"x\d+|cut \d+")
"""The names of arrays that are inputs, or stand for what is infinite for inputs of measure zero at most."""


def check_infinities(equation: JaxprEqn, operands: Sequence[Array]) -> None:
    """Nothing, if no number is made of what may be infinite for inputs of positive measure.

    Raises:
        UnsupportedError: one may be.
    """
    if equation.primitive.name in MOVING:
        return
    if catches_infinities(equation, list(map(may_be_infinite, operands))):
        raise UnsupportedError("a function of a quotient whose divisor may be 0 on a set of positive measure")


def may_be_infinite(x: Array) -> bool:
    """Whether an array may be infinite for inputs of positive measure, as far as is known."""
    return x.kind == "f" and not x.defined and isinstance(x.body, Polynomial) and _has_pole(x.body)


def _has_pole(value: Polynomial) -> bool:
    remembered, key = workspace().remembered, ("pole", value.key)
    if key not in remembered:
        factors = {factor for monomial in value.terms for factor in monomial}
        remembered[key] = any(_is_pole(*factor) for factor in factors)
    return remembered[key]


def _is_pole(letter: Letter, exponent: Fraction) -> bool:
    """Whether a power of a letter, or what it is made of, may be infinite, or is carried by a loop."""
    if letter.kind is Kind.INVERSE or letter.kind is Kind.ENTRY and not OF_FINITE.fullmatch(letter.name):
        return True
    base = letter.arguments[0] if letter.kind is Kind.POWER else of(letter)
    divides = exponent < 0 and not (letter.kind is Kind.EXP and not letter.masked)  # exp is 0 at -∞ alone
    return divides and not _vanishes_thinly(base) or any(map(_has_pole, _inside(letter)))


def _inside(letter: Letter) -> Iterator[Polynomial]:
    """What a letter is made of."""
    if letter.kind is Kind.SUM:
        yield alone(letter.arguments[1])
    else:
        yield from (part for part in letter.arguments if isinstance(part, Polynomial))


def _vanishes_thinly(base: Polynomial) -> bool:
    """Whether a divisor has a sign, or is 0 on a null set of inputs; of what stands for an array nothing is known."""
    if sign(base) == 2 or sign(-base) == 2:
        return True
    of_inputs = all(INPUT.fullmatch(a.name) for a in base.within if a.kind is Kind.ENTRY)
    return of_inputs and may_vanish_only_thinly(base)
