"""Complex numbers between real inputs and real outputs: the imaginary part of a constant counts."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .row import Different, Equal, S, V, f32, f64, ind

ROOTS = np.array([1, 1j, -1], np.complex64)
REALS = np.array([1, 0, -1], np.complex64)

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
)  # fmt: skip

EQUAL = (
    Equal("modulus of ix", lambda x: jnp.abs(x * 1j), lambda x: jnp.abs(x), (S,)),
    Equal("modulus of x + iy", lambda x, y: jnp.abs(x + 1j * y), lambda x, y: jnp.sqrt(x * x + y * y), (S, S)),
    Equal("real part of a product", lambda x: ((x + 1j) * (x - 1j)).real, lambda x: x * x + 1, (S,)),
    Equal("imaginary part of a product", lambda x: (x * (1 + 2j)).imag, lambda x: 2 * x, (S,)),
    Equal("the same complex program", lambda x: jnp.abs(1 / (1 + 1j * x)), lambda x: jnp.abs(1 / (1 + 1j * x)), (S,)),
    Equal("conjugated twice", lambda x: jnp.conj(jnp.conj(x * 1j)).imag, lambda x: (x * 1j).imag, (S,)),
)  # fmt: skip
