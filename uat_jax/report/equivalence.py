"""The outcome of a comparison of two functions on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from uat_jax.decide.certificate import Certificate
from uat_jax.decide.counterexample import Counterexample
from uat_jax.decide.figures import (
    FieldsOfPieces,
    PieceFigures,
    PieceInNormalForm,
    PiecesInNormalForm,
    Refuted,
    RefutedAtTies,
)
from uat_jax.decide.one_change import one_change
from uat_jax.decide.verdict import Evidence, Method
from uat_jax.report.table import COLOURS, show_line

MOST_NUMBERS = 1000
"""A larger counterexample is not printed."""


def show_equivalence(
    console: Console,
    certificate: Certificate,
    seconds: float,
    *,
    hazards: bool = True,
    complaints: Sequence[str] = (),
) -> None:
    """Print verdict, question, reason, counterexample or assumptions, and what floats do to equal functions.

    Without `hazards` none are searched.  `complaints`: what their floats do that is not accepted.
    """
    claim = certificate.claim
    headline = Text(str(certificate.verdict), style=COLOURS[certificate.verdict])
    headline.append(f"  {claim['left']}  and  {claim['right']}", style="default")
    console.print(headline)
    for word, text in _lines(certificate, hazards):
        show_line(console, word, text, width=9)
    for complaint in complaints:
        show_line(console, "refused", complaint, width=9)
    console.print(f"  decided in {seconds:.1f} s", highlight=False)
    if certificate.counterexample:
        for line in _counterexample(certificate.counterexample):  # not folded: it is to be copied
            console.print(line, markup=False, highlight=False, soft_wrap=True)


def _lines(certificate: Certificate, hazards: bool) -> Iterator[tuple[str, str]]:
    """What is told of a certificate: a word for what it is, and the text."""
    where = ", almost everywhere" if certificate.claim["almost_everywhere"] else ""
    yield "inputs", f"{', '.join(certificate.claim['inputs'])}{where}"
    for evidence in certificate.evidence:
        yield evidence.method, _finding(evidence)
        if isinstance(evidence.figures, Refuted) and evidence.figures.parting:
            yield "parting", evidence.figures.parting
        elif isinstance(evidence.figures, Refuted | RefutedAtTies):
            yield "fields", evidence.figures.fields
    change = one_change(certificate)
    if change:
        yield "mended", change
    for assumption in certificate.assumptions:
        yield "assuming", assumption.text
    yield from certificate.floats.lines(hazards=hazards) if certificate.floats else ()


def _counterexample(found: Counterexample) -> Iterator[str]:
    """The exact values, the input, and the program that shows them; of a large input only where it stands."""
    yield f"\n  exactly {found.exact[0]} against {found.exact[1]} at"
    entries = sum(np.size(given.values) for given in found.inputs)
    if entries > MOST_NUMBERS:
        yield f"    an input of {entries:,} numbers, which stands in the certificate: keep it with --json FILE"
        return
    yield from (f"    {given.values}" for given in found.inputs)
    yield f"\n{found.program}"


def show_pieces(console: Console, certificate: Certificate) -> None:
    """Print where the programs were cut: a row for each piece, with its source lines on both sides.

    Of programs that were not cut into pieces one behind the other, and of those that were compared as a whole, it says
    that.
    """
    for evidence in certificate.evidence:
        if isinstance(evidence.figures, FieldsOfPieces | PiecesInNormalForm) and evidence.figures.way:
            console.print(f"  compared {evidence.figures.way}", highlight=False)
        if isinstance(evidence.figures, FieldsOfPieces):
            console.print(_table([*evidence.figures.pieces, *(evidence.figures.wide or ())]))
        elif isinstance(evidence.figures, PiecesInNormalForm):
            console.print(_table(evidence.figures.wide))
        elif evidence.method is Method.PRIME_FIELDS:
            console.print("  both functions were compared as a whole", highlight=False)


def _table(pieces: Sequence[PieceFigures | PieceInNormalForm]) -> Table:
    """A row for each piece; between two rows both programs were cut."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_lines=True)
    table.add_column("times", justify="right", overflow="fold")
    table.add_column("left", overflow="fold")
    table.add_column("right", overflow="fold")
    for name in ("equations", "log2 error", "seconds"):
        table.add_column(name, justify="right")
    for piece in pieces:
        counts = " and ".join(map(str, piece.equations))
        error = f"{piece.log2_error:.0f}" if isinstance(piece, PieceFigures) else "normal form"
        seconds = f"{piece.seconds:.2f}"
        table.add_row(f"{piece.count} ×", piece.left.strip(), piece.right.strip(), counts, error, seconds)
    return table


def _finding(evidence: Evidence) -> str:
    return f"{evidence.subject}: {evidence.finding}" if evidence.subject else evidence.finding
