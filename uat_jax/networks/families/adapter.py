"""LoRA adapters in PEFT's file format: ``adapter_config.json`` and ``adapter_model.safetensors`` in one folder.

The weight W of an adapted layer becomes W + s B A (Hu et al. 2021): A (r, in) and B (out, r) stand in the file under
the name of the layer, s = α / r, or α / √r where the config says so.
"""

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from uat_jax.errors import InputError, ShapeError, UnsupportedError
from uat_jax.networks.adapted import Adapted
from uat_jax.networks.checkpoint import FolderPath, json_object, read_tensors
from uat_jax.networks.families.adapter_config import ADAPTER_CONFIG, LoraConfig, is_named, lora_config
from uat_jax.networks.families.tensors import Tensors, cast, is_float, refuse
from uat_jax.typing import JsonObject

ADAPTER_WEIGHTS = "adapter_model.safetensors"
NAME = re.compile(r"base_model\.model\.(?P<layer>.+)\.lora_(?P<factor>[AB])\.weight")
IN_BLOCK = re.compile(r"\.\d+\..*\.weight")
"""Part of the name of a block's weight; only those that are matrices can be adapted."""


class LowRank(NamedTuple):
    """s B A of one layer."""

    A: np.ndarray
    """(r, in)."""
    B: np.ndarray
    """(out, r)."""
    scale: float

    @property
    def rank(self) -> int:
        """The rank r."""
        return len(self.A)


@dataclass(frozen=True)
class Adapter:
    """What a folder holds."""

    folder: str
    config: LoraConfig
    layers: Mapping[str, LowRank]
    """By the name of the layer in the model that was adapted, such as ``transformer.h.0.attn.c_attn``."""

    def __str__(self) -> str:
        """One line, such as ``8 layers (c_attn, c_proj), rank 2, 4, scale 1.5``."""
        kinds = sorted({name.rpartition(".")[2] for name in self.layers})
        ranks = sorted({update.rank for update in self.layers.values()})
        scales = sorted({update.scale for update in self.layers.values()})
        listed = ", ".join(map(str, ranks)), ", ".join(f"{scale:.4g}" for scale in scales)
        return f"{len(self.layers)} layers ({', '.join(kinds)}), rank {listed[0]}, scale {listed[1]}"


def read_adapter(folder: FolderPath) -> Adapter:
    """The LoRA adapter in `folder`.

    Raises, one line with the path: `InputError` for a folder without config or weights, for files that cannot be read,
    for entries of the config and for tensors that are missing, superfluous or unusable; `ShapeError` for a factor that
    has not the rank of the config; `UnsupportedError` for an adapter that is more than W + s B A on linear layers.
    """
    folder = Path(folder)
    if not folder.is_dir():
        wanted = f"wanted one with {ADAPTER_CONFIG} and {ADAPTER_WEIGHTS}"
        raise InputError(f"{folder}: got no such folder, {wanted}; check the path")
    entries, tensors = json_object(folder / ADAPTER_CONFIG), read_tensors(folder / ADAPTER_WEIGHTS)
    try:
        config = lora_config(entries)
        return Adapter(str(folder), config, _layers(tensors, config))
    except (InputError, ShapeError, UnsupportedError) as error:
        raise type(error)(f"{folder}: {error}") from None


def _layers(tensors: Tensors, config: LoraConfig) -> dict[str, LowRank]:
    """The two factors of each layer, of the rank of the config."""
    embeddings = sorted(name for name in tensors if ".lora_embedding_" in name)
    if embeddings:
        raise UnsupportedError(f"got {embeddings[0]!r}, an adapter of an embedding, supported are linear layers")
    refuse("the superfluous tensor", (n for n in sorted(tensors) if not NAME.fullmatch(n)), "wanted lora_A and lora_B")
    layers = sorted({match["layer"] for match in map(NAME.fullmatch, tensors) if match})
    both = [f"base_model.model.{layer}.lora_{factor}.weight" for layer in layers for factor in "AB"]
    refuse("no tensor", (name for name in both if name not in tensors), "wanted it; download the adapter again")
    if not layers:
        raise InputError("got no tensors, wanted lora_A and lora_B of each layer; download the adapter again")
    found = {}
    for layer, name_A, name_B in zip(layers, both[::2], both[1::2], strict=True):
        A, B = tensors[name_A], tensors[name_B]
        _check_factors(layer, A, B, config.rank(layer))
        found[layer] = LowRank(A, B, config.scale(layer))
    return found


def _check_factors(layer: str, A: np.ndarray, B: np.ndarray, rank: int) -> None:
    for name, array in (("lora_A", A), ("lora_B", B)):
        if not is_float(array.dtype):
            raise InputError(f"got dtype {array.dtype} for {name} of {layer}, wanted floats; convert that tensor")
    if not (A.ndim == B.ndim == 2 and A.shape[0] == rank == B.shape[1]):
        got = f"lora_A {A.shape} and lora_B {B.shape}"
        raise ShapeError(f"got {got} for {layer}, wanted the rank r = {rank} of {ADAPTER_CONFIG}; see there")


def adapted(
    tensors: Tensors, adapter: Adapter | None, *, prefix: str, ignored: str, conv1d: bool = False
) -> JsonObject:
    """The tensors of a model with W + s B A in place of W for every layer that the adapter belongs to.

    `tensors` are named without `prefix`, the adapter's layers with or without it; what matches the pattern `ignored`
    does not belong to the model here.  With `conv1d` the weights stand as they act, x W, and get s Aᵀ Bᵀ.  The factors
    are rounded to the dtype of the weights.  Raises `InputError` for layers that the model does not have or the adapter
    lacks, `ShapeError` for factors that do not fit, `UnsupportedError` for a layer that is in no block.
    """
    if adapter is None:
        return dict(tensors)
    try:
        return dict(tensors) | _updated(tensors, adapter, prefix, ignored, conv1d)
    except (InputError, ShapeError, UnsupportedError) as error:
        raise type(error)(f"adapter {adapter.folder}: {error}") from None


def _updated(tensors: Tensors, adapter: Adapter, prefix: str, ignored: str, conv1d: bool) -> dict[str, Adapted]:
    linear = [n.removesuffix(".weight") for n, W in tensors.items() if W.ndim == 2 and IN_BLOCK.search(n)]
    updates = {name.removeprefix(prefix): update for name, update in adapter.layers.items()}
    _check_layers(adapter, updates, linear, prefix, ignored)
    if adapter.config.fan_in_fan_out != conv1d:
        warnings.warn(
            f"got fan_in_fan_out = {not conv1d} of {adapter.folder}, computed with {conv1d}, as the layers are",
            stacklevel=7,  # the caller of load_model
        )
    return {
        f"{name}.weight": _beside(name, tensors[f"{name}.weight"], updates[name], conv1d)
        for name in linear
        if name in updates
    }


def _check_layers(
    adapter: Adapter, updates: Mapping[str, LowRank], linear: list[str], prefix: str, ignored: str
) -> None:
    """The adapter must belong to those layers of the model that its config names."""
    config, such_as = adapter.config, f"such as {linear[0]!r}; take the adapter of this model"
    lead = prefix if any(name.startswith(prefix) for name in adapter.layers) else ""
    others = [name for name in updates if name not in linear and not re.fullmatch(ignored, f"{name}.weight")]
    outside = [name for name in others if not IN_BLOCK.search(f"{name}.weight")]
    if outside:
        raise UnsupportedError(f"got an adapter of {outside[0]!r}, supported are linear layers of the blocks")
    refuse("an adapter of", others, f"wanted linear layers of the model, {such_as}")
    targeted = [name for name in linear if lead + name in config.targets]
    refuse("no adapter of", (n for n in targeted if n not in updates), "wanted it: target_modules names it")
    strangers = (name for name in linear if name in updates and name not in targeted)
    refuse("an adapter of", strangers, "wanted none: target_modules does not name it")
    modules = () if isinstance(config.targets.modules, str) else config.targets.modules
    idle = (m for m in modules if not any(is_named(lead + name, (m,)) for name in {*linear, *updates}))
    refuse("target_modules with", idle, f"wanted layers of the model, {such_as}")


def _beside(name: str, W: np.ndarray, update: LowRank, conv1d: bool) -> Adapted:
    """W + s B A of a `Linear`, W + s Aᵀ Bᵀ of a `Conv1D`."""
    out, into = W.shape[::-1] if conv1d else W.shape
    if (update.A.shape[1], update.B.shape[0]) != (into, out):
        got, wanted = f"lora_A {update.A.shape} and lora_B {update.B.shape}", f"(r, {into}) and ({out}, r)"
        raise ShapeError(f"got {got} for {name}, wanted {wanted}; take the adapter of this model")
    A, B = cast(f"lora_A of {name}", update.A, W.dtype), cast(f"lora_B of {name}", update.B, W.dtype)
    left, right = (A.T, B.T) if conv1d else (B, A)
    return Adapted(W, left, right, cast(f"the scale of {name}", np.asarray(update.scale), W.dtype))
