"""Affine functions of the atoms, u·Σ n_j a_j + c with whole n_j, as bounds on what a program computes.

Exponentials whose exponents are all affine in the atoms need no more copies than other values: see Lemma 5 of
docs/soundness.md.  The bounds are counted while the program runs, beside its degrees.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

DISTINCT = 8
"""The greatest common divisor is computed of so many different constants; of more it is a power of two."""

SMALL = 1 << 20
"""Constants are multiples of one number as long as the factors are no larger than this."""

LARGEST = 1 << 200
"""A bound above this says nothing, and the function is taken for one that is not affine."""

MOST_UNITS = 3
"""Constants are sums of multiples of so many numbers at most."""

Multiple = tuple[Fraction, int]
"""(u, n) with u > 0: the numbers m·u with whole m, |m| ≤ n."""

Join = Callable[[int, int], int]
"""The sum of two bounds, or the larger one."""


def greatest_common_divisor(*values: Fraction) -> Fraction:
    """The largest u of which all values are whole multiples; 0 if all of them are 0."""
    denominator = math.lcm(1, *(v.denominator for v in values))
    return Fraction(math.gcd(*(v.numerator * (denominator // v.denominator) for v in values)), denominator)


@dataclass(frozen=True)
class Constants:
    """What the constant terms of an array can be: sums of one number of each of the `multiples`."""

    multiples: tuple[Multiple, ...] = ()

    def __add__(self, other: Constants) -> Constants | None:
        """The constants of a sum."""
        return _gathered([*self.multiples, *other.multiples], int.__add__)

    def __or__(self, other: Constants) -> Constants | None:
        """The constants of entries that come from either operand."""
        return _gathered([*self.multiples, *other.multiples], max)

    def __mul__(self, other: Constants) -> Constants | None:
        """The constants of a product."""
        return _gathered([(u * v, m * n) for u, m in self.multiples for v, n in other.multiples], int.__add__)

    def times(self, count: int) -> Constants:
        """The constants of a sum of so many entries."""
        return Constants(tuple((unit, most * count) for unit, most in self.multiples))


def _gathered(multiples: Sequence[Multiple], join: Join) -> Constants | None:
    """The multiples, with those joined whose ratio is small; None if more than `MOST_UNITS` remain.

    What is small is said of sums, whatever the join.  Joining makes sums larger, so two multiples of one array, which
    were not put together when it was made, are not later either: `max` is only taken of those of different arrays.
    """
    kept: list[Multiple] = list(multiples[:1])
    for multiple in multiples[1:]:
        small = (i for i, other in enumerate(kept) if _joined(multiple, other, int.__add__)[1] <= SMALL)
        place = next(small, None)
        if place is None:
            kept.append(multiple)
        else:
            kept[place] = _joined(multiple, kept[place], join)
    return Constants(tuple(sorted(kept))) if len(kept) <= MOST_UNITS else None


def _joined(left: Multiple, right: Multiple, join: Join) -> Multiple:
    """Sums of both, or either of both, in multiples of one number."""
    unit = greatest_common_divisor(left[0], right[0])
    return unit, join(*(most * int(u / unit) for u, most in (left, right)))


NONE = Constants()


@dataclass(frozen=True)
class Affine:
    """unit·Σ n_j a_j + c, with Σ |n_j| ≤ width in every entry, and c as `constants` says."""

    width: int
    unit: Fraction
    constants: Constants

    def __add__(self, other: Affine) -> Affine | None:
        """The bound of a sum, or of a difference."""
        return self._joined(other, self.constants + other.constants, int.__add__)

    def __or__(self, other: Affine) -> Affine | None:
        """The bound of entries that come from either operand."""
        return self if self == other else self._joined(other, self.constants | other.constants, max)

    def _joined(self, other: Affine, constants: Constants | None, join: Join) -> Affine | None:
        if constants is None:
            return None
        if not (self.width and other.width):
            part = self if self.width else other
            return Affine(part.width, part.unit, constants)
        unit, width = _joined((self.unit, self.width), (other.unit, other.width), join)
        return _bounded(Affine(width, unit, constants))

    def __mul__(self, other: Affine) -> Affine | None:
        """Of a product; None if atoms occur in both, or the constants of one have no common unit."""
        factor, rest = (self, other) if other.width else (other, self)
        constants = rest.constants * factor.constants
        if factor.width or constants is None:
            return None
        if not (rest.width and factor.constants.multiples):
            return _bounded(Affine(0, ONE, constants))
        unit = greatest_common_divisor(*(u for u, _ in factor.constants.multiples))
        most = sum(n * int(u / unit) for u, n in factor.constants.multiples)
        return _bounded(Affine(rest.width * most, rest.unit * unit, constants))

    def times(self, count: int) -> Affine | None:
        """The bound of a sum of so many entries."""
        return _bounded(Affine(self.width * count, self.unit, self.constants.times(count)))


def _bounded(affine: Affine) -> Affine | None:
    sizes = [affine.width, *(n for _, n in affine.constants.multiples)]
    units = [affine.unit, *(u for u, _ in affine.constants.multiples)]
    sizes += [n for u in units for n in (u.numerator, u.denominator)]
    return affine if max(sizes) <= LARGEST else None


ONE = Fraction(1)
ATOM = Affine(1, ONE, NONE)
ZERO = Affine(0, ONE, NONE)


def of_fractions(values: Iterable[Fraction]) -> Affine | None:
    """The bound of constants."""
    distinct = {abs(v) for v in values} - {0}
    if not distinct:
        return ZERO
    unit = greatest_common_divisor(*distinct)
    return _bounded(Affine(0, ONE, Constants(((unit, int(max(distinct) / unit)),))))


def of_floats(array: np.ndarray) -> Affine | None:
    """The bound of an array of finite float64 numbers; None if it is too large.

    Many different numbers are bounded together: those of exponents from e on are multiples of 2^(e − 53).
    """
    magnitudes = np.abs(array[array != 0])
    if not magnitudes.size:
        return ZERO
    few = np.unique(magnitudes[: 4 * DISTINCT])
    if len(few) <= DISTINCT and np.isin(magnitudes, few).all():
        return of_fractions(map(Fraction, few.tolist()))
    unit = Fraction(2) ** int(np.frexp(magnitudes)[1].min() - 53)
    return _bounded(Affine(0, ONE, Constants(((unit, int(Fraction(float(magnitudes.max())) / unit)),))))
