"""The outcome of a comparison of two functions on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from uat_jax.decide.certificate import Certificate
from uat_jax.decide.verdict import Evidence
from uat_jax.report.table import COLOURS


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
    refused = [f"  refused   {complaint}" for complaint in complaints]
    for line in (*_lines(certificate, seconds, hazards), *refused):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _lines(certificate: Certificate, seconds: float, hazards: bool) -> Iterator[str]:
    where = ", almost everywhere" if certificate.claim["almost_everywhere"] else ""
    yield f"  inputs    {', '.join(certificate.claim['inputs'])}{where}"
    for evidence in certificate.evidence:
        yield f"  {evidence.method:<9} {_finding(evidence)}"
    for assumption in certificate.assumptions:
        yield f"  assuming  {assumption.text}"
    for word, line in certificate.floats.lines(hazards=hazards) if certificate.floats else ():
        yield f"  {word:<9} {line}"
    yield f"  decided in {seconds:.1f} s"
    if certificate.counterexample:
        found = certificate.counterexample
        yield f"\n  exactly {found.exact[0]} against {found.exact[1]} at"
        yield from (f"    {given.values}" for given in found.inputs)
        yield f"\n{found.program}"


def _finding(evidence: Evidence) -> str:
    return f"{evidence.subject}: {evidence.finding}" if evidence.subject else evidence.finding
