"""Parallel blocks against sequential ones (h): how far their outputs are apart, exactly and at most.

A sequential block feeds its σ with A x, a parallel one (GPT-J, PaLM) with x.  A is I + M(x) for attention with a skip.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from sympy import Eq

from uat_jax.decide.confirmation import proved
from uat_jax.decide.inequalities import measured, proved_inequality
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method
from uat_jax.ledger.beyond.row import row
from uat_jax.ledger.claim import ELEMENTWISE, Kind
from uat_jax.ledger.source import duat
from uat_jax.symbolic import language as m
from uat_jax.symbolic.norms import lipschitz, norm, same_norm, submultiplicative
from uat_jax.symbolic.step import Step

D, F = m.dimension("D"), m.dimension("F")
A, B, C = m.Letter("A", D, D), m.Letter("B", F, D), m.Letter("C", D, F)
b, c, x = m.Letter("b", F, 1), m.Letter("c", D, 1), m.Letter("x", D, 1)
LAMBDA = sympy.Symbol("λ", nonnegative=True)


def sequential() -> m.Expression:
    """A x + c + C σ(B A x + b): the feed-forward part acts on what attention gives."""
    return m.Addition(A @ x, c, C @ m.Activation(B @ A @ x + b))


def parallel() -> m.Expression:
    """A x + c + C σ(B x + b): the feed-forward part acts on the block's input."""
    return m.Addition(A @ x, c, C @ m.Activation(B @ x + b))


def difference() -> m.Expression:
    """C [σ(B A x + b) − σ(B x + b)]."""
    return C @ (m.Activation(B @ A @ x + b) - m.Activation(B @ x + b))


def exact_difference() -> Step:
    """What a sequential block gives more than a parallel one."""
    return Step("sequential − parallel", sequential() - parallel(), difference())


def without_attention() -> Step:
    """A = I: both blocks are one."""
    return Step("A = I: both blocks are one", sequential(), parallel(), {A: m.Identity(D)})


def bound() -> tuple[Step, Any, tuple[Any, ...]]:
    """‖d‖ ≤ λ ‖C‖ ‖B‖ ‖A − I‖ ‖x‖: the equation inside σ, the bound claimed, and the laws that it rests on."""
    inside, outside = B @ A @ x + b, B @ x + b
    away = A - m.Identity(D)
    moved = Step("the difference inside σ", inside - outside, B @ (away @ x))
    change = m.Activation(inside) - m.Activation(outside)
    laws = (
        submultiplicative(C, change),
        lipschitz(LAMBDA, inside, outside),
        same_norm(moved),
        submultiplicative(B, away @ x),
        submultiplicative(away, x),
    )
    return moved, norm(C @ change) <= LAMBDA * norm(C) * norm(B) * norm(away) * norm(x), laws


def _exact(settings: Settings) -> Iterator[Evidence]:
    """The two outputs, subtracted; and none is left where A = I."""
    what = "for every shape and every σ"
    yield from proved([exact_difference(), without_attention()], method=Method.NORMAL_FORM, what=what)


def _bound(settings: Settings) -> Iterator[Evidence]:
    moved, claimed, laws = bound()
    yield from proved([moved], method=Method.NORMAL_FORM, what="what σ is applied to")
    yield proved_inequality(claimed, laws, what="the norm of the difference")
    yield attained(0)
    yield _measured()


def attained(least: int) -> Evidence:
    """The bound is reached with every size 1, relu, C = B = 1, any A ≥ ``least`` = 0, b = 0 and x = 1: both are |A − 1|."""
    factor = sympy.Symbol("A", real=True)
    relu = lambda number: sympy.Max(number, 0)
    claim = Eq(abs(relu(factor) - relu(1)), abs(factor - 1))
    return proved_inequality(claim, [factor >= least], what=f"reached at every A ≥ {least}, relu")


# --- one network of numbers -------------------------------------------------------------------------------------------

WIDTH, HIDDEN, SEED = 5, 7, 43


def numbers(seed: int = SEED) -> dict[str, np.ndarray]:
    """A, B, C, b and x with entries n/32, |n| ≤ 8, and I added to A: float64 holds them exactly."""
    random = np.random.default_rng(seed)
    draw = lambda *shape: random.integers(-8, 9, shape) / 32
    skip = np.eye(WIDTH) + draw(WIDTH, WIDTH) / 4
    return {"A": skip, "B": draw(HIDDEN, WIDTH), "C": draw(WIDTH, HIDDEN), "b": draw(HIDDEN), "x": draw(WIDTH)}


def actual_difference(A: jax.Array, B: jax.Array, C: jax.Array, b: jax.Array, x: jax.Array) -> jax.Array:
    """The largest entry by which the two outputs differ, σ being tanh."""
    times = lambda W, v: jnp.matmul(W, v, precision="highest")
    inside = lambda v: times(C, jnp.tanh(times(B, v) + b))
    return jnp.max(jnp.abs(inside(times(A, x)) - inside(x)))


def claimed_bound(A: jax.Array, B: jax.Array, C: jax.Array, b: jax.Array, x: jax.Array) -> jax.Array:
    """‖C‖ ‖B‖ ‖A − I‖ ‖x‖ in ∞-norms; tanh has λ = 1."""
    size = lambda W: jnp.max(jnp.sum(jnp.abs(W), axis=1))
    return size(C) * size(B) * size(A - jnp.eye(WIDTH, dtype=A.dtype)) * jnp.max(jnp.abs(x))


def _measured() -> Evidence:
    what = f"a random block, D = {WIDTH}, F = {HIDDEN}, ∞-norm, σ = tanh, seed {SEED}"
    return measured(actual_difference, claimed_bound, numbers(), what=what)


# --- rows --------------------------------------------------------------------------------------------------------------

NORMS = (
    ELEMENTWISE,
    "‖·‖ is a norm that depends on the absolute values of the entries and grows with them (1-, 2-, ∞-norm), "
    "with its operator norm for matrices",
    "|σ(s) − σ(t)| ≤ λ |s − t| for all s, t",
)
_SOURCES = (duat("3.3", 11), duat("B.3", 30))

CLAIMS = (
    row(
        "parallel.difference", "h", "what a sequential block gives more than a parallel one",
        r"C[\sigma(BAx+b)-\sigma(Bx+b)]", _exact, kind=Kind.IDENTITY, sources=_SOURCES, hypotheses=(ELEMENTWISE,),
        reading="A is what acts before the feed-forward part, such as I + W_HVO(x) of attention with a skip at this x",
    ),
    row(
        "parallel.bound", "h", "how far a parallel block is from a sequential one, at most",
        r"\|C[\sigma(BAx+b)-\sigma(Bx+b)]\|\le\lambda\|C\|\|B\|\|A-I\|\|x\|", _bound,
        kind=Kind.INEQUALITY, sources=_SOURCES, hypotheses=NORMS,
        reading="one block at one x; over several layers it is the change δ_k of changes.bound",
    ),
)  # fmt: skip
