"""Predicates: comparisons of indices and sizes, which are decided where that is proved, and of real numbers.

[e ≥ 0] = 1 or 0 if that is so at all sizes and indices     [e ≥ 0] = 1 − [−e − 1 ≥ 0]
[e ≥ 0] = [e = 0]  where e ≤ 0     [e ≥ 0] = 1 − [e = −1]  where e ≥ −1     [e = 0] = [−e = 0]
[i − j ≥ k] = [i − j ≥ 0] − [i − j = 0] − … − [i − j = k − 1]  for small k
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from uat_jax.errors import UnsupportedError
from uat_jax.numbers.indexed.bounds import is_whole, nonnegative, sign, without_mask
from uat_jax.numbers.indexed.colours import orientation
from uat_jax.numbers.indexed.division import cancelled, content
from uat_jax.numbers.indexed.polynomial import (
    ONE,
    ONE_MONOMIAL,
    REBUILD,
    ZERO,
    Kind,
    Letter,
    Polynomial,
    Replacement,
    made,
    of,
    replaced,
    summed,
)
from uat_jax.numbers.indexed.products import case_by_case
from uat_jax.numbers.indexed.workspace import workspace

COMPUTED = frozenset([Kind.PLACE, Kind.WHOLE_NUMBER])
"""Letters that are whole numbers made of real ones."""

SHIFTS = 3
"""Thresholds of differences of indices up to this are moved to 0."""


class SizeCase(Exception):
    """A comparison that depends on whether a size is at least a number: both cases have to be looked at."""

    def __init__(self, name: str, threshold: int):
        super().__init__(f"{name} >= {threshold}")
        self.name, self.threshold = name, threshold


class RemainderCase(Exception):
    """A size that is divided by a number: each remainder has to be looked at."""

    def __init__(self, name: str, divisor: int):
        super().__init__(f"mod({name}, {divisor})")
        self.name, self.divisor = name, divisor


LARGEST_DIVISOR = 8
"""A size that is divided by a number up to this is looked at for each remainder."""


def split_by_remainder(value: Polynomial, divisor: Polynomial) -> None:
    """Raises `RemainderCase` if a polynomial in sizes, divided by a small number, has a remainder that is not known."""
    number = int(divisor.number() or 0)
    if not 2 <= number <= LARGEST_DIVISOR or value.free or not is_whole(value):
        return
    for monomial, factor in sorted(value.terms.items(), key=lambda term: [letter.key for letter, _ in term[0]]):
        if factor % number and all(letter.kind is Kind.SIZE for letter, _ in monomial) and monomial:
            raise RemainderCase(monomial[0][0].name, number)


def split_by_size(value: Polynomial) -> None:
    """Raises `SizeCase` if whether ±n + k ≥ 0 is asked, and no smallest value of the size n decides it."""
    if value.free:
        return
    for monomial, slope in value.terms.items():
        if len(monomial) == 1 and monomial[0][0].kind is Kind.SIZE and monomial[0][1] == 1 and abs(slope) == 1:
            rest = (value - of(monomial[0][0]) * slope).number()
            if rest is not None and rest.denominator == 1:
                threshold = int(-rest * slope) + (slope < 0)
                name = monomial[0][0].name
                if threshold > workspace().lower.get(name, 1):
                    raise SizeCase(name, threshold)


@case_by_case
def at_least_zero(value: Polynomial) -> Polynomial:
    """[value ≥ 0] of an index polynomial."""
    if nonnegative(value):
        return ONE
    if nonnegative(-value - 1):
        return ZERO
    factor, shift = _common_factor(value)
    if factor > 1:
        return at_least_zero((value - shift) * (1 / factor) + shift // factor)
    split_by_size(value)
    for steps in range(SHIFTS + 1):
        if nonnegative(steps - value):
            return summed(equal_to_zero(value - step) for step in range(steps + 1))
        if nonnegative(value + 1 + steps):
            return ONE - summed(equal_to_zero(value + 1 + step) for step in range(steps + 1))
    slopes = {m[0][0]: c for m, c in value.terms.items() if len(m) == 1 and m[0][0].kind is Kind.INDEX and m[0][1] == 1}
    of_output = sorted((v for v in slopes if v.name.startswith("o")), key=lambda v: v.name)
    direction = slopes[of_output[0]] if of_output else sum(slopes.values())
    if (direction or direction_of_computed(value)) < 0:
        return ONE - at_least_zero(-value - 1)
    shift = _distance_from_balance(value, slopes) if len(slopes) > 1 else 0
    if shift and abs(shift) <= SHIFTS:
        base = value - shift
        below = summed(equal_to_zero(base - step) for step in range(int(-shift)))
        above = summed(equal_to_zero(base + step) for step in range(1, int(shift) + 1))
        return at_least_zero(base) - below + above
    return of(made(Kind.AT_LEAST, value))


def direction_of_computed(value: Polynomial) -> int:
    """+1 or −1, the opposite for −value − 1, where a whole number made of real ones stands; else 0."""
    computed = any(letter.kind in COMPUTED for letter in value.letters)
    return orientation(value - value.terms.get(ONE_MONOMIAL, 0)) if computed else 0


def _common_factor(value: Polynomial) -> tuple[Fraction, Fraction]:
    """(c, r) of a whole polynomial c·u + r without constant term in u; c = 1 for any other."""
    shift = value.terms.get(ONE_MONOMIAL, Fraction(0))
    return content(value - shift) if is_whole(value) and value.letters else Fraction(1), shift


def _distance_from_balance(value: Polynomial, slopes: Mapping[Letter, Fraction]) -> Fraction:
    """k where i − j + k stands, or i + j − n + 1 + k, which is that with j backwards; else 0."""
    if sum(slopes.values()) == 0:
        return value.terms.get(ONE_MONOMIAL, Fraction(0))
    rest = value - summed(of(variable) for variable in slopes)
    if set(slopes.values()) == {1}:
        for variable in sorted(slopes, key=lambda v: (v.name.startswith("o"), v.length.key)):
            number = (rest + variable.length - 1).number()
            if number is not None:
                return number
    return Fraction(0)


@case_by_case
def equal_to_zero(value: Polynomial) -> Polynomial:
    """[value = 0] of an index polynomial."""
    if not value:
        return ONE
    if nonnegative(value - 1) or nonnegative(-value - 1):
        return ZERO
    factor, shift = _common_factor(value)
    if factor > 1:
        return ZERO if shift % factor else equal_to_zero(value * (1 / factor))
    split_by_size(value)
    split_by_size(value - 1)
    return of(made(Kind.EQUAL, min(value, -value, key=lambda p: p.key)))


def _is_integer_valued(value: Polynomial) -> bool:
    return is_whole(value) and without_mask(value)


@case_by_case
def _compared(difference: Polynomial, of_whole: Callable, of_real: Callable) -> Polynomial:
    """A predicate on a difference, by its rule for whole numbers or the one for real numbers."""
    return of_whole(difference) if _is_integer_valued(difference) else of_real(cancelled(difference))


def is_positive(difference: Polynomial) -> Polynomial:
    """[difference > 0]."""
    return _compared(difference, lambda d: at_least_zero(d - 1), _real_positive)


def is_zero(difference: Polynomial) -> Polynomial:
    """[difference = 0]."""
    return _compared(difference, equal_to_zero, _real_zero)


def _real_positive(value: Polynomial) -> Polynomial:
    _check_comparable(value)
    if sign(value) == 2:
        return ONE
    return ZERO if sign(-value) else of(made(Kind.POSITIVE, scaled(value)))


def _real_zero(value: Polynomial) -> Polynomial:
    _check_comparable(value)
    if not value:
        return ONE
    if sign(value) == 2 or sign(-value) == 2:
        return ZERO
    value = scaled(value)
    return of(made(Kind.ZERO, min(value, -value, key=lambda p: p.key)))


def scaled(value: Polynomial) -> Polynomial:
    """A polynomial divided by its positive content."""
    return value * (1 / content(value)) if value else value


def _check_comparable(value: Polynomial) -> None:
    if not without_mask(value):
        raise UnsupportedError("a comparison of a masked number (-inf) has no normal form for all sizes")


def _at_least_rebuilt(letter: Letter, exponent: Fraction, by: Replacement) -> Polynomial:
    return at_least_zero(replaced(letter.arguments[0], by))


def _equal_rebuilt(letter: Letter, exponent: Fraction, by: Replacement) -> Polynomial:
    return equal_to_zero(replaced(letter.arguments[0], by))


REBUILD[Kind.AT_LEAST] = _at_least_rebuilt
REBUILD[Kind.EQUAL] = _equal_rebuilt
REBUILD[Kind.POSITIVE] = lambda letter, exponent, by: is_positive(replaced(letter.arguments[0], by))
REBUILD[Kind.ZERO] = lambda letter, exponent, by: is_zero(replaced(letter.arguments[0], by))
