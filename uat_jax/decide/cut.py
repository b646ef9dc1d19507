"""Places where two programs are cut: arrays of both whose entries are the same numbers, under one set of letters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jax.extend.core import Var

Arrays = Mapping[Var, np.ndarray]
"""For each of some arrays of a program, which letter every entry is."""


@dataclass(frozen=True, eq=False)
class Cut:
    """How many letters a cut has, and the arrays of both programs whose entries are these letters.

    A letter that occurs on one side only stands for numbers that the other side does not have.
    """

    letters: int
    sides: tuple[Arrays, Arrays]

    def like(self, other: Cut) -> bool:
        """Whether both have the same letters at the same places of as many arrays."""
        pairs = [(list(a.values()), list(b.values())) for a, b in zip(self.sides, other.sides, strict=True)]
        return all(len(a) == len(b) and all(map(np.array_equal, a, b)) for a, b in pairs)

    @cached_property
    def compared(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Which entries of the arrays of either side, laid end to end, must be equal for the letters to be the same.

        Every entry is compared with the first of its letter on the other side.
        """
        left, right = (_ravelled(side.values()) for side in self.sides)
        here, there = (np.isin(a, b) for a, b in ((left, right), (right, left)))
        orders = [
            (np.flatnonzero(here), _first(right)[left[here]]),
            (_first(left)[right[there]], np.flatnonzero(there)),
        ]
        if np.array_equal(left[here], right[there]):
            del orders[1]  # the same pairs again
        return [a for a, _ in orders], [b for _, b in orders]


def _ravelled(arrays: Iterable[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros(0, int), *(a.ravel() for a in arrays)])


def _first(letters: np.ndarray) -> np.ndarray:
    """Where each letter stands first."""
    found, first = np.unique(letters, return_index=True)
    places = np.full(int(found.max(initial=-1)) + 1, -1)
    places[found] = first
    return places


START = Cut(0, ({}, {}))
"""No cut: both programs begin with their inputs."""


def matched(left: Mapping[Var, np.ndarray], right: Mapping[Var, np.ndarray]) -> Cut:
    """The cut at arrays with these fingerprints of their entries, uint64.

    Entries share a letter if it occurs on both sides, where every one of them is compared; of one side each has its
    own, since nothing shows that two of them are the same.  Letters are numbered as they occur, in the arrays of the
    left side first, so that the same cut of another layer has the same numbers.
    """
    keys = [np.concatenate([np.zeros(0, np.uint64), *(a.ravel() for a in side.values())]) for side in (left, right)]
    together, count = np.concatenate(keys), keys[0].size
    _, first, inverse = np.unique(together, return_index=True, return_inverse=True)
    alone = ~np.isin(together, np.intersect1d(keys[0], keys[1]))
    standing = np.where(alone, np.arange(together.size), first[inverse])
    found, numbers = np.unique(standing, return_inverse=True)
    return Cut(len(found), (_split(numbers[:count], left), _split(numbers[count:], right)))


def _split(numbers: np.ndarray, arrays: Mapping[Var, np.ndarray]) -> Arrays:
    ends = np.cumsum([a.size for a in arrays.values()])[:-1]
    parts = np.split(numbers, ends) if arrays else []
    return {v: part.reshape(a.shape) for (v, a), part in zip(arrays.items(), parts, strict=True)}
