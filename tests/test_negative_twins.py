"""Every proof has negative twins: one sign, one index, one transpose, one dropped term, one wrong version.

The equations and programs that the ledger's claims decide are caught on their way into the normal form, changed in one
place, and must then be unequal; what is reported as different must be what was changed, or a word made from it.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

import uat_jax as uj
from uat_jax.certify import normal_forms, programs
from uat_jax.certify.decision import decide
from uat_jax.certify.settings import Settings
from uat_jax.claims.ledger import find
from uat_jax.symbolic import language as m
from uat_jax.symbolic.program import Program

PROVED = [claim.id for claim in uj.claims() if claim.expects == uj.Verdict.PROVED]
PROVERS = ("uat_jax.claims.", "uat_jax.certify.confirmation")
MUTATIONS = ("sign", "dropped term", "index", "transpose", "version")


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


@pytest.fixture
def decided(monkeypatch):
    """Run a claim symbolically; returns its steps and its (network, printed, also) triples, all of them equal."""

    def run(name: str):
        steps, pairs = [], []

        def prove(given, *, method, what):
            given = tuple(given)
            steps.extend(given)
            return original_prove(given, method=method, what=what)

        def difference(network, printed, also=None):
            pairs.append((network, printed, also))
            return original_difference(network, printed, also)

        original_prove, original_difference = normal_forms.prove, programs.difference
        monkeypatch.setattr(programs, "difference", difference)
        for module in list(sys.modules.values()):
            if getattr(module, "__name__", "").startswith(PROVERS) and hasattr(module, "prove"):
                if module.prove is original_prove:
                    monkeypatch.setattr(module, "prove", prove)
        assert decide(find(name), Settings(dtypes=(), depth=2)).verdict == uj.Verdict.PROVED
        monkeypatch.undo()
        return steps, pairs

    return run


def _step_twins(step, kind: str) -> Iterator[bool]:
    for right in mutants(step.right, kind):
        yield normal_forms.decide(replace(step, right=right)) is not None


def _program_twins(network: Program, printed: Program, also, kind: str) -> Iterator[bool]:
    for letter in _used(printed):
        for line in mutants(printed.lines[letter], kind):
            try:
                twin = Program({**printed.lines, letter: line}, printed.result)
            except uj.UatJaxError:  # the other index is defined later
                continue
            yield programs.difference(network, twin, also) is not None


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


@pytest.mark.parametrize("name", PROVED)
def test_every_twin_is_refuted(name, decided):
    steps, pairs = decided(name)
    table: dict[str, list[bool]] = {kind: [] for kind in MUTATIONS}
    for kind in MUTATIONS:
        for step in steps:
            table[kind] += _step_twins(step, kind)
        for network, printed, also in pairs[:6]:
            table[kind] += _program_twins(network, printed, also, kind)
    print(name, {kind: f"{sum(r)}/{len(r)}" for kind, r in table.items()})
    assert all(all(refuted) for refuted in table.values())
    assert sum(map(len, table.values())) >= 5, "the mutations did not touch this proof"


def test_the_mutations_mutate():
    """Each kind of change is seen on a plain equation, and the difference names what was changed."""
    D = m.dimension("D")
    A, x, c = m.Letter("A", D, D, (1,)), m.Letter("x", D, 1, (0,)), m.Letter("c", D, 1, (1,), (2,))
    from uat_jax.symbolic.step import Step

    step = Step("plain", A @ x + c, A @ x + c)
    wanted: dict[str, Callable[[str], bool]] = {
        "sign": lambda left: "-" in left,
        "dropped term": lambda left: "nothing" in left,
        "index": lambda left: "_8" in left or "_7" in left,
        "transpose": lambda left: "ᵀ" in left,
        "version": lambda left: "^(2)" in left,
    }
    for kind, named in wanted.items():
        found = [normal_forms.decide(replace(step, right=right)) for right in mutants(step.right, kind)]
        assert found and all(found), kind
        assert any(named(f"{d.left} {d.right}") for d in found if d), (kind, found)


def test_an_unchanged_twin_is_equal(decided):
    steps, pairs = decided("updates.corrected-boxes")
    assert all(normal_forms.decide(step) is None for step in steps)
    assert all(programs.difference(*pair) is None for pair in pairs)
