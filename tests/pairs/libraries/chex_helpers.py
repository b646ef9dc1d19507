"""chex and jax.tree: what they give back unchanged, between plain formulas."""

from typing import Any

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

from ..pair import f32, matmul
from ..row import row
from .library import library

chex = library("chex")
X = (f32(4),)


@chex.dataclass
class Moments:
    """The state of Adam, as chex keeps it."""

    first: Any
    second: Any


def moments(g, h, b1=0.9, b2=0.99):
    state = Moments(first=jnp.zeros_like(g), second=jnp.zeros_like(g))
    for x in (g, h):
        state = state.replace(first=b1 * state.first + (1 - b1) * x, second=b2 * state.second + (1 - b2) * x * x)
    return state.first, state.second


def asserted(x):
    chex.assert_shape(x, (4,))
    chex.assert_rank(x, 1)
    return jnp.tanh(x)


def mean_of_trees(x, y):
    trees = [{"a": x, "b": (y,)}, {"a": y, "b": (x,)}]
    return jax.tree.map(lambda *leaves: sum(leaves) / 2.0, *trees)["b"][0]


ROWS = (
    row(
        "a dataclass as the state of two steps",
        moments,
        lambda g, h: (0.09 * g + 0.1 * h, 0.0099 * g**2 + 0.01 * h**2),
        (f32(4), f32(4)),
        {
            "not decayed": lambda g, h: (0.1 * g + 0.1 * h, 0.0099 * g**2 + 0.01 * h**2),
            "exchanged": lambda g, h: (0.09 * h + 0.1 * g, 0.0099 * g**2 + 0.01 * h**2),
        },
        gradient=True,
    ),
    row(
        "assertions of shape leave values alone",
        asserted,
        lambda x: 2.0 / (1.0 + jnp.exp(-2.0 * x)) - 1.0,
        X,
        {"sigmoid": jax.nn.sigmoid, "sign": lambda x: -jnp.tanh(x)},
    ),
    row(
        "a mean of trees",
        mean_of_trees,
        lambda x, y: x / 2.0 + y / 2.0,
        (f32(4), f32(4)),
        {"sum": lambda x, y: x + y, "first": lambda x, y: x + 0 * y},
    ),
    row(
        "a dataclass through jit and vmap",
        lambda X: jax.vmap(lambda x: jax.jit(lambda s: s.first * s.second)(Moments(first=x, second=x + 1.0)))(X),
        lambda X: X * X + X,
        (f32(3, 2),),
        {"square": lambda X: X * X, "minus": lambda X: X * X - X},
    ),
    row(
        "ravel of a tree and back",
        lambda x, A: (lambda flat: flat[1](2.0 * flat[0])["A"])(ravel_pytree({"x": x, "A": A})),
        lambda x, A: A + A + 0.0 * x.sum(),
        (f32(4), f32(2, 2)),
        {"once": lambda x, A: A + 0 * x.sum(), "transposed": lambda x, A: 2 * A.T},
    ),
    row(
        "a dataclass carried by a scan",
        lambda x, W: (
            jax.lax.scan(
                lambda s, w: (s.replace(first=s.first + matmul(w, s.second)), None), Moments(first=x, second=x), W
            )[0].first
        ),
        lambda x, W: x + matmul(W.sum(0), x),
        (f32(2), f32(3, 2, 2)),
        {"product": lambda x, W: x + matmul(W.prod(0), x), "no start": lambda x, W: matmul(W.sum(0), x)},
        gradient=True,
    ),
)
