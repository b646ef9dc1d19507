"""Primitives that compute an entry from the entries at the same place."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import jax.numpy as jnp
import numpy as np

from uat_jax.errors import UnsupportedError
from uat_jax.numbers.indexed.array import Array, Indices, array, kind_of
from uat_jax.numbers.indexed.bounds import is_whole, nonnegative, sign, without_mask
from uat_jax.numbers.indexed.functions import (
    WRAPPED,
    applied,
    chosen,
    exponential,
    logarithm,
    maximum,
    minimum,
    whole_number,
    whole_part,
)
from uat_jax.numbers.indexed.maxima import is_finite
from uat_jax.numbers.indexed.polynomial import ONE, ZERO, Kind, Polynomial, constant, made, of
from uat_jax.numbers.indexed.predicates import LARGEST_DIVISOR, is_positive, is_zero, split_by_remainder
from uat_jax.numbers.indexed.products import case_by_case, raised
from uat_jax.numbers.indexed.whole_numbers import check_does_not_wrap, unwrapped
from uat_jax.numbers.indexed.workspace import workspace
from uat_jax.typing import Parameters

Lengths = tuple[Polynomial, ...]
HALF = Fraction(1, 2)


def plain(value: Polynomial) -> Polynomial:
    """A number that is not −∞."""
    if not without_mask(value):
        raise UnsupportedError("arithmetic with a masked number (-inf) is not followed")
    return value


def times(left: Polynomial, right: Polynomial) -> Polynomial:
    """A product; −∞ may be multiplied by what is proved to be positive."""
    for one, other in ((left, right), (right, left)):
        if not without_mask(one) and sign(other) != 2:
            raise UnsupportedError("a masked number (-inf) times one that may be 0 or negative is not followed")
    return left * right


def logistic(value: Polynomial) -> Polynomial:
    """1/(1 + exp(−x))."""
    return raised(ONE + exponential(-plain(value)), -1)


def _imaginary() -> Polynomial:
    return of(made(Kind.IMAGINARY))


def _sine(value: Polynomial) -> Polynomial:
    turned = plain(value) * _imaginary()
    return (exponential(turned) - exponential(-turned)) * _imaginary() * -HALF


def _cosine(value: Polynomial) -> Polynomial:
    turned = plain(value) * _imaginary()
    return (exponential(turned) + exponential(-turned)) * HALF


def _sign(value: Polynomial) -> Polynomial:
    """[x > 0] − [x < 0]."""
    return is_positive(plain(value)) - is_positive(-value)


def _distance(x: Polynomial, y: Polynomial) -> Polynomial:
    """x − y of numbers that are compared; of −∞ and −∞ + a, which are equal, it would be −a."""
    if x != y and not (is_finite(x) or is_finite(y)):
        raise UnsupportedError("a comparison of two numbers that may both be -inf is not followed")
    return x - y


def _rounded_down(name: str) -> Callable[[Polynomial], Polynomial]:
    """⌊u/d⌋, or ⌈u/d⌉ = ⌊(u + d − 1)/d⌋, of a whole number u ≥ 0 and a small number d.

    Of others only the name is known. Numbers that are read as others than they are written decide nothing.
    """

    def rule(value: Polynomial) -> Polynomial:
        divisor = constant(math.lcm(*(number.denominator for number in value.terms.values())))
        dividend = value * divisor
        small = (divisor.number() or 0) <= LARGEST_DIVISOR and not workspace().constants
        if not (small and is_whole(dividend) and nonnegative(dividend)):
            return applied(name, value)
        dividend = dividend + (divisor - 1 if name == "ceil" else ZERO)
        split_by_remainder(dividend, divisor)
        return whole_part(dividend, divisor)

    return rule


def opaque(name: str) -> Callable[[Polynomial], Polynomial]:
    """A function of which only the name is known."""
    return lambda value: applied(name, value)


ONE_OPERAND: Mapping[str, Callable[[Polynomial], Polynomial]] = {
    "abs": opaque("abs"),
    "ceil": _rounded_down("ceil"),
    "cos": _cosine,
    "exp": exponential,
    "exp2": lambda x: exponential(x * logarithm(constant(2))),
    "expm1": lambda x: exponential(x) - 1,
    "floor": _rounded_down("floor"),
    "log": logarithm,
    "log1p": lambda x: logarithm(plain(x) + 1),
    "logistic": logistic,
    "neg": lambda x: -plain(x),
    "not": lambda x: ONE - x,
    "one_minus_square": lambda x: ONE - raised(plain(x), 2),
    "rsqrt": lambda x: raised(x, -HALF),
    "sign": _sign,
    "sin": _sine,
    "sqrt": lambda x: raised(x, HALF),
    "square": lambda x: raised(plain(x), 2),
    "tanh": lambda x: logistic(x * 2) * 2 - 1,
    **{name: opaque(name) for name in "acosh asin asinh atan atanh cosh digamma erf erf_inv".split()},
    **{name: opaque(name) for name in "erfc lgamma sinh tan cbrt acos".split()},
}
"""Primitive of one operand → its normal form."""

TWO_OPERANDS: Mapping[str, Callable[[Polynomial, Polynomial], Polynomial]] = {
    "add": lambda x, y: x + y,
    "add_any": lambda x, y: x + y,
    "and": lambda x, y: x * y,
    "atan2": lambda x, y: of(made(Kind.FUNCTION, "atan2", plain(x), plain(y))),
    "div": lambda x, y: times(x, raised(plain(y), -1)),
    "eq": lambda x, y: is_zero(_distance(x, plain(y))),
    "ge": lambda x, y: ONE - is_positive(_distance(y, x)),
    "gt": lambda x, y: is_positive(_distance(x, y)),
    "le": lambda x, y: ONE - is_positive(_distance(x, y)),
    "lt": lambda x, y: is_positive(_distance(y, x)),
    "max": maximum,
    "min": minimum,
    "mul": times,
    "ne": lambda x, y: ONE - is_zero(_distance(x, plain(y))),
    "or": lambda x, y: x + y - x * y,
    "sub": lambda x, y: x - plain(y),
    "xor": lambda x, y: x + y - x * y * 2,
}
"""Primitive of two operands → its normal form."""

COMPARISONS = frozenset("eq ge gt le lt ne".split())
CATCHING = COMPARISONS | {"sign", "floor", "ceil", "round", "is_finite", "to_integers"}
"""Primitives that can make a number out of NaN, or jump: their operands have to be defined for all inputs."""
BITWISE = frozenset("and or xor not".split())

ALWAYS_DEFINED = frozenset(
    "abs add add_any and asinh atan cbrt ceil clamp cos cosh eq erf erfc exp exp2 expm1 floor ge gt is_finite le "
    "logistic lt max min mul ne neg not one_minus_square or rem round sign sin sinh square tanh to_integers xor".split()
)
"""Primitives that are defined wherever their operands are; divisors of whole numbers are proved to be at least 1."""


def _div_defined(x: Array, y: Array) -> bool:
    return y.known_sign() == 2 or isinstance(y.body, Polynomial) and sign(-y.body) == 2


def _is_finite(x: Array) -> bool:
    """Whether no entry is −∞, for certain."""
    return isinstance(x.body, Polynomial) and is_finite(x.body)


OF_MASKED = frozenset("add exp exp2 max sub".split()) | COMPARISONS
"""Primitives that are defined for −∞ as well, but for −∞ − (−∞)."""

DEFINED: Mapping[str, Callable[..., bool]] = {
    "div": _div_defined,
    "log": lambda x: x.known_sign() == 2,
    "log1p": lambda x: x.known_sign() >= 1,
    "rsqrt": lambda x: x.known_sign() == 2,
    "sqrt": lambda x: x.known_sign() >= 1,
    "sub": lambda x, y: _is_finite(y),
}
"""Primitive → whether it is proved to be defined, where its operands are."""


def _sign_of_exp(x: Array) -> int:
    """exp(−∞) = 0."""
    return 2 if isinstance(x.body, Polynomial) and not any(a.kind is Kind.MASK for a in x.body.within) else 1


def _sign_of_product(x: Array, y: Array) -> int:
    return 1 if x is y else min(x.sign, y.sign)


SIGNS: Mapping[str, Callable[..., int]] = {
    "abs": lambda x: 1,
    "add": lambda x, y: max(x.sign, y.sign) if min(x.sign, y.sign) else 0,
    "add_any": lambda x, y: max(x.sign, y.sign) if min(x.sign, y.sign) else 0,
    "clamp": lambda low, x, high: min(max(x.sign, low.sign), high.sign),
    "div": lambda x, y: min(x.sign, y.sign),
    "exp": _sign_of_exp,
    "exp2": _sign_of_exp,
    "logistic": _sign_of_exp,
    "max": lambda x, y: max(x.sign, y.sign),
    "min": lambda x, y: min(x.sign, y.sign),
    "mul": _sign_of_product,
    "rem": lambda x, y: 1,
    "rsqrt": lambda x: 2,
    "sqrt": lambda x: max(x.sign, 1),
    "square": lambda x: max(x.sign, 1),
}
"""Primitive → the sign of its result, as far as those of its operands tell."""


def of_entries(name: str, lengths: Lengths, kind: str, operands: list[Array], function: Callable) -> Array:
    """The array function(entries of the operands at the same place)."""
    defined = all(x.defined for x in operands)
    unknown = next((x.body for x in operands if not isinstance(x.body, Polynomial)), None)
    if unknown is not None:
        return Array(lengths, kind, (), unknown, 0, False)
    if name in CATCHING and not defined:
        raise UnsupportedError(f"'{name}' of a number that may be undefined (a divisor that may be 0) is not followed")
    there = defined and (name in OF_MASKED or all(map(_is_finite, operands)))
    there = there and (DEFINED[name](*operands) if name in DEFINED else name in ALWAYS_DEFINED)
    known = SIGNS[name](*operands) if name in SIGNS else 0

    def entry(indices: Indices) -> Polynomial:
        value = function(*(x.broadcast(indices) for x in operands))
        return check_does_not_wrap(value) if kind == "i" else value

    return array(lengths, kind, entry, known, there)


# Rules: function(equation's parameters, lengths and kind of the result, operands) → the result


def one_operand(name: str) -> Callable:
    """The rule of a primitive of one operand."""

    def rule(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
        if name in BITWISE and x.kind != "b" or x.kind == "i" and name not in ("neg", "abs", "sign", "square"):
            raise UnsupportedError(f"'{name}' of integers is not followed at all sizes")
        return of_entries(name, lengths, kind, [x], ONE_OPERAND[name])

    return rule


def two_operands(name: str) -> Callable:
    """The rule of a primitive of two operands."""

    def rule(parameters: Parameters, lengths: Lengths, kind: str, x: Array, y: Array) -> Array:
        if name in BITWISE and x.kind != "b":
            raise UnsupportedError(f"'{name}' of integers is not followed at all sizes")
        if x.kind == "i" and name == "div":
            return of_entries("rem", lengths, kind, [x, y], whole_division)  # ≥ 0, as a remainder
        return of_entries(name, lengths, kind, [x, y], TWO_OPERANDS[name])

    return rule


@case_by_case
def whole_division(x: Polynomial, y: Polynomial) -> Polynomial:
    """The whole part of a quotient of numbers that are not negative."""
    if not (is_whole(x) and is_whole(y) and nonnegative(x) and nonnegative(y - 1)):
        raise UnsupportedError("a division of integers that may be negative or 0 is not followed")
    return whole_part(x, y)


def remainder(parameters: Parameters, lengths: Lengths, kind: str, x: Array, y: Array) -> Array:
    """x − y·⌊x / y⌋ of integers that are not negative."""
    if x.kind != "i":
        raise UnsupportedError("'rem' of floats is not followed at all sizes")
    return of_entries("rem", lengths, kind, [x, y], lambda a, b: a - whole_division(a, b) * b)


def integer_power(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """x^y for a whole number y."""
    exponent = parameters["y"]
    known = 1 if exponent % 2 == 0 else x.sign
    if x.kind == "i" and exponent < 0 or exponent == 0 and not x.defined:
        raise UnsupportedError("this power is not followed at all sizes")
    found = of_entries(
        "mul" if exponent >= 0 else "div", lengths, kind, [x, x], lambda a, _: raised(plain(a), exponent)
    )
    found.sign = known
    return found


def power(parameters: Parameters, lengths: Lengths, kind: str, x: Array, y: Array) -> Array:
    """x^y for a number y, or exp(y·log x) where x is positive and both are defined, or x is a number."""

    def function(base: Polynomial, exponent: Polynomial) -> Polynomial:
        number = exponent.number()
        if number is not None and number and x.kind == "f":
            return raised(plain(base), number)
        if sign(base) != 2:
            raise UnsupportedError("a power with a base that may be negative is not followed")
        if base.number() is None and not (x.defined and y.defined):  # 1^∞ and ∞^0 are 1 on a device
            raise UnsupportedError("a power of what may be undefined (a divisor that may be 0) is not followed")
        return exponential(exponent * logarithm(base))

    return of_entries("pow", lengths, kind, [x, y], function)


def clamp(parameters: Parameters, lengths: Lengths, kind: str, low: Array, x: Array, high: Array) -> Array:
    """min(max(x, low), high)."""
    return of_entries("clamp", lengths, kind, [low, x, high], lambda a, b, c: minimum(maximum(a, b), c))


def rounded(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """A function of which only the way of rounding is known."""
    method = str(parameters.get("rounding_method"))
    return of_entries("round", lengths, kind, [x], opaque(f"round {method}"))


def finite(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """1, where that is proved."""

    def function(value: Polynomial) -> Polynomial:
        if not is_finite(value):
            raise UnsupportedError("whether a masked number is finite is not followed")
        return ONE

    return of_entries("is_finite", lengths, kind, [x], function)


def select(parameters: Parameters, lengths: Lengths, kind: str, which: Array, *cases: Array) -> Array:
    """The case that a boolean, or an integer, chooses."""
    defined = which.defined and all(case.defined for case in cases)
    known = min(case.sign for case in cases)

    def entry(indices: Indices) -> Polynomial:
        condition = which.broadcast(indices)
        if len(cases) != 2 or which.kind != "b":
            raise UnsupportedError("'select_n' by an integer is not followed at all sizes")
        if condition in (ONE, ZERO):
            return cases[condition == ONE].at(indices)
        values = [case.at(indices) for case in cases]
        if kind == "i":
            values = [unwrapped(value, case) for value, case in zip(values, (ONE - condition, condition), strict=True)]
        return chosen(condition, *values)

    return array(lengths, kind, entry, known, defined)


def convert(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """A cast that changes no value: between floats, or from booleans and integers."""
    kind_of(np.dtype(parameters["new_dtype"])) if not jnp.issubdtype(parameters["new_dtype"], jnp.floating) else None
    if kind == x.kind or x.kind in "ib" and kind == "f" or (x.kind, kind) == ("b", "i"):
        wraps = isinstance(x.body, Polynomial) and any(
            a.kind is Kind.WHOLE_NUMBER and a.name == WRAPPED for a in x.body.within
        )
        return array(lengths, kind, x.at, 0 if wraps else x.sign, x.defined)
    if kind == "b":
        return of_entries("ne", lengths, kind, [x], lambda value: ONE - is_zero(plain(value)))
    if kind == "i":
        bits = jnp.iinfo(parameters["new_dtype"]).bits
        return of_entries("to_integers", lengths, kind, [x], lambda value: whole_number(value, bits))
    raise UnsupportedError("a cast from floats to integers without sign is not followed at all sizes")


ELEMENTWISE: Mapping[str, Callable] = {
    **{name: one_operand(name) for name in ONE_OPERAND},
    **{name: two_operands(name) for name in TWO_OPERANDS},
    "clamp": clamp,
    "convert_element_type": convert,
    "integer_pow": integer_power,
    "is_finite": finite,
    "pow": power,
    "rem": remainder,
    "round": rounded,
    "select_n": select,
}
"""Primitive → rule(parameters, lengths, kind of the result, *operands)."""
