"""Complex numbers between real inputs and real outputs: constants, branches, transforms, zeros and infinities."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .row import Different, Equal, S, V, f32, f64, ind

ROOTS = np.array([1, 1j, -1], np.complex64)
REALS = np.array([1, 0, -1], np.complex64)
Q = (S, S, S, S)


def z(x, y):
    """x + iy."""
    return lax.complex(x, y)


def turn(k, n):
    """cos(2πk/n), computed by the program."""
    return jnp.cos(2 * jnp.pi * jnp.float32(k) / n)


DIFFERENT = (
    Different("modulus of ix and 2ix", lambda x: jnp.abs(x * 1j), lambda x: jnp.abs(x * 2j), (S,), (3,)),
    Different("modulus of ix and 0", lambda x: jnp.abs(x * 1j), lambda x: 0 * x, (S,), (3,)),
    Different("modulus of x + iy and |x|", lambda x, y: jnp.abs(x + 1j * y), lambda x, y: jnp.abs(x) + 0 * y, (S, S), (3, 4)),
    Different("modulus of x + i and |x|", lambda x: jnp.abs(x + 1j), lambda x: jnp.abs(x), (S,), (0,)),
    Different("modulus of x + i and x - 2i", lambda x: jnp.abs(x + 1j), lambda x: jnp.abs(x - 2j), (S,), (0,)),
    Different("a filter's gain", lambda x: jnp.abs(1 / (1 + 1j * x)), lambda x: jnp.abs(1 / (1 + 2j * x)), (S,), (1,)),
    Different("a filter's gain and 1", lambda x: jnp.abs(1 / (1 + 1j * x)), lambda x: 1 + 0 * x, (S,), (1,)),
    Different("cosine and cosine of 2x", lambda x: jnp.exp(1j * x).real, lambda x: jnp.exp(2j * x).real, (S,), (1,)),
    Different("cosine and 1", lambda x: jnp.exp(1j * x).real, lambda x: 1 + 0 * x, (S,), (1,)),
    Different("sine and 0", lambda x: jnp.exp(1j * x).imag, lambda x: 0 * x, (S,), (1,)),
    Different("real part of a square", lambda x: ((x + 1j) * (x + 1j)).real, lambda x: ((x + 0j) * (x + 0j)).real, (S,), (3,)),
    Different("imaginary part of a product", lambda x: ((x + 1j) * (2 + 3j)).imag, lambda x: ((x + 1j) * (2 + 4j)).imag, (S,), (3,)),
    Different("imaginary part and 0", lambda x: (x * (1 + 2j)).imag, lambda x: 0 * x, (S,), (3,)),
    Different("an array of roots", lambda x: jnp.abs(jnp.sum(x * ROOTS)), lambda x: jnp.abs(jnp.sum(x * REALS)), (V,), ((3, 4, 3),)),
    Different("a dot with roots", lambda x: jnp.abs(jnp.dot(x.astype(jnp.complex64), ROOTS)), lambda x: jnp.abs(jnp.dot(x.astype(jnp.complex64), REALS)), (V,), ((3, 4, 3),)),
    Different("conjugation", lambda x: jnp.conj(x * 1j).imag, lambda x: (x * 1j).imag, (S,), (3,)),
    Different("vdot and dot", lambda x: jnp.vdot(x * 1j, ROOTS).real, lambda x: jnp.dot(x * 1j, ROOTS).real, (V,), ((3, 4, 5),)),
    Different("spectra", lambda x: jnp.abs(jnp.fft.fft(x)), lambda x: jnp.abs(jnp.fft.fft(2 * x)), (f32(4),), ((1, 2, 3, 5),)),
    Different("spectra of a shift", lambda x: jnp.fft.fft(x).real, lambda x: jnp.fft.fft(jnp.roll(x, 1)).real, (f32(4),), ((1, 2, 3, 5),)),
    Different("real spectrum", lambda x: jnp.fft.rfft(x).imag, lambda x: 0 * x[:3], (f32(4),), ((1, 2, 3, 5),)),
    Different("lax.complex", lambda x, y: lax.complex(x, y).imag, lambda x, y: lax.complex(y, x).imag, (S, S), (3, 4)),
    Different("a chosen complex constant", lambda x: jnp.abs(jnp.where(x > 20, 1j, 1.0 + 0j)) * x, lambda x: jnp.abs(jnp.where(x > 20, 2j, 1.0 + 0j)) * x, (S,), (25,)),
    Different("a complex polynomial", lambda x: jnp.abs(1j * x * x + x + 1), lambda x: jnp.abs(x + 1), (S,), (2,)),
    Different("a power of i", lambda x: (x * (1j) ** 2).real, lambda x: x, (S,), (3,)),
    Different("complex128", lambda x: jnp.abs(x + 1j), lambda x: jnp.abs(x + 2j), (f64(),), (0,)),
    Different("equality of complex numbers", lambda x: ind((0 * x + 1j) == (0 * x + 2j)), lambda x: 1 + 0 * x, (S,), (3,)),
    Different("a complex argument's sign", lambda x: jnp.sign(x * 1j).imag, lambda x: jnp.sign(x * -1j).imag, (S,), (3,)),
    Different("a rotation", lambda x: (x * jnp.exp(0.5j)).real, lambda x: (x * jnp.exp(0.25j)).real, (S,), (3,)),
    Different("the square of a modulus", lambda x: jnp.abs(x + 3j) ** 2, lambda x: x * x, (S,), (4,)),
    Different("under vmap", jax.vmap(lambda v: jnp.abs(v * 1j)), jax.vmap(lambda v: jnp.abs(v * 2j)), (V,), ((3, 4, 5),)),
    Different("a sum in a scan", lambda x: jnp.abs(lax.scan(lambda c, v: (c + 1j * v, None), x[0] * 0j, x)[0]), lambda x: jnp.abs(2 * x.sum()), (V,), ((3, 4, 5),)),
    Different("logarithm of a product", lambda a, b, c, d: jnp.log(z(a, b) * z(c, d)).imag, lambda a, b, c, d: (jnp.log(z(a, b)) + jnp.log(z(c, d))).imag, Q, (-1, 1, -1, 2)),
    Different("logarithm of an exponential", lambda x, y: jnp.log(jnp.exp(z(x, y))).imag, lambda x, y: y + 0 * x, (S, S), (0, 5)),
    Different("root of a square", lambda x, y: jnp.sqrt(z(x, y) * z(x, y)).real, lambda x, y: x + 0 * y, (S, S), (-2, 1)),
    Different("product of roots", lambda a, b, c, d: (jnp.sqrt(z(a, b)) * jnp.sqrt(z(c, d))).real, lambda a, b, c, d: jnp.sqrt(z(a, b) * z(c, d)).real, Q, (-3, 4, -3, 4)),
    Different("root and its negative", lambda x, y: jnp.sqrt(z(x, y)).imag, lambda x, y: -jnp.sqrt(z(x, y)).imag, (S, S), (3, 4)),
    Different("root of a conjugate", lambda x, y: jnp.sqrt(z(x, 0 - y)).imag, lambda x, y: -jnp.sqrt(z(x, y)).imag, (S, S), (-4, 0), null_set=True),
    Different("argument of a conjugate", lambda x, y: jnp.angle(z(x, 0 - y)), lambda x, y: -jnp.angle(z(x, y)), (S, S), (-1, 0), null_set=True),
    Different("argument of a turned number", lambda x, y: jnp.angle(z(x, y) * 1j), lambda x, y: jnp.angle(z(x, y)) + jnp.pi / 2, (S, S), (-2, 1)),
    Different("power of a power", lambda x, y: ((z(x, y) ** 2) ** 0.5).real, lambda x, y: x + 0 * y, (S, S), (-2, 1)),
    Different("cube root of a cube", lambda x, y: ((z(x, y) ** 3) ** 0.25).real, lambda x, y: (z(x, y) ** 0.75).real, (S, S), (-1, 1)),
    Different("sign at zero", lambda x, y: jnp.sign(z(x, y)).real, lambda x, y: jnp.exp(1j * jnp.angle(z(x, y))).real, (S, S), (0, 0), null_set=True),
    Different("root except at zero", lambda x, y: jnp.where(z(x, y) == 0, 5.0, jnp.sqrt(z(x, y)).real), lambda x, y: jnp.sqrt(z(x, y)).real, (S, S), (0, 0), null_set=True),
    Different("polar form except at zero", lambda x, y: (jnp.abs(z(x, y)) * jnp.exp(1j * jnp.angle(z(x, y)))).real + ind(z(x, y) == 0), lambda x, y: x + 0 * y, (S, S), (0, 0), null_set=True),
    Different("modulus times another direction", lambda x, y: (jnp.abs(z(x, y)) * jnp.sign(z(y, x))).real, lambda x, y: x + 0 * y, (S, S), (3, 4)),
    Different("modulus of another number", lambda x, y: (jnp.abs(z(x, 2 * y)) * jnp.sign(z(x, y))).real, lambda x, y: x + 0 * y, (S, S), (3, 4)),
    Different("a sum of moduli", lambda a, b, c, d: jnp.abs(z(a, b) + z(c, d)), lambda a, b, c, d: jnp.abs(z(a, b)) + jnp.abs(z(c, d)), Q, (1, 1, -1, 1)),
    Different("derivative of a modulus", jax.grad(lambda x, y: jnp.abs(z(x, y)) ** 2, 1), lambda x, y: 2 * x + 0 * y, (S, S), (1, 2)),
    Different("an inverse that is not divided", lambda x: jnp.fft.ifft(jnp.fft.fft(x)).real, lambda x: jnp.fft.ifft(jnp.fft.fft(x), norm="forward").real, (f32(4),), ((1, 2, 3, 5),)),
    Different("transform and inverse", lambda x: jnp.fft.fft(x).imag, lambda x: 4 * jnp.fft.ifft(x).imag, (f32(4),), ((1, 2, 3, 5),)),
    Different("odd and even length", lambda x: jnp.fft.irfft(jnp.fft.rfft(x), 5), lambda x: jnp.append(jnp.fft.irfft(jnp.fft.rfft(x), 4), 0 * x[0]), (f32(5),), ((1, 2, 3, 5, 7),)),
    Different("conjugate cosines of 7", lambda x: x * turn(1, 7), lambda x: x * turn(2, 7), (S,), (1,)),
    Different("a root of 5", lambda x: x * (4 * turn(1, 5) + 1), lambda x: x * (4 * turn(2, 5) + 1), (S,), (1,)),
    Different("turns of 16", lambda x: x * turn(1, 16) ** 2, lambda x: x * (1 - turn(1, 8)) / 2, (S,), (1,)),
    Different("a zero of a table", lambda x: x * np.float32(6.123234e-17) * 1e17, lambda x: x * np.float32(1.2246468e-16) * 1e17, (S,), (1,)),
    Different("an infinity times zero", lambda x: (jnp.where(x > 0, jnp.inf, x).astype(jnp.complex64) * (2 + 0j)).imag, lambda x: 0 * x, (S,), (1,), infinite=True),
)  # fmt: skip

EQUAL = (
    Equal("modulus of ix", lambda x: jnp.abs(x * 1j), lambda x: jnp.abs(x), (S,)),
    Equal("modulus of x + iy", lambda x, y: jnp.abs(x + 1j * y), lambda x, y: jnp.sqrt(x * x + y * y), (S, S)),
    Equal("real part of a product", lambda x: ((x + 1j) * (x - 1j)).real, lambda x: x * x + 1, (S,)),
    Equal("imaginary part of a product", lambda x: (x * (1 + 2j)).imag, lambda x: 2 * x, (S,)),
    Equal("the same complex program", lambda x: jnp.abs(1 / (1 + 1j * x)), lambda x: jnp.abs(1 / (1 + 1j * x)), (S,)),
    Equal("conjugated twice", lambda x: jnp.conj(jnp.conj(x * 1j)).imag, lambda x: (x * 1j).imag, (S,)),
    Equal("square of a root", lambda x, y: (jnp.sqrt(z(x, y)) ** 2).real, lambda x, y: x + 0 * y, (S, S)),
    Equal("logarithm and modulus", lambda x, y: jnp.log(z(1 + x * x, y)).real, lambda x, y: jnp.log(jnp.abs(z(1 + x * x, y))), (S, S)),
    Equal("modulus and direction", lambda x, y: (jnp.abs(z(x, y)) * jnp.sign(z(x, y))).imag, lambda x, y: y + 0 * x, (S, S)),
    Equal("polar form", lambda x, y: (jnp.abs(z(x, y)) * jnp.exp(1j * jnp.angle(z(x, y)))).real, lambda x, y: x + 0 * y, (S, S)),
    Equal("inverse transform", lambda x: jnp.fft.ifft(jnp.fft.fft(x)).real, lambda x: 1 * x, (f32(4),)),
    Equal("the root of 5", lambda x: x * (4 * turn(1, 5) + 1), lambda x: x * jnp.sqrt(jnp.float32(5)), (S,)),
    Equal("half turns", lambda x: x * turn(1, 16) ** 2, lambda x: x * (1 + turn(1, 8)) / 2, (S,)),
    Equal("squares of moduli", lambda a, b, c, d: jnp.abs(z(a, b) * z(c, d)) ** 2, lambda a, b, c, d: (a * a + b * b) * (c * c + d * d), Q),
)  # fmt: skip
