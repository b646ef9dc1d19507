"""Arrays of whole numbers of which some are unknown: each entry is x_i - x_j + c of numbers x that are letters.

x_0 is 0, so that i = j = 0 in a number that is known.  docs/soundness.md §20 says what is concluded from them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jax.typing import DTypeLike

from uat_jax.decide.integers import ends, held
from uat_jax.decide.lookups.differences import ZERO, Differences
from uat_jax.errors import UnsupportedError

MOST = 2**60
"""Larger numbers beside a letter are not followed, so that sums of two of them fit into 64 bits."""


class Undecided(Exception):
    """A comparison that the hypotheses do not decide: whether x_i - x_j is c, or at most c."""

    def __init__(self, equal: bool, i: int, j: int, c: int) -> None:
        super().__init__()
        self.equal, self.i, self.j, self.c = equal, i, j, c

    def cases(self, known: Differences) -> list[Differences]:
        """The hypotheses of both answers, those that contradict what is known left out."""
        i, j, c = self.i, self.j, self.c
        yes = known.with_equal(i, j, c) if self.equal else known.with_most(i, j, c)
        no = known.with_unequal(i, j, c) if self.equal else known.with_most(j, i, -c - 1)
        return [case for case in (yes, no) if case is not None]


@dataclass(frozen=True)
class Letters:
    """An array of whole numbers x_plus - x_minus + offset of a dtype.

    loose: which entries were computed of a letter, whatever is known of it.  defined: which are such numbers; what is
    done with the others has to be seen to do without them.
    """

    plus: np.ndarray
    minus: np.ndarray
    offset: np.ndarray
    loose: np.ndarray
    defined: np.ndarray
    dtype: DTypeLike

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array of numbers."""
        return self.plus.shape

    @property
    def fields(self) -> tuple[np.ndarray, ...]:
        """The arrays of which an entry makes an entry of this one."""
        return self.plus, self.minus, self.offset, self.loose, self.defined

    def moved(self, move: Callable[[np.ndarray], Any]) -> Letters:
        """Entries at other places."""
        return of_fields([np.asarray(move(x)) for x in self.fields], self.dtype)

    @property
    def fixed(self) -> tuple[Any, ...]:
        """What has to be the same in all cases."""
        return "numbers", self.shape, str(self.dtype)

    def keys(self) -> list[tuple[int, int, int]]:
        """(plus, minus, offset) of each entry."""
        return list(zip(*(x.ravel().tolist() for x in (self.plus, self.minus, self.offset)), strict=True))

    def numbers(self) -> np.ndarray | None:
        """The array, if every entry is known."""
        if self.plus.any() or self.minus.any() or not self.defined.all():
            return None
        return held(self.offset, self.dtype)

    def simplified(self, known: Differences) -> Letters:
        """With the first letter in the place of each that has a known difference from it; what wraps is undefined."""
        first, shift = known.known
        plus, minus = first[self.plus], first[self.minus]
        offset = self.offset + shift[self.plus] - shift[self.minus]
        same = plus == minus
        plus, minus = np.where(same, ZERO, plus), np.where(same, ZERO, minus)
        low, high = ends(self.dtype)
        fits = (offset - known.most[minus, plus] >= low) & (known.most[plus, minus] + offset <= high)
        fits &= np.abs(offset) < MOST
        return replace(self, plus=plus, minus=minus, offset=offset, defined=self.defined & fits)


def of_fields(fields: Sequence[np.ndarray], dtype: DTypeLike) -> Letters:
    """An array of a dtype with these fields."""
    plus, minus, offset, loose, defined = fields
    return Letters(plus, minus, offset, loose, defined, dtype)


def known_letters(array: Any, dtype: Any = None) -> Letters:
    """An array of known numbers."""
    array = np.asarray(array)
    none = np.zeros(array.shape, np.int64)
    within = np.abs(array.astype(object)) < 2**41 if array.dtype.itemsize == 8 else np.ones(array.shape, bool)
    within = np.asarray(within, bool)
    offset = np.where(within, array, 0).astype(np.int64)
    return Letters(none, none, offset, np.zeros(array.shape, bool), within, dtype or array.dtype)


def new_letters(first: int, shape: tuple[int, ...], dtype: DTypeLike) -> Letters:
    """Letters with numbers from `first` on."""
    plus = np.arange(first, first + int(np.prod(shape)), dtype=np.int64).reshape(shape)
    none = np.zeros(shape, np.int64)
    return Letters(plus, none, none, np.ones(shape, bool), np.ones(shape, bool), dtype)


def added(a: Letters, b: Letters) -> Letters:
    """a + b; undefined where more than one letter with the same sign stays."""
    plus_a, minus_a, plus_b, minus_b = np.broadcast_arrays(a.plus, a.minus, b.plus, b.minus)
    cancels = plus_a == minus_b
    plus_a, minus_b = np.where(cancels, ZERO, plus_a), np.where(cancels, ZERO, minus_b)
    cancels = plus_b == minus_a
    plus_b, minus_a = np.where(cancels, ZERO, plus_b), np.where(cancels, ZERO, minus_a)
    one = ((plus_a == ZERO) | (plus_b == ZERO)) & ((minus_a == ZERO) | (minus_b == ZERO))
    plus, minus = np.where(one, plus_a + plus_b, ZERO), np.where(one, minus_a + minus_b, ZERO)
    return Letters(plus, minus, a.offset + b.offset, a.loose | b.loose, a.defined & b.defined & one, a.dtype)


def negated(a: Letters) -> Letters:
    """-a."""
    return replace(a, plus=a.minus, minus=a.plus, offset=-a.offset)


def scaled(a: Letters, by: np.ndarray) -> Letters:
    """a times known numbers: 0, 1 and -1, or any where a is known; else undefined."""
    by = np.asarray(by)
    sign = np.where(np.isin(by, (-1, 0, 1)), by, 0).astype(np.int64)
    wide = np.clip(by.astype(np.int64), -(2**20), 2**20)
    both = np.broadcast_to(a.plus, np.broadcast_shapes(a.shape, by.shape))
    constant = (a.plus == ZERO) & (a.minus == ZERO)
    small = (np.abs(a.offset) <= 2**20) & (wide == by)
    plus = np.where(sign == 1, a.plus, np.where(sign == -1, a.minus, ZERO)) + 0 * both
    minus = np.where(sign == 1, a.minus, np.where(sign == -1, a.plus, ZERO)) + 0 * both
    defined = a.defined & (np.isin(by, (-1, 0, 1)) | (constant & small))
    offset = np.where(np.isin(by, (-1, 0, 1)), a.offset * sign, np.where(constant & small, a.offset * wide, 0))
    return Letters(
        plus, minus, offset, np.broadcast_to(a.loose, both.shape), np.broadcast_to(defined, both.shape), a.dtype
    )


def selected(which: np.ndarray, cases: list[Letters]) -> Letters:
    """The entry of the case with the number that stands in `which`; loose where one of them is."""
    which = np.asarray(which).astype(np.int64)
    shape = np.broadcast_shapes(which.shape, *(case.shape for case in cases))
    which = np.broadcast_to(which, shape)
    fields = zip(*(c.fields for c in cases), strict=True)
    chosen = [np.choose(which, [np.broadcast_to(x, shape) for x in field], mode="clip") for field in fields]
    loose = np.logical_or.reduce([np.broadcast_to(c.loose, shape) for c in cases])
    return Letters(chosen[0], chosen[1], chosen[2], loose, chosen[4].astype(bool), cases[0].dtype)


def combined(name: str, operands: Sequence[np.ndarray | Letters]) -> Letters | None:
    """What an addition, a negation, a product by known numbers or a known choice makes of letters; None of others."""
    letters = [x if isinstance(x, Letters) else known_letters(x) for x in operands]
    if name == "add":
        return added(*letters)
    if name == "sub":
        return added(letters[0], negated(letters[1]))
    if name == "neg":
        return negated(letters[0])
    if name == "mul" and not all(isinstance(x, Letters) for x in operands):
        letter, by = operands if isinstance(operands[0], Letters) else operands[::-1]
        return scaled(letter, by)  # type: ignore[arg-type]
    if name == "select_n" and not isinstance(operands[0], Letters):
        return selected(operands[0], letters[1:])
    return None


def changes(array: np.ndarray, axis: int) -> bool:
    """Whether entries along an axis differ."""
    return bool((array != np.take(array, [0], axis=axis)).any()) if array.size else False


def signs(difference: Letters, known: Differences) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest value of each entry.

    Raises:
        UnsupportedError: an entry is none that can be followed.
    """
    if not difference.defined.all():
        raise UnsupportedError("integers are compared that are computed of several inputs, or may wrap around")
    low = difference.offset - known.most[difference.minus, difference.plus]
    return low, difference.offset + known.most[difference.plus, difference.minus]


MOST_OPEN = 4096
"""Comparisons of which more entries are open are not followed."""


def _few(places: np.ndarray) -> np.ndarray:
    if len(places) > MOST_OPEN:
        raise UnsupportedError(f"{len(places)} comparisons of integers are open")
    return places


def is_zero(difference: Letters, known: Differences) -> np.ndarray:
    """Which entries are 0.  Raises `Undecided` if that is not known of one."""
    low, high = signs(difference, known)
    zero = (low == 0) & (high == 0)
    for place in _few(np.argwhere(~zero & (low <= 0) & (high >= 0))):
        i, j, c = (int(x[tuple(place)]) for x in (difference.plus, difference.minus, -difference.offset))
        if not known.excluded(i, j, c):
            raise Undecided(True, i, j, c)
    return zero


def is_negative(difference: Letters, known: Differences) -> np.ndarray:
    """Which entries are below 0.  Raises `Undecided` if that is not known of one."""
    low, high = signs(difference, known)
    for place in _few(np.argwhere((low < 0) & (high >= 0))):
        i, j, c = (int(x[tuple(place)]) for x in (difference.plus, difference.minus, -difference.offset - 1))
        raise Undecided(False, i, j, c)
    return high < 0
