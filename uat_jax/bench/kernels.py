"""The jitted functions of the package, each with the shapes it is lowered and compiled for: no array is made here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.sharding import AbstractMesh, Mesh
from jax.sharding import PartitionSpec as P
from jax.typing import DTypeLike

from uat_jax.bench.kernel import Call, Kernel, Sizes
from uat_jax.bench.models import model
from uat_jax.decide.trials import sharded
from uat_jax.decomposition import (
    closed_form,
    contributions,
    operators,
    similarity,
    similarity_by_token,
    terms,
    two_streams,
)
from uat_jax.decomposition.attribution import Coordinate
from uat_jax.decomposition.operators import Mixing
from uat_jax.errors import InputError
from uat_jax.ledger.layers.kernels import Kernels, letters
from uat_jax.lowering import LoweredRecursion
from uat_jax.networks import activation, initialise_residual, initialise_transformer
from uat_jax.networks.model import Model
from uat_jax.numbers.prime_fields.limbs import Limbs, byte_limbs, float_limbs
from uat_jax.numbers.prime_fields.modular_matmul import modular_matmul
from uat_jax.symbolic.recursion import closed_form_recursion
from uat_jax.typing import JsonObject, PyTree


def chosen(names: Sequence[str]) -> list[Kernel]:
    """The kernels of these names; all if there is no name.

    Raises:
        InputError: a name that no kernel has.
    """
    known = {kernel.name: kernel for kernel in KERNELS}
    for name in names:
        if name not in known:
            raise InputError(f"there is no kernel {name!r}; choose among {', '.join(known)}")
    return [known[name] for name in names] or list(KERNELS)


def array(*shape: int, dtype: DTypeLike = jnp.float32) -> Any:
    """A shape, and nothing in it."""
    return jax.ShapeDtypeStruct(shape, dtype)


# --- the networks of the papers, and their closed forms ------------------------------------------------------------

SIGMA = "gelu"
RESIDUAL = Sizes({"depth": 2, "width": 6, "hidden": 9}, {"depth": 3, "width": 128, "hidden": 512})
TRANSFORMER = Sizes(
    {"depth": 2, "tokens": 3, "features": 4, "heads": 2, "hidden": 5},
    {"depth": 2, "tokens": 4, "features": 32, "heads": 4, "hidden": 64},
)
"""A closed form of a Transformer holds matrices of (tokens · features)² entries."""


class Papers(NamedTuple):
    """A network of the papers as shapes, with both of its forms."""

    forms: Kernels
    layers: PyTree
    x: jax.Array

    @property
    def weights(self) -> JsonObject:
        """The letters of its closed form."""
        return jax.eval_shape(lambda layers: letters(self.forms.kind, layers), self.layers)

    def plain(self) -> Call:
        """The network as anyone would write it."""
        return Call(lambda layers, x: self.forms.plain((layers, x)), (self.layers, self.x))

    def merge(self) -> Call:
        """What does not depend on the input."""
        return Call(self.forms.lowered.merge, (self.weights,))

    def evaluate(self) -> Call:
        """The call that computes what depends on the input, for one input."""
        lowered = self.forms.lowered
        return Call(lowered.evaluate, (jax.eval_shape(lowered.merge, self.weights), array(self.x.size)))


def _residual(depth: int, width: int, hidden: int) -> Papers:
    draw = lambda key: initialise_residual(key, [width] * (depth + 1), [hidden] * depth)
    return Papers(Kernels("residual", depth, SIGMA), jax.eval_shape(draw, jax.random.key(0)), array(width))


def _transformer(depth: int, tokens: int, features: int, heads: int, hidden: int) -> Papers:
    widths, inside = [features] * (depth + 1), [hidden] * depth
    draw = lambda key: initialise_transformer(key, features=widths, heads=heads, hidden=inside)
    forms = Kernels("transformer", depth, SIGMA, heads=heads, tokens=tokens)
    return Papers(forms, jax.eval_shape(draw, jax.random.key(0)), array(tokens, features))


def _of_papers(kind: str, network: Callable[..., Papers], module: str, sizes: Sizes) -> tuple[Kernel, ...]:
    part = lambda method: lambda **size: method(network(**size))
    return (
        Kernel(kind, module, part(Papers.plain), sizes),
        Kernel(f"{kind}-merge", "uat_jax.lowering.program", part(Papers.merge), sizes),
        Kernel(f"{kind}-evaluate", "uat_jax.lowering.program", part(Papers.evaluate), sizes),
    )


def _looped(method: str) -> Callable[..., Call]:
    """The closed form of a residual network as a loop over stacked parameters."""

    def build(**size: int) -> Call:
        network = _residual(**size)
        looped = LoweredRecursion(closed_form_recursion("residual"), activation(SIGMA), parallel=method == "in rounds")
        weights = jax.eval_shape(looped.stacked, network.weights)
        if method == "evaluate":
            return Call(looped.evaluate, (jax.eval_shape(looped.merge, weights), network.x))
        return Call(looped.merge, (weights,))

    return build


# --- real models, and their decompositions -------------------------------------------------------------------------

MODEL = Sizes(
    {"depth": 2, "tokens": 5, "features": 8, "heads": 2, "hidden": 12, "vocabulary": 7},
    {"depth": 2, "tokens": 128, "features": 128, "heads": 4, "hidden": 512, "vocabulary": 1024},
)
"""A TPU's compiler writes large products out: at the widths of GPT-2 small it takes a minute for each layer."""


class Split(NamedTuple):
    """A function of (model, tokens), and where it is written."""

    function: Callable[[Model, jax.Array], PyTree]
    module: str


SPLITS: Mapping[str, Split] = {
    "forward": Split(Model.__call__, "uat_jax.networks.model"),
    "two-streams": Split(two_streams, "uat_jax.decomposition.decomposition"),
    "all-terms": Split(terms, "uat_jax.decomposition.decomposition"),
    "closed-form": Split(closed_form, "uat_jax.decomposition.closed_forms"),
    "operators": Split(operators, "uat_jax.decomposition.parameters"),
    "contributions": Split(
        lambda model, tokens: contributions(model, tokens, Coordinate(-1, 0)), "uat_jax.decomposition.attribution"
    ),
}


def _of_model(family: str, name: str) -> Kernel:
    split = SPLITS[name]

    def build(*, tokens: int, **size: int) -> Call:
        return Call(split.function, (model(family, tokens=tokens, **size), array(tokens, dtype=jnp.int32)))

    return Kernel(f"{family}-{name}", split.module, build, MODEL)


TWO_TEXTS: Mapping[str, Callable[..., Any]] = {"similarity": similarity, "similarity-by-token": similarity_by_token}


def _of_two_texts(family: str, name: str) -> Kernel:
    def build(*, tokens: int, **size: int) -> Call:
        text = array(tokens, dtype=jnp.int32)
        return Call(TWO_TEXTS[name], (model(family, tokens=tokens, **size), text, text))

    return Kernel(f"{family}-{name}", "uat_jax.decomposition.attribution", build, MODEL)


# --- Kronecker operators -------------------------------------------------------------------------------------------

MIXING = Sizes({"tokens": 3, "features": 4, "heads": 2}, {"tokens": 64, "features": 128, "heads": 8})
"""The matrix of the large one takes 268 MB: (tokens · features)² entries."""


def _mixing(tokens: int, features: int, heads: int) -> Mixing:
    """Σ_i H_i ⊗ (W_V W_O)ᵀ as shapes."""
    width = features // heads
    return Mixing(array(heads, tokens, tokens), array(heads, features, width), array(heads, width, features))


def _factored(**size: int) -> Call:
    return Call(lambda mixing, x: mixing(x), (_mixing(**size), array(size["tokens"], size["features"])))


def _materialised(**size: int) -> Call:
    return Call(Mixing.materialise, (_mixing(**size),))


# --- products modulo a prime ---------------------------------------------------------------------------------------

MODULAR = Sizes({"width": 6}, {"width": 256})
PRIMES = {31: 2**31 - 1, 61: 2**61 - 1}
LIMBS: Mapping[str, Callable[[int, int], Limbs]] = {"float64": float_limbs, "int8": byte_limbs}


def _modular(name: str, bits: int) -> Kernel:
    def build(width: int) -> Call:
        product = lambda a, b: modular_matmul(a, b, PRIMES[bits], LIMBS[name](bits, width))
        return Call(product, (array(width, width, dtype=jnp.int64),) * 2)

    return Kernel(f"modular-{name}-{bits}", "uat_jax.numbers.prime_fields.modular_matmul", build, MODULAR, wide=True)


# --- trials on many devices ----------------------------------------------------------------------------------------

TRIALS = Sizes(
    {"trials": 3, "depth": 2, "width": 4, "hidden": 5}, {"trials": 64, "depth": 3, "width": 64, "hidden": 128}
)
"""Trials are those of one device."""


def _trials(mesh: Mesh | AbstractMesh, trials: int, **size: int) -> Call:
    """Both forms of as many residual networks as there are trials."""
    network = _residual(**size)
    both = lambda row, shared: (network.forms.plain(row), network.forms.closed(row))
    rows = jax.tree.map(lambda leaf: array(mesh.size * trials, *leaf.shape), (network.layers, network.x))
    return Call(sharded(both, mesh), (rows, ()), (P("trials"), P()))


KERNELS: tuple[Kernel, ...] = (
    *_of_papers("residual", _residual, "uat_jax.networks.residual", RESIDUAL),
    Kernel("residual-loop-merge", "uat_jax.lowering.recursion", _looped("merge"), RESIDUAL),
    Kernel("residual-loop-merge-in-rounds", "uat_jax.lowering.recursion", _looped("in rounds"), RESIDUAL),
    Kernel("residual-loop-evaluate", "uat_jax.lowering.recursion", _looped("evaluate"), RESIDUAL),
    *_of_papers("transformer", _transformer, "uat_jax.networks.transformer", TRANSFORMER),
    *(_of_model("gpt2", name) for name in SPLITS),
    *(_of_model(family, name) for family in ("bert", "llama") for name in ("forward", "two-streams", "all-terms")),
    *(_of_two_texts("bert", name) for name in TWO_TEXTS),
    Kernel("kronecker-sum", "uat_jax.decomposition.operators", _factored, MIXING),
    Kernel("kronecker-matrix", "uat_jax.decomposition.operators", _materialised, MIXING),
    *(_modular(name, bits) for name in LIMBS for bits in PRIMES),
    Kernel("trials", "uat_jax.decide.trials", _trials, TRIALS, sharded=True),
)
"""Every jitted function of the package; a test compares this table with the source."""
