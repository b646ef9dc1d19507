"""A small model of another's form: the same parts and options, few layers, tokens and features."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike

from uat_jax.networks.adapted import Adapted, without_adapter
from uat_jax.networks.block import Block
from uat_jax.networks.decoder import EMBEDDING_AXES, Embedding
from uat_jax.networks.feed_forward_part import (
    FEED_FORWARD_AXES,
    GATED_AXES,
    MIXTURE_AXES,
    MIXTURE_OF_GATED_AXES,
    FeedForward,
    GatedFeedForward,
    MixtureOfExperts,
    MixtureOfGated,
)
from uat_jax.networks.fields import bind_fields
from uat_jax.networks.model import Affine, Architecture, Distances, Model
from uat_jax.networks.multihead import MULTIHEAD_AXES, MultiHead
from uat_jax.networks.norms import LAYER_NORM_AXES, RMS_NORM_AXES, LayerNorm, RMSNorm
from uat_jax.networks.rope_scaling import Dynamic, LongRope, Rope
from uat_jax.networks.shapes import Axes
from uat_jax.networks.stack import stack
from uat_jax.networks.state_space import STATE_SPACE_AXES, StateSpace
from uat_jax.typing import PyTree

AXES: Mapping[type, Axes] = {
    Embedding: EMBEDDING_AXES,
    MultiHead: MULTIHEAD_AXES,
    FeedForward: FEED_FORWARD_AXES,
    GatedFeedForward: GATED_AXES,
    MixtureOfExperts: MIXTURE_AXES,
    MixtureOfGated: MIXTURE_OF_GATED_AXES,
    StateSpace: STATE_SPACE_AXES,
    Affine: {"matrix": ("e'", "M"), "bias": ("M",)},
    Distances: {"scores": ("B", "h")},
    LayerNorm: LAYER_NORM_AXES,
    RMSNorm: RMS_NORM_AXES,
}
MOST = 2
"""Layers, groups, heads of a group, their features, experts, ranks: of two, where there are more, one can be taken for
the other; and a lost 1/√d shows."""
WIDEST = 4
"""The largest ratio of features, hidden features and heads' features that is kept."""


def small_model(model: Model) -> Model:
    """`jax.ShapeDtypeStruct`s in place of the parameters, in float32: of them only the shapes are known.

    Kept are the kind of block, activation, ε, mask, RoPE, norms, biases, adapters and ends; of the ratios h/g, M/hd and
    F/M what fits below `MOST` and `WIDEST`.  There are two tokens, three where a window must hide one: it sees two.
    Where layers have other windows or angles, there is one of each kind.  Every layer has an adapter wherever any layer
    has one: a product with W is a part of that with W + s L R.  What follows the linear part of the output is left out:
    a `Head`, the bias and the cap of logits.

    Raises `InputError` or `ShapeError` for no layers, and for layers that differ in more than their adapters.
    """
    jax.eval_shape(stack, tuple(map(without_adapter, model.blocks)))
    sizes, of = _small(model), model.architecture
    inner = sizes | {"M": sizes["e'"]} if model.affine is not None else sizes
    structure: Callable[..., PyTree] = lambda part, sizes=sizes: _structure(part, sizes)
    fullest, layers = _fullest(tuple(model.blocks)), _of_each_kind(of, len(model.blocks))
    unembedding: Any = jax.ShapeDtypeStruct((sizes["M"], sizes["V"]), jnp.float32)
    return Model(
        structure(model.embedding, inner),
        tuple(Block(*map(structure, fullest)) for _ in layers),
        structure(model.embedding_norm, inner),
        structure(model.final_norm),
        None if model.unembedding is None else unembedding,
        _small_architecture(of.only(layers), sizes),
        structure(model.affine),
        structure(model.distances),
    )


def _of_each_kind(of: Architecture, layers: int) -> tuple[int, ...]:
    """The first layers of each kind of window and RoPE; at least `MOST`, if there are."""
    kinds = dict.fromkeys(of.attends(layer) for layer in range(1, layers + 1))
    first = [next(n for n in range(1, layers + 1) if of.attends(n) == kind) for kind in kinds]
    others = (layer for layer in range(1, layers + 1) if layer not in first)
    return tuple(sorted([*first, *list(others)[: max(MOST - len(first), 0)]]))


def _small_architecture(of: Architecture, sizes: Mapping[str, int]) -> Architecture:
    """Windows of two tokens, half of four features turned where not all of a head are, and no cap of logits."""
    window = lambda each: None if each is None else 2
    each_layer = lambda f, entry: tuple(map(f, entry)) if isinstance(entry, tuple) else f(entry)
    return dataclasses.replace(
        of,
        positions=sizes["P"],
        window=each_layer(window, of.window),
        rope=each_layer(_small_rope, of.rope),
        top=None if of.top is None else min(of.top, sizes["E"]),
        reads="each",
        head=None,
        logit_cap=None,
    )


def _small_rope(rope: Any) -> Any:
    """RoPE for heads of two features, or four; how `Dynamic` frequencies follow the length does not show in it."""
    if not isinstance(rope, Rope):
        return rope
    scaling = None if isinstance(rope.scaling, Dynamic) else rope.scaling
    if isinstance(scaling, LongRope):
        scaling = dataclasses.replace(scaling, short=scaling.short[:1], long=scaling.long[:1])
    return Rope(rope.base, None if rope.turned is None else 2, scaling)


def _turns_some(of: Architecture) -> bool:
    ropes = of.rope if isinstance(of.rope, tuple) else (of.rope,)
    return any(isinstance(rope, Rope) and rope.turned is not None for rope in ropes)


def _fullest(blocks: tuple[Block, ...]) -> Block:
    """A block with the adapters of all."""
    rank = lambda W: W.left.shape[-1] if isinstance(W, Adapted) else 0
    most = lambda *each: max(each, key=rank)
    return jax.tree.map(most, *blocks, is_leaf=lambda node: isinstance(node, Adapted))


def sizes_of(model: Model) -> dict[str, int]:
    """Layers L, tokens N at most, words V, features M, heads h of width d in g groups, F hidden features, E experts; of
    state spaces F channels, S states of each, R and K.
    """
    block = model.blocks[0]
    sizes = bind_fields(block.feed_forward, AXES[type(block.feed_forward)])
    sizes |= {} if block.attention is None else bind_fields(block.attention, MULTIHEAD_AXES)
    named = {name: sizes[name] for name in "MhgdFERSK" if name in sizes}
    V = model.embedding.tokens.shape[0]
    return {"L": len(model.blocks), "N": model.architecture.positions, "V": V, **named}


def _small(model: Model) -> dict[str, int]:
    """The size of every axis of the small model."""
    of = sizes_of(model)
    if "h" not in of:
        return _small_of_state_spaces(of)
    g, r = min(of["g"], MOST), min(of["h"] // of["g"], MOST)
    d = 4 if _turns_some(model.architecture) else min(of["d"], MOST)
    M = max(_scaled(g * r * d, of["M"] / (of["h"] * of["d"])), 3)  # a LayerNorm of two features is little but a sign
    windows = model.architecture.window
    N = 2 if all(window is None for window in (windows if isinstance(windows, tuple) else (windows,))) else 3
    sizes = {"V": N, "P": N, "M": M, "C": M, "M'": M, "h": g * r, "g": g, "d": d, "e": d}
    sizes |= {"e'": 3, "B": 4}
    return sizes | {"F": _scaled(M, of["F"] / of["M"]), "E": min(of.get("E", 1), MOST)}


def _small_of_state_spaces(of: Mapping[str, int]) -> dict[str, int]:
    """Two states, one number that Δ is made of, and two tokens or three, so that the recurrence is carried on."""
    sizes = {name: min(of[name], MOST) for name in "RSK"}
    return sizes | {"V": 3, "P": 3, "M": 2, "F": 2, "e'": 3, "B": 4}


def _scaled(size: int, ratio: float) -> int:
    return max(round(size * min(ratio, WIDEST)), 1)


def _structure(part: Any, sizes: Mapping[str, int]) -> Any:
    """A part with the shapes that its axes now have."""
    if part is None:
        return None
    shapes = {name: tuple(sizes[axis] for axis in axes) for name, axes in AXES[type(part)].items()}
    return type(part)(**{name: _array(getattr(part, name), shape) for name, shape in shapes.items()})


def _array(array: ArrayLike, shape: tuple[int, ...]) -> Any:
    """The structure of an array, or of the factors of one."""
    if array is None:
        return None
    if not isinstance(array, Adapted):
        return jax.ShapeDtypeStruct(shape, jnp.float32)
    rank = min(array.left.shape[-1], MOST)
    left, right = (*shape[:-1], rank), (*shape[:-2], rank, shape[-1])
    shapes = shape, left[-array.left.ndim :], right[-array.right.ndim :], ()
    return Adapted(*(jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes))
