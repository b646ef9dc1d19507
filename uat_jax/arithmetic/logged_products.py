"""Products of numbers whose logarithms were taken before: log y = ± log u ± log v ± log w for y = u^±1 v^±1 w^±1.

The determinant of A is the product of the squares of the diagonal of its Cholesky factor, and no factor of it is seen
in a determinant that is written out.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from uat_jax.arithmetic.algebra import columns_of
from uat_jax.arithmetic.residues import Draw, Residues, vanishes

MOST = 12
"""Of so many numbers the products are kept, and of larger arrays none."""

Pair = tuple[Residues, Residues]
"""A number and its logarithm."""


class LoggedProducts:
    """The logarithms of one draw.

    single: the numbers whose logarithms were taken, and their inverses.  known: by the residues of a number, these
    and the products of two of them, each with its logarithm.
    """

    def __init__(self, draw: Draw):
        self.draw = draw
        self.single: list[Pair] = []
        self.known: dict[bytes, Residues] = {}

    def logarithm(self, y: Residues, log: Residues) -> Residues:
        """The logarithms of an array, given as `log`, or where one is a product as the sum of those of its factors."""
        size = int(np.prod(y.shape))
        if size > MOST or vanishes(y).any():
            return log
        entry = lambda a, i: a.reshaped((size,)).moved(lambda level: level[:, i])
        found = [self._of_entry(entry(y, i), entry(log, i)) for i in range(size)]
        return self.draw.stack(found).reshaped(y.shape) if size else log

    def _of_entry(self, y: Residues, log: Residues) -> Residues:
        known = self._product(y)
        if known is not None:
            return known
        if len(self.single) < 2 * MOST:
            self._keep((y, log))
        return log

    def _product(self, y: Residues) -> Residues | None:
        """The logarithm of what is a product of at most three of the numbers and their inverses, or the root of two."""
        self.draw.compared(2 + len(self.single))
        if (known := self.known.get(_key(y))) is not None:
            return known
        square = self.known.get(_key(self.draw.multiply(y, y)))
        if square is not None:
            return self.draw.scale(square, Fraction(1, 2))
        for u, log in self.single:
            rest = self.known.get(_key(self.draw.multiply(y, u)))
            if rest is not None:
                return self.draw.subtract(rest, log)
        return None

    def _keep(self, new: Pair) -> None:
        """Add a number, its inverse, and their products with the others and with themselves."""
        draw, (y, log) = self.draw, new
        both = [new, (draw.inverse(y), draw.negate(log))]
        self.known.update((_key(u), of) for u, of in both)
        for u, of in both:
            for v, also in (*self.single, (u, of)):
                self.known.setdefault(_key(draw.multiply(u, v)), draw.add(of, also))
        self.single += both
        self.draw.compared(2 * len(self.single))


def _key(y: Residues) -> bytes:
    """The residues of a number in all copies of the top level."""
    return columns_of(y.reshaped((1,)))[0]
