"""Signs, absolute values, maxima and sorted rows of numbers of the prime fields."""

from __future__ import annotations

import functools
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from uat_jax.interpret.operation import LARGE
from uat_jax.numbers.prime_fields import affine
from uat_jax.numbers.prime_fields.algebra import Algebra, undefined_codes
from uat_jax.numbers.prime_fields.degree import Degree
from uat_jax.numbers.prime_fields.number import (
    FINITE,
    MINUS_INFINITY,
    Letter,
    Number,
    combined_special,
    from_quadratic,
    rational,
)
from uat_jax.numbers.prime_fields.random_function import key, state
from uat_jax.numbers.prime_fields.residues import Draw, Residues, vanishes


class Piecewise(Algebra):
    """Functions that are put together of several pieces, each the most general one with its symmetries."""

    def odd(self, name: str, x: Residues) -> Residues:
        """h(x) - h(-x)."""
        h = functools.partial(self.draw.opaque, name)
        return self.draw.subtract(h(x), h(self.draw.negate(x)))

    def even(self, name: str, x: Residues) -> Residues:
        """h(x) + h(-x)."""
        h = functools.partial(self.draw.opaque, name)
        return self.draw.add(h(x), h(self.draw.negate(x)))

    def sign(self, x: Number) -> Number:
        """The sign of x: [x > 0] - [-x > 0], which is 0 at 0, and that of x/s for the positive scale s."""
        special = combined_special((x.special,), x.shape, undefined_codes)
        return self.subtract(self.step(x), self.step(self.negate(x))).but(special=special)

    def step(self, x: Number) -> Number:
        """1 where x > 0, else 0: (1 + ε)/2 for a letter ε of square 1 that belongs to x/s for the positive scale s."""
        zero = vanishes(x.residues)
        if zero.all():
            return self.constant(0, x.shape)
        found = self.choice(self.draw.opaque("step", self.direction(x, everywhere=True)))
        return Number(self.draw.where(zero, self.draw.fraction(0), found.residues)) if zero.any() else found

    def equality(self, x: Number) -> Number:
        """1 where x = 0, else 0: the letter is an even function of x/s for the positive scale s."""
        zero = vanishes(x.residues)
        found = self.choice(self.even("equal", self.direction(x, everywhere=True)))
        return Number(self.draw.where(zero, self.draw.fraction(1), found.residues)) if zero.any() else found

    def choice(self, value: Residues) -> Number:
        """(1 + ε)/2 for the letter ε of this value and of square 1: an unknown number that is 0 or 1."""
        half = self.draw.fraction(Fraction(1, 2), value.shape)
        return from_quadratic(self.draw, half, half, Letter(value, value, None, False)).but(nonnegative=True)

    def almost_sign(self, x: Number) -> Number:
        """An odd letter ε with ε² = 1: the sign of x where x is not 0, and anything where it is."""
        special = combined_special((x.special,), x.shape, undefined_codes)
        return self._sign(x).but(special=special)

    def almost_step(self, x: Number) -> Number:
        """(1 + ε)/2 with that letter: 1 where x > 0, 0 where x < 0, and anything where x is 0."""
        half = self.constant(Fraction(1, 2), x.shape)
        return self.multiply(half, self.add(self.constant(1, x.shape), self._sign(x))).but(nonnegative=True)

    def direction(self, x: Number, *, everywhere: bool = False) -> Residues:
        """x without positive factors that are known; `everywhere`: nor factors that can be 0."""
        if x.direction is not None and "signs of multiples" in self.laws:
            return self.direction(x.direction, everywhere=everywhere)
        base, q = x.residues, x.quadratic
        strip = "square of a root" in self.laws and not everywhere
        if strip and q is not None and q.constant is None and q.letter.nonnegative:
            base = q.coefficient
        return self.draw.scale(base, 1 / self.canonical_scale(base, x.scale))

    def _sign(self, x: Number) -> Number:
        """An odd letter ε with ε² = 1; only x·ε may be used where x can vanish."""
        value = self.odd("sign", self.direction(x)).counted()  # |x| is the atom where it becomes an exponent
        flip = value.levels[0][0] > self.draw.levels[0].field.prime // 2
        turned = lambda element: self.draw.where(flip, self.draw.negate(element), element)
        one = turned(self.draw.fraction(1, x.shape))
        return from_quadratic(self.draw, None, one, Letter(turned(value), turned(value), None, False))

    def absolute(self, x: Number) -> Number:
        """|x| = x·ε(x)."""
        if x.nonnegative:
            return x
        value = rational(self.draw, x)
        if value is not None:
            return self.constant(abs(value), x.shape)
        sign = self._sign(x)
        alike = x.quadratic is not None and sign.quadratic is not None and x.quadratic.letter.is_(sign.quadratic.letter)
        magnitude = self.multiply(Number(x.residues, quadratic=x.quadratic if alike else None), sign)
        if x.quadratic is None and x.residues.degree.affine is not None:
            scale = self.canonical_scale(x.residues, x.scale)
            magnitude = magnitude.but(residues=self.draw.magnitude(magnitude.residues, scale))
        known = None
        if "largest of magnitudes" in self.laws and x.special is None:
            known = self.draw.stack([x.residues, self.draw.negate(x.residues)]), None
        return magnitude.but(nonnegative=True, scale=x.scale, special=_magnitudes(x.special), largest_of=known)

    def maximum(self, x: Number, y: Number) -> Number:
        """max(x, y)."""
        x, y = self.aligned(x, y)
        for a, b in ((x, y), (y, x)):
            if a.special is not None and np.all(a.special == MINUS_INFINITY):
                return b
            if b.nonnegative and a.special is None and vanishes(a.residues).all():
                return b
        united = self._united(x, y)
        if united[0].shape[0] == 2 and united[1] is None:
            return self._larger(x, y).but(largest_of=united)
        codes = combined_special((x.special, y.special), x.shape, np.maximum)
        larger = _with_upper_codes(self._of_set(united, self.common_scale(x, y)), codes)
        return larger.but(nonnegative=x.nonnegative or y.nonnegative)

    def _united(self, x: Number, y: Number) -> tuple[Residues, np.ndarray | None]:
        """The members of x and those of y, along a new leading axis, and which of them are present."""
        sets = [self.members(z) for z in (x, y)]
        members = [Residues(tuple(a[:, i] for a in r.levels), r.degree) for r, _ in sets for i in range(r.shape[0])]
        presence = [np.ones(r.shape, bool) if there is None else there for r, there in sets]
        present = None if all(there is None for _, there in sets) else np.concatenate(presence)
        return self.draw.stack(members), present

    def members(self, x: Number) -> tuple[Residues, np.ndarray | None]:
        """The numbers that x is the largest of, along a leading axis, and which of them are there; else x alone."""
        if x.largest_of is not None and "largest of a set" in self.laws:
            return x.largest_of
        there = None if x.special is None else (x.special != MINUS_INFINITY)[None]
        return x.residues.reshaped((1, *x.shape)), there

    def largest(self, x: Number, axes: tuple[int, ...]) -> Number:
        """The maximum of x over axes, -∞ of no numbers."""
        kept = [axis for axis in range(len(x.shape)) if axis not in axes]
        count = int(np.prod([x.shape[axis] for axis in axes]))
        if x.reordered is not None and x.reordered[1] in axes and "order statistics" in self.laws:
            return self.largest(x.reordered[0], axes)
        if not count:
            lowest = np.full([x.shape[axis] for axis in kept], MINUS_INFINITY, np.int8)
            return Number(self.draw.fraction(0, lowest.shape), lowest if lowest.size else None)
        shape = tuple(x.shape[axis] for axis in kept)
        rows = lambda a: a.transpose(0, *(axis + 1 for axis in (*axes, *kept))).reshape(len(a), count, *shape)
        if count == 1 and x.special is None:
            return x.moved(lambda a: rows(a)[:, 0])
        members = self._union(x, rows, shape)
        codes = None if x.special is None else rows(x.special[None])[0].max(axis=0, initial=MINUS_INFINITY)
        return _with_upper_codes(self._of_set(members, x.scale), codes)

    def _union(
        self, x: Number, rows: Callable[[np.ndarray], np.ndarray], shape: tuple[int, ...]
    ) -> tuple[Residues, np.ndarray | None]:
        """The members of all entries of each row of x, and which of them are there: max{max X, max Y} = max X ∪ Y.

        Where these would be too many, the entries themselves.
        """
        known = x if x.largest_of is None or x.largest_of[0].levels[0][0].size < LARGE else x.but(largest_of=None)
        members, present = self.members(known)
        each = lambda a: np.concatenate([rows(a[:, i]) for i in range(a.shape[1])], axis=1)
        union = Residues(tuple(map(each, members.levels)), members.degree.mixed())
        return union, None if present is None else each(present[None])[0]

    def _of_set(self, largest_of: tuple[Residues, np.ndarray | None], scale: Fraction) -> Number:
        """The maximum of a set: symmetric, the number itself if there is only one, moving along with a shift."""
        members, present = largest_of
        if members.shape[0] == 2 and present is None:
            a, b = (Number(Residues(tuple(x[:, i] for x in members.levels), members.degree)) for i in (0, 1))
            result = self._larger(a.but(scale=scale), b.but(scale=scale))
        else:
            first = self._firsts(members, present)
            result = self._symmetric_maximum(members, first, scale)
        there = None if present is None else np.where(present.any(axis=0), FINITE, MINUS_INFINITY).astype(np.int8)
        known = largest_of if len(members.levels[0][0]) else None
        return result.but(largest_of=known, special=there if there is not None and there.any() else None)

    def _larger(self, a: Number, b: Number) -> Number:
        """(a + b)/2 + |a - b|/2."""
        half = self.constant(Fraction(1, 2), a.shape)
        larger = self.multiply(half, self.add(self.add(a, b), self.absolute(self.subtract(a, b))))
        return larger.but(scale=self.common_scale(a, b), nonnegative=a.nonnegative or b.nonnegative)

    def _firsts(self, members: Residues, present: np.ndarray | None) -> np.ndarray:
        """Where each different member stands first."""
        copies = self.draw.levels[0].copies
        full = np.ascontiguousarray(np.broadcast_to(members.levels[0], (copies, *members.shape)))
        words = [w.reshape(members.shape) for w in state(key("members", *self.draw.seed), [full.reshape(copies, -1)])]
        there = np.ones(members.shape, bool) if present is None else np.broadcast_to(present, members.shape)
        order = np.lexsort((~there, *words), axis=0)  # of equal members those that are there come first
        first_word, second_word, sorted_there = (np.take_along_axis(a, order, 0) for a in (*words, there))
        same_words = (first_word[1:] == first_word[:-1]) & (second_word[1:] == second_word[:-1])
        repeated = np.zeros(members.shape, bool)
        repeated[1:] = same_words & sorted_there[:-1]
        first = np.zeros(members.shape, bool)
        np.put_along_axis(first, order, sorted_there & ~repeated, 0)
        return first

    def _symmetric_maximum(self, members: Residues, first: np.ndarray, scale: Fraction) -> Number:
        """mean + s·H(Σ h((xᵢ - mean)/s)) over different members; half the sum and half the distance of two."""
        draw = self.draw
        counts = np.maximum(first.sum(axis=0), 1)
        chosen = lambda x: x if first.all() else draw.where(first, x, draw.fraction(0))
        total = draw.sum(chosen(members), (0,))
        if counts.size and np.all(counts == counts.flat[0]):
            mean = draw.scale(total, Fraction(1, int(counts.flat[0])))
        else:
            mean = draw.multiply(total, _inverses(draw, counts))
        deviation = draw.subtract(members, _repeated(mean, members.shape[0]))
        scale = self.canonical_scale(deviation, scale)
        hashes = chosen(draw.opaque("member", draw.scale(deviation, 1 / scale)))
        largest = draw.add(mean, draw.scale(draw.opaque("largest", draw.sum(hashes, (0,))), scale))
        result = Number(largest if np.all(counts > 1) else draw.where(counts > 1, largest, mean))
        if np.any(counts == 2):
            place = np.argmax(first, axis=0)
            distance = draw.scale(_picked(deviation, place), 2)
            half = self.constant(Fraction(1, 2), distance.shape)
            larger = self.add(Number(mean), self.multiply(half, self.absolute(Number(distance))))
            result = Number(draw.where(counts == 2, larger.residues, result.residues))
        return result

    def order_statistics(self, x: Number, axis: int) -> Number:
        """x sorted along an axis: each entry is a symmetric function that moves along with a shift.

        Its rows are known as those of x in another order, and their sums are those of x.
        """
        size = x.shape[axis]
        if not size:
            return x
        if x.reordered is not None and x.reordered[1] == axis and "order statistics" in self.laws:
            return self.order_statistics(x.reordered[0], axis)
        rows = x.moved(lambda a: np.moveaxis(a, axis + 1, 1))
        smallest = self.negate(self.largest(self.negate(rows), (0,)))
        largest = self.largest(rows, (0,))
        entries = [smallest.residues, *self._between(rows, smallest, largest), largest.residues][:size]
        sorted_rows = Number(self.draw.stack(entries), nonnegative=x.nonnegative, scale=x.scale)
        return sorted_rows.moved(lambda a: np.moveaxis(a, 1, axis + 1)).but(reordered=(x, axis))

    def _between(self, rows: Number, smallest: Number, largest: Number) -> list[Residues]:
        """The sorted entries between the smallest and the largest, with the sum that these leave for them."""
        draw, size = self.draw, rows.shape[0]
        found = [self._statistic(rows, i) for i in range(1, size - 1)]
        if not found or "order statistics" not in self.laws:
            return found
        ends = draw.add(smallest.residues, largest.residues)
        total = draw.subtract(draw.sum(rows.residues, (0,)), ends)
        missing = draw.scale(draw.subtract(total, draw.sum(draw.stack(found), (0,))), Fraction(1, size - 2))
        return [draw.add(entry, missing) for entry in found]

    def _statistic(self, rows: Number, i: int) -> Residues:
        """The i-th smallest: mean + H_i(Σ h(xⱼ - mean)) - H_{n-1-i}(Σ h(mean - xⱼ))."""
        draw, size = self.draw, rows.shape[0]
        mean = draw.scale(draw.sum(rows.residues, (0,)), Fraction(1, size))
        deviation = draw.subtract(rows.residues, _repeated(mean, size))
        total = lambda element: draw.sum(draw.opaque("member", element), (0,))
        up = draw.opaque(f"statistic {i}", total(deviation))
        down = draw.opaque(f"statistic {size - 1 - i}", total(draw.negate(deviation)))
        return draw.add(mean, draw.subtract(up, down))


def _inverses(draw: Draw, counts: np.ndarray) -> Residues:
    """The inverses of positive whole numbers."""
    found = {Fraction(1, n) for n in np.unique(counts).tolist()}
    return draw.each("inverse", Degree(affine=affine.of_fractions(found)), draw.floats(counts))


def _repeated(x: Residues, count: int) -> Residues:
    repeat = lambda a: np.broadcast_to(a[:, None], (len(a), count, *a.shape[1:]))
    return Residues(tuple(map(repeat, x.levels)), x.degree)


def _picked(x: Residues, place: np.ndarray) -> Residues:
    """x[place[…], …]: one entry of the leading axis for every other place."""
    pick = lambda a: np.take_along_axis(a, np.broadcast_to(place, (len(a), 1, *place.shape)), 1)[:, 0]
    return Residues(tuple(map(pick, x.levels)), x.degree.mixed())


def _with_upper_codes(largest: Number, codes: np.ndarray | None) -> Number:
    """A maximum is infinite or undefined where a member is; it is then no longer known as the maximum of a set."""
    if codes is None or not np.any(codes > FINITE):
        return largest
    special = np.zeros(largest.shape, np.int8) if largest.special is None else largest.special
    return largest.but(special=np.where(codes > FINITE, codes, special).astype(np.int8), largest_of=None)


def _magnitudes(special: np.ndarray | None) -> np.ndarray | None:
    return None if special is None else np.abs(special)
