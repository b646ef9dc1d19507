"""Random functions on tuples of residues: what an unknown function is replaced by.

A function is a keyed mix of its arguments, drawn anew with every key: equal arguments give equal values, different
ones unrelated values.  All copies of the arguments enter one 128-bit state, so that two arguments are taken for one
only if they agree in every copy.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from uat_jax.numbers.prime_fields.prime_field import PrimeField


def key(*parts: object) -> np.ndarray:
    """Eight 64-bit words that depend on all parts."""
    digest = hashlib.blake2b("|".join(map(str, parts)).encode()).digest()
    return np.frombuffer(digest, np.uint64)


def _scrambled(z: np.ndarray) -> np.ndarray:
    """The finaliser of splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def state(words: np.ndarray, arguments: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Two 64-bit words per entry of arguments of shape (copies, entries)."""
    first = np.full(arguments[0].shape[1:], words[0])
    second = np.full(arguments[0].shape[1:], words[1])
    for argument in arguments:
        for copy in argument.view(np.uint64):
            first = _scrambled((first + words[2]) ^ copy)
            second = (second ^ copy) * (words[3] | np.uint64(1)) + words[4]
            second ^= second >> np.uint64(29)
    return first, _scrambled(second)


def values(words: np.ndarray, arguments: Sequence[np.ndarray], copies: int, prime: int) -> np.ndarray:
    """Residues of shape (copies, *shape); each is hit with probability at most 1/p + 2⁻⁵²."""
    first, second = state(words, [argument.reshape(len(argument), -1) for argument in arguments])
    residues = _residues(_mixed(words, first, second, copies, 0), prime)
    return residues.reshape(copies, *arguments[0].shape[1:])


def uniform_values(words: np.ndarray, arguments: Sequence[np.ndarray], copies: int, field: PrimeField) -> np.ndarray:
    """Residues of shape (copies, *shape); each is hit with probability at most (1 + 2⁻⁵⁴)/p for primes below 2⁵⁰.

    They are 2⁵² times 52 bits plus 52 other bits, modulo the prime.
    """
    first, second = state(words, [argument.reshape(len(argument), -1) for argument in arguments])
    upper, lower = (_bits(_mixed(words, first, second, copies, salt)) for salt in (0, 1))
    factor = np.full((1, 1), pow(2, 52, field.prime), np.int64)
    residues = field.add(field.multiply(upper % field.prime, factor), lower % field.prime)
    return residues.reshape(copies, *arguments[0].shape[1:])


def _mixed(words: np.ndarray, first: np.ndarray, second: np.ndarray, copies: int, salt: int) -> np.ndarray:
    """64 bits for every copy, entry and salt."""
    index = np.arange(1 + salt * copies, 1 + (salt + 1) * copies, dtype=np.uint64)[:, None]
    return _scrambled((first + index * words[5]) ^ _scrambled(second + index * words[6]))


def _bits(mixed: np.ndarray) -> np.ndarray:
    """The upper 52 bits."""
    return (mixed >> np.uint64(12)).astype(np.int64)


def _residues(mixed: np.ndarray, prime: int) -> np.ndarray:
    """The prime times a number below 1 of 52 bits, rounded down."""
    return (_bits(mixed).astype(np.float64) * (prime * 2.0**-52)).astype(np.int64)
