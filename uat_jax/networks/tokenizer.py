"""Texts as token numbers, by the ``tokenizer.json`` of a Hugging Face folder."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from uat_jax.errors import InputError
from uat_jax.networks.checkpoint import FolderPath, library, one_line

TOKENIZER = "tokenizer.json"


def tokenize(folder: FolderPath, texts: Sequence[str]) -> list[np.ndarray]:
    """The token numbers of each text, int32 (N,), with the special tokens of the model; none is cut or padded.

    Raises `InputError` for a folder without a readable ``tokenizer.json``, for what is not a list of texts, for a text
    without tokens, and without the library `tokenizers`.
    """
    read = library("tokenizers", "reading text").Tokenizer.from_file
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"got {type(texts).__name__} for texts, wanted a list of texts; put one text in a list")
    path = Path(folder) / TOKENIZER
    if not path.is_file():
        raise InputError(f"{path}: got no such file, wanted one; give token numbers instead of text")
    try:
        tokenizer = read(str(path))
    except Exception as error:  # the library raises plain Exceptions
        raise InputError(f"{path}: got no readable tokenizer ({one_line(error)}); download it again") from None
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return [_numbers(tokenizer.encode(text).ids, text) for text in texts]


def _numbers(tokens: list[int], text: str) -> np.ndarray:
    if not tokens:
        raise InputError(f"got the text {text!r:.40} without tokens, wanted at least one; write more")
    return np.asarray(tokens, np.int32)
