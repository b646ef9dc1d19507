"""A certificate as a web page: the verdict and what it means, what it rests on, floats, and both programs side by side.

A part of it that takes no time, without programs and plot, is what a notebook shows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import groupby

import numpy as np

from uat_jax.decide.alignment import Alignment, Alike, Computed, Row, aligned
from uat_jax.decide.certificate import Certificate
from uat_jax.decide.counterexample import Counterexample, Input
from uat_jax.decide.description import difference, partings
from uat_jax.decide.hazards import KINDS
from uat_jax.decide.rounding_by_scale import rounding_by_scale
from uat_jax.decide.verdict import Evidence, Verdict
from uat_jax.report import rounding_plot
from uat_jax.report.web_page import STYLE, badge, document, toggle

MOST_WRITTEN, MOST_ODD = 64, 12
"""An input of more numbers is written as the one that most of them are, and so many others with their places."""

CONTEXT = 2
"""Of a long run of operations that part nowhere so many are shown at its ends; the others can be opened."""

FOLDED: Mapping[str, tuple[int, str]] = {
    "equal": (7, "operations that are equal"),
    "alone": (40, "operations that the other program has not in this place"),
}
"""Kinds of runs: how long one is shown whole, and what those that are folded away are called."""

MEANINGS: Mapping[Verdict, str] = {
    Verdict.PROVED: "Both functions return the same values at every input at which both are defined. The two programs "
    "are the same program, or have one normal form by rules that are proved; there is no chance of error.",
    Verdict.CERTIFIED: "Both functions return the same values at every input at which both are defined, ties and jumps "
    "included, unless a random test was wrong, whose chance is stated below, and given the assumptions below.",
    Verdict.REFUTED: "The functions are different: there is an input at which both are defined and their exact values "
    "differ. It stands below, with a program that shows it. This is no effect of rounding.",
    Verdict.AGREES: "There is evidence that both functions are the same, and no proof: exact values agree at the "
    "inputs and sizes that were tried. A test does not pass on this.",
    Verdict.UNKNOWN: "It is not known whether both functions are the same. What stood in the way is said below. A test "
    "does not pass on this.",
}
"""What a verdict on two functions means."""

NOT_MEANT: Mapping[Verdict, str] = {
    Verdict.PROVED: "It does not say that both are equal in floats, which round, or are defined at the same inputs: "
    "see below what floats do. Nor does it speak of inputs outside the hypotheses that are listed.",
    Verdict.CERTIFIED: "It does not say that both are equal in floats, which round, or are defined at the same inputs: "
    "see below what floats do. Nor does it speak of sizes, dtypes and inputs that are not listed.",
    Verdict.REFUTED: "It does not say that they differ everywhere: a difference at a single input refutes.",
}
"""What a reader could take a verdict for that it is not."""

OF_CLAIMS: Mapping[Verdict, str] = {
    Verdict.PROVED: "The statement holds wherever its hypotheses do.",
    Verdict.CERTIFIED: "The statement holds at the given shapes, unless a random test was wrong, whose chance is "
    "stated.",
    Verdict.REFUTED: "The statement is false as it is printed or read: there is a counterexample, or a proof of the "
    "opposite.",
    Verdict.AGREES: "There is evidence for the statement, and no proof.",
    Verdict.UNKNOWN: "It is not known whether the statement holds.",
}
"""What a verdict on a statement of the ledger means."""

SIGNS: Mapping[Alike, tuple[str, str]] = {
    Alike.EQUAL: ("=", "equal"),
    Alike.REARRANGED: ("≅", "same entries, in other places"),
    Alike.ELSEWHERE: ("", ""),
    Alike.OWN: ("≠", "different"),
    Alike.PARTED: ("≠", "different"),
    Alike.UNKNOWN: ("?", "not compared"),
}
"""What stands between two operations, and how it is read aloud."""

PROGRAMS = """
.uat .programs { table-layout: fixed; } .uat .programs td { padding: .15rem .5rem; }
.uat .programs col.sign { width: 2.2rem; }
.uat .programs td.sign { text-align: center; font-weight: 650; }
.uat .operation { font: .84em/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
.uat .operation .number { color: var(--soft); display: inline-block; min-width: 2.4em; }
.uat .operation .about { color: var(--soft); display: block; padding-left: 2.4em; }
.uat td.own { background: var(--own); } .uat td.parted { background: var(--parted); }
.uat .here { background: var(--bad); border-radius: 4px; color: #fff; font-weight: 650; padding: 0 .4em; }
@media (prefers-color-scheme: dark) { body.uat .here { color: #12161b; } }
.uat details.folded { border-bottom: 1px solid var(--line); padding: .2rem 0; }
.uat .side { display: none; }
.uat .key { display: inline-block; height: .7em; vertical-align: baseline; width: 2.4em; }
.uat figure { margin: .6rem 0; }
.uat dt { float: left; clear: left; margin-right: .8em; min-width: 5em; } .uat dd { overflow: hidden; }
@media (max-width: 700px) {
  .uat .programs, .uat .programs tbody, .uat .programs tr, .uat .programs td { display: block; width: auto; }
  .uat .programs thead, .uat .programs colgroup { display: none; }
  .uat .programs tr { border-bottom: 1px solid var(--line); padding: .2rem 0; }
  .uat .programs td { border: 0; } .uat .programs td:empty { display: none; }
  .uat .programs td.sign { float: right; }
  .uat .side { color: var(--soft); display: inline; font-weight: 600; }
}
"""

SCRIPT = """
for (const button of document.querySelectorAll("[data-open]")) button.addEventListener("click", () => {
  const open = button.getAttribute("aria-pressed") !== "true";
  button.setAttribute("aria-pressed", open);
  for (const part of document.querySelectorAll("details.folded")) part.open = open;
});
for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    button.textContent = "Copied";
  });
}
"""


def certificate_page(certificate: Certificate, links: Sequence[tuple[str, str]] = ()) -> str:
    """The HTML text of a page about one certificate, which needs nothing else.

    The programs that the certificate holds are put side by side, and run at inputs of several scales, which may take
    some seconds; nothing of that changes the verdict.

    Args:
        certificate: also one from a file that is not trusted.
        links: (text, address) of files beside the page.

    Example:
        Path("certificate.html").write_text(certificate_page(certificate), encoding="utf-8")
    """
    sections = [*_sections(certificate), *_floats(certificate), *_programs(certificate), *_decided(certificate)]
    contents = "".join(f'<a href="#{name}">{escape(title)}</a>' for name, title, _ in sections)
    beside = "".join(f'<a href="{escape(address)}">{escape(text)}</a>' for text, address in links)
    body = "".join(
        f'<section aria-labelledby="{name}"><h2 id="{name}">{escape(title)}</h2>{html}</section>\n'
        for name, title, html in sections
    )
    head = f'<header>{_heading(certificate, 1)}<nav aria-label="contents">{contents}{beside}</nav></header>'
    title = f"{certificate.verdict}: {_subject(certificate)}"
    return document(title, f'{head}\n<main id="main">\n{body}</main>', PROGRAMS + rounding_plot.STYLE, SCRIPT)


def certificate_summary(certificate: Certificate) -> str:
    """A part of a page, for a notebook: what is known without running or drawing anything."""
    parts = "".join(f"<h3>{escape(title)}</h3>{html}" for _, title, html in _sections(certificate))
    more = "<p class='soft'>certificate.html() is a page with both programs side by side, and what floats do.</p>"
    return f'<div class="uat"><style>{STYLE}</style>{_heading(certificate, 2)}{parts}{more}</div>'


Section = tuple[str, str, str]
"""A name for links, a title, and HTML."""


def _subject(certificate: Certificate) -> str:
    claim = certificate.claim
    if "left" in claim and "right" in claim:
        return f"{claim['left']} and {claim['right']}"
    return str(claim.get("title") or claim.get("id", "a claim"))


def _heading(certificate: Certificate, level: int) -> str:
    where = ", almost everywhere" if certificate.claim.get("almost_everywhere") else ""
    return f"<h{level}>{badge(certificate.verdict)} {escape(_subject(certificate) + where)}</h{level}>"


def _sections(certificate: Certificate) -> Iterator[Section]:
    """What is known of itself: the meaning, how it is known, what it rests on, and the counterexample."""
    yield "meaning", "What this means", _meaning(certificate)
    if certificate.counterexample:
        yield "counterexample", "Counterexample", _counterexample(certificate, certificate.counterexample)
    yield "evidence", "How it is known", "".join(map(_finding, certificate.evidence)) or "<p>There is no evidence.</p>"
    listed = _list(assumption.text for assumption in certificate.assumptions)
    yield "assumptions", "What it rests on", listed or "<p>Nothing is assumed.</p>"


def _meaning(certificate: Certificate) -> str:
    claim, verdict = certificate.claim, certificate.verdict
    of_functions = "left" in claim and "right" in claim
    lines = [(MEANINGS if of_functions else OF_CLAIMS)[verdict]]
    if of_functions and verdict in NOT_MEANT:
        lines.append(NOT_MEANT[verdict])
    told = {"Inputs": claim.get("inputs"), "Printed": claim.get("printed")}
    told |= {"Read as": claim.get("reading"), "Hypotheses": claim.get("hypotheses"), "Source": claim.get("source")}
    if claim.get("derivatives"):
        told["Compared"] = "values and derivatives"
    terms = "".join(
        f"<dt>{name}</dt><dd><code>{escape(_text(value))}</code></dd>" for name, value in told.items() if _text(value)
    )
    return "".join(f"<p>{escape(line)}</p>" for line in lines) + (f"<dl>{terms}</dl>" if terms else "")


def _text(value: object) -> str:
    """A setting, or something of a claim, as a text."""
    if value is None:
        return ""
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _finding(evidence: Evidence) -> str:
    """One finding in a line."""
    subject = f" ({escape(evidence.subject)})" if evidence.subject else ""
    return f"<p><strong>{escape(str(evidence.method))}</strong>{subject}: {escape(evidence.finding)}.</p>"


def _list(texts: Iterator[str]) -> str:
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""


def _counterexample(certificate: Certificate, found: Counterexample) -> str:
    """The input, both values, how far they are apart, where the programs part, and a program that shows it."""
    values = zip(found.names, (found.left, found.right), found.exact, strict=True)
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td><code>{escape(str(value))}</code></td>'
        f"<td><code>{escape(exact)}</code></td></tr>"
        for name, value, exact in values
    )
    sizes = ", ".join(f"{name} = {size}" for name, size in found.sizes.items())
    entry = f"entry {list(found.entry)} of output {found.output}" if found.entry else f"output {found.output}"
    lines = [line.strip() for line in difference(found)] + partings(certificate)
    program = (
        f'<h3>A program that shows it</h3><button type="button" data-copy="program" hidden>Copy</button>'
        f'<pre id="program" tabindex="0">{escape(found.program)}</pre>'
        if found.program
        else ""
    )
    return (
        f'<div class="wide"><table><caption>{escape(entry)}</caption><thead><tr><th scope="col">side</th>'
        f'<th scope="col">value</th><th scope="col">exactly</th></tr></thead><tbody>{rows}</tbody></table></div>'
        f"{_list(iter(lines))}<h3>{escape(f'The input, at {sizes}' if sizes else 'The input')}</h3>"
        f"<dl>{''.join(map(_input, found.inputs))}</dl>{program}"
    )


def _input(given: Input) -> str:
    dtype = f" <span class='soft'>{escape(given.dtype)}</span>" if given.dtype else ""
    return f"<dt><code>{escape(given.name)}</code>{dtype}</dt><dd><code>{escape(_numbers(given))}</code></dd>"


def _numbers(given: Input) -> str:
    """The numbers of an input, or what most of them are and the others with their places."""
    if not isinstance(given.values, list):
        return str(given.values)
    array = np.asarray(given.values)
    kinds, counts = np.unique(array.astype(str), return_counts=True)
    if array.size <= MOST_WRITTEN and counts.max(initial=0) <= array.size / 2:
        return json.dumps(given.values)
    most = kinds[np.argmax(counts)] if array.size else "nothing"
    odd = np.argwhere(array.astype(str) != most)
    shape = "×".join(map(str, array.shape))
    if len(odd) > MOST_ODD:
        return (
            json.dumps(given.values) if array.size <= MOST_WRITTEN else f"{shape} numbers, which the certificate holds"
        )
    but = ", ".join(f"{array[tuple(place)]} at [{', '.join(map(str, place))}]" for place in odd)
    return f"{shape} numbers, all {most}{f' but {but}' if but else ''}"


def _floats(certificate: Certificate) -> Iterator[Section]:
    """Rounding and hazards of functions that are equal, and rounding against scale."""
    if certificate.floats is None:
        return
    found = rounding_by_scale(certificate)
    hazards = "".join(
        f"<li><strong>{escape(h.kind)}</strong>: {escape(h.text)}. "
        f"<span class='soft'>{escape(h.side)} side: {escape(KINDS[h.kind])}</span></li>"
        for h in certificate.hazards
    )
    ended = certificate.floats.search.reason
    yield (
        "floats",
        "What floats do",
        f"<p>{escape(certificate.floats.rounding.text)}.</p>"
        + (rounding_plot.rounding_plot(found) if found else "<p class='soft'>Inputs of other scales were not run.</p>")
        + "<h3>Hazards</h3>"
        + (f"<ul>{hazards}</ul>" if hazards else "<p>A search found no input at which one side fails alone.</p>")
        + (f"<p class='soft'>The search ended early: {escape(ended)}.</p>" if ended else ""),
    )


def _programs(certificate: Certificate) -> Iterator[Section]:
    """Both programs side by side."""
    if "left" not in certificate.claim or certificate.claim.get("id") != "equivalence":
        return
    found = aligned(certificate)
    reason = f"<p class='soft'>{escape(found.reason)}.</p>" if found.reason else ""
    yield "programs", "Both programs", (_table(certificate, found) if found.rows else "") + reason


def _table(certificate: Certificate, found: Alignment) -> str:
    parted = [f"{side} at operation {o.number}" for side, o in zip(("left", "right"), found.parted, strict=True) if o]
    where = f" They part: {', '.join(parted)}." if parted else ""
    names = [escape(str(certificate.claim[side])) for side in ("left", "right")]
    chunks = [
        (folded, [row for _, rows in group for row in rows])
        for folded, group in groupby(_folded(found.rows), lambda part: part[0])
    ]
    tables = "".join(_chunk(rows, folded, names, found.parted) for folded, rows in chunks)
    button = toggle(False, "Show all operations", open="") if any(folded for folded, _ in chunks) else ""
    returned = " and ".join(
        f"{side} returns <code>{escape(o)}</code>" for side, o in zip(("left", "right"), found.outputs, strict=True)
    )
    return (
        "<p>Operations with equal values stand in one row (=, or ≅ if their entries are in other places); a shaded one "
        "computes what the other program never does. Loops are unrolled"
        f"{'; values are those at the counterexample' if certificate.counterexample else ''}. "
        f"Equal values are found at a random point: a guide for the eye, on which no verdict rests.{escape(where)}</p>"
        f"{button}{tables}<p>{returned}.</p>"
    )


def _folded(rows: Sequence[Row]) -> Iterator[tuple[str, Sequence[Row]]]:
    """The rows in order: those that are shown behind '', and others behind what they are called."""
    for kind, run in groupby(rows, _kind):
        together = list(run)
        most, name = FOLDED.get(kind, (len(together), ""))
        if len(together) <= most:
            yield "", together
        else:
            yield from (("", together[:CONTEXT]), (name, together[CONTEXT:-CONTEXT]), ("", together[-CONTEXT:]))


def _kind(row: Row) -> str:
    known = {o.alike for o in row if o is not None}
    return "equal" if known == {Alike.EQUAL} else "parted" if known & {Alike.PARTED, Alike.UNKNOWN} else "alone"


def _chunk(rows: Sequence[Row], folded: str, names: Sequence[str], parted: Row) -> str:
    """A table of some rows, or a part that can be opened."""
    body = "".join(_row(row, parted) for row in rows)
    heads = f'<th scope="col">left: {names[0]}</th><th scope="col"><span class="unseen">alike</span></th>'
    head = f"<thead{' class=unseen' if folded else ''}><tr>{heads}<th scope='col'>right: {names[1]}</th></tr></thead>"
    columns = '<colgroup><col><col class="sign"><col></colgroup>'
    table = f'<table class="programs">{columns}{head}<tbody>{body}</tbody></table>'
    if not folded:
        return table
    return f'<details class="folded"><summary>{len(rows)} {folded}</summary>{table}</details>'


def _row(row: Row, parted: Row) -> str:
    known = [o.alike for o in row if o is not None]
    sign, spoken = SIGNS[known[0]] if len(known) == 2 and len(set(known)) == 1 else ("", "")
    between = f'<span aria-hidden="true">{sign}</span><span class="unseen">{spoken}</span>' if sign else ""
    left, right = (
        _cell(o, name, o is not None and o == first)
        for o, name, first in zip(row, ("left", "right"), parted, strict=True)
    )
    return f'<tr>{left}<td class="sign">{between}</td>{right}</tr>'


def _cell(o: Computed | None, side: str, parts_here: bool) -> str:
    if o is None:
        return "<td></td>"
    shade = {Alike.OWN: ' class="own"', Alike.PARTED: ' class="parted"'}.get(o.alike, "")
    here = ' <span class="here">parts here</span>' if parts_here else ""
    elsewhere = f"the same entries as %{o.other} of the other side" if o.alike is Alike.ELSEWHERE else ""
    about = " · ".join(filter(None, [o.type, o.line, o.value and f"= {o.value}", elsewhere]))
    return (
        f'<td{shade}><div class="operation"><span class="side">{side} </span><span class="number">%{o.number}</span> '
        f'{escape(o.text)}{here}<span class="about">{escape(about)}</span></div></td>'
    )


def _decided(certificate: Certificate) -> Iterator[Section]:
    """With what it was decided."""
    told = {**certificate.settings, **certificate.environment}
    if isinstance(error := told.get("error"), float) and error > 0:
        told["error"] = f"2^{math.log2(error):.0f}"
    shown = {str(name).replace("_", " "): _text(value) for name, value in sorted(told.items()) if _text(value)}
    terms = " · ".join(f"{escape(name)} <strong>{escape(text)}</strong>" for name, text in shown.items())
    again = "Save it with <code>certificate.save(path)</code>, and decide it again with fresh random numbers: "
    again += "<code>uat-jax recheck FILE</code>."
    yield "decided", "Decided with", f"<p>{terms}</p><p>{again}</p>"
