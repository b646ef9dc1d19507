"""A pair of loops whose carries and rows are related: letters stand for what both give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from uat_jax.decide.loops.relation import ByArrays, Relation, World
from uat_jax.decide.loops.view import View
from uat_jax.decide.loops.walk import Value

Type = jax.ShapeDtypeStruct

NOWHERE = World(np.float32(0), (), ())
"""What rows know: nothing."""

NOTHING = ByArrays((), (), {})
"""The relation of no arrays."""


@dataclass(frozen=True)
class Passed:
    """A pair of loops with a relation of their carries, and one of the rows that they give."""

    views: tuple[View, View]
    carry: Relation
    rows: Relation

    @property
    def letters_of_a_step(self) -> list[Type]:
        """The letters of the carry, and of the rows that one step gives."""
        return [*self.carry.letter_types, *self.rows.letter_types]

    def weaker(self, output: int | None) -> Passed | None:
        """Without the array that was found not to be related: it is a letter of its own; None if there is none."""
        if output is None or not isinstance(self.carry, ByArrays) or not isinstance(self.rows, ByArrays):
            return None
        count = len(self.carry.bound)
        if output < count:
            return replace(self, carry=self.carry.without(self.carry.bound[output]))
        if output < count + len(self.rows.bound):
            return replace(self, rows=self.rows.without(self.rows.bound[output - count]))
        return None

    # After both loops

    @property
    def length(self) -> Any:
        """How many steps they have; None where floats decide it."""
        return self.views[0].length

    @property
    def letters(self) -> list[Type]:
        """The letters that stand for what both give; where floats end the loops, the number of steps is one."""
        if self.length is None:
            return [*self.carry.letter_types, Type((), np.float32)]
        return [*self.carry.letter_types, *(Type((self.length, *t.shape), t.dtype) for t in self.rows.letter_types)]

    def time(self, letters: Sequence[Value]) -> Value:
        """The number of steps that were made, as a float."""
        if self.length is None:
            return letters[-1]
        return np.float32(self.length) if isinstance(self.length, int) else jnp.asarray(self.length, np.float32)

    def carries(self, letters: Sequence[Value], world: World) -> list[Value]:
        """The carries of both loops after the last step, made of the letters."""
        return self.carry.spread(letters[: len(self.carry.letter_types)], world)

    def given(self, letters: Sequence[Value]) -> list[Value]:
        """The rows that both loops give, made of the letters."""
        if not self.rows.types:
            return []
        rows = letters[len(self.carry.letter_types) :]
        if rows:
            return list(jax.vmap(lambda *each: self.rows.spread(each, NOWHERE))(*rows))
        return [lax.broadcast(row, (self.length,)) for row in self.rows.spread((), NOWHERE)]
