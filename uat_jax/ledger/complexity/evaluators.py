"""Four orders of evaluating one residual network, in plain JAX; and the counts of what their traces do.

    x_L = P_L x_0 + q_L + Σ_k W̃_k^{(L)} s_k,   s_j = σ(B_j P_{j-1} x_0 + B_j q_{j-1} + b_j + B_j Σ_{k<j} W̃_k^{(j-1)} s_k)

is evaluated as a tree, in which every s_k is computed where it stands, or with every s_k computed once; two streams and
the network itself need no hatted parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

from uat_jax.networks import ResidualLayer

Activation = Callable[[jax.Array], jax.Array]


class Hatted(NamedTuple):
    """The parameters of Theorem 1; lists count layers, and ``W3[m][k]`` is W̃_{k+1}^{(m+1)}."""

    P: jax.Array
    q: jax.Array
    B: list[jax.Array]
    W2: list[jax.Array]
    b2: list[jax.Array]
    W3: list[list[jax.Array]]


def _times(left: jax.Array, right: jax.Array) -> jax.Array:
    return jnp.matmul(left, right, precision="highest")


def hatted(layers: Sequence[ResidualLayer]) -> Hatted:
    """P_j = A_j P_{j-1}, q_j = A_j q_{j-1} + c_j, Ŵ_{j,2} = B_j P_{j-1}, W̃_k^{(j)} = A_j W̃_k^{(j-1)}, layer by layer."""
    A, B, C, b, c = layers[0]
    found = Hatted(A, c, [B], [B], [b], [[C]])
    for A, B, C, b, c in layers[1:]:
        P, q, inner, W2, b2, W3 = found
        versions = [*(_times(A, W) for W in W3[-1]), C]
        found = Hatted(
            _times(A, P),
            _times(A, q) + c,
            [*inner, B],
            [*W2, _times(B, P)],
            [*b2, _times(B, q) + b],
            [*W3, versions],
        )
    return found


def tree(of: Hatted, x: jax.Array, activation: Activation) -> jax.Array:
    """x_L, every s_k computed again wherever it occurs."""

    def s(j: int) -> jax.Array:
        return activation(_argument(of, j, x, [s(k) for k in range(j)]))

    return _sum(of, x, [s(j) for j in range(len(of.W2))])


def memoised(of: Hatted, x: jax.Array, activation: Activation) -> jax.Array:
    """x_L, every s_k computed once."""
    s: list[jax.Array] = []
    for j in range(len(of.W2)):
        s.append(activation(_argument(of, j, x, s)))
    return _sum(of, x, s)


def _argument(of: Hatted, j: int, x: jax.Array, s: Sequence[jax.Array]) -> jax.Array:
    """Ŵ_{j,2} x_0 + b̂_{j,2}."""
    argument = _times(of.W2[j], x) + of.b2[j]
    if j == 0:
        return argument
    return argument + _times(of.B[j], sum(_times(W, s_k) for W, s_k in zip(of.W3[j - 1], s, strict=True)))  # type: ignore[arg-type]


def _sum(of: Hatted, x: jax.Array, s: Sequence[jax.Array]) -> jax.Array:
    return _times(of.P, x) + of.q + sum(_times(W, s_k) for W, s_k in zip(of.W3[-1], s, strict=True))


def two_streams(layers: Sequence[ResidualLayer], x: jax.Array, activation: Activation) -> jax.Array:
    """p_L + u_L with p_j = A_j p_{j-1} + c_j and u_j = A_j u_{j-1} + C_j σ(B_j (p_{j-1} + u_{j-1}) + b_j), u_0 = 0."""
    p, u = x, None
    for A, B, C, b, c in layers:
        state = p if u is None else p + u
        new = _times(C, activation(_times(B, state) + b))
        p, u = _times(A, p) + c, new if u is None else _times(A, u) + new
    assert u is not None  # there is a layer
    return p + u


def prefix_products(matrices: Sequence[jax.Array]) -> list[jax.Array]:
    """A_1, A_2 A_1, …, A_L…A_1 in rounds: round t multiplies what is 2^{t-1} places apart (Hillis and Steele 1986)."""
    found, apart = list(matrices), 1
    while apart < len(found):
        found = [W if n < apart else _times(W, found[n - apart]) for n, W in enumerate(found)]
        apart *= 2
    return found


# --- counting in traces ----------------------------------------------------------------------------------------------


def equations(jaxpr: Jaxpr) -> Iterator[JaxprEqn]:
    """The equations of a jaxpr and of those inside it."""
    for equation in jaxpr.eqns:
        inner = [part for part in equation.params.values() if isinstance(part, ClosedJaxpr)]
        if not inner:
            yield equation
        for part in inner:
            yield from equations(part.jaxpr)


def applications(trace: ClosedJaxpr, primitive: str) -> int:
    """How often a primitive is applied."""
    return sum(e.primitive.name == primitive for e in equations(trace.jaxpr))


def products(trace: ClosedJaxpr, *, with_vectors: bool) -> int:
    """How many products of a matrix with a vector there are, or of two matrices."""
    found = [e for e in equations(trace.jaxpr) if e.primitive.name == "dot_general"]
    return sum(any(_shape(v) != 2 for v in e.invars) == with_vectors for e in found)


def _shape(variable: Any) -> int:
    return len(variable.aval.shape)


def multiply_adds(trace: ClosedJaxpr) -> int:
    """The multiplications of all products: entries of each result times the length of its sums."""
    total = 0
    for equation in equations(trace.jaxpr):
        if equation.primitive.name == "dot_general":
            (axes, _), _ = equation.params["dimension_numbers"]
            length = 1
            for axis in axes:
                length *= equation.invars[0].aval.shape[axis]  # type: ignore[union-attr]
            total += length * equation.outvars[0].aval.size  # type: ignore[union-attr]
    return total


def longest_chain(trace: ClosedJaxpr, primitive: str) -> int:
    """The largest number of applications of a primitive each of which needs the one before."""
    depth: dict[Any, int] = {}
    for equation in trace.jaxpr.eqns:
        before = max((depth.get(v, 0) for v in equation.invars if not isinstance(v, Literal)), default=0)
        inner = [part.jaxpr for part in equation.params.values() if isinstance(part, ClosedJaxpr)]
        names = {e.primitive.name for part in inner for e in equations(part)} | {equation.primitive.name}
        depth.update(dict.fromkeys(equation.outvars, before + (primitive in names)))
    return max((depth.get(v, 0) for v in trace.jaxpr.outvars if not isinstance(v, Literal)), default=0)
