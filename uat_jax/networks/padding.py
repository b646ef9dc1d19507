"""Padding: texts of one length, filled up, with a mask that says what is text; and tokens that only fill up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.typing import ArrayLike

from uat_jax.errors import InputError
from uat_jax.typing import PyTree


@dataclass(frozen=True)
class Padding:
    """What a config says of tokens that are no words.

    ``token`` stands for padding and nothing else.  ``ends`` end a text; tokenizers without a padding token are given
    one of these.
    """

    token: int | None = None
    ends: tuple[int, ...] = ()

    def fills(self, rows: np.ndarray) -> int | None:
        """The token that some of the rows (B, N) are filled up with, or None.

        The padding token anywhere; the end of a text twice at either end of a row, or at that end of some rows only.
        """
        if self.token is not None and (rows == self.token).any():
            return self.token
        return next((end for end in self.ends if any(_fills(end, side) for side in (rows, rows[:, ::-1]))), None)


def _fills(end: int, rows: np.ndarray) -> bool:
    """Whether some of the rows begin with the end of a text where others do not, or with two of them."""
    first = rows[:, 0] == end
    twice = rows.shape[1] > 1 and bool((first & (rows[:, 1] == end)).any())
    return twice or bool(first.any() and not first.all())


def is_ragged(tokens: ArrayLike) -> bool:
    """Whether `tokens` are rows of different lengths."""
    return isinstance(tokens, list | tuple) and len({np.size(row) for row in tokens}) > 1


def filled_up(rows: Sequence[Any]) -> tuple[np.ndarray, np.ndarray]:
    """Rows of different lengths as token numbers (B, N), filled up with 0 behind each, and the mask of both.

    Raises `InputError` for an empty row, or one that is not whole numbers (N,).
    """
    arrays = [np.asarray(row) for row in rows]
    for place, array in enumerate(arrays):
        if array.ndim != 1 or not array.size or array.dtype.kind not in "iu":
            got = "no tokens" if array.ndim == 1 and not array.size else f"{array.dtype} of shape {array.shape}"
            raise InputError(f"got {got} as text {place} of a ragged batch, wanted whole numbers (N,), at least one")
    lengths = np.array([array.size for array in arrays])
    mask = np.arange(lengths.max())[None] < lengths[:, None]
    tokens = np.zeros(mask.shape, np.result_type(*arrays))
    tokens[mask] = np.concatenate(arrays)
    return tokens, mask


def bucket(length: int, most: int) -> int:
    """How far a text of so many tokens is filled up, so that one program does for texts of many lengths.

    8, 10, 12, 14, 16, 20, 24, 28, 32, 40, …: four to each power of 2, a quarter more than the text at most, and never
    more than the `most` that there can be.
    """
    step = 2 ** max(max(length - 1, 0).bit_length() - 3, 1)
    return min(max(-(-length // step) * step, SHORTEST), most)


SHORTEST = 8
"""The smallest bucket."""


def in_bucket(tokens: Any, most: int) -> tuple[jax.Array, jax.Array]:
    """Token numbers (N,), of which the values are known, filled up with 0 to a bucket; and N."""
    padded = np.zeros(bucket(len(tokens), most), np.int32)
    padded[: len(tokens)] = tokens
    return jnp.asarray(padded), jnp.asarray(len(tokens))


def first_tokens(x: jax.Array, length: int, axis: int) -> jax.Array:
    """The entries of the first so many tokens, cut on the host: a device would need a program for every length."""
    if length == x.shape[axis]:
        return x
    return jax.device_put(np.asarray(x)[(slice(None),) * (axis % x.ndim) + (slice(length),)], x.sharding)


def is_known(*values: Any) -> bool:
    """Whether none of the arrays is traced, and none lies on several devices: then it can be filled up."""
    leaves = jax.tree.leaves(values)
    return not any(isinstance(x, Tracer) for x in leaves) and all(
        len(x.devices()) == 1 for x in leaves if isinstance(x, jax.Array)
    )


def checked_mask(mask: PyTree, shape: tuple[int, ...]) -> jax.Array | np.ndarray:
    """The mask as booleans of a `shape`, (N,) or (B, N), True where there is text.

    Raises `InputError` for another shape, for other entries than true, false, 0 and 1, and for a text of which nothing
    is left.  Inside `jax.jit` only shape and dtype can be seen.
    """
    traced = isinstance(mask, Tracer)
    array = mask if traced else np.asarray(mask)
    if tuple(array.shape) != tuple(shape):
        raise InputError(f"got a mask of shape {tuple(array.shape)}, wanted {tuple(shape)}, that of the tokens")
    if array.dtype.kind not in "biu" or (not traced and not np.isin(array, (0, 1)).all()):
        raise InputError(f"got a mask of {array.dtype} with other entries than 0 and 1, wanted 1 where there is text")
    if not traced and not array.any(axis=-1).all():
        of = "" if array.ndim == 1 else f" in text {int(np.argmin(array.any(axis=-1)))}"
        raise InputError(f"got a mask that is 0 everywhere{of}, wanted 1 where there is text; leave empty texts out")
    return array.astype(bool)


class Compact(NamedTuple):
    """One text with its padding moved behind it, the order of its tokens kept."""

    tokens: jax.Array
    """(N,), token 0 where there is padding."""
    length: jax.Array
    """How many tokens are text."""
    places: jax.Array
    """(N,): where each token of the text as it was given now stands."""
    mask: jax.Array
    """(N,), of the text as it was given."""

    def spread(self, x: jax.Array, axis: int = -2) -> jax.Array:
        """An array with an axis of tokens, those back in their places, 0 where there is padding."""
        x = jnp.take(x, self.places, axis=axis)
        return jnp.where(jnp.expand_dims(self.mask, [k for k in range(x.ndim) if k != axis % x.ndim]), x, 0)


def compact(tokens: jax.Array, mask: jax.Array) -> Compact:
    """The text that a mask leaves of (N,) tokens, in front, wherever it was filled up."""
    mask = jnp.asarray(mask, bool)
    order = jnp.argsort(~mask, stable=True)
    tokens, length = jnp.where(mask, tokens, 0)[order], jnp.sum(mask)
    return Compact(tokens, length, jnp.argsort(order), mask)


Given = Mapping[str, Any]
"""What a tokenizer returns: ``input_ids`` and, where texts are filled up, ``attention_mask``."""


def of_tokenizer(given: Given, mask: PyTree) -> tuple[Any, Any]:
    """Tokens and mask of what a tokenizer returns.

    Raises `InputError` without tokens, for a second mask, and for tokens of another type than 0, such as those of the
    second text of a pair: the models here take all for type 0.
    """
    if "input_ids" not in given:
        raise InputError(f"got a mapping of {', '.join(map(str, given))}, wanted input_ids in it")
    if mask is not None and given.get("attention_mask") is not None:
        raise InputError("got a mask beside the attention_mask of the tokenizer, wanted one of them; leave one out")
    kinds = given.get("token_type_ids")
    if kinds is not None and any(np.any(np.asarray(row) != 0) for row in kinds):
        raise InputError("got token_type_ids other than 0, wanted 0 everywhere: give one text, not a pair")
    return given["input_ids"], given.get("attention_mask") if mask is None else mask


def texts(tokens: Any, mask: PyTree) -> tuple[Any, Any]:
    """Tokens and mask, or None, of texts as they are given: as arrays, by a tokenizer, or as rows of several lengths.

    Raises `InputError` as `of_tokenizer` and `filled_up` do, and for a mask beside rows of different lengths.
    """
    if isinstance(tokens, Mapping):
        tokens, mask = of_tokenizer(tokens, mask)
    if not is_ragged(tokens):
        return tokens, mask
    if mask is not None:
        raise InputError("got a mask beside rows of different lengths, wanted none: the rows say what is text")
    return filled_up(tokens)
