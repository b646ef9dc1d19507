"""Inverse functions where they undo something else, or nothing: other branches, signs, zeros, masks, piecewise divisors."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.special import polygamma

import uat_jax as uj

from .row import Different, Equal, S

POSITIVE = uj.positive(S)


def inside(x):
    """A number between -1 and 1."""
    return x / (1 + jnp.abs(x))


def least(x):
    """The number, and not less than -1."""
    return jnp.maximum(x, -1.0)


def most(x):
    """The number, and not more than 1."""
    return jnp.minimum(x, 1.0)


def safe(x):
    """x where it is positive, else 1."""
    return jnp.where(x > 0, x, 1.0)


def masked_log(x):
    """Log x where that is defined, else 0."""
    return jnp.where(x > 0, jnp.log(safe(x)), 0.0)


def above(x):
    """Whether x is positive, said of a function with its sign, so that nothing is known under this condition."""
    return jnp.tanh(x) > 0


def unit(x):
    """1 where x is positive, else -1."""
    return jnp.where(x > 0, 1.0, -1.0)


def nothing(x):
    """0 where x is positive, else -2."""
    return jnp.where(x > 0, 0.0, -2.0)


def half(x):
    """One half, for any x."""
    return 0.5 + 0 * x


N = uj.interval(S, -5.0, 5.0)

BRANCHES = (
    Different("arctan of tan", lambda x: jnp.arctan(jnp.tan(x)), lambda x: x, (S,), (2,)),
    Different("arcsin of sin", lambda x: jnp.arcsin(jnp.sin(x)), lambda x: x, (S,), (2,)),
    Different("arccos of cos", lambda x: jnp.arccos(jnp.cos(x)), lambda x: x, (S,), (-1,)),
    Different("arccosh of cosh", lambda x: jnp.arccosh(jnp.cosh(x)), lambda x: x, (S,), (-1,)),
    Different("atan2 by a quotient", jnp.arctan2, lambda y, x: jnp.arctan(y / x), (S, S), (1, -1)),
    Different("atan2 is odd", lambda y, x: jnp.arctan2(0 - y, x), lambda y, x: -jnp.arctan2(y, x), (S, S), (0, -1), null_set=True),
    Different("two ways round from the origin", lambda y, x: jnp.cos(jnp.arctan2(y, x)), lambda y, x: jnp.sin(jnp.arctan2(x, y)), (S, S), (0, 0), null_set=True),
    Different("angles beyond a half turn", lambda x, y: jnp.arctan(x) + jnp.arctan(y), lambda x, y: jnp.arctan((x + y) / (1 - x * y)), (S, S), (2, 2)),
    Different("cosine of a right angle less", lambda x: jnp.cos(jnp.arcsin(inside(x))), lambda x: -jnp.sqrt(1 - inside(x) ** 2), (S,), (1,)),
    Different("arcsin by another tangent", lambda x: jnp.arcsin(inside(x)), lambda x: jnp.arctan(inside(x) / (1 - inside(x) ** 2)), (S,), (1,)),
    Different("arcsin of the opposite", lambda x: jnp.arcsin(inside(x)), lambda x: jnp.arctan2(-inside(x), jnp.sqrt(1 - inside(x) ** 2)), (S,), (1,)),
    Different("arccos without its branch", lambda x: jnp.arccos(inside(x)), lambda x: jnp.arctan(jnp.sqrt(1 - inside(x) ** 2) / inside(x)), (S,), (-1,)),
    Different("half of a double angle", lambda x: jnp.sin(2 * jnp.arctan(x)), lambda x: 2 * jnp.sin(jnp.arctan(x)), (S,), (1,)),
)  # fmt: skip

SIGNS = (
    Different("odd of a magnitude", lambda x: jnp.sin(jnp.abs(x)), jnp.sin, (S,), (-1,)),
    Different("a product of odd ones of two magnitudes", lambda x, y: jnp.sin(jnp.abs(x)) * jnp.sin(jnp.abs(y)), lambda x, y: jnp.sin(x) * jnp.sin(y), (S, S), (1, -1)),
    Different("even of a sum of magnitudes", lambda x, y: jnp.cos(jnp.abs(x) + jnp.abs(y)), lambda x, y: jnp.cos(x + y), (S, S), (1, -1)),
    Different("magnitude of a magnitude", lambda x: jnp.abs(jnp.abs(x)), lambda x: x, (S,), (-1,)),
    Different("cube of a root of degree 3", lambda x: jnp.cbrt(x) ** 3, jnp.abs, (S,), (-1,)),
    Different("sixth power of a root of degree 3", lambda x: jnp.sqrt(jnp.cbrt(x) ** 6), lambda x: x, (S,), (-1,)),
    Different("a root of degree 3 of a square", lambda x: jnp.cbrt(x * x) * jnp.cbrt(jnp.abs(x)), lambda x: x, (S,), (-1,)),
    Different("a multiple of a root", lambda x, y: x * jnp.sqrt(1 + y * y), lambda x, y: jnp.sqrt(x * x + (x * y) ** 2), (S, S), (-1, 1)),
    Different("a quotient of roots", lambda x: jnp.sqrt(x**4) / x, lambda x: jnp.sqrt(x * x), (S,), (-2,)),
    Different("magnitude of a product", lambda x, t: jnp.abs(x * t), lambda x, t: jnp.abs(x) * t, (S, S), (1, -1)),
    Different("magnitude of a multiple that is positive under a mask", lambda x, t: jnp.where(t > 0, jnp.abs(x * t), 0.0) + jnp.abs(x * t), lambda x, t: jnp.where(t > 0, t * jnp.abs(x), 0.0) + t * jnp.abs(x), (S, S), (1, -1)),
    Different("sign of a function that is 0 elsewhere", lambda x: jnp.sign(jnp.exp(x) - 2), jnp.sign, (S,), (0.5,)),
    Different("step of a multiple of a relu", lambda x, t: jnp.where(jnp.maximum(t, 0) * x > 0, 1.0, 0.0), lambda x, t: jnp.where(x > 0, 1.0, 0.0) + 0 * t, (S, S), (1, -1)),
    Different("a length by one leg", lambda x, y: x * jnp.sqrt(1 + (y / x) ** 2), lambda x, y: jnp.sqrt(x * x + y * y), (S, S), (-1, 1)),
)  # fmt: skip

MASKS = (
    Different("half a logarithm beside a masked one", lambda x: masked_log(x) + jnp.exp(jnp.log(x * x) / 2), lambda x: masked_log(x) + x, (S,), (-2,)),
    Different("tanh beside a masked atanh", lambda x: jnp.where(x * x < 1, jnp.arctanh(jnp.where(x * x < 1, x, 0.0)), 0.0) + jnp.tanh(jnp.log(((1 + x) / (1 - x)) ** 2) / 4), lambda x: jnp.where(x * x < 1, jnp.arctanh(jnp.where(x * x < 1, x, 0.0)), 0.0) + x, (S,), (2,)),
    Different("sigmoid of the logarithm of a maximum", lambda x: jnp.where(x > -1, jax.nn.sigmoid(jnp.log(least(x))), 0.0), lambda x: least(x) / (x + 1), (S,), (-2,)),
    Different("a power of log1p of a maximum", lambda x: jnp.where(x > -1, jnp.exp(-jnp.log1p(least(x))), 0.0), lambda x: 1 / (x + 1), (S,), (-2,)),
    Different("tan of arcsin of a minimum", lambda x: jnp.where(x < 1, jnp.tan(jnp.arcsin(most(x))) * jnp.sqrt(1 - most(x) ** 2), 0.0), most, (S,), (2,)),
    Different("where a length is 0", lambda x, y: jnp.where(x == 0, 0.0, jnp.abs(x) * jnp.sqrt(1 + (y / jnp.where(x == 0, 1.0, x)) ** 2)), lambda x, y: jnp.sqrt(x * x + y * y), (S, S), (0, 1), null_set=True),
)  # fmt: skip


def undone_square(out, forward=jnp.sinh, back=jnp.arcsinh):
    """What a function makes of half of log x², undone, beside 2 log x where x > 0."""
    met = lambda x: jnp.where(x > 0, forward(2 * jnp.log(x)), 0.0)
    return lambda x: met(x) + out(back(forward(jnp.log(x * x))) / 2)


def beside_undone(value, forward=jnp.sinh):
    """A value, beside the same."""
    met = lambda x: jnp.where(x > 0, forward(2 * jnp.log(x)), 0.0)
    return lambda x: met(x) + value(x)


UNDONE = (
    Different("exp of half a logarithm undone", undone_square(jnp.exp), beside_undone(lambda x: x), (S,), (-1,)),
    Different("exp of the opposite undone", undone_square(lambda t: jnp.exp(-t)), beside_undone(lambda x: 1 / x), (S,), (-1,)),
    Different("exp undone by arctanh", undone_square(jnp.exp, jnp.tanh, jnp.arctanh), beside_undone(lambda x: x, jnp.tanh), (S,), (-2,)),
    Different("expm1 of half a logarithm undone", undone_square(jnp.expm1), beside_undone(lambda x: x - 1), (S,), (-1,)),
    Different("logistic of half a logarithm undone", undone_square(jax.nn.sigmoid), beside_undone(lambda x: x / (1 + x)), (S,), (-2,)),
)  # fmt: skip


UNDEFINED = (
    Different("one and the square of a root", lambda x: jnp.where(above(x), 1 / (1 + jnp.sqrt(unit(x)) ** 2), 0.0), half, (S,), (-1,)),
    Different("one and a root times itself", lambda x: jnp.where(above(x), 1 / (1 + jnp.sqrt(unit(x)) * jnp.sqrt(unit(x))), 0.0), half, (S,), (-1,)),
    Different("one and a power of a power", lambda x: jnp.where(above(x), 1 / (1 + (unit(x) ** 0.5) ** 2), 0.0), half, (S,), (-1,)),
    Different("a magnitude and the square of a root", lambda x: jnp.where(above(x), 1 / (jnp.sqrt(x) ** 2 + jnp.abs(x)), 0.0), lambda x: 1 / (2 * x), (S,), (-1,)),
    Different("a magnitude and exp of a logarithm", lambda x: jnp.where(above(x), 1 / (jnp.exp(jnp.log(x)) + jnp.abs(x)), 0.0), lambda x: 1 / (2 * x), (S,), (-1,)),
    Different("a maximum and the square of a root", lambda x: jnp.where(above(x + 1), 1 / (1 + jnp.sqrt(least(x)) ** 2), 0.0), lambda x: 1 / (1 + x), (S,), (-2,)),
    Different("a square and the square of a root", lambda x: jnp.where(above(x), 1 / (x * x + jnp.sqrt(jnp.where(x > 0, 1, -x * x)) ** 2), 0.0), lambda x: 1 / (1 + x * x), (S,), (-1,)),
    Different("cosh of arccosh", lambda x: jnp.where(above(x + 1), 1 / (1 + jnp.cosh(jnp.arccosh(least(x)))), 0.0), lambda x: 1 / (1 + x), (S,), (-2,)),
    Different("log1p of the square of a root", lambda x: jnp.where(above(x), jnp.exp(-jnp.log1p(jnp.sqrt(unit(x)) ** 2)), 0.0), half, (S,), (-1,)),
    Different("sin of arcsin in a range", lambda x: jnp.where(above(x), 1 / (2 + jnp.sin(jnp.arcsin(nothing(x)))), 0.0), half, (N,), (-1,)),
    Different("tanh of arctanh in a range", lambda x: jnp.where(above(x), 1 / (2 + jnp.tanh(jnp.arctanh(nothing(x)))), 0.0), half, (N,), (-1,)),
    Different("erf of its inverse in a range", lambda x: jnp.where(above(x), 1 / (2 + lax.erf(lax.erf_inv(nothing(x)))), 0.0), half, (N,), (-1,)),
)  # fmt: skip
"""Masked divisors that are positive where they are defined, and 0 where they are not as laws write them."""


def raised(x, y):
    """A number that may be positive or negative, and is not analytic."""
    return x + jnp.abs(y)


def under(function, x, y):
    """A function of the number where that is positive, written as one of a quotient, else 0."""
    u = raised(x, y)
    return jnp.where(u > 0, function(u * u / u), 0.0)


def rooted(function, x):
    """A function of x where that is positive, written as one of the square of a root, else 0."""
    return jnp.where(above(x), function(jnp.sqrt(x) ** 2), 0.0)


def leaned(y):
    """√(1 + y²)."""
    return jnp.sqrt(1 + y * y)


MET = (
    Different("arcsinh of sinh met under a condition", lambda x, y: under(jnp.sinh, x, y) + jnp.abs(jnp.arcsinh(jnp.sinh(raised(x, y)))), lambda x, y: under(jnp.sinh, x, y) + raised(x, y), (S, S), (-2, 1)),
    Different("erf_inv of erf met under a condition", lambda x, y: under(lax.erf, x, y) + jnp.sqrt(lax.erf_inv(lax.erf(raised(x, y))) ** 2), lambda x, y: under(lax.erf, x, y) + raised(x, y), (S, S), (-2, 1)),
    Different("sinh of arcsinh met under a condition", lambda x, y: under(jnp.arcsinh, x, y) + jnp.maximum(jnp.sinh(jnp.arcsinh(raised(x, y))), 0), lambda x, y: under(jnp.arcsinh, x, y) + raised(x, y), (S, S), (-2, 1)),
    Different("arcsinh of sinh met where a root is defined", lambda x: rooted(jnp.sinh, x) + jnp.abs(jnp.arcsinh(jnp.sinh(x))), lambda x: rooted(jnp.sinh, x) + x, (S,), (-2,)),
    Different("a root met where a factor is defined", lambda x, y: rooted(lambda z: z * leaned(y), x) + jnp.sqrt(x * x * (1 + y * y)), lambda x, y: rooted(lambda z: z * leaned(y), x) + x * leaned(y), (S, S), (-2, 1)),
)  # fmt: skip
"""What was met before, and known to be positive there only."""

FUNCTIONS = (
    Different("erf undoes itself", lambda x: lax.erf(lax.erf(x)), lambda x: x, (S,), (1,)),
    Different("sinh of arcsin", lambda x: jnp.sinh(jnp.arcsin(inside(x))), inside, (S,), (1,)),
    Different("erf_inv of tanh", lambda x: lax.erf_inv(jnp.tanh(x)), lambda x: x, (S,), (1,)),
    Different("arcsinh with a larger root", jnp.arcsinh, lambda x: jnp.log(x + jnp.sqrt(x * x + 2)), (S,), (1,)),
    Different("arctanh not halved", lambda x: jnp.arctanh(inside(x)), lambda x: jnp.log((1 + inside(x)) / (1 - inside(x))), (S,), (1,)),
    Different("powers in a row", lambda x: x ** jnp.arange(3.0), lambda x: jnp.stack([jnp.ones_like(x), x, x * x * x]), (S,), (2,)),
    Different("arcsin and arccos differ", lambda x: jnp.arccos(inside(x)), lambda x: jnp.pi / 2 + jnp.arcsin(inside(x)), (S,), (1,)),
    Different("an angle beyond half a turn", lambda x: jnp.arctan2(jnp.sin(x), jnp.cos(x)), lambda x: x, (S,), (4,)),
    Different("the other coordinate", lambda x: jnp.cos(jnp.arctan2(jnp.cos(x), jnp.sin(x))), jnp.cos, (S,), (1,)),
    Different("the other sign of a recurrence", lambda x: polygamma(1, x + 1), lambda x: polygamma(1, x) + 1 / x**2, (POSITIVE,), (1,)),
    Different("a step of a recurrence too far", lambda x: polygamma(1, x + 2), lambda x: polygamma(1, x) - 1 / x**2 - 1 / (x + 2) ** 2, (POSITIVE,), (1,)),
    Different("another derivative", lambda x: polygamma(2, x + 1), lambda x: polygamma(2, x) - 2 / x**3, (POSITIVE,), (1,)),
)  # fmt: skip

DIFFERENT = (*BRANCHES, *SIGNS, *MASKS, *UNDONE, *UNDEFINED, *MET, *FUNCTIONS)

EQUAL = (
    Equal("an angle of a point of the circle", lambda x: jnp.sin(2 * jnp.arctan2(jnp.sin(x), jnp.cos(x)) + 1), lambda x: jnp.sin(2 * x + 1), (S,)),
    Equal("a recurrence", lambda x: polygamma(2, jnp.exp(x) + 1), lambda x: polygamma(2, jnp.exp(x)) + 2 * jnp.exp(-3 * x), (S,)),
    Equal("one and the square of lgamma", lambda x: jnp.tanh(1 / (1 + lax.lgamma(x) ** 2)), lambda x: jnp.tanh(1 / (lax.lgamma(x) * lax.lgamma(x) + 1)), (S,)),
    Equal("exp of half a logarithm undone", lambda x: jnp.exp(jnp.arcsinh(jnp.sinh(2 * jnp.log(2 + jnp.sin(x)))) / 2), lambda x: 2 + jnp.sin(x), (S,)),
    Equal("exp of the opposite undone", lambda x: jnp.exp(-jnp.arcsinh(jnp.sinh(2 * jnp.log(1 + x * x))) / 2), lambda x: 1 / (1 + x * x), (S,)),
    Equal("exp undone by arctanh", lambda x: jnp.exp(jnp.arctanh(jnp.tanh(2 * jnp.log(1 + x * x / 16))) / 2), lambda x: 1 + x * x / 16, (S,)),
    Equal("expm1 of half a logarithm undone", lambda x: jnp.expm1(jnp.arcsinh(jnp.sinh(2 * jnp.log(1 + x * x))) / 2), lambda x: x * x, (S,)),
    Equal("logistic of half a logarithm undone", lambda x: jax.nn.sigmoid(jnp.arcsinh(jnp.sinh(2 * jnp.log(1 + x * x))) / 2), lambda x: (1 + x * x) / (2 + x * x), (S,)),
    Equal("arcsinh of sinh met under a condition", lambda x, y: under(jnp.sinh, x, y) + jnp.abs(jnp.arcsinh(jnp.sinh(raised(x, y)))), lambda x, y: under(jnp.sinh, x, y) + jnp.abs(raised(x, y)), (S, S)),
    Equal("arcsinh of sinh met where a root is defined", lambda x: rooted(jnp.sinh, x) + jnp.abs(jnp.arcsinh(jnp.sinh(x))), lambda x: rooted(jnp.sinh, x) + jnp.abs(x), (S,)),
    Equal("a root met where a factor is defined", lambda x, y: jnp.exp(x) * leaned(y) + jnp.sqrt(jnp.exp(x) ** 2 * (1 + y * y)), lambda x, y: 2 * jnp.exp(x) * leaned(y), (S, S)),
    Equal("one and the square of a root", lambda x: jnp.where(above(x), 1 / (1 + jnp.sqrt(jnp.abs(x)) ** 2), 0.0), lambda x: jnp.where(x > 0, 1 / (1 + jnp.abs(x)), 0.0), (S,)),
    Equal("a magnitude and the square of a root", lambda x: 1 / (jnp.sqrt(jnp.exp(x)) ** 2 + jnp.abs(x)), lambda x: 1 / (jnp.abs(x) + jnp.exp(x)), (S,)),
    Equal("a maximum and the square of a root", lambda x: jnp.tanh(1 / (1 + jnp.sqrt(jnp.maximum(x, 0.0)) ** 2)), lambda x: jnp.tanh(1 / (1 + jnp.maximum(x, 0.0))), (S,)),
    Equal("log1p of the square of a root", lambda x: jnp.exp(-jnp.log1p(jnp.sqrt(jnp.abs(x)) ** 2)), lambda x: 1 / (1 + jnp.abs(x)), (S,)),
    Equal("sin of arcsin in a range", lambda x: jnp.tanh(1 / (2 + jnp.sin(jnp.arctan(x)))), lambda x: jnp.tanh(1 / (2 + x / jnp.sqrt(1 + x * x))), (N,)),
    Equal("arccosh of cosh", lambda x: jnp.arccosh(jnp.cosh(x)), jnp.abs, (S,)),
    Equal("tan of arctan", lambda x: jnp.tan(jnp.arctan(x)), lambda x: x, (S,)),
    Equal("tan of a sum of angles", lambda x: jnp.tan(jnp.arctan(x / 3) + jnp.arctan(x / 5)), lambda x: (8 * x / 15) / (1 - x * x / 15), (S,)),
    Equal("cosine of a right angle less", lambda x: jnp.cos(jnp.arcsin(inside(x))), lambda x: jnp.sqrt(1 - inside(x) ** 2), (S,)),
    Equal("arcsin by its tangent", lambda x: jnp.arcsin(inside(x)), lambda x: jnp.arctan(inside(x) / jnp.sqrt(1 - inside(x) ** 2)), (S,)),
    Equal("root of degree 3 as a power", lambda x: jnp.cbrt(1 + x * x), lambda x: (1 + x * x) ** (1 / 3), (S,)),
    Equal("half of a double angle", lambda x: jnp.sin(2 * jnp.arctan(x)), lambda x: 2 * x / (1 + x * x), (S,)),
    Equal("arcsin and arccos", lambda x: jnp.arccos(inside(x)), lambda x: jnp.pi / 2 - jnp.arcsin(inside(x)), (S,)),
    Equal("even of a product of magnitudes", lambda x, y: jnp.cos(jnp.abs(x) * jnp.abs(y)), lambda x, y: jnp.cos(x * y), (S, S)),
    Equal("square of odd of a magnitude", lambda x: jnp.tanh(jnp.abs(x)) ** 2, lambda x: jnp.tanh(x) ** 2, (S,)),
    Equal("cube of a root of degree 3", lambda x: jnp.cbrt(x) ** 3, lambda x: x, (S,)),
    Equal("a root of degree 3 of a cube", lambda x: jnp.cbrt(-8 * x**3), lambda x: -2 * x, (S,)),
    Equal("a root of degree 3 of a square", lambda x: jnp.cbrt(x * x), lambda x: jnp.cbrt(x) ** 2, (S,)),
    Equal("a multiple of a root", lambda x, y: jnp.abs(x) * jnp.sqrt(1 + y * y), lambda x, y: jnp.sqrt(x * x + (x * y) ** 2), (S, S)),
    Equal("a length by its larger leg", jnp.hypot, lambda x, y: jnp.sqrt(x * x + y * y), (S, S)),
    Equal("magnitude of a product", lambda x, t: jnp.abs(x * jnp.exp(t)), lambda x, t: jnp.abs(x) * jnp.exp(t), (S, S)),
    Equal("softsign undone", lambda x: (lambda y: y / (1 - jnp.abs(y)))(inside(x)), lambda x: x, (S,)),
    Equal("step of tanh", lambda x: jnp.where(jnp.tanh(3 * x) > 0, x, 0.0), lambda x: jnp.maximum(x, 0), (S,)),
    Equal("erf undone", lambda x: lax.erf(lax.erf_inv(inside(x))), inside, (S,)),
    Equal("sinh undone", lambda x: jnp.arcsinh(jnp.sinh(x)), lambda x: x, (S,)),
    Equal("arcsinh by a logarithm", jnp.arcsinh, lambda x: jnp.log(x + jnp.sqrt(x * x + 1)), (S,)),
    Equal("arctanh by a logarithm", lambda x: jnp.arctanh(inside(x)), lambda x: jnp.log((1 + inside(x)) / (1 - inside(x))) / 2, (S,)),
    Equal("exp of a logarithm of unknown sign", lambda x: jnp.exp(-jnp.log(3 + jnp.sin(x))), lambda x: 1 / (3 + jnp.sin(x)), (S,)),
    Equal("powers in a row", lambda x: x ** jnp.arange(4.0), lambda x: jnp.stack([jnp.ones_like(x), x, x * x, x * x * x]), (S,)),
)  # fmt: skip
"""Those whose names are in `DIFFERENT` too are what the attacks look like, with the side condition kept."""
