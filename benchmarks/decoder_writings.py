"""A decoder in two honest writings, as one finds them: whole arrays against loops over heads and tokens.

`fused` multiplies by the weights of queries, keys and values at once, masks by `where`, and takes variances by moments.
`by_parts` goes head by head and row by row over what a token may see, centres before it squares, and writes GELU out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jax import lax

product = functools.partial(jnp.matmul, precision="highest")
einsum = functools.partial(jnp.einsum, precision="highest")

EPSILON = 1e-5
"""What is added to a variance."""

Weights = Mapping[str, jax.Array]
"""The weights of one layer."""

Layer = Callable[[jax.Array, Weights, int], jax.Array]
"""A layer of tokens (T, D), weights and the number of heads."""


@dataclass(frozen=True)
class Size:
    """layers: how many.  width: D, of each token.  heads: of attention.  tokens: T, the length of the input."""

    layers: int
    width: int
    heads: int
    tokens: int = 8

    @property
    def specs(self) -> tuple[list[dict[str, jax.ShapeDtypeStruct]], jax.ShapeDtypeStruct]:
        """The shapes of the weights of all layers, and of the input, float32."""
        d, spec = self.width, lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)
        vectors = {name: spec(1, d) for name in ("gain1", "shift1", "gain2", "shift2", "out_bias", "down_bias")}
        matrices = {"qkv": spec(d, 3 * d), "out": spec(d, d), "up": spec(d, 4 * d), "down": spec(4 * d, d)}
        layer = {**vectors, **matrices, "qkv_bias": spec(1, 3 * d), "up_bias": spec(1, 4 * d)}
        return [layer] * self.layers, spec(self.tokens, d)


def fused(x: jax.Array, w: Weights, heads: int) -> jax.Array:
    """One layer, all heads and tokens at once."""
    tokens, width = x.shape

    def norm(x: jax.Array, gain: jax.Array, shift: jax.Array) -> jax.Array:
        mean = x.mean(-1, keepdims=True)
        variance = (x * x).mean(-1, keepdims=True) - mean * mean
        return (x - mean) * lax.rsqrt(variance + EPSILON) * gain + shift

    split = lambda a: a.reshape(tokens, heads, -1).transpose(1, 0, 2)
    q, k, v = map(split, jnp.split(product(norm(x, w["gain1"], w["shift1"]), w["qkv"]) + w["qkv_bias"], 3, -1))
    scores = einsum("htd,hsd->hts", q, k) / (width // heads) ** 0.5
    weights = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((tokens, tokens), bool)), scores, -jnp.inf), -1)
    mixed = einsum("hts,hsd->htd", weights, v).transpose(1, 0, 2).reshape(tokens, width)
    x = x + product(mixed, w["out"]) + w["out_bias"]
    inner = jax.nn.gelu(product(norm(x, w["gain2"], w["shift2"]), w["up"]) + w["up_bias"])
    return x + product(inner, w["down"]) + w["down_bias"]


def by_parts(x: jax.Array, w: Weights, heads: int) -> jax.Array:
    """The same layer, head by head and token by token."""
    tokens, width = x.shape
    size = width // heads

    def norm(x: jax.Array, gain: jax.Array, shift: jax.Array) -> jax.Array:
        centred = x - x.mean(-1, keepdims=True)
        return gain * (centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + EPSILON)) + shift

    y, total = norm(x, w["gain1"], w["shift1"]), w["out_bias"]
    for h in range(heads):
        columns = [slice(i * width + h * size, i * width + (h + 1) * size) for i in range(3)]
        q, k, v = (product(y, w["qkv"][:, part]) + w["qkv_bias"][:, part] for part in columns)
        rows = []
        for t in range(tokens):
            scores = product(k[: t + 1], q[t]) * (1 / size**0.5)
            e = jnp.exp(scores - scores.max())
            rows.append(product(e / e.sum(), v[: t + 1]))
        total = total + product(jnp.stack(rows), w["out"][h * size : (h + 1) * size])
    x = x + total
    u = product(norm(x, w["gain2"], w["shift2"]), w["up"]) + w["up_bias"]
    inner = 0.5 * u * (1 + jnp.tanh((2 / jnp.pi) ** 0.5 * (u + 0.044715 * u**3)))
    return x + (product(inner, w["down"]) + w["down_bias"])


def decoder(layers: Sequence[Layer], heads: int) -> Callable[[Sequence[Weights], jax.Array], jax.Array]:
    """The function of all weights and the input; one writing for each layer."""

    def apply(weights: Sequence[Weights], x: jax.Array) -> jax.Array:
        for layer, w in zip(layers, weights, strict=True):
            x = layer(x, w, heads)
        return x

    return apply
