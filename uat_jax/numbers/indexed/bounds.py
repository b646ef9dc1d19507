"""What is known of numbers for all sizes and all indices in range: that they are whole, ≥ 0 or > 0."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from uat_jax.numbers.indexed.polynomial import (
    OF_INDICES,
    OF_RANGES,
    PREDICATES,
    ZERO,
    Kind,
    Letter,
    Monomial,
    Polynomial,
    alone,
    as_polynomial,
    constant,
    made,
    of,
    replaced,
    without,
)
from uat_jax.numbers.indexed.workspace import workspace

DEEPEST = 8
"""So many index variables are put at both ends of their range."""

WHOLE = frozenset([Kind.SIZE, Kind.INDEX, Kind.QUOTIENT, Kind.PLACE, Kind.WHOLE_NUMBER])
"""Letters that are whole numbers; but for the last kind at least 0 (a quotient where its dividend is)."""


def is_whole(value: Polynomial) -> bool:
    """Whether it is a polynomial in sizes, indices and whole parts with whole coefficients."""
    return all(
        number.denominator == 1 and all(_is_power(factor) for factor in monomial)
        for monomial, number in value.terms.items()
    )


def _is_power(factor: tuple[Letter, Fraction]) -> bool:
    letter, exponent = factor
    return letter.kind in WHOLE and exponent > 0 and exponent.denominator == 1


RANGES: Mapping[Kind, Callable[[Letter], tuple[Polynomial, Polynomial]]] = {
    Kind.PLACE: lambda letter: (ZERO, letter.bound[0].length - 1),
    Kind.WHOLE_NUMBER: lambda letter: (
        constant(-(2 ** (letter.arguments[1] - 1))),
        constant(2 ** (letter.arguments[1] - 1) - 1),
    ),
}
"""Kind of a letter → the least and the greatest of its values."""


def nonnegative(value: Polynomial | int, depth: int = 0) -> bool:
    """Whether a polynomial in sizes and indices is proved to be ≥ 0 at all sizes and indices in range.

    It is if it is affine in an index and ≥ 0 at that end of its range where it is least.  Without indices it is if all
    coefficients are ≥ 0 after each size n is written as its smallest value plus n'.  False says nothing.
    """
    value = as_polynomial(value)
    if value.number() is not None:
        return (value.number() or 0) >= 0
    remembered, key = workspace().remembered, ("nonnegative", value.key)
    if key not in remembered:
        remembered[key] = _nonnegative(value, depth)
    return remembered[key]


def _nonnegative(value: Polynomial, depth: int) -> bool:
    if not all(_is_power(factor) for monomial in value.terms for factor in monomial):
        return False
    quotients = sorted((a for a in value.letters if a.kind is Kind.QUOTIENT), key=lambda letter: letter.key)
    indices = sorted((a for a in value.letters if a.kind is Kind.INDEX), key=lambda letter: letter.key)
    ranged = sorted((a for a in value.letters if a.kind in RANGES), key=lambda letter: letter.key)
    if ranged:
        low, high = RANGES[ranged[0].kind](ranged[0])
        return depth < DEEPEST and _at_both_ends(value, ranged[0], low, high, depth)
    if quotients:
        return depth < DEEPEST and _at_quotient_ends(value, quotients[0], depth)
    if indices:
        return depth < DEEPEST and _in_range(value, indices[0], depth)
    return all(number >= 0 for number in _from_smallest(value).terms.values())


def _in_range(value: Polynomial, letter: Letter, depth: int) -> bool:
    """Whether a polynomial that is affine in an index is ≥ 0 wherever the index is in its range, which may be empty.

    A polynomial that does not fall is least at the first place, and one that does not rise at the last one.
    """
    slope, rest = split_affine(value, letter)
    if slope is None:
        return False
    if nonnegative(slope, depth + 1) and nonnegative(rest, depth + 1):
        return True
    if nonnegative(-slope, depth + 1) and nonnegative(rest + slope * (letter.length - 1), depth + 1):
        return True
    return _at_both_ends(value, letter, ZERO, letter.length - 1, depth)


def _at_both_ends(value: Polynomial, letter: Letter, low: Polynomial, high: Polynomial, depth: int) -> bool:
    """Whether a polynomial that is affine in a letter is ≥ 0 where the letter is low, and where it is high."""
    slope, rest = split_affine(value, letter)
    return (
        slope is not None and nonnegative(rest + slope * low, depth + 1) and nonnegative(rest + slope * high, depth + 1)
    )


def _at_quotient_ends(value: Polynomial, letter: Letter, depth: int) -> bool:
    """q = ⌊a/b⌋ lies between 0 and a where a ≥ 0 and b ≥ 1; for a number b between (a − b + 1)/b and a/b."""
    dividend, divisor = letter.arguments
    if not (nonnegative(dividend, depth + 1) and nonnegative(divisor - 1, depth + 1)):
        return False
    number = divisor.number()
    if number is None:
        return _at_both_ends(value, letter, ZERO, dividend, depth)
    high = dividend * (1 / number)
    return any(_at_both_ends(value, letter, low, high, depth) for low in (ZERO, high + 1 / number - 1))


def split_affine(value: Polynomial, letter: Letter) -> tuple[Polynomial | None, Polynomial]:
    """(p, q) with value = p·letter + q and neither containing the letter; p is None if there are none."""
    slope, rest = ZERO, ZERO
    for monomial, number in value.terms.items():
        exponents = dict(monomial)
        part = alone(without(monomial, letter)) * number
        if letter in part.within or exponents.get(letter, 1) != 1:
            return None, ZERO
        if letter in exponents:
            slope = slope + part
        else:
            rest = rest + part
    return slope, rest


def _from_smallest(value: Polynomial) -> Polynomial:
    """A polynomial in sizes, each size n written as its smallest value + n'; the letter n stands for n'."""
    lower = workspace().lower
    total = ZERO
    for monomial, number in value.terms.items():
        product = constant(number)
        for letter, exponent in monomial:
            for _ in range(int(exponent)):
                product = product * (of(letter) + lower.get(letter.name, 1))
        total = total + product
    return total


def positive(value: Polynomial) -> bool:
    """Whether it is proved to be > 0 wherever it is defined."""
    return sign(value) == 2


def sign(value: Polynomial) -> int:
    """2: proved to be > 0.  1: proved to be ≥ 0.  0: nothing is known.  Wherever it is defined."""
    if any(number < 0 for number in value.terms.values()):
        if not is_whole(value):
            return _sign_of_variance(value)
        return 2 if nonnegative(value - 1) else 1 if nonnegative(value) else 0
    signs = [_sign_of_monomial(monomial) for monomial in value.terms]
    return 0 if 0 in signs else max(signs, default=1)


def _sign_of_variance(value: Polynomial) -> int:
    """1, or 2 if something positive is added to it, if n·Σ_i u_i² − (Σ_i u_i)² is what may be negative in it."""
    from uat_jax.numbers.indexed.variances import without_variance

    remembered, key = workspace().remembered, ("variance", value.key)
    if key not in remembered:
        remembered[key] = 0  # while it is looked for
        found = without_variance(value)
        if found is not None and not any(number < 0 for number in found[1].terms.values()):
            remembered[key] = min(map(sign, found))
    return remembered[key]


def _sign_of_monomial(monomial: Monomial) -> int:
    return min((sign_of_letter(letter, exponent) for letter, exponent in monomial), default=2)


def sign_of_letter(letter: Letter, exponent: Fraction = Fraction(1)) -> int:
    """What is proved of the sign of a letter to a power: 2, 1 or 0, as `sign` says it of a polynomial."""
    kind = letter.kind
    if kind is Kind.SIZE:
        return 2 if workspace().lower.get(letter.name, 1) > 0 else 1
    if kind in (Kind.PRIME, Kind.CONSTANT):
        return 2
    if kind is Kind.EXP:
        inside = {a.kind for a in letter.within}
        return 0 if Kind.IMAGINARY in inside else 1 if Kind.MASK in inside else 2  # exp(-∞) = 0
    if kind is Kind.IMAGINARY or kind is Kind.MASK or any(a.kind is Kind.IMAGINARY for a in letter.within):
        return 0
    if kind in (Kind.INDEX, Kind.PLACE) or kind in PREDICATES:
        return 1
    if kind is Kind.ENTRY and letter.arguments[2]:
        return letter.arguments[2]
    if kind is Kind.SUM:
        known = _sign_of_sum(letter)
    elif kind in OF_RANGES or kind is Kind.RANKED:
        known = sign(letter.arguments[1])
    elif kind in (Kind.POWER, Kind.INVERSE):
        known = sign(letter.arguments[0])
    elif kind is Kind.FUNCTION and letter.name in ("abs", "relu"):
        known = 1
    else:
        known = 0
    if known:
        return known
    return 1 if exponent.denominator > 1 or exponent % 2 == 0 else 0


def _sign_of_sum(letter: Letter) -> int:
    """A sum of numbers ≥ 0 is > 0 if one of them is: where all its predicates hold."""
    remembered, key = workspace().remembered, ("sign", letter)
    if key not in remembered:
        remembered[key] = 0  # while it is looked for
        body = alone(letter.arguments[1])
        known = sign(body)
        filled = all(nonnegative(variable.length - 1) for variable in letter.bound)
        remembered[key] = max(known, 2 * (known == 1 and filled and _positive_somewhere(body, letter.bound)))
        if known == 2 and not filled:
            remembered[key] = 1
    return remembered[key]


def _positive_somewhere(body: Polynomial, over: tuple[Letter, ...]) -> bool:
    """Whether a number is proved to be > 0 at some place of each index variable."""
    if sign(body) == 2 or not over:
        return sign(body) == 2
    variable, *rest = over
    return any(_positive_somewhere(replaced(body, {variable: place}), tuple(rest)) for place in places(variable, body))


def places(variable: Letter, body: Polynomial) -> list[Polynomial]:
    """Places of an index in its range: the first and the last, those of other indices, and where predicates turn."""
    last = variable.length - 1
    others = [of(other) for other in sorted(body.free - {variable}, key=lambda v: v.name)]
    turning = []
    for letter in sorted((a for a in body.letters if a.kind in OF_INDICES), key=lambda a: a.key):
        slope = unit_indices(letter.arguments[0]).get(variable)
        if slope is not None:
            turning.append((of(variable) * slope - letter.arguments[0]) * slope)
    return [p for p in (*turning, ZERO, last, *others) if nonnegative(p) and nonnegative(last - p)]


def unit_indices(value: Polynomial) -> dict[Letter, Fraction]:
    """The index variables that stand in it alone, once, and with coefficient ±1."""
    found = {
        monomial[0][0]: number
        for monomial, number in value.terms.items()
        if len(monomial) == 1 and monomial[0][0].kind is Kind.INDEX and monomial[0][1] == 1 and abs(number) == 1
    }
    return {v: slope for v, slope in found.items() if v not in (value - of(v) * slope).free}


def may_vanish_only_thinly(value: Polynomial) -> bool:
    """Whether, at all sizes and indices, it is proved to be an analytic function of the inputs that is not always 0.

    All entries of one input are put equal to one number; what is left is a polynomial in these numbers.  It is not
    always 0 if one of its coefficients is a polynomial in sizes and indices that is proved to be above 0, or below.
    """
    if sign(value) == 2 or sign(-value) == 2:
        return True
    if len(value.terms) == 1:
        (monomial,) = value.terms
        if len(monomial) > 1:
            return all(may_vanish_only_thinly(of(letter)) for letter, _ in monomial)
        if monomial and monomial[0][0].kind is Kind.PRODUCT:
            return may_vanish_only_thinly(monomial[0][0].arguments[1])
    at_equal = _at_equal_entries(value)
    if at_equal is None:
        return False
    by_entries: dict[Monomial, Polynomial] = {}
    for monomial, number in at_equal.terms.items():
        entries = tuple(factor for factor in monomial if factor[0].kind is Kind.ENTRY)
        rest = tuple(factor for factor in monomial if factor[0].kind is not Kind.ENTRY)
        by_entries[entries] = by_entries.get(entries, ZERO) + Polynomial({rest: number})
    scale = math.lcm(*(number.denominator for number in at_equal.terms.values()))
    return any(
        nonnegative(coefficient * scale - 1) or nonnegative(coefficient * -scale - 1)
        for coefficient in by_entries.values()
    )


def _at_equal_entries(value: Polynomial) -> Polynomial | None:
    """A polynomial with all entries of an input replaced by one; None if it is no polynomial of entries."""
    total = ZERO
    for monomial, number in value.terms.items():
        product = constant(number)
        for letter, exponent in monomial:
            factor = _letter_at_equal_entries(letter)
            if factor is None or exponent < 0 or exponent.denominator > 1:
                return None
            for _ in range(int(exponent)):
                product = product * factor
        total = total + product
    return total


def _letter_at_equal_entries(letter: Letter) -> Polynomial | None:
    if letter.kind in (Kind.SIZE, Kind.INDEX):
        return of(letter)
    if letter.kind is Kind.ENTRY:
        return of(_nameless_entry(letter))
    if letter.kind is Kind.POWER:
        return _at_equal_entries(letter.arguments[0])
    if letter.kind is Kind.SUM:
        body = _at_equal_entries(alone(letter.arguments[1]))
        if body is None or body.free & set(letter.bound):
            return None
        for variable in letter.bound:
            body = body * variable.length
        return body
    return None


def _nameless_entry(letter: Letter) -> Letter:
    """The one number that all entries of an input are put equal to."""
    return made(Kind.ENTRY, letter.name, (), 0, ())


def without_mask(value: Polynomial) -> bool:
    """Whether −∞ does not occur in it but inside of functions that caught it."""
    return not any(letter.kind is Kind.MASK for letter in value.letters)
