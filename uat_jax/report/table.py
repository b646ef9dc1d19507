"""The outcome of a run as a table that a stranger understands."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from uat_jax.decide.certificate import Certificate
from uat_jax.decide.figures import Depths, Fields, FloatFigures, WrongWord
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.chapter import Chapter
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.record import Record
from uat_jax.ledger.source import written

COLOURS = {
    Verdict.PROVED: "bold green",
    Verdict.CERTIFIED: "bold green",
    Verdict.AGREES: "cyan",
    Verdict.REFUTED: "bold magenta",
    Verdict.UNKNOWN: "bold red",
}
Row = tuple[str | Text, ...]
"""The cells of a row."""

MEANINGS = {
    Verdict.PROVED: "for every σ and shape the hypotheses allow: one normal form of both sides, or an exact argument",
    Verdict.CERTIFIED: "equal at these shapes, except with the stated probability",
    Verdict.REFUTED: "wrong as printed or read: a counterexample, confirmed in ball arithmetic or exact numbers",
    Verdict.AGREES: "not proved; floats stay within a derived tolerance of the exact value",
    Verdict.UNKNOWN: "neither proved nor refuted",
}


def show_line(console: Console, word: str, text: str, width: int) -> None:
    """A text behind the word that says what it is, in a column of some width; folded where a terminal shows it."""
    line, margin = f"  {word:<{width}} {text}", " " * (width + 3)
    if console.is_terminal:
        columns = max(console.width, 2 * len(margin))
        line = textwrap.fill(line, columns, subsequent_indent=margin, break_on_hyphens=False)
    console.print(line, markup=False, highlight=False, soft_wrap=True)


def show_verdicts(console: Console, chapters: Sequence[tuple[str, Sequence[Certificate]]], seconds: float) -> None:
    """One row per claim, by chapter, with the legend and the sum."""
    columns = {"verdict": True, "claim": True, "what is claimed, and how the verdict is known": False}
    rows = [(chapter, list(map(_row, certificates))) for chapter, certificates in chapters if certificates]
    show_rows(console, columns, rows)
    console.print(_legend([c for _, found in chapters for c in found], seconds))


def _row(certificate: Certificate) -> tuple[Text, str, Text]:
    claim = certificate.claim
    verdict = Text(certificate.verdict, style=COLOURS[certificate.verdict])
    if not certificate.passes:
        verdict.append(f"\nexpected\n{certificate.expected}", style="bold red")
    return verdict, str(claim["id"]), Text.assemble((str(claim["title"]), "bold"), "\n", (reason(certificate), "dim"))


def reason(certificate: Certificate) -> str:
    """The shortest honest answer to "how do you know?"."""
    if certificate.verdict == Verdict.REFUTED:
        return _refutation(certificate)
    lines = ["; ".join(_proofs(certificate)), *_fields(certificate), *_floats(certificate), *_predictions(certificate)]
    return "\n".join(filter(None, lines))


def _proofs(certificate: Certificate) -> list[str]:
    """What gives the certificate its verdict: inductions if there are any, else all findings of that strength."""
    found = [e for e in certificate.evidence if e.verdict is certificate.verdict]
    inductions = [e for e in found if e.method is Method.INDUCTION]
    others = [e for e in found if e.method is not Method.PRIME_FIELDS]
    chosen = inductions or others or found
    return _inequalities_together([e.finding if inductions else _with_subject(e) for e in chosen])


_DEDUCED = re.compile(r"(.*): follows, by exact multipliers in \d+ cases?")


def _inequalities_together(findings: Sequence[str]) -> list[str]:
    """Each finding once; how inequalities were deduced is said once for all of them, last, if there are several."""
    names = {finding: found[1] for finding in findings if (found := _DEDUCED.fullmatch(finding))}
    others = [finding for finding in dict.fromkeys(findings) if finding not in names]
    if len(names) < 3:
        return list(dict.fromkeys(findings))
    return [*others, f"{len(names)} inequalities, each deduced by exact multipliers: {'; '.join(names.values())}"]


def _with_subject(evidence: Evidence) -> str:
    """What was found, and of what, unless that is said already."""
    told = evidence.finding.removeprefix("§").startswith(evidence.subject)
    return evidence.finding if told else f"{evidence.subject}: {evidence.finding}"


def _predictions(certificate: Certificate) -> list[str]:
    return [e.finding for e in certificate.evidence if e.method is Method.PREDICTIONS]


def _refutation(certificate: Certificate) -> str:
    """The depth at which it goes wrong, the wrong word and the right one, and a point where it shows."""
    every = [e.figures for e in certificate.evidence]
    words = next((f for f in every if isinstance(f, WrongWord | Depths) and f.wrong_word), None)
    lines = []
    if words is not None:
        lines.append(f"{_exact(words)}{words.wrong_word} instead of {words.right_word}")
    found = [e for e in certificate.evidence if e.verdict is Verdict.REFUTED]
    return "\n".join([*lines, found[0].finding])


def _exact(words: WrongWord | Depths) -> str:
    """The depths at which a form is right, and the first at which it is not, or '' if it is right at none."""
    if not isinstance(words, Depths) or not words.exact_depths:
        return ""
    return f"right for L ≤ {words.exact_depths[-1]}; at L = {words.first_failure} "


def _fields(certificate: Certificate) -> list[str]:
    """The confirmation of a proof in prime fields, with the worst chance of error."""
    fields = [e for e in certificate.evidence if e.method is Method.PRIME_FIELDS and e.verdict is Verdict.CERTIFIED]
    found = [e.figures.log2_error for e in fields if isinstance(e.figures, Fields)]
    return [f"confirmed in prime fields (chance of error 2^{max(found):.0f}), float64 and balls"] if found else []


def _floats(certificate: Certificate) -> list[str]:
    """The float evidence in one line: the worst error of either side over all dtypes, in ULP."""
    floats = [e.figures for e in certificate.evidence if isinstance(e.figures, FloatFigures)]
    if not floats:
        return []
    worst = max(max(f.f.worst_ulp, f.g.worst_ulp) for f in floats)
    trials = sum(f.trials for f in floats)
    dtypes = ", ".join(dict.fromkeys(f.dtype for f in floats))
    return [f"floats: both forms within {worst:.1f} ULP of the exact value in {trials} trials ({dtypes})"]


def _legend(certificates: Sequence[Certificate], seconds: float) -> Group:
    lines: list[Text] = []
    decided = [c for c in certificates if c.claim.get("kind") != Kind.BOOKKEEPING]
    for verdict, meaning in MEANINGS.items():
        number = sum(c.verdict == verdict for c in decided)
        if number:
            lines.append(Text.assemble((f"{verdict:8s}", COLOURS[verdict]), f" {number:3d}  {meaning}"))
    if len(decided) < len(certificates):
        lines.append(Text(f"and      {len(certificates) - len(decided):3d}  about labels, names, references and years"))
    good, total = sum(c.passes for c in certificates), len(certificates)
    outcome = f"{good} of {total} claims have the verdict their ledger row expects ({seconds:.0f} s)."
    lines.append(Text(outcome, style="bold" if good == total else "bold red"))
    return Group(*lines)


def show_claims(console: Console, chapters: Iterable[Chapter], chosen: Collection[Claim]) -> None:
    """The chosen claims by chapter, each with its sources, the kind of its statement and the verdict it expects."""
    columns = {
        n: n in ("claim", "expects") for n in ("claim", "what is claimed", "source", "ledger", "kind", "expects")
    }
    of = [(chapter.title, [claim for claim in chapter.claims if claim in chosen]) for chapter in chapters]
    show_rows(console, columns, [(title, list(map(_claim, rows))) for title, rows in of if rows])
    console.print(f"{len(chosen)} claims")


def _claim(claim: Claim) -> Row:
    expects = Text(claim.expects, style=COLOURS[claim.expects])
    return claim.id, claim.title, written(claim.sources), claim.ledger, claim.kind, expects


def show_records(console: Console, records: Iterable[Record]) -> None:
    """The rows with nothing to decide, and why."""
    columns = {name: name in ("row", "status") for name in ("row", "what is said", "source", "ledger", "status")}
    rows = [(r.id, r.says, written(r.sources), r.ledger, r.status) for r in records]
    show_rows(console, columns, [("Listed, with nothing to decide", rows)])


NARROW = 100
"""With fewer columns than that a row is a block of lines."""


def show_rows(console: Console, columns: Mapping[str, bool], sections: Sequence[tuple[str, Sequence[Row]]]) -> None:
    """Rows below headings, as a table where there is room for one.

    columns: the name of each column, and whether its cells are words that are not broken.  Where there is no room a row
    is these words in one line, and its other cells below.
    """
    if console.width < NARROW:
        for heading, rows in sections:
            console.print(Text(heading, style="bold underline"), end="\n\n")
            for row in rows:
                for line in (*_block(row, list(columns.values())), ""):
                    console.print(line)
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, whole in columns.items():
        table.add_column(name, no_wrap=whole)
    under = list(columns.values()).index(False)
    for heading, rows in sections:
        table.add_section()
        table.add_row(*[""] * under, Text(heading, style="bold underline"))
        for row in rows:
            table.add_row(*row)
    console.print(table)


def _block(row: Row, whole: Sequence[bool]) -> Iterator[RenderableType]:
    """The words of a row in one line, and its other cells below."""
    cells = [(cell if isinstance(cell, Text) else Text(cell), one) for cell, one in zip(row, whole, strict=True)]
    yield Text("  ").join(cell for cell, one in cells if one)
    yield from (Padding(cell, (0, 0, 0, 2)) for cell, one in cells if not one and cell)
