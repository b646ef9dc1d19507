"""Random points of a draw: the residues that the inputs of a program have, drawn when they are used.

A model of 10⁸ parameters has more random residues than fit into memory at once, and each of them is used in a few
equations.  So every array of them, at every level, has a generator of its own: it can be forgotten, and is the same
when it is drawn again.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from uat_jax.numbers.prime_fields.prime_field import BLOCK
from uat_jax.numbers.prime_fields.random_function import key
from uat_jax.numbers.prime_fields.tower import Level

KEPT = 1 << 26
"""Bytes of the points used last that are kept; one array may be larger."""

MOVED = 1 << 20
"""Rearranged points of more bytes than this are rearranged again at every use, and not kept."""


def uniform(words: np.ndarray, prime: int, shape: Sequence[int]) -> np.ndarray:
    """Residues modulo a prime p < 2⁵⁰, each with a chance of at most 1/p + 2⁻⁵²; `words` seed the generator.

    They are ⌊up⌋ with u a uniform multiple of 2⁻⁵³ below 1, computed in float64: up is rounded to less than p, by 2⁻⁵³
    of itself.  Block by block, so that nothing else takes memory.
    """
    generator = np.random.Generator(np.random.SFC64(words.tolist()))
    residues = np.empty(shape, np.int64)
    flat, buffer = residues.reshape(-1), np.empty(min(residues.size, BLOCK))
    for start in range(0, flat.size, BLOCK):
        block = flat[start : start + BLOCK]
        numbers = buffer[: block.size]
        generator.random(out=numbers)
        numbers *= prime
        block[...] = numbers
    return residues


def exactly_uniform(words: np.ndarray, prime: int, shape: Sequence[int]) -> np.ndarray:
    """Residues modulo a prime, all with the same chance, as exponents need them (Lemma 5 of docs/soundness.md)."""
    return np.random.Generator(np.random.SFC64(words.tolist())).integers(0, prime, shape)


class PointStore:
    """The points of one draw, of which those used last are kept.

    size: bytes of the arrays that are kept.
    """

    def __init__(self, levels: Sequence[Level], seed: Sequence[int | str]):
        self.levels, self.seed = levels, seed
        self.count = 0
        self.size = 0
        self._kept: OrderedDict[tuple[int, int], np.ndarray] = OrderedDict()

    def new(self, shape: Sequence[int]) -> Points:
        """The point of another input."""
        self.count += 1
        number = self.count
        size = 8 * math.prod(shape) * sum(level.copies for level in self.levels)
        return Points(lambda level: self._residues(number, level, shape), len(self.levels), tuple(shape), size)

    def _residues(self, number: int, level: int, shape: Sequence[int]) -> np.ndarray:
        place = number, level
        if place in self._kept:
            self._kept.move_to_end(place)
            return self._kept[place]
        field, copies = self.levels[level].field, self.levels[level].copies
        draw = exactly_uniform if 0 < level == len(self.levels) - 1 else uniform
        drawn = draw(key("input", number, level, *self.seed)[:4], field.prime, (copies, *shape))
        self._kept[place] = drawn
        self.size += drawn.nbytes
        while self.size > KEPT:
            self.size -= self._kept.popitem(last=False)[1].nbytes
        return drawn


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """The levels of an element that is a random point, or a rearranged one, each made when it is asked for.

    make: the residues at a level.  height: how many levels there are.  shape: without the copies.  size: bytes at all
    levels together.
    """

    make: Callable[[int], np.ndarray]
    height: int
    shape: tuple[int, ...]
    size: int

    def __len__(self) -> int:
        return self.height

    def __getitem__(self, level: int) -> np.ndarray:
        if not 0 <= level < self.height:
            raise IndexError(level)
        return self.make(level)

    def __iter__(self) -> Iterator[np.ndarray]:
        return map(self.make, range(self.height))

    def moved(self, move: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, ...] | Points:
        """The levels with their entries rearranged; of large ones not before they are asked for."""
        if self.size <= MOVED:
            return tuple(map(move, self))
        shape = move(np.broadcast_to(np.int8(0), (1, *self.shape))).shape[1:]
        size = self.size * math.prod(shape) // max(1, math.prod(self.shape))
        if size <= MOVED:
            return tuple(map(move, self))
        return Points(lambda level: move(self.make(level)), self.height, shape, size)
