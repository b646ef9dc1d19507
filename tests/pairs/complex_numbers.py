"""Pairs of complex functions: transforms, rotations, recurrences, analytic functions, and mistakes with them."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .pair import einsum, f32, matmul
from .row import row


def c64(*shape):
    """The spec of a complex64 array."""
    return jax.ShapeDtypeStruct(shape, jnp.complex64)


Z, X = c64(3), f32(6)
ZW = (Z, Z)


def dft(z, sign=-1):
    """The transform as a matrix of exponentials."""
    k = jnp.arange(z.shape[-1])
    return einsum("...j,jk->...k", z.astype(jnp.complex64), jnp.exp(sign * 2j * jnp.pi * jnp.outer(k, k) / len(k)))


def halves(z, sign=-1):
    """The transform of an even length by those of the even and of the odd places."""
    n = z.shape[-1]
    even, odd = jnp.fft.fft(z[::2]), jnp.fft.fft(z[1::2])
    turned = odd * jnp.exp(sign * 2j * jnp.pi * jnp.arange(n // 2) / n)
    return jnp.concatenate([even + turned, even - turned])


def circular(x, y, sign=-1):
    """The convolution of two rows around a circle."""
    n = len(x)
    return jnp.stack([sum(x[j] * y[(i + sign * j) % n] for j in range(n)) for i in range(n)])


def hermitian(w):
    """The spectrum of a real row of even length from its first half."""
    return jnp.concatenate([w[:1].real + 0j, w[1:-1], w[-1:].real + 0j, jnp.conj(w[1:-1][::-1])])


def rotated(q, angles, sign=1):
    """Rotary embedding by complex numbers of neighbouring entries."""
    z = lax.complex(q[..., 0::2], q[..., 1::2]) * jnp.exp(sign * 1j * angles)
    return jnp.stack([z.real, z.imag], -1).reshape(q.shape)


def rotated_in_parts(q, angles):
    """The same by cosines and sines."""
    a, b, c, s = q[..., 0::2], q[..., 1::2], jnp.cos(angles), jnp.sin(angles)
    return jnp.stack([a * c - b * s, a * s + b * c], -1).reshape(q.shape)


ANGLES = np.arange(4, dtype=np.float32)[:, None] * (10000.0 ** (-np.arange(0, 4, 2) / 4)).astype(np.float32)


def recurrence(poles, inputs, x):
    """The real part of a linear recurrence with diagonal complex poles."""

    def step(h, u):
        h = poles * h + inputs * u
        return h, h

    return lax.scan(step, jnp.zeros(poles.shape, jnp.complex64), x)[1].real


def by_association(poles, inputs, x):
    """The same by an associative scan."""
    pairs = jnp.broadcast_to(poles, (len(x), *poles.shape)), inputs * x[:, None]
    return lax.associative_scan(lambda p, q: (q[0] * p[0], q[0] * p[1] + q[1]), pairs)[1].real


def by_kernel(step, poles, x, shift=0):
    """A diagonal state space as a convolution with its kernel."""
    kernel = jnp.exp(step * poles * jnp.arange(len(x))[:, None])
    return jnp.stack([sum(kernel[i - j + shift] * x[j] for j in range(i + 1)) for i in range(len(x) - shift)]).real


def loss(w, z, y):
    """The mean square of complex residuals."""
    return (jnp.abs(matmul(z, w) - y) ** 2).mean()


ROWS = (
    # transforms
    row("fft as a matrix of 5", jnp.fft.fft, dft, (c64(5),), {"sign": lambda z: dft(z, 1)}),
    row("fft as a matrix of 6", jnp.fft.fft, dft, (c64(6),), {"half": lambda z: dft(z) / 2}),
    row(
        "rows of an fft",
        jnp.fft.fft,
        dft,
        (c64(2, 3),),
        {"columns": lambda z: jnp.fft.fft(z, axis=0), "both": jnp.fft.fft2},
    ),
    row("fft by halves", jnp.fft.fft, halves, (c64(8),), {"twiddle": lambda z: halves(z, 1)}),
    row(
        "ifft by conjugates",
        jnp.fft.ifft,
        lambda z: jnp.conj(jnp.fft.fft(jnp.conj(z))) / 6,
        (c64(6),),
        {"length": lambda z: jnp.conj(jnp.fft.fft(jnp.conj(z))) / 5, "lost": lambda z: jnp.fft.fft(jnp.conj(z)) / 6},
    ),
    row("ifft of fft", lambda z: jnp.fft.ifft(jnp.fft.fft(z)), lambda z: 1 * z, (c64(7),), {"conjugate": jnp.conj}),
    row(
        "rfft is half of fft",
        jnp.fft.rfft,
        lambda x: jnp.fft.fft(x)[:4],
        (X,),
        {"other half": lambda x: jnp.fft.fft(x)[2:], "real part": lambda x: jnp.fft.fft(x)[:4].real + 0j},
    ),
    row(
        "irfft of rfft, odd length",
        lambda x: jnp.fft.irfft(jnp.fft.rfft(x), 5),
        lambda x: x * 1.0,
        (f32(5),),
        {"reversed": lambda x: x[::-1]},
    ),
    row(
        "irfft by the whole spectrum",
        lambda w: jnp.fft.irfft(w),
        lambda w: jnp.fft.ifft(hermitian(w)).real,
        (c64(4),),
        {"conjugate": lambda w: jnp.fft.irfft(jnp.conj(w)), "not divided": lambda w: 6 * jnp.fft.irfft(w)},
    ),
    row(
        "hfft",
        jnp.fft.hfft,
        lambda w: 6 * jnp.fft.irfft(jnp.conj(w)),
        (c64(4),),
        {"conjugate": lambda w: 6 * jnp.fft.irfft(w)},
    ),
    row(
        "fft2 by axes",
        jnp.fft.fft2,
        lambda z: jnp.fft.fft(jnp.fft.fft(z, axis=0), axis=1),
        (c64(3, 4),),
        {"once": jnp.fft.fft, "transposed": lambda z: jnp.fft.fft2(z.T).T * 2},
    ),
    row(
        "mixing of tokens",
        lambda x: jnp.fft.fft2(x).real,
        lambda x: jnp.fft.fft(jnp.fft.fft(x, axis=-1), axis=-2).real,
        (f32(4, 6),),
        {"real part too early": lambda x: jnp.fft.fft(jnp.fft.fft(x, axis=-1).real, axis=-2).real},
    ),
    row(
        "orthonormal fft",
        lambda z: jnp.fft.fft(z, norm="ortho"),
        lambda z: jnp.fft.fft(z) / np.sqrt(np.float32(6)),
        (c64(6),),
        {"forward": lambda z: jnp.fft.fft(z, norm="forward")},
    ),
    row(
        "Parseval",
        lambda z: (jnp.abs(jnp.fft.fft(z)) ** 2).sum(),
        lambda z: 7 * (jnp.abs(z) ** 2).sum(),
        (c64(7),),
        {"length": lambda z: 6 * (jnp.abs(z) ** 2).sum(), "squares": lambda z: 7 * (z * z).sum().real},
    ),
    row(
        "convolution theorem",
        lambda x, y: jnp.fft.ifft(jnp.fft.fft(x) * jnp.fft.fft(y)),
        circular,
        (c64(5), c64(5)),
        {"correlation": lambda x, y: circular(x, y, 1)},
    ),
    row(
        "cross-correlation",
        lambda x, y: jnp.fft.ifft(jnp.fft.fft(x) * jnp.conj(jnp.fft.fft(y))),
        lambda x, y: jnp.stack([sum(x[(i + j) % 4] * jnp.conj(y[j]) for j in range(4)) for i in range(4)]),
        (c64(4), c64(4)),
        {"not conjugated": lambda x, y: jnp.fft.ifft(jnp.fft.fft(x) * jnp.fft.fft(y))},
    ),
    row(
        "spectral layer",
        lambda x, w: jnp.fft.irfft(jnp.fft.rfft(x) * w, 8),
        lambda x, w: jnp.fft.ifft(jnp.fft.fft(x) * hermitian(w)).real,
        (f32(8), c64(5)),
        {"conjugate": lambda x, w: jnp.fft.irfft(jnp.fft.rfft(x) * jnp.conj(w), 8)},
    ),
    row(
        "shift theorem",
        lambda z: jnp.fft.fft(jnp.roll(z, 1)),
        lambda z: jnp.fft.fft(z) * jnp.exp(-2j * jnp.pi * jnp.arange(6) / 6),
        (c64(6),),
        {"other way": lambda z: jnp.fft.fft(z) * jnp.exp(2j * jnp.pi * jnp.arange(6) / 6)},
    ),
    row(
        "softmax of a spectrum",
        lambda x: jax.nn.softmax(jnp.abs(jnp.fft.rfft(x)) ** 2),
        lambda x: jax.nn.softmax(jnp.abs(jnp.fft.fft(x)[:4]) ** 2),
        (X,),
        {"modulus": lambda x: jax.nn.softmax(jnp.abs(jnp.fft.rfft(x)))},
    ),
    row(
        "cosine transform",
        lambda x: jax.scipy.fft.dct(x),
        lambda x: matmul(2.0 * np.cos(np.pi * np.outer(np.arange(6), 2 * np.arange(6) + 1) / 12).astype(np.float32), x),
        (X,),
        {"not doubled": lambda x: jax.scipy.fft.dct(x) / 2},
    ),
    # rotations and recurrences
    row(
        "rotary embedding",
        rotated,
        rotated_in_parts,
        (f32(4, 4), f32(4, 2)),
        {"other way": lambda q, a: rotated(q, a, -1)},
    ),
    row(
        "rotary embedding of places",
        lambda q: rotated(q, ANGLES),
        lambda q: rotated_in_parts(q, ANGLES),
        (f32(4, 4),),
        {"next place": lambda q: rotated_in_parts(q, ANGLES[1:2] + ANGLES)},
    ),
    row(
        "scores of relative places",
        lambda q, k, a, b: jnp.sum(rotated(q, a) * rotated(k, b)),
        lambda q, k, a, b: jnp.sum(rotated(q, a - b) * k),
        (f32(4), f32(4), f32(2), f32(2)),
        {"sum of places": lambda q, k, a, b: jnp.sum(rotated(q, a + b) * k)},
    ),
    row(
        "a rotation keeps the norm",
        lambda z, t: jnp.abs(z * jnp.exp(1j * t)),
        lambda z, t: jnp.abs(z),
        (Z, f32(3)),
        {"real exponential": lambda z, t: jnp.abs(z * jnp.exp(t))},
    ),
    row(
        "linear recurrent unit",
        recurrence,
        by_association,
        (Z, Z, f32(5)),
        {"conjugate": lambda p, b, x: by_association(p, jnp.conj(b), x)},
    ),
    row(
        "diagonal state space",
        lambda t, a, x: recurrence(jnp.exp(t * a), jnp.ones_like(a), x),
        by_kernel,
        (f32(), c64(2), f32(4)),
        {"not discretised": lambda t, a, x: recurrence(1 + t * a, jnp.ones_like(a), x)},
    ),
    # algebra
    row(
        "conjugate product",
        lambda z: z * jnp.conj(z),
        lambda z: jnp.abs(z) ** 2 + 0j,
        (Z,),
        {"square": lambda z: z * z},
    ),
    row("distributive", lambda z, w: z * (w + z), lambda z, w: z * w + z * z, ZW, {"sign": lambda z, w: z * (w - z)}),
    row(
        "quotient",
        lambda z, w: z / w,
        lambda z, w: z * jnp.conj(w) / jnp.abs(w) ** 2,
        ZW,
        {"not conjugated": lambda z, w: z * w / jnp.abs(w) ** 2, "not squared": lambda z, w: z * jnp.conj(w)},
    ),
    row("reciprocal of a power", lambda z: z**-2, lambda z: 1 / z / z, (Z,), {"square": lambda z: z**2}),
    row(
        "modulus of a product",
        lambda z, w: jnp.abs(z * w),
        lambda z, w: jnp.abs(z) * jnp.abs(w),
        ZW,
        {"sum": lambda z, w: jnp.abs(z) + jnp.abs(w), "of real parts": lambda z, w: jnp.abs(z.real * w.real)},
    ),
    row(
        "modulus by parts",
        lambda z, w: jnp.abs(z * w),
        lambda z, w: jnp.sqrt((z * w).real ** 2 + (z * w).imag ** 2),
        ZW,
        {"without the root": lambda z, w: (z * w).real ** 2 + (z * w).imag ** 2},
    ),
    row(
        "modulus of a quotient",
        lambda z, w: jnp.abs(z / w),
        lambda z, w: jnp.abs(z) / jnp.abs(w),
        ZW,
        {"other way": lambda z, w: jnp.abs(w) / jnp.abs(z)},
    ),
    row(
        "gain of a filter",
        lambda w: jnp.abs(1 / (1 + 1j * w)),
        lambda w: 1 / jnp.sqrt(1 + w * w),
        (f32(3),),
        {"twice": lambda w: jnp.abs(1 / (1 + 2j * w)), "square": lambda w: 1 / (1 + w * w)},
    ),
    row(
        "product of three",
        jnp.prod,
        lambda z: z[0] * z[1] * z[2],
        (Z,),
        {"conjugate": lambda z: z[0] * z[1] * jnp.conj(z[2])},
    ),
    row(
        "products of prefixes",
        jnp.cumprod,
        lambda z: jnp.stack([z[0], z[0] * z[1], z[0] * z[1] * z[2]]),
        (Z,),
        {"suffixes": lambda z: jnp.cumprod(z[::-1])},
    ),
    row(
        "inner product",
        jnp.vdot,
        lambda z, w: (jnp.conj(z) * w).sum(),
        ZW,
        {"other conjugate": lambda z, w: (z * jnp.conj(w)).sum(), "none": lambda z, w: (z * w).sum()},
    ),
    row(
        "product of matrices by parts",
        matmul,
        lambda z, w: lax.complex(
            matmul(z.real, w.real) - matmul(z.imag, w.imag), matmul(z.real, w.imag) + matmul(z.imag, w.real)
        ),
        (c64(3, 3), c64(3, 3)),
        {"sign": lambda z, w: lax.complex(matmul(z.real, w.real) + matmul(z.imag, w.imag), matmul(z, w).imag)},
    ),
    row(
        "three products for four",
        lambda z, w: z * w,
        lambda z, w: lax.complex(
            (k := w.real * (z.real + z.imag)) - z.imag * (w.real + w.imag), k + z.real * (w.imag - w.real)
        ),
        ZW,
        {"sign": lambda z, w: lax.complex((z * w).real, -(z * w).imag)},
    ),
    row(
        "a Möbius map and its inverse",
        lambda z: (lambda w: (1j * w + 1j) / (1 - w))((z - 1j) / (z + 1j)),
        lambda z: 1 * z,
        (Z,),
        {"conjugate": lambda z: (lambda w: (1j * w + 1j) / (1 - w))((z + 1j) / (z - 1j))},
    ),
    row(
        "variance",
        jnp.var,
        lambda z: (jnp.abs(z - z.mean()) ** 2).mean(),
        (Z,),
        {"of real parts": lambda z: jnp.var(z.real), "not centred": lambda z: (jnp.abs(z) ** 2).mean()},
    ),
    row(
        "constants of decimals",
        lambda z: z * (0.1 + 0.2j) * 10,
        lambda z: z * (1 + 2j),
        (Z,),
        {"exchanged": lambda z: z * (2 + 1j), "conjugate": lambda z: z * (1 - 2j)},
    ),
    # analytic functions
    row(
        "Euler's formula",
        lambda x: jnp.exp(1j * x),
        lambda x: lax.complex(jnp.cos(x), jnp.sin(x)),
        (X,),
        {"sign of the sine": lambda x: lax.complex(jnp.cos(x), -jnp.sin(x))},
    ),
    row(
        "exponential of a sum",
        lambda z, w: jnp.exp(z + w),
        lambda z, w: jnp.exp(z) * jnp.exp(w),
        ZW,
        {"difference": lambda z, w: jnp.exp(z) / jnp.exp(w)},
    ),
    row(
        "modulus of an exponential",
        lambda z: jnp.abs(jnp.exp(z)),
        lambda z: jnp.exp(z.real),
        (Z,),
        {"of the modulus": lambda z: jnp.exp(jnp.abs(z)), "imaginary part": lambda z: jnp.exp(z.imag)},
    ),
    row(
        "unit circle",
        lambda x: x * jnp.abs(jnp.exp(1j * x)),
        lambda x: x,
        (X,),
        {"cosine": lambda x: x * jnp.exp(1j * x).real},
    ),
    row(
        "sine and cosine squared",
        lambda z: z * (jnp.sin(z) ** 2 + jnp.cos(z) ** 2),
        lambda z: z,
        (Z,),
        {"moduli": lambda z: z * (jnp.abs(jnp.sin(z)) ** 2 + jnp.abs(jnp.cos(z)) ** 2)},
    ),
    row(
        "hyperbolic cosine of iz",
        lambda z: jnp.cosh(1j * z),
        jnp.cos,
        (Z,),
        {"of z": jnp.cosh, "conjugate": lambda z: jnp.cos(jnp.conj(z))},
    ),
    row(
        "hyperbolic tangent",
        jnp.tanh,
        lambda z: 1 - 2 / (jnp.exp(2 * z) + 1),
        (Z,),
        {"not doubled": lambda z: 1 - 2 / (jnp.exp(z) + 1)},
    ),
    row(
        "logistic function",
        jax.nn.sigmoid,
        lambda z: (1 + jnp.tanh(z / 2)) / 2,
        (Z,),
        {"not halved": lambda z: (1 + jnp.tanh(z)) / 2},
    ),
    row(
        "square of a root",
        lambda z: jnp.sqrt(z) * jnp.sqrt(z),
        lambda z: z,
        (Z,),
        {"root of the square": lambda z: jnp.sqrt(z * z), "modulus": lambda z: jnp.abs(z) + 0j},
    ),
    row(
        "root as a power",
        lambda z: z**0.5,
        jnp.sqrt,
        (Z,),
        {"other root": lambda z: -jnp.sqrt(z), "of the conjugate": lambda z: jnp.conj(jnp.sqrt(z))},
    ),
    row(
        "real part of a root",
        lambda z: jnp.sqrt(z).real,
        lambda z: jnp.sqrt((jnp.abs(z) + z.real) / 2),
        (Z,),
        {"imaginary": lambda z: jnp.sqrt((jnp.abs(z) - z.real) / 2)},
    ),
    row(
        "root by the logarithm",
        jnp.sqrt,
        lambda z: jnp.exp(jnp.log(z) / 2),
        (Z,),
        {"third": lambda z: jnp.exp(jnp.log(z) / 3)},
    ),
    row(
        "exponential of a logarithm",
        lambda z: jnp.exp(jnp.log(z)),
        lambda z: z,
        (Z,),
        {"logarithm of an exponential": lambda z: jnp.log(jnp.exp(z)), "conjugate": jnp.conj},
    ),
    row(
        "real part of a logarithm",
        lambda z: jnp.log(z).real,
        lambda z: jnp.log(jnp.abs(z)),
        (Z,),
        {"of the real part": lambda z: jnp.log(jnp.abs(z.real))},
    ),
    row(
        "polar form",
        lambda z: jnp.abs(z) * jnp.exp(1j * jnp.angle(z)),
        lambda z: z,
        (Z,),
        {
            "other way": lambda z: jnp.abs(z) * jnp.exp(-1j * jnp.angle(z)),
            "twice": lambda z: jnp.abs(z) * jnp.sign(z) ** 2,
        },
    ),
    row(
        "sign and modulus",
        lambda z: jnp.sign(z) * jnp.abs(z),
        lambda z: z,
        (Z,),
        {"conjugate": lambda z: jnp.conj(jnp.sign(z)) * jnp.abs(z)},
    ),
    # derivatives
    row(
        "derivative of a square modulus",
        jax.grad(lambda z: (jnp.abs(z) ** 2).sum()),
        lambda z: 2 * jnp.conj(z),
        (Z,),
        {"not conjugated": lambda z: 2 * z, "half": jnp.conj},
    ),
    row(
        "derivative of a loss",
        jax.grad(loss),
        lambda w, z, y: matmul(z.T, jnp.conj(matmul(z, w) - y)) / 2,
        (Z, c64(4, 3), c64(4)),
        {"other conjugate": lambda w, z, y: matmul(jnp.conj(z.T), matmul(z, w) - y) / 2},
    ),
    row(
        "derivative of a spectrum",
        jax.grad(lambda x: (jnp.abs(jnp.fft.rfft(x)) ** 2).sum()),
        lambda x: 5 * x + jnp.fft.rfft(x)[0].real,
        (f32(5),),
        {"all frequencies": lambda x: 10 * x},
    ),
    row(
        "holomorphic derivative",
        jax.grad(lambda z: jnp.exp(z) * z, holomorphic=True),
        lambda z: jnp.exp(z) * (1 + z),
        (c64(),),
        {"one term": lambda z: jnp.exp(z) * z},
    ),
    row(
        "derivative of a root",
        jax.grad(jnp.sqrt, holomorphic=True),
        lambda z: 1 / (2 * jnp.sqrt(z)),
        (c64(),),
        {"not halved": lambda z: 1 / jnp.sqrt(z)},
    ),
    row("cotangents", lambda z: z * z * z, lambda z: z**3, (Z,), {"square": lambda z: z * z}, gradient=True),
    # control flow
    row(
        "a loop",
        lambda z: lax.fori_loop(0, 3, lambda i, w: w * w + z, z),
        lambda z: ((z * z + z) ** 2 + z) ** 2 + z,
        (Z,),
        {"once more": lambda z: lax.fori_loop(0, 4, lambda i, w: w * w + z, z)},
    ),
    row(
        "a conditional",
        lambda z: lax.cond(z[0].real > 0, lambda w: w * 1j, lambda w: -w, z),
        lambda z: jnp.where(z[0].real > 0, z * 1j, -z),
        (Z,),
        {"other branch": lambda z: jnp.where(z[0].real > 0, -z, z * 1j)},
    ),
)
"""The pairs."""
