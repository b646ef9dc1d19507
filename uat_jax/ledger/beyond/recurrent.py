"""Recurrent networks are residual networks with time as depth (e), so that Theorem 1 is their closed form.

    x_t = A_t x_{t−1} + c_t + C_t σ(B_t x_{t−1} + b_t)          t = 1, …, T: step t is layer t

                      A_t                B_t           C_t       b_t           c_t
    Elman's network   0                  W             I         U u_t + b     0
    GRU               I − diag(z_t)      W diag(r_t)   diag(z_t) U u_t + b     0
    linear attention  I ⊗ G_tᵀ           –             0         –             v_t ⊗ k_t
    state space       diag(g_t)          –             0         –             B_t u_t

u_t is the input of step t.  The gates z_t and r_t depend on x_{t−1} and u_t, the decays G_t and g_t and the matrix B_t
of Mamba on u_t; in S4 they are fixed.  σ of GRU is tanh.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import sympy

from uat_jax.decide.confirmation import proved
from uat_jax.decide.domain import positive
from uat_jax.decide.functions import confirm_functions
from uat_jax.decide.loops.induction import prove_scan
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method
from uat_jax.ledger.beyond.carried_sum import carried_sum
from uat_jax.ledger.beyond.row import row
from uat_jax.ledger.claim import ELEMENTWISE
from uat_jax.ledger.complexity.evaluators import hatted, memoised
from uat_jax.ledger.source import duat
from uat_jax.networks import ResidualLayer
from uat_jax.symbolic import language as m
from uat_jax.symbolic.induction import INDEX, closed_form_induction
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.step import Step

# --- one step is one layer ----------------------------------------------------------------------------------------------

D, E, K, M = map(m.dimension, "DEKM")
"""The sizes of the state, of a value, of a key and of an input."""
t = INDEX
Parameters = Mapping[str, m.Expression]


@dataclass(frozen=True)
class Recurrence:
    """``step``: x_t as the network computes it from ``state``, x_{t−1}; ``layer``: A_t, B_t, C_t, b_t, c_t as in the table.

    ``hidden`` is the number of its σ, 1 where C_t = 0.
    """

    state: m.Expression
    step: m.Expression
    layer: Parameters
    hidden: Any

    def equation(self, name: str) -> Step:
        """One step of the network is layer t of Eq. 20."""
        size = self.state.shape[0]
        layers = Layers("residual", widths=lambda j: size, hidden_widths=lambda j: self.hidden)
        where = {letter: self.layer[letter.name] for letter in layers.parameters(t)}
        return Step(f"{name}: step t is layer t", self.step, layers.apply(t, self.state), where)


def _letter(name: str, rows: sympy.Symbol, columns: sympy.Expr | int = 1) -> m.Letter:
    return m.Letter(name, rows, columns, (t,))


_x, _u = m.Letter("x", D, 1, (t - 1,)), m.Letter("u", M, 1, (t,))
_W, _U, _bias = m.Letter("W", D, D), m.Letter("U", D, M), m.Letter("β", D, 1)
_driven = _U @ _u + _bias
_zero, _none = m.Zero(D, 1), m.Zero(D, D)


def elman() -> Recurrence:
    """x_t = σ(W x_{t−1} + U u_t + β)."""
    layer = {"A": _none, "B": _W, "C": m.Identity(D), "b": _driven, "c": _zero}
    return Recurrence(_x, m.Activation(_W @ _x + _driven), layer, D)


def gru() -> Recurrence:
    """x_t = (1 − z_t) ⊙ x_{t−1} + z_t ⊙ σ(W (r_t ⊙ x_{t−1}) + U u_t + β), the gates any functions of x_{t−1}."""
    z, r = (m.Dependent(_letter(name, D), _x) for name in "zr")
    candidate = m.Activation(_W @ m.Hadamard(r, _x) + _driven)
    step = m.Addition(_x - m.Hadamard(z, _x), m.Hadamard(z, candidate))
    gate, reset = m.Diagonal(z), m.Diagonal(r)
    layer = {"A": m.Identity(D) - gate, "B": _W @ reset, "C": gate, "b": _driven, "c": _zero}
    return Recurrence(_x, step, layer, D)


def linear_attention() -> Recurrence:
    """S_t = S_{t−1} G_t + v_t k_tᵀ, as x_t = vec(S_t); G_t is I (linear attention), a decay, or I − β k_t k_tᵀ (delta rule)."""
    S, G = m.Letter("S", E, K, (t - 1,)), m.Dependent(_letter("G", K, K), _u)
    v, k = m.Dependent(_letter("v", E), _u), m.Dependent(_letter("k", K), _u)
    size = E * K
    layer = {
        "A": m.Kronecker(m.Identity(E), G.T),
        "B": m.Zero(1, size),
        "C": m.Zero(size, 1),
        "b": m.Zero(1, 1),
        "c": m.Kronecker(v, k),
    }
    return Recurrence(m.Vectorised(S), m.Vectorised(S @ G + v @ k.T), layer, 1)


def read_out() -> Step:
    """y_t = S_t q_t is (I ⊗ q_tᵀ) x_t."""
    S, q = m.Letter("S", E, K, (t,)), m.Letter("q", K, 1, (t,))
    return Step("the output", S @ q, m.Kronecker(m.Identity(E), q.T) @ m.Vectorised(S))


def state_space() -> Recurrence:
    """x_t = g_t ⊙ x_{t−1} + B_t u_t; g_t and B_t are functions of u_t in Mamba, and fixed in S4."""
    g, into = m.Dependent(_letter("g", D), _u), m.Dependent(_letter("B", D, M), _u)
    layer = {"A": m.Diagonal(g), "B": m.Zero(1, D), "C": m.Zero(D, 1), "b": m.Zero(1, 1), "c": into @ _u}
    return Recurrence(_x, m.Hadamard(g, _x) + into @ _u, layer, 1)


# --- every number of steps ----------------------------------------------------------------------------------------------


def _theorem_1(dynamic: bool) -> Evidence:
    steps = closed_form_induction(Layers("residual", dynamic=dynamic))
    parameters = "parameters that depend on x_{t−1} in any way" if dynamic else "parameters that depend on t"
    return prove(
        steps, method=Method.INDUCTION, what=f"Theorem 1: the closed form of T steps, for every T; {parameters}"
    )


def _shown(name: str, of: Recurrence, *, dynamic: bool, more: tuple[Step, ...] = ()) -> Iterator[Evidence]:
    yield from proved((of.equation(name), *more), method=Method.NORMAL_FORM, what=f"{name}: one step is one layer")
    yield _theorem_1(dynamic)


def without_activations() -> Evidence:
    """Where C_t = 0, b̂_{T,3} is Σ_k A_T ⋯ A_{k+1} c_k."""
    return prove([carried_sum(D, "A", "c")], method=Method.INDUCTION, what="Σ_k A_T ⋯ A_{k+1} c_k, for every T")


def _elman(settings: Settings) -> Iterator[Evidence]:
    yield from _shown("Elman's network", elman(), dynamic=False)
    yield scanned("elman")


def _gru(settings: Settings) -> Iterator[Evidence]:
    yield from _shown("GRU", gru(), dynamic=True)
    yield scanned("gru")


def _linear_attention(settings: Settings) -> Iterator[Evidence]:
    yield from _shown("linear attention", linear_attention(), dynamic=False, more=(read_out(),))
    yield without_activations()
    yield for_every_length("linear attention")


def _state_space(settings: Settings) -> Iterator[Evidence]:
    yield from _shown("state space", state_space(), dynamic=False)
    yield without_activations()
    yield for_every_length("state space")
    yield scanned("mamba")


# --- plain scans --------------------------------------------------------------------------------------------------------

STEPS, STATE, INPUT = 3, 2, 2
Function = Callable[..., jax.Array]


def _times(left: jax.Array, right: jax.Array) -> jax.Array:
    return jnp.matmul(left, right, precision="highest")


def _scan(step: Callable[..., jax.Array], start: jax.Array, rows: Any) -> jax.Array:
    return jax.lax.scan(lambda x, row: (step(x, row), None), start, rows)[0]


def _closed(layer: Callable[[jax.Array, Any], ResidualLayer], x: jax.Array, rows: jax.Array) -> jax.Array:
    """Theorem 1: x_T of the layers that ``layer(x_{t−1}, u_t)`` makes, x_{t−1} being the closed form of t − 1 layers."""
    layers: list[ResidualLayer] = []
    state = x
    for at in rows:
        layers.append(layer(state, at))
        state = memoised(hatted(layers), x, jnp.tanh)
    return state


def plain_elman(x: jax.Array, u: jax.Array, W: jax.Array, U: jax.Array, b: jax.Array) -> jax.Array:
    """x_T by `jax.lax.scan`, σ = tanh."""
    return _scan(lambda x, row: jnp.tanh(_times(W, x) + _times(U, row) + b), x, u)


def closed_elman(x: jax.Array, u: jax.Array, W: jax.Array, U: jax.Array, b: jax.Array) -> jax.Array:
    """x_T of an Elman network from the parameters of its closed form, σ = tanh."""
    zero, eye = jnp.zeros_like(W), jnp.eye(STATE, dtype=x.dtype)
    layer = lambda state, row: ResidualLayer(zero, W, eye, _times(U, row) + b, jnp.zeros_like(x))
    return _closed(layer, x, u)


def _gate(weights: jax.Array, x: jax.Array, row: jax.Array) -> jax.Array:
    return jax.nn.sigmoid(_times(weights, jnp.concatenate([x, row])))


def plain_gru(
    x: jax.Array, u: jax.Array, W: jax.Array, U: jax.Array, b: jax.Array, Z: jax.Array, R: jax.Array
) -> jax.Array:
    """x_T by `jax.lax.scan`; the gates are logistic functions of x_{t−1} and u_t."""

    def step(x: jax.Array, row: jax.Array) -> jax.Array:
        z, r = _gate(Z, x, row), _gate(R, x, row)
        return (1 - z) * x + z * jnp.tanh(_times(W, r * x) + _times(U, row) + b)

    return _scan(step, x, u)


def closed_gru(
    x: jax.Array, u: jax.Array, W: jax.Array, U: jax.Array, b: jax.Array, Z: jax.Array, R: jax.Array
) -> jax.Array:
    """x_T of a gated recurrent unit from the closed form of its steps, each gate evaluated at the form of those before."""

    def layer(state: jax.Array, row: jax.Array) -> ResidualLayer:
        z, r = _gate(Z, state, row), _gate(R, state, row)
        return ResidualLayer(jnp.diag(1 - z), W * r[None, :], jnp.diag(z), _times(U, row) + b, jnp.zeros_like(x))

    return _closed(layer, x, u)


def plain_mamba(x: jax.Array, u: jax.Array, delta: jax.Array, a: jax.Array, B: jax.Array) -> jax.Array:
    """x_T by `jax.lax.scan`: x_t = exp(δ_t a) ⊙ x_{t−1} + δ_t B_t u_t, with B_t and δ_t given for each step."""
    step = lambda x, row: jnp.exp(row[1] * a) * x + row[1] * _times(row[2], row[0])
    return _scan(step, x, (u, delta, B))


def closed_mamba(x: jax.Array, u: jax.Array, delta: jax.Array, a: jax.Array, B: jax.Array) -> jax.Array:
    """A_T ⋯ A_1 x_0 + Σ_k A_T ⋯ A_{k+1} c_k with A_T ⋯ A_{k+1} = diag(exp((δ_{k+1} + … + δ_T) a))."""
    later = [jnp.sum(delta[k:]) for k in range(STEPS + 1)]
    terms = (jnp.exp(later[k + 1] * a) * (delta[k] * _times(B[k], u[k])) for k in range(STEPS))
    return sum(terms, start=jnp.exp(later[0] * a) * x)


_MATRIX, _GATE = (STATE, STATE), (STATE, STATE + INPUT)
SCANS: dict[str, tuple[Function, Function, list[Any]]] = {
    "elman": (plain_elman, closed_elman, [(STATE,), (STEPS, INPUT), _MATRIX, (STATE, INPUT), (STATE,)]),
    "gru": (plain_gru, closed_gru, [(STATE,), (STEPS, INPUT), _MATRIX, (STATE, INPUT), (STATE,), _GATE, _GATE]),
    "mamba": (plain_mamba, closed_mamba, [(STATE,), (STEPS, INPUT), (STEPS,), (STATE,), (STEPS, STATE, INPUT)]),
}
"""Name → the scan, the closed form, and the shapes of their arguments."""


def scanned(name: str) -> Evidence:
    """The scan against its closed form, at STEPS steps."""
    plain, closed, shapes = SCANS[name]
    return confirm_functions(plain, closed, shapes, what=f"{name}, jax.lax.scan of {STEPS} steps")


def _outer_step(S: jax.Array, row: Any) -> tuple[jax.Array, None]:
    """S_t = S_{t−1} + v_t k_tᵀ."""
    v, k = row
    return S + v[:, None] * k[None, :], None


def outer_sum(S: jax.Array, rows: Any) -> jax.Array:
    """S_0 + Σ_t v_t k_tᵀ."""
    v, k = rows
    return S + _times(v.T, k)


def _decay_step(x: jax.Array, u: jax.Array, a: jax.Array, b: jax.Array) -> tuple[jax.Array, None]:
    """x_t = a x_{t−1} + b u_t, one channel of S4."""
    return a * x + b * u, None


def decaying_sum(x: jax.Array, u: jax.Array, a: jax.Array, b: jax.Array) -> jax.Array:
    """a^T x_0 + Σ_k a^(T−k) b u_k."""
    steps = u.shape[0]
    power = (steps - 1 - jnp.arange(steps)).astype(u.dtype)
    return a ** jnp.asarray(steps, u.dtype) * x + b * _times(a**power, u)


def _numbers(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, np.float32)


FOR_EVERY_LENGTH: dict[str, tuple[Callable[..., Any], Function, tuple[Any, ...]]] = {
    "linear attention": (_outer_step, outer_sum, (_numbers(3, 2), (_numbers(4, 3), _numbers(4, 2)))),
    "state space": (_decay_step, decaying_sum, (_numbers(), _numbers(4), positive(_numbers()), _numbers())),
}
"""Name → the step of a scan, the closed form of its carry, and the inputs of `prove_scan`."""


def for_every_length(name: str) -> Evidence:
    """What `prove_scan` says of the closed form, for every number of steps."""
    step, closed, inputs = FOR_EVERY_LENGTH[name]
    (found,) = prove_scan(step, closed, *inputs).evidence
    return found


# --- rows ---------------------------------------------------------------------------------------------------------------

_SOURCES = (duat("B.2", 20), duat("3.3", 11, 12))
_TIME = "time is depth: step t is layer t, and Theorem 1 holds for every number of steps"
_TERMS = r"x_T=P_Tx_0+q_T+\sum_{k=1}^{T}A_T\cdots A_{k+1}C_ks_k"
_LINEAR = r"x_T=A_T\cdots A_1x_0+\sum_{k=1}^{T}A_T\cdots A_{k+1}c_k"

CLAIMS = (
    row(
        "recurrent.elman", "e", "a recurrent network is the closed form with time as depth",
        rf"A_t=0,\ B_t=W,\ C_t=I,\ b_t=Uu_t+\beta:\quad {_TERMS}", _elman, sources=_SOURCES, hypotheses=(ELEMENTWISE,),
        reading=f"x_t = σ(W x_(t−1) + U u_t + β); {_TIME}",
    ),
    row(
        "recurrent.gru", "e", "so is a gated one, its gates being dynamic parameters",
        rf"A_t=I-\mathrm{{diag}}(z_t),\ B_t=W\,\mathrm{{diag}}(r_t),\ C_t=\mathrm{{diag}}(z_t):\quad {_TERMS}", _gru,
        sources=_SOURCES, hypotheses=(ELEMENTWISE,),
        reading=f"GRU, the gates z_t and r_t any functions of x_(t−1) and u_t; {_TIME}",
    ),
    row(
        "recurrent.linear-attention", "e", "so is linear attention, without σ",
        rf"x_t=\mathrm{{vec}}(S_t),\ A_t=I\otimes G_t^T,\ c_t=v_t\otimes k_t:\quad {_LINEAR}", _linear_attention,
        sources=_SOURCES, hypotheses=("G_t, v_t and k_t are any functions of u_t; y_t = S_t q_t",),
        reading=f"S_t = S_(t−1) G_t + v_t k_tᵀ: G_t is I, a decay, or I − β k_t k_tᵀ; {_TIME}",
    ),
    row(
        "recurrent.state-space", "e", "so are state spaces, S4 and Mamba, without σ",
        rf"A_t=\mathrm{{diag}}(g_t),\ c_t=B_tu_t:\quad {_LINEAR}", _state_space, sources=_SOURCES,
        hypotheses=("g_t and B_t are any functions of u_t (Mamba: g_t = exp(δ_t a)), or fixed (S4)",),
        reading=f"x_t = g_t ⊙ x_(t−1) + B_t u_t; {_TIME}",
    ),
)  # fmt: skip
