"""Towers of primes p₀ > p₁ > … > p_K with p_{k+1} | p_k - 1: each level carries the exponents of the one above.

The multiplicative group modulo p_k has a subgroup of order p_{k+1}, so e ↦ g_k^e is a homomorphism from the addition
modulo p_{k+1} to the multiplication modulo p_k: exp(a + b) = exp(a)·exp(b) and exp(0) = 1 hold exactly.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpz, fmpz_mod_ctx

from uat_jax.numbers.prime_fields.prime_field import BITS, PrimeField

DEEPEST = 12
"""Levels below the top one: nested exponentials that are followed exactly."""

COFACTOR = 64
"""(p_k - 1)/p_{k+1} is at most this, or half as many times the order of the roots of unity."""


def squares(depth: int) -> tuple[int, ...]:
    """Small primes whose square roots exist modulo every prime of a tower: fewer for deep towers, which are rare."""
    return ((2, 3, 5, 7), (2, 3, 5), (2, 3), (2,))[depth] if depth <= 3 else ()


def draw_primes(
    depth: int, random_numbers: random.Random, *, step: int = 2, bits: int = BITS, order: int = 1
) -> tuple[int, ...]:
    """Random primes p₀ > … > p_depth with p₀ < 2^bits and every (p_k - 1)/p_{k+1} a multiple of `step`.

    The numbers `squares(depth)` are squares modulo all of them, unless the primes are too small for that.  With
    step = 4, -1 is a square modulo every prime but the last, and cos and sin can be written with complex exponentials.
    The bottom prime is made as large as a short search allows.  All of them are 1 modulo `order`, so that there are
    roots of unity of this order.
    """
    roots = squares(depth) if bits >= 40 else ()
    for lost in range(2 + depth * (1 + order.bit_length()), bits - 3 - order.bit_length()):
        for _ in range(64 * (depth + 1) << 2 * len(roots)):
            bottom = random_numbers.getrandbits(bits - lost) | 1 << (bits - lost - 1) | 1
            bottom -= (bottom - 1) % order
            if _fits(bottom, roots):
                primes = _extended((bottom,), depth, step, bits, roots, order)
                if primes is not None:
                    return primes
    raise ValueError(f"no tower of {depth + 1} primes below 2^{bits}; wanted fewer levels")


def _fits(candidate: int, roots: tuple[int, ...]) -> bool:
    """Whether it is a prime modulo which all of `roots` are squares (Euler's criterion)."""
    return fmpz(candidate).is_probable_prime() and all(pow(q, candidate // 2, candidate) == 1 for q in roots)


def _extended(
    primes: tuple[int, ...], depth: int, step: int, bits: int, roots: tuple[int, ...], order: int
) -> tuple[int, ...] | None:
    """The tower with `depth` more primes on top, or None if there is none below 2^bits."""
    if depth == 0:
        return primes
    step = math.lcm(step, order)
    for cofactor in range(step, max(COFACTOR, COFACTOR // 2 * order) + 1, step):
        prime = cofactor * primes[0] + 1
        if prime.bit_length() + 2 * (depth - 1) > bits:
            return None
        if _fits(prime, roots):
            found = _extended((prime, *primes), depth - 1, step, bits, roots, order)
            if found is not None:
                return found
    return None


@dataclass(frozen=True)
class Level:
    """One level: a prime field evaluated in `copies` independent copies.

    `generator` has order p_{k+1} modulo p_k; `mixing` has shape (copies of this level, copies of the next) and entries
    modulo p_{k+1}.  Both are None at the bottom.
    """

    field: PrimeField
    copies: int
    generator: int | None
    mixing: np.ndarray | None

    def has_root(self, number: int) -> bool:
        """Whether every prime factor of a whole number is one of 2, 3, 5, 7 and a square modulo the prime."""
        for q in (2, 3, 5, 7):
            while number % q == 0 and pow(q, self.field.prime // 2, self.field.prime) == 1:
                number //= q
        return number == 1

    def root(self, number: int, negative: np.ndarray) -> np.ndarray:
        """Its square root, the product of the roots of its prime factors; negative where asked for."""
        root = 1
        for q in (2, 3, 5, 7):
            while number % q == 0:
                number, root = number // q, root * int(fmpz_mod_ctx(self.field.prime)(q).sqrt()) % self.field.prime
        return np.where(negative, self.field.prime - root, root)

    def unity(self, order: int) -> int:
        """A primitive root of unity, for an order that divides p - 1."""
        p, factors = self.field.prime, [int(q) for q, _ in fmpz(order).factor()]
        candidates = (pow(base, (p - 1) // order, p) for base in range(2, p))
        return next(z for z in candidates if all(pow(z, order // q, p) != 1 for q in factors))

    @cached_property
    def imaginary(self) -> int:
        """A square root of -1 modulo the prime (≡ 1 modulo 4)."""
        p = self.field.prime
        candidates = (pow(base, (p - 1) // 4, p) for base in range(2, p))
        return next(i for i in candidates if i * i % p == p - 1)


SQUARES_OF_SUMS = {2: (8, {1: 1, 7: 1}), 3: (12, {1: 1, 11: 1}), 5: (5, {0: 1, 1: 2, 4: 2}), 7: (28, {})}
SQUARES_OF_SUMS[7] = (28, {(4 * k - 7) % 28: 1 if k in (1, 2, 4) else -1 for k in range(1, 7)})
"""q → (n, {j: c}) with √q = Σ c·ζ^j, ζ = e^(2πi/n): Gauss's sums; that for 7 is 1/i times one of seventh roots."""


def root_in_circle(unity: int, order: int, number: int, prime: int) -> int | None:
    """The root of 2, 3, 5 or 7 that a primitive root of unity of this order makes, or None where it makes none."""
    n, terms = SQUARES_OF_SUMS[number]
    if order % n:
        return None
    return sum(c * pow(unity, j * (order // n), prime) for j, c in terms.items()) % prime


def draw_levels(primes: Sequence[int], copies: Sequence[int], generator: np.random.Generator) -> tuple[Level, ...]:
    """A tower with the given copies per level and random generators and mixing matrices."""
    levels = []
    for k, prime in enumerate(primes):
        last = k + 1 == len(primes)
        base = None if last else _element_of_order(primes[k + 1], prime, generator)
        mixing = None if last else generator.integers(0, primes[k + 1], (copies[k], copies[k + 1]))
        levels.append(Level(PrimeField(prime), copies[k], base, mixing))
    return tuple(levels)


def _element_of_order(order: int, prime: int, generator: np.random.Generator) -> int:
    """A random element of prime order: the cofactor-th power of a random residue, unless that is 1."""
    while True:
        element = pow(int(generator.integers(2, prime)), (prime - 1) // order, prime)
        if element != 1:
            return element
