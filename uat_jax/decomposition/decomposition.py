"""A model's output as the papers' sum: the input path, the bias path, and one term for each layer's activation.

x_L = P_L x_0 + q_L + Σ_j W̃_j s_j (Theorem 1 with the dynamic parameters of chapter K), every attention pattern and
every scale of a norm frozen at the actual input, by the two-stream evaluation (L3) with a stream for each term.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from uat_jax.decomposition.streams import InTwo, as_array, separate, streams_of
from uat_jax.errors import InputError
from uat_jax.networks.model import Model
from uat_jax.networks.padding import checked_mask, compact, first_tokens, in_bucket, is_known, texts
from uat_jax.typing import PyTree

Parts = Literal["terms", "two streams"]
INPUT, BIAS = "input", "bias"
"""The names of the first two terms; the others are ``layer 1``, …, ``layer L``."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Decomposition:
    """The terms of x_L and, beside them, x_L as the model computes it; with a batch, one axis more in front.

    Where there is padding all are 0.  ``found[b]`` is the decomposition of text b of a batch without its padding.
    """

    terms: jax.Array
    """(L + 2, N, M): input path, bias path, the layers."""
    hidden: jax.Array
    """x_L by the plain forward pass, (N, M)."""
    mask: jax.Array | None = None
    """True where there is text, (N,); None if there is no padding."""

    def __getitem__(self, text: int) -> Decomposition:
        """The decomposition of one text of a batch, its padding left out.

        Raises:
            InputError: this is no batch, or has no such text.
        """
        if self.hidden.ndim < 3 or not -len(self.hidden) <= text < len(self.hidden):
            size = "no batch" if self.hidden.ndim < 3 else f"a batch of {len(self.hidden)} texts"
            raise InputError(f"got text {text} of {size}, wanted one that is there")
        kept = slice(None) if self.mask is None else np.asarray(self.mask[text])
        return Decomposition(self.terms[text][:, kept], self.hidden[text][kept])

    @property
    def total(self) -> jax.Array:
        """The sum of the terms from the first to the last, (N, M)."""
        return functools.reduce(jnp.add, [self.terms[..., s, :, :] for s in range(len(self.names))])

    @property
    def names(self) -> tuple[str, ...]:
        """What the terms are called."""
        return names(self.terms.shape[-3] - 2)

    @property
    def residual_ulp(self) -> jax.Array:
        """The largest |total − hidden| in ULP of the largest |hidden|; one number for each sum of a batch."""
        return in_ulp(self.total - self.hidden, self.hidden)


def names(layers: int) -> tuple[str, ...]:
    """input, bias, layer 1, …, layer L."""
    return (INPUT, BIAS, *(f"layer {j}" for j in range(1, layers + 1)))


def in_ulp(difference: jax.Array, of: jax.Array) -> jax.Array:
    """The largest entry of a difference over the ULP of the largest entry, both over the last two axes."""
    largest, scale = (jnp.max(jnp.abs(x), axis=(-2, -1)) for x in (difference, of))
    return largest / (jnp.exp2(jnp.floor(jnp.log2(scale))) * jnp.finfo(scale.dtype).eps)


def terms(
    model: Model,
    tokens: jax.Array,
    *,
    length: jax.Array | None = None,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """The terms of x_L: (N,) → (L + 2, N, M), in the order of `names`.  A pure function, for `jax.jit` and `jax.vmap`.

    Called outside of them it compiles itself, for all texts of nearly one length.  A gated feed-forward network is one
    term as a whole: (U w ⊙ s(G w)) W_D (K8, first reading).  With a `length` only the first so many tokens are text,
    and what is found of the others means nothing.
    Raises `InputError` for more tokens than positions.
    """
    if length is None and _can_be_filled_up(model, tokens):
        return _parts_in_bucket(model, tokens, "terms", precision)
    return _parts(model, tokens, length, "terms", precision)


def two_streams(
    model: Model,
    tokens: jax.Array,
    *,
    length: jax.Array | None = None,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """p_L, input and biases, and u_L, all activations, of x_L = p_L + u_L: (N,) → (2, N, M).  Cheaper than `terms`.

    Otherwise as `terms`.
    """
    if length is None and _can_be_filled_up(model, tokens):
        return _parts_in_bucket(model, tokens, "two streams", precision)
    return _parts(model, tokens, length, "two streams", precision)


def _parts(
    model: Model, tokens: jax.Array, length: jax.Array | None, of: Parts, precision: jax.lax.PrecisionLike
) -> jax.Array:
    sorting = separate(model) if of == "terms" else InTwo()
    return as_array(streams_of(model, tokens, sorting, length=length, precision=precision))


def _can_be_filled_up(model: Model, tokens: Any) -> bool:
    """Whether these are the token numbers of one text, known, that a program for a bucket of lengths can take."""
    fits = model.architecture.image is None and np.ndim(tokens) == 1 and len(tokens) <= model.architecture.positions
    return fits and is_known(model, tokens)


def _parts_in_bucket(model: Model, tokens: Any, of: Parts, precision: jax.lax.PrecisionLike) -> jax.Array:
    padded, length = in_bucket(tokens, model.architecture.positions)
    return first_tokens(_parts_of_length(model, padded, length, of, precision), len(tokens), 1)


_parts_of_length = jax.jit(_parts, static_argnames=("of", "precision"))


Tokens = jax.Array | np.ndarray | Sequence[Any] | Mapping[str, Any]
"""Token numbers (N,), a batch (B, N), rows of different lengths, or what a tokenizer returns."""


def decompose(
    model: Model, tokens: Tokens, mask: PyTree = None, *, precision: jax.lax.PrecisionLike = "highest"
) -> Decomposition:
    """The terms of x_L for N token numbers, and x_L itself; a batch (B, N) gives a batch of decompositions.

    Padding is left out: no token attends to it, positions are counted without it, and all that is found of it is 0.
    The rest is what the text alone gives, up to rounding, whether it is filled up behind, in front, or has gaps.
    A text alone is filled up in here, by a quarter at most: texts of nearly one length share a compiled program.
    A batch that is sharded over devices stays so, whether the axes of its mesh are automatic or explicit.  Inside
    `jax.jit` and `jax.vmap` the values of tokens and mask are not checked: a token outside of the vocabulary gives NaN.

    Args:
        model: with L layers over M features.
        tokens: whole numbers (N,) or (B, N); or a list of B rows of different lengths, which are filled up behind; or
            what a tokenizer returns, a mapping with ``input_ids`` and ``attention_mask``.  A model of images takes
            floats (c, H, W) or (B, c, H, W).
        mask: (N,) or (B, N) as the tokens, true or 1 where there is text.  None: everything is.
        precision: of every matrix product.

    Returns:
        Terms (L + 2, N, M), x_L (N, M) and the mask; of a batch with an axis B in front.

    Raises:
        InputError: tokens that are not whole numbers of the vocabulary, more than positions, or filled up with padding
            while there is no mask; a mask of another shape, with other entries, or without any text in a row; an empty
            row; a mask beside rows of different lengths.

    Example:
        >>> found = uj.decompose(uj.load_model("gpt2"), [[5, 7, 2], [5, 2]])
        >>> found[1].terms.shape  # those of [5, 2] alone
        (14, 2, 768)
    """
    if model.architecture.image is not None:
        return _decomposed(model, _checked_images(model, tokens, mask), precision=precision)
    tokens, mask = texts(tokens, mask)
    if mask is None:
        checked = _checked(model, cast(jax.Array, tokens))
        if checked.ndim == 1 and is_known(model, checked):
            return _in_bucket(model, checked, precision)
        return _decomposed(model, checked, precision=precision)
    return _masked(model, *_checked_with(model, tokens, mask), precision=precision)


def _in_bucket(model: Model, tokens: jax.Array, precision: jax.lax.PrecisionLike) -> Decomposition:
    """The decomposition of one text, filled up to a bucket: no program for every length."""
    padded, length = in_bucket(tokens, model.architecture.positions)
    found = _of_length(model, padded, length, precision=precision)
    return Decomposition(first_tokens(found.terms, len(tokens), 1), first_tokens(found.hidden, len(tokens), 0))


@functools.partial(jax.jit, static_argnames="precision")
def _of_length(
    model: Model, tokens: jax.Array, length: jax.Array, *, precision: jax.lax.PrecisionLike
) -> Decomposition:
    parts = terms(model, tokens, length=length, precision=precision)
    return Decomposition(parts, model.hidden(tokens, length, precision=precision))


def _checked_images(model: Model, images: Any, mask: PyTree) -> jax.Array:
    """The pixels of each patch of an image (c, H, W), or of a batch of them."""
    if mask is not None or isinstance(images, Mapping):
        raise InputError("got a mask or a mapping for a model of images, wanted an array of them; they have no padding")
    array = jnp.asarray(images)
    return jnp.stack([model.check_tokens(image) for image in array]) if array.ndim == 4 else model.check_tokens(array)


def _checked_with(model: Model, tokens: Any, mask: PyTree) -> tuple[jax.Array, jax.Array]:
    """Tokens, int32, and mask, (N,) or (B, N): each row that the mask leaves is looked at, and padding set to 0."""
    array = tokens if isinstance(tokens, Tracer) else np.asarray(tokens)
    if array.ndim not in (1, 2) or array.dtype.kind not in "iu":
        raise InputError(f"got tokens as {array.dtype} of shape {array.shape}, wanted whole numbers (N,) or (B, N)")
    mask = checked_mask(mask, array.shape)
    if isinstance(array, Tracer) or isinstance(mask, Tracer):
        model.check_tokens(array.reshape(-1, array.shape[-1])[0])
    else:
        for row, of in zip(np.atleast_2d(array), np.atleast_2d(mask), strict=True):
            model.check_tokens(row[of])
        array = np.where(mask, array, 0)
    return jnp.asarray(array, jnp.int32), jnp.asarray(mask)


@functools.partial(jax.jit, static_argnames="precision")
def _masked(model: Model, tokens: jax.Array, mask: jax.Array, *, precision: jax.lax.PrecisionLike) -> Decomposition:
    if tokens.ndim == 2:
        return jax.vmap(lambda row, of: _masked(model, row, of, precision=precision))(tokens, mask)
    text = compact(tokens, mask)
    parts = terms(model, text.tokens, length=text.length, precision=precision)
    hidden = model.hidden(text.tokens, text.length, precision=precision)
    return Decomposition(text.spread(parts), text.spread(hidden), mask)


def _checked(model: Model, tokens: jax.Array | np.ndarray) -> jax.Array:
    """The token numbers, (N,) or (B, N), int32, each row looked at."""
    if np.ndim(tokens) != 2:
        tokens = model.check_tokens(tokens)
        check_padding(model, tokens)
        return tokens
    check_padding(model, tokens)
    for row in tokens[:1] if isinstance(tokens, Tracer) else np.asarray(tokens):
        model.check_tokens(row)
    return jnp.asarray(tokens, jnp.int32)


def check_padding(model: Model, tokens: jax.Array | np.ndarray) -> None:
    """Raise `InputError` for token numbers, (N,) or (B, N), that are filled up with padding."""
    filler = None if isinstance(tokens, Tracer) else model.architecture.padding.fills(np.atleast_2d(tokens))
    if filler is not None:
        raise InputError(
            f"got tokens filled up with {filler}, which is padding; give a mask, 1 where there is text, or leave it out"
        )


@functools.partial(jax.jit, static_argnames="precision")
def _decomposed(model: Model, tokens: jax.Array, *, precision: jax.lax.PrecisionLike) -> Decomposition:
    if tokens.ndim == (2 if model.architecture.image is None else 3):
        return jax.vmap(lambda row: _decomposed(model, row, precision=precision))(tokens)
    return Decomposition(terms(model, tokens, precision=precision), model.hidden(tokens, precision=precision))
