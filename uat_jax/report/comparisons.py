"""A page of all comparisons of a test run: a table with filters, and links to a page for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

from uat_jax.decide.verdict import Verdict
from uat_jax.report.web_page import badge, document, toggle

STYLE = """
.uat form { margin: .6rem 0; } .uat form label { margin-right: 1rem; white-space: nowrap; }
.uat input[type="search"] { min-width: 14rem; max-width: 100%; }
.uat td:nth-child(1) { min-width: 18rem; } .uat td:nth-child(3) { min-width: 12rem; }
.uat td:nth-child(2), .uat td:last-child, .uat th { white-space: nowrap; }
.uat tr[hidden] { display: none; }
@media (max-width: 1000px) {
  .uat table, .uat tbody, .uat tr, .uat td { display: block; min-width: 0; }
  .uat thead { position: absolute; left: -999rem; }
  .uat tr { padding: .5rem 0; border-bottom: 1px solid var(--line); } .uat td { border: 0; padding: 0; }
}
"""

FILTER = """
const text = document.getElementById("text"), hazards = document.getElementById("hazards");
const buttons = [...document.querySelectorAll("[data-verdict-button]")];
const rows = [...document.querySelectorAll("tbody tr")];
let verdict = "";
function show() {
  const words = text.value.toLowerCase().split(/\\s+/);
  for (const row of rows) {
    const fits = words.every(word => row.textContent.toLowerCase().includes(word));
    const wanted = !verdict || row.dataset.verdict === verdict;
    row.hidden = !(fits && wanted && (!hazards.checked || row.dataset.hazards !== "0"));
  }
  const shown = rows.filter(row => !row.hidden).length;
  document.getElementById("shown").textContent = `${shown} of ${rows.length} are shown`;
}
for (const button of buttons) button.addEventListener("click", () => {
  verdict = button.dataset.verdictButton;
  for (const other of buttons) other.setAttribute("aria-pressed", other === button);
  show();
});
text.addEventListener("input", show);
hazards.addEventListener("change", show);
document.querySelector("form").addEventListener("submit", event => event.preventDefault());
show();
"""


HEADS = ("test", "verdict", "functions", "how it is known", "certificate")


def page(compared: Sequence[Mapping[str, str]]) -> str:
    """The HTML text of a table with a row for each comparison, and filters by verdict, hazards and words.

    Args:
        compared: of each comparison the `test`, the `verdict`, the `functions`, the `finding`, the number of `hazards`,
            and beside the page the `file` of its certificate and the `page` about it.
    """
    counts = Counter(row["verdict"] for row in compared)
    summary = ", ".join(f"{counts[v]} {v}" for v in Verdict if counts[v]) or "none"
    buttons = [("", f"all {len(compared)}"), *((str(v), f"{v} {counts[v]}") for v in Verdict if counts[v])]
    pressed = "".join(toggle(not verdict, text, **{"verdict-button": verdict}) for verdict, text in buttons)
    heads = "".join(f'<th scope="col">{head}</th>' for head in HEADS)
    rows = "\n".join(map(_row, compared))
    body = (
        f"<header><h1>Comparisons: {escape(summary)}</h1></header>\n"
        f'<main id="main">\n<form role="search"><div role="group" aria-label="verdicts">{pressed}</div>'
        '<label>Words <input type="search" id="text" autocomplete="off"></label>'
        '<label><input type="checkbox" id="hazards"> only with hazards</label>'
        '<output id="shown" class="soft" aria-live="polite"></output></form>\n'
        f'<table><caption class="unseen">All comparisons of the run</caption>'
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody></table>\n</main>"
    )
    return document(f"Comparisons: {summary}", body, STYLE, FILTER)


def _row(row: Mapping[str, str]) -> str:
    hazards = f"; hazards: {row['hazards']}" if row["hazards"] != "0" else ""
    files = f'<a href="{escape(row["page"])}">page</a> <a href="{escape(row["file"])}">JSON</a>'
    cells = [
        escape(row["test"]),
        badge(row["verdict"]),
        escape(row["functions"]),
        escape(row["finding"] + hazards),
        files,
    ]
    data = f'data-verdict="{escape(row["verdict"])}" data-hazards="{escape(row["hazards"])}"'
    return f"<tr {data}>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
