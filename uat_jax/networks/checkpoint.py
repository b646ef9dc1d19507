"""A Hugging Face folder, ``config.json`` and safetensors weights, as a dict and NumPy arrays.

The weights are in ``model.safetensors``, or in the files that ``model.safetensors.index.json`` names. They are read by
the `safetensors` library (extra ``[models]``), which checks lengths, offsets, shapes and dtypes against the file; what
it lets pass and NumPy cannot hold, or what is said twice, is refused here.
"""

import json
import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from uat_jax.errors import InputError
from uat_jax.typing import JsonObject

CONFIG, WEIGHTS, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"

READABLE = frozenset({"F64", "F32", "F16", "BF16", "I64", "I32", "I16", "I8", "U8", "BOOL"})
"""The dtypes of tensors that are read: those of weights, and those of the buffers that stand beside them."""

FolderPath = str | os.PathLike[str]


@dataclass(frozen=True)
class Checkpoint:
    """What a folder holds: ``config``, the object in ``config.json``; ``tensors``, every tensor by name."""

    config: JsonObject
    tensors: Mapping[str, np.ndarray]


def read_checkpoint(folder: FolderPath) -> Checkpoint:
    """The config and the weights in `folder`; bfloat16 tensors stay bfloat16 (ml_dtypes).

    Raises `InputError`, one line with the path, for a folder without config or weights, for a file that is truncated,
    contradicts itself, names a tensor twice or has a dtype that is not `READABLE`, and without `safetensors`.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: got no such folder, wanted one with {CONFIG} and {WEIGHTS}; check the path")
    config = json_object(folder / CONFIG)
    if (folder / WEIGHTS).exists():
        return Checkpoint(config, read_tensors(folder / WEIGHTS))
    if (folder / INDEX).exists():
        return Checkpoint(config, _read_shards(folder / INDEX))
    raise InputError(f"{folder}: got no {WEIGHTS} and no {INDEX}, wanted one; save the model as safetensors")


def library(name: str, purpose: str) -> ModuleType:
    """The module of an optional package; `InputError`, naming the `purpose`, if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise InputError(f"{purpose} needs {name}; pip install 'uat_jax[models]'") from None


def one_line(error: BaseException) -> str:
    """The message of a foreign error, without line breaks and not longer than a line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 120 else f"{text[:117]}..."


def json_object(path: Path) -> JsonObject:
    """The object in a JSON file.  Raises `InputError` for a file that is not there or holds anything else."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"), object_pairs_hook=_each_name_once)
    except FileNotFoundError:
        raise InputError(f"{path}: got no such file, wanted one; check the folder") from None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: got no readable JSON ({one_line(error)}); download it again") from None
    if not isinstance(value, dict):
        raise InputError(f"{path}: got a JSON {type(value).__name__}, wanted an object; download it again")
    return value


def _each_name_once(pairs: list[tuple[str, Any]]) -> JsonObject:
    values = dict(pairs)
    if len(values) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice!r} twice in one object")
    return values


def _read_shards(index: Path) -> dict[str, np.ndarray]:
    """The tensors of every file in the index, each where the index says it is."""
    place = json_object(index).get("weight_map")
    if not isinstance(place, dict) or not all(isinstance(file, str) for file in place.values()):
        raise InputError(f"{index}: got no object weight_map of file names, wanted one; download it again")
    tensors: dict[str, np.ndarray] = {}
    for file in sorted(set(place.values())):
        if not file or Path(file).name != file or "\\" in file:
            raise InputError(f"{index}: got the file {file!r}, wanted a name in the same folder; download it again")
        shard, promised = read_tensors(index.parent / file), {name for name in place if place[name] == file}
        if shard.keys() != promised:
            name = min(shard.keys() ^ promised)
            raise InputError(f"{index}: got tensor {name!r} only in the index or only in {file}; download both again")
        tensors |= shard
    return tensors


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """Every tensor of one safetensors file.  Raises what `read_checkpoint` raises of such a file."""
    safe_open = library("safetensors", "reading weights").safe_open
    if not path.is_file():
        raise InputError(f"{path}: got no such file, wanted one; download it again")
    try:
        with safe_open(path, framework="numpy") as file:
            _check_names(path)
            _check_dtypes({name: file.get_slice(name).get_dtype() for name in file.keys()})
            return {name: file.get_tensor(name) for name in file.keys()}
    except Exception as error:  # the library has an exception class of its own, and the system its errors
        raise InputError(f"{path}: got no readable safetensors ({one_line(error)}); download it again") from None


def _check_names(path: Path) -> None:
    """Raise `ValueError` for a name that stands twice in the header, which the library takes for one tensor."""
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        json.loads(file.read(length), object_pairs_hook=_each_name_once)


def _check_dtypes(dtypes: Mapping[str, str]) -> None:
    for name, dtype in dtypes.items():
        if dtype not in READABLE:
            raise ValueError(f"dtype {dtype} of {name!r}, which is not one of {', '.join(sorted(READABLE))}")
