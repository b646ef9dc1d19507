"""From features to logits: a matrix of its own, or the embedding once more."""

from typing import Any

import numpy as np

from uat_jax.errors import InputError
from uat_jax.networks.families.tensors import Tensors

HEAD = "lm_head.weight"


def unembedding(tensors: Tensors, embedding: str, *, tied: bool) -> Any:
    """W_U (M, V), the transpose of ``lm_head.weight`` or, if `tied`, of the tensor called `embedding`.

    Raises `InputError` for a tied model whose ``lm_head.weight`` is there and another matrix.
    """
    if tied and HEAD in tensors and not np.array_equal(tensors[HEAD], tensors[embedding]):
        raise InputError(f"got {HEAD} unlike {embedding} and tie_word_embeddings, wanted one matrix; see config.json")
    return tensors[embedding if tied else HEAD].T
