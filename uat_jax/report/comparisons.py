"""A page of all comparisons of a test run: one HTML file that needs nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape

from uat_jax.decide.verdict import Verdict

STYLE = """
:root { color-scheme: light dark; --line: #8886; --good: #17692f; --bad: #a8201a; --open: #8a5a00; }
@media (prefers-color-scheme: dark) { :root { --good: #6fcf8a; --bad: #ff8f87; --open: #e8b95a; } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 0 auto; max-width: 90rem; padding: 1rem; }
h1 { font-size: 1.35rem; }
nav button { font: inherit; margin: 0 .4rem .4rem 0; padding: .2rem .7rem; cursor: pointer; }
nav button[aria-pressed="true"] { outline: 2px solid currentColor; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere; }
.PROVED, .CERTIFIED { color: var(--good); } .REFUTED { color: var(--bad); } .AGREES, .UNKNOWN { color: var(--open); }
td:first-child, td:nth-child(3) { min-width: 14rem; }
td:nth-child(2) { font-weight: 600; }
td:nth-child(2), td:last-child, th { white-space: nowrap; }
@media (max-width: 700px) { thead { position: absolute; left: -999rem; } tr { display: block; padding: .4rem 0;
  border-bottom: 1px solid var(--line); } td { display: block; border: 0; padding: 0; } }
"""

FILTER = """
for (const button of document.querySelectorAll("nav button")) button.addEventListener("click", () => {
  for (const other of document.querySelectorAll("nav button")) other.setAttribute("aria-pressed", other === button);
  for (const row of document.querySelectorAll("tbody tr"))
    row.hidden = button.dataset.verdict !== "" && row.dataset.verdict !== button.dataset.verdict;
});
"""


HEADS = ("test", "verdict", "functions", "how it is known", "certificate")


def page(compared: Sequence[Mapping[str, str]]) -> str:
    """The HTML text of a table with a row for each comparison, and a button for each verdict that shows its rows alone.

    Args:
        compared: of each comparison the `test`, the `verdict`, the `functions`, the `finding`, and the `file` of its
            certificate, beside the page.
    """
    counts = Counter(row["verdict"] for row in compared)
    summary = ", ".join(f"{counts[v]} {v}" for v in Verdict if counts[v]) or "none"
    buttons = [("", f"all {len(compared)}"), *((str(v), f"{v} {counts[v]}") for v in Verdict if counts[v])]
    heads = "".join(f"<th>{head}</th>" for head in HEADS)
    rows = "\n".join(map(_row, compared))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Comparisons: {escape(summary)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<h1>Comparisons: {escape(summary)}</h1>\n"
        f'<nav aria-label="verdicts">{"".join(map(_button, buttons))}</nav>\n'
        f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n"
        f"<script>{FILTER}</script>\n</body>\n</html>\n"
    )


def _button(of: tuple[str, str]) -> str:
    verdict, text = of
    return f'<button data-verdict="{escape(verdict)}" aria-pressed="{str(not verdict).lower()}">{escape(text)}</button>'


def _row(row: Mapping[str, str]) -> str:
    verdict, file = escape(row["verdict"]), escape(row["file"])
    cells = [escape(row["test"]), f'<span class="{verdict}">{verdict}</span>', escape(row["functions"])]
    cells += [escape(row["finding"]), f'<a href="{file}">JSON</a>']
    return f'<tr data-verdict="{verdict}">{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>'
