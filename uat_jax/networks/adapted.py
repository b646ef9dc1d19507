"""A matrix with a low-rank update beside it, W + s L R (LoRA, Hu et al. 2021), and products with such a matrix.

Unmerged, x W + s (x L) R is computed from the factors; `merged` multiplies them out once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

Tree = TypeVar("Tree")
Array = Any  # Any: a `jax.Array`, a NumPy array of a model that is being read, or what has their shapes


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Adapted:
    """W + s L R, kept in factors; its shape and dtype are those of W.

    Of matrices side by side, such as those of the heads, one factor may be shared: it lacks the axes before the last
    two that W has.
    """

    matrix: Array
    """W, (…, M, M')."""
    left: Array
    """L, (…, M, r)."""
    right: Array
    """R, (…, r, M')."""
    scale: Array
    """s, one number ()."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(…, M, M')."""
        return self.matrix.shape

    @property
    def dtype(self) -> np.dtype:
        """The dtype of W."""
        return self.matrix.dtype

    @property
    def T(self) -> Adapted:
        """Wᵀ + s Rᵀ Lᵀ, of one matrix."""
        return Adapted(self.matrix.T, self.right.T, self.left.T, self.scale)


Matrix = jax.Array | Adapted
"""What a layer multiplies by."""


def times(x: jax.Array, W: Matrix, *, precision: jax.lax.PrecisionLike = "highest") -> jax.Array:
    """The product x W: (…, N, M) and (M, M') → (…, N, M'); of several matrices (N, M) and (h, M, M') → (h, N, M')."""
    if isinstance(W, Adapted):
        update = times(times(x, W.left, precision=precision), W.right, precision=precision)
        return times(x, W.matrix, precision=precision) + W.scale * update
    return jnp.einsum("nm,hmd->hnd" if W.ndim == 3 else "...m,md->...d", x, W, precision=precision)


def sum_of_products(y: jax.Array, W: Matrix, *, precision: jax.lax.PrecisionLike = "highest") -> jax.Array:
    """The sum Σ_i y_i W_i: (h, N, e) and (h, e, M) → (N, M)."""
    if isinstance(W, Adapted):
        update = times(sum_of_products(y, W.left, precision=precision), W.right, precision=precision)
        return sum_of_products(y, W.matrix, precision=precision) + W.scale * update
    return jnp.einsum("hne,hem->nm", y, W, precision=precision)


def on_columns(f: Callable[[Array], Array], W: Array) -> Array:
    """The matrix with f, which moves or splits columns, applied to them: f(W), or f(W) + s L f(R)."""
    return dataclasses.replace(W, matrix=f(W.matrix), right=f(W.right)) if isinstance(W, Adapted) else f(W)


def on_rows(f: Callable[[Array], Array], W: Array) -> Array:
    """The matrix with f, which moves or splits rows, applied to them: f(W), or f(W) + s f(L) R."""
    return dataclasses.replace(W, matrix=f(W.matrix), left=f(W.left)) if isinstance(W, Adapted) else f(W)


def multiplied(W: Array, factor: float) -> Array:
    """The matrix times a number: c W, or c W + (c s) L R."""
    if isinstance(W, Adapted):
        return dataclasses.replace(W, matrix=W.matrix * factor, scale=W.scale * factor)
    return W * factor


def dense(W: Matrix, *, precision: jax.lax.PrecisionLike = "highest") -> jax.Array:
    """W + s L R as one array, in the dtype of W; an array is returned as it is."""
    if isinstance(W, Adapted):
        if jnp.ndim(W.scale):  # a number for each layer of a stack
            return jax.vmap(lambda each: dense(each, precision=precision))(W)
        return W.matrix + W.scale * jnp.matmul(W.left, W.right, precision=precision)
    return W


def merged(parameters: Tree, *, precision: jax.lax.PrecisionLike = "highest") -> Tree:
    """The layer or model with every W + s L R multiplied out."""
    return _on_matrices(lambda W: dense(W, precision=precision), parameters)


def without_adapter(parameters: Tree) -> Tree:
    """The layer or model with W in place of every W + s L R."""
    return _on_matrices(lambda W: W.matrix if isinstance(W, Adapted) else W, parameters)


def _on_matrices(f: Callable[[Matrix], jax.Array], parameters: Tree) -> Tree:
    return jax.tree.map(f, parameters, is_leaf=lambda node: isinstance(node, Adapted))
