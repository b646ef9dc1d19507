"""A model of a checkpoint, by the description of its family."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from uat_jax.errors import InputError, UnsupportedError
from uat_jax.networks.activations import ACTIVATIONS
from uat_jax.networks.adapted import Adapted, multiplied, on_columns
from uat_jax.networks.block import Block
from uat_jax.networks.checkpoint import Checkpoint
from uat_jax.networks.decoder import Embedding
from uat_jax.networks.families.adapter import Adapter, adapted
from uat_jax.networks.families.config import Config
from uat_jax.networks.families.description import WITHOUT_EFFECT, End, Family
from uat_jax.networks.families.description import Head as HeadNames
from uat_jax.networks.families.heads import check_heads, multi_head, split_qkv, turning_pairs
from uat_jax.networks.families.rotary import longest
from uat_jax.networks.families.tensors import Tensors, numbered, prefix_of, prefixed, select, under
from uat_jax.networks.feed_forward_part import FeedForward, GatedFeedForward, MixtureOfGated
from uat_jax.networks.model import Affine, Architecture, Distances, Head, Model
from uat_jax.networks.multihead import MultiHead
from uat_jax.networks.norms import LayerNorm, Norm, RMSNorm
from uat_jax.networks.rope_scaling import Rope
from uat_jax.networks.state_space import StateSpace
from uat_jax.typing import JsonObject

UNLIMITED = 2**31 - 1
"""Positions of a model that counts distances only."""

MATRICES: Mapping[str, tuple[str, str]] = {
    "query": ("h d", "M"),
    "key": ("g d", "M"),
    "value": ("g d", "M"),
    "qkv": ("(h + 2g) d", "M"),
    "output": ("M", "h d"),
    "hidden": ("F", "M"),
    "project": ("M", "F"),
    "gate": ("F", "M"),
    "up": ("F", "M"),
    "down": ("M", "F"),
    "gate_up": ("2F", "M"),
    "router": ("E", "M"),
    "into_gate": ("2F", "M"),
    "steering": ("R + 2S", "F"),
    "step": ("F", "R"),
    "out": ("M", "F"),
}
"""Role → axes of a matrix that stands transposed, as that of a ``Linear`` does: its rows are what it gives."""
TABLES: Mapping[str, tuple[str, str]] = {
    "embedding": ("V", "e"),
    "positions": ("P'", "e"),
    "types": ("T", "e"),
    "affine": ("M", "e"),
    "distances": ("B", "h"),
}
OF_IMAGES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "patches": {".weight": ("M", "c", "p", "p"), ".bias": ("M",)},
    "start": {"": ("1", "1", "M")},
    "places": {"": ("1", "P", "M")},
}
OF_CHANNELS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "convolution": {".weight": ("F", "1", "K"), ".bias": ("F",)},
    "decay": {"": ("F", "S")},
    "skip": {"": ("F",)},
}
"""Role → what stands behind its name → axes, of a state space."""
NORMS_OF_BLOCK = ("norm_1", "norm_2", "after_1", "after_2")
NORMS_OF_SCORES = ("query_norm", "key_norm")
NORMS_OF_WHOLE = ("embedding_norm", "final_norm")


def model_of(
    family: Family,
    architecture: str,
    checkpoint: Checkpoint,
    dtype: jax.typing.DTypeLike | None = None,
    adapter: Adapter | None = None,
) -> Model:
    """The model of a checkpoint.

    Raises what `select`, `adapted` and `Config` raise, and `UnsupportedError` for options that change what is computed
    and are not supported.  Warns of options that nothing is known of.
    """
    config, end = Config(checkpoint.config), family.architectures[architecture]
    for name, value in {**family.only, "quantization_config": None}.items():
        config.only(name, value)
    return _Building(family, end, config, _sizes(family, config, checkpoint), checkpoint).model(dtype, adapter)


def _sizes(family: Family, config: Config, checkpoint: Checkpoint) -> dict[str, int]:
    """The size of every axis, from the config."""
    sizes: dict[str, int] = {}
    for letter, size in family.sizes.items():
        default = size.default(sizes) if callable(size.default) else size.default
        if not size.name:
            sizes[letter] = int(default or 0)
            continue
        name = size.also if size.also is not None and config.given(size.also) else size.name
        sizes[letter] = config.integer(name, default, most=len(checkpoint.tensors) if letter == "L" else None)
    M, h, names = sizes["M"], sizes["h"], {letter: size.name for letter, size in family.sizes.items()}
    if family.groups is not None:
        sizes["g"] = family.groups(config, sizes)
    g = sizes.setdefault("g", h)
    if "g" in names:
        check_heads(g, h, f"{names['g']} and {names['h']}")
    if "d" not in names or not config.given(names["d"]):
        check_heads(h, M, f"{names['h']} and {names['M']}")
    d = sizes.setdefault("d", M // h)
    sizes |= {"h d": h * d, "g d": g * d, "(h + 2g) d": (h + 2 * g) * d, "2F": 2 * sizes["F"]}
    sizes["R + 2S"] = sizes.get("R", 0) + 2 * sizes.get("S", 0)
    sizes["P'"] = sizes.get("P", 0) + family.offset
    sizes.setdefault("e", M)
    return sizes | {"1": 1}


@dataclass
class _Building:
    """A model on the way from its checkpoint."""

    family: Family
    end: End
    config: Config
    sizes: dict[str, int]
    checkpoint: Checkpoint

    def model(self, dtype: jax.typing.DTypeLike | None, adapter: Adapter | None) -> Model:
        """The model, its arrays in `dtype` and its layers with the adapter."""
        family, sizes = self.family, self.sizes
        self.block, self.whole = self._names()
        self.over = dict(family.options(self.config, sizes))
        self.times = dict(family.multipliers(self.config, sizes))
        prefix = prefix_of(self.checkpoint, family.prefix) if family.prefix else ""
        axes = prefixed({**self._whole_axes(), **numbered(self._block_axes(), family.layer, sizes["L"])}, prefix)
        ignored = f"({re.escape(family.prefix)})?({family.buffers or '(?!)'})|{family.head_buffers or '(?!)'}"
        end = self._end_axes(prefix)
        named = select(self.checkpoint, axes | end, sizes, ignored=ignored, dtype=dtype)
        base = {name: array for name, array in named.items() if name in axes}
        tensors = adapted(under(base, prefix), adapter, prefix=family.prefix, ignored=ignored, conv1d=family.conv1d)
        architecture, embedding = self._architecture(), self._embedding(tensors)
        model = Model(
            embedding,
            tuple(self._one_block(under(tensors, family.layer.format(j))) for j in range(sizes["L"])),
            self._norm(tensors, self.whole.get("embedding_norm"), "e"),
            self._norm(tensors, self.whole.get("final_norm"), "M"),
            self._unembedding(named, prefix),
            architecture,
            self._affine(tensors),
            Distances(tensors[f"{self.whole['distances']}.weight"]) if "distances" in self.whole else None,
            self._head(named, prefix),
            named[f"{self.end.unembedding}.bias"] if self.end.bias else None,
        )
        self._say_what_is_ignored()
        return model

    def _names(self) -> tuple[dict[str, str], dict[str, str]]:
        """Role → name, of the tensors of a block and of the others."""
        more = self.family.names(self.config, self.sizes)
        of_whole = {role: name for role, name in more.items() if role in TABLES or role in NORMS_OF_WHOLE}
        of_block = {role: name for role, name in more.items() if role not in of_whole}
        return {**self.family.block, **of_block}, {**self.family.whole, **of_whole}

    # --- which tensors there must be --------------------------------------------------------------------------------

    def _block_axes(self) -> dict[str, tuple[str, ...]]:
        axes: dict[str, tuple[str, ...]] = {}
        for role, name in self.block.items():
            if role in NORMS_OF_BLOCK:
                axes |= self._norm_axes(name, "M")
            elif role in OF_CHANNELS:
                axes |= {f"{name}{part}": row for part, row in OF_CHANNELS[role].items()}
            elif role in NORMS_OF_SCORES:
                axes[f"{name}.weight"] = (("h d" if role == "query_norm" else "g d") if self.family.together else "d",)
            else:
                for each in self._of_experts(name):
                    axes[f"{each}.weight"] = MATRICES[role][::-1] if self.family.conv1d else MATRICES[role]
                    axes |= {f"{each}.bias": MATRICES[role][:1]} if self._has_bias(role) else {}
        return axes

    def _whole_axes(self) -> dict[str, tuple[str, ...]]:
        axes: dict[str, tuple[str, ...]] = {}
        for role, name in self.whole.items():
            if role in OF_IMAGES:
                axes |= {f"{name}{part}": row for part, row in OF_IMAGES[role].items()}
            elif role in TABLES:
                axes[f"{name}.weight"] = TABLES[role]
                axes |= {f"{name}.bias": ("M",)} if role == "affine" else {}
            else:
                axes |= self._norm_axes(name, "e" if role == "embedding_norm" else "M")
        return axes

    def _norm_axes(self, name: str, size: str) -> dict[str, tuple[str, ...]]:
        parts = {"layer": ("weight", "bias"), "rms": ("weight",), "rms+1": ("weight",), "fixed": ()}[self.family.norm]
        return {f"{name}.{part}": (size,) for part in parts}

    def _end_axes(self, prefix: str) -> dict[str, tuple[str, ...]]:
        end, head = self.end, self.end.head
        if head is not None:
            masked, out, dense = end.reads == "each", f"{head.out}.weight", self._dense(head, prefix)
            inner = "e" if masked else "M"
            axes: dict[str, tuple[str, ...]] = {f"{dense}.weight": (inner, "M"), f"{dense}.bias": (inner,)}
            axes |= {f"{head.norm}.{part}": (inner,) for part in ("weight", "bias") if head.norm is not None}
            words = self._outputs(out) if not masked else "V"
            axes[head.out_bias or f"{head.out}.bias"] = (words,)
            return axes if masked and self._is_tied(out, True) else axes | {out: (words, inner)}
        if end.unembedding is None:
            return {}
        out = f"{end.unembedding}.weight"
        words = "V" if end.reads == "each" else self._outputs(out)
        axes = {f"{end.unembedding}.bias": (words,)} if end.bias else {}
        return axes if self._is_tied(out, end.tied) else axes | {out: (words, "M")}

    def _outputs(self, name: str) -> str:
        """The number of labels is that of the rows of their matrix."""
        self.sizes["labels"] = len(self.checkpoint.tensors.get(name, ()))
        return "labels"

    def _is_tied(self, name: str, default: bool | None) -> bool:
        """Whether the matrix is the embedding's and is not there once more."""
        tied = default is not None and self.config.flag("tie_word_embeddings", default)
        return tied and name not in self.checkpoint.tensors

    def _dense(self, head: HeadNames, prefix: str) -> str:
        return prefix + head.dense if head.inside else head.dense

    def _of_experts(self, name: str) -> list[str]:
        return [name.format(e=e) for e in range(self.sizes["E"])] if "{e}" in name else [name]

    def _has_bias(self, role: str) -> bool:
        said = self.family.biases.get(role, False)
        return self.config.flag(*said) if isinstance(said, tuple) else said

    # --- what is made of them ---------------------------------------------------------------------------------------

    def _architecture(self) -> Architecture:
        family, config, sizes = self.family, self.config, self.sizes
        epsilon = config.number(*family.epsilon) if isinstance(family.epsilon, tuple) else family.epsilon
        positions = sizes.get("P", UNLIMITED)
        if "positions" not in self.whole and "P" in sizes:
            positions = longest(config, positions)
        if family.behind_padding:
            positions -= self._first_position()
        activation = None if self.end.head is None else self.end.head.activation
        entries: JsonObject = {
            "family": family.model_type,
            "kind": family.kind,
            "epsilon": epsilon,
            "causal": family.causal,
            "positions": positions,
            "padding": config.padding(),
            "together": family.together,
            "reads": self.end.reads,
        }
        if "activation" not in self.over:
            entries["activation"] = config.activation(*family.activation)
        entries |= self.over
        if self.end.head is not None:
            entries["head"] = entries["activation"] if activation is None else ACTIVATIONS[activation]
        return Architecture(**entries)

    def _first_position(self) -> int:
        if not self.family.behind_padding:
            return self.family.offset
        token = self.config.look("pad_token_id")
        if type(token) is not int or not 0 <= token < self.sizes["P"] - 1:
            raise InputError(f"got pad_token_id = {token!r:.60}, wanted a number below that of the positions")
        return token + 1

    def _embedding(self, tensors: Tensors) -> Embedding:
        if "patches" in self.whole:
            return self._embedding_of_patches(tensors)
        of = lambda role: tensors[f"{self.whole[role]}.weight"] if role in self.whole else None
        tokens, positions, types = of("embedding"), of("positions"), of("types")
        if positions is not None:
            positions = positions[self._first_position() :]
            positions = positions if types is None else positions + types[:1]
        return Embedding(self._scaled(tokens, "embedding"), positions)

    def _embedding_of_patches(self, tensors: Tensors) -> Embedding:
        """The start and the bias of the patches stand in the positions."""
        patches, start, places = (self.whole[role] for role in OF_IMAGES)
        W, bias = tensors[f"{patches}.weight"], tensors[f"{patches}.bias"]
        positions = np.concatenate([tensors[start][0], np.tile(bias, (self.sizes["P"] - 1, 1))]) + tensors[places][0]
        return Embedding(W.reshape(len(W), -1).T, positions)

    def _scaled(self, array: Any, what: str) -> Any:
        """The array times what the family multiplies it by; a bias may be None."""
        factor = self.times.get(what, 1.0)
        return array if array is None or factor == 1.0 else multiplied(array, factor)

    def _affine(self, tensors: Tensors) -> Affine | None:
        if "affine" not in self.whole:
            return None
        name = self.whole["affine"]
        return Affine(tensors[f"{name}.weight"].T, tensors[f"{name}.bias"])

    def _norm(self, tensors: Tensors, name: str | None, size: str) -> Norm | None:
        if name is None:
            return None
        if self.family.norm == "fixed":
            like = next(iter(tensors.values()))
            ones: Any = np.ones(self.sizes[size], like.dtype)
            return LayerNorm(ones, 0 * ones)
        weight = tensors[f"{name}.weight"]
        if self.family.norm == "layer":
            return LayerNorm(weight, tensors[f"{name}.bias"])
        return RMSNorm(weight + np.ones((), weight.dtype) if self.family.norm == "rms+1" else weight)

    def _one_block(self, tensors: Tensors) -> Block:
        norms = [self._norm(tensors, self.block.get(role), "M") for role in NORMS_OF_BLOCK]
        attention = None if self.family.kind == "lone" else self._attention(tensors)
        return Block(attention, self._feed_forward(tensors), *norms)

    def _linear(self, tensors: Tensors, role: str) -> tuple[Any, Any]:
        """The matrix of a role as it acts, x W, and its bias or None."""
        name = self.block[role]
        W = tensors[f"{name}.weight"]
        return (W if self.family.conv1d else W.T), tensors.get(f"{name}.bias")

    def _attention(self, tensors: Tensors) -> MultiHead:
        h, g = self.sizes["h"], self.sizes["g"]
        if "qkv" in self.block:
            W, b = self._linear(tensors, "qkv")
            layout = self.family.fused
            matrices = split_qkv(W, layout, h, g)
            biases = [None] * 3 if b is None else split_qkv(b, layout, h, g)
        else:
            pairs = [self._linear(tensors, role) for role in ("query", "key", "value")]
            matrices, biases = ([pair[place] for pair in pairs] for place in (0, 1))
        norms = [
            self._norm_of_scores(tensors, role, heads) for role, heads in zip(NORMS_OF_SCORES, (h, g), strict=True)
        ]
        for place, heads in enumerate((h, g)):
            matrices[place], biases[place] = (self._turned(part, heads) for part in (matrices[place], biases[place]))
        output, output_bias = (self._scaled(part, "residual") for part in self._linear(tensors, "output"))
        attention = multi_head(matrices, biases, output, output_bias, h, g, g)
        return attention._replace(query_norm=norms[0], key_norm=norms[1])

    def _norm_of_scores(self, tensors: Tensors, role: str, heads: int) -> Any:
        """γ of every head, (h, d)."""
        if role not in self.block:
            return None
        gamma = tensors[f"{self.block[role]}.weight"]
        gamma = gamma + np.ones((), gamma.dtype) if self.family.norm == "rms+1" else gamma
        rows = gamma.reshape(heads, -1) if self.family.together else np.broadcast_to(gamma, (heads, len(gamma)))
        return self._turned(np.ascontiguousarray(rows).reshape(-1), heads).reshape(heads, -1)

    def _turned(self, array: Any, heads: int) -> Any:
        ropes = self.over.get("rope")
        ropes = [rope for rope in (ropes if isinstance(ropes, tuple) else (ropes,)) if rope is not None]
        if array is None or not ropes or self.family.pairs:
            return array
        (turned,) = {rope.turned if isinstance(rope, Rope) else None for rope in ropes}
        return turning_pairs(array, heads, turned)

    def _feed_forward(self, tensors: Tensors) -> Any:
        if "router" in self.block:
            self._check_no_adapter(tensors)
            stacked: dict[str, Any] = {
                role: np.stack([tensors[f"{name}.weight"].T for name in self._of_experts(self.block[role])])
                for role in ("gate", "up", "down")
            }
            router, _ = self._linear(tensors, "router")
            return MixtureOfGated(router, **stacked)
        if "decay" in self.block:
            return self._state_space(tensors)
        if "hidden" in self.block:
            project = (self._scaled(part, "residual") for part in self._linear(tensors, "project"))
            return FeedForward(*self._linear(tensors, "hidden"), *project)
        if "gate_up" in self.block:
            both, _ = self._linear(tensors, "gate_up")
            gate, up = (on_columns(lambda W, half=half: np.split(W, 2, axis=-1)[half], both) for half in (0, 1))
        else:
            gate, up = (self._linear(tensors, role)[0] for role in ("gate", "up"))
        return GatedFeedForward(gate, up, self._scaled(self._linear(tensors, "down")[0], "residual"))

    def _state_space(self, tensors: Tensors) -> StateSpace:
        """A_log is log(−A); x_proj gives what Δ is made of, then B, then C."""
        of, (R, S) = self.block, (self.sizes["R"], self.sizes["S"])
        part = lambda W, k, *ends: on_columns(lambda columns: np.split(columns, ends, axis=-1)[k], W)
        both, steering = (self._linear(tensors, role)[0] for role in ("into_gate", "steering"))
        into, gate = (part(both, k, self.sizes["F"]) for k in range(2))
        step_in, write, read = (part(steering, k, R, R + S) for k in range(3))
        return StateSpace(
            into,
            gate,
            tensors[f"{of['convolution']}.weight"][:, 0].T,
            tensors[f"{of['convolution']}.bias"],
            step_in,
            write,
            read,
            *self._linear(tensors, "step"),
            -np.exp(tensors[of["decay"]]),
            tensors[of["skip"]],
            self._linear(tensors, "out")[0],
        )

    def _check_no_adapter(self, tensors: Tensors) -> None:
        parts = (each for role in ("router", "gate", "up", "down") for each in self._of_experts(self.block[role]))
        changed = next((name for name in parts if isinstance(tensors[f"{name}.weight"], Adapted)), None)
        if changed is not None:
            raise UnsupportedError(f"got an adapter of {changed!r}, supported are layers that are not of experts")

    def _unembedding(self, named: Tensors, prefix: str) -> Any:
        if self.end.unembedding is None:
            return None
        return self._scaled(self._out(named, prefix, f"{self.end.unembedding}.weight", self.end.tied), "logits")

    def _out(self, named: Tensors, prefix: str, name: str, default: bool | None) -> jax.Array:
        """W_U, the transpose of the matrix called `name` or, if it is tied, of the embedding."""
        tied = default is not None and self.config.flag("tie_word_embeddings", default)
        if not tied:
            return named[name].T
        embedding = f"{prefix}{self.whole['embedding']}.weight"
        if name in named and not np.array_equal(named[name], named[embedding]):
            raise InputError(
                f"got {name} unlike {embedding} and tie_word_embeddings, wanted one matrix; see config.json"
            )
        return named[embedding].T

    def _head(self, named: Tensors, prefix: str) -> Head | None:
        names = self.end.head
        if names is None:
            return None
        dense, masked = self._dense(names, prefix), self.end.reads == "each"
        norm = (
            None if names.norm is None else LayerNorm(*(named[f"{names.norm}.{part}"] for part in ("weight", "bias")))
        )
        out = self._out(named, prefix, f"{names.out}.weight", True if masked else None)
        return Head(
            named[f"{dense}.weight"].T, named[f"{dense}.bias"], norm, out, named[names.out_bias or f"{names.out}.bias"]
        )

    def _say_what_is_ignored(self) -> None:
        known = self.config.asked | WITHOUT_EFFECT | self.family.ignored | self.family.only.keys()
        others = [name for name, value in self.config.entries.items() if name not in known and value is not None]
        if others:
            warnings.warn(
                f"ignored in config.json, not known for {self.family.model_type}: {', '.join(sorted(others))}",
                stacklevel=6,  # the caller of load_model
            )
