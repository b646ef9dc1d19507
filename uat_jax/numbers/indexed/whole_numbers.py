"""Whole numbers that programs compute: below their number of bits they are what they are, beyond they wrap around."""

from __future__ import annotations

import math
from fractions import Fraction

from uat_jax.errors import UnsupportedError
from uat_jax.numbers.indexed.array import Array, Indices, array
from uat_jax.numbers.indexed.bounds import is_whole, nonnegative
from uat_jax.numbers.indexed.functions import WRAPPED, wrapped
from uat_jax.numbers.indexed.polynomial import ONE, Kind, Letter, Polynomial, of
from uat_jax.numbers.indexed.products import case_by_case, with_letter
from uat_jax.numbers.indexed.workspace import workspace

LARGEST_SIZE = 1 << 18
"""Up to this size of all axes integers that count places are shown not to wrap."""

WIDEST = 1 << 31
"""Integers of 32 bits are below this."""


@case_by_case
def check_does_not_wrap(value: Polynomial) -> Polynomial:
    """The value, if it is affine in sizes and indices and stays within 32 bits while no axis is longer than 2^18.

    Raises:
        UnsupportedError: it is not.
    """
    if not is_whole(value):
        raise UnsupportedError("integers that are not affine in sizes and indices are not followed")
    affine = all(sum(e for _, e in monomial) <= 1 for monomial in value.terms)
    bits = {letter.arguments[1] for letter in value.letters if letter.kind is Kind.WHOLE_NUMBER}
    if affine and len(bits) == 1:
        half = 1 << bits.pop() - 1
        fits = nonnegative(value + half) and nonnegative(half - 1 - value)
        return value if fits else wrapped(value, half.bit_length())
    if not affine or _reach(value) >= WIDEST:
        raise UnsupportedError("an integer that may wrap at large sizes is not followed")
    lengths = [*(x.length for x in value.free), *(of(letter) for letter in value.letters if letter.kind is Kind.SIZE)]
    lengths += [letter.bound[0].length for letter in value.letters if letter.kind is Kind.PLACE]
    is_place = any(nonnegative(length - value) and nonnegative(value + length) for length in lengths)
    if not is_place and not all(_has_number(letter) for letter in value.letters):
        workspace().bounded_sizes = True
    return value


def _reach(value: Polynomial) -> Fraction:
    """A bound of the magnitude of an affine value while no axis of unknown length is longer than 2^18."""
    return sum(
        (
            abs(number) * math.prod(_reach_of(letter) for letter, _ in monomial)
            for monomial, number in value.terms.items()
        ),
        Fraction(0),
    )


def _reach_of(letter: Letter) -> Fraction:
    """Of a whole part the reach of its dividend: divisors are at least 1."""
    if letter.kind is Kind.QUOTIENT:
        return _reach(letter.arguments[0])
    if letter.kind is Kind.PLACE:
        return _reach_of(letter.bound[0])
    return letter.length.number() or Fraction(0) if _has_number(letter) else Fraction(LARGEST_SIZE)


def _has_number(letter: Letter) -> bool:
    """Whether a letter is an index of an axis whose length is a number, or a quotient of nothing but such indices."""
    if letter.kind is Kind.QUOTIENT:
        return all(map(_has_number, letter.arguments[0].letters))
    if letter.kind is Kind.PLACE:
        return _has_number(letter.bound[0])
    return letter.kind is Kind.INDEX and letter.length.number() is not None


def with_other_bits(x: Array, fewer: bool) -> Array:
    """Integers that are cast to fewer bits, if they do not wrap, or to more; a size may, though JAX made it of more.

    What was a float or wraps is known for its own number of bits alone.
    """

    def entry(indices: Indices) -> Polynomial:
        value = x.at(indices)
        if any(letter.kind is Kind.WHOLE_NUMBER for letter in value.within):
            raise UnsupportedError("an integer that was a float is not followed into another number of bits")
        return check_does_not_wrap(value) if fewer else value

    return array(x.lengths, x.kind, entry, x.sign, x.defined)


def unwrapped(value: Polynomial, case: Polynomial) -> Polynomial:
    """A value in the case that a predicate is 1, where sums that do not wrap there are what they are.

    [u ≥ 0]·w(e) = [u ≥ 0]·e if −2^(b−1) ≤ e, and e + u < 2^(b−1) is free of casts.
    """
    opposite = ONE - case
    bound = next(iter(case.letters | opposite.letters), None)
    if bound is None or bound.kind is not Kind.AT_LEAST or of(bound) not in (case, opposite):
        return value
    rest = bound.arguments[0] if case == of(bound) else -bound.arguments[0] - 1
    for letter in value.letters:
        if letter.kind is Kind.WHOLE_NUMBER and letter.name == WRAPPED:
            _, bits, number = letter.arguments
            least, most = number + (1 << bits - 1), number + rest
            casts = any(a.kind is Kind.WHOLE_NUMBER for a in most.letters)
            if nonnegative(least) and not casts:
                check_does_not_wrap(most)
                value = with_letter(value, letter, number)
    return value
