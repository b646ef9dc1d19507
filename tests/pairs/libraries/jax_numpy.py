"""jax.numpy and jax.lax: ordinary functions of arrays, against what their documentation says."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from uat_jax import interval, positive

from ..pair import einsum, f32, matmul
from ..row import row

X, P = f32(4), positive(f32(4))
WEIGHTS = np.array([0.5, 0.25, 0.125, 0.125], np.float32)


def fourier(n, sign=-1.0):
    """The real and the imaginary part of the matrix of the discrete Fourier transform."""
    angles = sign * 2.0 * np.pi * np.outer(np.arange(n), np.arange(n)) / n
    return np.cos(angles), np.sin(angles)


def transformed(x, n=4, sign=-1.0):
    c, s = fourier(n, sign)
    return matmul(c, x), matmul(s, x)


def parts(z):
    return z.real, z.imag


ROWS = (
    row(
        "mean and var",
        lambda x: (jnp.mean(x), jnp.var(x)),
        lambda x: (x.sum() / 4.0, (x * x).mean() - x.mean() ** 2),
        (X,),
        {"n − 1": lambda x: (x.mean(), x.var(ddof=1)), "not centred": lambda x: (x.mean(), (x * x).mean())},
        gradient=True,
    ),
    row(
        "std",
        lambda x: jnp.std(x, ddof=1),
        lambda x: jnp.sqrt(((x - x.mean()) ** 2).sum() / 3.0),
        (X,),
        {"n": jnp.std, "variance": lambda x: x.var(ddof=1)},
        gradient=True,
    ),
    row("ptp", jnp.ptp, lambda x: jnp.max(x) + jnp.max(-x), (X,), {"max": jnp.max, "half": lambda x: jnp.ptp(x) / 2}),
    row(
        "average with weights",
        lambda x: jnp.average(x, weights=WEIGHTS),
        lambda x: x @ WEIGHTS,
        (X,),
        {"mean": jnp.mean, "reversed": lambda x: x[::-1] @ WEIGHTS},
    ),
    row(
        "median of three",
        lambda x: jnp.median(x),
        lambda x: x.sum() - x.max() - x.min(),
        (f32(3),),
        {"mean": jnp.mean, "middle": lambda x: x[1]},
    ),
    row(
        "median of four",
        lambda x: jnp.median(x),
        lambda x: (x.sum() - x.max() - x.min()) / 2.0,
        (X,),
        {"sum": lambda x: x.sum() - x.max() - x.min(), "mean": jnp.mean},
    ),
    row(
        "quantile",
        lambda x: jnp.quantile(x, 0.5),
        lambda x: (jnp.sort(x)[1] + jnp.sort(x)[2]) / 2.0,
        (X,),
        {"lower": lambda x: jnp.sort(x)[1], "quarter": lambda x: jnp.quantile(x, 0.25)},
    ),
    row(
        "logaddexp",
        jnp.logaddexp,
        lambda x, y: jnp.log(jnp.exp(x) + jnp.exp(y)),
        (X, X),
        {"maximum": jnp.maximum, "difference": lambda x, y: jnp.logaddexp(x, -y)},
        gradient=True,
    ),
    row(
        "logaddexp2",
        jnp.logaddexp2,
        lambda x, y: jnp.log2(jnp.exp2(x) + jnp.exp2(y)),
        (X, X),
        {"base e": jnp.logaddexp, "product": lambda x, y: x + y},
    ),
    row(
        "hypot",
        jnp.hypot,
        lambda x, y: jnp.sqrt(x * x + y * y),
        (X, X),
        {"sum": lambda x, y: jnp.abs(x) + jnp.abs(y), "squared": lambda x, y: x * x + y * y},
    ),
    row(
        "sinc away from 0",
        jnp.sinc,
        lambda x: jnp.sin(np.pi * x) / (np.pi * x),
        (interval(f32(4), 0.125, 3.0),),
        {"no π": lambda x: jnp.sin(x) / x, "cosine": lambda x: jnp.cos(np.pi * x)},
    ),
    row("cbrt of a cube", lambda x: jnp.cbrt(x**3), lambda x: x + 0.0, (X,), {"|x|": jnp.abs, "x²": lambda x: x * x}),
    row(
        "sinh of arcsinh",
        lambda x: jnp.sinh(jnp.arcsinh(x)),
        lambda x: x + 0.0,
        (X,),
        {"sign": lambda x: -x, "twice": lambda x: 2 * x},
    ),
    row(
        "log2 and log10",
        lambda x: jnp.log2(x) - jnp.log10(x),
        lambda x: jnp.log(x) * (1.0 / jnp.log(2.0) - 1.0 / jnp.log(10.0)),
        (P,),
        {"sum": lambda x: jnp.log2(x) + jnp.log10(x), "e": jnp.log},
    ),
    row(
        "deg2rad",
        jnp.deg2rad,
        lambda x: x * np.pi / 180.0,
        (X,),
        {"inverse": jnp.rad2deg, "360": lambda x: x * np.pi / 360},
    ),
    row(
        "heaviside",
        lambda x: jnp.heaviside(x, 0.5),
        lambda x: (jnp.sign(x) + 1.0) / 2.0,
        (X,),
        {"sign": jnp.sign, "mirrored": lambda x: (1 - jnp.sign(x)) / 2},
    ),
    row(
        "nan_to_num of a real array",
        jnp.nan_to_num,
        lambda x: x + 0.0,
        (X,),
        {"sign": lambda x: -x, "relu": jax.nn.relu},
    ),
    row(
        "clip",
        lambda x: jnp.clip(x, -1.0, 0.5),
        lambda x: jnp.where(x < -1.0, -1.0, jnp.where(x > 0.5, 0.5, x)),
        (X,),
        {"one end": lambda x: jnp.maximum(x, -1.0), "exchanged": lambda x: jnp.clip(x, -0.5, 1.0)},
    ),
    row(
        "interp at constant places",
        lambda y: jnp.interp(np.array([0.25, 1.5], np.float32), np.array([0.0, 1.0, 2.0, 3.0], np.float32), y),
        lambda y: jnp.stack([0.75 * y[0] + 0.25 * y[1], (y[1] + y[2]) / 2.0]),
        (X,),
        {
            "exchanged": lambda y: jnp.stack([0.25 * y[0] + 0.75 * y[1], (y[1] + y[2]) / 2]),
            "left": lambda y: jnp.stack([y[0], y[1]]),
        },
    ),
    row(
        "convolve",
        lambda x, k: jnp.convolve(x, k, precision="highest"),
        lambda x, k: jnp.stack(
            [x[0] * k[0], x[0] * k[1] + x[1] * k[0], x[1] * k[1] + x[2] * k[0], x[2] * k[1] + x[3] * k[0], x[3] * k[1]]
        ),
        (X, f32(2)),
        {
            "correlate": lambda x, k: jnp.convolve(x, k[::-1], precision="highest"),
            "shifted": lambda x, k: jnp.roll(jnp.convolve(x, k, precision="highest"), 1),
        },
    ),
    row(
        "polyval",
        lambda c, x: jnp.polyval(c, x),
        lambda c, x: c[0] * x**3 + c[1] * x**2 + c[2] * x + c[3],
        (X, f32(3)),
        {
            "reversed": lambda c, x: jnp.polyval(c[::-1], x),
            "derivative": lambda c, x: 3 * c[0] * x**2 + 2 * c[1] * x + c[2],
        },
        gradient=True,
    ),
    row(
        "polymul",
        jnp.polymul,
        lambda a, b: jnp.stack([a[0] * b[0], a[0] * b[1] + a[1] * b[0], a[1] * b[1]]),
        (f32(2), f32(2)),
        {
            "entry by entry": lambda a, b: jnp.stack([a[0] * b[0], a[1] * b[1], 0 * a[0]]),
            "sum": lambda a, b: jnp.stack([a[0] * b[0], a[0] * b[1] - a[1] * b[0], a[1] * b[1]]),
        },
    ),
    row(
        "trapezoid",
        lambda y: jnp.trapezoid(y),
        lambda y: (y[1:] + y[:-1]).sum() / 2.0,
        (X,),
        {"sum": jnp.sum, "not halved": lambda y: (y[1:] + y[:-1]).sum()},
    ),
    row(
        "gradient",
        lambda y: jnp.gradient(y),
        lambda y: jnp.stack([y[1] - y[0], (y[2] - y[0]) / 2.0, (y[3] - y[1]) / 2.0, y[3] - y[2]]),
        (X,),
        {
            "not halved": lambda y: jnp.stack([y[1] - y[0], y[2] - y[0], y[3] - y[1], y[3] - y[2]]),
            "backwards": lambda y: jnp.asarray(jnp.gradient(y)) * -1.0,
        },
    ),
    row(
        "arctan2 where x is positive",
        lambda y, x: jnp.arctan2(y, x),
        lambda y, x: jnp.arctan(y / x),
        (X, P),
        {"inverted": lambda y, x: jnp.arctan(x / (1 + y * y)), "product": lambda y, x: jnp.arctan(y * x)},
    ),
    row(
        "kron",
        lambda a, b: jnp.kron(a, b),
        lambda a, b: (a[:, None] * b[None]).ravel(),
        (f32(2), f32(3)),
        {"exchanged": lambda a, b: jnp.kron(b, a), "sum": lambda a, b: (a[:, None] + b[None]).ravel()},
    ),
    row(
        "tril and triu",
        lambda A: jnp.tril(A) + jnp.triu(A, 1),
        lambda A: A + 0.0,
        (f32(3, 3),),
        {"diagonal twice": lambda A: jnp.tril(A) + jnp.triu(A), "transposed": lambda A: A.T},
    ),
    row(
        "rot90",
        lambda A: jnp.rot90(A),
        lambda A: A.T[::-1],
        (f32(2, 3),),
        {"the other way": lambda A: A[::-1].T, "reversed": lambda A: A.T[::-1, ::-1]},
    ),
    row(
        "einsum of three",
        lambda A, B, C: einsum("ij,jk,kl->il", A, B, C),
        lambda A, B, C: matmul(A, matmul(B, C)),
        (f32(2, 3), f32(3, 2), f32(2, 2)),
        {
            "transposed": lambda A, B, C: matmul(A, matmul(B, C.T)),
            "doubled": lambda A, B, C: 2 * matmul(A, matmul(B, C)),
        },
    ),
    row(
        "sort of two numbers",
        jnp.sort,
        lambda x: jnp.stack([jnp.minimum(x[0], x[1]), jnp.maximum(x[0], x[1])]),
        (f32(2),),
        {"descending": lambda x: jnp.sort(x)[::-1], "not": lambda x: x},
    ),
    row(
        "argsort twice sorts",
        lambda x: x[jnp.argsort(x)],
        jnp.sort,
        (f32(3),),
        {"descending": lambda x: jnp.sort(x)[::-1], "not": lambda x: x},
    ),
    row(
        "the largest entry by its index",
        lambda x: x[jnp.argmax(x)],
        jnp.max,
        (f32(3),),
        {"smallest": jnp.min, "first": lambda x: x[0]},
    ),
    row(
        "top_k",
        lambda x: lax.top_k(x, 2)[0],
        lambda x: jnp.sort(x)[::-1][:2],
        (f32(3),),
        {"ascending": lambda x: jnp.sort(x)[1:], "the smallest": lambda x: jnp.sort(x)[:2]},
    ),
    row(
        "take_along_axis by argmin",
        lambda x: jnp.take_along_axis(x, jnp.argmin(x, 1, keepdims=True), 1)[:, 0],
        lambda x: x.min(1),
        (f32(2, 3),),
        {"max": lambda x: x.max(1), "first": lambda x: x[:, 0]},
    ),
    row(
        "cond on data",
        lambda x: lax.cond(x > 0, lambda: x * 2.0, lambda: -x),
        lambda x: jnp.where(x > 0, 2.0 * x, -x),
        (f32(),),
        {"exchanged": lambda x: jnp.where(x > 0, -x, 2 * x), "absolute": jnp.abs},
    ),
    row(
        "switch on data",
        lambda x: lax.switch(
            (x > 0).astype(jnp.int32) + (x > 1).astype(jnp.int32), [lambda: -x, lambda: x, lambda: x * x]
        ),
        lambda x: jnp.where(x > 1, x * x, jnp.abs(x)),
        (f32(),),
        {"one case": jnp.abs, "exchanged": lambda x: jnp.where(x > 1, jnp.abs(x), x * x)},
    ),
    row(
        "searchsorted in constants",
        lambda x: jnp.searchsorted(np.array([0.0, 1.0], np.float32), x).astype(jnp.float32),
        lambda x: (x > 0).astype(jnp.float32) + (x > 1).astype(jnp.float32),
        (X,),
        {
            "right": lambda x: (x >= 0).astype(jnp.float32) + (x >= 2).astype(jnp.float32),
            "one": lambda x: (x > 0).astype(jnp.float32),
        },
    ),
    row(
        "histogram by comparisons",
        lambda x: (jnp.digitize(x, np.array([0.0, 1.0], np.float32)) == 1).astype(jnp.float32).sum(),
        lambda x: jnp.where((x >= 0) & (x < 1), 1.0, 0.0).sum(),
        (X,),
        {"other bin": lambda x: jnp.where(x >= 1, 1.0, 0.0).sum(), "all": lambda x: 4.0 + 0 * x.sum()},
    ),
    row(
        "fft",
        lambda x: parts(jnp.fft.fft(x)),
        transformed,
        (X,),
        {"inverse": lambda x: transformed(x, sign=1.0), "scaled": lambda x: parts(jnp.fft.fft(x) / 4)},
    ),
    row(
        "rfft",
        lambda x: parts(jnp.fft.rfft(x)),
        lambda x: tuple(p[:3] for p in transformed(x)),
        (X,),
        {
            "inverse": lambda x: tuple(p[:3] for p in transformed(x, sign=1.0)),
            "reversed": lambda x: parts(jnp.fft.rfft(x)[::-1]),
        },
    ),
    row(
        "ifft of fft",
        lambda x: jnp.fft.ifft(jnp.fft.fft(x)).real,
        lambda x: x + 0.0,
        (X,),
        {"reversed": lambda x: x[::-1], "scaled": lambda x: 4 * x},
    ),
    row(
        "irfft of a product is a circular convolution",
        lambda x, y: jnp.fft.irfft(jnp.fft.rfft(x) * jnp.fft.rfft(y), 4),
        lambda x, y: jnp.stack([sum(x[j] * y[(i - j) % 4] for j in range(4)) for i in range(4)]),
        (X, X),
        {
            "correlation": lambda x, y: jnp.stack([sum(x[j] * y[(i + j) % 4] for j in range(4)) for i in range(4)]),
            "entry by entry": lambda x, y: x * y,
        },
    ),
    row(
        "Parseval",
        lambda x: (jnp.abs(jnp.fft.fft(x)) ** 2).sum() / 4.0,
        lambda x: (x * x).sum(),
        (X,),
        {"not divided": lambda x: 4 * (x * x).sum(), "sum": lambda x: x.sum() ** 2},
    ),
    row(
        "a complex product by its parts",
        lambda a, b, c, d: parts((a + 1j * b) * (c + 1j * d)),
        lambda a, b, c, d: (a * c - b * d, a * d + b * c),
        (f32(),) * 4,
        {
            "sign": lambda a, b, c, d: (a * c + b * d, a * d + b * c),
            "exchanged": lambda a, b, c, d: (a * d + b * c, a * c - b * d),
        },
    ),
    row(
        "modulus of a complex exponential",
        lambda x: jnp.abs(jnp.exp(1j * x)),
        lambda x: jnp.ones_like(x),
        (X,),
        {"2": lambda x: 2 + 0 * x, "cosine": jnp.cos},
    ),
    row(
        "associative_scan of sums",
        lambda x: lax.associative_scan(jnp.add, x),
        lambda x: jnp.stack([x[0], x[0] + x[1], x[0] + x[1] + x[2], x.sum()]),
        (X,),
        {"reversed": lambda x: jnp.cumsum(x[::-1]), "products": jnp.cumprod},
    ),
    row(
        "associative_scan of affine maps",
        lambda a, b: lax.associative_scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (a, b))[1],
        lambda a, b: jnp.stack(
            [
                b[0],
                b[0] * a[1] + b[1],
                (b[0] * a[1] + b[1]) * a[2] + b[2],
                ((b[0] * a[1] + b[1]) * a[2] + b[2]) * a[3] + b[3],
            ]
        ),
        (X, X),
        {"sums": lambda a, b: jnp.cumsum(a * b), "shifted": lambda a, b: jnp.cumsum(b) + 0 * a},
    ),
    row(
        "map over rows",
        lambda A: lax.map(lambda x: x @ x, A),
        lambda A: (A * A).sum(1),
        (f32(3, 2),),
        {"sum": lambda A: A.sum(1), "root": lambda A: jnp.sqrt((A * A).sum(1))},
    ),
    row(
        "a while_loop that counts to five",
        lambda x: lax.while_loop(lambda s: s[0] < 5, lambda s: (s[0] + 1, s[1] * x), (0, x))[1],
        lambda x: x**6,
        (f32(),),
        {"five": lambda x: x**5, "seven": lambda x: x**7},
    ),
    row(
        "custom_jvp is what it computes",
        lambda x: jax.nn.silu(x) / jax.nn.sigmoid(x),
        lambda x: x + 0.0,
        (X,),
        {"sigmoid": jax.nn.sigmoid, "sign": lambda x: -x},
    ),
)
