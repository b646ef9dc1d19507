"""Truth values of a program that is rewritten, and what they are known to be made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jax.core import Tracer

from uat_jax.interpret.concrete import is_array, is_keys


@dataclass(frozen=True, eq=False)
class Known:
    """What truth values are made of: each is an entry of one array of truth values, or says that all of a row hold.

    base: of which array.  entries: of the shape of the truth values, which entry of it, or which row.  rows: from the
    entries of that array to their rows, -1 for those in none; None if single entries are meant.  negated: whether the
    entries have to be false.  not_all: whether the truth value is that this does not hold.
    """

    base: int
    entries: np.ndarray
    rows: np.ndarray | None = None
    negated: bool = False
    not_all: bool = False

    def implies(self, other: Known) -> bool:
        """Whether, at every entry, the other holds where this does."""
        alike = (self.base, self.negated) == (other.base, other.negated)
        return alike and not self.not_all and not other.not_all and self._has(other)

    def excludes(self, other: Known) -> bool:
        """Whether at no entry both hold."""
        if self.not_all != other.not_all:
            one, whole = (self, other) if self.not_all else (other, self)
            return whole.implies(replace(one, not_all=False))
        if self.base != other.base or self.negated == other.negated or self.not_all:
            return False
        return self._has(other) or other._has(self)

    def _has(self, other: Known) -> bool:
        """Whether, at every entry, what the other is made of is among what this is made of."""
        if self.entries.shape != other.entries.shape:
            return False
        if other.rows is None:
            mine = other.entries if self.rows is None else _rows_of_entries(self.rows, other.entries)
            return np.array_equal(self.entries, mine)
        same_rows = self.rows is not None and np.array_equal(self.rows, other.rows)
        return same_rows and np.array_equal(self.entries, other.entries)


def _rows_of_entries(rows: np.ndarray, entries: np.ndarray) -> np.ndarray:
    """The rows of entries; -1 for those in none, as are entries after all that are in one."""
    inside = entries < rows.size
    return np.where(inside, rows[np.where(inside, entries, 0)], -1)


@dataclass(frozen=True, eq=False)
class Truth:
    """An array of truth values, and what they are known to be made of."""

    array: Any
    known: Known | None = None

    @property
    def constant(self) -> np.ndarray | None:
        """The truth values, if they are the same for all inputs."""
        if not is_array(self.array) or isinstance(self.array, Tracer) or is_keys(self.array):
            return None
        return np.asarray(self.array)


def rows_of(x: Truth, axes: Sequence[int], every: bool) -> Known | None:
    """That all truth values of rows along some axes hold; None if rows have some of their entries in common alone."""
    known = x.known
    if known is None:
        return None
    first = known.entries
    for axis in sorted(axes, reverse=True):
        first = np.take(first, [0], axis) if first.shape[axis] else first
    if (known.entries == first).all() and known.entries.size:  # the same truth value
        return replace(known, entries=first.reshape([n for a, n in enumerate(first.shape) if a not in axes]))
    if not every or known.not_all or known.rows is not None:
        return None
    kept = [a for a in range(known.entries.ndim) if a not in axes]
    shape = [known.entries.shape[a] for a in kept]
    rows = known.entries.transpose([*kept, *axes]).reshape(int(np.prod(shape)), -1)
    if not rows.size:
        return None
    different, which = np.unique(np.sort(rows, axis=1), axis=0, return_inverse=True)
    of = np.full(int(rows.max()) + 1, -1)
    for k, row in enumerate(different):
        if (of[row] >= 0).any():
            return None
        of[row] = k
    return replace(known, entries=which.reshape(shape), rows=of)


def holds_in(x: Truth, y: Truth | None) -> bool:
    """Whether the second truth value is seen to hold wherever the first one does."""
    if y is None:
        return False
    if x.constant is not None and y.constant is not None:
        return bool(np.all(~x.constant | y.constant))
    return x.known is not None and y.known is not None and x.known.implies(y.known)
