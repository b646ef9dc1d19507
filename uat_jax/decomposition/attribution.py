"""How much every source contributes, token by token, to an output that is linear in x_L once its norms are frozen.

Contributions are the derivatives of the output by the weight of each source at each token (`Weighted`): one forward
pass and one pass back through the frozen layers, for all sources and tokens at once.  They add up to the output.
The token of a contribution is where the source acts: the input token, or the token at which a layer's activation or
a bias was added, from where the later layers carry it on.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal, NamedTuple, cast, get_args

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.decomposition.decomposition import Tokens, in_ulp
from uat_jax.decomposition.frozen import neurons
from uat_jax.decomposition.sources import By, Source, ends, head_sources, layer_sources, neuron_sources
from uat_jax.decomposition.streams import ByToken, Sorting, Streams, Weighted, as_array, normed, separate, streams_of
from uat_jax.decomposition.weighted import WeightedHeads, WeightedNeurons, WeightedTokens
from uat_jax.errors import InputError
from uat_jax.networks.model import Model
from uat_jax.networks.padding import checked_mask, first_tokens, in_bucket, is_known, texts
from uat_jax.networks.stack import Stack
from uat_jax.typing import PyTree

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


class Difference(NamedTuple):
    """One output minus another, as of the logits of two words."""

    first: Output
    second: Output

    def __call__(self, model: Model, features: jax.Array) -> jax.Array:
        """first − second.  Raises what they raise."""
        return self.first(model, features) - self.second(model, features)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Attribution:
    """Contributions of S sources at N tokens, and the output of the plain forward pass; batches have axes in front."""

    contributions: jax.Array
    """(S, N)."""
    output: jax.Array
    """What they add up to."""
    sources: tuple[Source, ...] = field(metadata={"static": True})
    """What the rows are, S of them."""

    @property
    def total(self) -> jax.Array:
        """The sum of all contributions."""
        return jnp.sum(self.contributions, axis=(-2, -1))

    @property
    def by_source(self) -> jax.Array:
        """(S,)."""
        return jnp.sum(self.contributions, axis=-1)

    @property
    def names(self) -> tuple[str, ...]:
        """What the sources are called."""
        return tuple(map(str, self.sources))

    @property
    def residual_ulp(self) -> jax.Array:
        """|total − output| in ULP of the largest contribution or the output: rounding."""
        parts = jnp.max(jnp.abs(self.contributions), axis=(-2, -1))
        largest = jnp.maximum(parts, jnp.abs(self.output))[..., None, None]
        return in_ulp((self.total - self.output)[..., None, None], largest)

    def __getitem__(self, name: str | Source) -> jax.Array:
        """The contributions of one source at each token, (N,).  Raises `InputError` for a name that is not there."""
        return self.contributions[..., _place(self.names, str(name)), :]


def _place(names: tuple[str, ...], name: str) -> int:
    if name in names:
        return names.index(name)
    near = get_close_matches(name, names, n=1, cutoff=0.0)[0]
    raise InputError(
        f"got the source {name!r}, wanted one of the {len(names)} from {names[0]!r} to {names[-1]!r}; nearest: {near!r}"
    )


def attribute(
    model: Model,
    tokens: Tokens,
    output: Output,
    mask: PyTree = None,
    *,
    by: By = "layer",
    precision: jax.lax.PrecisionLike = "highest",
) -> Attribution:
    """The contributions to one output of N tokens, with all norms and attention patterns frozen; they add up to it.

    | by | sources | what carries them to the output |
    |---|---|---|
    | "layer" | input, bias, the activation of each layer | frozen attentions and norms (Theorem 1) |
    | "head" | input, bias, the heads and the feed-forward network of each layer | residual connections, frozen norms |
    | "neuron" | input, bias, the attention and the neurons of each layer | residual connections, frozen norms |
    | "token" | input and bias, token by token | frozen attentions, norms and slopes of activations |

    By head and by neuron a contribution is direct: what the head writes, H_i (z W_V + b_V) W_O with its own value bias,
    or s_f W_2[f], without what later attentions make of it, for those are sources themselves.  By token activations are
    the lines that they are at the input, relu(u) = 1[u > 0] u, GELU(u) = Φ(u) u, and of a gated part σ(x G) is
    frozen and x U goes on; the row "input" then is the attribution to the input tokens, each with its position.

    Args:
        model: whose output it is.
        tokens: whole numbers, (N,); or a batch as `decompose` takes it: (B, N), rows of different lengths, or what a
            tokenizer returns.
        output: a `Logit`, a `Coordinate`, a `Direction`, a `Difference` of two, or any linear function of the same
            arguments.
        mask: which tokens are no padding, as the tokens; the output is that of the text which it leaves, whose tokens
            it counts, and padding contributes 0.
        by: one of the above.
        precision: of every matrix product.

    Returns:
        Contributions (S, N) with the names of their S sources, and the output; of a batch with an axis B in front.

    Raises:
        InputError: another `by`; tokens, words or features that there are not; an unusable mask.

    Example:
        >>> found = attribute(model, tokens, Difference(Logit(-1, paris), Logit(-1, london)), by="head")
        >>> found["layer 9 head 4"].sum()

    Source: direct logit attribution as in Elhage et al., "A Mathematical Framework for Transformer Circuits" (2021).
    """
    tokens, mask = texts(tokens, mask)
    of_batch = np.ndim(cast(Any, tokens)) == (2 if model.architecture.image is None else 4)
    if mask is not None:
        kept = np.asarray(checked_mask(mask, np.shape(cast(Any, tokens))))
        if of_batch:
            rows = zip(np.asarray(tokens), kept, strict=True)
            return _batch([attribute(model, row, output, of, by=by, precision=precision) for row, of in rows])
        found = attribute(model, jnp.asarray(tokens)[kept], output, by=by, precision=precision)
        places = np.zeros((len(found.sources), len(kept)), found.contributions.dtype)
        places[:, kept] = found.contributions
        return Attribution(jnp.asarray(places), found.output, found.sources)
    if of_batch:
        return _batch([attribute(model, row, output, by=by, precision=precision) for row in cast(Any, tokens)])
    _check_by(by)
    tokens = model.check_tokens(tokens)
    if model.architecture.image is None and is_known(model, tokens):
        found, plain = _in_bucket(model, tokens, output, by, precision)
        return Attribution(found, plain, sources(model, by))
    plain = output(model, model.features(model.hidden(tokens, precision=precision)))
    found = contributions(model, tokens, output, by=by, precision=precision)
    return Attribution(found, plain, sources(model, by))


def _batch(texts: Sequence[Attribution]) -> Attribution:
    """Attributions of texts of one length as one, with an axis more in front."""
    if not texts:
        raise InputError("got a batch without texts, wanted at least one")
    return jax.tree.map(lambda *arrays: jnp.stack(arrays), *texts)


def _in_bucket(
    model: Model, tokens: jax.Array, output: Output, by: By | Literal["depth"], precision: jax.lax.PrecisionLike
) -> tuple[jax.Array, jax.Array]:
    """The contributions of one text, filled up to a bucket so that no program is made for every length; and the output.

    The output is linear in the features: its derivative by them is all that the program has to know of it.
    """
    N = len(tokens)
    padded, length = in_bucket(tokens, model.architecture.positions)
    features = _features(model, padded, length, precision=precision)
    slope = _slope(model, output, jax.ShapeDtypeStruct((N, features.shape[1]), features.dtype))
    if slope is None:  # any linear function, compiled for every length
        slope = jax.grad(functools.partial(output, model))(first_tokens(features, N, 0))
    weights = np.zeros(features.shape, features.dtype)
    weights[:N] = slope
    plain, found = _pulled(model, padded, length, features, jnp.asarray(weights), by=by, precision=precision)
    return first_tokens(found, N, -1), plain


def _slope(model: Model, output: Output, features: jax.ShapeDtypeStruct) -> np.ndarray | None:
    """The derivative of an output by features (N, M), of those that are known here; raises what the output raises."""
    jax.eval_shape(functools.partial(output, model), features)
    slope = np.zeros(features.shape, features.dtype)
    match output:
        case Logit(token, word) if model.unembedding is not None:
            slope[token] = jax.lax.dynamic_index_in_dim(model.unembedding, word, 1, keepdims=False)
        case Coordinate(token, feature):
            slope[token, feature] = 1
        case Direction(vector):
            slope[:] = np.asarray(vector) / len(slope)
        case Difference(first, second):
            one, other = _slope(model, first, features), _slope(model, second, features)
            return None if one is None or other is None else one - other
        case _:
            return None
    return slope


@functools.partial(jax.jit, static_argnames="precision")
def _features(model: Model, tokens: jax.Array, length: jax.Array, *, precision: jax.lax.PrecisionLike) -> jax.Array:
    return model.features(model.hidden(tokens, length, precision=precision))


@functools.partial(jax.jit, static_argnames=("by", "precision"))
def _pulled(
    model: Model,
    tokens: jax.Array,
    length: jax.Array,
    features: jax.Array,
    weights: jax.Array,
    *,
    by: By | Literal["depth"],
    precision: jax.lax.PrecisionLike,
) -> tuple[jax.Array, jax.Array]:
    """Σ weights ⊙ features over the text, and the contributions to it."""
    output: Output = lambda model, features: jnp.vdot(features, weights, precision="highest")
    plain = output(model, jnp.where(jnp.arange(len(features))[:, None] < length, features, 0))
    if by == "depth":
        return plain, contributions_by_depth(model, tokens, output, length=length, precision=precision)
    return plain, contributions(model, tokens, output, by=by, length=length, precision=precision)


def attribute_by_depth(
    model: Model, tokens: jax.Array, output: Output, *, precision: jax.lax.PrecisionLike = "highest"
) -> Attribution:
    """The attribution to the tokens of every depth: (L + 1, 2, N), the state x_j and the biases behind it.

    Row j holds what each token of x_j contributes along the linear path of `attribute(…, by="token")`, x_0 being the
    embedded tokens before any norm, and the biases of what follows, at the token where they are added.  Each of the
    L + 1 adds up to the output.  Raises what `attribute` raises.
    """
    tokens = model.check_tokens(tokens)
    if model.architecture.image is None and is_known(model, tokens):
        found, plain = _in_bucket(model, tokens, output, "depth", precision)
        return Attribution(found, jnp.broadcast_to(plain, (len(found),)), sources(model, "token"))
    plain = output(model, model.features(model.hidden(tokens, precision=precision)))
    found = contributions_by_depth(model, tokens, output, precision=precision)
    return Attribution(found, jnp.broadcast_to(plain, (len(found),)), sources(model, "token"))


def sources(model: Model, by: By) -> tuple[Source, ...]:
    """What the rows of the contributions are.  Raises `InputError` for another `by`."""
    _check_by(by)
    blocks, L = model.blocks, len(model.blocks)
    blocks = [blocks.shapes] * L if isinstance(blocks, Stack) else blocks
    match by:
        case "layer":
            return layer_sources(L)
        case "head":
            return head_sources([block.heads for block in blocks])
        case "neuron":
            attends = [block.heads > 0 for block in blocks]
            return neuron_sources([neurons(block.feed_forward) for block in blocks], attends)
        case "token":
            return ends()


def contributions(
    model: Model,
    tokens: jax.Array,
    output: Output,
    *,
    by: By = "layer",
    length: jax.Array | None = None,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """The contributions alone, (N,) → (S, N): a pure function, for `jax.jit` and `jax.vmap`.

    With a `length` only the first so many tokens are text, and the output must not depend on the features of others.
    """
    _check_by(by)
    if by == "token":
        return contributions_by_depth(model, tokens, output, length=length, precision=precision)[0]
    if by == "layer":
        features = functools.partial(weighted_features, model, tokens, length=length, precision=precision)
        weighted = lambda weights: output(model, features(weights))
        return jax.grad(weighted)(jnp.ones((len(model.blocks) + 2, len(tokens)), model.embedding.tokens.dtype))
    of = {"head": WeightedHeads, "neuron": WeightedNeurons}[by]

    def directly(weights: _Weights) -> jax.Array:
        sorting = of(*weights)
        streams = streams_of(model, tokens, sorting, length=length, precision=precision)
        return output(model, _finish(model, streams, sorting)[0])

    found = jax.grad(directly)(_ones(model, by, len(tokens)))
    return jnp.concatenate([found.ends, *found.layers])


class _Weights(NamedTuple):
    """What `WeightedDirectly` takes."""

    ends: jax.Array
    layers: tuple[jax.Array, ...] | jax.Array


def _ones(model: Model, by: By, tokens: int) -> _Weights:
    """A weight of 1 for each source at each token; those of layers one above the other are one array."""
    one = functools.partial(jnp.ones, dtype=model.embedding.tokens.dtype)
    counts = Counter(source.layer for source in sources(model, by))
    rows = [counts[j] for j in range(1, len(model.blocks) + 1)]
    if isinstance(model.blocks, Stack):
        return _Weights(one((2, tokens)), one((len(rows), rows[0], tokens)))
    return _Weights(one((2, tokens)), tuple(one((R, tokens)) for R in rows))


def contributions_by_depth(
    model: Model,
    tokens: jax.Array,
    output: Output,
    *,
    length: jax.Array | None = None,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """The contributions of `attribute_by_depth` alone, (N,) → (L + 1, 2, N); `length` as for `contributions`."""
    L, dtype = len(model.blocks), model.embedding.tokens.dtype

    def weighted(states: jax.Array, biases: jax.Array) -> jax.Array:
        sorting = WeightedTokens(states, biases)
        streams = streams_of(model, tokens, sorting, length=length, precision=precision)
        return output(model, _finish(model, streams, sorting.at(L + 1))[0])

    ones = [jnp.ones((rows, len(tokens)), dtype) for rows in (L + 1, L + 2)]
    states, biases = jax.grad(weighted, argnums=(0, 1))(*ones)
    behind = jnp.cumsum(biases[::-1], axis=0)[::-1]  # row k: the biases of k and of all that follows
    return jnp.stack([states, jnp.concatenate([behind[:1], behind[2:]])], axis=1)


def weighted_features(
    model: Model,
    tokens: jax.Array,
    weights: jax.Array,
    *,
    length: jax.Array | None = None,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """The features with every source weighted, (L + 2, N) → (N, M): right, and linear, near weights of 1."""
    sorting = Weighted(weights)
    streams = streams_of(model, tokens, sorting, length=length, precision=precision)
    return _finish(model, streams, sorting)[0]


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
    rows = sources(model, "layer")
    one, other = (Attribution(split(text, to), cosine, rows) for text, to in zip(texts, towards, strict=True))
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


def _check_by(by: str) -> None:
    if by not in get_args(By):
        raise InputError(f"got by={by!r}, wanted one of {', '.join(map(repr, get_args(By)))}")
