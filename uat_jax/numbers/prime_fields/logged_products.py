"""Products of numbers whose logarithms were taken before: log y = ± log u ± log v ± log w for y = u^±1 v^±1 w^±1.

The determinant of A is the product of the squares of the diagonal of its Cholesky factor, and no factor of it is seen
in a determinant that is written out.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from uat_jax.numbers.prime_fields.algebra import columns_of
from uat_jax.numbers.prime_fields.residues import Draw, Residues, vanishes

MOST, MOST_EXPONENTS = 12, 64
"""Of so many numbers the products are kept, and of larger arrays none; so many exponentials are kept."""

Pair = tuple[Residues, Residues]
"""A number and its logarithm."""


class LoggedProducts:
    """The logarithms of one draw.

    single: the numbers whose logarithms were taken, and their inverses.  known: by the residues of a number, these
    and the products of two of them, and the squares of these, each with its logarithm.  exponents: those of
    exponentials.
    """

    def __init__(self, draw: Draw):
        self.draw = draw
        self.single: list[Pair] = []
        self.known: dict[bytes, Residues] = {}
        self.exponents: dict[bytes, Residues] = {}

    def exponential(self, y: Residues, exponent: Residues) -> None:
        """Keep the entries of y = exp(t): their logarithms are those of t."""
        size = int(np.prod(y.shape))
        if not 0 < size <= MOST or len(self.exponents) + size > MOST_EXPONENTS:
            return
        self.draw.compared(size)
        flat = exponent.reshaped((size,))
        for i, column in enumerate(columns_of(y)):
            self.exponents.setdefault(column, flat.moved(lambda level, i=i: level[:, i]))

    def logarithm(self, y: Residues, log: Residues) -> Residues:
        """The logarithms of an array, given as `log`, or where one is a product as the sum of those of its factors."""
        size = int(np.prod(y.shape))
        if size > MOST or vanishes(y).any():
            return log
        entry = lambda a, i: a.reshaped((size,)).moved(lambda level: level[:, i])
        found = [self._of_entry(entry(y, i), entry(log, i)) for i in range(size)]
        return self.draw.stack(found).reshaped(y.shape) if size else log

    def _of_entry(self, y: Residues, log: Residues) -> Residues:
        found = self._product(y)
        log = log if found is None else found
        if len(self.single) < 2 * MOST and (found is None or _key(y) in self.exponents and _key(y) not in self.known):
            self._keep((y, log))
        return log

    def _product(self, y: Residues) -> Residues | None:
        """The logarithm of what is an exponential, or a product of the numbers and their inverses, or a root of one."""
        self.draw.compared(1)
        if (exponent := self.exponents.get(_key(y))) is not None:
            return exponent
        if (whole := self._whole(y)) is not None:
            return whole
        square = self._whole(self.draw.multiply(y, y))
        return None if square is None else self.draw.scale(square, Fraction(1, 2))

    def _whole(self, y: Residues) -> Residues | None:
        """The logarithm of what is kept, or what is kept over one of the numbers."""
        self.draw.compared(1 + len(self.single))
        if (known := self.known.get(_key(y))) is not None:
            return known
        for u, log in self.single:
            rest = self.known.get(_key(self.draw.multiply(y, u)))
            if rest is not None:
                return self.draw.subtract(rest, log)
        return None

    def _keep(self, new: Pair) -> None:
        """Add a number, its inverse, their products with the others and with themselves, and the squares of these."""
        draw, (y, log) = self.draw, new
        both = [new, (draw.inverse(y), draw.negate(log))]
        self.known.update((_key(u), of) for u, of in both)
        for u, of in both:
            for v, also in (*self.single, (u, of)):
                product, log = draw.multiply(u, v), draw.add(of, also)
                self.known.setdefault(_key(product), log)
                self.known.setdefault(_key(draw.multiply(product, product)), draw.scale(log, 2))
        self.single += both
        self.draw.compared(4 * len(self.single))


def _key(y: Residues) -> bytes:
    """The residues of a number in all copies of the top level."""
    return columns_of(y.reshaped((1,)))[0]
