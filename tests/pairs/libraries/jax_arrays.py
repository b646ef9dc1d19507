"""jax.numpy and jax.lax once more: orders, windows, rounding, interpolation and gradients of programs."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from uat_jax import interval, positive

from ..pair import f32, matmul
from ..row import row

X, XY, M = f32(5), (f32(4), f32(4)), f32(3, 4)
KNOTS = np.array([0.0, 1.0, 3.0], np.float32)
SIZES = np.array([1, 0, 1, 2, 2], np.int32)


def piecewise(x, y):
    """Linear between the knots 0, 1 and 3, constant outside."""
    first = y[0] + (y[1] - y[0]) * jnp.clip(x, 0.0, 1.0)
    return first + (y[2] - y[1]) * jnp.clip((x - 1.0) / 2.0, 0.0, 1.0)


def one_hot_max(x):
    return (jax.nn.one_hot(jnp.argmax(x), len(x)) * x).sum()


def ranks(x):
    return jnp.stack([sum(jnp.where(x[j] < x[i], 1, 0) for j in range(3)) for i in range(3)])


def fixed_point(x):
    """Four Newton steps for the square root, begun at 1 + x."""
    step = lambda i, y: (y + x / y) / 2.0
    return lax.fori_loop(0, 2, step, 1.0 + x)


def newton(x):
    y = 1.0 + x
    y = (y * y + x) / (2.0 * y)
    return (y * y + x) / (2.0 * y)


ROWS = (
    row(
        "interp at places that are inputs",
        lambda x, y: jnp.interp(x, KNOTS, y),
        piecewise,
        (f32(2), f32(3)),
        {
            "knots exchanged": lambda x, y: piecewise(x, y[::-1]),
            "prolonged": lambda x, y: y[0] + (y[1] - y[0]) * x + (y[2] - y[1]) * jnp.maximum((x - 1.0) / 2.0, 0.0),
        },
    ),
    row(
        "the maximum by a one-hot argmax",
        one_hot_max,
        jnp.max,
        (f32(4),),
        {"minimum": jnp.min, "first": lambda x: x[0]},
    ),
    row(
        "floor of a shifted number",
        lambda x: jnp.floor(x + 3.0) - 3.0,
        lambda x: -jnp.ceil(-x),
        (X,),
        {"ceil": jnp.ceil, "trunc": jnp.trunc},
    ),
    row(
        "mod by floor",
        lambda x: jnp.mod(x, 3.0),
        lambda x: x - 3.0 * jnp.floor(x / 3.0),
        (X,),
        {"rem": lambda x: lax.rem(x, jnp.full_like(x, 3.0)), "rounded": lambda x: x - 3.0 * jnp.round(x / 3.0)},
    ),
    row(
        "modf",
        lambda x: jnp.modf(x),
        lambda x: (x - jnp.trunc(x), jnp.sign(x) * jnp.floor(jnp.abs(x))),
        (X,),
        {"floor": lambda x: (x - jnp.floor(x), jnp.floor(x)), "half": lambda x: ((x - jnp.trunc(x)) / 2, jnp.trunc(x))},
    ),
    row(
        "trunc by cases",
        jnp.trunc,
        lambda x: jnp.where(x < 0.0, jnp.ceil(x), jnp.floor(x)),
        (X,),
        {"floor": jnp.floor, "away from 0": lambda x: jnp.where(x < 0, jnp.floor(x), jnp.ceil(x))},
    ),
    row(
        "ranks by comparisons",
        lambda x: jnp.sort(x)[::-1],
        lambda x: -jnp.sort(-x),
        (f32(5),),
        {"ascending": jnp.sort, "reversed": lambda x: x[::-1]},
        gradient=True,
        almost_everywhere=True,
    ),
    row(
        "nansum of logarithms of a softplus",
        lambda x: jnp.nansum(jnp.log(jax.nn.softplus(x))),
        lambda x: jnp.log(jnp.log1p(jnp.exp(x))).sum(),
        (X,),
        {
            "log of sum": lambda x: jnp.log(jax.nn.softplus(x).sum()),
            "mean": lambda x: jnp.log(jax.nn.softplus(x)).mean(),
        },
        gradient=True,
    ),
    row(
        "segment_sum",
        lambda x: jax.ops.segment_sum(x, SIZES, 3),
        lambda x: matmul(jax.nn.one_hot(SIZES, 3).T, x),
        (X,),
        {
            "mean": lambda x: matmul(jax.nn.one_hot(SIZES, 3).T, x) / 2,
            "rolled": lambda x: matmul(jax.nn.one_hot(np.roll(SIZES, 1), 3).T, x),
        },
        gradient=True,
    ),
    row(
        "segment_max",
        lambda x: jax.ops.segment_max(x, SIZES, 3),
        lambda x: jnp.stack([x[1], jnp.maximum(x[0], x[2]), (x[3] + x[4] + jnp.abs(x[3] - x[4])) / 2.0]),
        (X,),
        {"minimum": lambda x: jnp.stack([x[1], jnp.minimum(x[0], x[2]), jnp.minimum(x[3], x[4])])},
    ),
    row(
        "cumulative maxima",
        lambda x: lax.cummax(x),
        lambda x: jnp.stack([x[: i + 1].max() for i in range(4)]),
        (f32(4),),
        {"from the end": lambda x: lax.cummax(x, reverse=True), "cumulative minima": lambda x: lax.cummin(x)},
    ),
    row(
        "cumlogsumexp",
        lambda x: lax.cumlogsumexp(x),
        lambda x: jnp.log(jnp.cumsum(jnp.exp(x))),
        (X,),
        {"sum of logs": lambda x: jnp.cumsum(x), "all": lambda x: jnp.log(jnp.exp(x).sum()) + 0 * x},
        gradient=True,
    ),
    row(
        "a bounded Newton iteration in a loop",
        fixed_point,
        newton,
        (positive(f32(3)),),
        {"root": jnp.sqrt, "one step": lambda x: (1 + x + x / (1 + x)) / 2},
    ),
    row(
        "where of a double guard, with its gradient",
        lambda x: jnp.where(x > 0.0, jnp.log(jnp.where(x > 0.0, x, 1.0)), 0.0),
        lambda x: jnp.log(jnp.where(x > 0.0, x, 1.0)),
        (X,),
        {"of |x|": lambda x: jnp.log(jnp.where(x > 0.0, x, -x)), "x + 1": lambda x: jnp.log(jnp.maximum(x, 0) + 1)},
        gradient=True,
    ),
    row(
        "unwrap of two angles",
        lambda x: jnp.unwrap(jnp.stack([0.0 * x, x])),
        lambda x: jnp.stack([0.0 * x, x - 2.0 * np.pi * jnp.round(x / (2.0 * np.pi))]),
        (interval(f32(), -9.0, 9.0),),
        {"as it is": lambda x: jnp.stack([0 * x, x]), "up": lambda x: jnp.stack([0 * x, x + 2 * np.pi])},
    ),
    row(
        "rfftfreq filter",
        lambda x: jnp.fft.irfft(jnp.fft.rfft(x) * np.array([1.0, 1.0, 0.0], np.float32), 4),
        lambda x: (
            x - x @ np.array([1.0, -1.0, 1.0, -1.0], np.float32) / 4.0 * np.array([1.0, -1.0, 1.0, -1.0], np.float32)
        ),
        (f32(4),),
        {"mean": lambda x: x - x.mean(), "all": lambda x: x + 0.0},
        gradient=True,
    ),
    row(
        "roll and pad",
        lambda x: jnp.roll(x, 2),
        lambda x: jnp.pad(x, (2, 0), mode="wrap")[:5],
        (X,),
        {"edge": lambda x: jnp.pad(x, (2, 0), mode="edge")[:5], "by one": lambda x: jnp.roll(x, 1)},
    ),
    row(
        "percentile",
        lambda x: jnp.percentile(x, 25.0),
        lambda x: jnp.sort(x)[0] * 0.25 + jnp.sort(x)[1] * 0.75,
        (f32(4),),
        {"nearest": lambda x: jnp.sort(x)[1], "exchanged": lambda x: jnp.sort(x)[0] * 0.75 + jnp.sort(x)[1] * 0.25},
    ),
    row(
        "logical masks as products",
        lambda x: jnp.where((x > 0.0) & (x < 1.0) | (x < -1.0), x, 0.0),
        lambda x: x * jnp.where(x < -1.0, 1.0, jnp.where(x > 0.0, 1.0, 0.0) * jnp.where(x < 1.0, 1.0, 0.0)),
        (X,),
        {
            "one of two": lambda x: jnp.where((x > 0) & (x < 1), x, 0.0),
            "ones": lambda x: jnp.where((x > 0) & (x < 1) | (x < -1), 1.0, 0.0),
        },
    ),
    row(
        "hypot and its gradient",
        lambda x, y: jnp.hypot(x, y),
        lambda x, y: jnp.sqrt(x * x + y * y),
        (positive(f32(4)), f32(4)),
        {"sum": lambda x, y: jnp.abs(x) + jnp.abs(y), "squared": lambda x, y: x * x + y * y},
        gradient=True,
    ),
)
