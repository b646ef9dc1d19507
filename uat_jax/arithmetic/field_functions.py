"""Real functions as functions on residues: each is the most general one with the laws that it is known to obey.

What holds for every function with these laws holds for the real one, so equality of residues carries over to the
reals; docs/soundness.md has the proofs, law by law.
"""

from __future__ import annotations

import functools
from fractions import Fraction
from math import isqrt

import numpy as np

from uat_jax.arithmetic.number import (
    FINITE,
    MINUS_INFINITY,
    ONE,
    TALLEST,
    UNDEFINED,
    Letter,
    Number,
    Quadratic,
    Terms,
    combined_special,
    from_quadratic,
    rational,
)
from uat_jax.arithmetic.random_function import key, state
from uat_jax.arithmetic.residues import Draw, Residues, same, vanishes

LAWS = frozenset(
    [
        "logarithm of exponentials",
        "exponential form",
        "root of a square",
        "square of a root",
        "homogeneity",
        "largest of a set",
        "squares are nonnegative",
        "constants as roots",
        "almost everywhere",
    ]
)
"""Every law that can be switched off; "exponential form" writes tanh, logistic, cos and sin with exponentials."""


REMEMBERED = 4096
"""Entries of an array whose scales are kept."""


class FieldFunctions:
    """The functions, at one random draw and under a set of laws."""

    def __init__(self, draw: Draw, laws: frozenset[str] = LAWS, *, logarithms: bool = False):
        self.draw = draw
        self.laws = laws
        self.logarithms = logarithms and "logarithm of exponentials" in laws
        self.scales: dict[bytes, Fraction] = {}

    # Ring operations.

    def constant(self, value: Fraction | int, shape: tuple[int, ...] = ()) -> Number:
        """One rational number."""
        known = np.full(shape, float(value))
        return Number(self.draw.fraction(value, shape), known=known, nonnegative=value >= 0)

    def spread(self, x: Number, shape: tuple[int, ...]) -> Number:
        """A scalar, or axes of length 1, repeated over a shape."""
        if x.shape == shape:
            return x
        full = (1,) * (len(shape) - len(x.shape)) + x.shape
        return x.moved(lambda a: np.broadcast_to(a.reshape(len(a), *full), (len(a), *shape)).copy())

    def aligned(self, x: Number, y: Number) -> tuple[Number, Number]:
        """Both operands in their common shape."""
        shape = np.broadcast_shapes(x.shape, y.shape)
        return self.spread(x, shape), self.spread(y, shape)

    def add(self, x: Number, y: Number) -> Number:
        """x + y."""
        x, y = self.aligned(x, y)
        for a, b in ((x, y), (y, x)):
            if b.known is not None and b.special is None and not b.known.any() and vanishes(b.residues).all():
                return a
        number = self._add_quadratic(x, y) or Number(self.draw.add(x.residues, y.residues))
        return number.but(
            special=combined_special((x.special, y.special), x.shape, _sum_codes),
            nonnegative=x.nonnegative and y.nonnegative,
            scale=self._common_scale(x, y),
            terms=self._added_terms(x, y),
        )

    def _add_quadratic(self, x: Number, y: Number) -> Number | None:
        draw = self.draw
        a, b = x.quadratic, y.quadratic
        if a is None and b is None:
            return None
        if a is not None and b is not None and a.letter.is_(b.letter):
            constant = _optional(draw.add, a.constant, b.constant)
            return from_quadratic(draw, constant, draw.add(a.coefficient, b.coefficient), a.letter)
        if a is not None:
            return self._shifted(a, y.residues)
        return None if b is None else self._shifted(b, x.residues)

    def _shifted(self, a: Quadratic, shift: Residues) -> Number:
        return from_quadratic(self.draw, _optional(self.draw.add, a.constant, shift), a.coefficient, a.letter)

    def _common_scale(self, x: Number, y: Number) -> Fraction:
        """The scale of a sum: that of both, where a constant takes any; of sb + tb for the same b, |s + t|."""
        if x.scale == y.scale or y.known is not None:
            return x.scale
        if x.known is not None:
            return y.scale
        base, other = (self.draw.scale(z.residues, 1 / z.scale) for z in (x, y))
        if same(base, other):
            return _modest(x.scale + y.scale)
        return _modest(abs(x.scale - y.scale)) if same(base, self.draw.negate(other)) else ONE

    def negate(self, x: Number) -> Number:
        """-x."""
        draw, q = self.draw, x.quadratic
        if q is None:
            number = Number(draw.negate(x.residues))
        else:
            constant = None if q.constant is None else draw.negate(q.constant)
            number = from_quadratic(draw, constant, draw.negate(q.coefficient), q.letter)
        known = None if x.known is None else -x.known
        return number.but(special=combined_special((x.special,), x.shape, _opposite_codes), scale=x.scale, known=known)

    def subtract(self, x: Number, y: Number) -> Number:
        """x - y; a mean of squares minus the square of the mean is known to be nonnegative."""
        difference = self.add(x, self.negate(y))
        if not difference.nonnegative and self._is_variance(difference, x, y):
            return difference.but(nonnegative=True)
        return difference

    def _is_variance(self, difference: Number, x: Number, y: Number) -> bool:
        """Whether difference = (1/n) Σ (zᵢ - m)² with x a multiple of Σ zᵢ² and y = m²."""
        if "squares are nonnegative" not in self.laws or x.sum_of_squares is None or y.square_of is None:
            return False
        z, axes = x.sum_of_squares
        count = int(np.prod([z.shape[axis] for axis in axes]))
        spread = self._spread_over(y.square_of, z.shape, axes)
        if spread is None or int(np.prod(difference.shape)) * count != int(np.prod(z.shape)):
            return False
        deviation = self.draw.subtract(z.residues, spread.residues)
        variance = self.draw.scale(self.draw.sum(self.draw.power(deviation, 2), axes), Fraction(1, count))
        self.draw.tested(variance)
        return same(variance.reshaped(difference.shape), difference.residues)

    def _spread_over(self, x: Number, shape: tuple[int, ...], axes: tuple[int, ...]) -> Number | None:
        """x repeated along axes, if its shape is the rest of `shape` (with or without axes of length 1)."""
        kept = tuple(1 if axis in axes else size for axis, size in enumerate(shape))
        if int(np.prod(x.shape)) != int(np.prod(kept)):
            return None
        return x.moved(lambda a: np.broadcast_to(a.reshape(len(a), *kept), (len(a), *shape)).copy())

    def multiply(self, x: Number, y: Number) -> Number:
        """xy."""
        identical = x is y
        x, y = self.aligned(x, y)
        number = self._multiply_quadratic(x, y) or Number(self.draw.multiply(x.residues, y.residues))
        square = x if identical or same(x.residues, y.residues) else None
        scale, negative = self._product_scale(x, y)
        return number.but(
            special=combined_special((x.special, y.special), x.shape, _any_undefined),
            nonnegative=x.nonnegative and y.nonnegative or square is not None,
            scale=scale,
            square_of=square,
            sum_of_squares=None if negative else x.sum_of_squares or y.sum_of_squares,
            terms=self._multiplied_terms(x, y),
        )

    def _product_scale(self, x: Number, y: Number) -> tuple[Fraction, bool]:
        """The scale of a product (a constant factor is all scale), and whether a constant factor is negative."""
        scales = [rational(self.draw, z) for z in (x, y)]
        factors = [z.scale if c is None or c == 0 else abs(c) for z, c in zip((x, y), scales)]
        return _modest(factors[0] * factors[1]), any(c is not None and c < 0 for c in scales)

    def _multiply_quadratic(self, x: Number, y: Number) -> Number | None:
        a, b = x.quadratic, y.quadratic
        if a is None and b is None:
            return None
        if a is not None and b is not None and a.letter.is_(b.letter) and "square of a root" in self.laws:
            return self._product(a, b)
        one, other = (a, y) if a is not None else (b, x)
        multiply = self.draw.multiply
        constant = None if one.constant is None else multiply(one.constant, other.residues)
        return from_quadratic(self.draw, constant, multiply(one.coefficient, other.residues), one.letter)

    def _product(self, a: Quadratic, b: Quadratic) -> Number:
        """(a + bℓ)(c + dℓ) = ac + bdℓ² + (ad + bc)ℓ."""
        multiply, add = self.draw.multiply, self.draw.add
        times = lambda x, y: None if x is None or y is None else multiply(x, y)
        squares = multiply(a.coefficient, b.coefficient)
        squares = squares if a.letter.square is None else multiply(squares, a.letter.square)
        constant = _optional(add, times(a.constant, b.constant), squares)
        cross = _optional(add, times(a.constant, b.coefficient), times(a.coefficient, b.constant))
        return Number(constant) if cross is None else from_quadratic(self.draw, constant, cross, a.letter)

    def inverse(self, x: Number) -> Number:
        """1/x; entries where x is zero as a function are undefined."""
        zero = vanishes(x.residues) | (np.zeros(x.shape, bool) if x.special is None else x.special != FINITE)
        divisor = self.draw.where(zero, self.draw.fraction(1), x.residues) if zero.any() else x.residues
        special = np.where(zero, UNDEFINED, FINITE).astype(np.int8) if zero.any() else None
        if zero.any():
            self.draw.notes.add("entries that divide by zero are left out")
        number = self._inverse_quadratic(x.quadratic) if x.quadratic is not None and special is None else None
        number = number or Number(self.draw.inverse(divisor))
        return number.but(special=special, nonnegative=x.nonnegative, scale=_modest(1 / x.scale))

    def _inverse_quadratic(self, q: Quadratic) -> Number:
        """1/(bℓ) = ℓ/(bℓ²), and 1/(a + bℓ) = (a - bℓ)/(a² - b²ℓ²)."""
        draw = self.draw
        square = draw.power(q.coefficient, 2) if q.constant is not None else q.coefficient
        norm = square if q.letter.square is None else draw.multiply(square, q.letter.square)
        if q.constant is None:
            return from_quadratic(draw, None, draw.inverse(norm), q.letter)
        norm = draw.subtract(draw.power(q.constant, 2), norm)
        if vanishes(norm).any():  # such as 1 + ε, whose product with 1 - ε is zero
            return Number(draw.inverse(draw.add(q.constant, draw.multiply(q.coefficient, q.letter.value))))
        inverse = draw.inverse(norm)
        coefficient = draw.negate(draw.multiply(q.coefficient, inverse))
        return from_quadratic(draw, draw.multiply(q.constant, inverse), coefficient, q.letter)

    def divide(self, x: Number, y: Number) -> Number:
        """x/y."""
        x, y = self.aligned(x, y)
        divisor = rational(self.draw, y)
        if divisor:
            quotient = self.multiply(x, self.constant(1 / divisor, y.shape))
        else:
            quotient = self.multiply(x, self.inverse(y))
        if self.logarithms and x.nonnegative and y.nonnegative:
            quotient = quotient.but(factors=(x, y))
        return quotient

    def power(self, x: Number, exponent: int) -> Number:
        """x^exponent for a whole exponent."""
        if exponent < 0:
            return self.power(self.inverse(x), -exponent)
        if exponent == 0:
            return self.constant(1, x.shape)
        half = self.power(x, exponent // 2) if exponent > 1 else x
        if exponent == 1:
            return x
        return self.multiply(half, half) if exponent % 2 == 0 else self.multiply(self.multiply(half, half), x)

    def sum(self, x: Number, axes: tuple[int, ...]) -> Number:
        """Σ x over axes."""
        special = None
        if x.special is not None:
            special = np.max(np.where(x.special != FINITE, UNDEFINED, FINITE), axis=axes).astype(np.int8)
        terms = x.terms
        if terms is not None:
            count = int(np.prod([x.shape[axis] for axis in axes]))
            terms = Terms(self.draw.sum(terms.exponents, axes), terms.count * count)
        return Number(
            self.draw.sum(x.residues, axes),
            special,
            nonnegative=x.nonnegative,
            scale=x.scale,
            sum_of_squares=None if x.square_of is None else (x.square_of, axes),
            terms=terms,
        )

    # Signs, absolute values, maxima.

    def odd(self, name: str, x: Residues) -> Residues:
        """h(x) - h(-x)."""
        h = functools.partial(self.draw.opaque, name)
        return self.draw.subtract(h(x), h(self.draw.negate(x)))

    def even(self, name: str, x: Residues) -> Residues:
        """h(x) + h(-x)."""
        h = functools.partial(self.draw.opaque, name)
        return self.draw.add(h(x), h(self.draw.negate(x)))

    def sign(self, x: Number, *, everywhere: bool = False) -> Number:
        """The sign of x: odd, and that of x/s for the positive scale s; of square 1 almost everywhere.

        `everywhere`: x may be 0 at more than single points.
        """
        special = combined_special((x.special,), x.shape, _undefined)
        if "almost everywhere" in self.laws and not everywhere:
            return self._sign(x).but(special=special)
        base = self._direction(x, everywhere=True)
        above, below = (self.draw.opaque("step", b) for b in (base, self.draw.negate(base)))
        return Number(self.draw.subtract(above, below), special)

    def _direction(self, x: Number, *, everywhere: bool = False) -> Residues:
        """x without positive factors that are known; `everywhere`: nor factors that can be 0."""
        base, q = x.residues, x.quadratic
        if q is not None and q.constant is None and q.letter.nonnegative and not everywhere:
            base = q.coefficient
        return self.draw.scale(base, 1 / self._canonical_scale(base, x.scale))

    def _canonical_scale(self, x: Residues, scale: Fraction) -> Fraction:
        """A positive s such that x/s is the same for all multiples of x that were met: the first one's choice.

        Any positive rational is right here; `scale` is what the program suggests.
        """
        if "homogeneity" not in self.laws or not x.levels[0].size:
            return ONE
        columns = _columns(x)
        found = self.scales.get(columns[0], scale)
        base = _columns(self.draw.scale(x, 1 / found))
        for column, base_column in zip(columns[:REMEMBERED], base[:REMEMBERED]):
            self.scales.setdefault(column, found)
            self.scales.setdefault(base_column, ONE)
        return found

    def _sign(self, x: Number) -> Number:
        """An odd letter ε with ε² = 1; only x·ε may be used where x can vanish."""
        value = self.odd("sign", self._direction(x))
        flip = value.levels[0][0] > self.draw.levels[0].field.prime // 2
        turned = lambda element: self.draw.where(flip, self.draw.negate(element), element)
        one = turned(self.draw.fraction(1, x.shape))
        return from_quadratic(self.draw, None, one, Letter(turned(value), None, False))

    def absolute(self, x: Number) -> Number:
        """|x| = x·ε(x)."""
        if x.nonnegative:
            return x
        plain = Number(x.residues)
        return self.multiply(plain, self._sign(x)).but(nonnegative=True, scale=x.scale, special=_magnitudes(x.special))

    def step(self, x: Number, strict: bool, everywhere: bool = False) -> Number:
        """1 where x > 0 (or x ≥ 0), else 0: (1 + ε(x))/2 almost everywhere."""
        one = self.constant(1, x.shape)
        if x.nonnegative and not strict:
            return one
        if "almost everywhere" in self.laws and not everywhere:
            half = self.constant(Fraction(1, 2), x.shape)
            return self.multiply(half, self.add(one, self._sign(x))).but(nonnegative=True)
        base = self._direction(x, everywhere=True)
        if strict:
            return Number(self.draw.opaque("step", base), nonnegative=True)
        return self.subtract(one, Number(self.draw.opaque("step", self.draw.negate(base)))).but(nonnegative=True)

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
        return _with_upper_codes(self._of_set(united, self._common_scale(x, y)), codes)

    def _united(self, x: Number, y: Number) -> tuple[Residues, np.ndarray | None]:
        """The members of both, along a new leading axis, and which of them are there."""
        sets = [self.members(z) for z in (x, y)]
        members = [Residues(tuple(a[:, i] for a in r.levels), r.degree) for r, _ in sets for i in range(r.shape[0])]
        presence = [np.ones(r.shape, bool) if there is None else there for r, there in sets]
        present = None if all(there is None for _, there in sets) else np.concatenate(presence)
        return self.draw.stack(members), present

    def members(self, x: Number) -> tuple[Residues, np.ndarray | None]:
        if x.largest_of is not None and "largest of a set" in self.laws:
            return x.largest_of
        there = None if x.special is None else (x.special != MINUS_INFINITY)[None]
        return x.residues.reshaped((1, *x.shape)), there

    def largest(self, x: Number, axes: tuple[int, ...]) -> Number:
        """The maximum of x over axes."""
        kept = [axis for axis in range(len(x.shape)) if axis not in axes]
        count = int(np.prod([x.shape[axis] for axis in axes]))
        order = [0, *(axis + 1 for axis in axes), *(axis + 1 for axis in kept)]
        shape = (count, *(x.shape[axis] for axis in kept))
        forward = lambda a: a.transpose(order).reshape(len(a), *shape)
        present = None if x.special is None else forward((x.special != MINUS_INFINITY)[None])[0]
        members = Residues(tuple(map(forward, x.residues.levels)), x.residues.degree.mixed())
        if count == 1 and present is None:
            return Number(members.reshaped(shape[1:]), nonnegative=x.nonnegative, scale=x.scale)
        codes = None if x.special is None else forward(x.special[None])[0].max(axis=0, initial=MINUS_INFINITY)
        return _with_upper_codes(self._of_set((members, present), x.scale), codes)

    def _of_set(self, largest_of: tuple[Residues, np.ndarray | None], scale: Fraction) -> Number:
        """The maximum of a set: symmetric, the number itself if there is only one, moving along with a shift."""
        members, present = largest_of
        draw, count = self.draw, members.shape[0]
        if count == 2 and present is None:
            a, b = (Number(Residues(tuple(x[:, i] for x in members.levels), members.degree)) for i in (0, 1))
            result = self._larger(a.but(scale=scale), b.but(scale=scale))
        else:
            first = self._firsts(members, present)
            result = self._symmetric_maximum(members, first)
        there = None if present is None else np.where(present.any(axis=0), FINITE, MINUS_INFINITY).astype(np.int8)
        return result.but(largest_of=largest_of, special=there if there is not None and there.any() else None)

    def _larger(self, a: Number, b: Number) -> Number:
        """(a + b)/2 + |a - b|/2."""
        half = self.constant(Fraction(1, 2), a.shape)
        larger = self.multiply(half, self.add(self.add(a, b), self.absolute(self.subtract(a, b))))
        return larger.but(scale=self._common_scale(a, b), nonnegative=a.nonnegative or b.nonnegative)

    def _firsts(self, members: Residues, present: np.ndarray | None) -> np.ndarray:
        """Where each different member stands first."""
        copies = self.draw.levels[0].copies
        full = np.ascontiguousarray(np.broadcast_to(members.levels[0], (copies, *members.shape)))
        words = [w.reshape(members.shape) for w in state(key("members", *self.draw.seed), [full.reshape(copies, -1)])]
        there = np.ones(members.shape, bool) if present is None else np.broadcast_to(present, members.shape)
        order = np.lexsort(words, axis=0)
        first_word, second_word, sorted_there = (np.take_along_axis(a, order, 0) for a in (*words, there))
        same_words = (first_word[1:] == first_word[:-1]) & (second_word[1:] == second_word[:-1])
        repeated = np.zeros(members.shape, bool)
        repeated[1:] = same_words & sorted_there[:-1]
        first = np.zeros(members.shape, bool)
        np.put_along_axis(first, order, sorted_there & ~repeated, 0)
        return first

    def _symmetric_maximum(self, members: Residues, first: np.ndarray) -> Number:
        """mean + H(Σ h(xᵢ - mean)) over different members; half the sum plus half the distance for two of them."""
        draw = self.draw
        zero = draw.fraction(0)
        counts = np.maximum(first.sum(axis=0), 1)
        shares = draw.floats(counts.astype(np.float64))
        mean = draw.multiply(draw.sum(draw.where(first, members, zero), (0,)), _constant_inverse(draw, shares))
        deviation = draw.subtract(members, _repeated(mean, members.shape[0]))
        hashes = draw.where(first, draw.opaque("member", deviation), zero)
        largest = draw.add(mean, draw.opaque("largest", draw.sum(hashes, (0,))))
        result = Number(draw.where(counts > 1, largest, mean))
        if np.any(counts == 2):
            place = np.argmax(first, axis=0)
            distance = draw.scale(_picked(deviation, place), 2)
            half = self.constant(Fraction(1, 2), distance.shape)
            larger = self.add(Number(mean), self.multiply(half, self.absolute(Number(distance))))
            result = Number(draw.where(counts == 2, larger.residues, result.residues))
        return result

    def order_statistics(self, x: Number, axis: int) -> Number:
        """x sorted along an axis: each entry is a symmetric function that moves along with a shift."""
        size = x.shape[axis]
        rows = x.moved(lambda a: np.moveaxis(a, axis + 1, 1))
        smallest = self.negate(self.largest(self.negate(rows), (0,)))
        entries = [smallest.residues, *(self._statistic(rows, i) for i in range(1, size - 1))]
        entries = (
            [*entries, self.largest(rows, (0,)).residues][-size:]
            if size > 1
            else [rows.moved(lambda a: a[:, 0]).residues]
        )
        sorted_rows = Number(self.draw.stack(entries), nonnegative=x.nonnegative, scale=x.scale)
        return sorted_rows.moved(lambda a: np.moveaxis(a, 1, axis + 1))

    def _statistic(self, rows: Number, i: int) -> Residues:
        """The i-th smallest: mean + H_i(Σ h(xⱼ - mean)) - H_{n-1-i}(Σ h(mean - xⱼ))."""
        draw, size = self.draw, rows.shape[0]
        mean = draw.scale(draw.sum(rows.residues, (0,)), Fraction(1, size))
        deviation = draw.subtract(rows.residues, _repeated(mean, size))
        total = lambda element: draw.sum(draw.opaque("member", element), (0,))
        up = draw.opaque(f"statistic {i}", total(deviation))
        down = draw.opaque(f"statistic {size - 1 - i}", total(draw.negate(deviation)))
        return draw.add(mean, draw.subtract(up, down))

    # Roots, exponentials, logarithms.

    def root(self, x: Number) -> Number:
        """√x: |y| for x = y², rational where possible, else a letter whose square is x."""
        if x.square_of is not None and "root of a square" in self.laws:
            return self.absolute(x.square_of)
        value = rational(self.draw, x)
        if value is not None and value > 0:
            return self._root_of_rational(value, x.shape)
        scale = self._canonical_scale(x.residues, x.scale)
        outer, inner = _square_part(scale)
        if inner != 1 and not self.draw.has_root(inner):
            scale, inner = outer * outer, ONE
        letter = self._root_letter(self.draw.scale(x.residues, 1 / scale))
        factor = self.draw.scale(self.draw.root(int(inner), x.shape), outer)
        special = combined_special((x.special,), x.shape, _of_positive)
        return from_quadratic(self.draw, None, factor, letter).but(nonnegative=True, special=special)

    def _root_of_rational(self, value: Fraction, shape: tuple[int, ...]) -> Number:
        """√(k²f) = k√f with f squarefree."""
        outer, inner = _square_part(value)
        if inner == 1:
            return self.constant(outer, shape)
        if self.draw.has_root(inner):
            number = Number(self.draw.scale(self.draw.root(int(inner), shape), outer), nonnegative=True)
            return number.but(known=np.full(shape, float(value) ** 0.5))
        letter = self._root_letter(self.draw.fraction(inner, shape))
        number = from_quadratic(self.draw, None, self.draw.fraction(outer, shape), letter)
        return number.but(nonnegative=True, known=np.full(shape, float(value) ** 0.5), scale=outer)

    def _root_letter(self, square: Residues) -> Letter:
        return Letter(self.draw.opaque("sqrt", square), square, True)

    def exponential(self, x: Number) -> Number:
        """exp(x); 0 at -∞."""
        residues = self.draw.exponential(x.residues)
        special = None
        if x.special is not None:
            residues = self.draw.where(x.special == MINUS_INFINITY, self.draw.fraction(0), residues)
            special = combined_special((x.special,), x.shape, lambda code: np.where(code > 0, UNDEFINED, FINITE))
        terms = Terms(x.residues, 1) if self.logarithms and x.special is None else None
        return Number(residues, special, nonnegative=True, terms=terms)

    def circular(self, x: Number) -> tuple[Number, Number]:
        """(cos x, sin x) = ((E + 1/E)/2, (E - 1/E)/2i) with E = exp(ix)."""
        draw = self.draw
        forward, backward = (draw.exponential(e, "circular") for e in (x.residues, draw.negate(x.residues)))
        cosine = draw.scale(draw.add(forward, backward), Fraction(1, 2))
        half_over_i = draw.scale(draw.negate(draw.imaginary()), Fraction(1, 2))
        special = combined_special((x.special,), x.shape, _undefined)
        return Number(cosine, special), Number(draw.multiply(draw.subtract(forward, backward), half_over_i), special)

    def logarithm(self, x: Number) -> Number:
        """log x: log n - log d for x = n/d, and t + L(x·exp(-t)) for a sum of exponentials of mean exponent t.

        L(y) = h(y) - h(1/y).
        """
        if x.factors is not None:
            return self.subtract(self.logarithm(x.factors[0]), self.logarithm(x.factors[1]))
        special = combined_special((x.special,), x.shape, _of_positive)
        if x.terms is None:
            zero = np.where(vanishes(x.residues), MINUS_INFINITY, FINITE)
            lowest = lambda codes, zeros: np.where(codes == FINITE, zeros, codes)
            return Number(self._logarithm(x.residues), combined_special((special, zero), x.shape, lowest))
        draw = self.draw
        mean = draw.scale(x.terms.exponents, Fraction(1, x.terms.count))
        base = draw.multiply(x.residues, draw.exponential(draw.negate(mean)))
        return Number(draw.add(mean, self._logarithm(base)), special)

    def _logarithm(self, y: Residues) -> Residues:
        zero = vanishes(y)
        divisor = self.draw.where(zero, self.draw.fraction(1), y) if zero.any() else y
        h = functools.partial(self.draw.opaque, "log")
        return self.draw.subtract(h(divisor), h(self.draw.inverse(divisor)))

    def _terms(self, x: Number) -> Terms | None:
        """A nonnegative constant is one term with exponent 0."""
        if x.terms is not None or not self.logarithms:
            return x.terms
        constant = x.known is not None and x.special is None and np.all(x.known > 0)
        return Terms(self.draw.fraction(0, x.shape), 1) if constant else None

    def _added_terms(self, x: Number, y: Number) -> Terms | None:
        a, b = self._terms(x), self._terms(y)
        if a is None or b is None or (x.terms is None and y.terms is None):
            return None
        return Terms(self.draw.add(a.exponents, b.exponents), a.count + b.count)

    def _multiplied_terms(self, x: Number, y: Number) -> Terms | None:
        """Σ over pairs of (sᵢ + tⱼ)."""
        a, b = self._terms(x), self._terms(y)
        if a is None or b is None or (x.terms is None and y.terms is None):
            return None
        exponents = self.draw.add(self.draw.scale(a.exponents, b.count), self.draw.scale(b.exponents, a.count))
        return Terms(exponents, a.count * b.count)


def _columns(x: Residues) -> list[bytes]:
    """For every entry its residues in all copies of the top level."""
    rows = np.ascontiguousarray(x.levels[0].reshape(len(x.levels[0]), -1)[:, :REMEMBERED].T)
    return [row.tobytes() for row in rows]


def _optional(add, a: Residues | None, b: Residues | None) -> Residues | None:
    return add(a, b) if a is not None and b is not None else a if b is None else b


def _modest(scale: Fraction) -> Fraction:
    return scale if max(scale.numerator, scale.denominator) < TALLEST else ONE


def _square_part(value: Fraction) -> tuple[Fraction, Fraction]:
    """(k, f) with value = k²f and f a squarefree whole number, as far as small factors go."""
    whole, square = value.numerator * value.denominator, 1
    root = isqrt(whole)
    if root * root == whole:
        return Fraction(root, value.denominator), ONE
    for d in (2, 3, 5, 7, 11, 13):
        while whole % (d * d) == 0:
            whole, square = whole // (d * d), square * d
    return Fraction(square, value.denominator), Fraction(whole)


def _constant_inverse(draw: Draw, constants: Residues) -> Residues:
    """The inverses of small whole numbers."""
    return draw.each("inverse", constants.degree, constants)


def _repeated(x: Residues, count: int) -> Residues:
    repeat = lambda a: np.broadcast_to(a[:, None], (len(a), count, *a.shape[1:]))
    return Residues(tuple(map(repeat, x.levels)), x.degree)


def _picked(x: Residues, place: np.ndarray) -> Residues:
    """x[place[…], …]: one entry of the leading axis for every other place."""
    pick = lambda a: np.take_along_axis(a, np.broadcast_to(place, (len(a), 1, *place.shape)), 1)[:, 0]
    return Residues(tuple(map(pick, x.levels)), x.degree.mixed())


def _sum_codes(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """±∞ + finite = ±∞; opposite infinities and anything undefined are undefined."""
    clash = (a == UNDEFINED) | (b == UNDEFINED) | (a * b == -1)
    return np.where(clash, UNDEFINED, np.where(a == FINITE, b, a))


def _opposite_codes(a: np.ndarray) -> np.ndarray:
    return np.where(a == UNDEFINED, UNDEFINED, -a)


def _any_undefined(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A product with an entry that is not finite is not followed."""
    return np.where((a != FINITE) | (b != FINITE), UNDEFINED, FINITE)


def _undefined(code: np.ndarray) -> np.ndarray:
    return np.where(code != FINITE, UNDEFINED, FINITE)


def _of_positive(code: np.ndarray) -> np.ndarray:
    """Of a function that is defined for x > 0 and grows without bound: ∞ at ∞, nothing at -∞."""
    return np.where(code == MINUS_INFINITY, UNDEFINED, code)


def _with_upper_codes(largest: Number, codes: np.ndarray | None) -> Number:
    """A maximum is infinite or undefined where a member is; it is then no longer known as the maximum of a set."""
    if codes is None or not np.any(codes > FINITE):
        return largest
    special = np.zeros(largest.shape, np.int8) if largest.special is None else largest.special
    return largest.but(special=np.where(codes > FINITE, codes, special).astype(np.int8), largest_of=None)


def _magnitudes(special: np.ndarray | None) -> np.ndarray | None:
    return None if special is None else np.abs(special)
