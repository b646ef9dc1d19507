"""How many sizes show that two programs are equal at all: Theorem A of docs/soundness.md §16.6, its hypotheses checked.

    E_n = Σ_S h_|S|(x_S; n), |S| ≤ k, h of degree ≤ d in n:   E_n = 0 at k + d + 1 consecutive sizes  ⇒  at all sizes

The difference of both normal forms is such a sum if it is a polynomial in the size n and in sums over axes of length n,
whose summands read every array at the places that are summed over, and contain no sum over such an axis.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from jax.extend.core import ClosedJaxpr

from uat_jax.errors import BudgetError, UnsupportedError
from uat_jax.interpret.deadline import Deadline
from uat_jax.numbers.indexed.bounds import sign
from uat_jax.numbers.indexed.elementwise import ALWAYS_DEFINED
from uat_jax.numbers.indexed.pieces import outputs_at_once
from uat_jax.numbers.indexed.polynomial import BINDING, Kind, Letter, Polynomial, alone, made, of
from uat_jax.numbers.indexed.predicates import RemainderCase, SizeCase
from uat_jax.numbers.indexed.proof import Inputs, Open, arguments_of, deep_recursion, difference_of
from uat_jax.numbers.indexed.steps import flattened
from uat_jax.numbers.indexed.workspace import Workspace, working

PLAIN = frozenset([Kind.EXP, Kind.PRIME, Kind.CONSTANT, Kind.POSITIVE, Kind.ZERO])
"""Letters that have a value wherever what they are made of has one."""


def order_of(left: ClosedJaxpr, right: ClosedJaxpr, inputs: Inputs, size: str, deadline: Deadline | None = None) -> int:
    """k + d for the difference of two programs with one symbolic size: one more consecutive size shows all.

    Raises:
        Open: it is not of the form of Theorem A, or not seen to be.
    """
    with deep_recursion():
        return max(_order(left, right, inputs, size, meant, deadline) for meant in (False, True))


def _order(
    left: ClosedJaxpr, right: ClosedJaxpr, inputs: Inputs, size: str, meant: bool, deadline: Deadline | None
) -> int:
    tables = Workspace(deadline, False, meant, inputs.lower, {}, inputs.derived)
    try:
        with working(tables):
            arguments, length, found = arguments_of(left, inputs.signs), made(Kind.SIZE, size), 0
            for one, other in outputs_at_once(flattened(left), flattened(right), arguments):
                if not (one.defined and other.defined):
                    raise Open("a function is not proved to be defined for all inputs")
                difference = difference_of(one, other)
                if any(_is_long(variable, length) for variable in difference.free):
                    raise Open("an output has an axis of symbolic length")
                found = max([found, *(_of_term(monomial, length) for monomial in difference.terms)])
            if tables.divisors or tables.bounded_sizes:
                raise Open("a divisor may vanish, or an integer may wrap")
            return found
    except (SizeCase, RemainderCase) as case:
        raise Open(f"whether {case} is not decided") from case
    except (UnsupportedError, BudgetError) as error:
        raise Open(str(error)) from error
    except RecursionError as error:
        raise Open("an expression is nested too deeply") from error


def _is_long(index: Letter, size: Letter) -> bool:
    """Whether an index runs over an axis whose length is no number."""
    number = index.length.number()
    if number is None and index.length != of(size):
        raise Open(f"an axis has the length {index.length}")
    return number is None


def _of_term(monomial: tuple[tuple[Letter, Fraction], ...], size: Letter) -> int:
    """How many places a term is a sum over, and its degree in the size, together."""
    found = 0
    for letter, exponent in monomial:
        if letter is size:
            found += _whole(exponent)
            continue
        long = [v for v in letter.bound if _is_long(v, size)] if letter.kind is Kind.SUM else []
        if long:
            _check_summand(alone(letter.arguments[1]), frozenset(long), size)
            found += _whole(exponent) * len(long)
        else:
            _check_letter(letter, exponent, frozenset(), size)
    return found


def _whole(exponent: Fraction) -> int:
    if exponent.denominator != 1 or exponent < 0:
        raise Open("a sum stands in a denominator or under a root")
    return int(exponent)


def _check_summand(value: Polynomial, over: frozenset[Letter], size: Letter) -> None:
    """Nothing, if a polynomial is a function of the inputs at the places `over` alone, defined for all inputs."""
    for monomial in value.terms:
        for letter, exponent in monomial:
            _check_letter(letter, exponent, over, size)


def _check_letter(letter: Letter, exponent: Fraction, over: frozenset[Letter], size: Letter) -> None:
    if (exponent.denominator != 1 or exponent < 0) and sign(of(letter)) != 2:
        raise Open("a power that is not proved to be defined")
    CHECKS.get(letter.kind, _refuse)(letter, over, size)


def _refuse(letter: Letter, over: frozenset[Letter], size: Letter) -> None:
    raise Open(f"{letter.kind.name.lower()} is not a function of single places of the inputs")


def _check_entry(letter: Letter, over: frozenset[Letter], size: Letter) -> None:
    """An entry of an input at a place that is summed over, along a long axis; along other axes at any place."""
    if not re.fullmatch(r"x\d+", letter.name):
        raise Open("what a loop carries is no function of single places of the inputs")
    for place, length in zip(letter.arguments[3], letter.arguments[1], strict=True):
        if length.number() is None:
            at = next(iter(place.letters)) if len(place.letters) == 1 else None
            if length != of(size) or at is None or at not in over or place != of(at):
                raise Open("an array is read at a place that is not summed over")
        elif any(_is_long(v, size) for v in place.free):
            raise Open("a short axis is read at a place of a long one")
    if sum(length.number() is None for length in letter.arguments[1]) > 1:
        raise Open("an array has two axes of symbolic length")


def _check_arguments(letter: Letter, over: frozenset[Letter], size: Letter) -> None:
    for part in letter.arguments:
        if isinstance(part, Polynomial):
            _check_summand(part, over, size)
        elif isinstance(part, tuple):
            _check_summand(alone(part), over, size)


def _check_function(letter: Letter, over: frozenset[Letter], size: Letter) -> None:
    if letter.name not in ALWAYS_DEFINED | {"relu"}:
        raise Open(f"'{letter.name}' is not defined for all inputs")
    _check_arguments(letter, over, size)


def _check_index(letter: Letter, over: frozenset[Letter], size: Letter) -> None:
    if _is_long(letter, size):
        raise Open("a place along a long axis is used as a number")


def _check_positive_argument(letter: Letter, over: frozenset[Letter], size: Letter) -> None:
    if sign(letter.arguments[0]) != 2:
        raise Open("a logarithm that is not proved to be defined")
    _check_arguments(letter, over, size)


def _check_power(letter: Letter, over: frozenset[Letter], size: Letter) -> None:
    _check_arguments(letter, over, size)


def _check_bound(letter: Letter, over: frozenset[Letter], size: Letter) -> None:
    """A sum or a maximum over short axes."""
    if any(_is_long(v, size) for v in letter.bound):
        raise Open("a sum over a long axis stands under a function or in another sum")
    body = letter.arguments[1]
    _check_summand(body if isinstance(body, Polynomial) else alone(body), over, size)


CHECKS: Mapping[Kind, Callable[[Letter, frozenset[Letter], Letter], None]] = {
    Kind.ENTRY: _check_entry,
    Kind.FUNCTION: _check_function,
    Kind.INDEX: _check_index,
    Kind.LOG: _check_positive_argument,
    Kind.POWER: _check_power,
    **dict.fromkeys(PLAIN, _check_arguments),
    **dict.fromkeys(BINDING, _check_bound),
}
"""Kind of a letter → the check that it is a function of the inputs at some places, defined for all inputs."""
