"""Eq. 12/34, the bias that is itself a sum: twelve ways to read which of its parameters are old and which new (G16).

What it says for j = 1, and how many σ-terms it has, comes after them (G16, G17).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import sympy

from uat_jax.decide.confirmation import proved
from uat_jax.decide.counts import as_counted, counted
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.programs import settle_by_depth, settle_equation
from uat_jax.decide.settings import Settings
from uat_jax.decide.statements import Tally
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import DEPTHS, SQUARE, Claim, Kind
from uat_jax.ledger.edit import OneEdit, equation
from uat_jax.ledger.layers import padding
from uat_jax.ledger.source import duat, v2
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.derivation import closed_form, plain_network
from uat_jax.symbolic.induction import INDEX, closed_form_induction
from uat_jax.symbolic.layers import KINDS
from uat_jax.symbolic.program import Program, letters_of
from uat_jax.symbolic.recurrence import ClosedForm, recurrence
from uat_jax.symbolic.step import Step

MATRIX = ("original", "updated")
BIAS = ("original", "updated")
VERSION = ("own", "previous", "final")
"""W_{k,3} as C_k, as in the network of the first j−1 layers, or as in the whole network (Eq. 11)."""

READINGS = tuple(product(MATRIX, BIAS, VERSION))

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
    W = {"original": own, "updated": closed.W2(j)}[matrix]
    before = {"original": layers.c(j - 1), "updated": closed.b3(j - 1)}[bias]
    of_version = {
        "own": lambda k: layers.C(k),
        "previous": lambda k: closed.W3(k, j - 1),
        "final": lambda k: closed.W3(k, depth),
    }
    terms = (of_version[version](k) @ closed.s(k) for k in range(1, j))
    return m.Addition(W @ before, b, W @ m.Addition(*terms))  # fmt: skip


def pair_of(kind: str, reading: tuple[str, str, str]) -> Callable[[int], tuple[Program, Program]]:
    """depth ↦ the network, and Theorem 1 with this reading of its nested biases."""
    layers = u.square_layers(kind)
    closed = ClosedForm(layers)

    def pair(depth: int) -> tuple[Program, Program]:
        lines = dict(closed_form(layers, depth).lines)
        lines |= {closed.b2(j): printed_bias(closed, j, depth, reading) for j in range(2, depth + 1)}
        late = [line for j in range(1, depth + 1) for line in (closed.b2(j), closed.s(j))]  # after all matrices
        last = {*late, layers.x(depth)}
        early = [line for line in lines if line not in last]
        ordered = {line: lines[line] for line in (*early, *late, layers.x(depth))}
        return plain_network(layers, depth), Program(ordered, layers.x(depth))

    return pair


RIGHT = ("original", "updated", "previous")
"""The one right reading."""


def _at(reading: tuple[str, str, str], depths: Iterable[int]) -> Iterator[Evidence]:
    for kind in KINDS:
        yield from settle_by_depth(pair_of(kind, reading), depths, what=f"{kind} network")


def in_reading(reading: tuple[str, str, str], settings: Settings) -> Iterator[Evidence]:
    """Whether it is exact at L = 1…5 and, the right one, for every L; a wrong one fails at every larger depth."""
    yield from _at(reading, DEPTHS)
    if reading != RIGHT:
        yield from padding.of_the_biases()
        return
    for kind in KINDS:
        proof = prove(_right_for_all(kind), method=Method.INDUCTION, what=f"{kind} network: exact for every L")
        yield replace(proof, subject=f"{kind} network")


MOMENTS = {
    "before all updates": ("original", "original", "own"),
    "on reaching layer j": RIGHT,
    "after all updates": ("updated", "updated", "final"),
}
"""The readings in which every letter of the formula has its value at one moment: one word mends them."""


def _decide(reading: tuple[str, str, str]) -> Callable[[Settings], Iterable[Evidence]]:
    """A reading that is wrong in its moment is mended by the right moment, one that is wrong in one word by that word."""
    if reading == RIGHT:
        return lambda settings: in_reading(reading, settings)
    if reading in MOMENTS.values():
        moments = {of: moment for moment, of in MOMENTS.items()}
        return OneEdit(moments[reading], moments[RIGHT], lambda moment, settings: in_reading(MOMENTS[moment], settings))
    return OneEdit(reading, RIGHT, in_reading)


def _is_a_row(reading: tuple[str, str, str]) -> bool:
    """A row has the right reading, one that differs from it in one word, and one that is the formula at one moment.

    The other five make several mistakes at once: that they are wrong is what `beyond.wrong_readings` proves of all eleven.
    """
    wrong = sum(word != right for word, right in zip(reading, RIGHT, strict=True))
    return wrong <= 1 or reading in MOMENTS.values()


def _right_for_all(kind: str) -> tuple[Step, ...]:
    """The one right reading for j = i+1 with i a symbol: it is the bias collected from layer i+1; and Theorem 1."""
    closed = ClosedForm(u.square_layers(kind))
    j, i, rule = INDEX + 1, INDEX, recurrence(closed, INDEX + 1)
    A, B, _, b, _ = closed.layers.parameters(j)
    W = B if kind == "residual" else B @ A
    assert rule.b2_u is not None
    printed = m.Addition(W @ closed.b3(i), b, W @ closed.sum(i))
    collected = m.Addition(rule.b2_constant, rule.b2_u @ closed.sum(i))
    right = Step("Eq. 34 is the collected bias", printed, collected, {})
    return right, *closed_form_induction(closed.layers)


_WORDS = {
    "own": "W_{k,3} own C_k",
    "previous": "W_{k,3} of j−1 layers",
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


# --- the range of j, and the number of terms -----------------------------------------------------------------------

FIRST = m.Letter("b", u.D, 1, (0, 3))
"""b_{0,3}, which Eq. 34 needs at j = 1 and nobody defines."""


def first_bias(value: m.Expression) -> Step:
    """Eq. 34 at j = 1, (W_{1,2} b_{0,3} + b_{1,2}) + W_{1,2} · (empty sum), against b_{1,2}; ``value`` is b_{0,3}."""
    of = u.square_layers("residual")
    index = sympy.Symbol("k", integer=True, positive=True)
    empty = m.RangeSum(of.C(index) @ m.Letter("s", u.F, 1, (index,)), index, 1, 0)
    return Step("j = 1", of.b(1), (of.B(1) @ value + of.b(1)) + of.B(1) @ empty)


def _starts_at_two(settings: Settings) -> Iterator[Evidence]:
    """b̂_{1,2} is layer 1's own b_1; from j = 2 on, Eq. 12 gives b̂_{j,2} (its one right reading)."""
    for kind in KINDS:
        closed = ClosedForm(u.square_layers(kind))
        first = Step("j = 1: nothing to update", recurrence(closed, 1).b2_constant, closed.layers.b(1), {})
        steps = (first, *_right_for_all(kind))
        yield from _named(kind, proved(steps, method=Method.INDUCTION, what="Eq. 12 for j ≥ 2 and b_{1,2} left alone"))


def _named(kind: str, found: Iterator[Evidence]) -> Iterator[Evidence]:
    return (replace(evidence, subject=f"{kind} network") for evidence in found)


def terms(depth: int) -> int:
    """How many σ-terms the derived b̂_{L,2} has."""
    closed = ClosedForm(u.square_layers("residual"))
    line = closed_form(closed.layers, depth).lines[closed.b2(depth)]
    return sum(letter.name == closed.s(depth).name for letter in letters_of(line))


def total() -> m.RangeSum:
    """The sum in the bias collected from layer j = i + 1."""
    found = ClosedForm(u.square_layers("residual")).sum(INDEX)
    assert isinstance(found, m.RangeSum)
    return found


def derived_terms() -> Any:
    """How many terms that sum has, with i a symbol."""
    first, last = total().bounds
    return (last - first + 1).xreplace({INDEX: LAYER - 1})


def _number(claimed: sympy.Expr, settings: Settings) -> Iterator[Evidence]:
    """``claimed`` against the number of σ-terms that Theorem 1 has for every j, counted for j = 1…5."""
    shapes = [{LAYER: j} for j in DEPTHS]
    what, measured = "σ-terms of b_{j,2}", lambda shape: terms(shape[LAYER])
    before: Any = total().xreplace({INDEX: LAYER - 1})
    said = as_counted(Tally("terms", before))
    yield from counted(claimed, derived_terms(), what=what, measured=measured, shapes=shapes, said=said)


def _equality(settings: Settings) -> Iterator[Evidence]:
    """b̂_{j,2} equals its sum: nothing is approximated."""
    for kind in KINDS:
        what = "the bias inside σ in layer i+1 equals constant + matrix · sum, for every i"
        yield from _named(kind, proved(_right_for_all(kind), method=Method.INDUCTION, what=what))


LAYER = sympy.Symbol("j", integer=True, positive=True)
_APPROXIMATED = r"\text{The term }\mathbf{b}'_{j,2}\text{ is approximated by the }j\text{ layer UAT with }\mathbf{x}_0\text{ as input}"

_FEWER = r"\mathbf{b}'_{j,2}=\mathrm{const}+\mathbf{W}'_{j,2}UAT_{j-1}^R"


def _remark(name: str, title: str, kind: Kind, printed: str, read: str, decide, correction: str = "") -> Claim:
    of_its_form = name in ("j-terms", "fewer-terms", "equality")
    return Claim(
        id=f"nested-bias.{name}",
        title=title,
        ledger="G17" if of_its_form else "G16",
        kind=kind,
        sources=(duat("3.3", 12), v2("3.5", 11)) if of_its_form else (duat("3.3", 12), duat("B.3", 34)),
        otherwise=("v2",) if of_its_form else (),
        printed=printed,
        reading=read,
        hypotheses=SQUARE,
        expects=Verdict.REFUTED if correction else Verdict.PROVED,
        correction=correction,
        decide=decide,
    )


CLAIMS = (
    *map(_claim, filter(_is_a_row, READINGS)),
    _remark(
        "from-two", "the nested bias for j = 2, …, i+1", Kind.ALL_DEPTHS, rf"{PRINTED}\quad j=2,\ldots,i+1",
        "Eq. 12's range, in the one right reading; b_{1,2} stays as it is", _starts_at_two,
    ),
    _remark(
        "from-one", "the nested bias for j = 1, b_{0,3} undefined", Kind.IDENTITY, rf"{PRINTED}\quad j=1,2,\ldots,i+1",
        "Eq. 34's range, at j = 1: b_{0,3} may be any column (its heading prints b_{i,2} for b_{j,2})",
        equation(first_bias(FIRST), first_bias(m.Zero(u.D, 1)).right, what="Eq. 34 at j = 1"), "nested-bias.from-one-zero",
    ),
    _remark(
        "from-one-zero", "the nested bias for j = 1 with b_{0,3} = 0", Kind.IDENTITY, rf"{PRINTED}\quad j=1,2,\ldots,i+1",
        "Eq. 34's range, at j = 1: with b_{0,3} = 0 and the empty sum 0 it says nothing",
        lambda settings: settle_equation(first_bias(m.Zero(u.D, 1)), what="Eq. 34 at j = 1 with b_{0,3} = 0"),
    ),
    _remark(
        "j-terms", "the nested bias has j σ-terms", Kind.COUNT, _APPROXIMATED, "“j layer UAT”: j terms",
        OneEdit(LAYER, LAYER - 1, _number), "nested-bias.fewer-terms",
    ),
    _remark(
        "fewer-terms", "the nested bias has j − 1 σ-terms", Kind.COUNT, _FEWER,
        "corrected: j − 1 terms, as in v2's own UAT_{j−1}^R", lambda settings: _number(LAYER - 1, settings),
    ),
    _remark(
        "equality", "the nested bias equals its sum", Kind.ALL_DEPTHS, rf"{_APPROXIMATED},\ {PRINTED}",
        "“approximated” (B.3: “closely approximated”) may be read as “equal”", _equality,
    ),
)  # fmt: skip
