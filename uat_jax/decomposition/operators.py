"""Linear maps of (N tokens, M features) to (N, M'), kept in factors and never written out as NM × NM' matrices.

With x' = vec_r(x), row after row, the map X ↦ H X V has the matrix H ⊗ Vᵀ.  Attention with its patterns frozen is a sum
of such maps, a norm with its scale frozen is a diagonal of the tokens times a diagonal plus rank one of the features.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import jax
import jax.numpy as jnp

from uat_jax.networks.adapted import Matrix, dense, sum_of_products, times
from uat_jax.networks.state_space import Selection, convolved, recurred


class Operator(ABC):
    """A linear map of arrays (…, N, M) to (…, N, M'); everything before N is a batch."""

    @abstractmethod
    def __call__(self, x: jax.Array) -> jax.Array:
        """The image of x, or of every x of a batch."""

    @abstractmethod
    def materialise(self) -> jax.Array:
        """The matrix (NM', NM) that acts on vec_r(x): for tests and small sizes."""

    def __matmul__(self, other: Operator) -> Operator:
        """First `other`, then this."""
        return Composition((self, other))

    def __add__(self, other: Operator) -> Operator:
        return Addition((self, other))


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Composition(Operator):
    """F_1 F_2 ⋯ F_k: the last one acts first."""

    factors: tuple[Operator, ...]

    def __call__(self, x: jax.Array) -> jax.Array:
        """F_1(F_2(⋯ F_k(x)))."""
        return functools.reduce(lambda image, factor: factor(image), reversed(self.factors), x)

    def materialise(self) -> jax.Array:
        """The product of the matrices."""
        product = functools.partial(jnp.matmul, precision="highest")
        return functools.reduce(product, [factor.materialise() for factor in self.factors])


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Addition(Operator):
    """F_1 + ⋯ + F_k."""

    summands: tuple[Operator, ...]

    def __call__(self, x: jax.Array) -> jax.Array:
        """F_1(x) + ⋯ + F_k(x)."""
        return functools.reduce(jnp.add, [summand(x) for summand in self.summands])

    def materialise(self) -> jax.Array:
        """The sum of the matrices."""
        return functools.reduce(jnp.add, [summand.materialise() for summand in self.summands])


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Identity(Operator):
    """I: what the residual connection carries."""

    like: jax.Array
    """Any array (N, M): its shape and dtype count."""

    def __call__(self, x: jax.Array) -> jax.Array:
        """The array x itself."""
        return x

    def materialise(self) -> jax.Array:
        """I_NM."""
        return jnp.eye(self.like.size, dtype=self.like.dtype)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Mixing(Operator):
    """Σ_i H_i ⊗ (W_{V,g(i)} W_{Oi})ᵀ: attention without biases, its patterns H_i frozen (K1, K10)."""

    patterns: jax.Array
    """H_i, (h, N, N)."""
    value: Matrix
    """W_V of each group, (g, M, e)."""
    output: Matrix
    """W_{Oi}, (h, e, M')."""
    precision: jax.lax.PrecisionLike = field(default="highest", metadata={"static": True})

    def __call__(self, x: jax.Array) -> jax.Array:
        """Σ_i H_i x W_{V,g(i)} W_{Oi}."""
        if x.ndim > 2:
            return jax.vmap(self)(x)
        return sum_of_products(self.heads(x), self.output, precision=self.precision)

    def heads(self, x: jax.Array) -> jax.Array:
        """H_i x W_{V,g(i)}, what each head passes to its W_{Oi}: (N, M) → (h, N, e)."""
        values = jnp.repeat(times(x, self.value, precision=self.precision), self._per_group, axis=0)
        return jnp.einsum("hnk,hke->hne", self.patterns, values, precision=self.precision)

    @property
    def _per_group(self) -> int:
        """How many heads share a group: head i is of group ⌊i g/h⌋."""
        return self.output.shape[0] // self.value.shape[0]

    def materialise(self) -> jax.Array:
        """The sum of the Kronecker products."""
        value = dense(self.value)
        products = [
            jnp.kron(H, jnp.matmul(value[i // self._per_group], W_O, precision="highest").T)
            for i, (H, W_O) in enumerate(zip(self.patterns, dense(self.output), strict=True))
        ]
        return functools.reduce(jnp.add, products)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Scaling(Operator):
    """diag(s) ⊗ diag(γ)(I − 11ᵀ/M), LayerNorm with its scale s frozen (K3); without the centring RMSNorm (K4)."""

    scale: jax.Array
    """s, (N,)."""
    gamma: jax.Array
    """γ, (M,)."""
    centred: bool = field(metadata={"static": True})

    def __call__(self, x: jax.Array) -> jax.Array:
        """γ ⊙ (x_n − mean x_n) s_n for each token n."""
        if self.centred:
            x = x - jnp.mean(x, axis=-1, keepdims=True)
        leading = range(x.ndim - 2)
        scale = jnp.expand_dims(self.scale[:, None], tuple(leading))
        return jnp.expand_dims(self.gamma[None], tuple(leading)) * (x * scale)

    def materialise(self) -> jax.Array:
        """The Kronecker product."""
        gain, M = jnp.diag(self.gamma), len(self.gamma)
        rank_one = jnp.broadcast_to(self.gamma[:, None] / M, (M, M))
        return jnp.kron(jnp.diag(self.scale), gain - rank_one if self.centred else gain)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class OnFeatures(Operator):
    """T(W) = I_N ⊗ Wᵀ: the same matrix for every token."""

    matrix: Matrix
    """W, (M, M')."""
    tokens: int = field(metadata={"static": True})
    """N."""
    precision: jax.lax.PrecisionLike = field(default="highest", metadata={"static": True})

    def __call__(self, x: jax.Array) -> jax.Array:
        """The product x W."""
        return times(x, self.matrix, precision=self.precision)

    def materialise(self) -> jax.Array:
        """The Kronecker product."""
        return jnp.kron(jnp.eye(self.tokens, dtype=self.matrix.dtype), dense(self.matrix).T)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Diagonal(Operator):
    """diag(vec_r(d)): every entry has a factor of its own, as behind a gate (K8)."""

    entries: jax.Array
    """d, (N, F)."""

    def __call__(self, x: jax.Array) -> jax.Array:
        """The entrywise product d ⊙ x."""
        return jnp.expand_dims(self.entries, tuple(range(x.ndim - 2))) * x

    def materialise(self) -> jax.Array:
        """The diagonal matrix."""
        return jnp.diag(self.entries.reshape(-1))


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Convolving(Operator):
    """Σ_k S^{K−1−k} ⊗ diag(kernel_k) with S the shift by one token: a convolution over tokens, feature by feature."""

    kernel: jax.Array
    """(K, F)."""
    tokens: int = field(metadata={"static": True})
    """N."""

    def __call__(self, x: jax.Array) -> jax.Array:
        """Σ_k kernel_k ⊙ x_{n−K+1+k} for each token n."""
        return convolved(self.kernel, x)

    def materialise(self) -> jax.Array:
        """The images of the unit vectors as columns."""
        return _columns(self, self.tokens, self.kernel.shape[1], self.kernel.dtype)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Recurring(Operator):
    """The recurrence of a state space with what steers it frozen: lower triangular over tokens, feature by feature."""

    decays: jax.Array
    """exp(Δ_nf A_f), (N, F, S)."""
    writes: jax.Array
    """Δ_nf B_n, (N, F, S)."""
    reads: jax.Array
    """C_n, (N, S)."""
    skip: jax.Array
    """D, (F,)."""

    def __call__(self, x: jax.Array) -> jax.Array:
        """⟨C_n, h_n⟩ + D ⊙ x_n with h_n = decays_n ⊙ h_{n−1} + writes_n ⊙ x_n."""
        if x.ndim > 2:
            return jax.vmap(self)(x)
        return recurred(Selection(self.decays, self.writes, self.reads), self.skip, x)

    def materialise(self) -> jax.Array:
        """The images of the unit vectors as columns."""
        N, F, _ = self.decays.shape
        return _columns(self, N, F, self.skip.dtype)


def _columns(of: Operator, N: int, F: int, dtype: jax.typing.DTypeLike) -> jax.Array:
    """The matrix of a map of (N, F) by its images of the unit vectors."""
    return of(jnp.eye(N * F, dtype=dtype).reshape(-1, N, F)).reshape(N * F, -1).T
