"""One claim as a readable page, or as LaTeX: the printed statement, its reading, and the steps that decide it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from uat_jax.decide.certificate import Certificate
from uat_jax.decide.figures import Depths, Equation, Proof, Written
from uat_jax.decide.verdict import Evidence
from uat_jax.ledger.edit import Edit
from uat_jax.ledger.page import Page
from uat_jax.ledger.record import Record
from uat_jax.ledger.source import written
from uat_jax.report.breaking import aligned
from uat_jax.report.formula_text import formula_text
from uat_jax.report.inline import latex_of_prose
from uat_jax.report.page_latex import PREAMBLE, section_lines, wrapped
from uat_jax.report.page_text import show_page
from uat_jax.report.table import COLOURS


def show_statement(
    console: Console, certificate: Certificate, script: str, page: Page | None = None, edit: Edit | None = None
) -> None:
    """Print the claim, its verdict, the script that argues it, and every step or executed line with what was found.

    A claim that has a page of its own is told by it: then what was found is listed without the steps.

    Args:
        console: where to.
        certificate: of the claim.
        script: the file below proofs/ that argues it.
        page: what tells it.
        edit: what mends a refuted claim.
    """
    claim = certificate.claim
    console.print(Text(f"{claim['id']}: {claim['title']}", style="bold"))
    for name in ("kind", "source", "ledger", "printed", "reading", "correction"):
        if claim[name]:
            told = formula_text(claim[name]) if name == "printed" else str(claim[name])
            console.print(Text.assemble((f"  {name:10s} ", "dim"), told))
    if claim.get("ours"):
        console.print(Text.assemble(("  printed by ", "dim"), "no paper: it shows where a printed statement ends"))
    if edit is not None:
        console.print(Text.assemble(("  mended by  ", "dim"), str(edit)))
    console.print(Text.assemble(("  presumes   ", "dim"), "; ".join(claim["hypotheses"])))
    console.print(Text.assemble(("  script     ", "dim"), f"proofs/{script}"))
    console.print(Text.assemble(("  verdict    ", "dim"), (certificate.verdict, COLOURS[certificate.verdict])))
    if page is not None:
        console.print()
        show_page(console, page)
    for evidence in certificate.evidence:
        console.print()
        console.print(Text(f"by {evidence.method}: {evidence.finding}", style="bold"))
        if page is None:
            _show_steps(console, evidence)


def _show_steps(console: Console, evidence: Evidence) -> None:
    for step in _steps(evidence):
        equation = _once(step.equation)
        alike = ", on both sides" if equation != step.equation else ""
        console.print(Text.assemble(("  ✓ ", "green"), (step.name, "italic"), f"\n      {equation}{alike}"))
    for line in _program(evidence)[0].splitlines():
        console.print(Text(f"    {line}"))


def show_record(console: Console, record: Record) -> None:
    """Print a row with nothing to decide."""
    console.print(Text(f"{record.id}: {record.status}", style="bold"))
    for name, text in (
        ("source", written(record.sources)),
        ("ledger", record.ledger),
        ("says", record.says),
        ("note", record.note),
    ):
        console.print(Text.assemble((f"  {name:10s} ", "dim"), text))


def latex(certificate: Certificate, page: Page | None = None) -> str:
    """The claim, a page that tells it, and its steps as a LaTeX document that compiles as it is."""
    return wrapped(PREAMBLE, "\n".join(_latex_lines(certificate, page)))


def _latex_lines(certificate: Certificate, page: Page | None) -> Iterator[str]:
    claim = certificate.claim
    yield rf"\section*{{{latex_of_prose(claim['title'])}}}"
    yield rf"\texttt{{{latex_of_prose(claim['id'])}}}: {certificate.verdict}. {latex_of_prose(claim['source'])}."
    yield ""
    if claim["reading"]:
        yield rf"Read as: {latex_of_prose(claim['reading'])}."
    yield r"\begin{equation*}\begin{aligned}"
    yield aligned(claim["printed"])
    yield r"\end{aligned}\end{equation*}"
    for section in page.sections if page else ():
        yield from section_lines(section)
    for evidence in certificate.evidence:
        yield ""
        yield rf"\textbf{{By {evidence.method}:}} {latex_of_prose(evidence.finding)}"
        if page is None:
            yield from _latex_evidence(evidence)


def _latex_evidence(evidence: Evidence) -> Iterator[str]:
    for step in _steps(evidence):
        yield rf"\emph{{{latex_of_prose(step.name)}}}"
        yield r"\begin{align*}"
        yield aligned(_once(step.latex))
        yield r"\end{align*}"
    _, program = _program(evidence)
    if program:
        rows = program.removeprefix(r"\begin{align*}").removesuffix(r"\end{align*}").strip().split(" \\\\\n")
        yield r"\begin{align*}"
        yield " \\\\\n".join(aligned(row.replace("&=", "=")) for row in rows)
        yield r"\end{align*}"


def _steps(evidence: Evidence) -> tuple[Equation, ...]:
    """The equations of a proof."""
    return evidence.figures.steps if isinstance(evidence.figures, Proof) else ()


def _once(equation: str) -> str:
    """An equation whose sides are written alike, with one of them."""
    left, _, right = equation.partition(" = ")
    return left if left == right else equation


def _program(evidence: Evidence) -> tuple[str, str]:
    """The executed program as text and as LaTeX, empty where there is none."""
    figures = evidence.figures
    if not isinstance(figures, Proof | Written | Depths):
        return "", ""
    return figures.program or "", figures.program_latex or ""
