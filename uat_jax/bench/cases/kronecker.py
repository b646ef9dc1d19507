"""Frozen attention as the matrix W_HVO = Σ_i H_i ⊗ (W_Vi W_Oi)ᵀ of (N M)² entries, against its factors (Theorem 3)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.bench.case import Case, Experiment, Program, WrongAnswerError
from uat_jax.bench.models import check_heads
from uat_jax.decomposition.operators import Mixing
from uat_jax.typing import JsonObject, PyTree

LIMIT, FROM = 1 / 50, 64 * 128
"""How much faster the factors shall be, from so many rows N M on."""


def build(tokens: int, features: int, heads: int, dtype: str) -> Experiment:
    """The matrix applied (the baseline), made anew and applied as for every other input, and the factors applied.

    Raises `InputError` if the heads do not divide the features.
    """
    check_heads(features, heads)
    mixing, x = _drawn(tokens, features, heads, dtype)
    matrix = jax.jit(Mixing.materialise)(mixing)
    N, M, d = tokens, features, features // heads
    factored, written = 2 * (heads * N * N * d + 2 * N * M * M), 2 * (N * M) ** 2
    programs = {
        "matrix": Program(_apply, (matrix, x), operations=written),
        "matrix, made anew": Program(_make_and_apply, (mixing, x), operations=written),
        "factors": Program(lambda mixing, x: mixing(x), (mixing, x), operations=factored),
    }
    terms = _terms(mixing, x)
    right, allowed = terms.sum(axis=0), tolerance(mixing, x)

    def check(name: str, answer: PyTree) -> None:
        off = np.abs(np.asarray(answer, np.float64) - right)
        if not np.all(off <= allowed):
            raise WrongAnswerError(f"{name}: {off.max():.3g} off, where rounding explains {allowed.max():.3g}")

    limits = {"factors": LIMIT} if N * M >= FROM else {}
    return Experiment(programs, check, wrong=lambda answer: np.asarray(answer) - terms[-1], limits=limits)


def _drawn(tokens: int, features: int, heads: int, dtype: str) -> tuple[Mixing, jax.Array]:
    normal, d = np.random.default_rng(0).standard_normal, features // heads
    cast = lambda array: jnp.asarray(array.astype(jnp.dtype(dtype)))
    patterns = jax.nn.softmax(cast(normal((heads, tokens, tokens))))
    value, output = (normal(shape) / np.sqrt(features) for shape in ((heads, features, d), (heads, d, features)))
    return Mixing(patterns, cast(value), cast(output)), cast(normal((tokens, features)))


def _apply(matrix: jax.Array, x: jax.Array) -> jax.Array:
    return jnp.matmul(matrix, x.reshape(-1), precision="highest").reshape(x.shape)


def _make_and_apply(mixing: Mixing, x: jax.Array) -> jax.Array:
    return _apply(mixing.materialise(), x)


def _terms(mixing: Mixing, x: jax.Array) -> np.ndarray:
    """H_i x W_Vi W_Oi of every head in float64, in NumPy: (h, N, M)."""
    H, V, W, x64 = (np.asarray(a, np.float64) for a in (mixing.patterns, mixing.value, mixing.output, x))
    return np.stack([H_i @ x64 @ V_i @ W_i for H_i, V_i, W_i in zip(H, V, W, strict=True)])


def tolerance(mixing: Mixing, x: jax.Array) -> np.ndarray:
    """γ_k Σ_i |H_i| |x| |W_Vi| |W_Oi| with γ_k = k u / (1 − k u), for any order of summation (Higham 2002, §3.1).

    The matrix: k = d + h for an entry, and N M for its product with x. The factors have fewer: M + N + h d. One more
    for each of the products of an entry, of H_i with W_V W_O and of the entry with x.
    """
    h, M, d = mixing.value.shape
    k, u = x.size + d + h + 3, float(jnp.finfo(x.dtype).eps) / 2
    absolute = jax.tree.map(jnp.abs, (mixing, x))
    return k * u / (1 - k * u) * _terms(*absolute).sum(axis=0)


def _size(tokens: int, features: int, heads: int = 4, dtype: str = "float32") -> JsonObject:
    return {"tokens": tokens, "features": features, "heads": heads, "dtype": dtype}


CASES = (
    Case(
        name="kronecker",
        question="How much faster than the matrix W_HVO of frozen attention are its Kronecker factors?",
        build=build,
        quick=(_size(3, 8, 2),),
        standard=(_size(16, 64), _size(32, 64), _size(32, 128), _size(64, 128)),
        full=(
            *(_size(N, 64) for N in (8, 16, 32, 64, 128)),
            *(_size(32, M) for M in (32, 128, 256)),
            _size(64, 128),
            _size(64, 128, heads=1),
            _size(64, 128, heads=16),
            _size(32, 128, dtype="float64"),
        ),
        axes=("tokens", "features"),
    ),
)
