"""Removing layers whose parameters are small: the last sentence of the sections on pruning (I6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from sympy import Abs, Eq

from uat_jax.decide.confirmation import proved
from uat_jax.decide.exhibits import exhibit
from uat_jax.decide.inequalities import measured, proved_inequality
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.programs import by_depth, settle
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import ELEMENTWISE, SQUARE, Claim, Decide, Kind
from uat_jax.ledger.edit import OneEdit, one_case
from uat_jax.ledger.source import duat, v1, v2
from uat_jax.networks import ResidualLayer, residual_network
from uat_jax.networks.pruning import pruned_residual_network
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.derivation import closed_form, plain_network
from uat_jax.symbolic.induction import INDEX, closed_form_induction
from uat_jax.symbolic.layers import KINDS, Layers
from uat_jax.symbolic.norms import lipschitz, norm, same_norm, submultiplicative, triangle
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.recurrence import ClosedForm
from uat_jax.symbolic.step import Step
from uat_jax.typing import PyTree

if TYPE_CHECKING:
    from uat_jax.symbolic.language import Zero

LAMBDA = sympy.Symbol("λ", nonnegative=True)
"""A Lipschitz constant of σ."""


def for_both_kinds(decide: Callable[[str], Iterator[Evidence]]) -> Decide:
    """One statement for the residual network of Eq. 20 and one for the Transformer of Eq. 30."""
    return lambda settings: (replace(found, subject=kind) for kind in KINDS for found in decide(kind))


def edit_for_both_kinds(
    printed: Zero | str, corrected: object, decide: Callable[[str, Any], Iterator[Evidence]]
) -> OneEdit:
    """A false statement on both kinds of networks; ``decide`` takes the kind and the statement."""
    by = lambda statement, settings: for_both_kinds(lambda kind: decide(kind, statement))(settings)
    return OneEdit(printed, corrected, by)


# --- a layer whose parameters are zero -------------------------------------------------------------------------------


def _zero_layer(kind: str, shortcut: m.Expression) -> Iterator[Evidence]:
    """x_2 with A_1 the given shortcut and every other parameter of layer 1 zero, against layer 2 applied to x_0."""
    layers = u.square_layers(kind)
    zero = {p: m.Zero(*p.shape) for p in layers.parameters(1)} | {layers.A(1): shortcut}
    x_0, x_1, x_2 = map(layers.x, range(3))
    network = Program({x_1: layers.apply(1, x_0).renamed(zero), x_2: layers.apply(2, x_1)}, x_2)
    removed = Program({x_2: layers.apply(2, x_0)}, x_2)
    yield from settle(network, removed, what=f"{kind} network of two layers, layer 1 zero or removed")


def _identity_layer(kind: str) -> Iterator[Evidence]:
    """Layer k with A_k = I, C_k = 0 and c_k = 0 returns its input, whatever B_k, b_k and the other layers are."""
    layers, k = u.square_layers(kind), INDEX
    x = layers.x(k - 1)
    special = {layers.A(k): m.Identity(u.D), layers.C(k): m.Zero(u.D, u.F), layers.c(k): m.Zero(u.D, 1)}
    after = layers.apply(k + 1, layers.apply(k, x)), layers.apply(k + 1, x)
    steps = [Step("layer k returns x_{k−1}", layers.apply(k, x), x, special), Step("layer k + 1", *after, special)]
    yield from proved(
        steps, method=Method.NORMAL_FORM, what="x_k = x_{k−1}, so that all later layers get the same input"
    )


# --- the bound for every depth ---------------------------------------------------------------------------------------


def removed_layer(kind: str) -> tuple[tuple[Step, ...], Any, tuple[Any, ...]]:
    """‖x_k − x_{k−1}‖ ≤ ‖A_k − I‖ ‖x_{k−1}‖ + ‖c_k‖ + ‖C_k s_k‖: equations, the bound claimed, and what it rests on."""
    layers, k = u.square_layers(kind), INDEX
    A, B, C, b, c = layers.parameters(k)
    x, d, s = layers.x(k - 1), m.Letter("d", u.D, 1, (k,)), m.Letter("s", u.F, 1, (k,))
    inner = x if kind == "residual" else A @ x
    named = {d: layers.apply(k, x) - x, s: m.Activation(B @ inner + b)}
    away = A - m.Identity(u.D)
    total = m.Addition(away @ x, c, C @ s)
    step = Step("d is what layer k adds", d, total, named)
    claimed = norm(d) <= norm(away) * norm(x) + norm(c) + norm(C @ s)
    return (step,), claimed, (same_norm(step), triangle(total), submultiplicative(away, x))


def later_layer(kind: str) -> tuple[tuple[Step, ...], Any, tuple[Any, ...]]:
    """‖d_j‖ ≤ (‖A_j‖ + λ ‖C_j‖ ‖B̄_j‖) ‖d_{j−1}‖ with d_j = x_j − x̃_j, for one generic layer j, widths as they like.

    B̄_j is B_j in a residual network and B_j A_j in a Transformer; y and ỹ are the arguments of the two σ.
    """
    layers, j = Layers(kind), INDEX
    A, B, C, b, _ = layers.parameters(j)
    pruned, before = (m.Letter(name, layers.widths(j - 1), 1, (j - 1,)) for name in ("x̃", "d"))
    after = m.Letter("d", layers.widths(j), 1, (j,))
    y, other = (m.Letter(name, layers.hidden_widths(j), 1, (j,)) for name in ("y", "ỹ"))
    into = B if kind == "residual" else B @ A
    named = {
        after: layers.apply(j, pruned + before) - layers.apply(j, pruned),
        y: into @ (pruned + before) + b,
        other: into @ pruned + b,
    }
    change = m.Activation(y) - m.Activation(other)
    total = A @ before + C @ change
    steps = (
        Step("what the difference becomes", after, total, named),
        Step("the difference inside σ", y - other, into @ before, named),
    )
    claimed = norm(after) <= (norm(A) + LAMBDA * norm(C) * norm(into)) * norm(before)
    laws = (
        triangle(total),
        submultiplicative(A, before),
        submultiplicative(C, change),
        lipschitz(LAMBDA, y, other),
        submultiplicative(into, before),
    )
    return steps, claimed, (*map(same_norm, steps), *laws)


def over_the_layers() -> Iterator[Evidence]:
    """e_L ≤ r_{k+1} ⋯ r_L e_k from e_j ≤ r_j e_{j−1}: j = k, and from j − 1 to j."""
    e_k, before, e_j, r, first, P = sympy.symbols("e_k e_{j-1} e_j r_j P_k P_{j-1}", nonnegative=True)
    yield proved_inequality(e_k <= first * e_k, [Eq(first, 1)], what="j = k: the empty product P_k is 1")
    hypotheses = [e_j <= r * before, before <= P * e_k]
    yield proved_inequality(e_j <= r * P * e_k, hypotheses, what="from j − 1 to j: P_j = r_j P_{j−1}")


def _bound(kind: str) -> Iterator[Evidence]:
    for what, (steps, claimed, laws) in (("layer k", removed_layer(kind)), ("a later layer j", later_layer(kind))):
        yield from proved(steps, method=Method.NORMAL_FORM, what=f"{what}: the difference")
        yield proved_inequality(claimed, laws, what=f"{what}: its norm")
    yield from over_the_layers()
    e_L, e_k, P, added = sympy.symbols("e_L e_k P_L added", nonnegative=True)
    yield proved_inequality(e_L <= P * added, [e_L <= P * e_k, e_k <= added], what="both together")
    if kind == "residual":
        yield _measured()


DEPTH, WIDTH, HIDDEN, REMOVED, SEED = 4, 5, 7, 2, 41


def random_network() -> tuple[tuple[ResidualLayer, ...], np.ndarray]:
    """Layers and x_0 of entries n/32, |n| ≤ 8; layer REMOVED has I + A/8, C/8, c/8 instead.  Exact in float64."""
    draw = lambda *shape: random.integers(-8, 9, shape) / 32
    random, D, F = np.random.default_rng(SEED), WIDTH, HIDDEN
    layers = [ResidualLayer(draw(D, D), draw(F, D), draw(D, F), draw(F), draw(D)) for _ in range(DEPTH)]  # type: ignore[arg-type]
    A, B, C, b, c = layers[REMOVED - 1]
    layers[REMOVED - 1] = ResidualLayer(np.eye(D) + A / 8, B, C / 8, b, c / 8)  # type: ignore[arg-type]
    return tuple(layers), draw(D)


def actual_difference(layers: PyTree, x: jax.Array) -> jax.Array:
    """‖x_L − x̃_L‖_∞ with σ = tanh, layer REMOVED removed."""
    kept = residual_network(layers, x, jnp.tanh)
    return jnp.max(jnp.abs(kept - pruned_residual_network(layers, (REMOVED,), x, jnp.tanh)))


def claimed_bound(layers: PyTree, x: jax.Array) -> jax.Array:
    """Π_{j>k} (‖A_j‖ + ‖C_j‖ ‖B_j‖) (‖A_k − I‖ ‖x_{k−1}‖ + ‖c_k‖ + ‖C_k s_k‖), all ∞-norms; tanh has λ = 1."""
    size, column = (lambda W: jnp.max(jnp.sum(jnp.abs(W), axis=1))), (lambda v: jnp.max(jnp.abs(v)))
    before = residual_network(layers[: REMOVED - 1], x, jnp.tanh)
    A, B, C, b, c = layers[REMOVED - 1]
    s = jnp.tanh(jnp.matmul(B, before, precision="highest") + b)
    bound = size(A - jnp.eye(WIDTH, dtype=A.dtype)) * column(before) + column(c)
    bound = bound + column(jnp.matmul(C, s, precision="highest"))
    for layer in layers[REMOVED:]:
        bound = (size(layer.A) + size(layer.C) * size(layer.B)) * bound
    return bound


def _measured() -> Evidence:
    layers, x = random_network()
    what = f"random network, L = {DEPTH}, layer {REMOVED} removed, ∞-norm, σ = tanh, seed {SEED}"
    return measured(actual_difference, claimed_bound, {"layers": layers, "x": x}, what=what)


# --- layers that depend on their input -------------------------------------------------------------------------------


def _lipschitz_layers(settings: Settings) -> Iterator[Evidence]:
    """e_j ≤ ℓ_j e_{j−1} is what a Lipschitz constant says; the induction is the same."""
    return over_the_layers()


def _attention_matrix(x: jax.Array) -> jax.Array:
    """I + softmax(x xᵀ): residual attention on tokens of one feature, all weights 1."""
    return jnp.eye(len(x), dtype=x.dtype) + jax.nn.softmax(x[:, None] * x[None], axis=-1)


def _frozen_attention(settings: Settings) -> Iterator[Evidence]:
    """Layer 1, to be removed, is x + 3 relu(x); layer 2 is A_2(x) x.  x_0 = (1, 0), so that x_1 = (4, 0)."""
    moved = lambda x: x + 3 * jax.nn.relu(x)
    after = lambda x: jnp.matmul(_attention_matrix(x), x, precision="highest")
    size = lambda x: jnp.max(jnp.sum(jnp.abs(_attention_matrix(x)), axis=1))
    actual = lambda x: jnp.max(jnp.abs(after(moved(x)) - after(x)))
    bound = lambda x: jnp.maximum(size(x), size(moved(x))) * jnp.max(jnp.abs(moved(x) - x))
    yield measured(actual, bound, {"x": np.array([1, 0])}, what="two tokens, layer 2 is attention with a residual")


# --- small parameters inside and outside σ ---------------------------------------------------------------------------


def _small_inside(settings: Settings) -> Iterator[Evidence]:
    """A term with W_j = 0 and θ_j = 0 is α_j σ(0) = α_j/2, and not 0."""
    term = lambda alpha, W, theta, x: alpha * jax.nn.sigmoid(W * x + theta)
    removed = lambda alpha, W, theta, x: 0 * x
    inputs = {"alpha": 1, "W": 0, "theta": 0, "x": 0}
    yield exhibit(term, removed, inputs, what="one term, logistic σ", names=("with the term", "without"))


def _small_outside(settings: Settings) -> Iterator[Evidence]:
    """|Σ_{j≤m} α_j σ_j| ≤ s Σ_{j≤m} |α_j| if |σ| ≤ s, by induction over the terms; then DUAT Eq. 16."""
    T, v, S_1, f = sympy.symbols("T v S_1 f", real=True)
    a, q, P, s = sympy.symbols("|α_m| |σ_m| P s", nonnegative=True)
    epsilon = sympy.Symbol("ε", positive=True)
    laws = [Abs(T) <= s * P, Eq(Abs(v), a * q), q <= s]
    yield proved_inequality(Abs(T + v) <= s * (P + a), laws, what="one more term: v = α_m σ_m, P = Σ_{j<m} |α_j|")
    laws = [Abs(S_1 + T - f) < epsilon, Abs(T) <= s * P]
    yield proved_inequality(Abs(S_1 - f) < epsilon + s * P, laws, what="without all these terms")


# --- a summand of the closed form ------------------------------------------------------------------------------------


LAST, EVERYWHERE = "in Eq. 11", "in Eq. 11 and every Eq. 12"
"""Where a summand is deleted."""


def _deleted(expression: m.Expression, s: m.Letter) -> m.Expression:
    """The expression without those terms of its sums that are a matrix times s."""
    if not expression.operands:
        return expression
    rebuilt = expression.rebuilt(lambda e: _deleted(e, s))
    if not isinstance(rebuilt, m.Addition):
        return rebuilt
    return m.Addition(*(t for t in rebuilt.operands if not (isinstance(t, m.Product) and t.operands[-1] == s)))


def without_summand(kind: str, depth: int, k: int, *, everywhere: bool) -> tuple[Program, Program]:
    """The network with C_k = 0, and the closed form without Ŵ_{k,3} s_k: in x_L, or in every b̂_{j,2} as well."""
    layers = u.square_layers(kind)
    network, closed, s = plain_network(layers, depth), closed_form(layers, depth), ClosedForm(layers).s(k)
    zero = {layers.C(k): m.Zero(u.D, u.F)}
    pruned = {letter: line.renamed(zero) for letter, line in network.items()}
    change = lambda letter: everywhere or letter == closed.result
    lines = {letter: _deleted(line, s) if change(letter) else line for letter, line in closed.items()}
    return Program(pruned, network.result), Program(lines, closed.result)


def _summand(kind: str, where: str) -> Iterator[Evidence]:
    """L = 2, k = 1: the summand is deleted from Eq. 11, and from b̂_{2,2} as well or not."""
    pair = without_summand(kind, 2, 1, everywhere=where == EVERYWHERE)
    yield from settle(*pair, what=f"{kind} network of two layers, first summand deleted")


def _every_sum(kind: str) -> Iterator[Evidence]:
    """The summand is deleted from Eq. 11 and from every Eq. 12: Theorem 1 for C_k = 0."""
    steps = closed_form_induction(Layers(kind))
    what = "every depth and every C_j, also C_k = 0, with which every Ŵ_{k,3} is zero"
    yield prove(steps, method=Method.INDUCTION, what=what)
    for k in (1, 2, 3):
        pair = lambda depth, k=k: without_summand(kind, depth, k, everywhere=True)
        yield by_depth(pair, range(k, 5), what=f"{kind} network, summand {k} deleted everywhere")


# --- rows ------------------------------------------------------------------------------------------------------------

SOURCES = (v1("4.3", 12), v2("4.3", 15), duat("4.3", 16))
_CLOSED = (duat("4.3", 16), duat("3.3", 11, 12))
_NORMS = (
    ELEMENTWISE,
    "‖·‖ is a norm that depends on the absolute values of the entries and grows with them (1-, 2-, ∞-norm), "
    "with its operator norm for matrices",
)
_STATIC = (
    *_NORMS,
    "|σ(s) − σ(t)| ≤ λ |s − t| for all s, t",
    "D_k = D_{k−1}, else layer k cannot be removed; B̄_j is B_j in a residual network and B_j A_j in a Transformer",
    "the parameters do not depend on the input",
)
_REMOVED = (
    r"\text{when parameters in certain layers are small enough, we can directly remove those layers "
    r"since their impact on the final result is minimal}"
)
_BOUND = (
    r"\|\mathbf{x}_L-\tilde{\mathbf{x}}_L\|\le\prod_{j=k+1}^{L}(\|A_j\|+\lambda\|C_j\|\|\bar B_j\|)\cdot"
    r"(\|A_k-I\|\|\mathbf{x}_{k-1}\|+\|c_k\|+\|C_ks_k\|)"
)


def _row(name: str, title: str, printed: str, reading: str, decide: Decide, **more: Any) -> Claim:
    fields = {"kind": Kind.INEQUALITY, "sources": SOURCES, "expects": Verdict.PROVED, **more}
    return Claim(
        id=f"pruning.{name}", title=title, ledger="I6", printed=printed, reading=reading, decide=decide, **fields
    )


CLAIMS = (
    _row(
        "remove-layer", "a layer with small parameters can be removed", _REMOVED,
        "x_L ≈ x̃_L, the output without layer k, in the papers' own Eq. 20 and 30, whose shortcut is A_k x: all parameters of "
        "layer k are zero, the smallest there are",
        edit_for_both_kinds(m.Zero(u.D, u.D), m.Identity(u.D), _zero_layer), hypotheses=SQUARE, expects=Verdict.REFUTED, correction="pruning.remove-layer.bound",
    ),
    _row(
        "remove-layer.identity", "a layer with A_k = I, C_k = 0 and c_k = 0 can be removed", r"A_k=I,\ C_k=0,\ c_k=0\ \Rightarrow\ \mathbf{x}_L=\tilde{\mathbf{x}}_L",
        "what may be small is what the layer adds to its input",
        for_both_kinds(_identity_layer), kind=Kind.ALL_DEPTHS, hypotheses=SQUARE,
    ),
    _row(
        "remove-layer.bound", "how far removing layer k moves the output, for every depth", _BOUND,
        "x̃_L is the output without layer k; with A_k = I and c_k = 0 the last factor is ‖C_k s_k‖",
        for_both_kinds(_bound), kind=Kind.ALL_DEPTHS, hypotheses=_STATIC,
    ),
    _row(
        "remove-layer.frozen-attention", "the bound on removing a layer, with attention's matrices at the two points", _BOUND,
        "the bound of fixed parameters with ‖A_j(x)‖ for ‖A_j‖, A_j(x) being the layer's matrix at x_{j−1} or x̃_{j−1}",
        one_case({"‖A_j(x)‖": _frozen_attention, "ℓ_j": _lipschitz_layers}), hypotheses=_NORMS, expects=Verdict.REFUTED, ours=True, correction="pruning.remove-layer.lipschitz",
    ),
    _row(
        "remove-layer.lipschitz", "the bound on removing a layer, for layers that depend on their input", r"\|\mathbf{x}_L-\tilde{\mathbf{x}}_L\|\le\prod_{j=k+1}^{L}\ell_j\cdot\|\mathbf{x}_k-\mathbf{x}_{k-1}\|",
        "ℓ_j is a Lipschitz constant of layer j on a set with x_{j−1} and x̃_{j−1}; for attention, a bounded set",
        _lipschitz_layers, kind=Kind.ALL_DEPTHS, hypotheses=(*_NORMS, "‖f_j(x) − f_j(y)‖ ≤ ℓ_j ‖x − y‖ at the two inputs of layer j"),
    ),
    _row(
        "small-inside", "a term with small W_j and θ_j can be removed", _REMOVED,
        "α_j σ(W_jᵀ x + θ_j) ≈ 0: the small parameters are those inside σ, here zero; σ is the logistic function, one of the sigmoidal functions of Eq. 1",
        one_case({"W_j, θ_j small": _small_inside, "α_j small": _small_outside}), expects=Verdict.REFUTED, correction="pruning.small-outside",
    ),
    _row(
        "small-outside", "terms with small α_j can be removed", r"\Bigl|\sum_{j\in\Lambda_1}\alpha_j\sigma_j-f\Bigr|<\varepsilon+s\sum_{j\in\Lambda_2}|\alpha_j|,\quad|\sigma|\le s",
        "the small parameters are those outside σ, and σ is bounded, as sigmoidal functions are",
        _small_outside, hypotheses=(ELEMENTWISE, "|σ(t)| ≤ s for all t", "all terms together are within ε of f, ε > 0"),
    ),
    _row(
        "summand", "deleting the k-th summand of Eq. 11 removes the σ of layer k", _REMOVED,
        "the sum over all j but k of W'_{j,3} σ(W'_{j,2} x'_0 + b'_{j,2}) in Eq. 11: the b'_{j,2} of the later layers stay as they are: they still contain the deleted summand (Eq. 12)",
        edit_for_both_kinds(LAST, EVERYWHERE, _summand), kind=Kind.IDENTITY, sources=_CLOSED, hypotheses=SQUARE, expects=Verdict.REFUTED, correction="pruning.summand.everywhere",
    ),
    _row(
        "summand.everywhere", "deleting it from Eq. 11 and every Eq. 12 removes the σ of layer k", r"\mathbf{W}'_{k,3}=0\ \text{in Eq. 11 and in every }\mathbf{b}'_{j,2},\ j>k",
        "the closed form of the network with W_{k,3} = 0",
        for_both_kinds(_every_sum), kind=Kind.ALL_DEPTHS, sources=_CLOSED, hypotheses=SQUARE,
    ),
)  # fmt: skip
