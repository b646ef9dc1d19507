"""The errata of the papers: what is printed and wrong, the smallest example, and what is right instead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count

from uat_jax.decide.certificate import Certificate
from uat_jax.decide.verdict import Verdict
from uat_jax.ledger.chapter import Chapter
from uat_jax.ledger.claim import Claim
from uat_jax.ledger.corrected import corrected, same_formula
from uat_jax.ledger.layers.exposition import KINDS, claimed, recurrence_table
from uat_jax.ledger.source import PAPERS, written
from uat_jax.ledger.weight import Weight, rank, weight_of
from uat_jax.report.table import reason

FOLDER = "certificates"
"""Where the certificates lie, beside the file."""

PREAMBLE = """\
Every line below was found by deciding a statement as printed and, where it is false, finding the smallest example that
shows it and proving the corrected statement.  It is written by `uat-jax report DIR` from the ledger and its
certificates; `uat-jax recheck {folder}/*.json` decides them again, and each script shows its example by itself.

A statement that can be read in several ways has one entry for each reading that is wrong; the reading that is right, if
there is one, is the correction.  Slips of naming that change no value are entries too.
"""


def errata(chapters: Sequence[Chapter], found: Mapping[str, Certificate], script_of: Mapping[str, str]) -> str:
    """The refuted claims of the papers among ``found`` (id → certificate), the weightiest first, as Markdown."""
    claims = {claim.id: claim for chapter in chapters for claim in chapter.claims}
    wrong = [c for c in claims.values() if c.id in found and found[c.id].verdict is Verdict.REFUTED and not c.ours]
    number = count(1)
    lines = ["# Errata", "", PREAMBLE.format(folder=FOLDER), *_papers(), *_theorem()]
    for weight in Weight:
        refuted = sorted((claim for claim in wrong if weight_of(claim) is weight), key=rank)
        lines += [f"## {weight}", ""] if refuted else []
        for claim in refuted:
            lines += [f"### {next(number)}. “{claim.title}”", "", *_entry(claim, claims, found, script_of), ""]
    return "\n".join(lines)


def _theorem() -> Iterator[str]:
    """Theorem 1, to which the entries refer."""
    (residual, _), (transformer, closed) = map(claimed, KINDS)
    yield "## Theorem 1"
    yield ""
    yield f"For layers ${residual.latex}$ (residual network) or ${transformer.latex}$ (Transformer), for every L and σ,"
    yield f"${closed.latex}$, with Ŵ_{{0,1}} = I, b̂_{{0,3}} = 0 and, from i layers to i+1:"
    table = recurrence_table()
    yield ""
    yield f"| {' | '.join(table.head)} |"
    yield "|---|---|---|"
    yield from (f"| {what} | ${left.latex}$ | ${right.latex}$ |" for what, left, right in table.rows)  # type: ignore[union-attr]
    yield ""


def _papers() -> Iterator[str]:
    for name, title in PAPERS.items():
        yield f"* **{name}**: {title}"
    yield ""


def _entry(
    claim: Claim, claims: Mapping[str, Claim], found: Mapping[str, Certificate], script_of: Mapping[str, str]
) -> Iterator[str]:
    yield f"* **Where**: {written(claim.sources)} (`{claim.id}`, row {claim.ledger})"
    yield f"* **Printed**: ${claim.printed}$"
    if claim.reading:
        yield f"* **Read as**: {claim.reading}"
    yield f"* **Wrong**: {_one_line(reason(found[claim.id]))}"
    if claim.correction:
        correction = found[claim.correction]
        right = corrected(claims[claim.correction])
        formula = "" if same_formula(right, claim.printed) else f": ${right}$"
        yield f"* **Correct**: {correction.claim['title']}{formula}"
        if correction.claim["reading"]:
            yield f"  — {correction.claim['reading']}"
        yield f"* **Because**: {correction.verdict}; {_one_line(reason(correction))}"
    yield f"* **See**: {', '.join(_links(claim, script_of))}"


def _links(claim: Claim, script_of: Mapping[str, str]) -> Iterator[str]:
    for name in filter(None, (claim.id, claim.correction)):
        yield f"[certificate of `{name}`]({FOLDER}/{name}.json)"
        yield f"[`{script_of[name]}`](../proofs/{script_of[name]})"


def _one_line(text: str) -> str:
    return "; ".join(text.splitlines())
