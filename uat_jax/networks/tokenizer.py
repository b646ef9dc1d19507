"""Texts as token numbers, by the ``tokenizer.json`` of a Hugging Face folder."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from uat_jax.errors import InputError
from uat_jax.networks.checkpoint import FolderPath, library, one_line

TOKENIZER = "tokenizer.json"


def tokenize(folder: FolderPath, texts: Sequence[str]) -> list[np.ndarray]:
    """The token numbers of each text, int32 (N,), with the special tokens of the model; none is cut.

    Tokens that the tokenizer's own attention mask leaves out, because it fills texts up, are left out.

    Raises `InputError` for a folder without a readable ``tokenizer.json``, for what is not a list of texts, for a text
    without tokens, and without the library `tokenizers`.
    """
    if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
        raise InputError(f"got {type(texts).__name__} for texts, wanted a list of texts; put one text in a list")
    tokenizer = _tokenizer(folder)
    tokenizer.no_truncation()
    return [_numbers(tokenizer.encode(text), text) for text in texts]


def words(folder: FolderPath) -> Callable[[int], str]:
    """Token number → the word that the tokenizer writes for it.  Raises what `tokenize` does."""
    tokenizer = _tokenizer(folder)
    return lambda token: tokenizer.id_to_token(token) or str(token)


def numbers(folder: FolderPath) -> Callable[[str], list[int]]:
    """Text → its token numbers without the special tokens of the model.  Raises what `tokenize` does."""
    tokenizer = _tokenizer(folder)
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


def _tokenizer(folder: FolderPath) -> Any:
    read = library("tokenizers", "reading text").Tokenizer.from_file
    path = Path(folder) / TOKENIZER
    if not path.is_file():
        raise InputError(f"{path}: got no such file, wanted one; give token numbers instead of text")
    try:
        return read(str(path))
    except Exception as error:  # the library raises plain Exceptions
        raise InputError(f"{path}: got no readable tokenizer ({one_line(error)}); download it again") from None


def _numbers(encoded: Any, text: str) -> np.ndarray:
    tokens = np.asarray(encoded.ids, np.int32)[np.asarray(encoded.attention_mask, bool)]
    if not tokens.size:
        raise InputError(f"got the text {text!r:.40} without tokens, wanted at least one; write more")
    return tokens
