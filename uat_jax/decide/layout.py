"""Cuts whose arrays are whole arrays on both sides, with axes in any order, or parts of these in another shape."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Var

from uat_jax.decide.cut import Arrays, Cut
from uat_jax.interpret.tracing import dtype_of, shape_of

MOST_AXES = 4
"""The orders of more axes are not tried."""


@dataclass(frozen=True)
class Seat:
    """Where an array of one side stands in an array of letters.

    block: the number of the array of letters, which is laid out as an array of the left side.  axes: the order of axes
    that makes the array of it.  first: else, the first of its entries, laid end to end, that the array is made of.
    """

    block: int
    axes: tuple[int, ...] | None
    first: int = 0

    def of(self, letters: jax.Array, v: Var) -> jax.Array:
        """The array, from the array of letters."""
        size = math.prod(shape_of(v))
        if self.axes is None:
            part = jax.lax.slice(letters.ravel(), (self.first,), (self.first + size,)).reshape(shape_of(v))
        else:
            part = jnp.transpose(letters, self.axes)
        return part.astype(dtype_of(v))


@dataclass(frozen=True)
class Layout:
    """A cut as arrays of letters.

    shapes: those of the arrays of letters.  seats: for both sides, where its arrays stand.
    """

    shapes: tuple[tuple[int, ...], ...]
    seats: tuple[Mapping[Var, Seat], Mapping[Var, Seat]]


def layout_of(cut: Cut) -> Layout | None:
    """The layout of a cut, or None if it has none: if entries of an array stand elsewhere in no order of axes.

    Every array of letters is one of the left side, and with its axes in some order one of the right side.
    """
    blocks = [places for places in cut.sides[0].values() if len(np.unique(places)) == places.size]
    blocks = [b for b in blocks if any(_seats(other, 0, b, whole=True) for other in cut.sides[1].values())]
    found = [_of_side(side, blocks) for side in cut.sides]
    if any(seats is None for seats in found) or len(np.unique(np.concatenate([_NONE, *map(np.ravel, blocks)]))) != sum(
        b.size for b in blocks
    ):
        return None
    return Layout(tuple(b.shape for b in blocks), (found[0] or {}, found[1] or {}))


_NONE = np.zeros(0, int)


def _of_side(arrays: Arrays, blocks: list[np.ndarray]) -> Mapping[Var, Seat] | None:
    """Where the arrays of a side stand; None if one of them stands nowhere."""
    found: dict[Var, Seat] = {}
    for v, places in arrays.items():
        seat = next((s for number, b in enumerate(blocks) for s in _seats(places, number, b)), None)
        if seat is None:
            return None
        found[v] = seat
    return found


def _seats(places: np.ndarray, number: int, block: np.ndarray, *, whole: bool = False) -> list[Seat]:
    """Where an array stands in a block: at most one seat."""
    if whole and places.size != block.size:
        return []
    return list(itertools.islice(_all_seats(places, number, block), 1))


def _all_seats(places: np.ndarray, number: int, block: np.ndarray) -> Iterator[Seat]:
    if places.ndim == block.ndim <= MOST_AXES and places.size == block.size:
        for axes in itertools.permutations(range(block.ndim)):
            if np.array_equal(block.transpose(axes), places):
                yield Seat(number, axes)
    flat = block.ravel()
    starts = np.flatnonzero(flat == places.flat[0]) if places.size else _NONE
    for first in starts.tolist():
        if np.array_equal(flat[first : first + places.size], places.ravel()):
            yield Seat(number, None, first)
