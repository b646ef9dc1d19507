"""A model's output as the papers' sum: the input path, the bias path, and one term for each layer's activation.

x_L = P_L x_0 + q_L + Σ_j W̃_j s_j (Theorem 1 with the dynamic parameters of chapter K), every attention pattern and
every scale of a norm frozen at the actual input, by the two-stream evaluation (L3) with a stream for each term.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from uat_jax.decomposition.streams import InTwo, as_array, separate, streams_of
from uat_jax.errors import InputError
from uat_jax.networks.model import Model

INPUT, BIAS = "input", "bias"
"""The names of the first two terms; the others are ``layer 1``, …, ``layer L``."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Decomposition:
    """The terms of x_L and, beside them, x_L as the model computes it; with a batch, one axis more in front."""

    terms: jax.Array
    """(L + 2, N, M): input path, bias path, the layers."""
    hidden: jax.Array
    """x_L by the plain forward pass, (N, M)."""

    @property
    def total(self) -> jax.Array:
        """The sum of the terms from the first to the last, (N, M)."""
        return functools.reduce(jnp.add, [self.terms[..., s, :, :] for s in range(len(self.names))])

    @property
    def names(self) -> tuple[str, ...]:
        """What the terms are called."""
        return names(self.terms.shape[-3] - 2)

    @property
    def residual_ulp(self) -> jax.Array:
        """The largest |total − hidden| in ULP of the largest |hidden|; one number for each sum of a batch."""
        return in_ulp(self.total - self.hidden, self.hidden)


def names(layers: int) -> tuple[str, ...]:
    """input, bias, layer 1, …, layer L."""
    return (INPUT, BIAS, *(f"layer {j}" for j in range(1, layers + 1)))


def in_ulp(difference: jax.Array, of: jax.Array) -> jax.Array:
    """The largest entry of a difference over the ULP of the largest entry, both over the last two axes."""
    largest, scale = (jnp.max(jnp.abs(x), axis=(-2, -1)) for x in (difference, of))
    return largest / (jnp.exp2(jnp.floor(jnp.log2(scale))) * jnp.finfo(scale.dtype).eps)


def terms(model: Model, tokens: jax.Array, *, precision: jax.lax.PrecisionLike = "highest") -> jax.Array:
    """The terms of x_L: (N,) → (L + 2, N, M), in the order of `names`.  A pure function, for `jax.jit` and `jax.vmap`.

    A gated feed-forward network is one term as a whole: (U w ⊙ s(G w)) W_D (K8, first reading).
    Raises `InputError` for more tokens than positions.
    """
    return as_array(streams_of(model, tokens, separate(model), precision=precision))


def two_streams(model: Model, tokens: jax.Array, *, precision: jax.lax.PrecisionLike = "highest") -> jax.Array:
    """p_L, input and biases, and u_L, all activations, of x_L = p_L + u_L: (N,) → (2, N, M).  Cheaper than `terms`."""
    return as_array(streams_of(model, tokens, InTwo(), precision=precision))


ONE_BY_ONE = "there is no mask for padding yet: pass the token numbers of one text at a time, without padding"
"""What to do with texts of different lengths."""


def decompose(
    model: Model, tokens: jax.Array | np.ndarray, *, precision: jax.lax.PrecisionLike = "highest"
) -> Decomposition:
    """The terms of x_L for N token numbers, and x_L itself; a batch (B, N) gives a batch of decompositions.

    A batch that is sharded over devices stays so, whether the axes of its mesh are automatic or explicit.  Inside
    `jax.jit` and `jax.vmap` the values of the tokens are not checked: one outside of the vocabulary gives NaN.
    Raises `InputError` unless the tokens are whole numbers of the vocabulary, at most as many as positions; and for
    rows of different lengths, or filled up with padding: there is no mask yet, and padding would be attended to.

    Returns:
        A `Decomposition`, whose terms add up to x_L: arrays (N, M), one axis more with a batch.

    Example:
        >>> found = uj.decompose(load_model("gpt2"), [464, 3290, 318])
        >>> found.total.shape
        (3, 768)
    """
    return _decomposed(model, _checked(model, tokens), precision=precision)


def _checked(model: Model, tokens: jax.Array | np.ndarray) -> jax.Array:
    """The token numbers, (N,) or (B, N), int32, each row looked at."""
    if isinstance(tokens, Mapping):
        got = f"a mapping of {', '.join(map(str, tokens))}"
        raise InputError(f"got {got} for tokens; {ONE_BY_ONE}")
    if isinstance(tokens, list | tuple) and len({np.size(row) for row in tokens}) > 1:
        lengths = ", ".join(str(np.size(row)) for row in tokens[:4])
        raise InputError(f"got rows of different lengths ({lengths}{', …' * (len(tokens) > 4)}); {ONE_BY_ONE}")
    if np.ndim(tokens) != 2:
        tokens = model.check_tokens(tokens)
        check_padding(model, tokens)
        return tokens
    check_padding(model, tokens)
    for row in tokens[:1] if isinstance(tokens, Tracer) else np.asarray(tokens):
        model.check_tokens(row)
    return jnp.asarray(tokens, jnp.int32)


def check_padding(model: Model, tokens: jax.Array | np.ndarray) -> None:
    """Raise `InputError` for token numbers, (N,) or (B, N), that are filled up with padding."""
    filler = None if isinstance(tokens, Tracer) else model.architecture.padding.fills(np.atleast_2d(tokens))
    if filler is not None:
        raise InputError(f"got tokens filled up with {filler}, which is padding; {ONE_BY_ONE}")


@functools.partial(jax.jit, static_argnames="precision")
def _decomposed(model: Model, tokens: jax.Array, *, precision: jax.lax.PrecisionLike) -> Decomposition:
    if tokens.ndim == 2:
        return jax.vmap(lambda row: _decomposed(model, row, precision=precision))(tokens)
    return Decomposition(terms(model, tokens, precision=precision), model.hidden(tokens, precision=precision))
