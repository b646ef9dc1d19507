"""A language model: token numbers in, features of each token or logits out; GPT-2, BERT and Llama are such models."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from uat_jax.errors import InputError
from uat_jax.networks.activations import Activation
from uat_jax.networks.block import Block, BlockOptions, post_norm_block, pre_norm_block
from uat_jax.networks.decoder import Embedding, embed
from uat_jax.networks.masks import causal_mask, sliding_window_mask
from uat_jax.networks.multihead import Scoring
from uat_jax.networks.norms import Norm, normalise
from uat_jax.networks.padding import Padding
from uat_jax.networks.positions import rope_angles
from uat_jax.networks.shapes import check_some_layers
from uat_jax.networks.stack import Stack, carry, stack

BLOCKS: Mapping[str, Callable[[Block, jax.Array, BlockOptions], jax.Array]] = {
    "pre-norm": pre_norm_block,
    "post-norm": post_norm_block,
}


@dataclass(frozen=True)
class Architecture:
    """What a model does with its parameters.

    ``family``: the name in its config.  ``kind``: one of `BLOCKS`.  ``activation``: σ of the feed-forward.
    ``epsilon``: of the norms.  ``causal``: no token sees a later one.  ``window``: how many tokens it sees, its own
    included (None: all).  ``rope``: base of RoPE's angles (None: none).  ``positions``: the most tokens there can be.
    ``padding``: the tokens that are no words.
    """

    family: str
    kind: Literal["pre-norm", "post-norm"]
    activation: Activation
    epsilon: float
    causal: bool
    positions: int
    window: int | None = None
    rope: float | None = None
    padding: Padding = Padding()


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Model:
    """x_0 = embed(tokens), x_L = blocks(x_0), output = final norm and unembedding where there are any.

    ``embedding_norm`` follows the embedding (BERT); ``final_norm`` and ``unembedding`` (M, V) follow the last block; a
    model without unembedding gives the features of each token.
    """

    embedding: Embedding
    blocks: tuple[Block, ...] | Stack[Block]
    embedding_norm: Norm | None
    final_norm: Norm | None
    unembedding: jax.Array | None
    architecture: Architecture = field(metadata={"static": True})

    def stacked(self) -> Model:
        """The model with its blocks one above the other: a loop, compiled in a time that does not grow with depth.

        Raises what `stack` raises where the blocks have different shapes.
        """
        return replace(self, blocks=stack(tuple(self.blocks)))

    def embed(self, tokens: jax.Array) -> jax.Array:
        """x_0, (N,) → (N, M)."""
        x = embed(self.embedding, tokens)
        return x if self.embedding_norm is None else normalise(self.embedding_norm, x, epsilon=self.epsilon)

    @property
    def epsilon(self) -> float:
        """ε of the norms."""
        return self.architecture.epsilon

    def options(self, tokens: int, precision: jax.lax.PrecisionLike = "highest") -> BlockOptions:
        """Mask and positions for N tokens.  Raises `InputError` for too many tokens, `ShapeError` for no blocks."""
        of = self.architecture
        check_some_layers(self.blocks)
        if tokens > of.positions:
            raise InputError(
                f"got {tokens} tokens, wanted at most {of.positions}, the positions of the model; cut them"
            )
        mask = causal_mask(tokens) if of.causal else None
        if mask is not None and of.window is not None:
            mask = mask & sliding_window_mask(tokens, of.window)
        width, dtype = self.blocks[0].attention.query.shape[-1], self.blocks[0].attention.query.dtype
        angles = None if of.rope is None else rope_angles(tokens, width, base=of.rope, dtype=dtype)
        return BlockOptions(of.activation, Scoring(mask, angles=angles), epsilon=of.epsilon, precision=precision)

    def check_tokens(self, tokens: Any) -> jax.Array:
        """`tokens` as the (N,) token numbers that the model takes, int32, sharded as they are.

        Raises `InputError` unless they are whole numbers 0, …, V − 1, at least one and at most as many as positions.
        Inside `jax.jit` only dtype and number can be seen.
        """
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

    def states(self, tokens: jax.Array, *, precision: jax.lax.PrecisionLike = "highest") -> tuple[jax.Array, ...]:
        """x_0, x_1, …, x_L, (N,) → (N, M) each; written out for blocks of either kind."""
        step, states = self._step(tokens, precision), [self.embed(tokens)]
        for number, block in enumerate(self.blocks, 1):
            states.append(step(states[-1], block, number))
        return tuple(states)

    def hidden(self, tokens: jax.Array, *, precision: jax.lax.PrecisionLike = "highest") -> jax.Array:
        """x_L, (N,) → (N, M)."""
        return carry(self._step(tokens, precision), self.embed(tokens), self.blocks)

    def _step(
        self, tokens: jax.Array, precision: jax.lax.PrecisionLike
    ) -> Callable[[jax.Array, Block, Any], jax.Array]:
        options, block = self.options(tokens.shape[0], precision), BLOCKS[self.architecture.kind]
        return lambda x, layer, _: block(layer, x, options)

    def output(self, x: jax.Array, *, precision: jax.lax.PrecisionLike = "highest") -> jax.Array:
        """Final norm and unembedding of x_L: (N, M) → (N, M) or (N, V)."""
        if self.final_norm is not None:
            x = normalise(self.final_norm, x, epsilon=self.epsilon)
        return x if self.unembedding is None else jnp.matmul(x, self.unembedding, precision=precision)

    def __call__(self, tokens: jax.Array, *, precision: jax.lax.PrecisionLike = "highest") -> Any:
        """output(hidden(tokens)); `jax.vmap` takes a batch."""
        return self.output(self.hidden(tokens, precision=precision), precision=precision)
