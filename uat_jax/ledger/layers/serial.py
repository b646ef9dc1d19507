"""Is the computation serial?  Not for the reason the paper gives, but for another one (G20).

    (A, c) ∘ (B, d) = (A B, A d + c)

Composition of affine maps is associative, so that all P_j, q_j are prefixes of one scan.  The σ-terms form a chain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import jax
import jax.numpy as jnp

from uat_jax.decide import dependence
from uat_jax.decide.confirmation import proved
from uat_jax.decide.identity import identical
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.edit import one_word
from uat_jax.ledger.layers.dependence import DEPTH, INPUTS, parameters
from uat_jax.ledger.source import duat
from uat_jax.symbolic import language as m
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.step import Step

Affine = tuple[m.Expression, m.Expression]
LAYERS, WIDTH = 5, 3


def composed(outer: Affine, inner: Affine) -> Affine:
    """(A, c) ∘ (B, d) = (A B, A d + c)."""
    (A, c), (B, d) = outer, inner
    return A @ B, A @ d + c


def monoid() -> tuple[Step, ...]:
    """Associativity of the composition of affine maps, and that it is composition: A (B x + d) + c."""
    of = Layers("residual")
    third, second, first = ((of.A(n), of.c(n)) for n in (3, 2, 1))
    (_, left), (_, right) = composed(third, composed(second, first)), composed(composed(third, second), first)
    (A, c), (B, d), x = second, first, of.x(0)
    AB, Ad = composed(second, first)
    return (
        Step("composition", A @ (B @ x + d) + c, AB @ x + Ad),
        without_W21(),
        Step("associativity, columns", left, right),
    )


def without_W21() -> Step:
    """W_{3,1} = A_3 W_{2,1} = (A_3 A_2) A_1, where W_{2,1} = A_2 A_1 is not computed."""
    of = Layers("residual")
    A1, A2, A3, product = of.A(1), of.A(2), of.A(3), m.Letter("V", of.widths(3), of.widths(1))
    W21 = m.Letter("W", of.widths(2), of.widths(0), (2, 1))
    return Step("associativity, matrices", A3 @ W21, product @ A1, {W21: A2 @ A1, product: A3 @ A2})


def _not_needed() -> Iterator[Evidence]:
    """W_{3,1} from (A_3 A_2) and A_1."""
    yield from proved([without_W21()], method=Method.NORMAL_FORM, what="W_{3,1} = (A_3 A_2) A_1, without W_{2,1}")


def _monoid(settings: Settings) -> Iterator[Evidence]:
    yield from proved(
        monoid(), method=Method.NORMAL_FORM, what="composition of affine maps is associative, for all shapes"
    )


def scanned(A: jax.Array, c: jax.Array) -> jax.Array:
    """(P_j, q_j) for every j, by `jax.lax.associative_scan`: (L, D, D), (L, D) → (L, D, D+1)."""
    product = lambda X, Y: jnp.matmul(X, Y, precision="highest")
    compose = lambda inner, outer: (product(outer[0], inner[0]), product(outer[0], inner[1]) + outer[1])
    P, q = jax.lax.associative_scan(compose, (A, c[:, :, None]))
    return jnp.concatenate([P, q], axis=2)


def one_by_one(A: jax.Array, c: jax.Array) -> jax.Array:
    """(P_j, q_j) for every j, each from the one before: P_j = A_j P_{j−1}, q_j = A_j q_{j−1} + c_j."""
    P, q = [A[0]], [c[0]]
    for matrix, bias in zip(A[1:], c[1:], strict=True):
        P.append(jnp.matmul(matrix, P[-1], precision="highest"))
        q.append(jnp.matmul(matrix, q[-1], precision="highest") + bias)
    return jnp.concatenate([jnp.stack(P), jnp.stack(q)[:, :, None]], axis=2)


def _scan(settings: Settings) -> Iterator[Evidence]:
    """Both ways at L = 5, D = 3, in prime fields."""
    shapes = (LAYERS, WIDTH, WIDTH), (LAYERS, WIDTH)
    specs = [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes]
    traces = [jax.make_jaxpr(f)(*specs) for f in (scanned, one_by_one)]
    found = identical(traces[0], traces[1], what="all P_j, q_j by a scan and one by one")
    yield replace(found, subject=f"L = {LAYERS}, D = {WIDTH}")


def _chain(settings: Settings) -> Iterator[Evidence]:
    """The bias inside σ in layer j+1 takes two values for two values of s_j."""
    of = parameters("residual")
    for j in range(1, DEPTH):
        letter, given = of.letter("b2", j + 1), of.closed.s(j)
        function, what = of.function(letter, given), f"{letter} as a function of {given}"
        yield dependence.dynamic(function, ([[0]], [[1]]), what=what, subject=f"j = {j}")


def _attention_waits(settings: Settings) -> Iterator[Evidence]:
    """In a Transformer the matrix A_{j+1} itself takes two values for two values of s_j."""
    of = parameters("transformer")
    for j in range(1, DEPTH):
        letter, given = of.closed.layers.A(j + 1), of.closed.s(j)
        function, what = of.function(letter, given), f"{letter} as a function of {given}"
        pair = tuple([[first], [second]] for first, second in INPUTS)
        yield dependence.dynamic(function, (pair[0], pair[1]), what=what, subject=f"j = {j}")


_PRINTED = (
    r"\text{the whole computing process is serial, if we want to compute }\mathbf{W}'_{3,1}"
    r"\text{, we must calculate }\mathbf{W}'_{2,1}"
)


_SERIAL = r"\text{the whole computing process is serial}"
_COMPOSED = (
    r"(A_3,c_3)\circ[(A_2,c_2)\circ(A_1,c_1)]=[(A_3,c_3)\circ(A_2,c_2)]\circ(A_1,c_1),\ (A,c)\circ(B,d)=(AB,Ad+c)"
)
_PREFIXES = r"(\mathbf{W}'_{j,1},\mathbf{b}'_{j,3})=(A_j,c_j)\circ\cdots\circ(A_1,c_1)"


def _claim(
    name: str, title: str, kind: Kind, printed: str, read: str, expects: Verdict, decide, correction: str = ""
) -> Claim:
    return Claim(
        id=f"serial.{name}",
        title=title,
        ledger="G20",
        kind=kind,
        sources=(duat("B.3", 34),),
        printed=printed,
        reading=read,
        hypotheses=("the matrices A_j do not depend on the input",) if kind is Kind.IDENTITY else (),
        expects=expects,
        correction=correction,
        decide=decide,
    )


CLAIMS = (
    _claim(
        "needs-w21", "W_{3,1} can be computed only after W_{2,1}", Kind.EXISTENCE, _PRINTED,
        "the reason given: W_{3,1} = W_{3,1}W_{2,1}", Verdict.REFUTED, one_word(_not_needed, "after W_{2,1}", "without W_{2,1}"), "serial.affine-maps",
    ),
    _claim(
        "affine-maps", "composition of affine maps is associative", Kind.IDENTITY, _COMPOSED,
        "corrected: the products W_{j,1} and biases b_{j,3} of all j are prefixes of one associative product",
        Verdict.PROVED, _monoid,
    ),
    _claim(
        "scan", "all W_{j,1} and b_{j,3} by a parallel scan", Kind.IDENTITY, _PREFIXES,
        f"corrected: by a scan, in about log₂ L steps, the same as one by one; at L = {LAYERS}, D = {WIDTH}", Verdict.CERTIFIED, _scan,
    ),
    _claim(
        "sigma-chain", "every σ-term needs the σ-term before it", Kind.DEPENDENCE, _SERIAL,
        "at L = 3; another reason: b_{j+1,2} depends on s_j = σ(W_{j,2} x_0 + b_{j,2}), in a network with fixed weights",
        Verdict.PROVED, _chain,
    ),
    _claim(
        "attention-waits", "attention's matrix needs the σ-term of the layer before", Kind.DEPENDENCE, _SERIAL,
        "at L = 3; another reason: in a Transformer A_{j+1} depends on x_j, and through it on s_j", Verdict.PROVED, _attention_waits,
    ),
)  # fmt: skip
