"""Random functions of arrays with symbolic dimensions: many are equal, nearly equal, or equal at small sizes."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

SHAPES = ("n", "n", "n,m", "m")
"""Of the inputs x, y (vectors of n), a (matrix) and w (vector of m)."""


@dataclass(frozen=True)
class Expression:
    """A text to tell functions apart, the shape of the value, and function(*inputs)."""

    text: str
    shape: str
    function: Callable[..., Any]


def _leaves() -> list[Expression]:
    names = ("x", "y", "a", "w")
    return [Expression(name, s, lambda *i, k=k: i[k]) for k, (name, s) in enumerate(zip(names, SHAPES, strict=True))]


def _position(v: Any) -> jax.Array:
    """0, 1, … along the last axis."""
    return jnp.broadcast_to(jnp.arange(v.shape[-1], dtype=v.dtype), v.shape)


def _mask(v: Any, gap: int) -> Any:
    i = jnp.arange(v.shape[-1])
    return (i[:, None] - i[None, :]) >= gap


def _is_even(v: Any) -> jax.Array:
    return jnp.broadcast_to(jnp.arange(v.shape[-1]) % 2 == 0, v.shape)


def number(v: Any, value: float) -> Any:
    return jnp.asarray(value, v.dtype)


SAME_SHAPE: dict[str, Callable[[Any], Any]] = {
    "neg": lambda v: -v,
    "relu": lambda v: jnp.maximum(v, number(v, 0)),
    "abs": jnp.abs,
    "sign": jnp.sign,
    "square": lambda v: v * v,
    "root of square": lambda v: jnp.sqrt(v * v),
    "exp": lambda v: jnp.exp(v / 8),
    "sigmoid": jax.nn.sigmoid,
    "softmax": lambda v: jax.nn.softmax(v, axis=-1),
    "softmax by hand": lambda v: jnp.exp(v) / jnp.exp(v).sum(-1, keepdims=True),
    "reverse": lambda v: v[..., ::-1],
    "cumsum": lambda v: jnp.cumsum(v, -1),
    "centred": lambda v: v - v.mean(-1, keepdims=True),
    "over": lambda v: v / v,
    "inverse": lambda v: 1 / v,
    "norm": lambda v: v / jnp.sqrt((v * v).sum(-1, keepdims=True) + 1),
    "rms": lambda v: v * jax.lax.rsqrt((v * v).mean(-1, keepdims=True) + number(v, 0.5)),
    "positive": lambda v: jnp.where(v > 0, v, number(v, 0)),
    "not negative": lambda v: jnp.where(v >= 0, v, number(v, 0)),
    "step": lambda v: jnp.where(v > 0, number(v, 1), number(v, 0)),
    "step at 0": lambda v: jnp.where(v >= 0, number(v, 1), number(v, 0)),
    "position": lambda v: v * _position(v),
    "capped": lambda v: v * jnp.minimum(_position(v), number(v, 3)),
    "first": lambda v: jnp.where(_position(v) < 2, v, number(v, 0)),
    "but the first": lambda v: jnp.where(_position(v) >= 1, v, number(v, 0)),
    "shifted": lambda v: jnp.concatenate([jnp.zeros_like(v[..., :1]), v[..., :-1]], -1),
    "padded and cut": lambda v: jnp.concatenate([v, v[..., :1]], -1)[..., 1:],
    "times length": lambda v: v * v.shape[-1],
    "less one": lambda v: v * (v.shape[-1] - 1),
    "over less one": lambda v: v * (v.shape[-1] - 1) / (v.shape[-1] - 1),
    "double": lambda v: v + v,
    "half": lambda v: v * number(v, 0.5),
    "guarded": lambda v: jnp.where(v != 0, 1 / jnp.where(v != 0, v, number(v, 1)), number(v, 0)),
    "log of exp": lambda v: jnp.log(jnp.exp(v)),
    "less its maximum": lambda v: v - v.max(-1, keepdims=True),
    "plus its sum": lambda v: v + v.sum(-1, keepdims=True),
    "by the last": lambda v: v - v[..., -1:],
    "windowed": lambda v: jnp.where(_mask(v, 0) & ~_mask(v, 4), v[..., None, :], number(v, 0)).sum(-1),
    "triangle": lambda v: jnp.where(_mask(v, 0), v[..., None, :], number(v, 0)).sum(-1),
    "strict triangle": lambda v: jnp.where(_mask(v, 1), v[..., None, :], number(v, 0)).sum(-1),
}
TWO_OF_ONE_SHAPE: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda u, v: u + v,
    "sub": lambda u, v: u - v,
    "mul": lambda u, v: u * v,
    "max": jnp.maximum,
    "min": jnp.minimum,
    "div": lambda u, v: u / v,
    "where": lambda u, v: jnp.where(u > v, u, v),
    "where less": lambda u, v: jnp.where(u < v, v, u),
    "choose": lambda u, v: jnp.where(u >= v, number(u, 1), number(u, 0)),
    "over both": lambda u, v: u / (number(u, 1) + jnp.exp(v)),
}
REDUCE: dict[str, Callable[[Any], Any]] = {
    "sum": lambda v: v.sum(-1),
    "mean": lambda v: v.mean(-1),
    "greatest": lambda v: v.max(-1),
    "least": lambda v: v.min(-1),
    "entry 0": lambda v: v[..., 0],
    "last entry": lambda v: v[..., -1],
    "self product": lambda v: (v * v).sum(-1),
    "logsumexp": lambda v: jax.nn.logsumexp(v, axis=-1),
}


ALONG: dict[str, Callable[[Any], Any]] = {
    **SAME_SHAPE,
    "running product": lambda v: jnp.cumprod(v, -1),
    "running product from the end": lambda v: jnp.cumprod(v[..., ::-1], -1)[..., ::-1],
    "running greatest": lambda v: jax.lax.cummax(v, v.ndim - 1),
    "running least": lambda v: -jax.lax.cummax(-v, v.ndim - 1),
    "running logsumexp": lambda v: jax.lax.cumlogsumexp(v, v.ndim - 1),
    "even places": lambda v: jnp.where(_is_even(v), v, number(v, 0)),
    "alternating": lambda v: jnp.where(_is_even(v), v, -v),
}
ALONG_REDUCED: dict[str, Callable[[Any], Any]] = {
    **REDUCE,
    "product": lambda v: v.prod(-1),
    "product by a scan": lambda v: jax.lax.scan(lambda c, t: (c * t, None), jnp.ones_like(v[..., 0]), v.T)[0],
    "greatest by a scan": lambda v: jax.lax.scan(lambda c, t: (jnp.maximum(c, t), None), v[..., 0], v.T)[0],
    "product but for the first": lambda v: v[..., 1:].prod(-1),
    "sum of even places": lambda v: v[..., ::2].sum(-1),
    "sum of odd places": lambda v: v[..., 1::2].sum(-1),
    "greatest of even places": lambda v: v[..., ::2].max(-1),
    "product of even places": lambda v: v[..., ::2].prod(-1),
}
"""With products, running maxima and strides, which cost more."""


def one(random: Random, size: int, along: bool = False) -> Expression:
    """A random expression of about so many operations; `along` an axis, there are more of them."""
    if size <= 0:
        return random.choice(_leaves())
    kind = random.random()
    if kind < 0.45:
        inner, (name, apply) = (
            one(random, size - 1, along),
            random.choice(list((ALONG if along else SAME_SHAPE).items())),
        )
        if not inner.shape:
            return inner
        return Expression(f"{name}({inner.text})", inner.shape, lambda *i: apply(inner.function(*i)))
    if kind < 0.75:
        left = one(random, (size - 1) // 2, along)
        right = next(
            (e for e in (one(random, (size - 1) // 2, along) for _ in range(12)) if e.shape == left.shape), left
        )
        name, both = random.choice(list(TWO_OF_ONE_SHAPE.items()))
        text = f"{name}({left.text}, {right.text})"
        return Expression(text, left.shape, lambda *i: both(left.function(*i), right.function(*i)))
    if kind < 0.9:
        inner, (name, reduce) = (
            one(random, size - 1, along),
            random.choice(list((ALONG_REDUCED if along else REDUCE).items())),
        )
        if not inner.shape:
            return inner
        shape = inner.shape.rpartition(",")[0]
        return Expression(f"{name}({inner.text})", shape, lambda *i: reduce(inner.function(*i)))
    matrix, vector = one(random, 0), one(random, size - 2, along)
    if vector.shape == "m":
        return Expression(f"a@({vector.text})", "n", lambda *i: i[2] @ vector.function(*i))
    if vector.shape == "n":
        return Expression(f"({vector.text})@a", "m", lambda *i: vector.function(*i) @ i[2])
    return matrix


SIZES = ((1, 1), (2, 1), (3, 2), (5, 7))


def inputs(sizes: tuple[int, int], seed: int, ties: bool) -> list[np.ndarray]:
    """Arguments at sizes n and m: normal random numbers, or small whole ones with many zeros and ties."""
    random = np.random.default_rng(seed)
    n, m = sizes
    shapes = [(n,), (n,), (n, m), (m,)]
    draw = (lambda s: random.integers(-1, 2, s).astype(np.float64)) if ties else random.standard_normal
    return [draw(shape) for shape in shapes]


def values(expression: Expression) -> list[np.ndarray]:
    """Its float64 values at all sizes, at inputs with and without ties."""
    found = []
    with jax.enable_x64(True):
        for number_, sizes in enumerate(SIZES):
            for ties in (False, True, True):
                arguments = inputs(sizes, 7 * number_ + len(found), ties)
                found.append(np.asarray(expression.function(*map(jnp.asarray, arguments))))
    return found


def differ(left: list[np.ndarray], right: list[np.ndarray]) -> bool:
    """Whether two lists of values differ anywhere where both are finite."""
    for u, v in zip(left, right, strict=True):
        both = np.isfinite(u) & np.isfinite(v)
        if not np.allclose(u[both], v[both], rtol=1e-7, atol=1e-7):
            return True
    return False
