"""Two programs, a network and what a paper prints for it: equal in normal form, or refuted by a counterexample."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from uat_jax.decide.confirmation import agreeing, check_definitions, check_results, confirm, sides
from uat_jax.decide.figures import Depths, FieldsAtSizes, Written, WrongWord
from uat_jax.decide.program_witness import refute
from uat_jax.decide.statements import of_programs, of_refuted
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.errors import InputError
from uat_jax.symbolic import language as m
from uat_jax.symbolic.difference import Difference
from uat_jax.symbolic.difference import difference as difference_of_forms
from uat_jax.symbolic.normal_form import Normaliser
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.step import Step

Pair = Callable[[int], tuple[Program, Program]]
"""depth → (network, printed closed form)."""
Unfolding = Mapping[m.Letter, m.Expression]


def difference(network: Program, printed: Program, also: Unfolding | None = None) -> Difference | None:
    """How the printed program's result differs from the network's; None if both have one shape and one normal form.

    ``also`` unfolds further letters on both sides.  Raises `InputError` if it defines what a line defines.
    """
    also = also or {}
    twice = next((letter for letter in also if letter in network.lines or letter in printed.lines), None)
    if twice is not None:
        raise InputError(f"got another definition of {twice}, which a line of a program defines; unfold inputs only")
    right = Normaliser({**network.lines, **also})
    left = Normaliser({**printed.lines, **also}, right.letters)
    for normalise, program in ((left, printed), (right, network)):
        for letter in program:  # in order, so that unfolding never goes deep
            normalise(letter)
    return difference_of_forms(left, left(printed.result), right(network.result))


def settle(network: Program, printed: Program, *, what: str) -> Iterator[Evidence]:
    """PROVED if both programs have one normal form; else the first wrong word and a counterexample.

    Where the normal forms differ, both may still be equal at the sizes at which they are confirmed, such as M X and 2 X
    at M = 2: that is no more than UNKNOWN.
    """
    check_results(network, printed)
    found = difference(network, printed)
    if found is None:
        proof = Evidence(Method.NORMAL_FORM, f"{what}: equal", Verdict.PROVED, Written(str(printed), printed.latex()))
        proof = replace(proof, statements=of_programs(network, printed))
        yield proof
        yield agreeing(proof, confirm(network, printed, what=what))
        return
    figures = WrongWord(str(printed), printed.latex(), found.left, found.right, found.where)
    yield Evidence(Method.NORMAL_FORM, f"{what}: {found}", Verdict.UNKNOWN, figures)
    yield _at_some_sizes(confirm(network, printed, what=what))
    yield _refuted(network, printed)


def _at_some_sizes(confirmed: Evidence) -> Evidence:
    """The evidence as evidence on all sizes: UNKNOWN if it was found at sizes chosen for symbolic dimensions."""
    chosen = isinstance(confirmed.figures, FieldsAtSizes) and confirmed.figures.sizes
    return replace(confirmed, verdict=Verdict.UNKNOWN) if chosen else confirmed


def settle_equation(step: Step, *, what: str = "", subject: str = "") -> Iterator[Evidence]:
    """PROVED or REFUTED for one equation: ``left`` is what is true, ``right`` what is printed, every letter an input.

    Raises `InputError` if the definitions of its letters are no finite list or there is no letter to put numbers in,
    `ShapeError` if a letter and its definition, or both sides, have two shapes.
    """
    check_definitions(step.where)
    pair = sides(step)
    if pair is None:
        raise InputError(f"{step.name}: the letters are not defined by a finite list; wanted a mapping")
    if not any(side.inputs for side in pair):
        raise InputError(f"{step.name}: neither side has a letter; wanted one to put numbers in")
    for found in settle(*pair, what=what or step.name):
        yield replace(found, subject=subject)


def settle_by_depth(
    pair: Pair,
    depths: Iterable[int],
    *,
    what: str,
    also: Callable[[int], Unfolding] | None = None,
) -> Iterator[Evidence]:
    """Compare at each depth, and refute at the first that fails.

    ``also(depth)`` unfolds further letters (such as A_j = I); at which depths the forms are then equal is recorded
    next to where they are equal without it.
    """
    depths = tuple(depths)
    found, wrong = _compared(pair, depths, what)
    if also is not None:
        special, _ = _compared(pair, depths, what, also)
        found = replace(found, exact_depths_with_identity_skip=special.exact_depths)
    failure = found.first_failure
    if failure is None:
        proof = _with_statements(replace(_said(found, wrong, what), subject=what), pair, depths)
        yield proof
        yield replace(agreeing(proof, confirm_at(pair, found.exact_depths[-1], what)), subject=what)
        return
    network, printed = pair(failure)
    found = replace(found, program=str(printed), program_latex=printed.latex())
    yield replace(_said(found, wrong, what), subject=what)
    yield replace(_at_some_sizes(confirm_at(pair, failure, what)), subject=what)
    yield replace(_refuted(network, printed), subject=what)


def _refuted(network: Program, printed: Program) -> Evidence:
    """The counterexample, and as a statement that there is one."""
    found = refute(network, printed)
    return replace(found, statements=of_refuted(network, printed)) if found.verdict is Verdict.REFUTED else found


def _with_statements(proof: Evidence, pair: Pair, depths: Iterable[int]) -> Evidence:
    """The proof with one statement for each depth, if all can be said; two programs with the same lines say nothing."""
    if proof.verdict is not Verdict.PROVED:
        return proof
    pairs = [(left, right) for left, right in map(pair, depths) if left.lines != right.lines]
    found = [of_programs(*programs) for programs in pairs]
    return replace(proof, statements=sum(found, ()) if all(found) else ())


def confirm_at(pair: Pair, depth: int, what: str) -> Evidence:
    """What prime fields say of the network and the printed form at one depth."""
    return confirm(*pair(depth), what=f"{what}, L = {depth}")


def by_depth(pair: Pair, depths: Iterable[int], *, what: str) -> Evidence:
    """PROVED (at those depths) if all agree, else UNKNOWN with the first depth that fails and the first wrong word.

    Raises `InputError` if there is no depth.
    """
    depths = tuple(depths)
    return _with_statements(_said(*_compared(pair, depths, what), what), pair, depths)


def _compared(
    pair: Pair, depths: Sequence[int], what: str, also: Callable[[int], Unfolding] | None = None
) -> tuple[Depths, Difference | None]:
    """At which depths both are equal, and the difference at the first at which they are not."""
    if not depths:
        raise InputError(f"got no depth for {what}; wanted at least one")
    found = {depth: difference(*pair(depth), also(depth) if also else None) for depth in depths}
    exact = tuple(depth for depth in depths if found[depth] is None)
    first, wrong = next(((depth, wrong) for depth, wrong in found.items() if wrong is not None), (None, None))
    if wrong is None:
        return Depths(exact, None), None
    return Depths(exact, first, wrong.left, wrong.right, wrong.where), wrong


def _said(found: Depths, wrong: Difference | None, what: str) -> Evidence:
    shown = f"exact at L = {_span(found.exact_depths)}" if found.exact_depths else "exact at no L"
    if wrong is None:
        return Evidence(Method.NORMAL_FORM, f"{what}: {shown}", Verdict.PROVED, found)
    finding = f"{what}: {shown}; fails at L = {found.first_failure}: {wrong}"
    return Evidence(Method.NORMAL_FORM, finding, Verdict.UNKNOWN, found)


def _span(depths: Sequence[int]) -> str:
    consecutive = list(depths) == list(range(depths[0], depths[-1] + 1))
    return f"{depths[0]}…{depths[-1]}" if consecutive and len(depths) > 1 else ", ".join(map(str, depths))
