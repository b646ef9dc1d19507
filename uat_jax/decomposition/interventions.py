"""What changes when one term, head or token is taken away or replaced: exactly, in the frozen network, and a bound.

The exact change is that of the network run again, with everything behind the place free to follow.  Between it and
the contribution stands the network with everything but σ frozen: a difference d of its states follows
d_j = A_j d_{j−1} + C_j Δσ_j, so that with λ a Lipschitz constant of σ

    ‖x_L − x̃_L‖ ≤ r_L ⋯ r_{k+1} ‖d_k‖,    r_j = ‖A_j‖ + λ ‖C_j‖ ‖B̄_j‖,

and a change e of what the attention of layer k adds makes ‖d_k‖ ≤ (‖out‖ + λ ‖C_k‖ ‖inner‖) ‖through‖ ‖e‖ (`Within`).
For the network itself, whose attention and norms follow their input, no bound of this form holds.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp

from uat_jax.decomposition.attribution import Output
from uat_jax.decomposition.cache import Whole, activations
from uat_jax.decomposition.frozen import frozen_attention, with_value_bias
from uat_jax.decomposition.parameters import Layer, operators
from uat_jax.decomposition.removal import bound, size, states
from uat_jax.decomposition.streams import KINDS, Streams
from uat_jax.errors import InputError, ShapeError
from uat_jax.networks.adapted import sum_of_products
from uat_jax.networks.block import BlockOptions, attention_of
from uat_jax.networks.feed_forward_part import AnyFeedForward
from uat_jax.networks.model import Model
from uat_jax.networks.multihead import MultiHead
from uat_jax.networks.stack import carry
from uat_jax.typing import PyTree


class Place(NamedTuple):
    """Where something is replaced: ``layer 2`` (its activation's term), ``layer 2 head 3``, ``token 4`` (from 0)."""

    layer: int | None
    """None for a token."""
    head: int | None
    token: int | None


class Intervention(NamedTuple):
    """The features x_L with one thing replaced, (N, M) each."""

    before: jax.Array
    """x_L as it was."""
    rerun: jax.Array
    """What the network itself gives."""
    frozen: jax.Array
    """What the network with everything but σ frozen gives."""
    bound: jax.Array | None
    """At least ‖before − frozen‖, the largest length of a token's difference, if λ was given."""

    def change(self, model: Model, output: Output) -> jax.Array:
        """By how much an output changes, exactly: that of the network run again minus what it was."""
        return output(model, model.features(self.rerun)) - output(model, model.features(self.before))


_PLACE = re.compile(r"layer (?P<layer>[0-9]{1,6})(?: head (?P<head>[0-9]{1,6}))?|token (?P<token>[0-9]{1,9})")


def read_place(text: str, model: Model, tokens: int) -> Place:
    """The place that a text names.  Raises `InputError` for another form, and for what the model or text has not."""
    found = _PLACE.fullmatch(text)
    if found is None:
        raise InputError(f'got the place {text!r}, wanted "layer 2", "layer 2 head 3" or "token 4"')
    place = Place(*(None if number is None else int(number) for number in found.group("layer", "head", "token")))
    if place.token is not None and place.token >= tokens:
        raise InputError(f"got {text!r}, wanted token 0 to {tokens - 1}")
    if place.layer is None:
        return place
    if not 1 <= place.layer <= len(model.blocks):
        raise InputError(f"got {text!r}, wanted layer 1 to {len(model.blocks)}")
    heads = model.blocks[place.layer - 1].heads
    if place.head is not None and not 1 <= place.head <= heads:
        wanted = f"wanted head 1 to {heads} of layer {place.layer}" if heads else "wanted a layer: there are no heads"
        raise InputError(f"got {text!r}, {wanted}")
    return place


def intervene(
    model: Model,
    tokens: jax.Array,
    place: str,
    value: jax.Array | None = None,
    *,
    lipschitz: float | None = None,
    precision: jax.lax.PrecisionLike = "highest",
) -> Intervention:
    """What follows if a term, a head or a token is ablated, or patched with a value of another run.

    Args:
        model: whose features they are.
        tokens: whole numbers, (N,).
        place: "layer 2" is the term of its activation, "layer 2 head 3" that head, "token 4" a row of x_0 (from 0).
        value: what stands there instead: the term C s without biases (N, M), before any norm behind it; what the head
            passes to its W_O (N, e), as `activations` gives it; a row of x_0 (M,).  None is zero: ablation.
        lipschitz: λ of σ, for the bound: 1 for tanh and relu, 1.13 for GELU, 1.1 for SiLU.
        precision: of every matrix product.

    Raises:
        InputError: a place that there is not.
        ShapeError: a value of another shape.

    Example:
        >>> other = activations(model, corrupted)
        >>> found = intervene(model, tokens, "layer 9 head 4", other.layers[8].heads[3])
        >>> found.change(model, Difference(Logit(-1, paris), Logit(-1, london)))
    """
    tokens = model.check_tokens(tokens)
    at = read_place(place, model, len(tokens))
    there = _there(model, tokens, at, precision)
    value = jnp.zeros_like(there) if value is None else jnp.asarray(value)
    if value.shape != there.shape:
        raise ShapeError(
            f"got a value of shape {value.shape} for {place!r}, wanted {there.shape}, that of what is there"
        )
    layers, x_0 = operators(model, tokens, precision=precision), model.embed(tokens)
    xs = states(layers, x_0)
    start = x_0 if at.token is None else x_0.at[at.token].set(value)
    rerun = _run(model, start, at, value, precision)
    k, changed, limit = at.layer or 0, start, jnp.sqrt(jnp.sum((value - there) ** 2, axis=-1))
    if at.head is not None:
        W_O = attention_of(model.blocks[k - 1]).output
        only = jnp.zeros((W_O.shape[0], *value.shape), value.dtype).at[at.head - 1].set(value - there)
        changed, limit = _attending(
            layers[k - 1], xs[k - 1], sum_of_products(only, W_O, precision=precision), lipschitz
        )
    elif at.layer is not None:
        joined = layers[k - 1].within.joined
        changed, limit = xs[k] + joined(value - there), bound(joined) * size(value - there)
    frozen = states(layers[k:], changed)[-1]
    if lipschitz is None:
        return Intervention(xs[-1], rerun, frozen, None)
    grown = [bound(of.A) + lipschitz * bound(of.C) * bound(of.B) for of in layers[k:]]
    return Intervention(xs[-1], rerun, frozen, functools.reduce(jnp.multiply, grown, limit))


def _there(model: Model, tokens: jax.Array, at: Place, precision: jax.lax.PrecisionLike) -> jax.Array:
    """What is to be replaced: a row of x_0, what a head passes on, or the term of an activation."""
    if at.token is not None:
        return model.embed(tokens)[at.token]
    of = activations(model, tokens, precision=precision).layers[(at.layer or 0) - 1]
    return of.term if at.head is None or of.heads is None else of.heads[at.head - 1]


def _attending(layer: Layer, x: jax.Array, e: jax.Array, lipschitz: float | None) -> tuple[jax.Array, jax.Array]:
    """x_j with e added to what the attention of the layer adds, all but σ frozen; and the bound of its change."""
    through, out, inner, _ = layer.within
    y, u = through(e), layer.B(x) + layer.b
    s = layer.activation(u if inner is None else u + inner(y))
    grown = bound(out) if inner is None else bound(out) + (lipschitz or 0.0) * bound(layer.C) * bound(inner)
    return layer.A(x) + layer.c + out(y) + layer.C(s), grown * bound(through) * size(e)


def _run(model: Model, x: jax.Array, at: Place, value: jax.Array, precision: jax.lax.PrecisionLike) -> jax.Array:
    """x_L from a given x_0, with the replacement: nothing is frozen."""
    options, kind = model.schedule(len(x), precision), KINDS[model.architecture.kind]
    step = lambda streams, block, layer: kind(block, streams, options(layer), _Replacing(at, value), layer)
    return carry(step, [x], model.blocks)[0]


@dataclass(frozen=True)
class _Replacing(Whole):
    """The forward pass with a head or a term replaced."""

    at: Place
    value: jax.Array

    def attention(
        self, inner: Streams, attention: MultiHead, options: BlockOptions, layer: PyTree
    ) -> tuple[Streams, jax.Array | None]:
        """What the attention adds, with one head replaced in its layer."""
        if self.at.head is None:
            return super().attention(inner, attention, options, layer)
        heads = with_value_bias(frozen_attention(attention, inner[0], options).heads(inner[0]), attention)
        heads = jnp.where(layer == self.at.layer, heads.at[self.at.head - 1].set(self.value), heads)
        shift = None if attention.output_bias is None else attention.output_bias[None]
        return [sum_of_products(heads, attention.output, precision=options.precision)], shift

    def activation(
        self, inner: Callable[[], Streams], part: AnyFeedForward, x: jax.Array, options: BlockOptions, layer: PyTree
    ) -> tuple[jax.Array, jax.Array | None]:
        """What the activation adds, replaced in its layer."""
        term, shift = super().activation(inner, part, x, options, layer)
        if self.at.layer is None or self.at.head is not None:
            return term, shift
        return jnp.where(layer == self.at.layer, self.value, term), shift
