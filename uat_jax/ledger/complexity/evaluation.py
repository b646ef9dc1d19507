"""What the closed form costs: evaluations of σ, products, levels that must follow one another (L1, L2, L3, L6).

Nothing of this is printed in the papers, which say of the closed form only that it is computed serially.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import sympy
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.confirmation import proved
from uat_jax.decide.counts import Said, counted
from uat_jax.decide.functions import confirm_functions
from uat_jax.decide.settings import Settings
from uat_jax.decide.statements import Statements, of_cost
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import ELEMENTWISE, Claim, Kind
from uat_jax.ledger.complexity import evaluators
from uat_jax.ledger.complexity.evaluators import applications, longest_chain, products
from uat_jax.ledger.complexity.generic_layer import (
    CLOSED,
    LAYERS,
    activation,
    activations_in,
    added_up,
    added_up_to,
    first_activation,
    output,
    products_in,
    products_of_matrices,
)
from uat_jax.ledger.source import duat
from uat_jax.networks import ResidualLayer, TransformerLayer, residual_network, transformer
from uat_jax.symbolic import language as m
from uat_jax.symbolic.induction import INDEX, LAYER, by_layers, inductive
from uat_jax.symbolic.layers import KINDS, Layers
from uat_jax.symbolic.recurrence import ClosedForm, recurrence
from uat_jax.symbolic.step import Definition, Induction, Step

L, j, k = map(m.dimension, "Ljk")
UP_TO_SIX = [{L: depth} for depth in range(1, 7)]
Shape = Mapping[sympy.Symbol, int]

FROM_HATTED = ("tree", "memoised")
"""Orders of evaluation that are given the hatted parameters."""

# --- real traces -----------------------------------------------------------------------------------------------------


def _array(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def _layers(depth: int) -> list[ResidualLayer]:
    """Layers of two features and three hidden ones."""
    return [ResidualLayer(_array(2, 2), _array(3, 2), _array(2, 3), _array(3), _array(2))] * depth  # type: ignore[arg-type]


@cache
def trace(name: str, depth: int) -> ClosedJaxpr:
    """The jaxpr of one order of evaluation with σ = tanh; "hatted" is the computation of the parameters."""
    layers, x = _layers(depth), _array(2)
    if name == "hatted":
        return jax.make_jaxpr(evaluators.hatted)(layers)
    if name in FROM_HATTED:
        given: Any = jax.eval_shape(evaluators.hatted, layers)
    else:
        given = layers
    network = residual_network if name == "network" else getattr(evaluators, name)
    return jax.make_jaxpr(lambda given, x: network(given, x, jnp.tanh))(given, x)


def same_as_network(name: str) -> Evidence:
    """Whether an order of evaluation computes the network, in prime fields."""
    order, given = getattr(evaluators, name), evaluators.hatted if name in FROM_HATTED else list
    network = lambda layers, x: residual_network(layers, x, jnp.tanh)
    other = lambda layers, x: order(given(layers), x, jnp.tanh)
    shapes = [jax.tree.map(lambda array: array.shape, _layers(3)), (2,)]
    return confirm_functions(network, other, shapes, what=f"{name} computes the network of three layers")


def activations(name: str) -> Callable[[Shape], int]:
    """How often σ is evaluated."""
    return lambda shape: applications(trace(name, shape[L]), "tanh")


def with_vectors(name: str) -> Callable[[Shape], int]:
    """Products of a matrix with a vector."""
    return lambda shape: products(trace(name, shape[L]), with_vectors=True)


def of_matrices(name: str) -> Callable[[Shape], int]:
    """Products of two matrices."""
    return lambda shape: products(trace(name, shape[L]), with_vectors=False)


# --- derived counts --------------------------------------------------------------------------------------------------


def _solved(right: Callable[[Any], Any], start: int, value: int) -> Any:
    """f(j) with f(j+1) = right(f(j)) and f(start) = value."""
    f, n = sympy.Function("f"), sympy.Symbol("n", integer=True)
    solution: Any = sympy.rsolve(f(n + 1) - right(f(n)), f(n), {f(start): value})
    return solution.subs(n, j)


def network_products() -> Any:
    """Σ over the layers of the products of a generic one: A_j x, B_j x and C_j σ(…)."""
    return sympy.summation(products_in(LAYERS.apply(INDEX + 1, LAYERS.x(INDEX))), (j, 1, L))


def levels() -> sympy.Expr:
    """⌈d⌉ with f(d) = L, f(d) the most matrices that d levels of products of two multiply: f(d+1) = 2 f(d), f(0) = 1."""
    most = _solved(lambda n: 2 * n, 0, 1)
    (depth,) = sympy.solve(sympy.Eq(most, L), j)
    return sympy.ceiling(depth)


def tree_activations() -> sympy.Expr:
    """Every s_k computed wherever it stands: s_j costs 1 + Σ_{k<j} S_k."""
    return added_up(activations_in, L, shared=False)


def tree_products() -> sympy.Expr:
    """Every s_k computed wherever it stands: Ŵ_{j,2} x_0, B_j(…), and each W̃_k s_k with all that s_k costs."""
    return added_up(products_in, L, shared=False)


def memoised_activations() -> Any:
    """Every s_k computed once."""
    return added_up(activations_in, L, shared=True)


def memoised_products() -> sympy.Expr:
    """P_L x_0, every W̃_k^{(L)} s_k; for s_1 one product, for s_j the products Ŵ_{j,2} x_0, B_j(…), W̃_k^{(j−1)} s_k."""
    return added_up(products_in, L, shared=True)


def hatted_products() -> Any:
    """For every layer j ≥ 2: A_j P_{j−1}, B_j P_{j−1} and A_j W̃_k^{(j−1)} for k < j."""
    return sympy.summation(products_of_matrices().subs(INDEX, j - 1), (j, 2, L))


def two_stream_products() -> sympy.Expr:
    """A_j p_{j−1}, A_j u_{j−1}, B_j(…) and C_j σ(…) in every layer, but u_0 = 0."""
    return _of_streams(products_in)


def two_stream_activations() -> Any:
    """How often the two-stream form evaluates σ: once in every layer."""
    return _of_streams(activations_in)


def _of_streams(count: Callable[[m.Expression], Any]) -> sympy.Expr:
    """The first layer, and L − 1 generic ones, read off `_streams`."""
    i, start = INDEX, m.Zero(LAYERS.widths(0), 1)
    p, u = (m.Letter(name, LAYERS.widths(i), 1, (i,)) for name in "pu")
    first = sum(map(count, _streams(LAYERS, 1, LAYERS.x(0), start)))
    return first + (L - 1) * sum(map(count, _streams(LAYERS, i + 1, p, u)))


def longest_nesting() -> Any:
    """n_{j+1} = n_j + 1, n_1 = 1: s_{i+1} is one σ around the s_k before it, of which s_i is nested deepest."""
    outside = activations_in(activation())
    return _solved(lambda n: n + outside, 1, activations_in(first_activation())).subs(j, L)


# --- the counts as data ----------------------------------------------------------------------------------------------


def _of_closed_form(counted_as: str, count: Callable[..., Any], *, shared: bool) -> Said:
    """s_1, s_{i+1} and x_L, with what the s up to s_i cost."""
    first, later = {CLOSED.s(1): first_activation()}, {CLOSED.s(INDEX + 1): activation()}
    partial = added_up_to(count, shared=shared)
    return lambda claimed, at: of_cost(
        counted_as, INDEX, L, first, later, output(L), shared=shared, partial=partial, closed=claimed
    )


def _of_layers(counted_as: str, first: Any, later: Any, result: m.Expression) -> Said:
    """A program of letters computed layer by layer, of which the last is the result: each layer costs as much as it says."""
    so_far = lambda claimed: sympy.sympify(claimed).xreplace({L: INDEX})
    return lambda claimed, at: of_cost(
        counted_as, INDEX, L, first, later, result, shared=True, partial=so_far(claimed), closed=claimed
    )


def _of_network(counted_as: str) -> Said:
    x = LAYERS.x
    first, later = {x(1): LAYERS.apply(1, x(0))}, {x(INDEX + 1): LAYERS.apply(INDEX + 1, x(INDEX))}
    return _of_layers(counted_as, first, later, x(L))


def _of_two_streams(counted_as: str) -> Said:
    p, u = (lambda j, name=name: m.Letter(name, LAYERS.widths(j), 1, (j,)) for name in "pu")
    start, i = m.Zero(LAYERS.widths(0), 1), INDEX
    first = dict(zip((p(1), u(1)), _streams(LAYERS, 1, LAYERS.x(0), start), strict=True))
    later = dict(zip((p(i + 1), u(i + 1)), _streams(LAYERS, i + 1, p(i), u(i)), strict=True))
    return _of_layers(counted_as, first, later, p(L) + u(L))


def _of_hatted() -> Said:
    """P_j, Ŵ_{j,2} and Ŵ_{k,3}^{(j)} for k ≤ j, of which the first layer's are given."""
    rule, i = recurrence(CLOSED, INDEX + 1), INDEX
    given, carry = recurrence(CLOSED, 1), rule.carry
    assert carry is not None
    first = {CLOSED.W1(1): given.W1, CLOSED.W2(1): given.W2, CLOSED.W3(1, 1): given.W3}
    products: Any = CLOSED.W1(i + 1)
    later = [
        Definition(products, rule.W1, ()),
        Definition(CLOSED.W2(i + 1), rule.W2, ()),
        Definition(CLOSED.W3(k, i + 1), carry @ CLOSED.W3(k, i), ((k, i),)),
        Definition(CLOSED.W3(i + 1, i + 1), rule.W3, ()),
    ]
    return _of_layers("products", first, later, CLOSED.W1(L))


def _nested(claimed: sympy.Symbol, at: Any) -> Statements:
    """s_1 and s_{i+1}: how many σ are inside each other."""
    first, later = {CLOSED.s(1): first_activation()}, {CLOSED.s(INDEX + 1): activation()}
    so_far = sympy.sympify(claimed).xreplace({L: INDEX})
    return of_cost("nesting", INDEX, L, first, later, output(L), shared=False, partial=so_far, closed=claimed)


def _count(
    claimed: sympy.Expr, found: Callable[[], Any] | Any, measured: Callable[[Shape], int], said: Callable[[], Said]
) -> Callable[[Settings], Any]:
    """``claimed`` against the derived number, and against traces of 1 to 6 layers."""

    def decide(settings: Settings) -> Iterator[Evidence]:
        derived = found() if callable(found) else found
        yield from counted(claimed, derived, what="L layers", measured=measured, shapes=UP_TO_SIX, said=said())

    return decide


def _named(subject: str, found: Iterator[Evidence]) -> Iterator[Evidence]:
    return (replace(evidence, subject=subject) for evidence in found)


def _only_vectors(settings: Settings) -> Iterator[Evidence]:
    """4L − 1 products with a vector, and 4L − 1 products in all: none of two matrices."""
    vectors, matrices = with_vectors("two_streams"), of_matrices("two_streams")
    every = lambda shape: vectors(shape) + matrices(shape)
    kinds = (("with a vector", vectors, "vector products"), ("in all", every, "products"))
    for subject, measured, counted_as in kinds:
        said = lambda counted_as=counted_as: _of_two_streams(counted_as)
        yield from _named(subject, _count(4 * L - 1, two_stream_products, measured, said)(settings))


# --- two streams -----------------------------------------------------------------------------------------------------


def _two_streams(settings: Settings) -> Iterator[Evidence]:
    """p_j + u_j = x_j and p_j = P_j x_0 + q_j for every j, with parameters of any kind."""
    for kind in KINDS:
        for dynamic in (False, True):
            steps = two_stream_steps(Layers(kind, dynamic=dynamic))
            what = f"{kind} network, {'dynamic' if dynamic else 'fixed'} parameters"
            found = proved(steps, method=Method.INDUCTION, what=f"{what}: for every L, every shape and every σ")
            yield from (replace(evidence, subject=what) for evidence in found)


def two_stream_steps(layers: Layers) -> list[Step]:
    """The first layer, and one layer more: p_{i+1} + u_{i+1} is layer i+1 applied to p_i + u_i."""
    i, x = INDEX, layers.x(0)
    p, u = m.Letter("p", layers.widths(i), 1, (i,)), m.Letter("u", layers.widths(i), 1, (i,))
    start = m.Zero(layers.widths(0), 1)
    steps = [
        Step("one layer", m.Addition(*_streams(layers, 1, x, start)), layers.apply(1, x)),
        Step("one layer more", m.Addition(*_streams(layers, i + 1, p, u)), layers.apply(i + 1, p + u)),
    ]
    at = lambda name, j: m.Letter(name, layers.widths(j), 1, (j,))
    y = m.Letter("y", layers.widths(LAYER - 1), 1)
    first = dict(zip((at("p", 1), at("u", 1)), _streams(layers, 1, x, start), strict=True))
    later = dict(zip((at("p", i + 1), at("u", i + 1)), _streams(layers, i + 1, p, u), strict=True))
    steps += inductive(Induction(i, LAYER, y, x, layers.apply(LAYER, y), p + u, first, by_layers(later)))
    if layers.dynamic:
        return steps
    closed, A = ClosedForm(layers), layers.A(i + 1)
    next_p = {p: closed.affine(i)}
    affine = m.Addition(A @ closed.W1(i) @ x, A @ closed.b3(i), layers.c(i + 1))
    return [*steps, Step("p is the affine part", _streams(layers, i + 1, p, u)[0], affine, next_p)]


def _streams(
    layers: Layers, j: sympy.Expr | int, p: m.Expression, u: m.Expression
) -> tuple[m.Expression, m.Expression]:
    """p_j = A_j p_{j−1} + c_j and u_j = A_j u_{j−1} + C_j σ(B_j (p_{j−1} + u_{j−1}) + b_j), B_j A_j in a Transformer."""
    A, B, C, b, c = (m.Dependent(w, p + u) if layers.dynamic else w for w in layers.parameters(j))
    inner = p + u if layers.kind == "residual" else A @ p + A @ u
    return A @ p + c, A @ u + C @ m.Activation(B @ inner + b)


# --- levels ----------------------------------------------------------------------------------------------------------


def _prefix_levels(shape: Shape) -> int:
    matrices = [_array(2, 2)] * shape[L]
    return longest_chain(jax.make_jaxpr(evaluators.prefix_products)(matrices), "dot_general")


def _scan(settings: Settings) -> Iterator[Evidence]:
    """d levels of products of two multiply at most 2^d matrices, and ⌈log₂ L⌉ are enough for all A_j…A_1."""
    claimed = sympy.ceiling(sympy.log(L, 2))
    shapes = [{L: length} for length in (1, 2, 3, 4, 5, 8, 9, 16, 17)]
    yield from counted(claimed, levels(), what="levels", measured=_prefix_levels, shapes=shapes)


def _attention_chain(shape: Shape) -> int:
    """The longest chain of softmaxes in a Transformer."""
    one = TransformerLayer(*[_array(1, 2, 2)] * 4, _array(2, 3), _array(3), _array(3, 2), _array(2))  # type: ignore[arg-type]
    network = lambda layers, x: transformer(layers, x, jnp.tanh)
    return longest_chain(jax.make_jaxpr(network)([one] * shape[L], _array(2, 2)), "exp")


def _chains(settings: Settings) -> Iterator[Evidence]:
    """s_j needs s_{j−1}, and A_{j+1}(x_j) needs A_j: chains of length L in every order of evaluation."""
    for name in ("network", "memoised", "tree", "two_streams"):
        chain = lambda shape, name=name: longest_chain(trace(name, shape[L]), "tanh")
        what = f"σ one after the other, {name}"
        found = counted(L, longest_nesting(), what=what, measured=chain, shapes=UP_TO_SIX, said=_nested)
        yield from _named(name, found)
        if name != "network":
            yield replace(same_as_network(name), subject=name)
    what = "attention patterns one after the other"
    found = counted(L, longest_nesting(), what=what, measured=_attention_chain, shapes=UP_TO_SIX[:4], said=_nested)
    yield from _named("attention", found)


# --- the rows --------------------------------------------------------------------------------------------------------

_SOURCES = (duat("3.3", 11, 12), duat("B.3", 33, 34))
_DERIVED = "not printed: a count for the closed form with the parameters of Theorem 1"
_HATTED = "the hatted parameters that do not depend on x_0 are computed beforehand"


def _row(name: str, ledger: str, title: str, printed: str, decide: Any, **others: Any) -> Claim:
    defaults = {
        "kind": Kind.COUNT,
        "sources": _SOURCES,
        "reading": _DERIVED,
        "hypotheses": (ELEMENTWISE, _HATTED),
        "expects": Verdict.PROVED,
    }
    named = {"id": f"complexity.{name}", "ledger": ledger, "title": title, "printed": printed, "decide": decide}
    return Claim(**{**defaults, **others, **named})


CLAIMS = (
    _row(
        "tree.activations",
        "L1",
        "the nested form with nothing shared evaluates σ 2^L − 1 times",
        r"\sum_{j=1}^{L}2^{j-1}=2^L-1",
        _count(
            2**L - 1,
            tree_activations,
            activations("tree"),
            lambda: _of_closed_form("sigmas", activations_in, shared=False),
        ),
    ),
    _row(
        "tree.products",
        "L1",
        "the nested form with nothing shared takes 5·2^(L−1) − 2 matrix–vector products",
        r"5\cdot 2^{L-1}-2",
        _count(
            5 * 2 ** (L - 1) - 2,
            tree_products,
            with_vectors("tree"),
            lambda: _of_closed_form("vector products", products_in, shared=False),
        ),
    ),
    _row(
        "memoised.activations",
        "L2",
        "with every s_k computed once, σ is evaluated L times",
        "L",
        _count(
            L,
            memoised_activations,
            activations("memoised"),
            lambda: _of_closed_form("sigmas", activations_in, shared=True),
        ),
    ),
    _row(
        "memoised.products",
        "L2",
        "with every s_k computed once, L(L+5)/2 matrix–vector products",
        r"\tfrac{1}{2}L(L+5)",
        _count(
            L * (L + 5) / 2,
            memoised_products,
            with_vectors("memoised"),
            lambda: _of_closed_form("vector products", products_in, shared=True),
        ),
    ),
    _row(
        "memoised.parameters",
        "L2",
        "the hatted parameters take (L−1)(L+4)/2 products of matrices",
        r"\tfrac{1}{2}L(L-1)+(L-1)+(L-1)",
        _count((L - 1) * (L + 4) / 2, hatted_products, of_matrices("hatted"), _of_hatted),
        reading=f"{_DERIVED}: L(L−1)/2 for A_m W̃_k, L−1 for P_j and L−1 for Ŵ_{{j,2}}",
        hypotheses=(ELEMENTWISE, "for a Transformer B_j stands for B_j A_j, which takes L products more"),
    ),
    _row(
        "two-streams.identity",
        "L3",
        "p_j + u_j is x_j, for every depth and for parameters that depend on the input",
        r"p_j=A_jp_{j-1}+c_j,\ u_j=A_ju_{j-1}+C_j\sigma(\bar{B}_j(p_{j-1}+u_{j-1})+b_j),\ x_j=p_j+u_j",
        _two_streams,
        kind=Kind.ALL_DEPTHS,
        reading="not printed: p_j is P_j x_0 + q_j, and u_j the sum that the papers call UAT_j^R",
        hypotheses=(ELEMENTWISE,),
    ),
    _row(
        "two-streams.activations",
        "L3",
        "two streams evaluate σ L times",
        "L",
        _count(L, two_stream_activations, activations("two_streams"), lambda: _of_two_streams("sigmas")),
        hypotheses=(ELEMENTWISE,),
    ),
    _row(
        "two-streams.products",
        "L3",
        "two streams take 4L − 1 matrix–vector products and no product of matrices",
        "4L-1",
        _only_vectors,
        hypotheses=(ELEMENTWISE,),
    ),
    _row(
        "network.products",
        "L3",
        "the network itself takes 3L matrix–vector products",
        "3L",
        _count(3 * L, network_products, with_vectors("network"), lambda: _of_network("vector products")),
        hypotheses=(ELEMENTWISE,),
    ),
    _row(
        "levels.products",
        "L6",
        "all products A_j…A_1 of fixed matrices take ⌈log₂ L⌉ levels",
        r"\lceil\log_2L\rceil",
        _scan,
        reading="not printed: a parallel scan; with pairs (A_j, c_j) it gives q_j too, and W̃_k^{(j)} is such a product",
        hypotheses=("A_j does not depend on the input",),
    ),
    _row(
        "levels.chains",
        "L6",
        "the activations, and attention's matrices, form chains of length L",
        "L",
        _chains,
        reading="not printed: in the network, in two streams and in the closed form as a tree and memoised; every L by one more "
        "per layer, counted in traces",
        hypotheses=(ELEMENTWISE,),
    ),
)
