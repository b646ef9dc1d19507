"""Sums of logarithms that a program makes a second time in a way that does not show it.

    y = -r·(-log u/r)   →   exp y = u

y is formally the same as log u, which was met before.  docs/soundness.md §8.7 has the proof.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from uat_jax.arithmetic.algebra import REMEMBERED
from uat_jax.arithmetic.facts import Defined
from uat_jax.arithmetic.number import Number
from uat_jax.arithmetic.residues import Draw

MOST = 64
"""So many arrays of logarithms are kept."""

UNDOING = frozenset("cosh exp expm1 logistic sinh tanh".split())
"""Primitives that undo logarithms, and ask for what is known of their operands as such."""

MULTIPLES = frozenset("div mul neg".split())
"""Primitives that make a multiple of logarithms, if their other operand is a constant."""


def asks_again(name: str, operands: Sequence[Number]) -> bool:
    """Whether it matters to a primitive that an operand is a sum of logarithms which was met before."""
    varying = [x for x in operands if x.known is None]
    return name in UNDOING or name in MULTIPLES and len(varying) == 1


class MetLogarithms:
    """Of one draw the numbers that are known as sums of logarithms and defined for all inputs, by their residues."""

    def __init__(self, draw: Draw):
        self.draw = draw
        self.known: dict[tuple[tuple[int, ...], bytes], Number] = {}

    def keep(self, x: Number) -> None:
        """Keep a number that is known as a sum of logarithms."""
        if (x.logged is not None or x.logarithms is not None) and len(self.known) < MOST and _is_met(x):
            self.draw.compared(math.prod(x.shape))
            self.known.setdefault(_key(x), x)

    def again(self, x: Number) -> Number:
        """A number with what is known of the logarithms in one that was met before and has the same formal value."""
        if x.logged is not None or x.logarithms is not None or not self.known or not _is_met(x):
            return x
        self.draw.compared(math.prod(x.shape))
        first = self.known.get(_key(x))
        return x if first is None else x.but(logged=first.logged, logarithms=first.logarithms)


def _is_met(x: Number) -> bool:
    """Whether a number is a real one for all inputs, and not under a condition only."""
    facts = x.facts
    if x.special is not None or x.infinite is not None or x.known is not None or facts is None:
        return False
    solid = not facts.guarded and not facts.hollow and facts.defined is Defined.ALWAYS
    return solid and 0 < math.prod(x.shape) <= REMEMBERED


def _key(x: Number) -> tuple[tuple[int, ...], bytes]:
    return x.shape, b"".join(level.tobytes() for level in x.residues.levels)
