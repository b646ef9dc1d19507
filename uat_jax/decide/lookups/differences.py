"""What is known of whole numbers x_1, …, x_n and x_0 = 0: bounds of their differences, and excluded ones.

    x_i - x_j <= c        x_i - x_j != c

Bounds of differences are decided exactly: the shortest paths from j to i are the least bounds that follow (Bellman).
Differences that are excluded tighten a bound that they meet, and are used where two numbers have known differences from
the two that they are about; what else follows from them is not looked for, so some cases may stay that no number fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

ZERO = 0
"""The number that is 0."""

LARGEST = 2**40
"""Numbers beyond this are not looked at, so that sums of bounds fit into 64 bits."""

Unequal = tuple[int, int, int]
"""(i, j, c): x_i - x_j is not c."""


@dataclass(frozen=True, eq=False)
class Differences:
    """A set of such hypotheses that no contradiction was found in.

    most: (n + 1, n + 1), the least bound of x_i - x_j.  unequal: the differences that are excluded.
    """

    most: np.ndarray
    unequal: frozenset[Unequal] = frozenset()

    def with_most(self, i: int, j: int, c: int) -> Differences | None:
        """With the hypothesis x_i - x_j <= c; None if it contradicts the others."""
        if self.most[i, j] <= c:
            return self
        if self.most[j, i] + c < 0:
            return None
        through = self.most[:, i, None] + c + self.most[None, j, :]
        return Differences(np.minimum(self.most, through), self.unequal)._tightened()

    def with_equal(self, i: int, j: int, c: int) -> Differences | None:
        """With the hypothesis x_i - x_j = c; None if it contradicts the others."""
        above = self.with_most(i, j, c)
        return None if above is None else above.with_most(j, i, -c)

    def with_unequal(self, i: int, j: int, c: int) -> Differences | None:
        """With the hypothesis x_i - x_j ≠ c; None if it contradicts the others."""
        return Differences(self.most, self.unequal | {(i, j, c)})._tightened()

    def _tightened(self) -> Differences | None:
        """With bounds that are themselves excluded made smaller, until none is."""
        for i, j, c in self.unequal:
            if self.most[i, j] == c and self.most[j, i] == -c:
                return None
            if self.most[i, j] == c:
                return self.with_most(i, j, c - 1)
            if self.most[j, i] == -c:
                return self.with_most(j, i, -c - 1)
        return self

    @cached_property
    def known(self) -> tuple[np.ndarray, np.ndarray]:
        """(first, shift): x_i is x_first[i] + shift[i], for the first number from which it has a known difference."""
        first = np.argmax(self.most == -self.most.T, axis=1)
        return first, self.most[np.arange(len(first)), first]

    def excluded(self, i: int, j: int, c: int) -> bool:
        """Whether it is known that x_i - x_j is not c."""
        if self.most[i, j] < c or self.most[j, i] < -c:
            return True
        first, shift = self.known
        pair, c = (first[i], first[j]), c - shift[i] + shift[j]
        for a, b, d in self.unequal:
            there, d = (first[a], first[b]), d - shift[a] + shift[b]
            if pair == there and c == d or pair == there[::-1] and c == -d:
                return True
        return False

    def numbers(self, random: np.random.Generator | None = None, *, alike: bool = False) -> list[int] | None:
        """Numbers x_1, …, x_n that fit: different small ones where they may be, or any, or equal ones.

        None if none are found.
        """
        found: Differences | None = self
        taken: set[int] = set()
        for i in range(1, len(self.most)):
            low, high = int(-found.most[ZERO, i]), int(found.most[i, ZERO])
            near = [*range(low, min(high, low + 2 * len(self.most)) + 1), high]
            tried = sorted(near, key=lambda x: ((x in taken) != alike, near.index(x)))
            if random is not None:
                tried = [int(random.integers(low, high, endpoint=True)), *tried]
            after = (found.with_equal(i, ZERO, x) for x in tried)
            found = next((state for state in after if state is not None), None)
            if found is None:
                return None
            taken.add(int(found.most[i, ZERO]))
        return [int(x) for x in found.most[1:, ZERO]]


def between(ends: Sequence[tuple[int, int]]) -> Differences:
    """That numbers x_1, …, x_n lie between ends, both included."""
    low, high = (np.array([0, *(pair[k] for pair in ends)], np.int64) for k in (0, 1))
    most = high[:, None] - low[None, :]
    np.fill_diagonal(most, 0)
    return Differences(most)
