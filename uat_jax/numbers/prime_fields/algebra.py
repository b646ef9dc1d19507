"""Ring operations on numbers of the prime fields, and what remains known of the results.

number = a + b·ℓ  with ℓ² known,    number = s·y  with s > 0 rational,    number = Σ c_i·exp(t_i)
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from uat_jax.interpret.operation import LARGE
from uat_jax.numbers.prime_fields import root_products
from uat_jax.numbers.prime_fields.expressions import Expressions
from uat_jax.numbers.prime_fields.laws import LAWS
from uat_jax.numbers.prime_fields.number import (
    FINITE,
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
from uat_jax.numbers.prime_fields.residues import Draw, EntriesLeftOut, Residues, repeated, same, vanishes

SUMS = "sums of roots"
"""The law by which products of sums of different roots are taken apart."""

MOST_SUMMANDS = 4
"""Of longer sums of roots the terms are not kept."""

TESTS = 32
"""A product of two multiples of roots, and its addition, take fewer tests for each entry."""

PRODUCTS = frozenset(["roots in matrices", "powers of a product"])
"""Laws under which products of different roots are followed."""

MOST_ADDED = 16
"""Terms of a sum that are added one by one, for the letters that some of them have."""

MOST_SCALES = 64
"""In larger arrays all entries have one scale."""

REMEMBERED = 4096
"""Entries of an array whose scales are kept."""


class Algebra:
    """Sums, products and inverses at one random draw and under a set of laws.

    logarithms: whether shapes as sums of exponentials are kept, which only logarithms look at.
    """

    def __init__(self, draw: Draw, laws: frozenset[str] = LAWS, *, logarithms: bool = False):
        self.draw = draw
        self.laws = laws
        self.logarithms = logarithms and "logarithm of exponentials" in laws
        self.scales: dict[bytes, Fraction] = {}
        self.expressions = Expressions()

    def constant(self, value: Fraction | int, shape: tuple[int, ...] = ()) -> Number:
        """One rational number."""
        known = np.full(shape, float(value))
        return Number(self.draw.fraction(value, shape), known=known, nonnegative=value >= 0)

    def spread(self, x: Number, shape: tuple[int, ...]) -> Number:
        """A scalar, or axes of length 1, repeated over a shape."""
        if x.shape == shape:
            return x
        full = (1,) * (len(shape) - len(x.shape)) + x.shape
        return x.moved(lambda a: repeated(a.reshape(len(a), *full), (len(a), *shape)))

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
            summands=self._summands(x, y),
            special=combined_special((x.special, y.special), x.shape, _sum_codes),
            nonnegative=x.nonnegative and y.nonnegative,
            scale=self.common_scale(x, y),
            terms=self._added_terms(x, y),
        )

    def _add_quadratic(self, x: Number, y: Number) -> Number | None:
        draw = self.draw
        a, b = x.quadratic, y.quadratic
        if a is None and b is None:
            return None
        if a is not None and b is not None and a.letter.is_(b.letter):
            constant = _optional(draw.add, a.constant, b.constant)
            total = draw.add(x.residues, y.residues)
            return from_quadratic(draw, constant, draw.add(a.coefficient, b.coefficient), a.letter, total)
        if a is not None and b is not None and (letter := self._letter_of_either(a, b)) is not None:
            one, other = Quadratic(a.constant, a.coefficient, letter), self._where_alike(letter, b, y)
            if other is not None:
                constant = _optional(draw.add, one.constant, other.constant)
                total = draw.add(x.residues, y.residues)
                return from_quadratic(draw, constant, draw.add(one.coefficient, other.coefficient), letter, total)
        if a is not None:
            return self._shifted(x, a, y.residues)
        return None if b is None else self._shifted(y, b, x.residues)

    def _summands(self, x: Number, y: Number) -> tuple[Number, ...] | None:
        """The terms of x + y, if some are multiples of different roots, and there are few."""
        if SUMS not in self.laws or not self._has_roots(x) or not self._has_roots(y):
            return None
        terms = (*(x.summands or (x,)), *(y.summands or (y,)))
        one, other = x.quadratic, y.quadratic
        alike = len(terms) == 2 and one is not None and other is not None and one.letter.is_(other.letter)
        few = len(terms) <= MOST_SUMMANDS and math.prod(x.shape) <= root_products.MOST_ENTRIES
        return terms if few and not alike else None

    def _has_roots(self, x: Number) -> bool:
        """Whether a finite number is a multiple of a root, or a sum of such."""
        return x.special is None and (
            x.summands is not None or x.quadratic is not None and x.quadratic.letter.square is not None
        )

    def _multiply_sums(self, x: Number, y: Number) -> Number | None:
        """(Σ aᵢ)(Σ bⱼ) = Σ aᵢbⱼ, in which a product of two roots of one number is that number."""
        if x.summands is None and y.summands is None or x.special is not None or y.special is not None:
            return None
        left, right = x.summands or (x,), y.summands or (y,)
        self.draw.compared(math.isqrt(TESTS * len(left) * len(right) * math.prod(x.shape)) + 1)
        return functools.reduce(self.add, [self.multiply(a, b) for a in left for b in right])

    def _shifted(self, x: Number, a: Quadratic, shift: Residues) -> Number:
        constant = _optional(self.draw.add, a.constant, shift)
        return from_quadratic(self.draw, constant, a.coefficient, a.letter, self.draw.add(x.residues, shift))

    def common_scale(self, x: Number, y: Number) -> Fraction:
        """The scale of x + y.

        A constant takes the scale of the other operand.  Two equal scales are kept; sb + tb with one b has |s + t|;
        every other sum has 1.
        """
        if x.scale is y.scale or x.scale == y.scale or y.known is not None:
            return x.scale
        if x.known is not None:
            return y.scale
        base, other = (self.draw.scale(z.residues, 1 / z.scale) for z in (x, y))
        if same(base, other):
            return modest(x.scale + y.scale)
        return modest(abs(x.scale - y.scale)) if same(base, self.draw.negate(other)) else ONE

    def negate(self, x: Number) -> Number:
        """-x; of the opposite of a maximum, that maximum."""
        if x.opposite is not None:
            return x.opposite
        draw, q = self.draw, x.quadratic
        if q is None:
            number = Number(draw.negate(x.residues))
        else:
            constant = None if q.constant is None else draw.negate(q.constant)
            number = from_quadratic(draw, constant, draw.negate(q.coefficient), q.letter, draw.negate(x.residues))
        return number.but(
            summands=None if x.summands is None else tuple(map(self.negate, x.summands)),
            special=combined_special((x.special,), x.shape, _opposite_codes),
            scale=x.scale,
            known=None if x.known is None else -x.known,
            terms=x.terms,
            direction=None if x.direction is None else self.negate(x.direction),
            opposite=x if x.largest_of is not None and x.special is None else None,
        )

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
        """x repeated along `axes` to an array of `shape`; None if x does not have the length of every other axis."""
        kept = tuple(1 if axis in axes else size for axis, size in enumerate(shape))
        if int(np.prod(x.shape)) != int(np.prod(kept)):
            return None
        return x.moved(lambda a: np.broadcast_to(a.reshape(len(a), *kept), (len(a), *shape)).copy())

    def multiply(self, x: Number, y: Number) -> Number:
        """xy."""
        identical = x is y
        x, y = self.aligned(x, y)
        number = self._multiply_sums(x, y) or self._multiply_quadratic(x, y)
        number = number or Number(self.draw.multiply(x.residues, y.residues))
        square = x.alone() if identical or same(x.residues, y.residues) else None
        scale, negative = self._product_scale(x, y)
        return number.but(
            special=combined_special((x.special, y.special), x.shape, _any_undefined),
            nonnegative=x.nonnegative and y.nonnegative or square is not None or self._is_multiple_of_square(x, y),
            scale=scale,
            square_of=square,
            sum_of_squares=None if negative else x.sum_of_squares or y.sum_of_squares,
            terms=self._multiplied_terms(x, y),
        )

    def _is_multiple_of_square(self, x: Number, y: Number) -> bool:
        """Whether xy is 0, or s·z² for a positive s: one of both is zero, or a positive multiple of the other."""
        if any([z.known is not None and z.special is None and not np.any(z.known) for z in (x, y)]):
            return all(vanishes(z.residues).all() for z in (x, y) if z.known is not None)
        if x.scale is y.scale:
            return False
        ratio = x.scale / y.scale
        return ratio != 1 and same(x.residues, self.draw.scale(y.residues, ratio))

    def _product_scale(self, x: Number, y: Number) -> tuple[Fraction, bool]:
        """The scale of a product (a constant factor is all scale), and whether a constant factor is negative."""
        if x.scale is ONE and y.scale is ONE and x.closed is x.known is y.closed is y.known is None:
            return ONE, False
        scales = [rational(self.draw, z) for z in (x, y)]
        factors = [z.scale if c is None or c == 0 else abs(c) for z, c in zip((x, y), scales, strict=True)]
        return modest(factors[0] * factors[1]), any(c is not None and c < 0 for c in scales)

    def _multiply_quadratic(self, x: Number, y: Number) -> Number | None:
        a, b = x.quadratic, y.quadratic
        if a is not None and b is not None and "square of a root" in self.laws:
            if not a.letter.is_(b.letter):
                both = root_products.multiplied(self.draw, a, b) if PRODUCTS & self.laws else None
                if both is not None:
                    return both
                letter = self._letter_of_either(a, b)
                a = a if letter is None else Quadratic(a.constant, a.coefficient, letter)
                b = self._where_alike(a.letter, b, y)
            if b is not None:
                return self._product(a, b)
            b = y.quadratic
        one, other = (a, y) if a is not None else (b, x)
        if one is None:
            return None
        multiply = self.draw.multiply
        constant = None if one.constant is None else multiply(one.constant, other.residues)
        product = multiply(x.residues, y.residues)
        return from_quadratic(self.draw, constant, multiply(one.coefficient, other.residues), one.letter, product)

    def _letter_of_either(self, a: Quadratic, b: Quadratic) -> Letter | None:
        """Entry by entry the letter of a, or of b where a has none; None if that is the letter of a everywhere."""
        one, other = a.letter, b.letter
        if one.square is None or other.square is None or "roots in matrices" not in self.laws:
            return None
        free, shape = vanishes(a.coefficient), a.coefficient.shape
        if not free.any() or any(r.shape != shape for r in (one.value, one.square, other.value, other.square)):
            return None
        return root_products.chosen(self.draw, free, other, one)

    def _where_alike(self, letter: Letter, b: Quadratic, y: Number) -> Quadratic | None:
        """y = c + dℓ in this letter where it is that of y, and y = y + 0·ℓ elsewhere; None if it is nowhere."""
        if letter.square is None or b.letter.square is None or "roots in matrices" not in self.laws:
            return None
        alike = np.all(letter.value.levels[0] == b.letter.value.levels[0], axis=0)
        if not alike.any():
            return None
        zero = self.draw.fraction(0, y.shape)
        constant = self.draw.where(alike, b.constant or zero, y.residues) if not alike.all() else b.constant
        return Quadratic(constant, self.draw.where(alike, b.coefficient, zero), letter)

    def _product(self, a: Quadratic, b: Quadratic) -> Number:
        """(a + bℓ)(c + dℓ) = ac + bdℓ² + (ad + bc)ℓ."""
        multiply, add = self.draw.multiply, self.draw.add
        times = lambda x, y: None if x is None or y is None else multiply(x, y)
        squares = multiply(a.coefficient, b.coefficient)
        squares = squares if a.letter.square is None else multiply(squares, a.letter.square)
        constants = times(a.constant, b.constant)
        constant = squares if constants is None else add(constants, squares)
        cross = _optional(add, times(a.constant, b.coefficient), times(a.coefficient, b.constant))
        return Number(constant) if cross is None else from_quadratic(self.draw, constant, cross, a.letter)

    def inverse(self, x: Number) -> Number:
        """1/x; entries where x is zero as a function are undefined."""
        zero = vanishes(x.residues) | (np.zeros(x.shape, bool) if x.special is None else x.special != FINITE)
        divisor = self.draw.where(zero, self.draw.fraction(1), x.residues) if zero.any() else x.residues
        special = np.where(zero, UNDEFINED, FINITE).astype(np.int8) if zero.any() else None
        if zero.any():
            self.draw.notes.add(EntriesLeftOut())
        number = self._inverse_quadratic(x.quadratic) if x.quadratic is not None and special is None else None
        number = number or Number(self.draw.inverse(divisor))
        return number.but(special=special, nonnegative=x.nonnegative, scale=modest(1 / x.scale))

    def _inverse_quadratic(self, q: Quadratic) -> Number:
        """1/(bℓ) = ℓ/(bℓ²), and 1/(a + bℓ) = (a - bℓ)/(a² - b²ℓ²)."""
        draw = self.draw
        square = draw.power(q.coefficient, 2) if q.constant is not None else q.coefficient
        norm = square if q.letter.square is None else draw.multiply(square, q.letter.square)
        if q.constant is None:
            value = draw.multiply(draw.inverse(q.coefficient), q.letter.inverse)
            return from_quadratic(draw, None, draw.inverse(norm), q.letter, value)
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
            return self.multiply(x, self.constant(1 / divisor, y.shape))
        quotient = self.multiply(x, self.inverse(y))
        if self.logarithms and x.nonnegative and y.nonnegative:
            quotient = quotient.but(factors=(x.alone(), y.alone()))
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
        """Σ x over axes; of one term, that term with all that is known of it."""
        if x.special is None and all(x.shape[axis] == 1 for axis in axes):
            kept = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
            return x.moved(lambda a: a.reshape(len(a), *kept))
        special = None
        if x.special is not None:
            special = np.max(np.where(x.special != FINITE, UNDEFINED, FINITE), axis=axes).astype(np.int8)
        count = int(np.prod([x.shape[axis] for axis in axes]))
        terms = x.terms if count else None
        if terms is not None:
            terms = Terms(self.draw.sum(terms.exponents, axes), terms.count * count)
        number = self._sum_of_multiples(x, axes) if x.quadratic is not None and special is None else None
        number = number or Number(self.draw.sum(x.residues, axes), special)
        return number.but(
            nonnegative=x.nonnegative,
            scale=x.scale,
            sum_of_squares=None if x.square_of is None else (x.square_of, axes),
            terms=terms,
        )

    def _sum_of_multiples(self, x: Number, axes: tuple[int, ...]) -> Number | None:
        """Σ (aᵢ + bᵢℓ) = Σ aᵢ + (Σ bᵢ)ℓ, if all terms have one letter."""
        q, draw = x.quadratic, self.draw
        assert q is not None
        letter = q.letter.common(axes)
        if letter is None:
            return self._sum_one_by_one(x, axes)
        constant = None if q.constant is None else draw.sum(q.constant, axes)
        return from_quadratic(draw, constant, draw.sum(q.coefficient, axes), letter, draw.sum(x.residues, axes))

    def _sum_one_by_one(self, x: Number, axes: tuple[int, ...]) -> Number | None:
        """Σ x of a few terms of which not all have the same letter, as 0 + bℓ; None of more."""
        count = int(np.prod([x.shape[axis] for axis in axes]))
        if "roots in matrices" not in self.laws or not 1 < count <= MOST_ADDED:
            return None
        places, first = tuple(axis + 1 for axis in axes), tuple(range(1, 1 + len(axes)))
        rest = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
        rows = x.moved(lambda a: np.moveaxis(a, places, first).reshape(len(a), count, *rest))
        terms = [rows.moved(lambda a, k=k: a[:, k]) for k in range(count)]
        return functools.reduce(self.add, terms)

    def contracted(
        self, bilinear: Callable[[Residues, Residues], Residues], x: Number, y: Number, product: Residues
    ) -> Number:
        """A sum of products of entries of two arrays, f(bℓ, y) = f(b, y)·ℓ; `product`: its value without that."""
        a, b = self._multiple_of_root(x), self._multiple_of_root(y)
        if math.prod(product.shape) >= LARGE or "square of a root" not in self.laws or a is None and b is None:
            return Number(product)
        letter = (a or b).letter.spread(product.shape)  # type: ignore[union-attr]
        if a is not None and b is not None and a.letter.is_(b.letter):
            both = bilinear(a.coefficient, b.coefficient)
            return Number(both if letter.square is None else self.draw.multiply(both, letter.square))
        coefficient = (
            bilinear(a.coefficient, y.residues) if a is not None else bilinear(x.residues, b.coefficient)  # type: ignore[union-attr]
        )
        return from_quadratic(self.draw, None, coefficient, letter, product)

    def _multiple_of_root(self, x: Number) -> Quadratic | None:
        """bℓ with one letter for all entries, whose shape is (); None for anything else."""
        q = x.quadratic
        if q is None or q.constant is not None:
            return None
        letter = q.letter.common(tuple(range(len(x.shape))))
        return None if letter is None else Quadratic(None, q.coefficient, letter)

    def canonical_scale(self, x: Residues, scale: Fraction) -> Fraction:
        """A positive s such that x/s is the same for all multiples of x that were met: the first one's choice.

        Any positive rational is right here; `scale` is what the program suggests.
        """
        if "homogeneity" not in self.laws or not x.levels[0].size:
            return ONE
        columns = columns_of(x)
        found = self.scales.get(columns[0], scale)
        base = columns_of(self.draw.scale(x, 1 / found))
        for column, base_column in zip(columns, base, strict=True):
            self.scales.setdefault(column, found)
            self.scales.setdefault(base_column, ONE)
        return found

    def scales_of(self, x: Residues) -> list[Fraction]:
        """The canonical scales of the entries of a small array; none of a larger one, or without that law."""
        if "homogeneity" not in self.laws or not 0 < math.prod(x.shape) <= MOST_SCALES:
            return []
        return [self.scales.get(column, ONE) for column in columns_of(x)]

    def _terms(self, x: Number) -> Terms | None:
        """A constant is one term with exponent 0."""
        if x.terms is not None or not self.logarithms:
            return x.terms
        closed = None if x.closed is None else x.closed.uniform
        not_zero = x.known is not None and np.all(x.known != 0) or closed is not None and closed.positive
        constant = not_zero and x.special is None
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


def columns_of(x: Residues) -> list[bytes]:
    """A key for each entry of x: the bytes of its residues in all copies of the top level."""
    rows = np.ascontiguousarray(x.levels[0].reshape(len(x.levels[0]), -1)[:, :REMEMBERED].T)
    return [row.tobytes() for row in rows]


def _optional(add, a: Residues | None, b: Residues | None) -> Residues | None:
    return add(a, b) if a is not None and b is not None else a if b is None else b


def modest(scale: Fraction) -> Fraction:
    """The scale, or 1 if its numerator or denominator has become too tall."""
    return scale if max(scale.numerator, scale.denominator) < TALLEST else ONE


def _sum_codes(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """±∞ + finite = ±∞; opposite infinities and anything undefined are undefined."""
    clash = (a == UNDEFINED) | (b == UNDEFINED) | (a * b == -1)
    return np.where(clash, UNDEFINED, np.where(a == FINITE, b, a))


def _opposite_codes(a: np.ndarray) -> np.ndarray:
    return np.where(a == UNDEFINED, UNDEFINED, -a)


def _any_undefined(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A product with an entry that is not finite is not followed."""
    return np.where((a != FINITE) | (b != FINITE), UNDEFINED, FINITE)


def undefined_codes(code: np.ndarray) -> np.ndarray:
    """Everything that is not finite is undefined."""
    return np.where(code != FINITE, UNDEFINED, FINITE)
