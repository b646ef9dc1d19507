"""The integers that an input of integers or booleans ranges over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike

from uat_jax.errors import DomainError

SHORT_WHOLE = {
    **{f"i{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"u{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    "bool": "bool",
}
"""The dtypes of integer variables, by the short name that `parse` reads."""

WHOLE = frozenset(SHORT_WHOLE.values())
"""The dtypes of integer variables.  Of fewer bits than 8, devices disagree: one counts five set bits in the int4 -8."""


def ends(dtype: Any) -> tuple[int, int]:
    """The least and the largest number of a dtype of integers; 0 and 1 of booleans."""
    if jnp.dtype(dtype) == np.bool_:
        return 0, 1
    return int(jnp.iinfo(dtype).min), int(jnp.iinfo(dtype).max)


def held(values: Any, dtype: DTypeLike) -> np.ndarray:
    """Whole numbers as an array of a dtype, exact at every width."""
    dtype = jnp.dtype(dtype)
    if dtype == np.bool_:
        return np.asarray(values).astype(bool)
    wide = np.uint64 if ends(dtype)[0] == 0 else np.int64
    return np.asarray(values).astype(wide).astype(dtype)


def numbers(array: Any) -> Any:
    """An array of integers or booleans as nested lists of Python's whole numbers."""
    array = np.asarray(array)
    return array.astype(np.uint64 if array.dtype == np.uint64 else np.int64).tolist()


@dataclass(frozen=True)
class Integers:
    """All integers from `low` to `high`, both included; of booleans 0 is False and 1 is True.

    read_off: whether no user gave them, and they are the rows of the array that the input chooses from.

    Raises:
        DomainError: an end that is no integer, or no integer in between.
    """

    low: int
    high: int
    read_off: bool = False

    def __post_init__(self) -> None:
        for end in (self.low, self.high):
            if isinstance(end, bool) or not isinstance(end, int | np.integer):
                raise DomainError(f"got {end!r} for an end of a range of integers; wanted a whole number")
        object.__setattr__(self, "low", int(self.low))
        object.__setattr__(self, "high", int(self.high))
        if self.low > self.high:
            raise DomainError(f"no integer satisfies {self.written()}; give a range whose lower end is not larger")

    @property
    def text(self) -> str:
        """As it stands behind a type."""
        return f" in [{self.low}, {self.high}]"

    def written(self, name: str = "x") -> str:
        """The hypothesis about an input of this name."""
        return f"{self.low} <= {name} <= {self.high}"

    @property
    def count(self) -> int:
        """How many there are."""
        return self.high - self.low + 1

    def __and__(self, other: Integers) -> Integers:
        """The integers in both.  Raises `DomainError` if the two contradict each other."""
        low, high = max(self.low, other.low), min(self.high, other.high)
        if low > high:
            raise DomainError(f"no integer satisfies {self.written()} and {other.written()}; drop one of the two")
        return Integers(low, high)

    def check(self, dtype: Any) -> None:
        """Raises `DomainError` unless a dtype holds all of them."""
        low, high = ends(dtype)
        if self.low < low or self.high > high:
            wanted = f"{jnp.dtype(dtype)} holds {low} to {high}: choose ends within"
            raise DomainError(f"got {self.written()} for an input of {jnp.dtype(dtype)}; {wanted}")

    def contains(self, points: np.ndarray) -> np.ndarray:
        """Which of the points (copies, *shape) have all their entries in the range."""
        inside = [self.low <= x <= self.high for x in np.asarray(points).astype(object).ravel()]
        return np.asarray(np.asarray(inside, bool).reshape(points.shape).all(axis=tuple(range(1, points.ndim))))

    def simplest(self) -> int:
        """The integer in it that is next to 0."""
        return min(max(0, self.low), self.high)

    def simpler(self, number: int) -> Iterator[int]:
        """Integers of the range that are simpler than a number, the simplest first."""
        near, tried = self.simplest(), set()
        halves = (number - (number - near) // 2**k for k in range(1, 65))
        for x in (near, near + 1, near - 1, near + 2, near - 2, -number, *halves):
            if self.low <= x <= self.high and _size(x, near) < _size(number, near) and x not in tried:
                tried.add(x)
                yield x

    def draw(self, random: np.random.Generator, count: int, shape: tuple[int, ...], dtype: DTypeLike) -> np.ndarray:
        """So many arrays: in turn of small integers, of the ends and what is beside powers of 2, of any, and of all."""
        near = self.simplest()
        small = [x for x in range(near - 4, near + 5) if self.low <= x <= self.high]
        marks = [s * 2**k + d for k in range(65) for s in (1, -1) for d in (-1, 0, 1)]
        marks += [self.low, self.low + 1, self.high - 1, self.high, near]
        marks = [x for x in dict.fromkeys(marks) if self.low <= x <= self.high]
        one = lambda kinds: (
            lambda kind: (
                kind[random.integers(len(kind))] if kind else self.low + int.from_bytes(random.bytes(16)) % self.count
            )
        )(kinds[random.integers(len(kinds))])
        turns = [[small], [marks], [None], [small, marks, None]]
        entries = int(np.prod(shape))
        rows = [[one(turns[i % 4]) for _ in range(entries)] for i in range(count)]
        return held(np.asarray(rows, object).reshape((count, *shape)), dtype)


def _size(x: int, near: int) -> tuple[int, bool]:
    """What is simpler has a smaller one: the distance from the number next to 0, and positive before negative."""
    return abs(x - near), x < 0


def all_of(dtype: Any) -> Integers:
    """All values of a dtype."""
    return Integers(*ends(dtype))
