"""Operands that an operation repeats along axes of length 1, terms of sums, angles, and infinities by choice."""

import jax
import jax.numpy as jnp
import numpy as np

from .row import Different, Equal, S, V, real

ZERO, ONE, FIVE, TURN = np.float32(0), np.float32(1), np.float32(5), np.float32(2 * np.pi)


def outer(function):
    """A function of each pair of entries: z[None] and z[:, None] have the same ones in the same order."""
    return lambda z: function(z[None], z[:, None])


def pairs_of_equals(z):
    """How many pairs of entries are equal, each counted once."""
    return real(jnp.sum(jnp.tril(z[None] == z[:, None], -1)))


def relu(x):
    """max(x, 0)."""
    return jnp.maximum(x, ZERO)


def by_choice(value):
    """A function of x where x > 0, and an infinity or NaN elsewhere."""
    return lambda x: jnp.where(x > 0, x, np.float32(value))


DIFFERENT = (
    Different(
        "pairs of equal numbers",
        pairs_of_equals,
        lambda z: (real(jnp.sum(z[None] == z[:, None])) - 3) ** 2 / 12,
        (V,),
        ([1, 1, 2],),
        null_set=True,
    ),
    Different("the larger of two", outer(jnp.maximum), outer(lambda a, b: a + ZERO * b), (V,), ([1, 2, 3],)),
    Different(
        "a magnitude beside a condition on another axis",
        outer(lambda a, b: jnp.where(a > 0, jnp.abs(b), ZERO)),
        outer(lambda a, b: jnp.where(a > 0, b, ZERO)),
        (V,),
        ([1, -2, 3],),
    ),
    Different(
        "cases that meet on another axis",
        outer(lambda a, b: jnp.where(a > b, a, a)),
        outer(lambda a, b: jnp.where(a >= b, a, b)),
        (V,),
        ([1, 2, 3],),
    ),
    Different(
        "a product of two functions, exchanged",
        outer(lambda a, b: jax.nn.softplus(a) * jnp.abs(b)),
        outer(lambda a, b: jax.nn.softplus(b) * jnp.abs(a)),
        (V,),
        ([1, 2, 3],),
    ),
    Different(
        "a constant too much in a sum of signs",
        lambda z: jnp.sum(jnp.sign(z)) + ONE / 2,
        lambda z: jnp.sum(real(z > 0)) - jnp.sum(real(z < 0)),
        (V,),
        ([1, 2, -3],),
    ),
    Different(
        "a step for a sign, beside another term",
        lambda z: real(z[0] > 0) + jnp.sign(z[1]),
        lambda z: (jnp.sign(z[0]) + 1) / 2 + jnp.sign(z[1]),
        (V,),
        ([0, 1, 1],),
        null_set=True,
    ),
    Different("an angle beyond half a turn", lambda x: jnp.arctan2(jnp.sin(x), jnp.cos(x)), lambda x: x, (S,), (4,)),
    Different(
        "an angle of the opposite cosine", lambda x: jnp.arctan2(jnp.sin(x), -jnp.cos(x)), lambda x: x, (S,), (1,)
    ),
    Different("a remainder beyond a turn", lambda x: jnp.fmod(x, TURN), lambda x: x, (S,), (7,)),
    Different(
        "the number behind NaN by choice",
        lambda x: (lambda y: jnp.where(jnp.isnan(y), FIVE, y))(by_choice(np.nan)(x)),
        lambda x: x,
        (S,),
        (-1,),
    ),
    Different(
        "not above 0, or NaN by choice",
        lambda x: (lambda y: jnp.where(~(y > 0), jnp.where(y <= 0, ONE, FIVE), ZERO))(by_choice(np.nan)(x)),
        lambda x: jnp.where(x > 0, ZERO, ONE),
        (S,),
        (-1,),
    ),
    Different(
        "the larger of −∞ by choice and a number",
        lambda x: jnp.maximum(by_choice(-np.inf)(x), -ONE),
        lambda x: jnp.maximum(x, -ONE),
        (S,),
        (-0.5,),
    ),
    Different(
        "1 by the largest of what vanishes on a half-line",
        lambda z: jnp.where(jnp.max(relu(z)) > 0, ZERO, 1 + jnp.max(relu(z))),
        lambda z: jnp.where(jnp.max(relu(z)) > 0, ZERO, ONE + ONE),
        (V,),
        ([-1, -1, -1],),
    ),
)

EQUAL = (
    Equal("the larger of two", outer(jnp.maximum), outer(lambda a, b: jnp.where(a > b, a, b)), (V,)),
    Equal(
        "two axes",
        outer(lambda a, b: relu(2 * a) + jnp.abs(b)),
        outer(lambda a, b: 2 * jnp.where(a > 0, a, ZERO) + jnp.maximum(b, -b)),
        (V,),
    ),
    Equal(
        "a sum of signs", lambda z: jnp.sum(jnp.sign(z)), lambda z: jnp.sum(real(z > 0)) - jnp.sum(real(z < 0)), (V,)
    ),
    Equal(
        "a mean without NaN by choice",
        lambda z: jnp.nansum(by_choice(np.nan)(z)),
        lambda z: jnp.sum(relu(z)),
        (V,),
    ),
)
