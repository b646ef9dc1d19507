"""One row of the table of facts each: what is not positive, what is zero on a half-line, what ignores an operand."""

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.lax import erf
from jax.nn import softmax

from .row import Different, Equal, S, V, W, f32, ind, real

MASK = np.array([True, False, True])

NOT_POSITIVE = (
    # (name, a function that is not positive everywhere, its inputs, inputs at which it is negative)
    ("a cosine", jnp.cos, (S,), (3,)),
    ("an erf", erf, (S,), (-2,)),
    ("an expm1", jnp.expm1, (S,), (-2,)),
    ("the logarithm of a logistic", lambda x: jnp.log(1 / (1 + jnp.exp(x))), (S,), (1,)),
    ("a negative exponential", lambda x: -jnp.exp(x), (S,), (1,)),
    ("a sine of an exponential", lambda x: jnp.sin(jnp.exp(x)), (S,), (1.5,)),
    ("a difference of exponentials", lambda x, y: jnp.exp(x) - jnp.exp(y), (S, S), (0, 1)),
    ("an exponential plus y", lambda x, y: jnp.exp(x) + y, (S, S), (0, -3)),
    ("an exponential times y", lambda x, y: jnp.exp(x) * y, (S, S), (0, -3)),
    ("y times an exponential", lambda x, y: y * jnp.exp(x), (S, S), (0, -3)),
    ("a minimum with y", lambda x, y: jnp.minimum(jnp.exp(x), y), (S, S), (0, -3)),
    ("the smallest of two", lambda x, y: jnp.min(jnp.stack([jnp.exp(x), y])), (S, S), (0, -3)),
    ("an exponential where x > 0", lambda x, y: jnp.where(x > 0, jnp.exp(y), y), (S, S), (-1, -3)),
    ("an exponential where x <= 0", lambda x, y: jnp.where(x > 0, y, jnp.exp(y)), (S, S), (1, -3)),
    ("a sum with y", lambda x, y: jnp.sum(jnp.stack([jnp.exp(x), y])), (S, S), (0, -3)),
    ("a product of rows", lambda x, y: jnp.stack([jnp.exp(x), jnp.exp(y)]) @ jnp.stack([x, y]), (S, S), (-2, -2)),
    ("an entry of a row", lambda x: jnp.stack([jnp.exp(x), x])[1], (S,), (-2,)),
    ("an input", lambda x: x + 0, (S,), (-2,)),
    ("less than an exponential", lambda x: jnp.exp(x * x) - 2, (S,), (0.5,)),
    ("an exponent met as a magnitude", lambda x: jnp.exp(x) - 1 + 0 * jnp.exp(jnp.abs(x)), (S,), (-2,)),
    (
        "an exponent met where it is positive",
        lambda x: jnp.where(x > 0, jnp.exp(x), 1) * 0 + jnp.exp(x) - 1,
        (S,),
        (-2,),
    ),
    ("the exponential of another exponent met", lambda x: jnp.exp(jnp.exp(x)) * 0 + jnp.exp(x) - 1, (S,), (-2,)),
    ("two exponents above 0", lambda x, y: jnp.exp(jnp.exp(x)) - jnp.exp(jnp.exp(y)), (S, S), (0, 1)),
)

HOLLOW = (
    # (name, a function that is 0 on a half-line that no sample sees, its inputs, inputs at which it is 0)
    ("a floor", lambda x: jnp.floor(x + 30), (S,), (-29.5,)),
    ("a round", lambda x: jnp.round((x + 30) / 8), (S,), (-29,)),
    ("a maximum", lambda x: jnp.maximum(x + 30, 0), (S,), (-32,)),
    ("a relu times y", lambda x, y: jnp.maximum(x + 30, 0) * y, (S, S), (-32, 2)),
    ("y times a relu", lambda x, y: y * jnp.maximum(x + 30, 0), (S, S), (-32, 2)),
    ("a square of a relu", lambda x: jnp.maximum(x + 30, 0) ** 2, (S,), (-32,)),
    ("a cube of a relu", lambda x: jnp.maximum(x + 30, 0) ** 3, (S,), (-32,)),
    ("a sign of a floor", lambda x: jnp.sign(jnp.floor(x + 30)), (S,), (-29.5,)),
    ("|x| - x", lambda x: jnp.abs(x - 30) - (x - 30), (S,), (33,)),
    ("x - |x|", lambda x: (x - 30) - jnp.abs(x - 30), (S,), (33,)),
    ("|x| + x", lambda x: (x + 30) + jnp.abs(x + 30), (S,), (-33,)),
    ("y where x > -30", lambda x, y: jnp.where(x > -30, y, 0.0), (S, S), (-32, 2)),
    ("y where x < 30", lambda x, y: jnp.where(x < 30, y, 0.0), (S, S), (32, 2)),
    ("a product of rows", lambda x, y: jnp.stack([jnp.maximum(x + 30, 0)]) @ jnp.stack([y]), (S, S), (-32, 2)),
    ("a tanh of a relu", lambda x: jnp.tanh(jnp.maximum(x + 30, 0)), (S,), (-32,)),
    ("a cast", lambda x: real((x + 30).astype(jnp.int32)), (S,), (-29.5,)),
    ("a cast of an exponential", lambda x: real(jnp.exp(x - 30).astype(jnp.int32)), (S,), (-2,)),
    ("a cast to a byte", lambda x: real((x + 30).astype(jnp.uint8)), (S,), (-32,)),
    ("a cast in a sum", lambda x: real(x.astype(jnp.int32) ** 2) + jnp.maximum(x, 0) * 0, (S,), (0.5,)),
    ("an entry of a row", lambda x: jnp.stack([x, jnp.maximum(x + 30, 0)])[1], (S,), (-32,)),
    ("an entry of a product", lambda x, y: jnp.outer(jnp.stack([jnp.exp(y), jnp.maximum(x + 30, 0)]), jnp.exp(y))[1, 0], (S, S), (-32, 2)),
    ("an entry of a sum of products", lambda x, y: (jnp.stack([jnp.exp(y), jnp.maximum(x + 30, 0)])[:, None] @ jnp.exp(y)[None, None])[1, 0], (S, S), (-32, 2)),
)  # fmt: skip

UNDEFINED = (
    # (name, a function that is not defined everywhere, its inputs, inputs at which it is NaN)
    ("atanh of an exponential", lambda x: jnp.arctanh(jnp.exp(x)), (S,), (2,)),
    ("acosh of a square", lambda x: jnp.arccosh(x * x), (S,), (0.5,)),
    ("asin of an exponential", lambda x: jnp.arcsin(jnp.exp(x)), (S,), (2,)),
    ("log1p", jnp.log1p, (S,), (-2,)),
    ("a power", lambda x: jnp.power(x, 0.3), (S,), (-2,)),
    ("a root", jnp.sqrt, (S,), (-2,)),
    ("a maximum with a logarithm", lambda x: jnp.maximum(jnp.log(x), -99), (S,), (-2,)),
    ("a logarithm or an infinity", lambda x, y: jnp.where(x > 1, jnp.log(y), -jnp.inf), (S, S), (2, -2)),
    ("a relu by itself", lambda x: jnp.maximum(x + 30, 0) / jnp.maximum(x + 30, 0), (S,), (-32,)),
)


def rows() -> Iterator[Different]:
    """What decides by the logarithm or the inverse of each, against 1 and against what is not the opposite of NaN."""
    one = lambda *inputs: 1 + 0 * sum(inputs)
    for name, g, specs, witness in NOT_POSITIVE:
        yield Different(f"log of {name}", lambda *x, g=g: ind(jnp.log(g(*x)) < 9), one, specs, witness)
        yield Different(
            f"log of {name}, not >=",
            lambda *x, g=g: ind(jnp.log(g(*x)) < 9),
            lambda *x, g=g: 1 - ind(jnp.log(g(*x)) >= 9),
            specs,
            witness,
        )
    for name, g, specs, witness in HOLLOW:
        yield Different(f"1 by {name}", lambda *x, g=g: ind(jnp.isfinite(1 / g(*x))), one, specs, witness)
    for name, g, specs, witness in UNDEFINED:
        yield Different(f"{name} decided", lambda *x, g=g: ind(g(*x) > -99), one, specs, witness)
        yield Different(
            f"{name} decided, not <=",
            lambda *x, g=g: ind(g(*x) > 1),
            lambda *x, g=g: 1 - ind(g(*x) <= 1),
            specs,
            witness,
        )


def arctangents(x):
    """0 for x > 30, -π for x < 30."""
    return jnp.arctan(x - 30) + jnp.arctan(1 / (x - 30)) - 2 * jnp.arctan(1 + 0 * x)


def arctangents_by_power(x):
    """The same, with a power in place of the quotient."""
    return jnp.arctan(x - 30) + jnp.arctan((x - 30) ** -1) - 2 * jnp.arctan(1 + 0 * x)


def norm_of_one(x):
    """0 for x ≥ 30."""
    return jnp.sqrt((x - 30) @ (x - 30)) - (x[0] - 30)


def as_boolean(x):
    """Whether x is not 0: as a number it is 0 on a null set only, and its opposite is 0 nearly everywhere."""
    return lax.convert_element_type(x, bool)


def where_finite(c, x):
    """2x where c·x/c is no number, and x elsewhere."""
    return jnp.where(jnp.isfinite(c * x / c), 1.0, 2.0) * x


OPPOSITES_OF_CASTS = (
    ("isnan", lambda x: real(jnp.isnan(jnp.where(as_boolean(x), x, jnp.nan))), S, 3),
    ("isinf", lambda x: real(jnp.isinf(jnp.where(as_boolean(x), x, jnp.inf))), S, 3),
    ("a comparison", lambda x: real(jnp.where(as_boolean(x), x, -jnp.inf) == -jnp.inf), S, 3),
    ("not finite", lambda x: 1 - real(jnp.isfinite(jnp.where(as_boolean(x), x, -jnp.inf))), S, 3),
    ("rows", lambda x: real(jnp.isnan(jnp.where(as_boolean(x), x, jnp.nan))), V, (3, 1, 2)),
    ("the larger of two", lambda x: real(jnp.isnan(jnp.where(as_boolean(jnp.maximum(x, x**3)), x, jnp.nan))), S, 3),
    ("an integer between", lambda x: real(jnp.isnan(jnp.where(as_boolean(as_boolean(x).astype(int)), x, jnp.nan))), S, 3),
)  # fmt: skip
"""1 where x is 0, read off an infinity or NaN of choice: quotients by it are undefined nearly everywhere."""

DIFFERENT = (
    *rows(),
    *(
        Different(f"a choice read by {name}", lambda x, c=c: where_finite(c(x), x), lambda x: x + 0, (spec,), (at,))
        for name, c, spec, at in OPPOSITES_OF_CASTS
    ),
    Different("arctangents: > and >=", lambda x: ind(arctangents(x) > 0), lambda x: ind(arctangents(x) >= 0), (S,), (31,), identity=True),
    Different("arctangents by a power: > and >=", lambda x: ind(arctangents_by_power(x) > 0), lambda x: ind(arctangents_by_power(x) >= 0), (S,), (31,), identity=True),
    Different("a norm of one entry: > and >=", lambda x: ind(norm_of_one(x) > 0), lambda x: ind(norm_of_one(x) >= 0), (f32(1),), ((33,),), identity=True),
    Different("a second operand", jnp.arctan2, lambda x, y: jnp.arctan2(x, 2 * y), (S, S), (1, 1)),
    Different("a row with a 0", lambda x: ind(jnp.stack([x, x - x]) > 0), lambda x: jnp.stack([ind(x > 0), 1 + 0 * x]), (S,), (3,)),
    Different("tan as a byte", lambda x: real(jnp.tan(x / 64).astype(jnp.int8)), lambda x: real(jnp.tan(x / 64).astype(jnp.int32)), (S,), (100.5,)),
    Different("tan as an unsigned byte", lambda x: real(jnp.tan(x / 64).astype(jnp.uint8)), lambda x: real(jnp.tan(x / 64).astype(jnp.int16)), (S,), (100.5,)),
    Different("a logarithm as a byte", lambda x: real((99 * jnp.log(x)).astype(jnp.int8)), lambda x: real((99 * jnp.log(x)).astype(jnp.int32)), (S,), (90,)),
    Different("a root as a byte", lambda x: real(jnp.sqrt(x).astype(jnp.int8)), lambda x: real(jnp.sqrt(x).astype(jnp.int32)), (S,), (90000,)),
    Different("an inverse as a boolean", lambda x: real((1 / x).astype(jnp.bool_)), lambda x: real((1 / x).astype(jnp.int32)), (S,), (3,)),
    Different("logarithms sorted along two axes", lambda x: jnp.sort(jnp.log(x), 0), lambda x: jnp.sort(jnp.log(x), 1), (f32(2, 2),), (((1, 3), (2, 1)),)),
    Different("a mask compared", lambda x: ind(jnp.where(MASK, x, -jnp.inf) > x[0] - 99), lambda x: ind(jnp.where(MASK, x, 0.0) > x[0] - 99), (V,), ((1, 2, 3),)),
    Different("a sign of what is infinite for some inputs", lambda x: jnp.sign(2 * jnp.exp(jnp.where(x > -30, x, -jnp.inf))) ** 2, lambda x: 1 + 0 * x, (S,), (-32,)),
    Different("a thousand is no mask", lambda x: softmax(jnp.where(MASK, 1000 * x, -1000.0)), lambda x: softmax(jnp.where(MASK, 1000 * x, -jnp.inf)), (V,), ((-1, 2, -1),)),
)  # fmt: skip

EQUAL = (
    *(
        Equal(f"a choice read by {name}", c, lambda x: real(x == 0), (spec,))
        for name, c, spec, _ in OPPOSITES_OF_CASTS
    ),
    Equal("a quotient by a cast", lambda x: where_finite(real(as_boolean(x)), x), lambda x: x + 0, (S,), almost_everywhere=True),
    Equal("a sorted row turned", lambda x: jnp.sort(-x), lambda x: -jnp.sort(x)[::-1], (W,)),
    Equal("a cast of tan", lambda x: real(jnp.tan(x + x).astype(jnp.int8)), lambda x: real(jnp.tan(2 * x).astype(jnp.int8)), (S,)),
    Equal("a cast divided", lambda x: 1 / (1 + real(x.astype(jnp.int32)) ** 2), lambda x: 1 / (real(x.astype(jnp.int32)) ** 2 + 1), (S,)),
    Equal("log of a positive number", lambda x: ind(jnp.log(jnp.exp(x) + 1) < 9), lambda x: ind(9 > jnp.log(1 + jnp.exp(x))), (S,)),
)  # fmt: skip
