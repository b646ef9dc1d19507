"""Equality at all sizes, shown by equality at a few: Theorem A of docs/soundness.md §16.6 as a decision."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from uat_jax.decide.all_sizes import ALL_SIZES, SizedPrograms, Symbolic, sized_programs
from uat_jax.decide.assumption import AssumptionKind
from uat_jax.decide.effort import Effort
from uat_jax.decide.figures import CutOff
from uat_jax.decide.specification import Sizes, Specification, sizes_text
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.errors import InputError, UnsupportedError
from uat_jax.numbers.indexed import Open
from uat_jax.numbers.indexed.cut_off import order_of
from uat_jax.numbers.indexed.workspace import sooner

MOST_SIZES = 10
"""More consecutive sizes are not looked at."""

SECONDS = 5.0
"""So long it is looked for the form of Theorem A."""


def enough_sizes(
    symbolic: Callable[[], Symbolic], specification: Specification, effort: Effort
) -> tuple[tuple[Sizes, ...], SizedPrograms | None]:
    """Consecutive sizes at which equality shows equality at all sizes, and the programs of which this is known; or
    no such sizes.

    symbolic: makes `symbolic_programs` of both functions, and raises what that does.
    """
    if len(specification.symbols) != 1 or specification.listed is not None:
        return (), None
    try:
        programs = sized_programs(symbolic(), specification)
        briefly = dataclasses.replace(effort, deadline=sooner(effort.deadline, SECONDS))
        return consecutive_sizes(programs, specification.symbols, briefly), programs
    except (Open, InputError, UnsupportedError):
        return (), None


def consecutive_sizes(programs: SizedPrograms, symbols: Sequence[str], effort: Effort) -> tuple[Sizes, ...]:
    """The sizes from 1 on at which equality of two programs shows equality at all.

    Raises:
        Open: no such sizes are known, or they are too many.
    """
    if len(symbols) != 1 or programs.constraints or effort.almost_everywhere:
        raise Open("Theorem A is about one symbolic size without constraints, and equality everywhere")
    if programs.reals.places:
        raise Open("Theorem A is about functions of real numbers alone")
    (name,) = symbols
    order = order_of(programs.left, programs.right, programs.inputs, name, effort.deadline)
    if order >= MOST_SIZES:
        raise Open(f"{order + 1} consecutive sizes are needed, which are more than {MOST_SIZES}")
    return tuple({name: n} for n in range(1, order + 2))


def by_cut_off(sizes: Sequence[Sizes], evidence: Sequence[Evidence]) -> list[Evidence]:
    """That two functions are equal at all sizes, if they are shown to be so at all of these; else nothing.

    Constants must have been read in one way at all of them.
    """
    needed = set(map(sizes_text, sizes))
    found = [e for e in evidence if e.subject in needed and e.verdict in (Verdict.PROVED, Verdict.CERTIFIED)]
    decided = [e for e in found if e.method is not Method.IDENTITY]  # one program is itself in every reading
    readings = {any(a.kind is AssumptionKind.CONSTANT for a in e.assumptions) for e in decided}
    if not needed or {e.subject for e in found} != needed or len(readings) > 1:
        return []
    order = len(sizes) - 1
    finding = (
        f"equal at all sizes, since they are at {len(sizes)} consecutive ones: their difference is a sum over places, "
        f"of order and degree {order} together (Theorem A of docs/soundness.md)"
    )
    figures = CutOff(order, tuple(map(sizes_text, sizes)))
    return [Evidence(Method.CUT_OFF, finding, Verdict.CERTIFIED, figures, subject=ALL_SIZES)]
