"""The Jacobian of a network (d): a product over layers, and a sum over 2^L paths.

    ∂x_L/∂x_0 = J_L ⋯ J_1,   J_j = A_j + C_j diag(σ′(z_j)) B̄_j,   z_j what σ is applied to in layer j

A path goes through A_j or through C_j diag(σ′(z_j)) B̄_j in each layer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp
import sympy

from uat_jax.decide.confirmation import proved
from uat_jax.decide.counts import counted
from uat_jax.decide.functions import confirm_functions
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.settings import Settings
from uat_jax.decide.statements import Statements, Tally, of_recurrence
from uat_jax.decide.verdict import Evidence, Method
from uat_jax.ledger.beyond.row import row
from uat_jax.ledger.claim import ELEMENTWISE
from uat_jax.ledger.source import duat
from uat_jax.networks import ResidualLayer, residual_layer
from uat_jax.symbolic import language as m
from uat_jax.symbolic.differential import differential, slope
from uat_jax.symbolic.induction import INDEX, LAYER, by_layers, inductive
from uat_jax.symbolic.layers import KINDS, Layers
from uat_jax.symbolic.normal_form import Normaliser
from uat_jax.symbolic.step import Induction, Step

L, j = m.dimension("L"), m.dimension("j")

# --- the product --------------------------------------------------------------------------------------------------------


def branches(layers: Layers, j: sympy.Expr | int) -> tuple[m.Expression, m.Expression]:
    """A_j and C_j diag(σ′(z_j)) B̄_j: what a change of layer j's input goes through."""
    A, B, C, b, _ = layers.parameters(j)
    into = B if layers.kind == "residual" else B @ A
    return A, C @ m.Diagonal(slope(into @ layers.x(j - 1) + b)) @ into


def factor(layers: Layers, j: sympy.Expr | int) -> m.Expression:
    """J_j, the sum of both."""
    return m.Addition(*branches(layers, j))


def one_layer(kind: str) -> Step:
    """dx_j = J_j dx_{j−1}, by differentiating the layer."""
    layers, j = Layers(kind), INDEX
    x, dx = layers.x(j - 1), m.Letter("dx", layers.widths(j - 1), 1, (j - 1,))
    return Step(f"one {kind} layer", differential(layers.apply(j, x), {x: dx}), factor(layers, j) @ dx)


def one_layer_more(kind: str) -> tuple[Step, ...]:
    """From dx_i = G_i dx_0 to dx_{i+1} = J_{i+1} G_i dx_0; for no layer, G_0 = I."""
    layers, i = Layers(kind), INDEX
    D = layers.widths
    x, dx, start = layers.x(i), m.Letter("dx", D(i), 1, (i,)), m.Letter("dx", D(0), 1, (0,))
    G = m.Letter("G", D(i), D(0), (i,))
    layer = differential(layers.apply(i + 1, x), {x: dx})
    y, at, before = m.Letter("y", D(LAYER - 1), 1), i + 1, layers.x(LAYER - 1)
    product = lambda j: m.Letter("G", D(j), D(0), (j,))
    change = differential(layers.apply(LAYER, before), {before: y})
    later = by_layers({product(at): factor(layers, at) @ G})
    of = Induction(i, LAYER, y, start, change, G @ start, {product(1): factor(layers, 1)}, later)
    return (
        Step("no layer", start, m.Identity(D(0)) @ start),
        Step("from i to i + 1 layers", layer, factor(layers, i + 1) @ G @ start, {dx: G @ start}),
        *inductive(of),
    )


def _product(settings: Settings) -> Iterator[Evidence]:
    for kind in KINDS:
        yield prove([one_layer(kind)], method=Method.NORMAL_FORM, what=f"{kind} layer: the differential")
        yield prove(
            one_layer_more(kind), method=Method.INDUCTION, what=f"{kind} network: every L, every shape, every σ"
        )
        yield confirmed(kind)


# --- against jax.jacobian -----------------------------------------------------------------------------------------------

DEPTH, WIDTH, HIDDEN = 3, 2, 3
SHAPES = ResidualLayer((WIDTH, WIDTH), (HIDDEN, WIDTH), (WIDTH, HIDDEN), (HIDDEN,), (WIDTH,))  # type: ignore[arg-type]


def _times(*factors: jax.Array) -> jax.Array:
    return reduce(lambda left, right: jnp.matmul(left, right, precision="highest"), factors)


def _layer(kind: str, layer: ResidualLayer, x: jax.Array) -> jax.Array:
    """One layer with σ = tanh: A x + c + C σ(B x + b), or with B A for B in a Transformer."""
    into = layer.B if kind == "residual" else _times(layer.B, layer.A)
    return residual_layer(layer._replace(B=into), x, jnp.tanh)


def network(kind: str) -> Callable[..., jax.Array]:
    """(layers, x) ↦ x_L."""
    return lambda layers, x: reduce(lambda y, layer: _layer(kind, layer, y), layers, x)


def product_of_factors(kind: str) -> Callable[..., jax.Array]:
    """(layers, x) ↦ J_L ⋯ J_1, with tanh′ = 1 − tanh²."""

    def product(layers: tuple[ResidualLayer, ...], x: jax.Array) -> jax.Array:
        total = jnp.eye(WIDTH, dtype=x.dtype)
        for layer in layers:
            into = layer.B if kind == "residual" else _times(layer.B, layer.A)
            s = jnp.tanh(_times(into, x) + layer.b)
            total = _times(layer.A + _times(layer.C * (1 - s * s)[None], into), total)
            x = _layer(kind, layer, x)
        return total

    return product


def confirmed(kind: str, claimed: Callable[..., jax.Array] | None = None) -> Evidence:
    """`jax.jacobian` of a network of DEPTH layers against the product, or against what is claimed instead."""
    of_jax = lambda layers, x: jax.jacobian(network(kind), argnums=1)(layers, x)
    shapes = [(SHAPES,) * DEPTH, (WIDTH,)]
    what = f"jax.jacobian of a {kind} network of {DEPTH} layers"
    return confirm_functions(of_jax, claimed or product_of_factors(kind), shapes, what=what)


# --- the paths ----------------------------------------------------------------------------------------------------------


def one_branching(kind: str) -> Step:
    """(A + C diag B̄) Σ_{p≤n} G_p = Σ_{p≤n} A G_p + Σ_{p≤n} C diag B̄ G_p: n paths become 2 n."""
    layers, i, n = Layers(kind), INDEX, m.dimension("n")
    p = sympy.Symbol("p", integer=True, positive=True)
    G = m.Letter("G", layers.widths(i), layers.widths(0), (p,))
    over = lambda term: m.RangeSum(term, p, 1, n)
    straight, through = branches(layers, i + 1)
    return Step(
        f"{kind} network: one layer more", factor(layers, i + 1) @ over(G), over(straight @ G) + over(through @ G)
    )


def number_of_paths() -> sympy.Expr:
    """n_0 = 1, and n_{L+1} = 2 n_L by `one_branching`."""
    f, n = sympy.Function("f"), sympy.Symbol("n", integer=True)
    return sympy.rsolve(f(n + 1) - 2 * f(n), f(n), {f(0): 1}).subs(n, L)  # type: ignore[union-attr]


def expanded(shape: Mapping[sympy.Symbol, int]) -> int:
    """How many words the normal form of J_L ⋯ J_1 has: no two paths are one."""
    layers = Layers("residual")
    product = m.Product(*(factor(layers, j) for j in range(shape[L], 0, -1)))
    return len(Normaliser()(product).terms)


def _paths(settings: Settings) -> Iterator[Evidence]:
    for kind in KINDS:
        yield from proved([one_branching(kind)], method=Method.INDUCTION, what="n paths become 2 n")
    yield from count(2**L)


def count(claimed: sympy.Expr) -> Iterator[Evidence]:
    """``claimed`` against the number of paths, and against the words of products of 1 to 6 factors."""
    shapes, n = [{L: depth} for depth in range(1, 7)], m.dimension("n")

    def said(closed: sympy.Expr, at: Any) -> Statements:
        """n paths are one for no layer, and as many as `one_branching` has terms for one layer more."""
        steps = (one_branching(kind).right for kind in KINDS)
        numbers = (Tally("terms", longer) for longer in steps)
        index = sympy.Symbol("L", integer=True, nonnegative=True)
        parts = {"value": 1, "closed": closed.xreplace({L: index})}
        found = [of_recurrence(index, n, first=0, after=number, **parts) for number in numbers]
        return sum(found, ()) if at is None and all(found) else ()

    what = "paths of L layers"
    yield from counted(claimed, number_of_paths(), what=what, measured=expanded, shapes=shapes, said=said)


# --- rows ---------------------------------------------------------------------------------------------------------------

_HYPOTHESES = (
    ELEMENTWISE,
    "σ is differentiable at what it is applied to, with derivative σ′",
    "the parameters do not depend on the input; B̄_j is B_j in a residual network and B_j A_j in a Transformer",
)
_SOURCES = (duat("B.2", 20), duat("B.3", 30))
_CHAIN = "the derivative of a sum, of a product, and the chain rule; J_j is taken at x_{j−1}"

CLAIMS = (
    row(
        "jacobian.product", "d", "the Jacobian of L layers is a product of L matrices",
        r"\frac{\partial x_L}{\partial x_0}=\prod_{j=L}^{1}\bigl(A_j+C_j\,\mathrm{diag}(\sigma'(z_j))\,\bar B_j\bigr)", _product,
        sources=_SOURCES, hypotheses=_HYPOTHESES, reading=_CHAIN,
    ),
    row(
        "jacobian.paths", "d", "that product is a sum over 2^L paths through the layers",
        r"\prod_{j}(A_j+K_j)=\sum_{S\subseteq\{1,\ldots,L\}}\ \prod_{j=L}^{1}\bigl(K_j\text{ if }j\in S,\ \text{else }A_j\bigr),"
        r"\quad K_j=C_j\,\mathrm{diag}(\sigma'(z_j))\,\bar B_j", _paths,
        sources=_SOURCES, hypotheses=_HYPOTHESES, reading="a path takes A_j or K_j in each layer j",
    ),
)  # fmt: skip
