"""Complex numbers as pairs of arrays of real ones, and what functions of complex analysis are of both parts.

A part that is None is zero everywhere, so that a real number times a complex one takes two products and not four.
Functions of several values have their principal one: the argument of z lies in (-π, π], and is π on the negative axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import jax
import numpy as np
from jax import lax

LARGEST_POWER = 1024
"""A power with a larger exponent is not multiplied out."""

Part = Any
"""An array of real numbers, or None for zeros."""


def of_parts(parts: Iterable[Part], shape: Sequence[int], dtype: Any) -> Complex:
    """The number of two parts."""
    real, imag = parts
    return Complex(real, imag, tuple(shape), dtype)


@dataclass(frozen=True, eq=False)
class Complex:
    """A complex array as its real and its imaginary part, of one shape and dtype.

    norm: how |z|² is made where it is a product of others, such as |zw|² = |z|²|w|².  square: what z is the principal
    root of.  logarithm: (w, q) if z is q log w, with the principal logarithm.  conjugate: what z is the conjugate of.
    direction: w if z|w| is w, also where w = 0.  divides: w if z is |w|, or 1 where w = 0.
    """

    real: Part
    imag: Part
    shape: tuple[int, ...]
    dtype: Any
    norm: Callable[[], Any] | None = field(default=None, repr=False)
    square: Complex | None = field(default=None, repr=False)
    logarithm: tuple[Complex, Fraction] | None = field(default=None, repr=False)
    conjugate: Complex | None = field(default=None, repr=False)
    direction: Complex | None = field(default=None, repr=False)
    divides: Complex | None = field(default=None, repr=False)

    @property
    def parts(self) -> tuple[Any, Any]:
        """Both parts as arrays of the shape."""
        return self.filled(self.real), self.filled(self.imag)

    def filled(self, part: Part) -> jax.Array:
        """A part as an array of the shape."""
        if part is None:
            return lax.full(self.shape, 0, self.dtype)
        return part if np.shape(part) == self.shape else lax.broadcast_in_dim(part, self.shape, ())

    def of(self, real: Part, imag: Part, norm: Callable[[], Any] | None = None, **known: Any) -> Complex:
        """Another number of the same shape and dtype."""
        return Complex(real, imag, self.shape, self.dtype, norm, **known)

    @property
    def constant(self) -> Fraction | None:
        """The real constant that it is, if it is one number."""
        known = self.imag is None and isinstance(self.real, np.ndarray | np.generic) and np.size(self.real) == 1
        return Fraction(float(np.asarray(self.real).item())) if known and np.isfinite(self.real).all() else None

    def number(self, value: float) -> Any:
        """A real number in the dtype of the parts."""
        return np.asarray(value, self.dtype)


# --- parts that may be zero -------------------------------------------------------------------------------------------


def plus(a: Part, b: Part) -> Part:
    """a + b."""
    return b if a is None else a if b is None else lax.add(a, b)


def minus(a: Part, b: Part) -> Part:
    """a - b."""
    return a if b is None else lax.neg(b) if a is None else lax.sub(a, b)


def times(a: Part, b: Part) -> Part:
    """a·b; 1·b is b itself."""
    if a is None or b is None:
        return None
    if _is_one(a) or _is_one(b):
        return b if _is_one(a) else a
    return lax.mul(a, b)


def _is_one(a: Any) -> bool:
    return isinstance(a, np.ndarray | np.generic) and np.shape(a) == () and a == 1


def over(a: Part, b: Any) -> Part:
    """a/b."""
    return None if a is None else lax.div(a, b)


def opposite(a: Part) -> Part:
    """-a."""
    return None if a is None else lax.neg(a)


# --- the field of complex numbers -------------------------------------------------------------------------------------


def added(z: Complex, w: Complex) -> Complex:
    """z + w."""
    return z.of(plus(z.real, w.real), plus(z.imag, w.imag))


def subtracted(z: Complex, w: Complex) -> Complex:
    """z - w."""
    return z.of(minus(z.real, w.real), minus(z.imag, w.imag))


def negated(z: Complex) -> Complex:
    """-z."""
    return z.of(opposite(z.real), opposite(z.imag), lambda: norm(z))


def conjugate(z: Complex) -> Complex:
    """The conjugate a - ib of z = a + ib."""
    return z.conjugate or z.of(z.real, opposite(z.imag), lambda: norm(z), conjugate=z)


def bilinear(product: Callable[[Any, Any], Any], z: Complex, w: Complex) -> tuple[Part, Part]:
    """The parts of a product that is real-bilinear: those of (a + ib)(c + id) are ac - bd and ad + bc."""
    of = lambda a, b: None if a is None or b is None else product(a, b)
    real = minus(of(z.real, w.real), of(z.imag, w.imag))
    return real, plus(of(z.real, w.imag), of(z.imag, w.real))


def multiplied(z: Complex, w: Complex) -> Complex:
    """z·w."""
    if z is w and z.square is not None:
        return z.square
    logarithm = _scaled_logarithm(z, w.constant) or _scaled_logarithm(w, z.constant)
    real, imag = bilinear(times, z, w)
    return z.of(real, imag, lambda: lax.mul(norm(z), norm(w)), logarithm=logarithm)


def _scaled_logarithm(z: Complex, factor: Fraction | None) -> tuple[Complex, Fraction] | None:
    """What c·z is the logarithm of, if z is one."""
    return None if z.logarithm is None or not factor else (z.logarithm[0], z.logarithm[1] * factor)


def divided(z: Complex, w: Complex) -> Complex:
    """z/w: (a + ib)/(c + id) = ((ac + bd) + i(bc - ad))/(c² + d²)."""
    quotient = lambda: lax.div(norm(z), norm(w))
    if w.imag is None:
        c = w.filled(None) if w.real is None else w.real
        logarithm = _scaled_logarithm(z, 1 / w.constant if w.constant else None)
        same = w.divides is not None and any(w.divides is x for x in (z, z.conjugate))
        direction = z if same else None
        return z.of(over(z.real, c), over(z.imag, c), quotient, logarithm=logarithm, direction=direction)
    if w.real is None:
        return z.of(over(z.imag, w.imag), opposite(over(z.real, w.imag)), quotient)
    divisor = lax.add(lax.square(w.real), lax.square(w.imag))
    real, imag = bilinear(times, z, conjugate(w))
    return z.of(over(real, divisor), over(imag, divisor), quotient)


def one(z: Complex) -> Complex:
    """1, in the shape and dtype of z."""
    return z.of(z.number(1), None)


def power(z: Complex, n: int) -> Complex:
    """z^n by squaring, for any whole n."""
    if n == 0:
        return one(z)
    if n < 0:
        return divided(one(z), power(z, -n))
    if n % 2:
        return z if n == 1 else multiplied(z, power(z, n - 1))
    root = power(z, n // 2)
    return multiplied(root, root)


# --- modulus, argument, roots -----------------------------------------------------------------------------------------


def norm(z: Complex) -> Any:
    """|z|² = a² + b²."""
    if z.norm is not None:
        return z.norm()
    squares = plus(*(None if part is None else lax.square(part) for part in (z.real, z.imag)))
    return z.filled(squares)


def modulus(z: Complex) -> Any:
    """|z| = √(a² + b²)."""
    if z.imag is None or z.real is None:
        only = plus(z.real, z.imag)
        return z.filled(None if only is None else lax.abs(only))
    return lax.sqrt(norm(z))


def argument(z: Complex) -> Part:
    """The angle in (-π, π] from the positive axis to z; 0 of 0."""
    return lax.atan2(*reversed(z.parts))


def is_zero(z: Complex) -> Any:
    """Where z = 0."""
    return lax.bitwise_and(*(lax.eq(part, z.number(0)) for part in z.parts))


def sign(z: Complex) -> Complex:
    """z/|z|, and 0 of 0."""
    if z.imag is None or z.real is None:
        real, imag = (None if part is None else lax.sign(part) for part in (z.real, z.imag))
        return z.of(real, imag, direction=z)
    divisor = lax.select_n(is_zero(z), modulus(z), lax.full(z.shape, 1, z.dtype))
    return z.of(over(z.real, divisor), over(z.imag, divisor), direction=z)


def root(z: Complex) -> Complex:
    """The principal root, √((|z| + a)/2) ± i√((|z| - a)/2), with the sign of b; + where b = 0."""
    a, b = z.parts
    half = lambda x: lax.sqrt(lax.mul(x, z.number(0.5)))
    r = modulus(z)
    real, imag = half(lax.add(r, a)), half(lax.sub(r, a))
    if z.imag is not None:
        imag = lax.select_n(lax.lt(b, z.number(0)), imag, lax.neg(imag))
    return z.of(real, imag, lambda: r, square=z)


def powered(z: Complex, exponent: Fraction) -> Complex:
    """z^p for a real number p: |z|^p (cos pθ + i sin pθ) with the argument θ of z."""
    if exponent.denominator <= 2:
        return power(z if exponent.denominator == 1 else root(z), exponent.numerator)
    angle = lax.mul(argument(z), z.number(float(exponent)))
    length = lax.pow(modulus(z), z.number(float(exponent)))
    return z.of(lax.mul(length, lax.cos(angle)), lax.mul(length, lax.sin(angle)), lambda: lax.square(length))


# --- exponentials and what is made of them ----------------------------------------------------------------------------


def exponential(z: Complex) -> Complex:
    """e^(a + ib) = e^a (cos b + i sin b)."""
    if z.logarithm is not None and abs(z.logarithm[1].numerator) <= LARGEST_POWER and z.logarithm[1].denominator <= 2:
        return powered(*z.logarithm)
    if z.imag is None:
        return one(z) if z.real is None else z.of(lax.exp(z.real), None)
    turn = lax.cos(z.imag), lax.sin(z.imag)
    if z.real is None:
        return z.of(*turn)
    length = lax.exp(z.real)
    real, imag = (lax.mul(length, part) for part in turn)
    return z.of(real, imag, lambda: lax.square(z.filled(length)))


def logarithm(z: Complex) -> Complex:
    """The principal logarithm, log|z| + iθ with the argument θ of z."""
    return z.of(lax.log(modulus(z)), argument(z), logarithm=(z, Fraction(1)))


def hyperbolic_cosine(z: Complex) -> Complex:
    """cosh(a + ib) = cosh a cos b + i sinh a sin b."""
    a, b = z.parts
    return z.of(lax.mul(lax.cosh(a), lax.cos(b)), lax.mul(lax.sinh(a), lax.sin(b)))


def hyperbolic_sine(z: Complex) -> Complex:
    """sinh(a + ib) = sinh a cos b + i cosh a sin b."""
    a, b = z.parts
    return z.of(lax.mul(lax.sinh(a), lax.cos(b)), lax.mul(lax.cosh(a), lax.sin(b)))


def turned(z: Complex) -> Complex:
    """iz."""
    return z.of(opposite(z.imag), z.real)


def cosine(z: Complex) -> Complex:
    """cos z = cosh iz."""
    return hyperbolic_cosine(turned(z))


def sine(z: Complex) -> Complex:
    """sin z = -i sinh iz."""
    found = hyperbolic_sine(turned(z))
    return z.of(found.imag, opposite(found.real))


def tangent(z: Complex) -> Complex:
    """tan z = sin z/cos z."""
    return divided(sine(z), cosine(z))


def hyperbolic_tangent(z: Complex) -> Complex:
    """tanh z = sinh z/cosh z."""
    return divided(hyperbolic_sine(z), hyperbolic_cosine(z))


def logistic(z: Complex) -> Complex:
    """1/(1 + e^-z)."""
    return divided(one(z), added(one(z), exponential(negated(z))))


def power_of_two(z: Complex) -> Complex:
    """2^z = e^(z log 2), log 2 being the number and no float."""
    log = lax.log(z.number(2))
    return exponential(z.of(times(z.real, log), times(z.imag, log)))
