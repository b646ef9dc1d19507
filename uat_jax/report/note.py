"""The note on the papers: Theorems 1 to 3 with their proofs, the errata by weight, and what was decided where.

It is one page, written as LaTeX, as HTML and, where there is a TeX engine, as PDF.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from uat_jax.decide.certificate import Certificate
from uat_jax.decide.verdict import Verdict
from uat_jax.ledger.chapter import Chapter
from uat_jax.ledger.claim import Claim
from uat_jax.ledger.corrected import corrected, same_formula
from uat_jax.ledger.layers.theorems import theorem_1, theorem_2, theorem_3
from uat_jax.ledger.page import Display, Formula, Page, Paragraph, Part, Section, Table
from uat_jax.ledger.quotes import is_printed
from uat_jax.ledger.source import PAPERS, written
from uat_jax.ledger.weight import Weight, rank, weight_of
from uat_jax.report.table import reason

FOLDER = "certificates"
"""The folder of the certificates beside the note."""

THEOREMS = ("residual.closed-form", "transformer.closed-form", "updates.in-place", "attention.matrix")
"""The rows that decide Theorems 1, 1, 2 and 3."""

TITLE = "Errata to five papers of Wang and Li on universal approximation and Transformers"
ABSTRACT = (
    "Every mathematical statement of the papers was decided by machine: proved, or refuted by a smallest example. This "
    "note states and proves the three theorems that the papers aim at, lists what is printed and false, the weightiest "
    "first, and says of every section what was found in it. A statement that can be read in several ways is false as "
    "printed where one of its readings is; the reading that is true, if there is one, is the correction."
)


_WITHOUT_FORMULAS = ("v2, text", "the second version as text without its formulas; its places are those of v2")
"""The fifth of the papers' files."""


def note(chapters: Sequence[Chapter], found: Mapping[str, Certificate], script_of: Mapping[str, str]) -> Page:
    """The note from the ledger and the certificates of what is refuted, of its corrections and of the theorems."""
    claims = [claim for chapter in chapters for claim in chapter.claims]
    by_id = {claim.id: claim for claim in claims}
    refuted = [c for c in claims if c.id in found and found[c.id].verdict is Verdict.REFUTED]
    return Page(
        TITLE,
        ABSTRACT,
        (
            Section("The papers", (Table(("short", "paper"), (*PAPERS.items(), _WITHOUT_FORMULAS)),)),
            Section("Three theorems", ()),
            *(_with_certificates(section, found) for section in (theorem_1(), theorem_2(), theorem_3())),
            *_errata(refuted, by_id, found, script_of),
            Section("Beyond the papers", (Paragraph(_ABOUT_OURS),)),
            *_beyond(chapters, script_of),
            Section("The papers, section by section", tuple(_by_section(chapters))),
        ),
    )


def _with_certificates(section: Section, found: Mapping[str, Certificate]) -> Section:
    """A theorem, and how its rows were decided."""
    rows = {"Theorem 1": THEOREMS[:2], "Theorem 2": THEOREMS[2:3], "Theorem 3": THEOREMS[3:]}[section.title[:9]]
    decided = tuple(
        Paragraph(f"{found[name].verdict}; {_one_line(reason(found[name]))};", "Certificate.", _links([name]))
        for name in rows
        if name in found
    )
    return Section(section.title, (*section.parts, *decided), level=2)


# --- the errata -------------------------------------------------------------------------------------------------------


def _errata(
    refuted: Iterable[Claim],
    by_id: Mapping[str, Claim],
    found: Mapping[str, Certificate],
    script_of: Mapping[str, str],
) -> Iterator[Section]:
    """A chapter for each weight; readings of one formula are one erratum."""
    number = 0
    for weight in Weight:
        groups = _groups(sorted((c for c in refuted if weight_of(c) is weight), key=rank))
        if groups:
            yield Section(f"Errata: {weight}", (Paragraph(_ABOUT[weight]),))
        for group in groups:
            number += 1
            first = group[0]
            title = first.title if len(group) == 1 else f"{_common(group)} ({len(group)} readings)"
            yield Section(f"{number}. {_capital(title)}", tuple(_entry(group, by_id, found, script_of)), level=2)


_ABOUT = {
    Weight.THEOREM: "What is concluded is not so, or an algorithm computes another network.",
    Weight.PARAMETER: "The formula has a wrong factor, or is an identity only under other brackets or transposes.",
    Weight.SHAPE: "What is added, multiplied or set equal has different shapes.",
    Weight.MISPRINT: "An index, a hat, a prime or a name is wrong; what is meant is clear from the text around.",
    Weight.CITATION: "What is referred to is elsewhere or does not exist.",
}


def _capital(title: str) -> str:
    """The title with a capital, if it begins with a word."""
    return title[0].upper() + title[1:] if title[1:2].islower() or title.startswith("a ") else title


def _groups(claims: Sequence[Claim]) -> list[list[Claim]]:
    """Claims about one printed formula together, in the order of the first of them."""
    groups: list[list[Claim]] = []
    for claim in claims:
        home = next((g for g in groups if same_formula(g[0].printed, claim.printed)), None)
        if home is None:
            groups.append([claim])
        else:
            home.append(claim)
    return groups


def _common(group: Sequence[Claim]) -> str:
    """What the titles of several readings have in common, or the first of them."""
    words = [claim.title.replace(",", " ,").replace(":", " :").split() for claim in group]
    shared = 0
    while all(len(w) > shared and w[shared] == words[0][shared] for w in words):
        shared += 1
    while shared and not all(w[shared : shared + 1] in ([], [","], [":"]) for w in words):
        shared -= 1  # not within a phrase
    title = " ".join(words[0][:shared]).replace(" ,", ",").replace(" :", ":")
    return title if shared > 1 else group[0].title


def _entry(
    group: Sequence[Claim],
    by_id: Mapping[str, Claim],
    found: Mapping[str, Certificate],
    script_of: Mapping[str, str],
) -> Iterator[Part]:
    first = group[0]
    sources = tuple(dict.fromkeys(source for claim in group for source in claim.sources))
    yield Paragraph(written(sources), "Where:")
    told = "Printed" if any(map(is_printed, group)) else "In our words"
    yield Display(Formula(first.printed, first.printed), told)
    if len(group) == 1:
        yield from _reading(first)
        yield Paragraph(_one_line(reason(found[first.id])), "Smallest example:")
    else:
        rows = tuple((_named(claim), _one_line(reason(found[claim.id]))) for claim in group)
        yield Table(("read as", "smallest example"), rows)
    for name in dict.fromkeys(claim.correction for claim in group if claim.correction):
        yield from _correction(group, by_id[name], found)
    scripts = ", ".join(script_of[claim.id].removeprefix("counterexamples/") for claim in group)
    yield Paragraph(f"proofs/counterexamples/: {scripts};", "Scripts and certificates:", _links([c.id for c in group]))


def _reading(claim: Claim) -> Iterator[Part]:
    if claim.ours:
        yield Paragraph("no author states it; it shows where a statement of the papers ends.", "The reading is ours:")
    if claim.reading:
        yield Paragraph(claim.reading, "Read as:")


def _named(claim: Claim) -> str:
    return f"{claim.reading or claim.title}{' (the reading is ours)' if claim.ours else ''}"


def _correction(group: Sequence[Claim], correction: Claim, found: Mapping[str, Certificate]) -> Iterator[Part]:
    """The corrected formula, where it is another one, and why it is right."""
    right = corrected(correction)
    if not any(same_formula(right, claim.printed) for claim in group):
        yield Display(Formula(right, right), f"Corrected: {correction.title}")
    else:
        yield Paragraph(correction.title, "Corrected:")
    read = _CORRECTED.sub("", correction.reading)
    if read and right == correction.printed:
        yield Paragraph(read, "In which:")
    certificate = found[correction.id]
    yield Paragraph(f"{certificate.verdict}; {_one_line(reason(certificate))};", "Because:", _links([correction.id]))


_CORRECTED = re.compile(r"^corrected[:;,]? ?|, corrected$")
"""That it is corrected is said by the label before it."""


def _links(names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, f"{FOLDER}/{name}.json") for name in names)


def _one_line(text: str) -> str:
    """The finding in one line, of its numbers six places; the certificate has all of them."""
    text = _BALL.sub(r"\1…", "; ".join(text.splitlines()))
    return _LONG.sub(r"\1…", text).replace(" - ", " − ")


_BALL = re.compile(r"\[(-?\d+\.\d{6})\d+ \+/- [\d.e-]+\]")
_LONG = re.compile(r"(?<![\w.])(\d+\.\d{6})\d{6,}(?![\de])")


# --- what is ours, and where what was found ---------------------------------------------------------------------------


_ABOUT_OURS = "Statements that no paper prints, proved in the same way, each with its hypotheses."


def _beyond(chapters: Sequence[Chapter], script_of: Mapping[str, str]) -> Iterator[Section]:
    """What no paper prints and is so, chapter by chapter."""
    for chapter in chapters:
        own = [claim for claim in chapter.claims if claim.ours and claim.expects is not Verdict.REFUTED]
        if own:
            title = chapter.title.removeprefix("Beyond the papers: ")
            yield Section(_capital(title), tuple(_ours(own, script_of)), level=2)


def _ours(claims: Sequence[Claim], script_of: Mapping[str, str]) -> Iterator[Part]:
    for claim in claims:
        yield Display(Formula(claim.printed, claim.printed), f"{claim.title} ({claim.expects})")
        if claim.reading:
            yield Paragraph(claim.reading)
        presumed = "".join(f"{hypothesis}; " for hypothesis in claim.hypotheses)
        yield Paragraph(f"{presumed}{claim.id}, script proofs/{script_of[claim.id]}.", "Hypotheses and script:")


def _by_section(chapters: Sequence[Chapter]) -> Iterator[Part]:
    """For each paper a table: its sections, and how many statements in each have which verdict."""
    yield Paragraph(
        "How many statements of each section have which verdict, all readings counted; what stands in several places "
        "counts in each. Listed: definitions, cited theorems, and sentences without checkable content."
    )
    verdicts = [*Verdict]
    counts: Counter[tuple[str, str, str]] = Counter()
    for chapter in chapters:
        for claim in chapter.claims:
            for place in {(s.paper, s.section) for s in claim.sources}:
                counts[(*place, claim.expects)] += 1
        for record in chapter.records:
            for place in {(s.paper, s.section) for s in record.sources}:
                counts[(*place, "listed")] += 1
    columns = [*(str(v) for v in verdicts if any(key[2] == v for key in counts)), "listed"]
    for paper, title in PAPERS.items():
        sections = sorted({key[1] for key in counts if key[0] == paper}, key=_in_order)
        rows = tuple((section, *(str(counts[paper, section, c] or "") for c in columns)) for section in sections)
        yield Paragraph(f"{title}", f"{paper}.")
        yield Table(("section", *columns), rows)


def _in_order(section: str) -> tuple:
    """1, 2, 2.1, …, A, B.2, figures."""
    parts = section.split(".")
    return (len(parts[0]) > 2, not parts[0].isdigit(), *(int(p) if p.isdigit() else ord(p[:1] or " ") for p in parts))
