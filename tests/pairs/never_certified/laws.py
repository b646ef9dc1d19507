"""The laws of signs, maxima and infinities, each a step beyond its side condition."""

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import digamma, gammaln

from .row import Different, Equal, S, V, W, f32, ind, real

MASK = np.array([True, False, True])
FACTORS = np.array([1, -2, 3], np.float32)


def relu(x):
    """max(x, 0), which prime fields know as not negative."""
    return jnp.maximum(x, 0)


OF_ANY_SIGN = (
    # (name, a function that looks as if it were not negative, its inputs, inputs at which it is)
    ("a sign", jnp.sign, (S,), (-2,)),
    ("a maximum", jnp.maximum, (S, S), (-1, -2)),
    ("a largest entry", jnp.max, (V,), ((-1, -2, -3),)),
    ("a minimum with y", lambda x, y: jnp.minimum(relu(x), y), (S, S), (1, -3)),
    ("a constant", lambda x: x - x - 2, (S,), (1,)),
    ("a relu by -2", lambda x: relu(x) / -2, (S,), (3,)),
    ("a relu times constants", lambda x: relu(x) * FACTORS, (V,), ((1, 1, 1),)),
    ("a relu times y", lambda x, y: relu(x) * y, (S, S), (1, -3)),
    ("a relu plus y", lambda x, y: relu(x) + y, (S, S), (1, -3)),
    ("a relu less y", lambda x, y: relu(x) - relu(y), (S, S), (1, 3)),
    ("a relu turned", lambda x: -relu(x), (S,), (1,)),
    ("a product of rows", lambda x, y: relu(x) @ y, (V, V), ((1, 1, 1), (-1, -1, -1))),
    ("an inverse", lambda x: 1 / x, (S,), (-2,)),
    ("a sum", jnp.sum, (V,), ((-1, -2, -3),)),
    ("a choice", lambda x, y: jnp.where(x > 0, relu(y), y), (S, S), (-1, -3)),
    ("another choice", lambda x, y: jnp.where(x > 0, y, relu(y)), (S, S), (1, -3)),
    ("an entry of a row", lambda x, y: jnp.stack([relu(x), y])[1], (S, S), (1, -3)),
    ("a cube", lambda x: x**3, (S,), (-2,)),
    ("a product of two", lambda x, y: x * y, (S, S), (1, -3)),
)


def magnitudes() -> Iterator[Different]:
    """The magnitude of each against itself."""
    for name, g, specs, witness in OF_ANY_SIGN:
        yield Different(f"magnitude of {name}", lambda *x, g=g: jnp.abs(g(*x)), g, specs, witness)


def masked(x, value):
    """x with another value at one place."""
    return jnp.where(MASK, x, value)


def chosen(condition, value):
    """0 where a condition holds, and a value elsewhere."""
    return jnp.where(condition, 0.0, value)


def moments(x, factor):
    """The mean of squares less the square of so many means, negative for other factors than 1."""
    return jnp.mean(x * x) - (factor * jnp.mean(x)) ** 2


SIGNS = (
    Different("sign of y times a sign", lambda x, y: jnp.sign(y * jnp.sign(x)), lambda x, y: jnp.sign(y) + 0 * x, (S, S), (-2, 3)),
    Different("y times a sign > 0", lambda x, y: ind(y * jnp.sign(x) > 0), lambda x, y: ind(y > 0) + 0 * x, (S, S), (-2, 3)),
    Different("sign of a root and a number", lambda x, y: jnp.sign(jnp.sqrt(x * x + 1) - y), lambda x, y: jnp.sign(jnp.sqrt(x * x + 1)) + 0 * y, (S, S), (0, 3)),
    Different("relu of moments", lambda x: relu(moments(x, 2)), lambda x: moments(x, 2), (V,), ((1, 1, 1),)),
    Different("relu of moments of two rows", lambda x, y: relu(jnp.mean(x * x) - jnp.mean(y) ** 2), lambda x, y: jnp.mean(x * x) - jnp.mean(y) ** 2, (V, V), ((1, 1, 1), (2, 2, 2))),
    Different("magnitude of a root by a sign", lambda x: jnp.sqrt(x * x) * jnp.sign(x), jnp.abs, (S,), (-2,)),
)  # fmt: skip

MAXIMA = (
    Different("largest of two rows of one mean", jnp.max, lambda x: jnp.max(jnp.stack([x[0] + x[1], x[2], 0 * x[0]])), (V,), ((1, 2, 0),)),
    Different("smallest and largest", lambda x: jnp.sort(x)[0], jnp.max, (V,), ((1, 2, 3),)),
    Different("middle and mean", lambda x: jnp.sort(x)[1], jnp.mean, (V,), ((1, 2, 9),)),
    Different("second and third", lambda x: jnp.sort(x)[1], lambda x: jnp.sort(x)[2], (W,), ((1, 2, 3, 4, 5, 6, 7, 8),)),
    Different("second and second of the opposite", lambda x: jnp.sort(x)[1], lambda x: jnp.sort(-x)[1], (W,), ((1, 2, 3, 4, 5, 6, 7, 8),)),
    Different("second, moved", lambda x, y: jnp.sort(x + y)[1], lambda x, y: jnp.sort(x)[1] + 0 * y, (W, S), ((1, 2, 3, 4, 5, 6, 7, 8), 1)),
    Different("a largest entry with an infinity", lambda x: jnp.exp(-jnp.max(masked(x, jnp.inf))), lambda x: jnp.exp(-jnp.max(masked(x, 0.0))), (V,), ((1, 2, 3),)),
    Different("a maximum with an infinity", lambda x: jnp.exp(-jnp.maximum(masked(x, jnp.inf), x)), lambda x: jnp.exp(-jnp.maximum(masked(x, 0.0), x)), (V,), ((1, -2, 3),)),
    Different("a maximum of infinity and a relu", lambda x: jnp.exp(-jnp.maximum(masked(0 * x, jnp.inf), relu(x))), lambda x: jnp.exp(-relu(x)), (V,), ((1, 2, 3),)),
    Different("a mask over some of a row", lambda x, y: jnp.maximum(masked(x, -jnp.inf), y), lambda x, y: y + 0 * x, (V, V), ((3, 3, 3), (1, 1, 1))),
    Different("a relu and a maximum", relu, lambda x: jnp.maximum(x, x / 2), (S,), (-2,)),
    Different("two maxima with one member", lambda x, y: jnp.maximum(relu(x), y), lambda x, y: y + 0 * x, (S, S), (3, 1)),
)  # fmt: skip

INFINITE = (
    Different("infinite below 1 and below 2", lambda x: chosen(x > 1, -jnp.inf), lambda x: chosen(x > 2, -jnp.inf), (S,), (1.5,), infinite=True),
    Different("infinite above and below", lambda x: chosen(x > 1, -jnp.inf), lambda x: chosen(x < 1, -jnp.inf), (S,), (3,), infinite=True),
    Different("infinity and its negative, chosen", lambda x: chosen(x > 1, jnp.inf), lambda x: chosen(x > 1, -jnp.inf), (S,), (-2,), infinite=True),
    Different("infinity turned, chosen", lambda x: -chosen(x > 1, jnp.inf), lambda x: chosen(x > 1, jnp.inf), (S,), (-2,), infinite=True),
    Different("infinity times -2, chosen", lambda x: -2 * chosen(x > 1, jnp.inf), lambda x: chosen(x > 1, jnp.inf), (S,), (-2,), infinite=True),
    Different("infinity times 0, chosen", lambda x: 0 * chosen(x > 1, jnp.inf), lambda x: chosen(x > 1, jnp.inf), (S,), (-2,), infinite=True),
    Different("an infinity and 0, chosen", lambda x: chosen(x > 1, -jnp.inf), lambda x: 0 * x, (S,), (-2,), infinite=True),
    Different("exp of an infinity, chosen", lambda x: jnp.exp(chosen(x > 1, -jnp.inf)), lambda x: 1 + 0 * x, (S,), (-2,)),
    Different("exp of infinity, chosen", lambda x: jnp.exp(chosen(x > 1, jnp.inf)), lambda x: ind(x > 1), (S,), (-2,), infinite=True),
    Different("a sum of the chosen", lambda x: jnp.exp(jnp.sum(chosen(x > 1, -jnp.inf))), lambda x: 1 + 0 * jnp.sum(x), (V,), ((1, 2, -3),)),
    Different("a sum of all and of one chosen", lambda x: jnp.exp(jnp.sum(chosen(x > 1, -jnp.inf))), lambda x: jnp.exp(chosen(x[0] > 1, -jnp.inf)), (V,), ((3, 2, -3),)),
    Different("a logarithm or an infinity is finite", lambda x, y: ind(jnp.isfinite(jnp.where(x > 1, jnp.log(y), -jnp.inf))), lambda x, y: ind(x > 1) + 0 * y, (S, S), (2, -1)),
    Different("infinity and its negative", lambda x: masked(0 * x, jnp.inf), lambda x: masked(0 * x, -jnp.inf), (V,), ((1, 2, 3),), infinite=True),
    Different("an infinity and 0", lambda x: masked(x, jnp.inf), lambda x: masked(x, 0.0), (V,), ((1, 2, 3),), infinite=True),
    Different("infinities in two places", lambda x: jnp.where(MASK, 0 * x, jnp.inf), lambda x: jnp.where(~MASK, 0 * x, jnp.inf), (V,), ((1, 2, 3),), infinite=True),
    Different("infinity turned", lambda x: -masked(0 * x, jnp.inf), lambda x: masked(0 * x, jnp.inf), (V,), ((1, 2, 3),), infinite=True),
    Different("a sum with an infinity", lambda x: jnp.exp(-(masked(x, jnp.inf) + 1)), lambda x: jnp.exp(-(masked(x, 0.0) + 1)), (V,), ((1, 2, 3),)),
    Different("a row with infinities of two kinds", lambda x: jnp.exp(-jnp.concatenate([chosen(x > 1, jnp.inf), masked(x, jnp.inf)])), lambda x: jnp.exp(-jnp.concatenate([chosen(x > 1, jnp.inf), masked(x, 0.0)])), (V,), ((-1, 2, 3),)),
    Different("a row of the chosen and the written", lambda x: jnp.stack([chosen(x > 1, jnp.inf), chosen(x > 1, -jnp.inf)]), lambda x: jnp.stack([chosen(x > 1, jnp.inf), chosen(x > 1, jnp.inf)]), (S,), (-2,), infinite=True),
)  # fmt: skip


def below(x):
    """0 for x below -30, with a plus sign."""
    return relu(x + 30)


ZEROS = (
    # 1/(0 - 0) is ∞, and -(1/0) is -∞.
    Different("tanh by the sign of a zero", lambda x: jnp.tanh(1 / (0 - below(x))), lambda x: -jnp.tanh(1 / below(x)), (S,), (-32,)),
    Different("twice an inverse by the sign of a zero", lambda x: jnp.tanh(2 * (1 / (0 - below(x)))), lambda x: -jnp.tanh(2 * (1 / below(x))), (S,), (-32,)),
    Different("a clip by the sign of a zero", lambda x: jnp.maximum(jnp.minimum(1 / (0 - below(x)), 5), -7), lambda x: -jnp.minimum(jnp.maximum(1 / below(x), -5), 7), (S,), (-32,)),
    Different("a row by the sign of a zero", lambda x: jnp.tanh(jnp.stack([1 / (0 - below(x)), x])), lambda x: -jnp.tanh(jnp.stack([1 / below(x), -x])), (S,), (-32,)),
    Different("a turned row by the sign of a zero", lambda x: jnp.tanh(jnp.flip(1 / (0 - below(x)))), lambda x: -jnp.tanh(jnp.flip(1 / below(x))), (V,), ((-32, 1, 2),)),
    Different("an inverse of 0 and of 1", lambda x: 1 / masked(x, 0.0), lambda x: 1 / masked(x, 1.0), (V,), ((1, 2, 3),), infinite=True),
    Different("an inverse of infinity and of 1", lambda x: 1 / masked(x, jnp.inf), lambda x: 1 / masked(x, 1.0), (V,), ((1, 2, 3),)),
    Different("infinity less infinity", lambda x: ind(jnp.isnan(masked(x, jnp.inf) - masked(x, jnp.inf))), lambda x: 0 * x, (V,), ((1, 2, 3),)),
    Different("twice an infinity and its negative", lambda x: 2 * masked(x, jnp.inf), lambda x: 2 * masked(x, -jnp.inf), (V,), ((1, 2, 3),), infinite=True),
    Different("NaN and itself", lambda x: ind(masked(x, jnp.nan) == masked(x, jnp.nan)), lambda x: 1 + 0 * x, (V,), ((1, 2, 3),)),
    Different("log of a quotient decided", lambda x, y: ind(jnp.log(x / y) < 9), lambda x, y: ind(jnp.log(x) - jnp.log(y) < 9), (S, S), (-1, -2)),
    Different("a root of -4 decided", lambda x: ind(jnp.sqrt(x - x - 4) > 1), lambda x: 1 + 0 * x, (S,), (1,)),
)  # fmt: skip

TABLES = (
    Different("lgamma and digamma", gammaln, digamma, (S,), (3,)),
    Different("acos of the opposite", lambda x: jnp.arccos(-x), lambda x: -jnp.arccos(x), (S,), (0.5,)),
    Different("cos and cosh", jnp.cos, jnp.cosh, (S,), (1,)),
    Different("sin and sinh", jnp.sin, jnp.sinh, (S,), (1,)),
    Different("the largest place from both ends", lambda x: real(jnp.argmax(x)), lambda x: real(jnp.argmax(x[::-1])), (V,), ((1, 2, 3),)),
    Different("a row sorted with an infinity", lambda x: jnp.exp(-jnp.sort(masked(x + 30, jnp.inf))), lambda x: jnp.exp(-jnp.sort(masked(x + 30, 0.0))), (V,), ((-29, -28, -30.5),)),
    Different("a second key", lambda x, y: lax.sort((jnp.floor(x), y, x), num_keys=2)[2], lambda x, y: lax.sort((jnp.floor(x), -y, x), num_keys=2)[2], (V, V), ((0.25, 0.5, 0.75), (1, 2, 3))),
    Different("and of bits", lambda x: real(jnp.argmax(x) & 1), lambda x: real(jnp.argmax(x)), (V,), ((1, 2, 3),)),
)  # fmt: skip

DIFFERENT = (*magnitudes(), *SIGNS, *MAXIMA, *INFINITE, *ZEROS, *TABLES)

EQUAL = (
    Equal("magnitude of a relu", lambda x: jnp.abs(relu(x)), relu, (S,)),
    Equal("magnitude of a product of relus", lambda x, y: jnp.abs(relu(x) * relu(y)), lambda x, y: relu(y) * relu(x), (S, S)),
    Equal("magnitude of a choice of relus", lambda x, y: jnp.abs(jnp.where(x > 0, relu(x), relu(y))), lambda x, y: jnp.where(x > 0, relu(x), relu(y)), (S, S)),
    Equal("a sign times a root", lambda x, y: jnp.sign(y * jnp.sqrt(x * x + 1)), lambda x, y: jnp.sign(y) + 0 * x, (S, S)),
    Equal("relu of a variance", lambda x: relu(moments(x, 1)), lambda x: moments(x, 1), (V,)),
    Equal("middle of the opposite", lambda x: jnp.sort(x)[1], lambda x: -jnp.sort(-x)[1], (V,)),
    Equal("second, moved", lambda x, y: jnp.sort(x + y)[1], lambda x, y: jnp.sort(x)[1] + y, (W, S)),
    Equal("infinity turned, chosen", lambda x: -chosen(x > 1, jnp.inf), lambda x: chosen(x > 1, -jnp.inf), (S,)),
    Equal("a number plus an infinity, chosen", lambda x, y: jnp.where(x > 1, x, -jnp.inf) + y, lambda x, y: jnp.where(x > 1, x + y, -jnp.inf), (S, S)),
    Equal("infinity times 2, chosen", lambda x: 2 * chosen(x > 1, jnp.inf), lambda x: chosen(x > 1, jnp.inf), (S,)),
    Equal("a relu and a maximum", relu, lambda x: (x + jnp.abs(x)) / 2, (f32(2),)),
)  # fmt: skip
