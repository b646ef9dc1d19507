"""Real functions as functions on residues: each is the most general one with the laws that it is known to obey.

What holds for every function with these laws holds for the real one, so equality of residues carries over to the
reals; docs/soundness.md has the proofs, law by law.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np

from uat_jax.interpret import closed_form
from uat_jax.interpret.closed_form import PI, Base, ClosedForm, Cosine, E, LogSum, Product, multiplied, negated
from uat_jax.interpret.closed_form import rational as rational_form
from uat_jax.numbers.balls.constants import ClosedForms
from uat_jax.numbers.prime_fields.algebra import columns_of, undefined_codes
from uat_jax.numbers.prime_fields.laws import LAWS as LAWS
from uat_jax.numbers.prime_fields.logged_products import LoggedProducts
from uat_jax.numbers.prime_fields.met_keys import MetKeys
from uat_jax.numbers.prime_fields.met_logarithms import MetLogarithms
from uat_jax.numbers.prime_fields.met_products import MetProducts
from uat_jax.numbers.prime_fields.met_signs import MetSigns
from uat_jax.numbers.prime_fields.met_squares import MetSquares
from uat_jax.numbers.prime_fields.number import (
    FINITE,
    MINUS_INFINITY,
    ONE,
    UNDEFINED,
    Letter,
    Number,
    Terms,
    combined_special,
    from_quadratic,
    rational,
)
from uat_jax.numbers.prime_fields.piecewise import Piecewise
from uat_jax.numbers.prime_fields.residues import Draw, Residues, same, vanishes


class FieldFunctions(Piecewise):
    """All functions, at one random draw and under a set of laws: roots, exponentials and logarithms as well.

    small: arrays of few entries, by the places of their expressions.
    reflections: triples of both results of a factorisation by reflections, and their product Q.
    factors_of_matrices: triples of two matrices and what their product is known to be.  spectra: eigenvalues and
    singular values that were met.  matrices_met: matrices whose eigenvalues are unknown functions, what they were
    divided by, and what was suggested.  preimages: by the name of a function and an entry of a value, the numbers,
    their values and the place at which the function has it.
    roots: by the entries of their squares, multiples of roots that are not negative; almost_roots: those of numbers as
    they are almost everywhere.  angles: by the squares of their sines and their signs, angles between -π/2 and π/2.
    """

    def __init__(self, draw: Draw, laws: frozenset[str] = LAWS, *, logarithms: bool = False):
        super().__init__(draw, laws, logarithms=logarithms)
        self.forms: dict[ClosedForm, Number] = {}
        self.small: dict[int, Number] = {}
        self.factors: dict[bytes, ClosedForm] = {}
        self.products = LoggedProducts(draw)
        self.squares = MetSquares(draw) if "root of a square met before" in laws else None
        self.logarithms_met = MetLogarithms(draw) if "inverse functions" in laws else None
        self.keys = MetKeys(draw)
        self.exponents_met = MetSigns(draw)
        self.reflections: list[tuple[Number, Number, Number]] = []
        self.preimages: dict[tuple[str, bytes], tuple[Number, Residues, int]] = {}
        self.roots: dict[tuple[tuple[int, ...], bytes], Number] = {}
        self.angles: dict[tuple[tuple[int, ...], bytes], Residues] = {}
        self.almost_roots: dict[tuple[tuple[int, ...], bytes], Number] = {}
        self.factors_of_matrices: list[tuple[Residues, Residues, Residues]] = []
        self.spectra: list[Any] = []
        self.matrices_met: list[tuple[Residues, Fraction, Fraction]] = []
        self.inner_products = MetProducts()

    def closed(self, form: ClosedForm) -> Number:
        """A number in closed form: π and its root, e, and roots of other degrees than 2 and 4 are letters.

        A letter stands for every real number, so what is true of it is true of π; what is known of π alone is lost.
        """
        if form not in self.forms:
            number = self._log_sum(form) if isinstance(form, LogSum) else self._product_form(form)
            self.forms[form] = number.but(closed=ClosedForms(np.zeros((), int), (form,)))
        return self.forms[form]

    def _log_sum(self, form: LogSum) -> Number:
        """r + Σ q·log b, log b being L(b)."""
        total = self.constant(form.constant)
        for base, q in form.logs:
            number = rational_form(base) if isinstance(base, int) else Product(ONE, ((base, ONE),))
            log = Number(self._odd_logarithm(self.closed(number).residues))
            total = self.add(total, self.multiply(self.constant(q), log))
        return total

    def _product_form(self, form: Product) -> Number:
        """c·∏ b^q; the square and fourth roots of primes are roots of one product each."""
        number, half, quarter = self.constant(form.coefficient), 1, 1
        for base, q in form.powers:
            if isinstance(base, int) and q.denominator in (2, 4):
                half *= base if q in (Fraction(1, 2), Fraction(3, 4)) else 1
                quarter *= base if q.denominator == 4 else 1
            else:
                number = self.multiply(number, self._letter_power(base, q))
        if half > 1:
            number = self.multiply(number, self.root(self.constant(half)))
        return number if quarter == 1 else self.multiply(number, self.root(self.root(self.constant(quarter))))

    def _letter_power(self, base: Base, q: Fraction) -> Number:
        """b^q for a base that is no prime, or with a root of another degree."""
        if isinstance(base, Cosine) and q.denominator == 1:
            cosine = self.draw.cosine(base.turn)
            return self.power(Number(cosine or self.draw.opaque(str(base), self.draw.fraction(1))), int(q))
        if base == E:
            return self.exponential(self.constant(q))
        if base == PI and q.denominator <= 2:
            return self.power(Number(self.draw.opaque("root of π", self.draw.fraction(1))), int(2 * q))
        if isinstance(base, LogSum) and q.denominator == 1:
            return self.power(self.closed(base), int(q))
        return Number(self.draw.opaque(f"({base})^{q}", self.draw.fraction(1)))

    def root(self, x: Number) -> Number:
        """√x: |y| for x = y², rational where possible, else a letter whose square is x."""
        if x.square_of is not None and "root of a square" in self.laws:
            return self.absolute(x.square_of)
        value = rational(self.draw, x)
        if value is None and x.special is None and same(x.residues, self.draw.fraction(1, x.shape)):
            value = ONE  # cos² + sin²
        if value is not None and value > 0:
            return self._root_of_rational(value, x.shape)
        if self.squares is not None and x.special is None and (met := self.squares.root(x.residues)) is not None:
            return Number(met, nonnegative=True)
        scale = self.canonical_scale(x.residues, x.scale)
        if (magnitude := self._root_of_square_met(x, scale)) is not None:
            return magnitude
        if self.squares is not None and (known := self.squares.multiple_of_root(x)) is not None:
            s, z, root = known
            multiple = self.multiply(self._root_of_rational(s, x.shape), self._magnitude(z))
            return self.multiply(multiple, root).but(nonnegative=True)
        special = combined_special((x.special,), x.shape, _of_positive)
        if (scales := self.scales_of(x.residues)) and scales != [scale] * len(scales):
            return self._root_of_each(x, scales).but(nonnegative=True, special=special)
        outer, inner, scale = self._square_part(scale)
        letter = self._root_letter(self.draw.scale(x.residues, 1 / scale))
        factor = self.draw.scale(self.draw.root(int(inner), x.shape), outer)
        found = from_quadratic(self.draw, None, factor, letter).but(nonnegative=True, special=special, scale=outer)
        if self.squares is not None:
            self.squares.meet_root(x, found)
        return found

    def _square_part(self, scale: Fraction) -> tuple[Fraction, Fraction, Fraction]:
        """(k, f, s) with s = k²f, where √f exists; s is the scale, or its square part."""
        outer, inner = _square_part(scale)
        return (outer, inner, scale) if inner == 1 or self.draw.has_root(inner) else (outer, ONE, outer * outer)

    def _root_of_each(self, x: Number, scales: list[Fraction]) -> Number:
        """√x where multiples of the entries were met that have different scales."""
        parts, draw = [self._square_part(scale) for scale in scales], self.draw
        roots = [draw.scale(draw.root(int(inner)), outer) for outer, inner, _ in parts]
        factor = draw.stack(roots).reshaped(x.shape)
        letter = self._root_letter(
            draw.multiply(x.residues, draw.fractions([1 / s for *_, s in parts]).reshaped(x.shape))
        )
        return from_quadratic(draw, None, factor, letter)

    def _root_of_square_met(self, x: Number, scale: Fraction) -> Number | None:
        """√(s·y²) = √s·|y| for a number y that was squared before; s is 1, or what the program suggests."""
        if self.squares is None or x.special is not None:
            return None
        for s in dict.fromkeys((ONE, scale)):
            met = self.squares.base(self.draw.scale(x.residues, 1 / s))
            if met is not None:
                return self.multiply(self._root_of_rational(s, x.shape), self._magnitude(met))
        return None

    def _magnitude(self, x: Number) -> Number:
        """|x|, which is -x for a number that is negative for all inputs."""
        negative = x.facts is not None and not x.facts.guarded and bool(x.facts.negative.all())
        return self.negate(x).but(nonnegative=True) if negative else self.absolute(x)

    def _root_of_rational(self, value: Fraction, shape: tuple[int, ...]) -> Number:
        """√(k²f) = k√f with f squarefree."""
        outer, inner = _square_part(value)
        if inner == 1:
            return self.constant(outer, shape)
        if self.draw.has_root(inner):
            number = Number(self.draw.scale(self.draw.root(int(inner), shape), outer), nonnegative=True)
            return number.but(known=np.full(shape, float(value) ** 0.5))
        part = math.prod(q for q in (2, 3, 5, 7) if inner.numerator % q == 0 and self.draw.has_root(q))
        letter = self._root_letter(self.draw.fraction(inner / part, shape))
        coefficient = self.draw.scale(self.draw.root(part, shape), outer)
        number = from_quadratic(self.draw, None, coefficient, letter)
        return number.but(nonnegative=True, known=np.full(shape, float(value) ** 0.5), scale=outer)

    def _root_letter(self, square: Residues) -> Letter:
        inverse = self.draw.opaque("rsqrt", square)
        return Letter(self.draw.multiply(square, inverse), inverse, square, True)

    def exponential(self, x: Number) -> Number:
        """exp(x); 0 at -∞; k^q·exp(y) for x = y + q·log k."""
        if x.summand is not None and isinstance(x.summand[1], LogSum) and x.special is None:
            power = closed_form.exponential(x.summand[1])
            if power is not None:
                value = self.multiply(self.spread(self.closed(power), x.shape), self.exponential(x.summand[0]))
                return value if power.rational is not None else value.but(factor=power)
        residues = self.draw.exponential(x.residues)
        if "logarithm of a product met before" in self.laws and x.special is None:
            self.products.exponential(residues, x.residues)
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
        special = combined_special((x.special,), x.shape, undefined_codes)
        return Number(cosine, special), Number(draw.multiply(draw.subtract(forward, backward), half_over_i), special)

    def logarithm(self, x: Number) -> Number:
        """log x: ½ log x² of a root, log n - log d of n/d, t + L(x·exp(-t)) of exponentials of mean exponent t.

        L(y) = h(y) - h(1/y).
        """
        square = self._square_of_root(x)
        if square is not None:
            return self.multiply(self.constant(Fraction(1, 2), x.shape), self.logarithm(Number(square)))
        if x.factors is not None:
            return self.subtract(self.logarithm(x.factors[0]), self.logarithm(x.factors[1]))
        special = combined_special((x.special,), x.shape, _of_positive)
        factor = multiplied(rational_form(x.scale), x.factor or rational_form(1))
        if x.terms is None:
            zero = np.where(vanishes(x.residues), MINUS_INFINITY, FINITE)
            lowest = lambda codes, zeros: np.where(codes == FINITE, zeros, codes)
            return Number(self._logarithm(x.residues, factor), combined_special((special, zero), x.shape, lowest))
        draw = self.draw
        mean = draw.scale(x.terms.exponents, Fraction(1, x.terms.count))
        base = draw.multiply(x.residues, draw.exponential(draw.negate(mean)))
        return Number(draw.add(mean, self._logarithm(base, factor)), special)

    def _logarithm(self, y: Residues, factor: ClosedForm | None = None) -> Residues:
        """log c + L(y/c), c being the canonical factor."""
        log = closed_form.logarithm(self._canonical_factor(y, factor or rational_form(1)))
        if log is None or log.rational == 0:
            found = self._odd_logarithm(y)
        else:
            inverse = closed_form.exponential(negated(log) or log)
            assert inverse is not None
            rest = self._odd_logarithm(self.draw.multiply(y, self.closed(inverse).residues))
            found = self.draw.add(self.closed(log).residues, rest)
        return self.products.logarithm(y, found) if "logarithm of a product met before" in self.laws else found

    def _square_of_root(self, x: Number) -> Residues | None:
        """The square of a number that is known as bℓ with ℓ² = v, or as ±b, under the law that looks at it."""
        q = x.quadratic
        if "logarithm of a product met before" not in self.laws or q is None or x.special is not None:
            return None
        if q.constant is not None and not vanishes(q.constant).all():
            return None
        square = self.draw.power(q.coefficient, 2)
        return square if q.letter.square is None else self.draw.multiply(square, q.letter.square)

    def _canonical_factor(self, y: Residues, factor: ClosedForm) -> ClosedForm:
        """A positive c such that y/c is the same for all multiples of y that were met: the first one's choice.

        Any c > 0 is right here; `factor` is what the program suggests.
        """
        if "homogeneity" not in self.laws or not y.levels[0].size or closed_form.logarithm(factor) is None:
            return rational_form(1)
        columns = columns_of(y)
        found = self.factors.get(columns[0], factor)
        inverse = closed_form.power(found, Fraction(-1))
        assert inverse is not None  # it is positive
        base = columns_of(self.draw.multiply(y, self.closed(inverse).residues))
        for column, base_column in zip(columns, base, strict=True):
            self.factors.setdefault(column, found)
            self.factors.setdefault(base_column, rational_form(1))
        return found

    def _odd_logarithm(self, y: Residues) -> Residues:
        zero = vanishes(y)
        divisor = self.draw.where(zero, self.draw.fraction(1), y) if zero.any() else y
        h = functools.partial(self.draw.opaque, "log")
        return self.draw.subtract(h(divisor), h(self.draw.inverse(divisor)))


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


def _of_positive(code: np.ndarray) -> np.ndarray:
    """Of a function that is defined for x > 0 and grows without bound: ∞ at ∞, nothing at -∞."""
    return np.where(code == MINUS_INFINITY, UNDEFINED, code)
