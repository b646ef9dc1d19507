"""Every proof has negative twins: one sign, one index, one transpose, one dropped term, one wrong version.

The equations and programs that the ledger's claims decide are caught on their way into the normal form, changed in one
place, and must then be unequal; what is reported as different must be what was changed, or a word made from it.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy
from excerpt import one_in
from statements import Call, Statements, recorded

import uat_jax as uj
from uat_jax.decide import counts, dependence, inequalities, normal_forms, programs, ranks
from uat_jax.decide.confirmation import confirm, sides
from uat_jax.decide.decision import decide
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence
from uat_jax.ledger.ledger import find
from uat_jax.symbolic import language as m
from uat_jax.symbolic.program import Program

PROVED = [claim.id for claim in uj.claims() if claim.expects == uj.Verdict.PROVED]
ELSEWHERE = {
    "test_foundations": (
        "uat.citation-year.corrected",
        "uat.vector-output.diagonal",
        "uat.vector-output.matrix",
        "uat.affine-term.absorbed",
    ),
    "test_beyond": ("figure-2.squared-error",),
    "test_diamond": ("diamond.result-shape.corrected", "diamond.commutes.definition"),
    "test_matrix_vector": ("linear.both-axes",),
    "test_real_transformers": ("real.rope.relative", "real.softmax-output"),
    "test_bookkeeping": (
        "references.appendices-corrected",
        "references.figure-4",
        "references.equations",
        "references.equations-6-and-10",
        "abstract.structure",
        "names.eq-33",
        "names.primes-corrected",
        "names.ring-corrected",
        "names.w-j-t-corrected",
        "names.layer-as-power-corrected",
        "names.substitution-corrected",
        "names.induction-corrected",
        "names.eq-6-v2-corrected",
        "names.eq-34-corrected",
    ),
}
"""Claims decided in a way of their own, by the file of tests that holds their wrong variants."""
WHOLE = "whole side"
MUTATIONS = ("sign", "dropped term", "index", "transpose", "version", "order", WHOLE)


# --- mutations of one place ------------------------------------------------------------------------------------------


def _mutants_of(e: m.Expression, kind: str) -> Iterator[m.Expression]:
    """What this one node may be replaced by."""
    match kind, e:
        case "sign", m.Addition():
            for i, term in enumerate(e.operands):
                yield m.Addition(*e.operands[:i], m.Scaled(-1, term), *e.operands[i + 1 :])
        case "dropped term", m.Addition():
            for i in range(len(e.operands)):
                yield m.Addition(*e.operands[:i], *e.operands[i + 1 :])
        case "index", m.Letter() if e.subscripts:
            first, *rest = e.subscripts
            yield m.Letter(e.name, *e.shape, (first + 7, *rest), e.superscripts)
        case "version", m.Letter() if e.superscripts:
            yield m.Letter(e.name, *e.shape, e.subscripts, (e.superscripts[0] + 7,))
        case "order", m.Product():
            for i, (left, right) in enumerate(zip(e.operands, e.operands[1:], strict=False)):
                if left != right and all(map(m.same_dimension, (left @ right).shape * 2, left.shape + right.shape)):
                    yield m.Product(*e.operands[:i], right, left, *e.operands[i + 2 :])
        case "transpose", m.Letter() if m.same_dimension(*e.shape) and e.shape[0] != 1:
            yield e.T


def mutants(e: m.Expression, kind: str) -> Iterator[m.Expression]:
    """The expression with one node changed, for every node (not below σ of a dynamic parameter's name)."""
    yield from _mutants_of(e, kind)
    if isinstance(e, m.Letter):
        return
    rebuild: Callable[..., m.Expression] = e.func  # type: ignore[assignment]
    for i, arg in enumerate(e.args):
        if isinstance(arg, m.Expression) and not (isinstance(e, m.Dependent) and i == 0):
            for changed in mutants(arg, kind):
                yield rebuild(*e.args[:i], changed, *e.args[i + 1 :])


# --- what the claims decide ----------------------------------------------------------------------------------------


def decided(name: str) -> Statements:
    """What a proved claim decides, symbolically and at depth 2."""
    with recorded() as found:
        assert decide(find(name), Settings(dtypes=(), depth=2)).verdict == uj.Verdict.PROVED
    return found


def _step_twins(step, kind: str) -> Iterator[bool]:
    if isinstance(step.right, m.Zero):  # -0 and 2·0 are 0
        return
    for right in mutants(step.right, kind) if kind != WHOLE else (-step.right, 2 * step.right):
        twin = replace(step, right=right)
        if normal_forms.decide(twin) is not None:
            yield True
        elif not _equal(sides(twin)):  # a sign before 0 changes nothing
            yield False


def _program_twins(network: Program, printed: Program, also, kind: str) -> Iterator[bool]:
    for letter in _used(printed) if kind != WHOLE else {printed.result}:
        line = printed.lines[letter]
        for changed in mutants(line, kind) if kind != WHOLE else (-line, 2 * line):
            try:
                twin = Program({**printed.lines, letter: changed}, printed.result)
            except uj.UatJaxError:  # the other index is defined later
                continue
            if programs.difference(network, twin, also) is not None:
                yield True
            elif also or not _equal((network, twin)):
                yield False


def _equal(pair: tuple[Program, Program] | None) -> bool:
    """Whether a change was none: another method than the normal form finds both sides equal, at two heads."""
    if pair is None:
        return False
    left, right = (Program({l: _plain(e) for l, e in p.items()}, p.result) for p in pair)
    return confirm(left, right, what="a twin").verdict is uj.Verdict.CERTIFIED


def _plain(e: m.Expression) -> m.Expression:
    """The expression at h = 2, its sums written out and every A(x) a letter of its own."""
    if isinstance(e, m.Dependent):
        return m.Letter(str(e), *e.shape)
    e = m.replace_letters(e.renamed({m.dimension("h"): sympy.Integer(2)}), lambda letter, ranges: None)
    return e if isinstance(e, m.Letter | m.Dependent) else e.rebuilt(_plain)


def _used(program: Program) -> set[m.Letter]:
    """Lines that the result depends on; a change elsewhere changes nothing."""
    from uat_jax.symbolic.program import letters_of

    used, todo = set(), [program.result]
    while todo:
        letter = todo.pop()
        if letter in program.lines and letter not in used:
            used.add(letter)
            todo += list(letters_of(program.lines[letter]))
    return used


# --- mutations of what a method is told to find ----------------------------------------------------------------------


def _claimed(arguments: tuple, change: Callable[[Any], Any]) -> tuple:
    return (change(arguments[0]), *arguments[1:])


def _counts(call: Call) -> Iterator[tuple[str, Call]]:
    """Another number, and the number at another size."""
    claimed, *_ = call.arguments
    for kind, change in (("one more", lambda c: c + 1), ("twice", lambda c: 2 * c), ("half", lambda c: c / 2)):
        yield kind, replace(call, arguments=_claimed(call.arguments, lambda c, f=change: f(sympy.sympify(c))))
    for symbol in sorted(sympy.sympify(claimed).free_symbols, key=str):
        larger = lambda c, s=symbol: c.subs(s, s + 1)
        yield f"{symbol} + 1", replace(call, arguments=_claimed(call.arguments, larger))


def _attained(call: Call) -> Iterator[tuple[str, Call]]:
    """One more and one less."""
    for step in (-1, 1, 2):
        yield f"{step:+d}", replace(call, arguments=_claimed(call.arguments, lambda c, s=step: c + s))


def _bounded(call: Call) -> Iterator[tuple[str, Call]]:
    """A smaller bound (a larger one is true as well)."""
    for step in (-1, -2):
        yield f"{step:+d}", replace(call, keywords={**call.keywords, "claimed": call.keywords["claimed"] + step})


def _inequalities(call: Call) -> Iterator[tuple[str, Call]]:
    """The other direction, and more than was claimed."""
    claim, hypotheses, *rest = call.arguments
    if isinstance(claim, sympy.Rel):
        yield "reversed", replace(call, arguments=(claim.negated, hypotheses, *rest))
        for more in (1, 2):
            farther = claim.func(claim.lhs + more * _towards(claim), claim.rhs)
            yield f"farther by {more}", replace(call, arguments=(farther, hypotheses, *rest))


def _towards(claim: Any) -> Any:
    """What makes the left side larger where it should be small, and smaller where it should be large."""
    return -1 if claim.rel_op in (">", ">=") else 1


def _enclosures(call: Call) -> Iterator[tuple[str, Call]]:
    """Each bound on the other side, there and far away."""
    bounds = {name: call.keywords[name] for name in ("above", "below") if call.keywords.get(name) is not None}
    other = {"above": "below", "below": "above"}
    for name, value in bounds.items():
        plain = {k: v for k, v in call.keywords.items() if k not in other}
        for far in (0, 1, 1000):
            beyond = value + far if name == "below" else value - far
            yield f"not {name}", replace(call, keywords={**plain, other[name]: beyond})


def _dynamics(call: Call) -> Iterator[tuple[str, Call]]:
    """The same input twice, and a function that does not look at it."""
    function, (x, y), *rest = call.arguments
    for point in (x, y):
        yield "one input", replace(call, arguments=(function, (point, point), *rest))
    yield "static", replace(call, arguments=(lambda z: function(np.asarray(x, np.float64)), (x, y), *rest))


TWINS: dict[Callable[..., Any], Callable[[Call], Iterator[tuple[str, Call]]]] = {
    counts.counted: _counts,
    ranks.attained: _attained,
    ranks.bounded: _bounded,
    inequalities.proved_inequality: _inequalities,
    inequalities.enclosed: _enclosures,
    dependence.dynamic: _dynamics,
}


def _call_twins(call: Call) -> Iterator[tuple[str, bool]]:
    for kind, twin in TWINS[call.method](call):
        yield f"{call.method.__name__}: {kind}", not _proves(twin)


def _proves(call: Call) -> bool:
    """Whether all that the call finds is proved, as the claim needs it."""
    try:
        found = call.method(*call.arguments, **call.keywords)
    except uj.UatJaxError:
        return False
    evidence = [found] if isinstance(found, Evidence) else list(found)
    return all(e.verdict in (uj.Verdict.PROVED, uj.Verdict.CERTIFIED) for e in evidence)


# --- the table -------------------------------------------------------------------------------------------------------

STEPS, PAIRS, CALLS = 12, 3, 4
"""The steps and pairs of each claim, and its calls of each method, whose twins are made: the first so many."""


def table_of(name: str) -> dict[str, list[bool]]:
    """Kind of change → whether each twin was refuted."""
    found, table = decided(name), defaultdict(list)
    for kind in MUTATIONS:
        for step in found.steps[:STEPS]:
            table[kind] += _step_twins(step, kind)
        for network, printed, also in found.pairs[:PAIRS]:
            table[kind] += _program_twins(network, printed, also, kind)
    for method in TWINS:
        for call in [c for c in found.calls if c.method is method][:CALLS]:
            for kind, refuted in _call_twins(call):
                table[kind].append(refuted)
    return {kind: refuted for kind, refuted in table.items() if refuted}


@pytest.mark.parametrize("name", one_in(12, PROVED))
def test_every_twin_is_refuted(name, record_property):
    table = table_of(name)
    print(name, {kind: f"{sum(refuted)}/{len(refuted)}" for kind, refuted in table.items()})
    record_property("twins", {kind: [sum(refuted), len(refuted)] for kind, refuted in table.items()})
    assert all(all(refuted) for refuted in table.values())
    if not any(name in names for names in ELSEWHERE.values()):
        assert sum(map(len, table.values())) >= 3, "the mutations did not touch this proof"


@pytest.mark.parametrize("file", ELSEWHERE)
def test_wrong_variants_are_elsewhere(file):
    """Every claim that is named above is named in that file."""
    text = Path(__file__).with_name(f"{file}.py").read_text(encoding="utf-8")
    assert [name for name in ELSEWHERE[file] if name not in text] == []


def test_the_mutations_mutate():
    """Each kind of change is seen on a plain equation, and the difference names what was changed."""
    D = m.dimension("D")
    A, x, c = m.Letter("A", D, D, (1,)), m.Letter("x", D, 1, (0,)), m.Letter("c", D, 1, (1,), (2,))
    from uat_jax.symbolic.step import Step

    B = m.Letter("B", D, D, (1,))
    step = Step("plain", A @ B @ x + c, A @ B @ x + c)
    wanted: dict[str, Callable[[str], bool]] = {
        "sign": lambda left: "-" in left,
        "dropped term": lambda left: "nothing" in left,
        "index": lambda left: "_8" in left or "_7" in left,
        "transpose": lambda left: "ᵀ" in left,
        "version": lambda left: "^(2)" in left,
        "order": lambda left: "B_1 A_1" in left,
    }
    for kind, named in wanted.items():
        found = [normal_forms.decide(replace(step, right=right)) for right in mutants(step.right, kind)]
        assert found and all(found), kind
        assert any(named(f"{d.left} {d.right}") for d in found if d), (kind, found)


def test_an_unchanged_twin_is_equal():
    found = decided("updates.corrected-boxes")
    assert all(normal_forms.decide(step) is None for step in found.steps)
    assert all(programs.difference(*pair) is None for pair in found.pairs)
