"""Random keys and the words that they are made of, which undo each other: both are known again in one draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from uat_jax.interpret.operation import LARGE
from uat_jax.numbers.prime_fields.algebra import columns_of
from uat_jax.numbers.prime_fields.residues import Draw

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.number import Number

KEY, WORDS = "key", "words"
"""Two functions that undo each other: the key of some words, and the words of a key."""


class MetKeys:
    """Of one draw, which keys were made of which words, and which words of which keys.

    A row is one key, or its words, which lie along the last axis.  Another generator makes another key of them.
    """

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self._made_of: dict[tuple[str, str, bytes], tuple[Number, int]] = {}

    def origins(self, made: str, generator: str, x: Number) -> Sequence[tuple[Number, int]] | None:
        """The arrays, and their rows, of which the function that undoes `made` made x; None if that is not known."""
        if not 0 < math.prod(x.shape) <= LARGE:
            return None
        self.draw.compared(math.prod(x.shape))
        undone = {KEY: WORDS, WORDS: KEY}[made]
        found = [self._made_of.get((undone, generator, row)) for row in _rows(undone, x)]
        return None if None in found else [row for row in found if row is not None]

    def keep(self, made: str, generator: str, x: Number, y: Number) -> None:
        """Remember that `made` makes y of x, row by row."""
        if math.prod(y.shape) <= LARGE:
            self.draw.compared(math.prod(y.shape))
            for place, row in enumerate(_rows(made, y)):
                self._made_of.setdefault((made, generator, row), (x, place))


def _rows(kind: str, x: Number) -> list[bytes]:
    """What tells one row from another, for keys or for words."""
    columns, width = columns_of(x.residues), 1 if kind == KEY else x.shape[-1]
    return [b"".join(columns[i : i + width]) for i in range(0, len(columns), width)]
