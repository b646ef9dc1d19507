"""Divisors that are zero on a half-line, where something else is chosen or an infinity is caught."""

import jax
import jax.numpy as jnp
from jax import lax

from .row import Different, Equal, S, V, f64, ind, real

FAR = 9


def relu(x):
    return jnp.maximum(x, 0)


def half(x):
    """x where it is positive, 0 elsewhere, twice."""
    return jnp.abs(x) + x


SELECTED = (
    Different("1 chosen by a sign", lambda x: 2 * jnp.where(x + FAR > 0, (x + FAR) / half(x + FAR), 0.0), lambda x: 1 + 0 * x, (S,), (-12,)),
    Different("relu by a sign", lambda x: jnp.where(x + 30 > 0, 1 / relu(x + 30), 0.0), lambda x: 1 / (x + 30), (S,), (-32,)),
    Different("relu by a sign, times its argument", lambda x: jnp.where(x + 30 > 0, (x + 30) / relu(x + 30), 0.0), lambda x: 1 + 0 * x, (S,), (-32,)),
    Different("relu by a sign, another value", lambda x: jnp.where(x + FAR > 0, x / relu(x + FAR), 5.0), lambda x: x / (x + FAR), (S,), (-12,)),
    Different("relu by its own zero", lambda x: jnp.where(relu(x + FAR) > 0, 1 / relu(x + FAR), 0.0), lambda x: 1 / (x + FAR), (S,), (-12,)),
    Different("relu by its own zero with ==", lambda x: jnp.where(relu(x + FAR) == 0, 7.0, 1 / relu(x + FAR)), lambda x: 1 / (x + FAR), (S,), (-12,)),
    Different("double where", lambda x: jnp.where(x + FAR > 0, 1 / jnp.where(x + FAR > 0, x + FAR, 1.0), 0.0), lambda x: 1 / (x + FAR), (S,), (-12,)),
    Different("double where with a floor", lambda x: jnp.where(jnp.floor(x) == 7, 0.0, 1 / jnp.where(jnp.floor(x) == 7, 1.0, jnp.floor(x) - 7)), lambda x: jnp.where(jnp.floor(x) == 7, 1.0, 1 / jnp.where(jnp.floor(x) == 7, 1.0, jnp.floor(x) - 7)), (S,), (7.5,)),
    Different("a floor divided by itself", lambda x: jnp.where(x < 1, 1.0, jnp.floor(x) / jnp.floor(x)) * jnp.where(jnp.floor(x) == 0, 0.0, 1.0), lambda x: 1 + 0 * x, (S,), (0.5,)),
    Different("a clip divided", lambda x: jnp.where(x > -FAR, 1 / jnp.clip(x + FAR, 0, 1), 0.0), lambda x: 1 / jnp.clip(x + FAR, 0.5, 1), (S,), (-12,)),
    Different("a maximum of two", lambda x, y: jnp.where(x + FAR > y, 1 / (jnp.maximum(x + FAR, y) - y), 0.0), lambda x, y: 1 / (x + FAR - y), (S, S), (-12, 0)),
    Different("a norm of relus", lambda x: jnp.where(jnp.any(x > 0), x[0] / jnp.sum(relu(x)), 0.0), lambda x: jnp.where(jnp.any(x > 0), x[0] / jnp.sum(relu(x)), 1.0), (V,), ((-1, -2, -3),)),
    Different("a mean over a mask", lambda x: jnp.where(jnp.any(x > 0), (x * ind(x > 0)).sum() / ind(x > 0).sum(), 0.0), lambda x: jnp.where(jnp.any(x > 0), (x * ind(x > 0)).sum() / ind(x > 0).sum(), 1.0), (V,), ((-1, -2, -3),)),
    Different("a mean over a mask with at least 1", lambda x: (x * ind(x > 0)).sum() / jnp.maximum(ind(x > 0).sum(), 1), lambda x: jnp.where(jnp.any(x > 0), (x * ind(x > 0)).sum() / jnp.maximum(ind(x > 0).sum(), 1), 1.0), (V,), ((-1, -2, -3),)),
    Different("select_n", lambda x: lax.select_n(x + FAR > 0, 0 * x, 1 / relu(x + FAR)), lambda x: 1 / (x + FAR), (S,), (-12,)),
    Different("a branch of cond", lambda x: lax.cond(x + FAR > 0, lambda v: 1 / relu(v + FAR), lambda v: 0 * v, x), lambda x: 1 / (x + FAR), (S,), (-12,)),
    Different("under vmap", jax.vmap(lambda v: jnp.where(v + 30 > 0, 1 / relu(v + 30), 0.0)), lambda x: 1 / (x + 30), (V,), ((-32, 1, 2),)),
    Different("in float64", lambda x: jnp.where(x + 30 > 0, 1 / relu(x + 30), 0.0), lambda x: 1 / (x + 30), (f64(),), (-32,)),
    Different("beyond the samples", lambda x: jnp.where(x + 3000 > 0, 1 / relu(x + 3000), 0.0), lambda x: 1 / (x + 3000), (S,), (-3200,), gap=1e-3),
    Different("a divisor of sqrt", lambda x: jnp.where(x + FAR > 0, 1 / (jnp.sqrt((x + FAR) ** 2) + x + FAR), 0.0), lambda x: 0.5 / (x + FAR), (S,), (-12,)),
    Different("where written inside the divisor", lambda x: 1 / jnp.where(x > -30, x + 40, 5.0), lambda x: 1 / (x + 40), (S,), (-32,)),
    Different("a rest of division", lambda x: jnp.where(x > -30, x, jnp.mod(x, 2)), lambda x: x, (S,), (-33,)),
)  # fmt: skip

CAUGHT = (
    Different("isinf", lambda x: jnp.where(jnp.isinf(1 / relu(x + FAR)), 0.0, x), lambda x: x, (S,), (-12,)),
    Different("isfinite", lambda x: jnp.where(jnp.isfinite(1 / relu(x + FAR)), x, 0.0), lambda x: x, (S,), (-12,)),
    Different("isfinite decided", lambda x: ind(jnp.isfinite(1 / relu(x + FAR))), lambda x: 1 + 0 * x, (S,), (-12,)),
    Different("isinf of a negative", lambda x: jnp.where(jnp.isneginf(-1 / relu(x + FAR)), 0.0, x), lambda x: x, (S,), (-12,)),
    Different("isnan of 0/0", lambda x: jnp.where(jnp.isnan(relu(x + FAR) / relu(x + FAR)), 0.0, x), lambda x: x, (S,), (-12,)),
    Different("isnan of a step", lambda x: jnp.where(jnp.isnan(ind(x > 30) / ind(x > 30)), 0.0, x), lambda x: x, (S,), (3,)),
    Different("nan_to_num of 0/0", lambda x: jnp.nan_to_num(relu(x + FAR) / relu(x + FAR)), lambda x: 1 + 0 * x, (S,), (-12,)),
    Different("nan_to_num of an infinity", lambda x: jnp.nan_to_num(1 / relu(x + FAR), posinf=0.0), lambda x: jnp.nan_to_num(1 / relu(x + FAR), posinf=1.0), (S,), (-12,)),
    Different("minimum with an infinity", lambda x: jnp.minimum(1 / relu(x + FAR), 5), lambda x: jnp.minimum(1 / (x + FAR), 5), (S,), (-12,)),
    Different("maximum with an infinity", lambda x: jnp.maximum(-1 / relu(x + FAR), -5), lambda x: jnp.maximum(-1 / (x + FAR), -5), (S,), (-12,)),
    Different("clip of an infinity", lambda x: jnp.clip(1 / relu(x + FAR), -5, 5), lambda x: jnp.clip(1 / (x + FAR), -5, 5), (S,), (-12,)),
    Different("exp of minus infinity", lambda x: jnp.exp(-1 / relu(x + FAR)), lambda x: jnp.exp(-1 / (x + FAR)), (S,), (-12,)),
    Different("tanh of an infinity", lambda x: jnp.tanh(1 / relu(x + FAR)), lambda x: jnp.tanh(1 / (x + FAR)), (S,), (-12,)),
    Different("sigmoid of an infinity", lambda x: jax.nn.sigmoid(1 / relu(x + FAR)), lambda x: jax.nn.sigmoid(1 / (x + FAR)), (S,), (-12,)),
    Different("arctan of an infinity", lambda x: jnp.arctan(1 / relu(x + FAR)), lambda x: jnp.arctan(1 / (x + FAR)), (S,), (-12,)),
    Different("quotient by an infinity", lambda x: 1 / (1 / relu(x + FAR)), lambda x: x + FAR, (S,), (-12,)),
    Different("quotient by 1 + an infinity", lambda x: 1 / (1 + 1 / relu(x + FAR)), lambda x: (x + FAR) / (x + FAR + 1), (S,), (-12,)),
    Different("comparison with an infinity", lambda x: ind(1 / relu(x + FAR) > 0), lambda x: ind(1 / (x + FAR) > 0), (S,), (-12,)),
    Different("sign of an infinity", lambda x: jnp.sign(1 / relu(x + FAR)), lambda x: jnp.sign(1 / (x + FAR)), (S,), (-12,)),
    Different("argmax of an infinity", lambda x: jnp.argmax(jnp.stack([1 / relu(x + FAR), 0 * x + 1])).astype(jnp.float32), lambda x: jnp.argmax(jnp.stack([1 / (x + FAR), 0 * x + 1])).astype(jnp.float32), (S,), (-12,)),
    Different("power of an infinity", lambda x: lax.integer_pow(1 / relu(x + FAR), -2), lambda x: (x + FAR) ** 2, (S,), (-12,)),
    Different("a softmax with an infinity", lambda x: jax.nn.softmax(jnp.stack([-1 / relu(x + FAR), 0 * x])), lambda x: jax.nn.softmax(jnp.stack([-1 / (x + FAR), 0 * x])), (S,), (-10,)),
    Different("an erf of an infinity", lambda x: lax.erf(1 / relu(x + FAR)), lambda x: lax.erf(1 / (x + FAR)), (S,), (-12,)),
    Different("log of 0 caught by exp", lambda x: jnp.exp(jnp.log(relu(x + FAR))), lambda x: x + FAR, (S,), (-12,)),
    Different("log of 0 caught by a maximum", lambda x: jnp.maximum(jnp.log(relu(x + FAR)), -50), lambda x: jnp.log(jnp.abs(x + FAR)), (S,), (-12,)),
    Different("rsqrt of 0", lambda x: jnp.minimum(lax.rsqrt(relu(x + FAR)), 5), lambda x: jnp.minimum(lax.rsqrt(jnp.abs(x + FAR)), 5), (S,), (-12,)),
)  # fmt: skip


def cut(x, dtype=jnp.int32):
    """x without its fraction, made by a cast to integers: 0 for all |x| < 1."""
    return real(x.astype(dtype))


CUT = (
    Different("a positive number cut to an integer", lambda x, y: jnp.where(cut(jnp.exp(x + FAR)) / cut(jnp.exp(x + FAR)) > y, y, 1.0), lambda x, y: jnp.where(y < 1, y, 1.0) + 0 * x, (S, S), (-12, -1)),
    Different("a positive number cut to 8 bits", lambda x, y: ind(cut(jnp.exp(x + FAR), jnp.int8) / cut(jnp.exp(x + FAR), jnp.int8) > y), lambda x, y: ind(1 > y) + 0 * x, (S, S), (-12, -1)),
    Different("a positive number cut, multiplied", lambda x, y: y * ind(cut(3 * jnp.exp(x + FAR)) / cut(3 * jnp.exp(x + FAR)) > y), lambda x, y: y * ind(1 > y) + 0 * x, (S, S), (-12, -1)),
    Different("a logistic cut to an integer", lambda x, y: ind(cut(2000 * jax.nn.sigmoid(x)) / cut(2000 * jax.nn.sigmoid(x)) > y), lambda x, y: ind(1 > y) + 0 * x, (S, S), (-12, -1)),
    Different("a root of a positive number cut to an integer", lambda x, y: ind(cut(jnp.sqrt(jnp.exp(x + FAR))) / cut(jnp.sqrt(jnp.exp(x + FAR))) > y), lambda x, y: ind(1 > y) + 0 * x, (S, S), (-12, -1)),
)  # fmt: skip


def clipped(x):
    """A quotient that is compared with numbers in cases of the sign of its divisor."""
    return jnp.clip(1 / (x + 30), -5, 5)


# Behind the comparison of a quotient its divisor is compared again.
AGAIN = (
    Different("a clipped quotient and relu of its divisor", lambda x: clipped(x) + relu(x + 30), lambda x: clipped(x) + x + 30, (S,), (-40,)),
    Different("a clipped quotient times the size of its divisor", lambda x: clipped(x) * jnp.abs(x + 30), lambda x: clipped(x) * (x + 30), (S,), (-40,)),
    Different("the largest of a quotient times relu", lambda x: jnp.maximum(1 / (x + 30), 2) * relu(x + 30), lambda x: jnp.maximum(1 / (x + 30), 2) * (x + 30), (S,), (-40,)),
    Different("a clipped quotient and two of relu", lambda x: clipped(x) + relu(x + 30) + relu(x - 30), lambda x: clipped(x) + x + 30 + relu(x - 30), (S,), (-40,)),
    Different("sizes of a quotient and its divisor", lambda x: jnp.abs(clipped(x)) + jnp.abs(x + 30), lambda x: jnp.abs(clipped(x)) + x + 30, (S,), (-40,)),
    Different("the least of a quotient and what is below", lambda x: jnp.minimum(3 / (x + 30), 2) + relu(-(x + 30)), lambda x: jnp.minimum(3 / (x + 30), 2), (S,), (-40,)),
)  # fmt: skip

DIFFERENT = (*SELECTED, *CAUGHT, *CUT, *AGAIN)

EQUAL = (
    Equal("a divisor that is cut twice", lambda x: x / (1 + jnp.abs(cut(x))), lambda x: x * (1 / (jnp.abs(cut(x)) + 1)), (S,)),
    Equal("a positive divisor cast to other floats", lambda x, y: ind(x / jnp.exp(y).astype(jnp.bfloat16).astype(jnp.float32) > 1), lambda x, y: ind(1 < x / jnp.exp(y)), (S, S)),
    Equal("the same relu", lambda x: jnp.where(x + FAR > 0, 1 / relu(x + FAR), 0.0), lambda x: jnp.where(x + FAR > 0, 1 / relu(FAR + x), 0.0), (S,)),
    Equal("double where in two ways", lambda x: jnp.where(x > 0, 1 / jnp.where(x > 0, x, 1.0), 0.0), lambda x: ind(x > 0) / jnp.where(x > 0, x, 1.0), (S,)),
    Equal("a mean over a mask", lambda x: (x * ind(x > 0)).sum() / jnp.maximum(ind(x > 0).sum(), 1), lambda x: jnp.where(x > 0, x, 0.0).sum() / jnp.maximum(ind(x > 0).sum(), 1), (V,)),
    Equal("a quotient of quotients", lambda x, y: x / (y / x), lambda x, y: x * x / y, (S, S)),
    Equal("a positive divisor", lambda x: x / (1 + x * x), lambda x: x * (1 / (1 + x * x)), (S,)),
    Equal("a divisor of exponentials", lambda x: 1 / (1 + jnp.exp(-x)), lambda x: jnp.exp(x) / (jnp.exp(x) + 1), (S,)),
    Equal("a divisor of squares and relus", lambda x: x / (1 + relu(x)), lambda x: x * (1 / (relu(x) + 1)), (S,)),
    Equal("an analytic divisor", lambda x: (x * x - 1) / (x - 1), lambda x: x + 1, (S,)),
    Equal("x / x", lambda x: x / x, lambda x: 1 + 0 * x, (S,)),
    Equal("a normalised vector", lambda x: x / jnp.sum(x), lambda x: x * (1 / jnp.sum(x)), (V,)),
    Equal("reciprocal twice", lambda x: 1 / (1 / x), lambda x: x, (S,)),
    Equal("cancelled in a where", lambda x: jnp.where(x > 1, x * x / x, 0.0), lambda x: jnp.where(x > 1, x, 0.0), (S,)),
    Equal("relu cancelled where positive", lambda x: jnp.where(x > 1, x / relu(x), 0.0), lambda x: ind(x > 1), (S,)),
)  # fmt: skip
