"""What a referee tried against proofs in pieces: each attack beside a true twin that must still be certified."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction

import pytest

from uat_jax.arithmetic import affine
from uat_jax.arithmetic.affine import Affine, greatest_common_divisor

# Bounds of affine functions.

WHOLE, PARTS = (1, 3, 5, 2**10, 2**20 - 1, 2**20, 2**40), (1, 3, 7, 2**10, 2**20, 10**6, 10**20)


@dataclass(frozen=True)
class Exact:
    """The coefficients of two atoms, and the constant term."""

    coefficients: tuple[Fraction, Fraction]
    constant: Fraction

    def __add__(self, other: Exact) -> Exact:
        first, second = (a + b for a, b in zip(self.coefficients, other.coefficients, strict=True))
        return Exact((first, second), self.constant + other.constant)

    def __mul__(self, other: Exact) -> Exact:
        factor, rest = (self, other) if any(other.coefficients) else (other, self)
        first, second = (factor.constant * a for a in rest.coefficients)
        return Exact((first, second), factor.constant * rest.constant)

    def within(self, bound: Affine) -> bool:
        """Whether the bounds hold: whole multiples of the units, and not too many of them."""
        counts = [a / bound.unit for a in self.coefficients]
        units = [unit for unit, _ in bound.constants.multiples]
        most = sum((unit * n for unit, n in bound.constants.multiples), Fraction(0))
        whole = not self.constant or (self.constant / greatest_common_divisor(*units)).denominator == 1
        atoms = all(n.denominator == 1 for n in counts) and sum(map(abs, counts)) <= bound.width
        return atoms and whole and abs(self.constant) <= most


def _constant(value: Fraction) -> tuple[Exact, Affine | None]:
    return Exact((Fraction(0), Fraction(0)), value), affine.of_fractions([value])


def _atom(first: int, second: int) -> tuple[Exact, Affine | None]:
    return Exact((Fraction(first), Fraction(second)), Fraction(0)), affine.ATOM


@pytest.mark.parametrize("seed", range(4))
def test_bounds_of_affine_functions_hold(seed):
    """Sums, products and choices of random fractions and two atoms; every value is within what is said of it."""
    draw, checked = random.Random(seed), 0
    for _ in range(200):
        values = [_constant(Fraction(draw.choice(WHOLE), draw.choice(PARTS))) for _ in range(3)]
        values += [_atom(1, 0), _atom(0, 1)]
        for _ in range(10):
            (x, a), (y, b) = draw.choice(values), draw.choice(values)
            if a is None or b is None:
                continue
            made = {"+": [(x + y, a + b)], "|": [(x, a | b), (y, a | b)]}
            if not (a.width and b.width):
                made["*"] = [(x * y, a * b)]
            found = made[draw.choice(sorted(made))]
            values += found
            for exact, bound in found:
                checked += bound is not None
                assert bound is None or exact.within(bound), f"seed {seed}: {exact} is not within {bound}"
    assert checked > 500
