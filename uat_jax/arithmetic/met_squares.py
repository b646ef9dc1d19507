"""Roots of squares that a program does not write as squares: √y = |u| where y = u² for a number u met before.

The last pivot of L Lᵀ is (b² + c²) - (ab)²/a², and no factor of c² is seen in it; nor one of u² in (q u²)/q.
"""

from __future__ import annotations

import numpy as np

from uat_jax.arithmetic.algebra import columns_of
from uat_jax.arithmetic.facts import Defined
from uat_jax.arithmetic.number import Number
from uat_jax.arithmetic.residues import Draw, Residues

MOST, MOST_ENTRIES = 64, 12
"""Of so many numbers the squares are kept, and of larger arrays none."""


class MetSquares:
    """Of one draw numbers that are defined for all inputs, by the residues of their squares.

    Of positive ones every entry is kept for itself, of others that a program squares the whole array.
    """

    def __init__(self, draw: Draw):
        self.draw = draw
        self.roots: dict[bytes, Residues] = {}
        self.squared: dict[tuple[tuple[int, ...], bytes], Number] = {}
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
