"""Constants: decisions taken on rounded ones, and ones that no rounding explains."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .row import Different, Equal, S, V, f32, f64, ind

ROUNDED = np.float32(0.7)
FORTY_NINTH = np.float32(1 / 49)
LOG2 = float(np.log(2.0))
ELEVEN = f32(11)
SORTED = tuple(range(11))


SMOOTHED = np.float32(0.9) + np.float32(0.025)
"""0.92499995, which is not what 0.925 rounds to: the float below that."""
ROOT_HALF = np.float32(np.sqrt(0.5))


def const(x):
    """√(1/2), spread."""
    return jnp.full_like(x, ROOT_HALF)


def below(value: np.float32, steps: int) -> np.float32:
    """The float32 so many steps below a value, or above it."""
    for _ in range(abs(steps)):
        value = np.nextafter(value, np.float32(-np.inf if steps > 0 else np.inf))
    return value


def beyond(value: float, steps: int) -> float:
    """The float64 so many steps above a value."""
    for _ in range(steps):
        value = float(np.nextafter(value, np.inf))
    return value


def quantile(x, q, method):
    return jnp.quantile(x, q, method=method)


def widths(name, left, right, specs, witness, **settings):
    """A row whose constants are rounded to float32, so that float64 makes another function of it."""
    return Different(name, left, right, specs, witness, widths=True, **settings)


DECISIONS = (
    widths("a cast of 0.7 times 10", lambda x: x * (ROUNDED * 10 * jnp.ones_like(x)).astype(jnp.int32), lambda x: 6 * x, (S,), (3,)),
    widths("a cast of 49 times 1/49", lambda x: x + (49 * FORTY_NINTH * jnp.ones_like(x)).astype(jnp.int32), lambda x: x, (S,), (3,)),
    widths("a floor of 0.7 times 10", lambda x: x * jnp.floor(jnp.float32(0.7) * 10), lambda x: 6 * x, (S,), (3,)),
    widths("a ceil of 0.1 times 10", lambda x: x * jnp.ceil(jnp.float32(0.1) * 10), lambda x: 2 * x, (S,), (3,)),
    widths("a ceil of a third times 3", lambda x: x * jnp.ceil(jnp.float32(1 / 3) * 3), lambda x: 2 * x, (S,), (3,)),
    widths("a comparison of 0.7 times 10", lambda x: x * ind(jnp.float32(0.7) * 10 >= 7), lambda x: 0 * x, (S,), (3,)),
    widths("an equality of 0.1 + 0.2 and 0.3", lambda x: x * ind(jnp.float32(0.1) + jnp.float32(0.2) == jnp.float32(0.3)), lambda x: x * ind(jnp.float32(0.1) + jnp.float32(0.2) != jnp.float32(0.3)), (S,), (3,)),
    widths("an index from 0.7 times 10", lambda x: x[(jnp.float32(0.7) * 10).astype(jnp.int32)], lambda x: x[6], (ELEVEN,), (SORTED,)),
    widths("a loop of 0.7 times 10 rounds", lambda x: jax.lax.fori_loop(0, (jnp.float32(0.7) * 10).astype(jnp.int32), lambda _, c: c + x, x * 0), lambda x: 6 * x, (S,), (3,)),
    widths("a lower quantile", lambda x: quantile(x, 0.7, "lower"), lambda x: jnp.sort(x)[6], (ELEVEN,), (SORTED,)),
    widths("a lower quantile of 0.3", lambda x: quantile(x, 0.3, "lower"), lambda x: jnp.sort(x)[2], (ELEVEN,), (SORTED,)),
    widths("a higher quantile", lambda x: quantile(x, 0.7, "higher"), lambda x: jnp.sort(x)[8], (ELEVEN,), (SORTED,)),
    widths("a nearest quantile", lambda x: quantile(x, 0.25, "nearest"), lambda x: jnp.sort(x)[3], (ELEVEN,), (SORTED,)),
    widths("a percentile", lambda x: jnp.percentile(x, 70, method="lower"), lambda x: jnp.sort(x)[7], (ELEVEN,), (SORTED,)),
    widths("an array from arange", lambda x: x * float(len(np.arange(0, 0.7, 0.1))), lambda x: x * 6, (S,), (3,)),
    widths("a round of 0.5 times 5", lambda x: x * jnp.round(jnp.float32(0.5) * 5), lambda x: 3 * x, (S,), (3,)),
)  # fmt: skip

VALUES = (
    Different("exp2 with four digits of log 2", jnp.exp2, lambda x: jnp.exp(x * 0.6931), (S,), (8,), gap=1e-4),
    Different("the float below 0.925", lambda x: x * SMOOTHED, lambda x: x * np.float32(0.925), (S,), (8,), gap=1e-8),
    Different("the float below 0.925 and 37/40", lambda x: x * SMOOTHED, lambda x: 37 * x / 40, (S,), (8,), gap=1e-8),
    Different("two floats below 0.925", lambda x: x * below(SMOOTHED, 1), lambda x: x * np.float32(0.925), (S,), (8,), gap=1e-8),
    Different("a float next to 1", lambda x: x * np.float32(1.0000001), lambda x: x, (S,), (8,), gap=1e-8),
    Different("a float next to 1/2", lambda x: x * np.float32(0.50000006), lambda x: x / 2, (S,), (8,), gap=1e-8),
    Different("a float next to 3", lambda x: x * np.float32(3.0000002), lambda x: 3 * x, (S,), (8,), gap=1e-8),
    Different("a constant and itself, not below", lambda x: x * ind(jnp.abs(-const(x)) < const(x)), lambda x: x, (S,), (3,)),
    Different("a constant and itself, not above", lambda x: x * ind(jnp.negative(-const(x)) > 1 * const(x)), lambda x: x, (S,), (3,)),
    Different("a constant and itself, equal", lambda x: x * ind(jnp.abs(-const(x)) == const(x)), lambda x: 0 * x, (S,), (3,)),
    Different("a constant and the next one", lambda x: x * ind(const(x) < jnp.full_like(x, below(ROOT_HALF, -1))), lambda x: 0 * x, (S,), (3,)),
    Different("a constant and its negative", lambda x: x * ind(-const(x) < const(x)), lambda x: 0 * x, (S,), (3,)),
    Different("NaN and itself", lambda x: x * ind(jnp.negative(-jnp.full_like(x, jnp.nan)) <= jnp.full_like(x, jnp.nan)), lambda x: x, (S,), (3,)),
    Different("log Γ(5/2) without π", lambda x: x + lax.lgamma(jnp.full_like(x, 2.5)), lambda x: x + jnp.log(0.75), (S,), (0,)),
    Different("log Γ(5/2) with all of π", lambda x: x + lax.lgamma(jnp.full_like(x, 2.5)), lambda x: x + jnp.log(0.75) + jnp.log(jnp.pi), (S,), (0,)),
    Different("log Γ(5/2) with a factor more", lambda x: x + lax.lgamma(jnp.full_like(x, 2.5)), lambda x: x + jnp.log(15 / 8) + jnp.log(jnp.pi) / 2, (S,), (0,)),
    Different("log Γ(5/2) with a half of it", lambda x: x + lax.lgamma(jnp.full_like(x, 2.5)), lambda x: x + jnp.log(3 / 8) + jnp.log(jnp.pi) / 2, (S,), (0,)),
    Different("log Γ(9/4) for log Γ(5/2)", lambda x: x + lax.lgamma(jnp.full_like(x, 2.25)), lambda x: x + jnp.log(0.75) + jnp.log(jnp.pi) / 2, (S,), (0,)),
    Different("exp2 with a logarithm two steps off", lambda x: jnp.exp2(x), lambda x: jnp.exp(x * beyond(LOG2, 2)), (f64(),), (1000,), gap=1e-13),
    Different("exp2 with a logarithm twenty steps off", lambda x: jnp.exp2(x), lambda x: jnp.exp(x * beyond(LOG2, 20)), (f64(),), (1000,), gap=1e-12),
    Different("log2 with a logarithm far off", lambda x: jnp.log2(x), lambda x: jnp.log(x) / 0.6932, (S,), (1024,), gap=5e-5),
    Different("log10 with a logarithm far off", lambda x: jnp.log10(x), lambda x: jnp.log(x) / 2.3027, (S,), (1000,), gap=1e-5),
    Different("cbrt and a power of 0.3333", jnp.cbrt, lambda x: jnp.power(x, 0.3333), (S,), (1000,), gap=1e-4),
    Different("sqrt and a power of 0.5001", jnp.sqrt, lambda x: jnp.power(x, 0.5001), (S,), (10000,), gap=2e-4),
    Different("roots of two constants put together", lambda x: x * jnp.sqrt(jnp.concatenate([jnp.full(2, 2.0), jnp.full(1, 3.0)])), lambda x: x * jnp.sqrt(2.0), (V,), ((1, 1, 1),)),
    Different("gelu with a rounded root", lambda x: jax.nn.gelu(x), lambda x: 0.5 * x * (1 + jnp.tanh(0.798 * (x + 0.044715 * x**3))), (S,), (1,), gap=1e-5),
    Different("gelu with a wrong cubic", lambda x: jax.nn.gelu(x), lambda x: 0.5 * x * (1 + jnp.tanh(np.sqrt(2 / np.pi).astype(np.float32) * (x + 0.0447 * x**3))), (S,), (2,), gap=3e-6),
    Different("gelu exact and by tanh", lambda x: jax.nn.gelu(x, approximate=False), lambda x: jax.nn.gelu(x, approximate=True), (S,), (2.25,), gap=1e-4),
    Different("a third by four digits", lambda x: x / 3, lambda x: x * 0.3333, (S,), (30,), gap=5e-5),
    Different("pi by six digits", lambda x: x * np.float32(np.pi), lambda x: x * 3.14159, (S,), (300,), gap=5e-7),
    Different("degrees and 57.3", jnp.rad2deg, lambda x: x * 57.3, (S,), (30,), gap=5e-5),
    Different("1e-3 beside a sum", lambda x: x + 1e-3, lambda x: x + 1.001e-3, (S,), (0,), gap=9e-7),
    Different("an epsilon in a norm", lambda x: x / jnp.sqrt(jnp.mean(x * x) + 1e-5), lambda x: x / jnp.sqrt(jnp.mean(x * x) + 1e-6), (V,), ((0.001, 0, 0.002),)),
    Different("a root of 2 by three digits", lambda x: x * np.float32(np.sqrt(2)), lambda x: x * 1.41, (S,), (30,)),
    Different("a large multiple", lambda x: jnp.clip(x * 1e15, -1e30, None), lambda x: x * 1e15, (S,), (-1e17,)),
    Different("a large multiple clipped above", lambda x: jnp.minimum(x * 1e15, 1e30), lambda x: x * 1e15, (S,), (1e17,)),
    Different("a clip at 1e30", lambda x: jnp.clip(x, -1e30, 1e30), lambda x: x, (S,), (1e32,)),
    Different("a floor at 1e10", lambda x: jnp.maximum(x, -1e10), lambda x: x, (S,), (-1e12,)),
    Different("a branch at 1e10", lambda x: jnp.where(x > 1e10, 0.0, x), lambda x: x, (S,), (1e12,)),
    Different("a branch at 1e10 in the square", lambda x: jnp.where(x * x > 1e10, 0.0, x), lambda x: x, (S,), (1e12,)),
)  # fmt: skip

DIFFERENT = (*DECISIONS, *VALUES)

EQUAL = (
    Equal("roots of two constants put together", lambda x: x * jnp.sqrt(jnp.concatenate([jnp.full(2, 2.0), jnp.full(1, 3.0)])), lambda x: jnp.concatenate([x[:2] * jnp.sqrt(2.0), x[2:] * jnp.sqrt(3.0)]), (V,)),
    Equal("exp2 and exp, the constant meant", jnp.exp2, lambda x: jnp.exp(x * LOG2), (S,)),
    Equal("exp2 and exp in float64", jnp.exp2, lambda x: jnp.exp(x * LOG2), (f64(),)),
    Equal("a cast of 0.5 times 10", lambda x: x * (jnp.float32(0.5) * 10).astype(jnp.int32), lambda x: 5 * x, (S,)),
    Equal("a lower quantile of a half", lambda x: quantile(x, 0.5, "lower"), lambda x: jnp.sort(x)[5], (ELEVEN,)),
    Equal("the median", jnp.median, lambda x: jnp.sort(x)[5], (ELEVEN,)),
    Equal("a tenth and a quotient", lambda x: 0.1 * x, lambda x: x / 10, (S,)),
    Equal("a tenth and 1 - 0.9", lambda x: 0.1 * x, lambda x: (1 - np.float32(0.9)) * x, (S,)),
    Equal("a hundredth and a quotient", lambda x: 0.01 * x, lambda x: x / 100, (S,)),
    Equal("a third and a quotient", lambda x: np.float32(1 / 3) * x, lambda x: x / 3, (S,)),
    Equal("thirds in an array", lambda x: x * np.array([1, 1 / 2, 1 / 3], np.float32), lambda x: x / np.array([1, 2, 3], np.float32), (V,)),
    Equal("a constant is not below itself", lambda x: x * ind(jnp.abs(-const(x)) < const(x)), lambda x: 0 * x, (S,)),
    Equal("1 in the normal distribution", lambda x: x * jax.scipy.stats.norm.cdf(jnp.ones_like(x)), lambda x: x * (1 + lax.erf(const(x))) / 2, (S,)),
    Equal("log Γ(5/2)", lambda x: x + lax.lgamma(jnp.full_like(x, 2.5)), lambda x: x + jnp.log(0.75) + jnp.log(jnp.pi) / 2, (S,)),
    Equal("a root of 2", lambda x: x * np.float32(np.sqrt(2)), lambda x: x * jnp.sqrt(2.0), (S,)),
    Equal("a sum of constants", lambda x: x + 0.5 + 0.25, lambda x: x + 0.75, (S,)),
    Equal("sqrt and a power", jnp.sqrt, lambda x: jnp.power(x, 0.5), (S,)),
)  # fmt: skip
