"""Several layers changed at once (f): how far LoRA, or removing layers, moves the output of a network of any depth.

    x_j = f_j(x_{j−1}) before,  x̃_j = f̃_j(x̃_{j−1}) after,  x̃_0 = x_0
    ‖x̃_L − x_L‖ ≤ Σ_k ℓ_L ⋯ ℓ_{k+1} δ_k

δ_k is what the changed layer k gives more than the old one at the old x_{k−1}, and ℓ_j a Lipschitz constant of the
changed layer j.  `constants` has the ℓ of activations and of attention.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from sympy import Eq

from uat_jax.decide.confirmation import proved
from uat_jax.decide.inequalities import measured, proved_inequality
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method
from uat_jax.ledger.beyond import constants
from uat_jax.ledger.beyond.carried_sum import carried_sum
from uat_jax.ledger.beyond.row import row
from uat_jax.ledger.claim import ELEMENTWISE, Kind
from uat_jax.ledger.pruning.layer_removal import later_layer, removed_layer
from uat_jax.ledger.source import duat, v2
from uat_jax.networks import ResidualLayer, residual_network
from uat_jax.symbolic import language as m
from uat_jax.symbolic.induction import INDEX
from uat_jax.symbolic.layers import KINDS, Layers
from uat_jax.symbolic.norms import lipschitz, norm, same_norm, submultiplicative, triangle
from uat_jax.symbolic.step import Step

LAMBDA = sympy.Symbol("λ", nonnegative=True)
Argument = tuple[tuple[Step, ...], Any, tuple[Any, ...]]
"""Equations that hold, the bound claimed, and the laws that it rests on."""

# --- every depth -------------------------------------------------------------------------------------------------------


def one_layer() -> Argument:
    """‖f̃(x̃) − f(x)‖ ≤ ℓ ‖x̃ − x‖ + ‖f̃(x) − f(x)‖, for layers that are any functions."""
    n, k, ell = m.dimension("n"), m.dimension("m"), sympy.Symbol("ℓ", nonnegative=True)
    x, changed_x, before = m.Letter("x", n, 1), m.Letter("x̃", n, 1), m.Letter("e", n, 1)
    f, changed = m.Letter("f", k, 1), m.Letter("f̃", k, 1)
    at = lambda function, point: m.Dependent(function, point)
    carried, own = at(changed, changed_x) - at(changed, x), at(changed, x) - at(f, x)
    total = m.Addition(carried, own)
    step = Step("what one layer makes of a difference", at(changed, changed_x) - at(f, x), total)
    given = {changed_x: x + before}
    moved = Step("e is the difference before", changed_x - x, before, given)
    claimed = norm(step.left) <= ell * norm(before) + norm(own)
    laws = same_norm(step), triangle(total), norm(carried) <= ell * norm(moved.left), same_norm(moved)
    return (step, moved), claimed, laws


def over_the_layers() -> Iterator[Evidence]:
    """e_L ≤ S_L: no layer, and one layer more."""
    e, before, S, previous, ell, delta = sympy.symbols("e_j e_{j-1} S_j S_{j-1} ℓ_j δ_j", nonnegative=True)
    yield proved_inequality(e <= S, [Eq(e, 0), Eq(S, 0)], what="no layer: the difference and the sum are 0")
    hypotheses = [e <= ell * before + delta, before <= previous, Eq(S, ell * previous + delta)]
    yield proved_inequality(e <= S, hypotheses, what="from j − 1 to j: S_j = ℓ_j S_{j−1} + δ_j")


def _argued(argument: Argument, what: str, *, confirm: bool = True) -> Iterator[Evidence]:
    steps, claimed, laws = argument
    shown = {"method": Method.NORMAL_FORM, "what": f"{what}: the difference"}
    yield from proved(steps, **shown) if confirm else (prove(steps, **shown),)
    yield proved_inequality(claimed, laws, what=f"{what}: its norm")


def _any_layers(settings: Settings) -> Iterator[Evidence]:
    yield from _argued(one_layer(), "one layer")
    yield prove([carried_sum(1, "ℓ", "δ")], method=Method.INDUCTION, what="Σ_k ℓ_L ⋯ ℓ_{k+1} δ_k, for every L")
    yield from over_the_layers()


# --- LoRA --------------------------------------------------------------------------------------------------------------


def adapted_layer(kind: str) -> Argument:
    """‖f̃(x) − f(x)‖ ≤ ‖ΔC‖ ‖s‖ + λ ‖C‖ ‖ΔB‖ ‖y‖, where s = σ((B + ΔB) y + b); y is x, or A x in a Transformer."""
    layers, j = Layers(kind), INDEX
    A, B, C, b, c = layers.parameters(j)
    x, delta_B, delta_C = layers.x(j - 1), m.Letter("ΔB", *B.shape, (j,)), m.Letter("ΔC", *C.shape, (j,))
    y = x if kind == "residual" else A @ x
    old, new = B @ y + b, (B + delta_B) @ y + b
    s, change = m.Activation(new), m.Activation(new) - m.Activation(old)
    total = m.Addition(delta_C @ s, C @ change)
    adapted = m.Addition(A @ x, c, (C + delta_C) @ s)
    step = Step("what an adapted layer gives more", adapted - layers.apply(j, x), total)
    inside = Step("what σ is applied to", new - old, delta_B @ y)
    claimed = norm(step.left) <= norm(delta_C) * norm(s) + LAMBDA * norm(C) * norm(delta_B) * norm(y)
    laws = (
        same_norm(step),
        triangle(total),
        submultiplicative(delta_C, s),
        submultiplicative(C, change),
        lipschitz(LAMBDA, new, old),
        same_norm(inside),
        submultiplicative(delta_B, y),
    )
    return (step, inside), claimed, laws


def _lora(settings: Settings) -> Iterator[Evidence]:
    """δ_k, and ℓ_j = ‖A_j‖ + λ ‖C_j‖ ‖B̄_j‖ (`later_layer`) with the parameters after the change."""
    for kind in KINDS:
        yield from _argued(adapted_layer(kind), f"{kind}, δ_k", confirm=kind == "residual")
        yield from _argued(later_layer(kind), f"{kind}, ℓ_j", confirm=False)  # as in pruning.remove-layer.bound
    yield reached()
    yield measured_change("lora")


def _removed(settings: Settings) -> Iterator[Evidence]:
    """δ_k of a layer that is the identity afterwards, and its ℓ_k, which is 1."""
    for kind in KINDS:
        yield from _argued(removed_layer(kind), f"{kind}, δ_k", confirm=False)  # as in pruning.remove-layer.bound
    yield measured_change("removal")


def reached(sign: int = 1) -> Evidence:
    """The bound is reached in layers of width 1 without negative numbers and with relu, however many are changed.

    There e_j = ℓ_j e_{j−1} + δ_j with ℓ = A + (C + ΔC) B and δ = ΔC s + C ΔB y: every inequality is an equation.
    z = B x, and z + g = (B + ΔB)(x + e) is what relu is applied to, so that g = ΔB x + (B + ΔB) e.
    """
    A, x, e, z, C, more, first, second = sympy.symbols("A x e z C ΔC ΔB·x (B+ΔB)·e", nonnegative=True)
    relu = lambda number: sympy.Max(number, 0)
    after = A * (x + e) + (C + more) * relu(z + first + second)
    before = A * x + C * relu(z)
    own = more * relu(z + first) + C * first
    claim = Eq(after - before, A * e + (C + more) * second + sign * own)
    return proved_inequality(claim, [], what="reached with relu, width 1 and no negative number")


# --- networks of numbers ------------------------------------------------------------------------------------------------

DEPTH, WIDTH, HIDDEN, SEED = 4, 4, 6, 47
CHANGED = (1, 3)
"""The layers that are changed, of DEPTH."""


def numbers(seed: int = SEED) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], np.ndarray]:
    """Parameters of all layers stacked, what is added to B and C of the changed ones, and x_0.

    Entries are n/32 and smaller, so that float64 holds them exactly; A_j is near I, as in a residual network.
    """
    random, L, D, F = np.random.default_rng(seed), DEPTH, WIDTH, HIDDEN
    draw = lambda *shape: random.integers(-8, 9, shape) / 32
    layers = {
        "A": np.eye(D) + draw(L, D, D) / 8,
        "B": draw(L, F, D),
        "C": draw(L, D, F) / 4,
        "b": draw(L, F),
        "c": draw(L, D) / 16,
    }
    added = {"B": np.zeros((L, F, D)), "C": np.zeros((L, D, F))}
    for k in CHANGED:  # of rank one
        added["B"][k - 1] = np.outer(draw(F), draw(D)) / 4
        added["C"][k - 1] = np.outer(draw(D), draw(F)) / 4
    return layers, added, draw(D)


def _layer(layers: Mapping[str, jax.Array], j: int) -> ResidualLayer:
    return ResidualLayer(*(layers[name][j] for name in "ABCbc"))


def _size(W: jax.Array) -> jax.Array:
    return jnp.max(jnp.sum(jnp.abs(W), axis=1))


def _times(W: jax.Array, v: jax.Array) -> jax.Array:
    return jnp.matmul(W, v, precision="highest")


def _trajectory(layers: Mapping[str, jax.Array], x: jax.Array) -> list[jax.Array]:
    """x_0, …, x_L with σ = tanh."""
    points = [x]
    for j in range(DEPTH):
        points.append(residual_network((_layer(layers, j),), points[-1], jnp.tanh))
    return points


def adapted(
    layers: Mapping[str, jax.Array], added: Mapping[str, jax.Array], x: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """The largest entry of x̃_L − x_L, and Σ_k Π_{j>k} ℓ_j (‖ΔC_k‖ ‖s_k‖ + λ ‖C_k‖ ‖ΔB_k‖ ‖y_k‖); tanh has λ = 1."""
    new = {**layers, "B": layers["B"] + added["B"], "C": layers["C"] + added["C"]}
    old_x, new_x = _trajectory(layers, x), _trajectory(new, x)
    bound = jnp.zeros((), x.dtype)
    for j in range(DEPTH):
        y = old_x[j]
        s = jnp.tanh(_times(new["B"][j], y) + new["b"][j])
        own = _size(added["C"][j]) * jnp.max(jnp.abs(s))
        own = own + _size(layers["C"][j]) * _size(added["B"][j]) * jnp.max(jnp.abs(y))
        bound = (_size(new["A"][j]) + _size(new["C"][j]) * _size(new["B"][j])) * bound + own
    return jnp.max(jnp.abs(new_x[-1] - old_x[-1])), bound


def removed(layers: Mapping[str, Any], added: Mapping[str, Any], x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The largest entry of x̃_L − x_L without the layers CHANGED, and Σ_k Π_{j>k} ℓ_j ‖x_k − x_{k−1}‖."""
    old_x, new_x = _trajectory(layers, x), x
    bound = jnp.zeros((), x.dtype)
    for j in range(DEPTH):
        if j + 1 in CHANGED:
            bound = bound + jnp.max(jnp.abs(old_x[j + 1] - old_x[j]))
        else:
            new_x = residual_network((_layer(layers, j),), new_x, jnp.tanh)
            bound = (_size(layers["A"][j]) + _size(layers["C"][j]) * _size(layers["B"][j])) * bound
    return jnp.max(jnp.abs(new_x - old_x[-1])), bound


CHANGES: dict[str, Callable[..., tuple[jax.Array, jax.Array]]] = {"lora": adapted, "removal": removed}


def measured_change(name: str, seed: int = SEED) -> Evidence:
    """How far the output moves, beside the bound, in ball arithmetic; ``name`` is one of CHANGES."""
    layers, added, x = numbers(seed)
    change = CHANGES[name]
    inputs = {"layers": layers, "added": added, "x": x}
    what = f"{name} in layers {', '.join(map(str, CHANGED))} of {DEPTH}, ∞-norm, σ = tanh, seed {seed}"
    return measured(lambda **given: change(**given)[0], lambda **given: change(**given)[1], inputs, what=what)


# --- rows ---------------------------------------------------------------------------------------------------------------

_SOURCES = (duat("4.3", 16), duat("4.4", 18), v2("4.4", 17))
_ORDER = (
    "‖·‖ is a norm that depends on the absolute values of the entries and grows with them (1-, 2-, ∞-norm), "
    "with its operator norm for matrices"
)
_LIPSCHITZ = "|σ(s) − σ(t)| ≤ λ |s − t| for all s, t"
_STATIC = "the parameters do not depend on the input; B̄_j is B_j in a residual network and B_j A_j in a Transformer"

CLAIMS = (
    row(
        "changes.bound", "f", "how far changing several layers moves the output, for every depth",
        r"\|\tilde x_L-x_L\|\le\sum_{k=1}^{L}\ell_L\cdots\ell_{k+1}\,\|\tilde f_k(x_{k-1})-f_k(x_{k-1})\|", _any_layers,
        sources=_SOURCES, reading="x_j = f_j(x_{j−1}) before and x̃_j = f̃_j(x̃_{j−1}) after the change, x̃_0 = x_0",
        hypotheses=("‖·‖ is a norm", "‖f̃_j(x̃) − f̃_j(x)‖ ≤ ℓ_j ‖x̃ − x‖ at x = x_{j−1} and x̃ = x̃_{j−1}"),
    ),
    row(
        "changes.lora", "f", "what changing B_k and C_k, as LoRA does, adds to that bound",
        r"\delta_k=\|\Delta C_k\|\|s_k\|+\lambda\|C_k\|\|\Delta B_k\|\|y_k\|,\quad"
        r"\ell_j=\|A_j\|+\lambda\|C_j+\Delta C_j\|\|(\overline{B+\Delta B})_j\|", _lora, kind=Kind.INEQUALITY,
        sources=_SOURCES, hypotheses=(ELEMENTWISE, _ORDER, _LIPSCHITZ, _STATIC),
        reading="y_k is what B_k acts on before the change, s_k = σ((B_k + ΔB_k) y_k + b_k); for ΔB_k and ΔC_k of any rank",
    ),
    row(
        "changes.removal", "f", "what removing layer k adds to that bound",
        r"\delta_k=\|A_k-I\|\|x_{k-1}\|+\|c_k\|+\|C_ks_k\|,\quad\ell_k=1", _removed, kind=Kind.INEQUALITY,
        sources=_SOURCES, hypotheses=(ELEMENTWISE, _ORDER, _STATIC, "D_k = D_{k−1}, else layer k cannot be removed"),
        reading="f̃_k is the identity; x_{k−1} and s_k are those of the whole network",
    ),
    *constants.CLAIMS,
)  # fmt: skip
