"""How much every source contributes, token by token, to an output that is linear in x_L once its norms are frozen.

Contributions are the derivatives of the output by the weight of each source at each token (`Weighted`): one forward
pass and one pass back through the frozen layers, for all sources and tokens at once.  They add up to the output.
The token of a contribution is where the source acts: the input token, or the token at which a layer's activation or
a bias was added, from where the later layers carry it on.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.decomposition.decomposition import names
from uat_jax.decomposition.streams import ByToken, Sorting, Streams, Weighted, as_array, normed, separate, streams_of
from uat_jax.errors import InputError
from uat_jax.networks.model import Model
from uat_jax.networks.padding import checked_mask

Output = Callable[[Model, jax.Array], jax.Array]
"""(model, features behind the final norm (N, M)) → a number, linear in the features."""


class Logit(NamedTuple):
    """The logit of a word of the vocabulary at a token; −1 is the last token."""

    token: int
    word: int

    def __call__(self, model: Model, features: jax.Array) -> jax.Array:
        """⟨features of the token, column of the unembedding⟩.  Raises `InputError` where there is none."""
        if model.unembedding is None:
            raise InputError("got a model without unembedding, which has no logits; ask for a Coordinate")
        _check("word", self.word, model.unembedding.shape[1])
        _check("token", self.token, len(features))
        return jnp.vdot(features[self.token], model.unembedding[:, self.word], precision="highest")


class Coordinate(NamedTuple):
    """One feature of one token."""

    token: int
    feature: int

    def __call__(self, model: Model, features: jax.Array) -> jax.Array:
        """The entry.  Raises `InputError` where there is none."""
        _check("token", self.token, len(features))
        _check("feature", self.feature, features.shape[1])
        return features[self.token, self.feature]


class Direction(NamedTuple):
    """The product of the mean over the tokens with a fixed vector, (M,)."""

    vector: jax.Array

    def __call__(self, model: Model, features: jax.Array) -> jax.Array:
        """⟨mean of the features, vector⟩."""
        return jnp.vdot(jnp.mean(features, axis=0), self.vector, precision="highest")


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Attribution:
    """Contributions of L + 2 sources at N tokens, and the output of the plain forward pass."""

    contributions: jax.Array
    """(L + 2, N), the sources in the order of `names`."""
    output: jax.Array
    """What they add up to."""

    @property
    def total(self) -> jax.Array:
        """The sum of all contributions."""
        return jnp.sum(self.contributions, axis=(-2, -1))

    @property
    def by_source(self) -> jax.Array:
        """(L + 2,)."""
        return jnp.sum(self.contributions, axis=-1)

    @property
    def names(self) -> tuple[str, ...]:
        """What the sources are called."""
        return names(self.contributions.shape[-2] - 2)


def attribute(
    model: Model,
    tokens: jax.Array,
    output: Output,
    mask: Any = None,
    *,
    precision: jax.lax.PrecisionLike = "highest",
) -> Attribution:
    """The contributions to one output of N tokens, with the final norm frozen.

    `output` is a `Logit`, a `Coordinate`, a `Direction`, or any linear function of the same arguments.  With a mask
    (N,) it is that of the text which the mask leaves, whose tokens it counts; padding contributes 0.
    Raises `InputError` for tokens, words or features that there are not, and for an unusable mask.
    """
    if mask is not None:
        kept = np.asarray(checked_mask(mask, np.shape(tokens)))
        found = attribute(model, jnp.asarray(tokens)[kept], output, precision=precision)
        places = np.zeros((len(found.names), len(kept)), found.contributions.dtype)
        places[:, kept] = found.contributions
        return Attribution(jnp.asarray(places), found.output)
    tokens = model.check_tokens(tokens)
    plain = output(model, model.features(model.hidden(tokens, precision=precision)))
    return Attribution(contributions(model, tokens, output, precision=precision), plain)


def contributions(
    model: Model, tokens: jax.Array, output: Output, *, precision: jax.lax.PrecisionLike = "highest"
) -> jax.Array:
    """The contributions alone, (N,) → (L + 2, N): a pure function, for `jax.jit` and `jax.vmap`."""
    weighted = lambda weights: output(model, weighted_features(model, tokens, weights, precision=precision))
    return jax.grad(weighted)(jnp.ones((len(model.blocks) + 2, len(tokens)), model.embedding.tokens.dtype))


def weighted_features(
    model: Model, tokens: jax.Array, weights: jax.Array, *, precision: jax.lax.PrecisionLike = "highest"
) -> jax.Array:
    """The features with every source weighted, (L + 2, N) → (N, M): right, and linear, near weights of 1."""
    sorting = Weighted(weights)
    return _finish(model, streams_of(model, tokens, sorting, precision=precision), sorting)[0]


def features_by_token(model: Model, tokens: jax.Array, *, precision: jax.lax.PrecisionLike = "highest") -> jax.Array:
    """The input paths of all tokens, then all the rest: (N,) → (N + 1, N, M), which add up to the features.

    N streams through every attention: for short texts.
    """
    sorting = ByToken()
    return _finish(model, streams_of(model, tokens, sorting, precision=precision), sorting)[0]


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Similarity:
    """The cosine of the mean features of two texts, as a sum over pairs of parts."""

    contributions: jax.Array
    """(parts of the first, parts of the second)."""
    output: jax.Array
    """The cosine by the plain forward pass."""

    @property
    def total(self) -> jax.Array:
        """The sum of all contributions."""
        return jnp.sum(self.contributions)


def similarity(
    model: Model,
    first: jax.Array,
    second: jax.Array,
    *,
    by_token: bool = False,
    precision: jax.lax.PrecisionLike = "highest",
) -> Similarity:
    """⟨mean of part s of the first, mean of part t of the second⟩ over the product of the norms of both means.

    Parts are the L + 2 sources, or with `by_token` the input paths of the N tokens and the rest.
    """
    texts = model.check_tokens(first), model.check_tokens(second)
    split = features_by_token if by_token else _features_by_source
    parts = [jnp.mean(split(model, text, precision=precision), axis=1) for text in texts]
    plain = [jnp.mean(model.features(model.hidden(text, precision=precision)), axis=0) for text in texts]
    product = jnp.sqrt(jnp.sum(jnp.square(plain[0])) * jnp.sum(jnp.square(plain[1])))
    pairs = jnp.matmul(parts[0], parts[1].T, precision="highest") / product
    return Similarity(pairs, jnp.vdot(*plain, precision="highest") / product)


def similarity_by_token(
    model: Model, first: jax.Array, second: jax.Array, *, precision: jax.lax.PrecisionLike = "highest"
) -> tuple[Attribution, Attribution]:
    """The cosine of the mean features m, m' of two texts, as a sum over sources and tokens of either one.

    Of the first text the contributions to ⟨m, m' / |m| |m'|⟩ with the second factor held fixed, (L + 2, N); of the
    second those to ⟨m', m / |m| |m'|⟩, (L + 2, N').  Both add up to the cosine.
    """
    texts = [model.check_tokens(tokens) for tokens in (first, second)]
    means = [jnp.mean(model.features(model.hidden(text, precision=precision)), axis=0) for text in texts]
    product = jnp.sqrt(jnp.sum(jnp.square(means[0])) * jnp.sum(jnp.square(means[1])))
    cosine = jnp.vdot(*means, precision="highest") / product
    towards = [Direction(mean / product) for mean in reversed(means)]
    split = functools.partial(contributions, model, precision=precision)
    one, other = (Attribution(split(text, to), cosine) for text, to in zip(texts, towards, strict=True))
    return one, other


def _features_by_source(model: Model, tokens: jax.Array, *, precision: jax.lax.PrecisionLike) -> jax.Array:
    sorting = separate(model)
    return as_array(_finish(model, streams_of(model, tokens, sorting, precision=precision), sorting))


def _finish(model: Model, streams: Streams, sorting: Sorting) -> Streams:
    """The streams behind the final norm, if there is one."""
    return streams if model.final_norm is None else normed(model.final_norm, streams, model.epsilon, sorting)


def _check(what: str, number: int, size: int) -> None:
    if not -size <= number < size:
        raise InputError(f"got {what} {number}, wanted −{size} to {size - 1}; choose one of them")
