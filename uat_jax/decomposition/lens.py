"""The words of every depth: what the final norm and the unembedding make of x_0, x_1, …, x_L (the logit lens)."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from uat_jax.errors import InputError
from uat_jax.networks.model import Model
from uat_jax.networks.padding import first_tokens, in_bucket, is_known


class Lens(NamedTuple):
    """The most probable words at each depth and token, the first one first."""

    words: jax.Array
    """Numbers of tokens, or of labels, (L + 1, N, k); N is 1 where the model reads one token alone."""
    logits: jax.Array
    """Their logits, (L + 1, N, k)."""


def logit_lens(
    model: Model,
    tokens: jax.Array,
    *,
    top: int = 5,
    at: int | None = None,
    precision: jax.lax.PrecisionLike = "highest",
) -> Lens:
    """The `top` largest logits of output(x_j) for j = 0, …, L and each of N tokens; those of x_L are the model's own.

    With `at` those of one token alone, −1 being the last: N is 1.  One depth after the other, so that no more than
    (N, V) logits are held at once.  Texts of nearly one length share a compiled program, as those of `decompose` do.

    Raises:
        InputError: a model without unembedding, tokens that it does not take, a `top` that is none of 1, …, V, or a
            token `at` that is not there.

    Source: nostalgebraist, "interpreting GPT: the logit lens" (2020).
    """
    tokens = model.check_tokens(tokens)
    if model.unembedding is None:
        raise InputError("got a model without unembedding, which has no logits; take one with a head")
    if not 1 <= top <= model.unembedding.shape[1]:
        raise InputError(f"got top = {top}, wanted 1 to {model.unembedding.shape[1]}, the vocabulary")
    if at is not None and not -len(tokens) <= at < len(tokens):
        raise InputError(f"got at = {at}, wanted −{len(tokens)} to {len(tokens) - 1}, the tokens")
    place = None if at is None else jnp.asarray(at % len(tokens))
    if model.architecture.image is not None or not is_known(model, tokens):
        return _lens(model, tokens, None, place, top, precision)
    found = _lens_of_length(model, *in_bucket(tokens, model.architecture.positions), place, top, precision)
    each = at is None and model.architecture.reads == "each"
    return Lens(*(first_tokens(array, len(tokens), 1) for array in found)) if each else found


def _lens(
    model: Model,
    tokens: jax.Array,
    length: jax.Array | None,
    at: jax.Array | None,
    top: int,
    precision: jax.lax.PrecisionLike,
) -> Lens:
    states = jnp.stack(model.states(tokens, length, precision=precision))
    if model.architecture.reads == "each" and at is not None:  # each token by itself
        states, length = states[:, at][:, None], None
    of = lambda x: jax.lax.top_k(jnp.atleast_2d(model.output(x, length, precision=precision)), top)
    logits, words = jax.lax.map(of, states)
    return Lens(words, logits)


_lens_of_length = jax.jit(_lens, static_argnames=("top", "precision"))
