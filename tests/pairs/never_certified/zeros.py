"""Arguments of a comparison that are 0 on a set of positive measure, though they look as if they were not."""

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import digamma, erf, erfc, expit, gammaln, logsumexp

from .row import Different, Equal, S, V, f32, f64, ind

HALF_LINES = (
    # (name, a function that is 0 on an open set, specs, an input there)
    ("root of a square minus x", lambda x: jnp.sqrt(x * x) - x, (S,), (3,)),
    ("root of a square plus x", lambda x: jnp.sqrt(x * x) + x, (S,), (-3,)),
    ("root of a fourth power minus x²", lambda x: jnp.sqrt(x**4) - x * jnp.abs(x), (S,), (2,)),
    ("|x| - x", lambda x: jnp.abs(x) - x, (S,), (3,)),
    ("|x - 9| - 9 + x", lambda x: jnp.abs(x - 9) - 9 + x, (S,), (3,)),
    ("|x|/x - 1", lambda x: jnp.abs(x) / x - 1, (S,), (3,)),
    ("x/|x| + 1", lambda x: x / jnp.abs(x) + 1, (S,), (-3,)),
    ("x/sqrt(x²) - 1", lambda x: x / jnp.sqrt(x * x) - 1, (S,), (3,)),
    ("sign - 1", lambda x: jnp.sign(x) - 1, (S,), (3,)),
    ("arctan x + arctan 1/x", lambda x: jnp.arctan(x) + jnp.arctan(1 / x) - 2 * jnp.arctan(x * 0 + 1), (S,), (1,)),
    ("arctan x + arctan 1/x, negative", lambda x: jnp.arctan(x) + jnp.arctan(1 / x) + 2 * jnp.arctan(x * 0 + 1), (S,), (-1,)),
    ("arctan2 of x and |x|", lambda x: jnp.arctan2(x, jnp.abs(x)) - jnp.arctan(x * 0 + 1), (S,), (3,)),
    ("log x² - 2 log |x|", lambda x: jnp.log(x * x) - 2 * jnp.log(jnp.abs(x)), (S,), (-1,)),
    ("arcsin of sin", lambda x: jnp.arcsin(jnp.sin(x)) - x, (S,), (0,)),
    ("arctan of tan", lambda x: jnp.arctan(jnp.tan(x)) - x, (S,), (0,)),
    ("arccos of cos", lambda x: jnp.arccos(jnp.cos(x)) - jnp.abs(x), (S,), (0,)),
    ("a cube's root", lambda x: jnp.power(x, 3.0) - x * x * jnp.abs(x), (S,), (2,)),
    ("a product of roots", lambda x: jnp.sqrt(x) * jnp.sqrt(x) - x, (S,), (4,)),
    ("a root of a product", lambda x, y: jnp.sqrt(x * x * y * y) - x * y, (S, S), (2, 3)),
    ("a norm of one entry", lambda x: jnp.linalg.norm(x) - x[0], (f32(1),), ((3,),)),
    ("maximum minus an entry", lambda x, y: jnp.maximum(x, y) - x, (S, S), (3, 2)),
    ("relu minus x", lambda x: jax.nn.relu(x) - x, (S,), (3,)),
    ("elu minus x", lambda x: jax.nn.elu(x) - x, (S,), (3,)),
    ("selu by elu", lambda x: jax.nn.elu(jax.nn.relu(x) + 1) - jax.nn.relu(x) - 1, (S,), (-3,)),
    ("softshrink", lambda x: jnp.sign(x) * jnp.maximum(jnp.abs(x) - 5, 0), (S,), (3,)),
    ("huber minus a square", lambda x: jnp.where(jnp.abs(x) <= 5, x * x, 10 * jnp.abs(x) - 25) - x * x, (S,), (3,)),
    ("a bump", lambda x: jnp.exp(-1 / jnp.maximum(x - 5, 0)), (S,), (3,)),
    ("a bump on both sides", lambda x: jnp.where(jnp.abs(x) < 5, 0.0, jnp.exp(-1 / jnp.maximum(x * x - 25, 1.0))), (S,), (3,)),
    ("a triangle", lambda x: jnp.maximum(0, 1 - jnp.abs(x - 20)), (S,), (3,)),
    ("a spline", lambda x: jnp.maximum(x - 5, 0) ** 3, (S,), (3,)),
    ("linear interpolation", lambda x: jnp.interp(x, np.array([0, 9], np.float32), np.array([0, 9], np.float32)) - x, (S,), (3,)),
    ("fractional part of a floor", lambda x: jnp.floor(x + 1) - jnp.floor(x) - 1, (S,), (2.25,)),
    ("mod and floor", lambda x: jnp.mod(x, 1) - (x - jnp.floor(x)), (S,), (2.25,)),
    ("round and floor", lambda x: jnp.round(x) - jnp.floor(x), (S,), (2.25,)),
)  # fmt: skip

EVERYWHERE = (
    # (name, a function that is 0 wherever it is defined, specs, an input at which floats give 0 exactly)
    ("sin² + cos² - 1", lambda x: jnp.sin(x) ** 2 + jnp.cos(x) ** 2 - 1, (S,), (0,)),
    ("cosh² - sinh² - 1", lambda x: jnp.cosh(x) ** 2 - jnp.sinh(x) ** 2 - 1, (S,), (0,)),
    ("cos 2x - 1 + 2 sin²", lambda x: jnp.cos(2 * x) - 1 + 2 * jnp.sin(x) ** 2, (S,), (0,)),
    ("sin 2x - 2 sin cos", lambda x: jnp.sin(2 * x) - 2 * jnp.sin(x) * jnp.cos(x), (S,), (0,)),
    ("exp x exp -x - 1", lambda x: jnp.exp(x) * jnp.exp(-x) - 1, (S,), (0,)),
    ("exp of a sum", lambda x, y: jnp.exp(x + y) - jnp.exp(x) * jnp.exp(y), (S, S), (0, 0)),
    ("log of exp", lambda x: jnp.log(jnp.exp(x)) - x, (S,), (0,)),
    ("exp of log", lambda x: jnp.exp(jnp.log(x)) - x, (S,), (1,)),
    ("log of a product of positives", lambda x, y: jnp.log((1 + x * x) * (1 + y * y)) - jnp.log(1 + x * x) - jnp.log(1 + y * y), (S, S), (0, 0)),
    ("gamma's recurrence", lambda x: gammaln(x + 1) - gammaln(x) - jnp.log(x), (S,), (2.5,)),
    ("digamma's recurrence", lambda x: digamma(x + 1) - digamma(x) - 1 / x, (S,), (1,)),
    ("erf + erfc - 1", lambda x: erf(x) + erfc(x) - 1, (S,), (0,)),
    ("erf is odd", lambda x: erf(x) + erf(-x), (S,), (0.5,)),
    ("two sigmoids", lambda x: expit(x) + expit(-x) - 1, (S,), (0,)),
    ("sigmoid and tanh", lambda x: 2 * expit(2 * x) - 1 - jnp.tanh(x), (S,), (0,)),
    ("softplus of x and -x", lambda x: jax.nn.softplus(x) - jax.nn.softplus(-x) - x, (S,), (0,)),
    ("log1p and log", lambda x: jnp.log1p(x) - jnp.log(1 + x), (S,), (0,)),
    ("expm1 and exp", lambda x: jnp.expm1(x) - jnp.exp(x) + 1, (S,), (0,)),
    ("logaddexp", lambda x, y: jnp.logaddexp(x, y) - jnp.log(jnp.exp(x) + jnp.exp(y)), (S, S), (0, 0)),
    ("log-sum-exp moved", lambda x: logsumexp(x + 4) - logsumexp(x) - 4, (V,), ((2.5, 2.5, 2.5),)),
    ("a softmax's sum", lambda x: jax.nn.softmax(x).sum() - 1, (f32(4),), ((0, 0, 0, 0),)),
    ("a centred sum", lambda x: jnp.sum(x - jnp.mean(x)), (f32(4),), ((1, 2, 3, 6),)),
    ("a variance", lambda x: jnp.var(x) - (jnp.mean(x * x) - jnp.mean(x) ** 2), (f32(4),), ((1, 2, 3, 6),)),
    ("a binomial", lambda x: (x + 1) ** 2 - x * x - 2 * x - 1, (S,), (3,)),
    ("a difference of cubes", lambda x, y: (x - y) * (x * x + x * y + y * y) - x**3 + y**3, (S, S), (3, 2)),
    ("a cross product", lambda x, y: jnp.dot(jnp.cross(x, y), x), (V, V), ((1, 2, 3), (4, 5, 7))),
    ("a determinant of rank one", lambda x: jnp.linalg.det(jnp.outer(x, x)), (f32(2),), ((2, 3),)),
    ("a trace of a commutator", lambda x, y: jnp.trace(x @ y - y @ x), (f32(2, 2), f32(2, 2)), (((1, 2), (3, 4)), ((5, 6), (7, 9)))),
    ("a quotient and back", lambda x: 1 / (1 / x) - x, (S,), (2,)),
    ("a quotient times its divisor", lambda x, y: (x / y) * y - x, (S, S), (3, 2)),
    ("max + min - sum", lambda x, y: jnp.maximum(x, y) + jnp.minimum(x, y) - x - y, (S, S), (3, 2)),
    ("|x||y| - |xy|", lambda x, y: jnp.abs(x) * jnp.abs(y) - jnp.abs(x * y), (S, S), (-3, 2)),
    ("relu x - relu -x - x", lambda x: jax.nn.relu(x) - jax.nn.relu(-x) - x, (S,), (-3,)),
    ("x sign x - |x|", lambda x: x * jnp.sign(x) - jnp.abs(x), (S,), (-3,)),
    ("sum of the sorted", lambda x: jnp.sort(x).sum() - x.sum(), (V,), ((3, 1, 2),)),
    ("floor x + ceil -x", lambda x: jnp.floor(x) + jnp.ceil(-x), (S,), (2.25,)),
    ("round is odd", lambda x: jnp.round(x) + jnp.round(-x), (S,), (2.25,)),
    ("a gradient and its formula", lambda x: jax.grad(lambda v: v**3)(x) - 3 * x * x, (S,), (2,)),
    ("an integral recurrence", lambda x: jnp.tanh(x) * (jnp.exp(x) + jnp.exp(-x)) - jnp.exp(x) + jnp.exp(-x), (S,), (0,)),
    ("a square root of a square of a square", lambda x: jnp.sqrt((1 + x * x) ** 2) - 1 - x * x, (S,), (2,)),
    ("cbrt cubed", lambda x: jnp.cbrt(x) ** 3 - x, (S,), (1,)),
)  # fmt: skip


def rows() -> Iterator[Different]:
    """A row for each function: one of five ways to tell 0 from almost 0, in turn."""
    entry = lambda x: jnp.ravel(x)[0]
    for turn, (name, zero, specs, witness) in enumerate(HALF_LINES + EVERYWHERE):
        how, left, right = (
            ("> and >=", lambda *x, g=zero: ind(g(*x) > 0), lambda *x, g=zero: ind(g(*x) >= 0)),
            ("< and <=", lambda *x, g=zero: ind(g(*x) < 0) + entry(x[0]), lambda *x, g=zero: ind(g(*x) <= 0) + entry(x[0])),
            ("== and never", lambda *x, g=zero: ind(g(*x) == 0), lambda *x: 0 * sum(entry(v) for v in x)),
            ("sign squared and 1", lambda *x, g=zero: jnp.sign(g(*x)) ** 2, lambda *x: 1 + 0 * sum(entry(v) for v in x)),
            ("in a where", lambda *x, g=zero: jnp.where(g(*x) > 0, 2.0, entry(x[0])), lambda *x, g=zero: jnp.where(g(*x) >= 0, 2.0 + jnp.abs(entry(x[0])), entry(x[0]))),
        )[turn % 5]  # fmt: skip
        yield Different(f"{name}: {how}", left, right, specs, witness, identity=turn >= len(HALF_LINES))


FAR = (
    # (name, a function that is 0 where x > 30 or x < -30 only, an input there)
    ("root of a square minus its root", lambda x: jnp.sqrt((x - 30) ** 2) - x + 30, 33),
    ("root of a square plus its root", lambda x: jnp.sqrt((x + 30) ** 2) + x + 30, -33),
    ("|x - 30| - x + 30", lambda x: jnp.abs(x - 30) - x + 30, 33),
    ("|x - 30|/(x - 30) - 1", lambda x: jnp.abs(x - 30) / (x - 30) - 1, 33),
    ("(x + 30)/|x + 30| + 1", lambda x: (x + 30) / jnp.abs(x + 30) + 1, -33),
    ("sign(x - 30) - 1", lambda x: jnp.sign(x - 30) - 1, 33),
    ("relu", lambda x: jax.nn.relu(x + 30), -33),
    ("relu of an exponential", lambda x: jax.nn.relu(jnp.exp(x) - 0.0625), -8),
    ("relu cubed", lambda x: jax.nn.relu(x + 30) ** 3, -33),
    ("relu minus its argument", lambda x: jax.nn.relu(x - 30) - x + 30, 33),
    ("elu minus its argument", lambda x: jax.nn.elu(x - 30) - x + 30, 33),
    ("leaky relu minus its argument", lambda x: jax.nn.leaky_relu(x - 30, 0.25) - x + 30, 33),
    ("maximum minus its argument", lambda x: jnp.maximum(x, 30) - x, 33),
    ("minimum minus a constant", lambda x: jnp.minimum(x, 30) - 30, 33),
    ("clip minus a constant", lambda x: jnp.clip(x, -30, 30) + 30, -33),
    ("a bump", lambda x: jnp.exp(-1 / jax.nn.relu(x + 30)), -33),
    ("a product of two relus", lambda x: jax.nn.relu(x + 30) * jax.nn.relu(30 - x), -33),
    ("where", lambda x: jnp.where(x > 30, 0.0, x), 33),
    ("a cast to bool", lambda x: (x < 30).astype(jnp.float32), 33),
    ("mod of a step", lambda x: jnp.mod(ind(x > 30) + 1, 2), 33),
    ("a difference of floors", lambda x: jnp.floor(jnp.maximum(x + 30, 0) / 8), -33),
    ("log of a clip", lambda x: jnp.log(jnp.maximum(x + 31, 1)), -33),
    ("a power of a relu", lambda x: jnp.sqrt(jax.nn.relu(x + 30)), -33),
    ("a tanh of a relu", lambda x: jnp.tanh(jax.nn.relu(x + 30)), -33),
    ("a difference of logs", lambda x: jnp.log1p(jax.nn.relu(x + 30)), -33),
)  # fmt: skip


def far() -> Iterator[Different]:
    """Four ways in turn, at zeros that no sample of standard normal numbers sees."""
    for turn, (name, zero, witness) in enumerate(FAR):
        how, left, right = (
            ("sign squared and 1", lambda x, g=zero: jnp.sign(g(x)) ** 2, lambda x: 1 + 0 * x),
            ("> and >=", lambda x, g=zero: ind(g(x) > 0), lambda x, g=zero: ind(g(x) >= 0)),
            ("< and <= in a where", lambda x, g=zero: jnp.where(g(x) < 0, 2.0, x), lambda x, g=zero: jnp.where(g(x) <= 0, 2.0, x)),
            ("x/x caught", lambda x, g=zero: jnp.where(jnp.isnan(g(x) / g(x)), 3.0, 1.0), lambda x: 1 + 0 * x),
        )[turn % 4]  # fmt: skip
        yield Different(f"far {name}: {how}", left, right, (S,), (witness,))


DIFFERENT = (
    *rows(),
    *far(),
    Different("root of a square in float64: > and >=", lambda x: ind(jnp.sqrt(x * x) - x > 0), lambda x: ind(jnp.sqrt(x * x) - x >= 0), (f64(),), (3,)),
    Different("x/|x| squared, and a step", lambda x: ind((x / jnp.abs(x)) ** 2 > 1), lambda x: ind((x / jnp.abs(x)) ** 2 >= 1), (S,), (3,)),
    Different("|x| - x as a divisor", lambda x: jnp.where(x < 0, x / (jnp.abs(x) - x), 4.0), lambda x: -0.5 + 0 * x, (S,), (3,)),
    Different("root of a square is not x", lambda x: jnp.sqrt(x * x), lambda x: x, (S,), (-3,)),
    Different("root of a far square is not x", lambda x: jnp.sqrt((x + 30) ** 2), lambda x: x + 30, (S,), (-33,)),
    Different("arctan of tan is not x", lambda x: jnp.arctan(jnp.tan(x / 16)), lambda x: x / 16, (S,), (32,)),
    Different("log of a square is not twice a log", lambda x: jnp.log((x + 30) ** 2), lambda x: 2 * jnp.log(jnp.abs(x + 30) + jnp.maximum(-30 - x, 0)), (S,), (-33,)),
    Different("arctan of 1/x is not one branch", lambda x: jnp.arctan(x + 30) + jnp.arctan(1 / (x + 30)), lambda x: 2 * jnp.arctan(x * 0 + 1), (S,), (-33,)),
)  # fmt: skip

EQUAL = (
    Equal("root of a square", lambda x: jnp.sqrt(x * x), jnp.abs, (S,)),
    Equal("root of a positive square", lambda x: jnp.sqrt((1 + x * x) ** 2), lambda x: 1 + x * x, (S,)),
    Equal("a sign's cube", lambda x: jnp.sign(x) ** 3, jnp.sign, (S,)),
    Equal("exp of a sum", lambda x, y: jnp.exp(x + y), lambda x, y: jnp.exp(x) * jnp.exp(y), (S, S)),
    Equal("sin² + cos²", lambda x: jnp.sin(x) ** 2 + jnp.cos(x) ** 2, lambda x: 1 + 0 * x, (S,)),
    Equal("two sigmoids", lambda x: expit(x) + expit(-x), lambda x: 1 + 0 * x, (S,)),
    Equal("softplus of x and -x", lambda x: jax.nn.softplus(x) - jax.nn.softplus(-x), lambda x: x, (S,)),
    Equal("|x| |y|", lambda x, y: ind(jnp.abs(x) * jnp.abs(y) > 1), lambda x, y: ind(jnp.abs(y) * jnp.abs(x) > 1), (S, S)),
    Equal("an argument rewritten", lambda x: ind((x + 1) ** 2 > 4), lambda x: ind(x * x + 2 * x + 1 > 4), (S,)),
    Equal("an argument rewritten, >=", lambda x: ind(jnp.exp(2 * x) >= 4), lambda x: ind(jnp.exp(x) ** 2 >= 4), (S,)),
    Equal("relu of a square", lambda x: jax.nn.relu(x * x), lambda x: x * x, (S,)),
    Equal("max + min", lambda x, y: jnp.maximum(x, y) + jnp.minimum(x, y), lambda x, y: x + y, (S, S)),
    Equal("the argument of > negated", lambda x, y: ind(x - y > 0), lambda x, y: ind(y - x < 0), (S, S)),
    Equal("a variance", jnp.var, lambda x: jnp.mean(x * x) - jnp.mean(x) ** 2, (V,)),
    Equal("a sign of an exponential", lambda x: jnp.sign(jnp.exp(x)), lambda x: 1 + 0 * x, (S,)),
    Equal("an exponential is positive", lambda x: ind(jnp.exp(x) > 0), lambda x: 1 + 0 * x, (S,)),
    Equal("a sum of squares is not negative", lambda x: ind(x @ x >= 0), lambda x: 1 + 0 * x[0], (V,)),
)  # fmt: skip
