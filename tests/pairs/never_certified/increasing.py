"""Functions of rows that look increasing and are not: of other rows, signs, flat parts, other constants for each entry."""

import jax
import jax.numpy as jnp
from jax import lax

from .row import Different, Equal, S, V, f32, real

TWO_ROWS = f32(2, 3)


def place(x):
    """The place of the largest entry, as a float."""
    return real(jnp.argmax(x))


def share(x):
    """The softmax of a row."""
    return jax.nn.softmax(x)


DIFFERENT = (
    Different("the softmax of columns", lambda a: real(jnp.argmax(jax.nn.softmax(a, 0), 1)), lambda a: real(jnp.argmax(a, 1)), (TWO_ROWS,), (((0, 1, 0), (0, 5, 0.5)),)),
    Different("a factor of any sign", lambda x, c: place(x * c), lambda x, c: place(x), (V, S), ((1, 2, 3), -1)),
    Different("a factor that may be 0", lambda x, c: place(x * c**2), lambda x, c: place(x), (V, S), ((1, 2, 3), 0), null_set=True),
    Different("a divisor of any sign", lambda x, c: jnp.max(x / c), lambda x, c: jnp.max(x) / c, (V, S), ((1, 2, 3), -1)),
    Different("a flat function", lambda x: place(jax.nn.relu(x)), place, (V,), ((-3, -1, -2),)),
    Different("a factor that is 0 in one case", lambda x, s: place(x * jnp.where(s >= 0, s, 1)), lambda x, s: place(x), (V, S), ((1, 2, 3), 0), null_set=True),
    Different("a factor that is negative in one case", lambda x, s: place(x * jnp.where(s > 0, 1, s)), lambda x, s: place(x), (V, S), ((1, 2, 3), -2)),
    Different("a logarithm of numbers below 0", lambda x: place(jnp.log(x)), place, (V,), ((-1, 2, 3),), infinite=True),
    Different("a function with steps", lambda x: place(jnp.floor(x)), place, (V,), ((0.25, 0.5, 0.125),)),
    Different("an even power", lambda x: place(x**2), place, (V,), ((-3, 1, 2),)),
    Different("a summand of its own for each entry", lambda x, y: place(x + y), lambda x, y: place(x), (V, V), ((1, 2, 3), (5, 0, 0))),
    Different("a decreasing function", lambda x: jnp.max(jnp.exp(-x)), lambda x: jnp.exp(-jnp.max(x)), (V,), ((1, 2, 3),)),
    Different("the entry at the other end", lambda x: share(x)[jnp.argmin(x)], lambda x: share(x).max(), (V,), ((1, 2, 3),)),
    Different("the other order", lambda x: real(lax.top_k(share(x), 2)[1]), lambda x: real(lax.top_k(x, 2)[1][::-1]), (V,), ((1, 2, 3),)),
    Different("the next of the sorted", lambda x: jnp.sort(jnp.exp(x))[0], lambda x: jnp.exp(jnp.sort(x)[1]), (V,), ((1, 2, 3),)),
    Different("the first of equals from the other end", lambda x: place(share(x)), lambda x: 2 - place(share(x[::-1])), (V,), ((1, 1, 0),), null_set=True),
)  # fmt: skip

EQUAL = (
    Equal("the place of the largest probability", lambda x: place(share(x)), place, (V,)),
    Equal("the largest probability", lambda x: share(x).max(), lambda x: jnp.exp(x.max()) / jnp.exp(x).sum(), (V,)),
    Equal("the probability of the largest", lambda x: share(x)[jnp.argmax(x)], lambda x: share(x).max(), (V,)),
    Equal("a choice by noise", lambda x, g: place(jax.nn.log_softmax(x) + g), lambda x, g: place(x + g), (V, V)),
    Equal("the largest two renormalised", lambda x: (lambda v: v / v.sum())(lax.top_k(share(x), 2)[0]), lambda x: share(lax.top_k(x, 2)[0]), (V,)),
    Equal("the places of the largest two", lambda x: real(lax.top_k(share(x), 2)[1]), lambda x: real(lax.top_k(x, 2)[1]), (V,)),
    Equal("accuracy", lambda a: real(jnp.argmax(jax.nn.softmax(a), 1) == 1).mean(), lambda a: real(jnp.argmax(a, 1) == 1).mean(), (TWO_ROWS,)),
)  # fmt: skip
