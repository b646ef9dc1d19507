"""A language model: token numbers in, features of each token, logits or scores of labels out (GPT-2, BERT, Llama)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from uat_jax.errors import InputError
from uat_jax.networks.activations import Activation
from uat_jax.networks.block import (
    Block,
    BlockOptions,
    attention_of,
    lone_block,
    parallel_block,
    post_norm_block,
    pre_norm_block,
)
from uat_jax.networks.decoder import Embedding, embed
from uat_jax.networks.masks import causal_mask, padding_mask, sliding_window_mask
from uat_jax.networks.multihead import PLAIN, Scoring
from uat_jax.networks.norms import Norm, normalise
from uat_jax.networks.padding import Padding
from uat_jax.networks.patches import Image
from uat_jax.networks.positions import alibi, alibi_slopes, distance_buckets
from uat_jax.networks.rope_scaling import Rope
from uat_jax.networks.shapes import check_some_layers
from uat_jax.networks.stack import Stack, are_alike, carry, stack
from uat_jax.typing import PyTree

BLOCKS: Mapping[str, Callable[[Block, jax.Array, BlockOptions], jax.Array]] = {
    "pre-norm": pre_norm_block,
    "post-norm": post_norm_block,
    "parallel": parallel_block,
    "lone": lone_block,
}


DEEP = 12
"""From so many layers on a model that is read from a folder keeps them one above the other."""


class Affine(NamedTuple):
    """x W + b behind the embedding (ALBERT, ELECTRA)."""

    matrix: jax.Array
    """W, (e, M)."""
    bias: jax.Array
    """b, (M,)."""


class Head(NamedTuple):
    """norm(σ(x W + b)) W_U + b_U: what makes logits or scores of labels of x_L, and is not linear in it."""

    matrix: jax.Array
    """W, (M, e)."""
    bias: jax.Array
    """b, (e,)."""
    norm: Norm | None
    out: jax.Array
    """W_U, (e, V)."""
    out_bias: jax.Array | None
    """b_U, (V,)."""


class Distances(NamedTuple):
    """A score for each head and bucket of distances (T5, MPNet)."""

    scores: jax.Array
    """(buckets, h)."""


@dataclass(frozen=True)
class Architecture:
    """What a model does with its parameters.

    ``family``: the name in its config.  ``kind``: one of `BLOCKS`.  ``activation``: σ of the feed-forward.
    ``epsilon``: of the norms.  ``causal``: no token sees a later one.  ``window``: how many tokens it sees, its own
    included (None: all).  ``rope``: base of RoPE's angles, or all of what is known of them (None: none).
    ``positions``: the most tokens there can be.  ``padding``: the tokens that are no words.  ``scale``: what scores are
    multiplied by (None: 1/√d); ``cap``: their soft cap; ``alibi``: whether distances are taken from them;
    ``farthest``: the distance from which on all `Distances` are one; ``together``: whether a norm of queries or keys is
    one over all heads.  ``top``: how many experts count; ``whole``: whether their gates add up to 1.
    ``reads``: whether the output is that of each token or of the first or last one alone.  ``head``: σ of a `Head`.
    ``logit_cap``: the soft cap of the logits.  ``image``: which images it takes in place of token numbers.

    Where layers differ in it, ``window`` or ``rope`` is a tuple with one entry for each layer.
    """

    family: str
    kind: Literal["pre-norm", "post-norm", "parallel", "lone"]
    activation: Activation
    epsilon: float
    causal: bool
    positions: int
    window: int | None | tuple[int | None, ...] = None
    rope: float | Rope | None | tuple[float | Rope | None, ...] = None
    padding: Padding = Padding()
    scale: float | None = None
    cap: float | None = None
    alibi: bool = False
    farthest: int = 128
    together: bool = False
    top: int | None = None
    whole: bool = True
    reads: Literal["each", "first", "last"] = "each"
    head: Activation | None = None
    logit_cap: float | None = None
    image: Image | None = None

    def attends(self, layer: int) -> tuple[int | None, Rope | None]:
        """Window and RoPE of a layer, 1, …, L."""
        window = self.window[layer - 1] if isinstance(self.window, tuple) else self.window
        rope = self.rope[layer - 1] if isinstance(self.rope, tuple) else self.rope
        return window, Rope(float(rope)) if isinstance(rope, int | float) else rope

    def only(self, layers: Sequence[int]) -> Architecture:
        """The architecture of a model which has only some of the layers 1, …, L."""
        kept = lambda of: tuple(of[layer - 1] for layer in layers) if isinstance(of, tuple) else of
        return replace(self, window=kept(self.window), rope=kept(self.rope))


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Model:
    """x_0 = embed(tokens), x_L = blocks(x_0), output = final norm and unembedding or head where there are any.

    ``embedding_norm`` and then ``affine`` follow the embedding; ``final_norm`` and ``unembedding`` (M, V), or a
    ``head``, follow the last block; a model without either gives the features of each token.  ``distances`` are added
    to the scores of all layers, ``logit_bias`` (V,) to the logits.
    """

    embedding: Embedding
    blocks: tuple[Block, ...] | Stack[Block]
    embedding_norm: Norm | None
    final_norm: Norm | None
    unembedding: jax.Array | None
    architecture: Architecture = field(metadata={"static": True})
    affine: Affine | None = None
    distances: Distances | None = None
    head: Head | None = None
    logit_bias: jax.Array | None = None

    def stacked(self) -> Model:
        """The model with its blocks one above the other: a loop, compiled in a time that does not grow with depth.

        Raises what `stack` raises where the blocks have different shapes.
        """
        return replace(self, blocks=stack(tuple(self.blocks)))

    def compiled_soon(self) -> Model:
        """With `DEEP` layers or more that are alike, their loop; else as it is: so `uat_jax.load_model` gives it.

        From there on a loop compiles in less time and takes no longer to run (`uat-jax bench calls --full`).
        """
        layers = range(1, len(self.blocks) + 1)
        amplitudes = {1.0 if rope is None else rope.amplitude for _, rope in map(self.architecture.attends, layers)}
        pays = len(self.blocks) >= DEEP and len(amplitudes) == 1
        return self.stacked() if pays and not isinstance(self.blocks, Stack) and are_alike(self.blocks) else self

    def embed(self, tokens: jax.Array) -> jax.Array:
        """x_0, (N,) → (N, M)."""
        x = embed(self.embedding, tokens)
        if self.embedding_norm is not None:
            x = normalise(self.embedding_norm, x, epsilon=self.epsilon)
        if self.affine is None:
            return x
        return jnp.matmul(x, self.affine.matrix, precision="highest") + self.affine.bias[None]

    @property
    def width(self) -> int:
        """M, the features of each token."""
        return (self.embedding.tokens if self.affine is None else self.affine.matrix).shape[1]

    @property
    def epsilon(self) -> float:
        """ε of the norms."""
        return self.architecture.epsilon

    def options(
        self,
        tokens: int,
        precision: jax.lax.PrecisionLike = "highest",
        *,
        layer: int = 1,
        length: jax.Array | None = None,
    ) -> BlockOptions:
        """Mask and positions of a layer for N tokens, of which the first `length` are no padding (all if left out).

        Raises `InputError` for too many tokens, `ShapeError` for no blocks.
        """
        of, (window, rope) = self.architecture, self.architecture.attends(layer)
        check_some_layers(self.blocks)
        if tokens > of.positions:
            raise InputError(
                f"got {tokens} tokens, wanted at most {of.positions}, the positions of the model; cut them"
            )
        if of.kind == "lone":
            return BlockOptions(of.activation, PLAIN, of.top, of.whole, of.epsilon, precision)
        mask = causal_mask(tokens) if of.causal else None
        if mask is not None and window is not None:
            mask = mask & sliding_window_mask(tokens, window)
        if length is not None and mask is None:  # behind a causal mask no text sees what comes behind it
            mask = padding_mask(tokens, tokens, length)
        query = attention_of(self.blocks[0]).query
        width, dtype = query.shape[-1], query.dtype
        scoring = Scoring(
            mask,
            self._distances(tokens, dtype),
            None if rope is None else rope.angles(tokens, width, dtype, length),
            of.scale,
            1.0 if rope is None else rope.amplitude,
            of.cap,
            of.epsilon,
            of.together,
        )
        return BlockOptions(of.activation, scoring, of.top, of.whole, of.epsilon, precision)

    def _distances(self, tokens: int, dtype: Any) -> jax.Array | None:
        """What is added to the scores, (h, N, N)."""
        if self.distances is not None:
            table = self.distances.scores
            return jnp.moveaxis(table[distance_buckets(tokens, len(table), self.architecture.farthest)], -1, 0)
        if not self.architecture.alibi:
            return None
        return alibi(alibi_slopes(self.blocks[0].heads, dtype), tokens)

    def schedule(
        self, tokens: int, precision: jax.lax.PrecisionLike = "highest", length: jax.Array | None = None
    ) -> Callable[[PyTree], BlockOptions]:
        """Number of a layer, traced if the blocks are a stack, → its `options`."""
        pairs = [self.architecture.attends(layer) for layer in range(1, len(self.blocks) + 1)]
        kinds = list(dict.fromkeys(pairs))
        every = [self.options(tokens, precision, layer=pairs.index(kind) + 1, length=length) for kind in kinds]
        if len(kinds) <= 1:
            only = every[0] if every else self.options(tokens, precision, length=length)
            return lambda layer: only
        numbers = np.array([kinds.index(pair) for pair in pairs])
        return lambda layer: _chosen(every, numbers, layer)

    def check_tokens(self, tokens: Any) -> jax.Array:
        """`tokens` as the (N,) token numbers that the model takes, int32, sharded as they are.

        Raises `InputError` unless they are whole numbers 0, …, V − 1, at least one and at most as many as positions.
        Inside `jax.jit` only dtype and number can be seen.  Of a model of images the pixels of the patches of one.
        """
        if self.architecture.image is not None:
            return self.architecture.image.rows(tokens, self.embedding.tokens.dtype)
        traced = isinstance(tokens, Tracer)
        array, vocabulary = tokens if traced else np.asarray(tokens), self.embedding.tokens.shape[0]
        if array.ndim != 1 or array.dtype.kind not in "iu":
            got = f"{array.dtype} of shape {array.shape}"
            raise InputError(f"got tokens as {got}, wanted whole numbers (N,); use jax.vmap for a batch")
        if not 1 <= array.size <= self.architecture.positions:
            raise InputError(
                f"got {array.size} tokens, wanted 1 to {self.architecture.positions}, the positions of the model; "
                f"{'cut them' if array.size else 'give some'}"
            )
        outside = np.zeros(0, bool) if traced else (array < 0) | (array >= vocabulary)
        if outside.any():
            place = int(outside.argmax())
            got = f"token {array[place]} at position {place}"
            raise InputError(f"got {got}, wanted 0 to {vocabulary - 1}, the vocabulary; take the model's tokenizer")
        return jnp.asarray(tokens if isinstance(tokens, jax.Array) else array, jnp.int32)

    def states(
        self,
        tokens: jax.Array,
        length: jax.Array | None = None,
        *,
        precision: jax.lax.PrecisionLike = "highest",
    ) -> tuple[jax.Array, ...]:
        """x_0, x_1, …, x_L, (N,) → (N, M) each; written out for blocks of any kind.

        With a `length` the tokens behind the first so many are padding, which the others do not see; what is computed
        of padding itself means nothing.
        """
        step, states = self._step(tokens, precision, length), [self.embed(tokens)]
        for number, block in enumerate(self.blocks, 1):
            states.append(step(states[-1], block, number))
        return tuple(states)

    def hidden(
        self,
        tokens: jax.Array,
        length: jax.Array | None = None,
        *,
        precision: jax.lax.PrecisionLike = "highest",
    ) -> jax.Array:
        """x_L, (N,) → (N, M); `length` as for `states`."""
        return carry(self._step(tokens, precision, length), self.embed(tokens), self.blocks)

    def _step(
        self, tokens: jax.Array, precision: jax.lax.PrecisionLike, length: jax.Array | None
    ) -> Callable[[jax.Array, Block, PyTree], jax.Array]:
        options, block = self.schedule(tokens.shape[0], precision, length), BLOCKS[self.architecture.kind]
        return lambda x, layer, number: block(layer, x, options(number))

    def features(self, x: jax.Array) -> jax.Array:
        """x_L behind the final norm, if there is one: (N, M) → (N, M)."""
        return x if self.final_norm is None else normalise(self.final_norm, x, epsilon=self.epsilon)

    def scores(self, x: jax.Array, *, precision: jax.lax.PrecisionLike = "highest") -> jax.Array:
        """The logits of each token before their bias and soft cap, linear in the features: (N, M) → (N, V).

        Without unembedding the features themselves.
        """
        x = self.features(x)
        return x if self.unembedding is None else jnp.matmul(x, self.unembedding, precision=precision)

    def output(
        self,
        x: jax.Array,
        length: jax.Array | None = None,
        *,
        precision: jax.lax.PrecisionLike = "highest",
    ) -> jax.Array:
        """What the model gives for x_L: (N, M) → (N, M) or (N, V), or without N where one token is read.

        With a `length` the last token that is no padding is the last one.
        """
        found, reads = self.scores(x, precision=precision), self.architecture.reads
        if reads != "each":
            last = (len(x) if length is None else length) - 1
            found = found[0 if reads == "first" else last][None]
        if self.head is not None:
            found = self._head(self.head, found, precision)
        if self.logit_bias is not None:
            found = found + self.logit_bias[None]
        if self.architecture.logit_cap is not None:
            cap = jnp.asarray(self.architecture.logit_cap, found.dtype)
            found = cap * jnp.tanh(found / cap)
        return found if reads == "each" else found[0]

    def _head(self, head: Head, x: jax.Array, precision: jax.lax.PrecisionLike) -> jax.Array:
        """norm(σ(x W + b)) W_U + b_U."""
        assert self.architecture.head is not None
        y = self.architecture.head(jnp.matmul(x, head.matrix, precision=precision) + head.bias[None])
        if head.norm is not None:
            y = normalise(head.norm, y, epsilon=self.epsilon)
        y = jnp.matmul(y, head.out, precision=precision)
        return y if head.out_bias is None else y + head.out_bias[None]

    def __call__(
        self,
        tokens: jax.Array,
        length: jax.Array | None = None,
        *,
        precision: jax.lax.PrecisionLike = "highest",
    ) -> jax.Array:
        """output(hidden(tokens)); `jax.vmap` takes a batch, with a `length` for each text if some are filled up."""
        return self.output(self.hidden(tokens, length, precision=precision), length, precision=precision)


def _chosen(every: list[BlockOptions], numbers: np.ndarray, layer: PyTree) -> BlockOptions:
    """The options of a layer out of those of each kind; a traced number takes from arrays one above the other.

    Where one kind has no mask or angles and another has, it gets a mask that hides nothing, or angles of 0.
    """
    if isinstance(layer, int):
        return every[numbers[layer - 1]]
    scorings, kind = [each.scoring for each in every], jnp.asarray(numbers)[layer - 1]
    if len({scoring.amplitude for scoring in scorings}) > 1:
        raise InputError("got layers that turn by RoPE with other amplitudes, wanted one; leave the blocks apart")
    pick = lambda arrays, absent: jnp.stack([absent if array is None else array for array in arrays])[kind]
    masks, angles = [scoring.mask for scoring in scorings], [scoring.angles for scoring in scorings]
    mask, angle = (next((a for a in arrays if a is not None), None) for arrays in (masks, angles))
    scoring = scorings[0]._replace(
        mask=None if mask is None else pick(masks, jnp.ones_like(mask)),
        angles=None if angle is None else pick(angles, jnp.zeros_like(angle)),
    )
    return every[0]._replace(scoring=scoring)
