"""One claim as a readable page, or as LaTeX: the printed statement, its reading, and the steps that decide it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from uat_jax.decide.certificate import Certificate
from uat_jax.decide.figures import Depths, Equation, Proof, Written
from uat_jax.decide.verdict import Evidence
from uat_jax.ledger.record import Record
from uat_jax.ledger.source import written
from uat_jax.report.table import COLOURS


def show_statement(console: Console, certificate: Certificate, script: str) -> None:
    """Print the claim, its verdict, the script that argues it, and every step or executed line with what was found."""
    claim = certificate.claim
    console.print(Text(f"{claim['id']}: {claim['title']}", style="bold"))
    for name in ("kind", "source", "ledger", "printed", "reading", "correction"):
        if claim[name]:
            console.print(Text.assemble((f"  {name:10s} ", "dim"), str(claim[name])))
    if claim.get("ours"):
        console.print(Text.assemble(("  printed by ", "dim"), "no paper: it shows where a printed statement ends"))
    console.print(Text.assemble(("  presumes   ", "dim"), "; ".join(claim["hypotheses"])))
    console.print(Text.assemble(("  script     ", "dim"), f"proofs/{script}"))
    console.print(Text.assemble(("  verdict    ", "dim"), (certificate.verdict, COLOURS[certificate.verdict])))
    for evidence in certificate.evidence:
        console.print()
        console.print(Text(f"by {evidence.method}: {evidence.finding}", style="bold"))
        for step in _steps(evidence):
            console.print(Text.assemble(("  ✓ ", "green"), (step.name, "italic"), f"\n      {step.equation}"))
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


def latex(certificate: Certificate) -> str:
    """The claim and its steps as LaTeX that compiles inside a document with amsmath."""
    return "\n".join(_latex_lines(certificate)) + "\n"


def _latex_lines(certificate: Certificate) -> Iterator[str]:
    claim = certificate.claim
    yield f"% {claim['id']}: {claim['title']} ({claim['source']}); verdict: {certificate.verdict}"
    yield rf"\begin{{equation*}}{claim['printed']}\end{{equation*}}"
    for evidence in certificate.evidence:
        yield f"% by {evidence.method}: {evidence.finding}"
        steps = _steps(evidence)
        if steps:
            rows = (rf"&{step.latex} && \text{{{_escaped(step.name)}}}" for step in steps)
            yield "\\begin{align*}\n" + " \\\\\n".join(rows) + "\n\\end{align*}"
        _, program = _program(evidence)
        if program:
            yield program


def _steps(evidence: Evidence) -> tuple[Equation, ...]:
    """The equations of a proof."""
    return evidence.figures.steps if isinstance(evidence.figures, Proof) else ()


def _program(evidence: Evidence) -> tuple[str, str]:
    """The executed program as text and as LaTeX, empty where there is none."""
    figures = evidence.figures
    if not isinstance(figures, Proof | Written | Depths):
        return "", ""
    return figures.program or "", figures.program_latex or ""


_SIGNS = {
    "_": r"\_", "^": r"\^{}", "\u0302": "", "Ŵ": r"$\hat W$", "≤": r"$\leq$", "≥": r"$\geq$", "⋄": r"$\diamond$",
    "⊗": r"$\otimes$", "→": r"$\to$", "−": "$-$", "ᵀ": "$^T$", "′": "$'$", "″": "$''$", "≠": r"$\neq$",
    "…": r"\ldots{}",
    "·": r"$\cdot$", "√": r"$\sqrt{}$", "∈": r"$\in$", "‖": r"$\|$", "–": "--", "“": "``", "”": "''", "×": r"$\times$",
}  # fmt: skip
"""Signs in the names of steps, for text in LaTeX."""


def _escaped(text: str) -> str:
    return "".join(_SIGNS.get(c) or _greek(c) for c in text if c != "\u0302")


def _greek(character: str) -> str:
    """A Greek letter as a formula; everything else as it is."""
    match unicodedata.name(character, "").split():
        case ["GREEK", size, "LETTER", name]:
            name = name.replace("LAMDA", "LAMBDA")
            return f"$\\{name.lower() if size == 'SMALL' else name.capitalize()}$"
    return character
