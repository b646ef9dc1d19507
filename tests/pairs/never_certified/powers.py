"""Logarithms, powers and roots of products, each a step beyond its side condition: a sign, a zero, a guard, a constant."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy.special import digamma, gammaln

from ..pair import f32
from .row import Different, Equal, S, V

M = f32(2, 2)


def above(x):
    """A number above 0."""
    return 1 + x * x


def relu(x):
    """A number that is 0 on a half-line."""
    return jnp.maximum(x, 0)


def where_positive(x, value):
    """A value where x > 0, else 0."""
    return jnp.where(x > 0, value, 0.0)


def wave(x):
    """A number above 0 that is a quotient of sums of exponentials, of which not all terms are: crest(x)/(e^x + e^-x)^2."""
    return 1 + 3 * jnp.tanh(x) ** 2


def crest(x):
    """What stands above the line of it."""
    return 4 * jnp.exp(2 * x) - 4 + 4 * jnp.exp(-2 * x)


def safe(x):
    """x where it is positive, else 1."""
    return jnp.where(x > 0, x, 1.0)


def roots_of_two(x, y, z):
    """√x √y + √x √z + √y √z where all of them are positive, else 0: products that are undefined elsewhere."""
    both = lambda a, b: jnp.sqrt(a) * jnp.sqrt(b)
    total = both(x, y) + both(x, z) + both(y, z)
    return where_positive(x, where_positive(y, where_positive(z, total)))


def beside_quotient(x, y):
    """√x √y + √x/√y where both are positive, else 0."""
    total = jnp.sqrt(x) * jnp.sqrt(y) + jnp.sqrt(x) / jnp.sqrt(y)
    return where_positive(x, where_positive(y, total))


def root_of_factors(x, y):
    """√(u²v) for u = e^{log x} and v = e^{log y} where x and y are positive, else 0."""
    total = jnp.sqrt(jnp.exp(jnp.log(x)) ** 2 * jnp.exp(jnp.log(y)))
    return where_positive(x, where_positive(y, total))


SIGNS = (
    Different("root of a square by logarithms", lambda x: jnp.exp(jnp.log(x * x) / 2), lambda x: x, (S,), (-2,)),
    Different("root of a product and of a quotient", lambda x, y: jnp.sqrt(x * y) * jnp.sqrt(x / y), lambda x, y: x + 0 * y, (S, S), (-2, -3)),
    Different("half the logarithms of a product and a quotient", lambda x, y: jnp.exp((jnp.log(x * y) + jnp.log(x / y)) / 2), lambda x, y: x + 0 * y, (S, S), (-2, -3)),
    Different("roots of products of three", lambda x, y, z: jnp.sqrt(x * y) * jnp.sqrt(y * z) * jnp.sqrt(x * z), lambda x, y, z: x * y * z, (S, S, S), (-2, -3, -1)),
    Different("fourth root of a square", lambda x: ((x * x) ** 0.25) ** 2, lambda x: x, (S,), (-2,)),
    Different("half of a square", lambda x: (x * x) ** 1.5, lambda x: x**3, (S,), (-2,)),
    Different("sixth root of a sixth power", lambda x: (x**6) ** (1 / 6), lambda x: x, (S,), (-2,)),
    Different("a cosine of numbers", lambda x, y: x * y / (jnp.sqrt(x * x) * jnp.sqrt(y * y)), lambda x, y: 1 + 0 * x * y, (S, S), (-2, 3)),
    Different("length of a product of rows", lambda x, y: jnp.sqrt((x @ y) ** 2), lambda x, y: x @ y, (V, V), ((1, 1, 1), (-1, -1, -1))),
    Different("power of a magnitude", lambda x, y: jnp.exp(y * jnp.log(above(x))) ** 2, lambda x, y: jnp.exp(y * jnp.log(above(x))), (S, S), (1, 2)),
    Different("softplus of a number and its magnitude", lambda x: jnp.log1p(jnp.exp(-jnp.abs(x))), lambda x: jnp.log1p(jnp.exp(-x)), (S,), (-2,)),
    Different("softplus with the wrong half", lambda x: jnp.log1p(jnp.exp(-jnp.abs(x))), lambda x: jnp.log(1 + jnp.exp(-x)) - (jnp.abs(x) + x) / 2, (S,), (2,)),
    Different("log1p of one more", lambda x: jnp.log1p(above(x)), lambda x: jnp.log(x * x), (S,), (1,)),
    Different("log1p under a magnitude", lambda x: jnp.log1p(jnp.exp(-jnp.abs(x))) + relu(x), lambda x: jnp.log1p(jnp.exp(x)) + relu(x), (S,), (2,)),
)  # fmt: skip

ZEROS = (
    Different("zeroth power of a relu", lambda x: relu(x) ** 0.0, lambda x: jnp.sign(relu(x)), (S,), (-2,)),
    Different("roots of both halves", lambda x: jnp.sqrt(relu(x)) * jnp.sqrt(relu(-x)), lambda x: jnp.sqrt(jnp.abs(x)) * jnp.sqrt(jnp.abs(x)), (S,), (-2,)),
    Different("a relu by its root", lambda x: jnp.where(x > 0, jnp.sqrt(relu(x)) / jnp.sqrt(relu(x)), 0), lambda x: 1 + 0 * x, (S,), (-2,)),
)  # fmt: skip

GUARDS = (
    Different("exp of log, guarded", lambda x: where_positive(x, jnp.exp(jnp.log(safe(x)))), lambda x: x, (S,), (-2,)),
    Different("exp of twice log, guarded", lambda x: where_positive(x, jnp.exp(2 * jnp.log(safe(x)))), lambda x: x * x, (S,), (-2,)),
    Different("roots under two guards", lambda x, y: where_positive(x, where_positive(y, jnp.sqrt(safe(x)) * jnp.sqrt(safe(y)))), lambda x, y: jnp.sqrt(jnp.abs(x * y)), (S, S), (-2, -3)),
    Different("a root of a product beside its guard", lambda x, y: where_positive(x * y, jnp.sqrt(jnp.abs(x * y))) * jnp.sqrt(jnp.abs(x / safe(y))), lambda x, y: x + 0 * y, (S, S), (-2, 3)),
    Different("a power and its root, guarded", lambda x: where_positive(x, jnp.sqrt(safe(x)) ** 2), lambda x: jnp.abs(x), (S,), (-2,)),
)  # fmt: skip

MET = (
    Different("a root of exponentials met where they are defined", lambda x, y: root_of_factors(x, y) + jnp.sqrt(x * x * y), lambda x, y: root_of_factors(x, y) + x * jnp.sqrt(y), (S, S), (-1, 1)),
    Different("two products of roots met where they are positive", lambda x, y, z: roots_of_two(x, y, z) + jnp.sqrt(x * y) * jnp.sqrt(x * z), lambda x, y, z: roots_of_two(x, y, z) + x * jnp.sqrt(y * z), (S, S, S), (-1, -1, -1)),
    Different("a quotient of roots met where they are positive", lambda x, y: beside_quotient(x, y) + jnp.sqrt(x * y) / jnp.sqrt(x / y), lambda x, y: beside_quotient(x, y) + y, (S, S), (-1, -1)),
    Different("multiples of roots met where they are positive", lambda x, y, z: roots_of_two(x, y, z) + jnp.sqrt(4 * x * y) * jnp.sqrt(9 * x * z), lambda x, y, z: roots_of_two(x, y, z) + 6 * x * jnp.sqrt(y * z), (S, S, S), (-1, -1, -1)),
    Different("roots met beside a guard", lambda x, y, z: roots_of_two(x, y, z) + where_positive(-x, jnp.sqrt(x * y) * jnp.sqrt(x * z)), lambda x, y, z: roots_of_two(x, y, z) + where_positive(-x, x * jnp.sqrt(y * z)), (S, S, S), (-1, -1, -1)),
    Different("roots of shifted numbers met", lambda x, y, z: roots_of_two(1 + x, 1 + y, z) + jnp.sqrt((1 + x) * (1 + y)) * jnp.sqrt((1 + x) * z), lambda x, y, z: roots_of_two(1 + x, 1 + y, z) + (1 + x) * jnp.sqrt((1 + y) * z), (S, S, S), (-2, -2, -1)),
)  # fmt: skip

CONSTANTS = (
    Different("a third, in three digits", lambda x: above(x) ** 0.333 * above(x) ** 0.666, above, (S,), (30,)),
    Different("log 2, in three digits", lambda x: jnp.log(2 * above(x)), lambda x: jnp.log(above(x)) + 0.69, (S,), (1,)),
    Different("cube root of nearly 8", lambda x: 8.1 ** (1 / 3) * x, lambda x: 2 * x, (S,), (1,)),
    Different("logarithms to two bases", lambda x: jnp.log2(above(x)), lambda x: jnp.log10(above(x)), (S,), (1,)),
)  # fmt: skip

FUNCTIONS = (
    Different("a step of lgamma", lambda x: gammaln(above(x) + 1), lambda x: gammaln(above(x)) + 2 * jnp.log(above(x)), (S,), (1,)),
    Different("a step of lgamma from a half", lambda x: gammaln(above(x) + 1.5), lambda x: gammaln(above(x) + 0.5) + jnp.log(above(x)), (S,), (1,)),
    Different("two steps of digamma", lambda x: digamma(above(x) + 2), lambda x: digamma(above(x)) + 1 / above(x), (S,), (1,)),
    Different("factorials", lambda x: gammaln(5.0) + x, lambda x: jnp.log(120.0) + x, (S,), (1,)),
    Different("sum of squares of cosh and sinh", lambda x: jnp.cosh(x) ** 2 + jnp.sinh(x) ** 2, lambda x: 1 + 0 * x, (S,), (1,)),
    Different("softmax with twice the logarithm", lambda x: jnp.exp(x - 2 * jax.nn.logsumexp(x)), jax.nn.softmax, (V,), ((1, 2, 3),)),
    Different("the other weight of two", lambda x, y: jnp.exp(x - jnp.logaddexp(x, y)), lambda x, y: jax.nn.sigmoid(y - x), (S, S), (1, 2)),
    Different("tanh of softplus, upside down", lambda x: jnp.tanh(jnp.log(1 + jnp.exp(x))), lambda x: ((1 + jnp.exp(x)) ** 2 + 1) / ((1 + jnp.exp(x)) ** 2 + 3), (S,), (1,)),
)  # fmt: skip

SUMS = (
    Different("magnitude of an exponential less 1", lambda x: jnp.abs(jnp.exp(x) - 1), lambda x: jnp.exp(x) - 1, (S,), (-2,)),
    Different("root of a square of expm1", lambda x: jnp.sqrt(jnp.expm1(x) ** 2), jnp.expm1, (S,), (-2,)),
    Different("magnitude of what two sigmoids leave of 1", lambda x: jnp.abs(1 - 2 * jax.nn.sigmoid(x)), lambda x: 1 - 2 * jax.nn.sigmoid(x), (S,), (2,)),
    Different("magnitude of tanh", lambda x: jnp.abs(jnp.tanh(x)), jnp.tanh, (S,), (-2,)),
    Different("cosh less 2 has no sign", lambda x: jnp.sqrt((jnp.cosh(x) - 2) ** 2), lambda x: jnp.cosh(x) - 2, (S,), (0.5,)),
    Different("a difference of two sigmoids", lambda x, y: jnp.abs(jax.nn.sigmoid(x) - jax.nn.sigmoid(y)), lambda x, y: jax.nn.sigmoid(x) - jax.nn.sigmoid(y), (S, S), (-2, 2)),
    Different("an exponential less 1 under a guard beside", lambda x: jnp.where(x > -1, jnp.abs(jnp.exp(x) - 1), 0), lambda x: jnp.where(x > -1, jnp.exp(x) - 1, 0), (S,), (-0.5,)),
    Different("logarithm of what tanh leaves of 1", lambda x: jnp.log(1 - jnp.tanh(x)), lambda x: jnp.log(1 + jnp.tanh(x)), (S,), (1,)),
    Different("the inverse of half a tanh", lambda x: jnp.arctanh(jnp.tanh(x) / 2), lambda x: x / 2, (S,), (2,)),
    Different("normalised along another axis", lambda x: jnp.exp(jax.nn.log_softmax(jax.nn.log_softmax(x, 0), 1)), lambda x: jax.nn.softmax(x, 1), (M,), (((1, 2), (3, -1)),)),
    Different("the smallest of logarithms", lambda x: jnp.exp(jax.nn.log_softmax(x).min()), lambda x: jnp.exp(x.max()) / jnp.exp(x).sum(), (V,), ((1, 2, 3),)),
    Different("square of the root of a quotient of sums", lambda x: jnp.abs(jnp.sqrt(wave(x)) ** 2 - crest(x) + 1), lambda x: jnp.sqrt(wave(x)) ** 2 - crest(x) + 1, (S,), (0,)),
    Different("fourth power of its fourth root", lambda x: jnp.abs((wave(x) ** 0.25) ** 4 - crest(x) + 1), lambda x: (wave(x) ** 0.25) ** 4 - crest(x) + 1, (S,), (0,)),
    Different("one over a quotient of sums by its root", lambda x: jnp.abs((1 - crest(x)) * lax.rsqrt(wave(x)) ** 2 + 1), lambda x: (1 - crest(x)) * lax.rsqrt(wave(x)) ** 2 + 1, (S,), (0,)),
    Different("one over a quotient of sums by its logarithm", lambda x: jnp.abs((1 - crest(x)) * jnp.exp(-jnp.log(wave(x))) + 1), lambda x: (1 - crest(x)) * jnp.exp(-jnp.log(wave(x))) + 1, (S,), (0,)),
    Different("one over a quotient of sums by the logarithm of its root", lambda x: jnp.abs((1 - crest(x)) * jnp.exp(-2 * jnp.log(jnp.sqrt(wave(x)))) + 1), lambda x: (1 - crest(x)) * jnp.exp(-2 * jnp.log(jnp.sqrt(wave(x)))) + 1, (S,), (0,)),
)  # fmt: skip

DIFFERENT = (*SIGNS, *ZEROS, *GUARDS, *MET, *CONSTANTS, *FUNCTIONS, *SUMS)

EQUAL = (
    Equal("a root of exponentials met where they are defined", lambda x, y: root_of_factors(above(x), y) + jnp.sqrt(above(x) ** 2 * y), lambda x, y: root_of_factors(above(x), y) + above(x) * jnp.sqrt(y), (S, S)),
    Equal("two products of roots met where they are positive", lambda x, y, z: roots_of_two(above(x), above(y), above(z)) + jnp.sqrt(above(x) * above(y)) * jnp.sqrt(above(x) * above(z)), lambda x, y, z: roots_of_two(above(x), above(y), above(z)) + above(x) * jnp.sqrt(above(y) * above(z)), (S, S, S)),
    Equal("a quotient of roots met where they are positive", lambda x, y: beside_quotient(above(x), above(y)) + jnp.sqrt(above(x) * above(y)) / jnp.sqrt(above(x) / above(y)), lambda x, y: beside_quotient(above(x), above(y)) + above(y), (S, S)),
    Equal("multiples of roots met where they are positive", lambda x, y, z: roots_of_two(above(x), above(y), above(z)) + jnp.sqrt(4 * above(x) * above(y)) * jnp.sqrt(9 * above(x) * above(z)), lambda x, y, z: roots_of_two(above(x), above(y), above(z)) + 6 * above(x) * jnp.sqrt(above(y) * above(z)), (S, S, S)),
    Equal("roots met beside a guard", lambda x, y, z: roots_of_two(x, y, z) + where_positive(-x, jnp.sqrt(x * y) * jnp.sqrt(x * z)), lambda x, y, z: roots_of_two(x, y, z) + where_positive(-x, jnp.sqrt(x * z) * jnp.sqrt(x * y)), (S, S, S)),
    Equal("roots of shifted numbers met", lambda x, y: where_positive(1 + x, jnp.sqrt(1 + x)) + jnp.sqrt((1 + x) * above(y)), lambda x, y: where_positive(1 + x, jnp.sqrt(1 + x)) + jnp.sqrt(1 + x) * jnp.sqrt(above(y)), (S, S)),
    Equal("root of a square by logarithms", lambda x: jnp.exp(jnp.log(above(x) ** 2) / 2), above, (S,)),
    Equal("roots of products of three", lambda x, y, z: jnp.sqrt(above(x) * above(y)) * jnp.sqrt(above(y) * above(z)) * jnp.sqrt(above(x) * above(z)), lambda x, y, z: above(x) * above(y) * above(z), (S, S, S)),
    Equal("fourth root of a square", lambda x: (above(x) ** 2) ** 0.25, lambda x: jnp.sqrt(above(x)), (S,)),
    Equal("square of one more than two roots", lambda x, y: (1 + jnp.sqrt(above(x)) * jnp.sqrt(above(y))) ** 2, lambda x, y: 1 + 2 * jnp.sqrt(above(x) * above(y)) + above(x) * above(y), (S, S)),
    Equal("a cosine of rows", lambda x, y: x @ y / (jnp.sqrt(x @ x + 1) * jnp.sqrt(y @ y + 1)), lambda x, y: x @ y / jnp.sqrt((x @ x + 1) * (y @ y + 1)), (V, V)),
    Equal("roots of magnitudes", lambda x, y: jnp.sqrt(jnp.abs(x)) * jnp.sqrt(jnp.abs(y)), lambda x, y: jnp.sqrt(jnp.abs(x) * jnp.abs(y)), (S, S)),
    Equal("logarithm of a square", lambda x: jnp.log(x * x), lambda x: 2 * jnp.log(jnp.abs(x)), (S,)),
    Equal("softplus and its magnitude", lambda x: jnp.log1p(jnp.exp(-jnp.abs(x))) + relu(x), lambda x: jnp.log1p(jnp.exp(x)), (S,)),
    Equal("three weights of two at a time", lambda x, y, z: jnp.logaddexp(jnp.logaddexp(x, y), z), lambda x, y, z: jnp.log(jnp.exp(x) + jnp.exp(y) + jnp.exp(z)), (S, S, S)),
    Equal("roots under a guard", lambda x, y: where_positive(x, jnp.sqrt(above(x)) * jnp.sqrt(above(y))), lambda x, y: where_positive(x, jnp.sqrt(above(x) * above(y))), (S, S)),
    Equal("a third and two thirds", lambda x: above(x) ** (1 / 3) * above(x) ** (2 / 3), above, (S,)),
    Equal("logarithms to two bases", lambda x: jnp.log2(above(x)), lambda x: jnp.log10(above(x)) * jnp.log2(10.0), (S,)),
    Equal("powers to a variable", lambda x, y, z: above(x) ** y * above(x) ** z, lambda x, y, z: above(x) ** (y + z), (S, S, S)),
    Equal("steps of lgamma", lambda x: gammaln(above(x) + 2), lambda x: gammaln(above(x)) + jnp.log(above(x) * (above(x) + 1)), (S,)),
    Equal("steps of digamma from a half", lambda x: digamma(jnp.exp(x / 2) + 1.5), lambda x: digamma(jnp.exp(x / 2) + 0.5) + 1 / (jnp.exp(x / 2) + 0.5), (S,)),
    Equal("squares of cosh and sinh", lambda x: jnp.cosh(x) ** 2, lambda x: 1 + jnp.sinh(x) ** 2, (S,)),
    Equal("softmax by its logarithm", lambda x: jnp.exp(x - jax.nn.logsumexp(x)), jax.nn.softmax, (V,)),
    Equal("magnitude of an exponential less 1", lambda x: jnp.abs(jnp.exp(x * x) + jnp.exp(x) - jnp.exp(x * x)), jnp.exp, (S,)),
    Equal("magnitude of what tanh² leaves of 1", lambda x: jnp.abs(1 - jnp.tanh(x) ** 2), lambda x: 1 / jnp.cosh(x) ** 2, (S,)),
    Equal("a difference of two sigmoids", lambda x: jnp.abs(jax.nn.sigmoid(x) - jax.nn.sigmoid(x) ** 2), lambda x: jax.nn.sigmoid(x) * jax.nn.sigmoid(-x), (S,)),
    Equal("logarithm of what tanh leaves of 1", lambda x: jnp.log(1 - jnp.tanh(x)) + 2 * x, lambda x: jnp.log(1 + jnp.tanh(x)), (S,)),
    Equal("the inverse of half a tanh", lambda x: 2 * jnp.arctanh(jnp.tanh(x / 2)), lambda x: x, (S,)),
    Equal("normalised along another axis", lambda x: jnp.exp(jax.nn.log_softmax(jax.nn.log_softmax(x, 1), 1)), lambda x: jax.nn.softmax(x, 1), (M,)),
    Equal("the smallest of logarithms", lambda x: jnp.exp(jax.nn.log_softmax(x).min()), lambda x: jnp.exp(x.min()) / jnp.exp(x).sum(), (V,)),
    Equal("cosh and sinh less an exponential", lambda x: jnp.log(jnp.cosh(x) - jnp.sinh(x)), lambda x: -x, (S,)),
    Equal("softmax of two, by a logarithm", lambda x, y: jnp.log(1 - jnp.exp(x - jnp.logaddexp(x, y))), lambda x, y: y - jnp.logaddexp(x, y), (S, S)),
    Equal("odds of two sigmoids", lambda x, y: jnp.log(1 - jax.nn.sigmoid(x) * jax.nn.sigmoid(y)), lambda x, y: jnp.log(jnp.exp(-x) + jnp.exp(-y) + jnp.exp(-x - y)) - jnp.log1p(jnp.exp(-x)) - jnp.log1p(jnp.exp(-y)), (S, S)),
    Equal("tanh of softplus", lambda x: jnp.tanh(jnp.log(1 + jnp.exp(x))), lambda x: ((1 + jnp.exp(x)) ** 2 - 1) / ((1 + jnp.exp(x)) ** 2 + 1), (S,)),
    Equal("square of the root of a quotient of sums", lambda x: jnp.sqrt(wave(x)) ** 2, wave, (S,)),
    Equal("fourth power of its fourth root", lambda x: jnp.sqrt(jnp.sqrt(wave(x)) ** 4), wave, (S,)),
    Equal("one over a quotient of sums by its root", lambda x: jnp.cosh(x) * lax.rsqrt(wave(x)) ** 2, lambda x: jnp.cosh(x) / wave(x), (S,)),
    Equal("one over a quotient of sums by its logarithm", lambda x: jnp.abs(jnp.cosh(x) * jnp.exp(-jnp.log(wave(x)))), lambda x: jnp.cosh(x) / wave(x), (S,)),
    Equal("one over a quotient of sums by the logarithm of its root", lambda x: crest(x) * jnp.exp(-2 * jnp.log(jnp.sqrt(wave(x)))), lambda x: crest(x) / wave(x), (S,)),
)  # fmt: skip
"""Those whose names are in `DIFFERENT` too are what the attacks look like, with the side condition kept."""
