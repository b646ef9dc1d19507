"""Sums of logarithms that a program makes a second time in a way that does not show it.

    y = -r·(-log u/r)   →   exp y = u

y is formally the same as log u, which was met before.  docs/soundness.md §8.7 has the proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from uat_jax.numbers.prime_fields.algebra import REMEMBERED
from uat_jax.numbers.prime_fields.facts import Defined
from uat_jax.numbers.prime_fields.number import Number, Powers
from uat_jax.numbers.prime_fields.residues import Draw

MOST = 64
"""So many arrays of logarithms are kept."""

UNDOING = frozenset("cosh exp expm1 logistic sinh tanh".split())
"""Primitives that undo logarithms, and ask for what is known of their operands as such."""

MULTIPLES = frozenset("div mul neg".split())
"""Primitives that make a multiple of logarithms, if their other operand is a constant."""


MOST_PARTS = 8
"""Entries of more arrays than this are not put together."""

Gathered = Callable[[Sequence[Number], np.ndarray], Number]
"""Entries of numbers, flattened and laid end to end, in new places."""


def asks_again(name: str, operands: Sequence[Number]) -> bool:
    """Whether it matters to a primitive that an operand is a sum of logarithms which was met before."""
    varying = [x for x in operands if x.known is None]
    return name in UNDOING or name in MULTIPLES and len(varying) == 1


class MetLogarithms:
    """Of one draw the numbers that are known as sums of logarithms and defined for all inputs, by their residues.

    known: by the residues of an array.  entries: by those of an entry, the array in which it stands, and its place.
    """

    def __init__(self, draw: Draw):
        self.draw = draw
        self.known: dict[tuple[tuple[int, ...], bytes], Number] = {}
        self.entries: dict[tuple[bytes, ...], tuple[Number, int]] = {}

    def keep(self, x: Number) -> None:
        """Keep a number that is known as a sum of logarithms."""
        if (x.logged is not None or x.logarithms is not None) and len(self.known) < MOST and _is_met(x):
            self.draw.compared(2 * math.prod(x.shape))
            self.known.setdefault(_key(x), x)
            for place, entry in enumerate(_entries(x)):
                self.entries.setdefault(entry, (x, place))

    def again(self, x: Number, gathered: Gathered) -> Number:
        """A number with what is known of the logarithms in one that was met before and has the same formal value."""
        if x.logged is not None or x.logarithms is not None or not self.known or not _is_met(x):
            return x
        self.draw.compared(2 * math.prod(x.shape))
        first = self.known.get(_key(x))
        return (
            self._by_entries(x, gathered) if first is None else x.but(logged=first.logged, logarithms=first.logarithms)
        )

    def _by_entries(self, x: Number, gathered: Gathered) -> Number:
        """A number with what is known of the logarithms of its entries, if these are sums of the same shape."""
        found = [self.entries.get(entry) for entry in _entries(x)]
        met = [f for f in found if f is not None]
        made_of = list({id(z): z for z, _ in met}.values())
        if not met or len(met) < len(found) or len(made_of) > MOST_PARTS:
            return x
        starts = dict(zip(map(id, made_of), np.cumsum([0, *(math.prod(z.shape) for z in made_of)]), strict=False))
        source = np.array([starts[id(z)] + place for z, place in met]).reshape(x.shape)
        taken = lambda numbers: gathered(numbers, source)
        products = [z.logarithms for z in made_of if z.logarithms is not None]
        shapes = {(p.exponent is None, *(q for _, q in p.powers)) for p in products}
        if len(products) < len(made_of) or len(shapes) > 1:
            return x
        exponents = [p.exponent for p in products if p.exponent is not None]
        powers = zip(*(p.powers for p in products), strict=True)
        rejoined = tuple((taken([u for u, _ in same]), same[0][1]) for same in powers)
        return x.but(logarithms=Powers(taken(exponents) if exponents else None, rejoined))


def _is_met(x: Number) -> bool:
    """Whether a number is a real one for all inputs, and not under a condition only."""
    facts = x.facts
    if x.special is not None or x.infinite is not None or x.known is not None or facts is None:
        return False
    solid = not facts.guarded and not facts.hollow and facts.defined is Defined.ALWAYS
    return solid and 0 < math.prod(x.shape) <= REMEMBERED


def _key(x: Number) -> tuple[tuple[int, ...], bytes]:
    return x.shape, b"".join(level.tobytes() for level in x.residues.levels)


def _entries(x: Number) -> list[tuple[bytes, ...]]:
    """A key for each entry: its residues on every level."""
    rows = [np.ascontiguousarray(level.reshape(len(level), -1).T) for level in x.residues.levels]
    return [tuple(row.tobytes() for row in entry) for entry in zip(*rows, strict=True)]
