"""Roots of squares that a program does not write as squares: √y = |u| where y = u² for a number u met before.

The last pivot of L Lᵀ is (b² + c²) - (ab)²/a², and no factor of c² is seen in it; nor one of u² in (q u²)/q.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction

import numpy as np

from uat_jax.numbers.prime_fields.algebra import columns_of
from uat_jax.numbers.prime_fields.facts import Defined
from uat_jax.numbers.prime_fields.number import Number
from uat_jax.numbers.prime_fields.residues import Draw, Residues, same, vanishes

MOST, MOST_ROOTS, MOST_ENTRIES = 64, 8, 12
"""Of so many numbers the squares are kept, and of so many the roots; of larger arrays none."""


class MetSquares:
    """Of one draw numbers that are defined for all inputs, by the residues of their squares.

    Of positive ones every entry is kept for itself, of others that a program squares the whole array.
    """

    def __init__(self, draw: Draw):
        self.draw = draw
        self.roots: dict[bytes, Residues] = {}
        self.squared: dict[tuple[tuple[int, ...], bytes], Number] = {}
        self.radicands: list[tuple[Residues, Number]] = []
        self.almost_radicands: list[tuple[Residues, Number]] = []
        self._seen: set[int] = set()

    def meet(self, x: Number) -> None:
        """Keep the entries of a number that is positive and defined for all inputs, and no constant."""
        size = int(np.prod(x.shape))
        if x.expression in self._seen or x.known is not None or not 0 < size <= MOST_ENTRIES or not _is_positive(x):
            return
        if x.expression is not None:
            self._seen.add(x.expression)
        if len(self.roots) + size > MOST:
            return
        entries = x.residues.reshaped((size,))
        squares = columns_of(self.draw.multiply(entries, entries))
        self.draw.compared(size)
        for i, square in enumerate(squares):
            self.roots.setdefault(square, entries.moved(lambda level, i=i: level[:, i]))

    def meet_squared(self, x: Number) -> None:
        """Keep a number that a program squares, if it is defined for all inputs, and no constant."""
        if x.known is not None or not 0 < int(np.prod(x.shape)) <= MOST_ENTRIES or len(self.squared) >= MOST:
            return
        if _is_defined(x):
            self.squared.setdefault(self._key(self.draw.multiply(x.residues, x.residues)), x)

    def base(self, y: Residues) -> Number | None:
        """A number that was squared and whose square y is."""
        if not self.squared or not 0 < int(np.prod(y.shape)) <= MOST_ENTRIES:
            return None
        return self.squared.get(self._key(y))

    @contextmanager
    def almost(self) -> Iterator[None]:
        """Numbers are what they are almost everywhere: those that are not negative then are no roots for all inputs."""
        kept, self.radicands = self.radicands, self.almost_radicands
        try:
            yield
        finally:
            self.radicands = kept

    def meet_root(self, radicand: Number, root: Number) -> None:
        """Keep √v of a number v ≥ 0 that is defined for all inputs, and no constant."""
        if len(self.radicands) < MOST_ROOTS and self._is_radicand(radicand):
            self.radicands.append((radicand.residues, root))

    def multiple_of_root(self, w: Number) -> tuple[Fraction, Number, Number] | None:
        """(s, z, √v) for w = s·z²·v, with a rational s > 0, a number z that was squared or a root, and a root √v.

        Any s for which that holds is right: it is 1, or what makes z a number that the program has multiplied.
        """
        if not self.radicands or not self._is_radicand(w):
            return None
        squares = [(self.draw.multiply(z.residues, z.residues), z) for z in self.squared.values()]
        factors = [(s, z) for s, z in (*squares, *self.radicands) if s.shape == w.shape and not vanishes(s).any()]
        for radicand, root in self.radicands:
            if radicand.shape != w.shape:
                continue
            ratio = self.draw.multiply(w.residues, self.draw.inverse(radicand))
            for square, z in factors:
                self.draw.compared(2)
                for scale in dict.fromkeys((Fraction(1), 1 / z.scale**2)):
                    if same(ratio, self.draw.scale(square, scale)):
                        return scale, z, root
        return None

    def _is_radicand(self, x: Number) -> bool:
        small = x.known is None and 0 < int(np.prod(x.shape)) <= MOST_ENTRIES
        return small and x.nonnegative and _is_defined(x) and not vanishes(x.residues).any()

    def _key(self, square: Residues) -> tuple[tuple[int, ...], bytes]:
        self.draw.compared(1)
        return square.shape, b"".join(columns_of(square))

    def root(self, y: Residues) -> Residues | None:
        """The positive numbers whose squares are the entries of y, if there is one for each."""
        size = int(np.prod(y.shape))
        if not self.roots or not 0 < size <= MOST_ENTRIES:
            return None
        self.draw.compared(size)
        found = [self.roots.get(column) for column in columns_of(y)]
        if any(root is None for root in found):
            return None
        return self.draw.stack([root for root in found if root is not None]).reshaped(y.shape)


def _is_positive(x: Number) -> bool:
    return _is_defined(x) and x.facts is not None and bool(x.facts.positive.all())


def _is_defined(x: Number) -> bool:
    """For all inputs, and not under a condition only."""
    finite = x.special is None and x.infinite is None and x.almost is None
    if not finite or x.facts is None or x.facts.guarded or x.facts.hollow:
        return False
    return x.facts.defined is Defined.ALWAYS
