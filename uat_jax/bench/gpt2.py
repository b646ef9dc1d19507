"""Two writings of one GPT-2 in plain JAX that share nothing but the layout of their weights, and two wrong twins.

`fused` takes all heads at once, with masked rows and `jax.nn.softmax`; `by_head` one head and one row at a time, with
unshifted exponentials.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.bench.models import check_heads

HEADS, VOCABULARY, EPSILON = 4, 32, 1e-5

Weights = Mapping[str, Any]
Writing = Callable[[Weights, np.ndarray], jax.Array]
"""(weights, token numbers) → logits, shape (tokens, vocabulary)."""


def draw(depth: int, features: int, tokens: int) -> Weights:
    """Random weights; qkv holds W_q, W_k, W_v next to each other, each with the heads next to each other.

    Raises `InputError` if the `HEADS` do not divide the features.
    """
    check_heads(features, HEADS)
    random, D = np.random.default_rng(0), features
    array = lambda *shape: random.normal(0, 0.1, shape).astype(np.float32)
    norm = lambda: {"gamma": array(D), "beta": array(D)}
    linear = lambda rows, columns: {"w": array(rows, columns), "b": array(columns)}

    def block() -> Weights:
        parts = {"qkv": linear(D, 3 * D), "out": linear(D, D), "up": linear(D, 4 * D), "down": linear(4 * D, D)}
        return {"norm1": norm(), "norm2": norm(), **parts}

    embedding = {"tokens": array(VOCABULARY, D), "places": array(tokens, D)}
    return {**embedding, "blocks": [block() for _ in range(depth)], "norm": norm()}


def last_bias(weights: Weights) -> jax.Array:
    """What β of the last norm adds to the logits of every token, (vocabulary,)."""
    return jnp.matmul(weights["tokens"], weights["norm"]["beta"], precision="highest")


def text(tokens: int) -> np.ndarray:
    """Token numbers, shape (tokens,)."""
    return (7 * np.arange(tokens) + 3) % VOCABULARY


def _linear(p: Weights, x: jax.Array) -> jax.Array:
    """XW + b."""
    return jnp.matmul(x, p["w"], precision="highest") + p["b"][None]


def fused(weights: Weights, text: np.ndarray) -> jax.Array:
    """All heads at once, masked rows, the softmax of `jax.nn`."""
    x = weights["tokens"][text] + weights["places"]
    for p in weights["blocks"]:
        x = x + _attention(p, _normalise(p["norm1"], x))
        x = x + _linear(p["down"], jax.nn.gelu(_linear(p["up"], _normalise(p["norm2"], x)), approximate=True))
    return jnp.matmul(_normalise(weights["norm"], x), weights["tokens"].T, precision="highest")


def _normalise(p: Weights, x: jax.Array) -> jax.Array:
    variance = jnp.var(x, axis=-1, keepdims=True)
    x = (x - jnp.mean(x, axis=-1, keepdims=True)) * jax.lax.rsqrt(variance + EPSILON)
    return x * p["gamma"][None] + p["beta"][None]


def _attention(p: Weights, x: jax.Array) -> jax.Array:
    length, width = x.shape
    q, k, v = _linear(p["qkv"], x).reshape(length, 3, HEADS, width // HEADS).transpose(1, 2, 0, 3)
    scores = jnp.einsum("hid,hjd->hij", q, k, precision="highest") / math.sqrt(width // HEADS)
    past = np.tril(np.ones((1, length, length), bool))
    weights = jax.nn.softmax(jnp.where(past, scores, -jnp.inf), axis=-1)
    mixed = jnp.einsum("hij,hjd->ihd", weights, v, precision="highest")
    return _linear(p["out"], mixed.reshape(length, width))


def by_head(weights: Weights, text: np.ndarray) -> jax.Array:
    """Every head alone, every row as long as its past, exponentials as they are."""
    x = jnp.stack([weights["tokens"][token] for token in text]) + weights["places"]
    for p in weights["blocks"]:
        x = x + p["out"]["b"][None] + sum(_head(p, h, _centred(p["norm1"], x)) for h in range(HEADS))
        u = _linear(p["up"], _centred(p["norm2"], x))
        x = x + _linear(p["down"], u * (1 + jnp.tanh(math.sqrt(2 / math.pi) * (u + 0.044715 * u**3))) / 2)
    return jnp.einsum("id,vd->iv", _centred(weights["norm"], x), weights["tokens"], precision="highest")


def _centred(p: Weights, x: jax.Array) -> jax.Array:
    centred = x - (jnp.sum(x, axis=1) / x.shape[1])[:, None]
    deviation = jnp.sqrt(jnp.mean(centred * centred, axis=1) + EPSILON)
    return p["beta"][None] + p["gamma"][None] * centred / deviation[:, None]


def _head(p: Weights, h: int, x: jax.Array) -> jax.Array:
    length, width = x.shape
    d = width // HEADS
    part = lambda i: slice(i * width + h * d, i * width + (h + 1) * d)
    of = lambda i: _linear({"w": p["qkv"]["w"][:, part(i)], "b": p["qkv"]["b"][part(i)]}, x)
    q, k, v = of(0) * d**-0.5, of(1), of(2)
    rows = []
    for i in range(length):
        weights = jnp.exp(jnp.matmul(k[: i + 1], q[i], precision="highest"))
        rows.append(jnp.matmul(weights / jnp.sum(weights), v[: i + 1], precision="highest"))
    return jnp.matmul(jnp.stack(rows), p["out"]["w"][h * d : (h + 1) * d], precision="highest")


def swapped(weights: Weights, text: np.ndarray) -> jax.Array:
    """`by_head` with the value and output weights of the last layer swapped."""
    width = weights["places"].shape[1]
    *before, last = weights["blocks"]
    qkv, out = last["qkv"]["w"], last["out"]["w"]
    joined = jnp.concatenate([qkv[:, : 2 * width], out], axis=1)
    wrong = {**last, "qkv": {**last["qkv"], "w": joined}, "out": {**last["out"], "w": qkv[:, 2 * width :]}}
    return by_head({**weights, "blocks": [*before, wrong]}, text)


def shifted(weights: Weights, text: np.ndarray) -> jax.Array:
    """`by_head` with one weight of the first layer larger by 2⁻³⁰."""
    first, *rest = weights["blocks"]
    wrong = {**first, "up": {**first["up"], "w": jnp.asarray(first["up"]["w"]).at[0, 0].add(2.0**-30)}}
    return by_head({**weights, "blocks": [wrong, *rest]}, text)


TWINS: Sequence[Writing] = (swapped, shifted)
