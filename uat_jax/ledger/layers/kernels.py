"""Theorem 1 as two JAX functions: the plain network, and the closed form lowered from its derivation.

The network knows nothing of the derivation and the derivation nothing of the network; only the names of the weights
are matched here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.lowering import Lowered
from uat_jax.networks import (
    ResidualLayer,
    TransformerLayer,
    activation,
    initialise_residual,
    initialise_transformer,
    residual_network,
    transformer,
)
from uat_jax.symbolic.derivation import Derivation, derive
from uat_jax.symbolic.layers import Attention, Layers
from uat_jax.typing import PyTree


def letters(kind: str, layers: Sequence[Any]) -> dict[str, jax.Array]:
    """The weights of a network under the names of the derivation's letters."""
    named = _residual_letters if kind == "residual" else _transformer_letters
    return {name: array for j, layer in enumerate(layers, 1) for name, array in named(j, layer).items()}


def _residual_letters(j: int, layer: ResidualLayer) -> dict[str, jax.Array]:
    names = map(str, Layers("residual").parameters(j))
    return dict(zip(names, (layer.A, layer.B, layer.C, layer.b, layer.c), strict=True))


def _transformer_letters(j: int, layer: TransformerLayer) -> dict[str, jax.Array]:
    of = Attention(len(layer.query))
    heads = {"Q": layer.query, "K": layer.key, "V": layer.value, "O": layer.output}
    per_head = {str(of.weight(name, j, i)): w for name, ws in heads.items() for i, w in enumerate(ws, 1)}
    shared = layer.hidden, layer.hidden_bias, layer.project, layer.project_bias
    return per_head | dict(zip(map(str, of.feed_forward(j)), shared, strict=True))


@dataclass(frozen=True)
class Kernels:
    """Both forms of a network of ``depth`` layers as functions of (layers, x_0), each returning x_L as a vector.

    kind: "residual" or "transformer"; ``heads`` and ``tokens`` for the latter; σ by name; the matmul precision.
    """

    kind: str
    depth: int
    activation: str
    precision: str = "highest"
    heads: int | None = None
    tokens: int | None = None

    @cached_property
    def derivation(self) -> Derivation:
        """The closed form, with attention written out for a Transformer."""
        return derive(self.kind, depth=self.depth, heads=self.heads)

    @cached_property
    def lowered(self) -> Lowered:
        """The derivation's program in JAX."""
        found = self.derivation
        sizes = {found.attention.tokens: self.tokens} if found.attention else {}
        program = found.parameters
        return Lowered(program, found.layers.x(0), activation(self.activation), self.precision, sizes)  # type: ignore[arg-type]

    def plain(self, arguments: tuple[PyTree, jax.Array]) -> jax.Array:
        """The network as anyone would write it (Eq. 20, Eq. 30)."""
        layers, x = arguments
        network = residual_network if self.kind == "residual" else transformer
        return network(layers, x, activation(self.activation), precision=self.precision).reshape(-1)

    def closed(self, arguments: tuple[PyTree, jax.Array]) -> jax.Array:
        """The closed form of Theorem 1, parameters merged by real matrix products."""
        layers, x = arguments
        return self.lowered(letters(self.kind, layers), x.reshape(-1))


TOKENS, HEADS = 3, 2


def random_kernels(kind: str, depth: int, precision: str) -> Kernels:
    """The kernels of a random network: σ = gelu; a Transformer of 3 tokens and 2 heads."""
    transformer_only = {"heads": HEADS, "tokens": TOKENS} if kind == "transformer" else {}
    return Kernels(kind, depth, "gelu", precision, **transformer_only)


@cache
def random_trials(kind: str, depth: int, trials: int, seed: int) -> tuple[Any, np.ndarray]:
    """(layers, x_0) of random networks, float64 NumPy arrays whose leading axis counts trials.

    Trial t is drawn from ``fold_in(key(seed), t)`` alone; the widths D_0 … D_L or M_0 … M_L all differ, and so do
    the hidden ones. One draw serves every dtype: it is rounded to each.
    """
    draw = _residual_trial if kind == "residual" else _transformer_trial
    with jax.enable_x64(True), jax.default_device(jax.local_devices(backend="cpu")[0]):
        keys = jax.vmap(lambda t: jax.random.fold_in(jax.random.key(seed), t))(jnp.arange(trials))
        # Drawing is not worth optimising: it compiles in a third of the time.
        drawn = jax.jit(jax.vmap(lambda key: draw(key, depth)), compiler_options=QUICK)(keys)
        return jax.tree.map(np.asarray, drawn)


DRAWN = (
    "trial t from fold_in(key(seed), t) in float64 and rounded to the dtype: weights by the initialisers of "
    "uat_jax.networks (normal, variance 1 / terms of the sum; biases of variance 1/4), inputs standard normal"
)
"""How the arguments of random trials are drawn, for the certificates."""

QUICK = {"xla_backend_optimization_level": 0}


def _zigzag(depth: int) -> list[int]:
    """0, L, 1, L−1, …: L + 1 different numbers, high and low in turn."""
    return [j // 2 if j % 2 == 0 else depth - j // 2 for j in range(depth + 1)]


def _residual_trial(key: jax.Array, depth: int) -> tuple[Any, jax.Array]:
    widths, hidden = [6 + z for z in _zigzag(depth)], [9 + j for j in range(depth)]
    layers = initialise_residual(jax.random.fold_in(key, 0), widths, hidden, dtype=jnp.float64)
    return layers, jax.random.normal(jax.random.fold_in(key, 1), (widths[0],), jnp.float64)


def _transformer_trial(key: jax.Array, depth: int) -> tuple[Any, jax.Array]:
    features, hidden = [HEADS * (2 + z) for z in _zigzag(depth)], [5 + j for j in range(depth)]
    weights, tokens = jax.random.fold_in(key, 0), jax.random.fold_in(key, 1)
    layers = initialise_transformer(weights, features=features, heads=HEADS, hidden=hidden, dtype=jnp.float64)
    return layers, jax.random.normal(tokens, (TOKENS, features[0]), jnp.float64)


def cast(arrays: Any, dtype: str) -> Any:
    """A pytree of NumPy arrays rounded to a dtype."""
    return jax.tree.map(lambda array: np.asarray(array).astype(jnp.dtype(dtype)), arrays)
