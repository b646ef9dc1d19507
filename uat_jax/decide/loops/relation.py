"""Relations between the carries of two loops: all of them written with a few letters.

A relation is a guess.  Whether it holds before the first step, and after a step if it holds before it, is proved by the
identity test; so nothing here has to be right, only usable.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import jax
import numpy as np
from jax import lax

from uat_jax.decide.loops.walk import Value
from uat_jax.errors import UnsupportedError

ONE, TIME = "one", "time"
"""Factors beside numbers that both programs know: 1, and the number of steps made."""


@dataclass(frozen=True)
class World:
    """What both programs know beside their carries: the number of steps made, scalars, and arrays."""

    time: Value
    scalars: Sequence[Value]
    arrays: Sequence[Value]

    def scalar(self, factor: str | int) -> Value:
        """The time, or the scalar at a place.  Raises what `_at` raises."""
        return self.time if factor == TIME else _at(self.scalars, int(factor))

    def array(self, place: int) -> Value:
        """The array at a place.  Raises what `_at` raises."""
        return _at(self.arrays, place)


def _at(known: Sequence[Value], place: int) -> Value:
    """What is known at a place.

    Raises:
        UnsupportedError: a relation of other sizes, where more was known, is tried.
    """
    if place >= len(known):
        raise UnsupportedError("what both loops know is not the same at all sizes")
    return known[place]


@dataclass(frozen=True)
class Term:
    """coefficient · factor · array: the factor is `ONE`, `TIME`, or the place of a scalar; the array is the place of a
    letter, ("known", the place of a known array), or None for an array of ones."""

    coefficient: Fraction
    factor: str | int
    array: int | tuple[str, int] | None


@dataclass(frozen=True)
class ByArrays:
    """Every array of `types` is a letter itself (its place stands in `letters`) or a sum of terms.

    terms: place of an array that is no letter -> its terms.
    """

    types: tuple[jax.ShapeDtypeStruct, ...]
    letters: tuple[int, ...]
    terms: dict[int, tuple[Term, ...]]

    @property
    def letter_types(self) -> list[jax.ShapeDtypeStruct]:
        """The types of the letters."""
        return [self.types[place] for place in self.letters]

    @property
    def bound(self) -> list[int]:
        """The places of arrays that are no letters."""
        return sorted(self.terms)

    @property
    def unrelated(self) -> list[int]:
        """The places of arrays that stand in no equation: letters that no other array is written with."""
        used = {term.array for terms in self.terms.values() for term in terms}
        return sorted(place for number, place in enumerate(self.letters) if number not in used)

    def without(self, place: int) -> ByArrays:
        """The relation in which an array is a letter of its own."""
        rest = {other: terms for other, terms in self.terms.items() if other != place}
        return ByArrays(self.types, (*self.letters, place), rest)

    def chosen(self, arrays: Sequence[Value]) -> list[Value]:
        """The letters, read off all arrays."""
        return [arrays[place] for place in self.letters]

    def spread(self, letters: Sequence[Value], world: World) -> list[Value]:
        """All arrays, from the letters."""
        found: dict[int, Value] = dict(zip(self.letters, letters, strict=True))
        for place, terms in self.terms.items():
            found[place] = self._sum(self.types[place], terms, found, world)
        return [found[place] for place in range(len(self.types))]

    def _sum(self, wanted: Any, terms: Sequence[Term], found: dict[int, Value], world: World) -> Value:
        parts = [self._term(wanted, term, found, world) for term in terms]
        return sum_of(parts) if parts else lax.full(wanted.shape, 0, wanted.dtype)

    def _term(self, wanted: Any, term: Term, found: dict[int, Value], world: World) -> Value:
        array = lax.full(wanted.shape, 1, wanted.dtype)
        if isinstance(term.array, tuple):
            array = world.array(term.array[1])
        elif term.array is not None:
            array = found[self.letters[term.array]]
        value = lax.convert_element_type(array, wanted.dtype)
        if term.factor != ONE:
            scalar = world.scalar(term.factor)
            value = lax.mul(value, lax.broadcast(lax.convert_element_type(scalar, wanted.dtype), wanted.shape))
        return times(value, term.coefficient, wanted)


@dataclass(frozen=True)
class ByEntries:
    """Every entry of all arrays, end to end, is a sum of entries of one vector of letters, of 1 and of the time.

    letters: the places of entries that are letters themselves.  terms: entry -> (coefficient, place), where the places
    behind the letters are those of 1 and of the time.
    """

    types: tuple[jax.ShapeDtypeStruct, ...]
    letters: tuple[int, ...]
    terms: tuple[tuple[tuple[Fraction, int], ...], ...]

    @property
    def letter_types(self) -> list[jax.ShapeDtypeStruct]:
        """One vector."""
        return [jax.ShapeDtypeStruct((len(self.letters),), self._dtype)] if self.letters else []

    @property
    def bound(self) -> list[int]:
        """The places of arrays that have an entry which is no letter."""
        free = set(self.letters)
        return [i for i, entries in enumerate(self._entries) if not free.issuperset(entries)]

    @property
    def unrelated(self) -> list[int]:
        """The places of arrays all entries of which are letters that no other entry is written with."""
        uses = Counter(place for terms in self.terms for _, place in terms)
        alone = {entry for number, entry in enumerate(self.letters) if uses[number] == 1}
        return [i for i, entries in enumerate(self._entries) if alone.issuperset(entries)]

    @property
    def _entries(self) -> list[range]:
        """For every array the places of its entries, end to end."""
        ends = list(itertools.accumulate(math.prod(t.shape) for t in self.types))
        return list(itertools.starmap(range, zip([0, *ends[:-1]], ends, strict=True)))

    @property
    def _dtype(self) -> np.dtype:
        return max((t.dtype for t in self.types), key=lambda dtype: np.dtype(dtype).itemsize)

    def chosen(self, arrays: Sequence[Value]) -> list[Value]:
        """The letters, read off all arrays."""
        return [_gathered(self._flat(arrays), self.letters)] if self.letters else []

    def spread(self, letters: Sequence[Value], world: World) -> list[Value]:
        """All arrays, from the letters."""
        dtype = self._dtype
        known = [np.ones(1, dtype), lax.reshape(lax.convert_element_type(world.time, dtype), (1,))]
        base = lax.concatenate([*letters, *known], 0)
        total = len(self.terms)
        most = max(map(len, self.terms), default=0)
        parts = []
        for number in range(most):
            row = [terms[number] if number < len(terms) else (Fraction(0), 0) for terms in self.terms]
            value = _gathered(base, [place for _, place in row])
            over, under = (np.array([getattr(c, side) for c, _ in row], dtype) for side in ("numerator", "denominator"))
            value = value if np.all(over == 1) else lax.mul(value, over)
            parts.append(value if np.all(under == 1) else lax.div(value, under))
        flat = sum_of(parts) if parts else np.zeros(total, dtype)
        found, first = [], 0
        for wanted in self.types:
            size = math.prod(wanted.shape)
            piece = lax.reshape(lax.slice_in_dim(flat, first, first + size), wanted.shape)
            found.append(lax.convert_element_type(piece, wanted.dtype))
            first += size
        return found

    def _flat(self, arrays: Sequence[Value]) -> Value:
        dtype = self._dtype
        flat = [lax.reshape(lax.convert_element_type(x, dtype), (math.prod(t.shape),))
                for x, t in zip(arrays, self.types, strict=True)]  # fmt: skip
        return lax.concatenate(flat, 0)


Relation = ByArrays | ByEntries


def _gathered(vector: Value, places: Sequence[int]) -> Value:
    """Entries of a vector, in runs of neighbours."""
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][1]:
            runs[-1][1] += 1
        else:
            runs.append([place, place + 1])
    parts = [lax.slice_in_dim(vector, first, end) for first, end in runs]
    return lax.concatenate(parts, 0) if len(parts) > 1 else parts[0]


def sum_of(parts: Sequence[Value]) -> Value:
    """The sum of arrays of one type."""
    total = parts[0]
    for part in parts[1:]:
        total = lax.add(total, part)
    return total


def times(value: Value, coefficient: Fraction, wanted: Any) -> Value:
    """A rational multiple of an array, of whole numbers that its dtype holds."""
    over, under = (np.full(wanted.shape, part, wanted.dtype) for part in coefficient.as_integer_ratio())
    value = value if coefficient.numerator == 1 else lax.mul(value, over)
    return value if coefficient.denominator == 1 else lax.div(value, under)
