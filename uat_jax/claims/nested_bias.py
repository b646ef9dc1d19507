"""Eq. 12/34, the bias that is itself a sum: twelve ways to read which of its parameters are old and which new (G16)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product

from uat_jax.certify.normal_forms import prove
from uat_jax.certify.programs import settle_by_depth
from uat_jax.certify.settings import Settings
from uat_jax.certify.verdict import Evidence, Verdict
from uat_jax.claims.claim import DEPTHS, SQUARE, Claim, Kind
from uat_jax.claims.source import duat, v2
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.derivation import closed_form, plain_network
from uat_jax.symbolic.induction import INDEX
from uat_jax.symbolic.layers import KINDS
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.recurrence import ClosedForm, recurrence
from uat_jax.symbolic.step import Step

MATRIX = ("original", "updated")
BIAS = ("original", "updated")
VERSION = ("own", "previous", "final")
"""W_{k,3} as C_k, as in the network of the first j−1 layers, or as in the whole network (Eq. 11)."""

EXACT_TO = {
    ("original", "original", "own"): 2,
    ("original", "original", "previous"): 2,
    ("original", "updated", "own"): 2,
    ("original", "updated", "previous"): None,
}
"""The largest L at which a reading is exact: 1 where it is not listed, None for every L."""

PRINTED = (
    r"\mathbf{b}'_{j,2}=(\mathbf{W}'_{j,2}\mathbf{b}'_{j-1,3}+\mathbf{b}'_{j,2})"
    r"+\mathbf{W}'_{j,2}\sum_{k=1}^{j-1}\mathbf{W}'_{k,3}\sigma(\mathbf{W}'_{k,2}\mathbf{x}'_0+\mathbf{b}'_{k,2})"
)


def printed_bias(closed: ClosedForm, j: int, depth: int, reading: tuple[str, str, str]) -> m.Expression:
    """Eq. 12/34 for one j ≥ 2, its symbols read as ``reading`` says."""
    matrix, bias, version = reading
    layers = closed.layers
    A, B, _, b, _ = layers.parameters(j)
    own = B if layers.kind == "residual" else B @ A
    W = own if matrix == "original" else closed.W2(j)
    before = layers.c(j - 1) if bias == "original" else closed.b3(j - 1)
    of_version = {
        "own": lambda k: layers.C(k),
        "previous": lambda k: closed.W3(k, j - 1),
        "final": lambda k: closed.W3(k, depth),
    }
    terms = (of_version[version](k) @ closed.s(k) for k in range(1, j))
    return m.Addition(W @ before, b, W @ m.Addition(*terms))  # fmt: skip


def _pair(kind: str, reading: tuple[str, str, str]) -> Callable[[int], tuple[Program, Program]]:
    layers = u.square_layers(kind)
    closed = ClosedForm(layers)

    def pair(depth: int) -> tuple[Program, Program]:
        lines = dict(closed_form(layers, depth).lines)
        lines |= {closed.b2(j): printed_bias(closed, j, depth, reading) for j in range(2, depth + 1)}
        late = [line for j in range(1, depth + 1) for line in (closed.b2(j), closed.s(j))]  # after all matrices
        early = [line for line in lines if line not in late and line != layers.x(depth)]
        ordered = {line: lines[line] for line in (*early, *late, layers.x(depth))}
        return plain_network(layers, depth), Program(ordered, layers.x(depth))

    return pair


def _decide(reading: tuple[str, str, str]) -> Callable[[Settings], Iterator[Evidence]]:
    def decide(settings: Settings) -> Iterator[Evidence]:
        for kind in KINDS:
            if EXACT_TO.get(reading, 1) is None:
                proof = prove([_right_for_all(kind)], method="induction", what=f"{kind} network: exact for every L")
                yield replace(proof, subject=f"{kind} network")
            yield from settle_by_depth(_pair(kind, reading), DEPTHS, u.X0, what=f"{kind} network")

    return decide


def _right_for_all(kind: str) -> Step:
    """The one right reading for j = i+1 with i a symbol: it is the bias collected from layer i+1 (Theorem 1)."""
    closed = ClosedForm(u.square_layers(kind))
    j, i, rule = INDEX + 1, INDEX, recurrence(closed, INDEX + 1)
    A, B, _, b, _ = closed.layers.parameters(j)
    W = B if kind == "residual" else B @ A
    assert rule.b2_u is not None
    printed = m.Addition(W @ closed.b3(i), b, W @ closed.sum(i))
    return Step("Eq. 34 is the collected bias", printed, m.Addition(rule.b2_constant, rule.b2_u @ closed.sum(i)), {})


_WORDS = {
    "own": "W_{k,3} own C_k",
    "previous": "W_{k,3} of the first j−1 layers",
    "final": "W_{k,3} of the whole network",
}


def _claim(reading: tuple[str, str, str]) -> Claim:
    matrix, bias, version = reading
    exact_to = EXACT_TO.get(reading, 1)
    words = f"W_{{j,2}} {matrix}, b_{{j−1,3}} {bias}, {_WORDS[version]}"
    return Claim(
        id=f"nested-bias.{matrix}-{bias}-{version}",
        title=f"nested bias: {words}",
        ledger="G16",
        kind=Kind.ALL_DEPTHS,
        sources=(duat("3.3", 12), duat("B.3", 34), v2("3.5")),
        printed=PRINTED,
        reading=f"{words}; every other parameter of Eq. 11/33 as in Theorem 1",
        hypotheses=SQUARE,
        expects=Verdict.PROVED if exact_to is None else Verdict.REFUTED,
        exact_to=exact_to,
        correction="" if exact_to is None else "nested-bias.original-updated-previous",
        decide=_decide(reading),
    )


CLAIMS = tuple(_claim(reading) for reading in product(MATRIX, BIAS, VERSION))
