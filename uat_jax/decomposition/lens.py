"""The words of every depth: what the final norm and the unembedding make of x_0, x_1, …, x_L (the logit lens)."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from uat_jax.errors import InputError
from uat_jax.networks.model import Model


class Lens(NamedTuple):
    """The most probable words at each depth and token, the first one first."""

    words: jax.Array
    """Token numbers, (L + 1, N, k)."""
    logits: jax.Array
    """Their logits, (L + 1, N, k)."""


def logit_lens(model: Model, tokens: jax.Array, *, top: int = 5, precision: jax.lax.PrecisionLike = "highest") -> Lens:
    """The `top` largest logits of output(x_j) for j = 0, …, L and each of N tokens; those of x_L are the model's own.

    One depth after the other, so that no more than (N, V) logits are held at once.

    Raises:
        InputError: a model without unembedding, tokens that it does not take, or a `top` that is none of 1, …, V.

    Source: nostalgebraist, "interpreting GPT: the logit lens" (2020).
    """
    tokens = model.check_tokens(tokens)
    if model.unembedding is None:
        raise InputError("got a model without unembedding, which has no logits; take one with a head")
    if not 1 <= top <= model.unembedding.shape[1]:
        raise InputError(f"got top = {top}, wanted 1 to {model.unembedding.shape[1]}, the vocabulary")
    of = lambda x: jax.lax.top_k(model.output(x, precision=precision), top)
    logits, words = jax.lax.map(of, jnp.stack(model.states(tokens, precision=precision)))
    return Lens(words, logits)
