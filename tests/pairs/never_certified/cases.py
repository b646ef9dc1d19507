"""Functions that agree in nearly all cases of their decisions: a case too few, a border, a case that cannot be."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .row import Different, Equal, S, V, f64, ind, real

relu = jax.nn.relu


def tie(name, left, right, specs, witness, **settings):
    """A row that differs on a null set only."""
    return Different(name, left, right, specs, witness, null_set=True, **settings)


def huber(x, t=1.0):
    """Half of a square, and straight lines outside."""
    return jnp.where(jnp.abs(x) <= t, 0.5 * x * x, t * (jnp.abs(x) - 0.5 * t))


def ppo(r, a):
    """The clipped objective of proximal policy optimization."""
    return jnp.minimum(r * a, jnp.clip(r, 0.8, 1.2) * a)


HIGH, LOW, FINITE = (np.array([0, x, 0], np.float32) for x in (np.inf, -np.inf, 1000))
"""Arrays of which one entry may be no real number."""

# What is greater than a number for real numbers only, the number being made of x and such an array.
GREATER = (
    ("a sum and 1", lambda x, beside: x + beside + 1 > x + beside),
    ("a maximum and 1", lambda x, beside: jnp.maximum(x, beside) + 1 > jnp.maximum(x, beside)),
    ("a product of exponentials", lambda x, beside: jnp.exp(beside) * jnp.exp(x) > 0),
    ("an exponential of a sum", lambda x, beside: jnp.exp(x + beside) > 0),
    ("a rearranged sum and 1", lambda x, beside: (x + beside)[::-1] + 1 > (x + beside)[::-1]),
)


def far(holds, beside):
    """x, and something more near 731.5 where a comparison does not hold."""
    return lambda x: x + jnp.where(holds(x, beside), 0.0, relu(1 - jnp.abs(x - 731.5)))


FAR = 30
"""Random inputs are seldom below -FAR."""


def step(x):
    """1 above -FAR and 0 below, undefined there."""
    return relu(x + FAR) / (x + FAR)


def above(x):
    """1 above -FAR and 0 below."""
    return ind(x + FAR > 0)


def copied(f, copy=lax.optimization_barrier):
    """f of copies of its arguments, all made at once."""
    return lambda *x: f(*copy(x))


def whole(x, below):
    """The whole part of x + FAR between 0 and 3; below -FAR that of something else."""
    return real(jnp.where(x > -FAR, jnp.clip(x + FAR, 0, 3), below).astype(jnp.int32))


COPIED = (
    Different("the second of two copies", copied(lambda x, y: step(y)), lambda x, y: above(x) + 0 * y, (S, S), (0, -32)),
    Different("the second of two arrays on a device", copied(lambda x, y: step(y), jax.device_put), lambda x, y: above(x) + 0 * y, (S, S), (0, -32)),
    Different("the third of three copies", copied(lambda x, y, z: step(z) + 0 * y), lambda x, y, z: above(x) + 0 * y, (S, S, S), (0, 0, -32)),
    Different("a copy beside the reversed array", lambda x: step(lax.optimization_barrier((x[::-1], x))[1]), lambda x: above(x[::-1]), (V,), ((0, 0, -32),)),
    Different("a copy of a copy", copied(copied(lambda x, y: step(x) * 2 + step(y))), lambda x, y: 3 * above(x) + 0 * y, (S, S), (0, -32)),
)  # fmt: skip

CAST = (
    Different("a logarithm cast to an integer", lambda x: whole(x, jnp.log(x + FAR)), lambda x: whole(x, 7), (S,), (-32,)),
    Different("a root cast to an integer", lambda x: whole(x, jnp.sqrt(x + FAR - 1)), lambda x: whole(x, 7), (S,), (-32,)),
    Different("a magnitude of a logarithm cast to an integer", lambda x: whole(x, jnp.abs(jnp.log(x + FAR))), lambda x: whole(x, 7), (S,), (-32,)),
    Different("a multiple of a root cast to an integer", lambda x: whole(x, 3 * lax.rsqrt(x + FAR - 1) + 1), lambda x: whole(x, 7), (S,), (-32,)),
    Different("a quotient of a root cast to an integer", lambda x: whole(x, jnp.sqrt(x + FAR - 1) / 2), lambda x: whole(x, 7), (S,), (-32,)),
)  # fmt: skip

DIFFERENT = (
    *COPIED,
    *CAST,
    *(
        Different(f"{name}, infinite", far(holds, LOW if "expo" in name else HIGH), lambda x: x, (V,), ((731.5,) * 3,))
        for name, holds in GREATER
    ),
    tie("a point beside a maximum", lambda x: jnp.maximum(x, 0) + ind(x == 0), lambda x: jnp.maximum(x, 0.0), (S,), (0,)),
    tie("a point beside a clip", lambda x: jnp.clip(x, -1, 1) + ind(x == 1), lambda x: relu(x + 1) - relu(x - 1) - 1, (S,), (1,)),
    tie("a point on a diagonal", lambda x, y: jnp.maximum(x, y) + ind(x == y), jnp.maximum, (S, S), (2, 2)),
    tie("a point where two maxima meet", lambda x: relu(x) + relu(-x) + ind(relu(x) == relu(-x)), jnp.abs, (S,), (0,)),
    tie("a point at the border of a border", lambda x, y: jnp.where(x >= 0, jnp.where(y > x, 1.0, 0.0), 0.0), lambda x, y: jnp.where(x > 0, jnp.where(y > x, 1.0, 0.0), 0.0), (S, S), (0, 1)),
    tie("transitivity without ties", lambda x, y, z: ind(x > y) * ind(y > z) * ind(x > z), lambda x, y, z: ind(x > y) * ind(y >= z), (S, S, S), (2, 1, 1)),
    tie("a parabola that touches", lambda x: ind(x * x > 0), lambda x: 1 + 0 * x, (S,), (0,)),
    tie("a product of signs", lambda x, y: jnp.sign(x) * jnp.sign(y), lambda x, y: jnp.where(x * y >= 0, 1.0, -1.0), (S, S), (0, 1)),
    tie("the sign of a magnitude", lambda x: jnp.sign(jnp.abs(x)), lambda x: 1 + 0 * x, (S,), (0,)),
    tie("a floor at a whole number", lambda x: ind(jnp.floor(x) > 0), lambda x: ind(x > 1), (S,), (1,)),
    Different("a clip by sums, too high", lambda x: jnp.clip(x, -1, 1), lambda x: relu(x + 1) - relu(x - 1) - 1.125, (S,), (0,)),
    Different("a clip by sums, another end", lambda x: jnp.clip(x, -1, 1), lambda x: relu(x + 1) - relu(x - 2) - 1, (S,), (3,)),
    Different("huber, a knee too far", huber, lambda x: huber(x, 2.0), (S,), (3,)),
    Different("huber, other lines", huber, lambda x: jnp.where(x > 1, x - 0.5, jnp.where(x < -1, x - 0.5, 0.5 * x * x)), (S,), (-2,)),
    Different("softplus with a wrong half", jax.nn.softplus, lambda x: relu(x) + jnp.log1p(jnp.exp(-relu(x))), (S,), (-2,)),
    Different("softplus without its magnitude", jax.nn.softplus, lambda x: relu(x) + jnp.log1p(jnp.exp(-x)), (S,), (-2,)),
    Different("softplus of twice x", lambda x: jax.nn.softplus(2 * x), lambda x: 2 * jnp.log(1 + jnp.exp(x)), (S,), (0,)),
    Different("elu with another slope", jax.nn.elu, lambda x: relu(x) + jnp.minimum(jnp.exp(2 * x) - 1, 0), (S,), (-1,)),
    Different("the objective with a wrong end", ppo, lambda r, a: jnp.where(a > 0, jnp.minimum(r, 1.25) * a, jnp.maximum(r, 0.8) * a), (S, S), (2, 1)),
    Different("the objective for one sign", ppo, lambda r, a: jnp.minimum(r, 1.2) * a, (S, S), (0, -1)),
    Different("clips in the wrong order", lambda x: jnp.clip(jnp.clip(x, 0, 2), 1, 3), lambda x: jnp.clip(x, 1, 3), (S,), (2.5,)),
    Different("a median of three, one order", lambda x, y, z: jnp.maximum(jnp.minimum(x, y), jnp.minimum(jnp.maximum(x, y), z)), lambda x, y, z: jnp.maximum(jnp.minimum(x, y), z), (S, S, S), (1, 2, 5)),
    Different("a magnitude of a sum", lambda x, y: jnp.abs(x + y), lambda x, y: jnp.abs(x) + jnp.abs(y), (S, S), (1, -1)),
    Different("a magnitude of a difference of magnitudes", lambda x, y: jnp.abs(jnp.abs(x) - jnp.abs(y)), lambda x, y: jnp.abs(x - y), (S, S), (1, -1)),
    Different("a guard that is not always true", lambda x: jnp.where(x * x - x + 0.125 > 0, x, 0.0), lambda x: x, (S,), (0.5,)),
    Different("a sign of an exponential less a number", lambda x: ind(jnp.exp(x) > 2), lambda x: ind(x > 0), (S,), (0.5,)),
    Different("a cosine that is not positive", lambda x: ind(jnp.cos(x) > 0), lambda x: 1 + 0 * x, (S,), (3,)),
    Different("a quotient that turns signs", lambda x, y: ind(x / y > 1), lambda x, y: ind(x > y), (S, S), (-2, -1)),
    Different("a logarithm that compares nothing", lambda x: ind(jnp.log(x) > 0), lambda x: 1 - ind(jnp.log(x) <= 0), (S,), (-1,)),
    Different("a root that is NaN", lambda x: ind(jnp.sqrt(x) >= 0), lambda x: 1 + 0 * x, (S,), (-1,)),
    Different("NaN is not NaN", lambda x: ind(jnp.log(x) == jnp.log(x)), lambda x: 1 + 0 * x, (S,), (-1,)),
    Different("a threshold that is rounded", lambda x: jnp.where(x > np.float32(0.1), 1.0, 0.0), lambda x: jnp.where(x > 0.125, 1.0, 0.0), (S,), (0.11,)),
    Different("eleven thresholds of a staircase", lambda x: sum(ind(x > i) for i in range(11)), lambda x: sum(ind(x > i) for i in range(12)), (S,), (20,)),
    Different("a mask in front of a maximum", lambda x: jnp.maximum(x, -1e30), lambda x: jnp.maximum(x, -1e3), (S,), (-2000,)),
    Different("an entry of another row", lambda x: jnp.maximum(x, x[::-1]), lambda x: x + relu(x - x[::-1]) + 0 * x, (V,), ((1, 2, 3),)),
    Different("a gradient of softplus", jax.nn.softplus, lambda x: relu(x) + jnp.log1p(jnp.exp(-relu(x))), (V,), ((-1, 2, 3),), wrt="grad"),
    Different("a number that is positive under a guard", lambda x: jnp.where(x > 0, x, 0.0) + jnp.abs(x), lambda x: jnp.where(x > 0, x, 0.0) + x, (S,), (-1,)),
    Different("a function that is positive under a guard", lambda x, y: jnp.where(x * y > 0, x * y, 1.0) * jnp.abs(x * y), lambda x, y: jnp.where(x * y > 0, x * y, 1.0) * (x * y), (S, S), (-1, 2)),
    Different("a guard inside of a guard", lambda x: jnp.where(x > 0, jnp.where(x > 1, jnp.log(x), 0.0), 0.0) + jnp.maximum(x, 0), lambda x: jnp.where(x > 0, jnp.where(x > 1, jnp.log(x), 0.0), 0.0) + x, (S,), (-1,)),
    Different("a mean of losses, one of them other", lambda x: huber(x).mean(), lambda x: jnp.where(jnp.abs(x) < 2, 0.5 * x * x, jnp.abs(x) - 0.5).mean(), (V,), ((1.5, 0, 0),)),
)  # fmt: skip

EQUAL = (
    Equal("the second of two copies", copied(lambda x, y: step(y)), lambda x, y: above(y) + 0 * x, (S, S)),
    Equal("the second of two arrays on a device", copied(lambda x, y: step(y), jax.device_put), lambda x, y: above(y) + 0 * x, (S, S)),
    Equal("the third of three copies", copied(lambda x, y, z: step(z) + 0 * y), lambda x, y, z: above(z) + 0 * y, (S, S, S)),
    Equal("a copy beside the reversed array", lambda x: step(lax.optimization_barrier((x[::-1], x))[1]), above, (V,)),
    Equal("a copy of a copy", copied(copied(lambda x, y: step(x) * 2 + step(y))), lambda x, y: 2 * above(x) + above(y), (S, S)),
    Equal("a whole part by cases", lambda x: whole(x, 0), lambda x: real(jnp.clip(x + FAR, 0, 3).astype(jnp.int32)), (S,)),
    Equal("a logarithm that is not cast", lambda x: jnp.where(x > -FAR, jnp.clip(x + FAR, 0, 3), jnp.log(x + FAR)), lambda x: jnp.minimum(relu(x + FAR), 3), (S,)),
    Equal("a root that is not cast", lambda x: jnp.where(x > -FAR, jnp.clip(x + FAR, 0, 3), jnp.sqrt(x + FAR - 1)), lambda x: jnp.minimum(relu(x + FAR), 3), (S,)),
    Equal("a magnitude that is not cast", lambda x: jnp.where(x > -FAR, jnp.clip(x + FAR, 0, 3), jnp.abs(jnp.log(x + FAR))), lambda x: jnp.minimum(relu(x + FAR), 3), (S,)),
    Equal("a multiple of a root that is not cast", lambda x: jnp.where(x > -FAR, jnp.clip(x + FAR, 0, 3), 3 * lax.rsqrt(x + FAR - 1) + 1), lambda x: jnp.minimum(relu(x + FAR), 3), (S,)),
    *(Equal(f"{name}, finite", far(holds, FINITE), lambda x: x, (V,)) for name, holds in GREATER),
    Equal("softplus by its definition", jax.nn.softplus, lambda x: jnp.log(1 + jnp.exp(x)), (V,)),
    Equal("log sigmoid by its definition", jax.nn.log_sigmoid, lambda x: -jnp.log(1 + jnp.exp(-x)), (V,)),
    Equal("logaddexp by its definition", jnp.logaddexp, lambda x, y: jnp.log(jnp.exp(x) + jnp.exp(y)), (V, V)),
    Equal("huber by minima", huber, lambda x: 0.5 * jnp.minimum(jnp.abs(x), 1) ** 2 + jnp.abs(x) - jnp.minimum(jnp.abs(x), 1), (V,)),
    Equal("huber by three branches", huber, lambda x: jnp.where(x > 1, x - 0.5, jnp.where(x < -1, -x - 0.5, 0.5 * x * x)), (V,)),
    Equal("a mean of huber losses", lambda x: huber(x).mean(), lambda x: jnp.where(jnp.abs(x) < 1, 0.5 * x * x, jnp.abs(x) - 0.5).mean(), (V,)),
    Equal("celu by a minimum", jax.nn.celu, lambda x: relu(x) + jnp.minimum(jnp.exp(x) - 1, 0), (V,)),
    Equal("a clip by sums", lambda x: jnp.clip(x, -1, 1), lambda x: relu(x + 1) - relu(x - 1) - 1, (V,)),
    Equal("a magnitude by two comparisons", lambda x: jnp.where(jnp.abs(x) <= 1, x, 0.0), lambda x: jnp.where((x <= 1) & (x >= -1), x, 0.0), (V,)),
    Equal("a clip of a clip", lambda x: jnp.clip(jnp.clip(x, 0, 2), 1, 3), lambda x: jnp.clip(x, 1, 2), (V,)),
    Equal("absorption", lambda x, y: jnp.maximum(jnp.minimum(x, y), x), lambda x, y: x + 0 * y, (S, S)),
    Equal("magnitudes of products", lambda x, y: jnp.abs(x) * jnp.abs(y), lambda x, y: jnp.abs(x * y), (S, S)),
    Equal("the clipped objective by the sign of the advantage", ppo, lambda r, a: jnp.where(a > 0, jnp.minimum(r, 1.2) * a, jnp.maximum(r, 0.8) * a), (S, S)),
    Equal("a median of three", lambda x, y, z: jnp.maximum(jnp.minimum(x, y), jnp.minimum(jnp.maximum(x, y), z)), lambda x, y, z: jnp.minimum(jnp.maximum(x, y), jnp.maximum(jnp.minimum(x, y), z)), (S, S, S)),
    Equal("a sum of maximum and minimum", lambda x, y: jnp.maximum(x, y) + jnp.minimum(x, y), lambda x, y: x + y, (S, S)),
    Equal("transitivity", lambda x, y, z: ind(x > y) * ind(y > z) * ind(x > z), lambda x, y, z: ind(x > y) * ind(y > z), (S, S, S)),
    Equal("a guard that is always true", lambda x: jnp.where(x * x - x + 0.375 > 0, x, 0.0), lambda x: x, (S,)),
    Equal("a sign times its number", lambda x: jnp.sign(x) * x, jnp.abs, (V,)),
    Equal("a sign of an exponential less 1", lambda x: jnp.sign(jnp.exp(x) - 1), jnp.sign, (S,)),
    Equal("an order of exponentials", lambda x, y: jnp.maximum(jnp.exp(x), jnp.exp(y)), lambda x, y: jnp.exp(jnp.maximum(x, y)), (S, S)),
    Equal("a staircase in two orders", lambda x: sum(ind(x > i) for i in range(5)), lambda x: 5 - sum(ind(x <= i) for i in range(5)), (S,)),
    Equal("in float64", lambda x: jnp.clip(x, -1, 1), lambda x: relu(x + 1) - relu(x - 1) - 1, (f64(3),)),
    Equal("gradients of huber", huber, lambda x: jnp.where(jnp.abs(x) < 1, 0.5 * x * x, jnp.abs(x) - 0.5), (V,), wrt="grad"),
)  # fmt: skip
