"""The outcome of a run as a table that a stranger understands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from uat_jax.certify.certificate import Certificate
from uat_jax.certify.verdict import Verdict
from uat_jax.claims.chapter import Chapter
from uat_jax.claims.source import written

COLOURS = {
    Verdict.PROVED: "bold green",
    Verdict.CERTIFIED: "bold green",
    Verdict.AGREES: "cyan",
    Verdict.REFUTED: "bold magenta",
    Verdict.UNKNOWN: "bold red",
}
MEANINGS = {
    Verdict.PROVED: "both sides have one normal form: equal for every σ and every shape the hypotheses allow",
    Verdict.CERTIFIED: "equal at these shapes, except with the stated probability",
    Verdict.REFUTED: "wrong as printed or read: a counterexample, confirmed in float64 and in ball arithmetic",
    Verdict.AGREES: "not proved; floats stay within a derived tolerance of the exact value",
    Verdict.UNKNOWN: "neither proved nor refuted",
}


def show_verdicts(console: Console, chapters: Sequence[tuple[str, Sequence[Certificate]]], seconds: float) -> None:
    """One row per claim, by chapter, with the legend and the sum."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("verdict", no_wrap=True)
    table.add_column("claim", no_wrap=True)
    table.add_column("what is claimed, and how the verdict is known")
    for chapter, certificates in chapters:
        if certificates:
            table.add_section()
            table.add_row("", "", Text(chapter, style="bold underline"))
        for certificate in certificates:
            table.add_row(*_row(certificate))
    console.print(table)
    console.print(_legend([c for _, found in chapters for c in found], seconds))


def _row(certificate: Certificate) -> tuple[Text, str, Text]:
    claim = certificate.claim
    verdict = Text(certificate.verdict, style=COLOURS[certificate.verdict])
    if not certificate.passes:
        verdict.append(f"\nexpected\n{certificate.expected}", style="bold red")
    return verdict, str(claim["id"]), Text.assemble((str(claim["title"]), "bold"), "\n", (_reason(certificate), "dim"))


def _reason(certificate: Certificate) -> str:
    """The shortest honest answer to "how do you know?"."""
    if certificate.verdict == Verdict.REFUTED:
        return _refutation(certificate)
    findings: dict[str, list[str]] = {}
    for evidence in certificate.evidence:
        findings.setdefault(evidence.method, []).append(evidence.finding)
    proof = findings.get("induction") or findings.get("normal form") or findings.get("floats", [])
    lines = ["; ".join(proof), *_fields(certificate), *_floats(certificate), *findings.get("predictions", [])]
    return "\n".join(lines)


def _refutation(certificate: Certificate) -> str:
    """The depth at which it goes wrong, the wrong word and the right one, and a point where it shows."""
    figures = next(e.figures for e in certificate.evidence if e.figures.get("wrong_word"))
    exact = figures.get("exact_depths")
    depth = f"right for L ≤ {exact[-1]}; at L = {figures['first_failure']} " if exact else ""
    counter = next(e for e in certificate.evidence if e.method == "counterexample")
    return f"{depth}{figures['wrong_word']} instead of {figures['right_word']}\n{counter.finding}"


def _fields(certificate: Certificate) -> list[str]:
    """The confirmation of a proof in prime fields, with the worst chance of error."""
    found = [e.figures["log2_error"] for e in certificate.evidence if e.method == "prime fields"]
    return [f"confirmed in prime fields, chance of error 2^{max(found):.0f}"] if found else []


def _floats(certificate: Certificate) -> list[str]:
    """The float evidence in one line: the worst error of either side over all dtypes, in ULP."""
    floats = [e.figures for e in certificate.evidence if e.method == "floats"]
    if not floats:
        return []
    worst = max(max(f["f"]["worst_ulp"], f["g"]["worst_ulp"]) for f in floats)
    trials = sum(f["trials"] for f in floats)
    dtypes = ", ".join(dict.fromkeys(f["dtype"] for f in floats))
    return [f"floats: both forms within {worst:.1f} ULP of the exact value in {trials} trials ({dtypes})"]


def _legend(certificates: Sequence[Certificate], seconds: float) -> Group:
    lines: list[Text] = []
    for verdict, meaning in MEANINGS.items():
        number = sum(c.verdict == verdict for c in certificates)
        if number:
            lines.append(Text.assemble((f"{verdict:8s}", COLOURS[verdict]), f" {number:3d}  {meaning}"))
    good, total = sum(c.passes for c in certificates), len(certificates)
    outcome = f"{good} of {total} claims have the verdict their ledger row expects ({seconds:.0f} s)."
    lines.append(Text(outcome, style="bold" if good == total else "bold red"))
    return Group(*lines)


def show_claims(console: Console, chapters: Iterable[Chapter]) -> None:
    """The ledger: every claim with its source and the verdict it expects."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("claim", "what is claimed", "source", "ledger", "expects"):
        table.add_column(name, no_wrap=name in ("claim", "expects"))
    for chapter in chapters:
        table.add_section()
        table.add_row("", Text(chapter.title, style="bold underline"))
        for claim in chapter.claims:
            verdict = Text(claim.expects, style=COLOURS[claim.expects])
            table.add_row(claim.id, claim.title, written(claim.sources), claim.ledger, verdict)
    console.print(table)
