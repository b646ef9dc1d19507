"""What each row of the ledger decides, in words: the document `docs/statements.md`, and how it is written.

    PYTHONPATH=. python tests/claim_statements.py

A row has what is printed, and a function that decides something; that this something is what is printed can only be
read.  The document has both below each other: the equations, programs, numbers and bounds that the verdict is about,
with the shape of every letter.  A test fails when a row decides anything else than is written there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from jax.extend.core import ClosedJaxpr
from statements import METHODS, Call, Statements, recorded

import uat_jax as uj
from uat_jax.decide import confirmation, dependence, exhibits, functions, identity, programs, ranks
from uat_jax.decide.certificate import Certificate
from uat_jax.decide.decision import decide
from uat_jax.decide.effort import Effort
from uat_jax.decide.figures import (
    Counted,
    Depths,
    Enumerated,
    Equations,
    Factored,
    FieldsAtSizes,
    Figures,
    FloatFigures,
    Measured,
    Proof,
    RestsOn,
    Written,
)
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict, combine
from uat_jax.errors import MismatchError
from uat_jax.ledger.claim import Claim
from uat_jax.ledger.edit import Formula, OneEdit, parts
from uat_jax.symbolic import language as m
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.step import Step

DOCUMENT = Path(__file__).parent.parent / "docs" / "statements.md"
SYMBOLIC = Settings(dtypes=(), depth=2)
"""Nothing is measured in floats."""

SECOND_OPINIONS = (Method.PRIME_FIELDS, Method.FLOATS, Method.BALLS, Method.ARRAYS)
"""Methods that confirm what another one decides: that they were asked is written down, and numbers they measured."""
CONFIRMING = (functions.confirm_functions, identity.identical)
TOLD = (
    *METHODS,
    *CONFIRMING,
    dependence.static,
    ranks.enclosed,
    exhibits.exhibit,
    exhibits.exhibit_numbers,
)
"""Methods whose arguments are written down."""
LEAVES = (m.Letter, m.Identity, m.Zero, m.Ones, m.Selection)


@contextmanager
def without_confirmation() -> Iterator[None]:
    """Proofs without their second opinion, which takes most of the time and says nothing about the statement."""
    figures = FieldsAtSizes(-100.0, True, {}, sizes={"D": 2})
    found = Evidence(Method.PRIME_FIELDS, "not asked", Verdict.CERTIFIED, figures)
    with (
        mock.patch.object(programs, "confirm", lambda left, right, *, what: found),
        mock.patch.object(confirmation, "confirm_steps", lambda steps, *, what: found),
    ):
        yield


def _forget() -> None:
    """Forget what rows before have found: a row that finds it again is told of it by nobody else."""
    for name, module in tuple(sys.modules.items()):
        if name.startswith("uat_jax.ledger.") and name != "uat_jax.ledger.ledger":
            for remembered in vars(module).values():
                if hasattr(remembered, "cache_clear") and getattr(remembered, "__module__", "") == name:
                    remembered.cache_clear()


def decided(claim: Claim, settings: Settings = SYMBOLIC) -> list[str]:
    """What a row decides, line by line, whatever was decided before.

    Raises `MismatchError` if it does not get its verdict.
    """
    return decided_with_certificate(claim, settings)[0]


def decided_with_certificate(claim: Claim, settings: Settings) -> tuple[list[str], Certificate]:
    """What `decided` returns, and the certificate of the row."""
    _forget()
    with recorded(TOLD) as found:
        certificate = decide(claim, settings)
    if not certificate.passes:
        raise MismatchError(f"{claim.id}: {certificate.verdict} instead of {claim.expects}")
    exact = f", exact up to L = {claim.exact_to}" if claim.exact_to else ""
    heading = f"{claim.kind}, {claim.expects}{exact}"
    told = (*map(_told, found.calls), *_shapes(found))
    return [heading, *_found(certificate.evidence), *told, *_corrected(claim, settings)], certificate


def _corrected(claim: Claim, settings: Settings) -> Iterator[str]:
    """The one edit of a refuted row, and what is decided of the corrected statement; it has to be proved."""
    if isinstance(claim.decide, OneEdit):
        _forget()
        with recorded(TOLD) as found:
            evidence = tuple(claim.decide.repaired(settings))
        if combine(evidence) is not Verdict.PROVED:
            raise MismatchError(f"{claim.id}: the corrected statement is not proved")
        yield from _places(claim.decide)
        yield from (f"corrected: {line}" for line in (*_found(evidence), *map(_told, found.calls), *_shapes(found)))


def _places(of: OneEdit) -> Iterator[str]:
    yield f"one edit: {of.edit}"
    letters = dict.fromkeys((*_letters(of.printed), *_letters(of.corrected)))
    if letters:
        yield f"sizes of letters: {', '.join(letters)}"


def _letters(statement: Any) -> Iterator[str]:
    """The letters of formulas that need not make sense, each with its shape."""
    if isinstance(statement, Formula) and statement.of == "letter":
        name, rows, columns = statement.operands
        yield f"{name} is {rows} × {columns}"
        return
    for part in parts(statement).values():
        yield from _letters(part)


def _found(evidence: Iterable[Evidence]) -> Iterator[str]:
    """What each method found, in its order."""
    for found in evidence:
        about = f" ({found.subject})" if found.subject else ""
        confirms = found.method in SECOND_OPINIONS
        yield f"{found.method}{about}" if confirms else f"{found.method}{about}: {found.finding}"
        if isinstance(found.figures, Measured | FloatFigures):
            yield f"  {found.finding}"
        elif not confirms:
            yield from (f"  {line}" for line in _inside(found.figures))


def _inside(figures: Figures) -> Iterator[str]:
    """The equations, the program and the sizes of one finding."""
    match figures:
        case Proof():
            for step in figures.steps:
                yield f"{step.name}: {step.equation}"
                yield from (f"  where {definition}" for definition in step.where or ())
        case Equations():
            yield from (f"{name}: {equation}" for name, equation in figures.equations.items())
        case Written():
            yield from figures.program.splitlines()
        case Depths(exact_depths_with_identity_skip=depths) if depths is not None:
            yield f"with A_j = I exact at L = {', '.join(map(str, depths))}"
        case Factored(factored=factored):
            yield f"written as {factored}"
        case RestsOn(rests_on=findings):
            yield from (f"rests on: {finding}" for finding in findings)
        case Enumerated(cases=cases):
            yield "1 case" if cases == 1 else f"{cases} cases"
        case Counted():
            yield f"counted at {'; '.join(map(_sizes, figures.counted_at))}"


def _sizes(shape: Mapping[str, int]) -> str:
    return ", ".join(f"{symbol} = {size}" for symbol, size in shape.items())


def _told(call: Call) -> str:
    """What a method was told to find: its arguments that are no functions; of what, if its finding is not shown."""
    shown = () if call.method in CONFIRMING else ("what", "subject")
    given = (*call.arguments, *(v for name, v in sorted(call.keywords.items()) if name not in shown))
    return f"{call.method.__name__}: {', '.join(text for argument in given if (text := _text(argument)))}"


def _text(argument: Any) -> str:
    match argument:
        case list() | tuple():
            return f"[{', '.join(map(_text, argument))}]"
        case dict():
            return "{" + ", ".join(f"{_text(key)}: {_text(value)}" for key, value in argument.items()) + "}"
        case Step():
            return argument.name
        case ClosedJaxpr():
            return f"({', '.join(map(str, argument.in_avals))}) → {', '.join(map(str, argument.out_avals))}"
        case Effort():
            return ""
        case np.ndarray():
            return str(argument.tolist())
        case _ if callable(argument) and not hasattr(argument, "free_symbols"):
            return ""
    return str(argument)


def _shapes(found: Statements) -> Iterator[str]:
    """One line with the shape of every letter and constant in what was decided."""
    steps = (*found.steps, *(told for call in found.calls for told in call.arguments if isinstance(told, Step)))
    sides = [side for step in steps for side in (step.left, step.right, *_definitions(step.where))]
    programs = [program for network, printed, _ in found.pairs for program in (network, printed)]
    sides += [side for program in programs for side in _lines(program)]
    leaves = {f"{leaf} is {m.shape_text(leaf)}" for side in sides for leaf in side.atoms(*LEAVES)}
    if leaves:
        yield f"shapes: {', '.join(sorted(leaves))}"


def _definitions(where: Any) -> Iterator[m.Expression]:
    if not callable(where):
        for letter, expression in where.items():
            yield letter
            yield expression


def _lines(program: Program) -> Iterator[m.Expression]:
    for letter, expression in program.items():
        yield letter
        yield expression


# --- the document ----------------------------------------------------------------------------------------------------

_OPENING = """# What each row decides

Written by `python tests/claim_statements.py`. For every row of the ledger: its title and the places it is about, and
below what its verdict is about. The letters are those of the proofs; of second opinions (prime fields, arrays) it says
only that they were asked, and which numbers were measured.
"""


def written(decide_row: Callable[[Claim], list[str]] = decided) -> str:
    """The whole document."""
    return _OPENING + "".join(_section(claim, decide_row(claim)) for claim in uj.claims())


def _section(claim: Claim, lines: list[str]) -> str:
    quoted = "\n".join(f"    {line}" for line in lines)
    return f"\n## {claim.id}\n\n{claim.title} ({claim.describe()['source']})\n\n{quoted}\n"


@cache
def document() -> dict[str, list[str]]:
    """id → the lines that the document has for it."""
    sections = DOCUMENT.read_text(encoding="utf-8").split("\n## ")[1:]
    return {name: lines for name, lines in map(_read, sections)}


def _read(section: str) -> tuple[str, list[str]]:
    name, *lines = section.splitlines()
    return name, [line.removeprefix("    ") for line in lines if line.startswith("    ")]


if __name__ == "__main__":
    with without_confirmation():
        DOCUMENT.write_text(written(), encoding="utf-8")
