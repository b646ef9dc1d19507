"""Exponents that have one sign for all inputs, which show the signs of differences of two exponentials.

    exp s - 1 > 0 > exp(-s) - 1    for s > 0

s is a number whose exponential was taken.  docs/soundness.md §8.3 has the proof.
"""

from __future__ import annotations

import math

from uat_jax.numbers.prime_fields.algebra import REMEMBERED
from uat_jax.numbers.prime_fields.facts import Defined
from uat_jax.numbers.prime_fields.number import Exponentials, Number
from uat_jax.numbers.prime_fields.residues import Draw, Residues

MOST = 64
"""Of so many arrays the signs are kept."""


class MetSigns:
    """Of one draw the exponents that are positive, or negative, and defined for all inputs, by their residues."""

    def __init__(self, draw: Draw):
        self.draw = draw
        self._signs: dict[tuple[tuple[int, ...], bytes], int] = {}

    def meet(self, x: Number) -> None:
        """Keep an exponent and its opposite, if it has one sign."""
        sign = _sign(x)
        if sign and len(self._signs) < 2 * MOST:
            opposite = self.draw.negate(x.residues)
            self.draw.compared(2 * math.prod(x.shape))
            self.draw.tested(x.residues)
            self._signs.setdefault(_key(x.residues), sign)
            self._signs.setdefault(_key(opposite), -sign)

    def of_sum(self, x: Exponentials) -> int:
        """1 or -1 for c·e^s - d·e^t if c ≥ d > 0 and s > t, or c ≤ d and s < t; 0 if no such thing is known."""
        if not self._signs or len(x.terms) != 2:
            return 0
        (c, s), (d, t) = x.terms
        if not c * d < 0 or not 0 < math.prod(s.shape) <= REMEMBERED:
            return 0
        difference = self.draw.subtract(s, t)
        self.draw.compared(math.prod(s.shape))
        self.draw.tested(difference)
        larger = self._signs.get(_key(difference), 0)  # the sign of s - t
        if larger > 0 and abs(c) >= abs(d):
            return 1 if c > 0 else -1
        if larger < 0 and abs(d) >= abs(c):
            return 1 if d > 0 else -1
        return 0


def _sign(x: Number) -> int:
    """1 if all entries are positive for all inputs, -1 if all are negative, else 0; not under a condition only."""
    facts = x.facts
    if facts is None or facts.guarded or facts.hollow or facts.defined is not Defined.ALWAYS:
        return 0
    if x.special is not None or x.infinite is not None or x.known is not None:
        return 0
    if not 0 < math.prod(x.shape) <= REMEMBERED:
        return 0
    return 1 if facts.positive.all() else -1 if facts.negative.all() else 0


def _key(x: Residues) -> tuple[tuple[int, ...], bytes]:
    return x.shape, b"".join(level.tobytes() for level in x.levels)
