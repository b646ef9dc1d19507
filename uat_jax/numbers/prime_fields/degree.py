"""Degrees of the rational functions that a program computes, counted while it runs.

An element is a polynomial in *atoms*: the inputs, the values of opaque functions, exponentials, and the inverses that
were taken.  Multiplying it by every divisor as often as its inverse occurs gives a polynomial without inverses; its
degree bounds the chance that the element vanishes at a random point (docs/soundness.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from uat_jax.numbers.prime_fields import affine
from uat_jax.numbers.prime_fields.affine import Affine


@dataclass(frozen=True)
class Degree:
    """Total degree in the atoms, and for each inversion (by number) its largest power and whether it is `aligned`.

    Aligned: every entry depends on one entry of that inversion at most, the one at its own place.
    affine: bounds of the element as an affine function of the atoms, or None where it is none, or not known to be one.
    """

    total: int = 0
    inverses: Mapping[int, tuple[int, bool]] = field(default_factory=dict)
    affine: Affine | None = None

    def __or__(self, other: Degree) -> Degree:
        """The degree of entries that come from either operand: the larger of each number."""
        return self._larger(other, _both(Affine.__or__, self.affine, other.affine))

    def __add__(self, other: Degree) -> Degree:
        """The degree of a sum: the larger of each number."""
        return self._larger(other, _both(Affine.__add__, self.affine, other.affine))

    def _larger(self, other: Degree, joined: Affine | None) -> Degree:
        return Degree(max(self.total, other.total), _merged(self.inverses, other.inverses, max), joined)

    def __mul__(self, other: Degree) -> Degree:
        """The degree of a product: the sums of the numbers."""
        inverses = _merged(self.inverses, other.inverses, int.__add__)
        return Degree(self.total + other.total, inverses, _both(Affine.__mul__, self.affine, other.affine))

    def power(self, exponent: int) -> Degree:
        """The degree of the power with this exponent, which is at least 0."""
        powers = {gate: (power * exponent, aligned) for gate, (power, aligned) in self.inverses.items()}
        return Degree(self.total * exponent, powers if exponent else {}, self.affine if exponent == 1 else None)

    def mixed(self) -> Degree:
        """The degree of entries that depend on entries at other places."""
        if not any(aligned for _, aligned in self.inverses.values()):
            return self
        return Degree(self.total, {gate: (power, False) for gate, (power, _) in self.inverses.items()}, self.affine)

    def summed(self, count: int) -> Degree:
        """The degree of sums of so many entries."""
        mixed = self.mixed()
        return mixed if mixed.affine is None else replace(mixed, affine=mixed.affine.times(count))

    def covers(self, other: Degree) -> bool:
        """Whether this one, counted, stays the same with the other: it is larger, and of the same inverses or none."""
        return other.total <= self.total and (not other.inverses or other.inverses is self.inverses)

    def counted(self) -> Degree:
        """The degree alone, for an element that is only tested."""
        return self if self.affine is None else Degree(self.total, self.inverses)


def _both(join: Callable[[Affine, Affine], Affine | None], left: Affine | None, right: Affine | None) -> Affine | None:
    return None if left is None or right is None else join(left, right)


def _merged(left: Mapping, right: Mapping, join) -> Mapping:
    if not right:
        return left
    if not left or left is right and join is max:
        return right
    merged = dict(left)
    for gate, (power, aligned) in right.items():
        known = merged.get(gate)
        merged[gate] = (power, aligned) if known is None else (join(known[0], power), known[1] and aligned)
    return merged


ATOM = Degree(1, affine=affine.ATOM)
CONSTANT = Degree(0)


class Inversions:
    """The inversions of a program: for each, how many different divisors it had and their degree."""

    def __init__(self) -> None:
        self.divisors: list[tuple[int, Degree]] = []

    def new(self, count: int, degree: Degree) -> Degree:
        """The degree of the inverses of `count` different divisors."""
        self.divisors.append((count, degree))
        return Degree(1, {len(self.divisors) - 1: (1, True)})

    def cleared(self, degree: Degree) -> int:
        """The degree after multiplying by every divisor as often as its inverse occurs, the latest first."""
        total, powers = degree.total, dict(degree.inverses)
        while powers:
            gate = max(powers)
            power, aligned = powers.pop(gate)
            count, divisor = self.divisors[gate]
            times = power * (1 if aligned else count)
            total += times * divisor.total
            for earlier, (inner, inner_aligned) in divisor.inverses.items():
                known, known_aligned = powers.get(earlier, (0, True))
                powers[earlier] = known + times * inner, known_aligned and inner_aligned and aligned
        return total
