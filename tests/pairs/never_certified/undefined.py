"""Values that are undefined somewhere, and are swallowed before they reach the output."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import entr, xlogy

from .row import Different, Equal, S, V, f32, f64, ind, real

FAR = 30
ROWS = np.array([[True, False, True], [False, False, False]])


N = jax.export.symbolic_shape("n")


def nothing(x):
    """0, but at 0, where it is 0/0."""
    return x * x / x - x


COMPARED = (
    Different("NaN in the total order", lambda x: x * ind(lax.eq_to_p.bind(x / 0 * jnp.nan, jnp.full_like(x, jnp.nan))), lambda x: 0 * x, (S,), (2,)),
    Different("log > 0 and not <= 0", lambda x: ind(jnp.log(x) > 0), lambda x: 1 - ind(jnp.log(x) <= 0), (S,), (-2,)),
    Different("log < 1 and not >= 1", lambda x: ind(jnp.log(x + FAR) < 1), lambda x: 1 - ind(jnp.log(x + FAR) >= 1), (S,), (-32,)),
    Different("sqrt >= 0 and 1", lambda x: ind(jnp.sqrt(x + FAR) >= 0), lambda x: 1 + 0 * x, (S,), (-32,)),
    Different("sqrt > -1 and 1", lambda x: ind(jnp.sqrt(x) > -1), lambda x: 1 + 0 * x, (S,), (-2,)),
    Different("a value equals itself", lambda x: ind(jnp.sqrt(x) == jnp.sqrt(x)), lambda x: 1 + 0 * x, (S,), (-2,)),
    Different("a value differs from itself", lambda x: ind(jnp.log(x + FAR) != jnp.log(x + FAR)), lambda x: 0 * x, (S,), (-32,)),
    Different("arcsin <= 2", lambda x: ind(jnp.arcsin(x / 8) <= 2), lambda x: 1 + 0 * x, (S,), (12,)),
    Different("arccosh >= 0", lambda x: ind(jnp.arccosh(x + FAR) >= 0), lambda x: 1 + 0 * x, (S,), (-32,)),
    Different("arctanh of a small number", lambda x: ind(jnp.arctanh(x / 8) > 0), lambda x: ind(x > 0), (S,), (12,)),
    Different("log1p decided", lambda x: ind(jnp.log1p(x / 8) <= 0), lambda x: ind(x <= 0), (S,), (-12,)),
    Different("a power decided", lambda x: ind(jnp.power(x + FAR, 0.5) >= 0), lambda x: 1 + 0 * x, (S,), (-32,)),
    Different("log cancelled", lambda x, y: ind(jnp.log(x) - jnp.log(x) + y > 0), lambda x, y: ind(y > 0) + 0 * x, (S, S), (-1, 1)),
    Different("log cancelled far out", lambda x, y: ind(jnp.log(x + FAR) * 0 + y > 0), lambda x, y: ind(y > 0) + 0 * x, (S, S), (-32, 1)),
    Different("sqrt cancelled by its square", lambda x: ind(jnp.sqrt(x) ** 2 <= 4), lambda x: ind(x <= 4), (S,), (-2,)),
    Different("exp of log decided", lambda x: ind(jnp.exp(jnp.log(x)) < 4), lambda x: ind(x < 4), (S,), (-2,)),
    Different("product of roots decided", lambda x, y: ind(jnp.sqrt(x) * jnp.sqrt(y) >= 0), lambda x, y: ind(jnp.sqrt(x * y) >= 0), (S, S), (-1, -4)),
    Different("log of a product decided", lambda x, y: ind(jnp.log(x) + jnp.log(y) > 0), lambda x, y: ind(jnp.log(x * y) > 0), (S, S), (-2, -4)),
    Different("log of a square decided", lambda x: ind(2 * jnp.log(x) > 1), lambda x: ind(jnp.log(x * x) > 1), (S,), (-4,)),
    Different("a choice by log", lambda x, y: jnp.where(jnp.log(x) > 0, y, -y), lambda x, y: jnp.where(jnp.log(x) <= 0, -y, y), (S, S), (-2, 3)),
    Different("a floor of log", lambda x: ind(jnp.floor(jnp.log(x + FAR)) < 99), lambda x: 1 + 0 * x, (S,), (-32,)),
    Different("a count of logs", lambda x: ind(jnp.log(x + FAR) < 99).sum(), lambda x: 3 + 0 * x[0], (V,), ((1, -32, 2),)),
    Different("under vmap", jax.vmap(lambda v: ind(jnp.log(v) > 0)), jax.vmap(lambda v: 1 - ind(jnp.log(v) <= 0)), (V,), ((-2, 1, 2),)),
    Different("in a scan", lambda x: lax.scan(lambda c, v: (c + ind(jnp.log(v) > 0), None), x[0] * 0, x)[0], lambda x: lax.scan(lambda c, v: (c + 1 - ind(jnp.log(v) <= 0), None), x[0] * 0, x)[0], (V,), ((-2, 1, 2),)),
    Different("in float64", lambda x: ind(jnp.log(x) > 0), lambda x: 1 - ind(jnp.log(x) <= 0), (f64(),), (-2,)),
)  # fmt: skip

NOTHING = (
    Different("the sign of what is 0 or NaN", lambda x: ind(jnp.sign(nothing(x)) >= 0), lambda x: 1 + 0 * x, (S,), (0,), null_set=True),
    Different("the sign of a sign of 0 or NaN", lambda x: ind(jnp.sign(jnp.sign(nothing(x))) == 0), lambda x: 1 + 0 * x, (S,), (0,), null_set=True),
    Different("the square of a sign of 0 or NaN", lambda x: ind(jnp.sign(nothing(x)) ** 2 < 1), lambda x: 1 + 0 * x, (S,), (0,), null_set=True),
    Different("a positive part of 0 or NaN, added", lambda x: ind(x + jnp.maximum(nothing(x), 0) >= 0), lambda x: ind(x >= 0), (S,), (0,), null_set=True),
    Different("whether 0 or NaN is finite", lambda x: ind(jnp.isfinite(jnp.maximum(nothing(x), 0))), lambda x: 1 + 0 * x, (S,), (0,), null_set=True),
    Different("0 or NaN clipped", lambda x: ind(jnp.clip(jnp.sign(nothing(x)), -1, 1) >= 0), lambda x: 1 + 0 * x, (S,), (0,), null_set=True),
    Different("a truth value of 0 or NaN", lambda x: ind(jnp.maximum(nothing(x), 0).astype(bool)), lambda x: 0 * x, (S,), (0,), null_set=True),
    Different("0 or NaN put into an array", lambda x: ind(jnp.zeros(2).at[0].add(jnp.sign(nothing(x)))[0] >= 0), lambda x: 1 + 0 * x, (S,), (0,), null_set=True),
)  # fmt: skip


def vanishing(u):
    """u², by a logarithm that is −∞ at 0."""
    return jnp.exp(jnp.log(u * u))


JUMPS = (
    Different("the sign of an infinity", lambda x: jnp.sign(1 / x) ** 2, lambda x: jnp.sign(x) ** 2, (S,), (0,), null_set=True),
    Different("the size of the sign of an infinity", lambda x: jnp.abs(jnp.sign(2 / jnp.tanh(x))), lambda x: jnp.abs(jnp.sign(x)), (S,), (0,), null_set=True),
    Different("the sign of what e^-∞ makes 0", lambda x, u: jnp.sign(x * vanishing(u)), lambda x, u: jnp.sign(x) + 0 * u, (S, S), (1, 0), null_set=True),
    Different("the sign of a quotient by ∞", lambda x, u: jnp.sign(x / jnp.cosh(jnp.log(u * u))), lambda x, u: jnp.sign(x) + 0 * u, (S, S), (1, 0), null_set=True),
    Different("the sign of a sigmoid at -∞", lambda x, u: jnp.sign(jnp.arcsinh(x * jax.nn.sigmoid(jnp.log(u * u)))), lambda x, u: jnp.sign(x) + 0 * u, (S, S), (1, 0), null_set=True),
    Different("the angle of (0, 0) by e^-∞", lambda x, u: jnp.arctan2(x * vanishing(u), vanishing(u)), lambda x, u: jnp.arctan(x) + 0 * u, (S, S), (1, 0), null_set=True),
    Different("the other angle of (0, 0) by e^-∞", lambda x, u: jnp.arctan2(vanishing(u), x * vanishing(u)), lambda x, u: jnp.arctan2(1.0, x) + 0 * u, (S, S), (1, 0), null_set=True),
    Different("the cosine of an angle of (0, 0) by e^-∞", lambda x, u: jnp.cos(jnp.arctan2(x * vanishing(u), vanishing(u))), lambda x, u: 1 / jnp.sqrt(1 + x * x) + 0 * u, (S, S), (1, 0), null_set=True),
    Different("1 to the power ∞", lambda x: jnp.power(jnp.exp(x * x), 1 / (x * x)), lambda x: jnp.exp(1 + 0 * x), (f64(),), (0,), null_set=True),
    Different("1 to the power of a quotient", lambda x, y: jnp.power(jnp.exp(x), y / x), lambda x, y: jnp.exp(y) + 0 * x, (f64(), f64()), (0, 1), null_set=True),
    Different("∞ to the power 0", lambda x: jnp.power(1 / vanishing(x), 1 / jnp.log(x * x)), lambda x: jnp.exp(0 * x - 1), (S,), (0,), null_set=True),
    Different("e^-∞ to the power 0", lambda x: jnp.power(vanishing(x), 1 / jnp.log(x * x)), lambda x: jnp.exp(0 * x + 1), (S,), (0,), null_set=True),
    Different("1 to the power ∞ at all sizes", lambda x: jnp.power(jnp.exp(x * x), 1 / (x * x)), lambda x: jnp.exp(1 + 0 * x), (jax.ShapeDtypeStruct(N, jnp.float64),), ((0, 1, 2, 3, 4),), null_set=True),
)  # fmt: skip


def pair(x, y):
    """Two numbers in one array."""
    return jnp.stack([x, y])


IN_ROWS = (
    Different("argmax of a row with 0/0", lambda x, z: jnp.argmax(pair(x, z * z / z)), lambda x, z: jnp.argmax(pair(x, z)), (S, S), (5, 0), null_set=True),
    Different("argmin of a row with 0/0", lambda x, z: jnp.argmin(jnp.stack([x, z * z / z, 9 + x])), lambda x, z: jnp.argmin(jnp.stack([x, z, 9 + x])), (S, S), (-5, 0), null_set=True),
    Different("argmax of a row with a root", lambda x, z: jnp.argmax(pair(x, jnp.sqrt(z + FAR) ** 2)), lambda x, z: jnp.argmax(pair(x, z + FAR)), (S, S), (5, -32)),
    Different("one-hot of a row with a logarithm", lambda x, z: jax.nn.one_hot(jnp.argmax(pair(x, jnp.exp(jnp.log(z + FAR)))), 2), lambda x, z: jax.nn.one_hot(jnp.argmax(pair(x, z + FAR)), 2), (S, S), (5, -32)),
    Different("a row with 0/0 compared", lambda x, z: ind(pair(z * z / z, x) > -1), lambda x, z: ind(pair(z, x) > -1), (S, S), (5, 0), null_set=True),
    Different("a row with 0/0 looked at", lambda x, z: ind(jnp.isfinite(pair(z * z / z, x))).sum(), lambda x, z: ind(jnp.isfinite(pair(z, x))).sum(), (S, S), (5, 0), null_set=True),
)  # fmt: skip

CAUGHT = (
    Different("isnan of log", lambda x: jnp.where(jnp.isnan(jnp.log(x + FAR)), 0.0, x), lambda x: x, (S,), (-32,)),
    Different("isnan of sqrt", lambda x: jnp.where(jnp.isnan(jnp.sqrt(x + FAR)), 0.0, x), lambda x: x, (S,), (-32,)),
    Different("isnan of a difference", lambda x: jnp.where(jnp.isnan(jnp.log(x + FAR) - jnp.log(x + FAR)), 0.0, x), lambda x: x, (S,), (-32,)),
    Different("isnan counted", lambda x: ind(jnp.isnan(jnp.log(x + FAR))), lambda x: 0 * x, (S,), (-32,)),
    Different("isfinite of log", lambda x: ind(jnp.isfinite(jnp.log(x + FAR))), lambda x: 1 + 0 * x, (S,), (-32,)),
    Different("nan_to_num with two values", lambda x: jnp.nan_to_num(jnp.log(x + FAR), nan=1.0), lambda x: jnp.nan_to_num(jnp.log(x + FAR), nan=2.0), (S,), (-32,)),
    Different("nan_to_num and log of |x|", lambda x: jnp.nan_to_num(jnp.log(x + FAR)), lambda x: jnp.log(jnp.abs(x + FAR)), (S,), (-32,)),
    Different("nansum", lambda x: jnp.nansum(jnp.sqrt(x + FAR) + 1), lambda x: jnp.sum(jnp.sqrt(jnp.maximum(x + FAR, 0)) + 1), (V,), ((1, -32, 2),)),
    Different("nanmax", lambda x: jnp.nanmax(jnp.stack([jnp.log(x + FAR), 0 * x - 9])), lambda x: jnp.maximum(jnp.log(jnp.abs(x + FAR)), -9), (S,), (-35,)),
    Different("nanmean", lambda x: jnp.nanmean(jnp.stack([jnp.log(x + FAR), 0 * x + 9])), lambda x: (jnp.log(jnp.abs(x + FAR)) + 9) / 2, (S,), (-35,)),
    Different("a where with a log", lambda x: jnp.where(x > -FAR, jnp.log(x + FAR), 0.0), lambda x: jnp.log(jnp.abs(x + FAR)), (S,), (-35,)),
    Different("a where with a root", lambda x: jnp.where(x > -FAR, jnp.sqrt(x + FAR), 0.0), lambda x: jnp.sqrt(jnp.abs(x + FAR)), (S,), (-34,)),
    Different("a where with a root and another value", lambda x: jnp.where(x > -FAR, jnp.sqrt(x + FAR), 0.0), lambda x: jnp.where(x > -FAR, jnp.sqrt(x + FAR), 1.0), (S,), (-34,)),
    Different("a double where with a log", lambda x: jnp.where(x > -FAR, jnp.log(jnp.where(x > -FAR, x + FAR, 1.0)), 0.0), lambda x: jnp.where(x > -FAR, jnp.log(jnp.where(x > -FAR, x + FAR, 1.0)), 1.0), (S,), (-34,)),
    Different("NaN written on purpose", lambda x: jnp.where(x > -FAR, x, jnp.nan), lambda x: x, (S,), (-32,), infinite=True),
    Different("infinity written on purpose", lambda x: jnp.where(x > -FAR, x, -jnp.inf), lambda x: x, (S,), (-32,), infinite=True),
    Different("two infinities", lambda x: jnp.where(x > -FAR, x, -jnp.inf), lambda x: jnp.where(x > -FAR, x, jnp.inf), (S,), (-32,), infinite=True),
    Different("a row of which a mask keeps nothing", lambda x: jnp.where(jnp.isfinite(jnp.where(ROWS, x, -jnp.inf).max(1)), x.sum(), 0), lambda x: jnp.stack([x.sum()] * 2), (V,), ((1, 2, 3),)),
    Different("the least of a masked row", lambda x: jnp.where(jnp.isfinite(jnp.where(ROWS[0], x, -jnp.inf).min()), x.sum(), 0), lambda x: x.sum(), (V,), ((1, 2, 3),)),
    Different("a masked row less itself", lambda x: jnp.where(jnp.isnan(jnp.where(ROWS[0], x, -jnp.inf) - jnp.where(ROWS[0], x, -jnp.inf)), 1, x), lambda x: x, (V,), ((1, 2, 3),)),
    Different("an integer made of NaN", lambda x: jnp.where(real(jnp.clip(jnp.log(x), 1, 2).astype(jnp.int32)) > 0.5, x, 2 * x), lambda x: x, (S,), (-2,)),
    Different("a density outside its support", lambda x: jnp.where(x > 0, -x, -jnp.inf), lambda x: jnp.where(x > 0, -x, 0.0), (S,), (-2,), infinite=True),
    Different("xlogy and a product", lambda x: jnp.where(x <= -FAR, 0.0, xlogy(x + FAR, x + FAR)), lambda x: (x + FAR) * jnp.log(jnp.abs(x + FAR)), (S,), (-35,)),
    Different("an entropy outside its support", lambda x: jnp.maximum(entr(x + FAR), -999), lambda x: jnp.maximum(-jnp.abs(x + FAR) * jnp.log(jnp.abs(x + FAR)), -999), (S,), (-35,)),
)  # fmt: skip

MASKED = (
    Different("a causal mask and none", lambda x: jax.nn.softmax(jnp.where(np.tril(np.ones((3, 3), bool)), x, -jnp.inf)), lambda x: jax.nn.softmax(x), (f32(3, 3),), (np.arange(9.0).reshape(3, 3),)),
    Different("a mask by -inf and by 0", lambda x: jax.nn.softmax(jnp.where(np.array([True, True, False]), x, -jnp.inf)), lambda x: jax.nn.softmax(x * np.array([1, 1, 0], np.float32)), (V,), ((1, 2, 3),)),
    Different("a mask by -inf and by -1", lambda x: jax.nn.softmax(jnp.where(np.array([True, True, False]), x, -jnp.inf)), lambda x: jax.nn.softmax(jnp.where(np.array([True, True, False]), x, -1.0)), (V,), ((1, 2, 3),)),
    Different("a mask chosen by the input", lambda x: jnp.max(jnp.where(x > 20, -jnp.inf, x)), lambda x: jnp.max(x), (V,), ((25, 1, 2),)),
    Different("a mask chosen by the input, softmax", lambda x: jax.nn.softmax(jnp.where(x > 20, -jnp.inf, x)), lambda x: jax.nn.softmax(x), (V,), ((25, 1, 2),)),
    Different("a mask chosen by the input, > and >=", lambda x: jnp.max(jnp.where(jnp.floor(x) > 20, -jnp.inf, x)), lambda x: jnp.max(jnp.where(jnp.floor(x) >= 20, -jnp.inf, x)), (V,), ((20.5, 1, 2),)),
    Different("a smallest over a mask", lambda x: jnp.min(jnp.where(np.array([True, True, False]), x, jnp.inf)), lambda x: jnp.min(jnp.where(np.array([True, True, False]), x, 0.0)), (V,), ((1, 2, 3),)),
    Different("an empty largest", lambda x: jnp.max(x, initial=-jnp.inf, where=x > 20), lambda x: jnp.max(x, initial=0.0, where=x > 20), (V,), ((1, 2, 3),), infinite=True),
    Different("a large mask", lambda x: jnp.sum(jnp.where(np.array([True, True, False]), x, -1e9)), lambda x: jnp.sum(jnp.where(np.array([True, True, False]), x, -1e8)), (V,), ((1, 2, 3),)),
    Different("a window and all", lambda x: jax.nn.softmax(jnp.where(np.abs(np.subtract.outer(np.arange(4), np.arange(4))) < 3, x, -jnp.inf)), lambda x: jax.nn.softmax(x), (f32(4, 4),), (np.arange(16.0).reshape(4, 4) / 4,)),
    Different("a mask of the rows", lambda x: jax.nn.softmax(jnp.where(np.tril(np.ones((3, 3), bool)), x, -jnp.inf), axis=0), lambda x: jax.nn.softmax(jnp.where(np.tril(np.ones((3, 3), bool)), x, -jnp.inf), axis=1), (f32(3, 3),), (np.arange(9.0).reshape(3, 3),), infinite=True),
    Different("a log-sum-exp with a mask", lambda x: jax.nn.logsumexp(jnp.where(np.array([True, True, False]), x, -jnp.inf)), lambda x: jax.nn.logsumexp(x), (V,), ((1, 2, 3),)),
    Different("a log-sum-exp with a factor 0", lambda x: jax.nn.logsumexp(x, b=np.array([1, 1, 0], np.float32)), lambda x: jax.nn.logsumexp(x), (V,), ((1, 2, 3),)),
)  # fmt: skip


def log(x):
    """NaN below -FAR."""
    return jnp.log(x + FAR)


def log_abs(x):
    """The same above -FAR, and a number below."""
    return jnp.log(jnp.abs(x + FAR))


ORDERED = (
    Different("NaN sorted to the end", lambda x: jnp.sort(jnp.stack([log(x), 0 * x + 5]))[0], lambda x: jnp.minimum(log_abs(x), 5), (S,), (-31,)),
    Different("NaN as the largest of two", lambda x: real(jnp.argmax(jnp.stack([0 * x + 5, log(x)]))), lambda x: ind(log_abs(x) > 5), (S,), (-31,)),
    Different("NaN as the smallest of two", lambda x: real(jnp.argmin(jnp.stack([0 * x - 5, log(x)]))), lambda x: ind(log_abs(x) < -5), (S,), (-31,)),
    Different("NaN among steps", lambda x: real(jnp.searchsorted(np.array([-5, 5, 9], np.float32), log(x))), lambda x: real(jnp.searchsorted(np.array([-5, 5, 9], np.float32), log_abs(x))), (S,), (-31,)),
    Different("NaN cast to an integer", lambda x: real(log(x).astype(jnp.int32)), lambda x: jnp.trunc(log_abs(x)), (S,), (-130,)),
    Different("NaN cast to a boolean", lambda x: real(log(x).astype(jnp.bool_)), lambda x: ind(log_abs(x) > 9), (S,), (-31,)),
    Different("NaN that ends a loop", lambda x: lax.while_loop(lambda s: log(x) < s, lambda s: s - 1, 0 * x + 3), lambda x: lax.while_loop(lambda s: log_abs(x) < s, lambda s: s - 1, 0 * x + 3), (S,), (-31,)),
    Different("NaN that chooses a branch", lambda x: lax.cond(log(x) < 9, lambda: 1 + 0 * x, lambda: 0 * x), lambda x: lax.cond(log_abs(x) < 9, lambda: 1 + 0 * x, lambda: 0 * x), (S,), (-31,)),
    Different("NaN as an index", lambda x: jnp.stack([x, 2 * x, 3 * x])[jnp.clip(log(x), 0, 2).astype(jnp.int32)], lambda x: jnp.stack([x, 2 * x, 3 * x])[jnp.clip(log_abs(x), 0, 2).astype(jnp.int32)], (S,), (-130,)),
)  # fmt: skip

PARAMETERS = (
    Different("NaN cast to 8 bits and to 32", lambda x: real((9 * jnp.log(x)).astype(jnp.int8)), lambda x: real((9 * jnp.log(x)).astype(jnp.int32)), (S,), (2**22,)),
    Different("NaN cast to a boolean and to an integer", lambda x: real(jnp.log(x).astype(jnp.bool_)), lambda x: real(jnp.log(x).astype(jnp.int32)), (S,), (30,)),
    Different("places of NaN along two axes", lambda x: real(jnp.argmax(jnp.log(x + FAR), 0)), lambda x: real(jnp.argmax(jnp.log(x + FAR), 1)), (f32(2, 2),), ([[1, 2], [4, 3]],)),
    Different("NaN sorted along two axes", lambda x: jnp.sort(jnp.log(x), 0), lambda x: jnp.sort(jnp.log(x), 1), (f32(2, 2),), ([[1, 2], [4, 3]],)),
    Different("NaN sorted by one key and by two", lambda x, y: lax.sort((jnp.log(x), jnp.log(y)), num_keys=1)[1], lambda x, y: lax.sort((jnp.log(x), jnp.log(y)), num_keys=2)[1], (f32(2), f32(2)), ([1, 1], [4, 3]), null_set=True),
)  # fmt: skip
"""The second program has another parameter."""

UNDEFINED_WHERE_TIED = (
    Different("NaN > y and y >= NaN", lambda x, y: jnp.where(x / x > y, y, 1), lambda x, y: jnp.where(y >= x / x, 1, y), (S, S), (0, 5), null_set=True),
    Different("NaN < y and not y <= NaN", lambda x, y: jnp.where(x / x < y, 1, y), lambda x, y: jnp.where(y <= x / x, y, 1), (S, S), (0, 5), null_set=True),
    Different("NaN > y of a product", lambda x, y: jnp.where(x * y / (x * y) > y, y, 1), lambda x, y: jnp.where(y >= x * y / (x * y), 1, y), (S, S), (0, 5), null_set=True),
    Different("NaN > y, multiplied", lambda x, y: ind(x / x > y) * (y - 1), lambda x, y: (1 - ind(y >= x / x)) * (y - 1), (S, S), (0, 5), null_set=True),
    Different("a power of NaN > y", lambda x, y: jnp.where((x / x) ** 2 > y, y, 1), lambda x, y: jnp.where(y >= (x / x) ** 2, 1, y), (S, S), (0, 5), null_set=True),
)  # fmt: skip

EMPTY = (
    Different("the largest of no numbers is not 0", lambda x: jnp.exp(jnp.max(x[:, :0], axis=1, initial=-jnp.inf)) + x[:, 0], lambda x: 1 + x[:, 0], (f32(2, 2),), ([[1, 2], [3, 4]],)),
    Different("the smallest of no numbers is not 0", lambda x: jnp.exp(-jnp.min(x[:, :0], axis=1, initial=jnp.inf)) + x[:, 0], lambda x: 1 + x[:, 0], (f32(2, 2),), ([[1, 2], [3, 4]],)),
    Different("the largest of no numbers, and another", lambda x: jnp.maximum(jnp.max(x[:, :0], axis=1, initial=-jnp.inf), x[:, 0]), lambda x: jnp.maximum(x[:, 0], 0), (f32(2, 2),), ([[-1, 2], [-3, 4]],)),
    Different("a largest of no booleans", lambda x: ind(jnp.any(x[:, :0] > 0, axis=1)) + x[:, 0], lambda x: 1 + x[:, 0], (f32(2, 2),), ([[1, 2], [3, 4]],)),
    Different("a product of no numbers in a comparison", lambda x: ind(jnp.log(jnp.zeros((3, 0)) @ jnp.exp(x[:0]) + jnp.exp(x)) > 0), lambda x: ind(x >= 0), (V,), ((0, 1, 2),), null_set=True),
    Different("a sum of no infinities", lambda x: jnp.sum(jnp.where(x > 0, x, -jnp.inf)[:, :0], axis=1) + x[:, 0], lambda x: 1 + x[:, 0], (f32(2, 2),), ([[1, 2], [3, 4]],)),
)  # fmt: skip

TINY = np.float32(2.0**-77)  # of which `decide/expansion.py` makes what stands for an error

NOT_AN_ERROR = (
    Different("a quotient by a tiny number in a branch", lambda x: lax.cond(x > 0, lambda x: x / TINY, lambda x: x, x), lambda x: x, (S,), (1,)),
    Different("a difference from a tiny number in a branch", lambda x: lax.cond(x > 0, lambda x: x - TINY, lambda x: 2 * x, x), lambda x: 2 * x, (S,), (1,)),
    Different("a branch that is a tiny number", lambda x: lax.cond(x > 0, lambda x: lax.broadcast(TINY, (3,)), lambda x: x + jnp.zeros(3), x), lambda x: x + jnp.zeros(3), (S,), (1,)),
    Different("a tiny number less itself in a branch", lambda x: lax.cond(x > 0, lambda x: lax.sub(lax.broadcast(TINY, (3,)), lax.broadcast(TINY, (3,))), lambda x: x + jnp.zeros(3), x), lambda x: x + jnp.zeros(3), (S,), (1,)),
    Different("a tiny number by itself in one of three branches", lambda x: lax.switch(x.astype(jnp.int32), [lambda x: x, lambda x: TINY / (TINY + 0 * x), lambda x: 3 * x], x), lambda x: jnp.where(x >= 2, 3 * x, x), (S,), (1.5,)),
)  # fmt: skip

DIFFERENT = (
    *COMPARED,
    *NOTHING,
    *JUMPS,
    *CAUGHT,
    *MASKED,
    *ORDERED,
    *PARAMETERS,
    *UNDEFINED_WHERE_TIED,
    *EMPTY,
    *NOT_AN_ERROR,
)

EQUAL = (
    Equal("the sign of a multiple that is a number", lambda x, u: jnp.sign(x * jnp.exp(u) / (1 + u * u)), lambda x, u: jnp.sign(x) + 0 * u, (S, S)),
    Equal("the angle of a point on the right", lambda x, u: jnp.arctan2(x * jnp.exp(u), jnp.exp(u)), lambda x, u: jnp.arctan(x) + 0 * u, (S, S)),
    Equal("the cosine of that angle", lambda x, u: jnp.cos(jnp.arctan2(x * jnp.exp(u), jnp.exp(u))), lambda x, u: 1 / jnp.sqrt(1 + x * x) + 0 * u, (S, S)),
    Equal("a power of two numbers", lambda x, y: jnp.power(jnp.exp(x), y / (1 + x * x)), lambda x, y: jnp.exp(x * y / (1 + x * x)), (S, S)),
    Equal("argmax of two rows that are numbers", lambda x, z: jnp.argmax(pair(x, (1 + z * z) * z / (1 + z * z))), lambda x, z: jnp.argmax(pair(x, z)), (S, S)),
    Equal("a constant to the power of a quotient", lambda x: jnp.power(2.0, 1 / x) * jnp.power(2.0, -1 / x), lambda x: x / x, (S,)),
    Equal("log > 0 in two ways", lambda x: ind(jnp.log(x) > 0), lambda x: ind(0 < jnp.log(x)), (S,)),
    Equal("exp > 0 and not <= 0", lambda x: ind(jnp.exp(x) > 2), lambda x: 1 - ind(jnp.exp(x) <= 2), (S,)),
    Equal("log of a positive and its choice", lambda x: ind(jnp.log(1 + x * x) > 1), lambda x: 1 - ind(jnp.log(1 + x * x) <= 1), (S,)),
    Equal("log cancelled where it is defined", lambda x, y: ind(jnp.log(1 + x * x) - jnp.log(1 + x * x) + y > 0), lambda x, y: ind(y > 0) + 0 * x, (S, S)),
    Equal("log cancelled", lambda x, y: jnp.log(x) - jnp.log(x) + y, lambda x, y: y + 0 * x, (S, S)),
    Equal("a square root squared", lambda x: jnp.sqrt(x) ** 2, lambda x: x, (S,)),
    Equal("isnan twice", lambda x: jnp.where(jnp.isnan(jnp.log(x)), 0.0, x), lambda x: jnp.where(~jnp.isnan(jnp.log(x)), x, 0.0), (S,)),
    Equal("isnan of a sum of squares", lambda x: jnp.where(jnp.isnan(x * x + 1), 0.0, x), lambda x: x, (S,)),
    Equal("masks of -inf by where and by addition", lambda x: jax.nn.softmax(jnp.where(np.array([True, True, False]), x, -jnp.inf)), lambda x: jax.nn.softmax(x + np.array([0, 0, -np.inf], np.float32)), (V,)),
    Equal("a masked softmax by exponentials", lambda x: jax.nn.softmax(jnp.where(np.array([True, True, False]), x, -jnp.inf)), lambda x: jnp.exp(x) * np.array([1, 1, 0], np.float32) / (jnp.exp(x[0]) + jnp.exp(x[1])), (V,)),
    Equal("a largest over a mask", lambda x: jnp.max(jnp.where(np.array([True, True, False]), x, -jnp.inf)), lambda x: jnp.maximum(x[0], x[1]), (V,)),
    Equal("a window as wide as all", lambda x: jax.nn.softmax(jnp.where(np.abs(np.subtract.outer(np.arange(3), np.arange(3))) < 3, x, -jnp.inf)), lambda x: jax.nn.softmax(x), (f32(3, 3),)),
    Equal("a sum of no infinities", lambda x: jnp.sum(jnp.where(x > 0, x, -jnp.inf)[:, :0], axis=1) + x[:, 0], lambda x: x[:, 0] + 0 * x[:, 1], (f32(2, 2),)),
    Equal("NaN cast to 8 bits twice", lambda x: real((9 * jnp.log(x)).astype(jnp.int8)) * 2, lambda x: real((9 * jnp.log(x)).astype(jnp.int8)) + real((9 * jnp.log(x)).astype(jnp.int8)), (S,)),
    Equal("NaN cast to a boolean twice", lambda x: real(jnp.log(x).astype(jnp.bool_)) * 2, lambda x: real(jnp.log(x).astype(jnp.bool_)) + real(jnp.log(x).astype(jnp.bool_)), (S,)),
    Equal("places of NaN along one axis", lambda x: real(jnp.argmax(jnp.log(x + FAR), 0)) * 2, lambda x: real(jnp.argmax(jnp.log(x + FAR), 0)) + real(jnp.argmax(jnp.log(x + FAR), 0)), (f32(2, 2),)),
    Equal("NaN sorted along one axis", lambda x: jnp.sort(jnp.log(x), 0) * 2, lambda x: jnp.sort(jnp.log(x), 0) + jnp.sort(jnp.log(x), 0), (f32(2, 2),)),
    Equal("NaN sorted by one key", lambda x, y: lax.sort((jnp.log(x), jnp.log(y)), num_keys=1)[1] * 2, lambda x, y: 3 * lax.sort((jnp.log(x), jnp.log(y)), num_keys=1)[1] - lax.sort((jnp.log(x), jnp.log(y)), num_keys=1)[1], (f32(2), f32(2))),
    Equal("> and >= that meet where a quotient is defined", lambda x, y: jnp.where(x / (1 + x * x) > y, y, x / (1 + x * x)), lambda x, y: jnp.where(y >= x / (1 + x * x), x / (1 + x * x), y), (S, S)),
    Equal("an infinity outside the support", lambda x: jnp.where(x > 0, -x, -jnp.inf), lambda x: jnp.where(x <= 0, -jnp.inf, -x), (S,)),
    Equal("a quotient by a tiny number in a branch", lambda x: lax.cond(x > 0, lambda x: x / TINY, lambda x: x, x), lambda x: jnp.where(x > 0, x / TINY, x), (S,)),
    Equal("a difference from a tiny number in a branch", lambda x: lax.cond(x > 0, lambda x: x - TINY, lambda x: 2 * x, x), lambda x: jnp.where(x <= 0, 2 * x, x - TINY), (S,)),
    Equal("a branch that is a tiny number", lambda x: lax.cond(x > 0, lambda x: lax.broadcast(TINY, (3,)), lambda x: x + jnp.zeros(3), x), lambda x: jnp.where(x > 0, TINY, x) + jnp.zeros(3), (S,)),
    Equal("a tiny number less itself in a branch", lambda x: lax.cond(x > 0, lambda x: lax.sub(lax.broadcast(TINY, (3,)), lax.broadcast(TINY, (3,))), lambda x: x + jnp.zeros(3), x), lambda x: jnp.where(x > 0, 0, x) + jnp.zeros(3), (S,)),
    Equal("a tiny number by itself in a branch", lambda x: lax.cond(x > 0, lambda x: TINY / (TINY + 0 * x), lambda x: x, x), lambda x: jnp.where(x > 0, 1, x), (S,)),
)  # fmt: skip
