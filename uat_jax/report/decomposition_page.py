"""A decomposition as one HTML file that needs nothing else: bars, maps and the text itself, each number in a table.

Maps are tables whose cells are coloured, white where they are zero: what is seen is what a screen reader reads.  The
numbers in them are rounded; those that a pointer or the keyboard asks for are exact, to the last digit of the dtype.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from uat_jax.report.html_file import html_file
from uat_jax.report.words import as_read

NEGATIVE, POSITIVE = (0, 114, 178), (213, 94, 0)
"""Blue and vermilion of Okabe and Ito, the ends of the map of signed numbers; white is zero."""

Exact = Callable[[float], str]
"""A number with its sign and all digits of its dtype."""
LONG = 100
"""Characters of a title that is set as one; a longer one is set as text."""


@dataclass(frozen=True)
class Map:
    """Signed numbers, row by row, with what rows and columns are called."""

    corner: str
    rows: Sequence[str]
    columns: Sequence[str]
    numbers: np.ndarray
    """(rows, columns); NaN where there is no such cell."""


@dataclass(frozen=True)
class Sheet:
    """What a page shows of one input."""

    title: str
    words: Sequence[str]
    """What each of the N tokens is called."""
    target: str
    """What the contributions add up to, in words."""
    output: float
    """That, by the forward pass."""
    digits: int
    """Decimal digits that tell two numbers of the dtype apart."""
    terms: Sequence[str]
    """The S terms of Theorem 1: input, bias, layers."""
    lengths: np.ndarray
    """(S,)."""
    shares: np.ndarray
    """(S,)."""
    by_term: np.ndarray
    """The contribution of each term at each token, (S, N)."""
    heads: Map
    """Layers downwards, heads and the feed-forward network across: direct contributions."""
    beside: Sequence[tuple[str, float]]
    """What the heads' map leaves: input and biases."""
    depths: np.ndarray
    """What each token contributes as input, and behind every layer, (L + 1, N)."""
    biases: np.ndarray
    """The biases of what follows, (L + 1,)."""
    lens: Sequence[tuple[str, Sequence[tuple[str, float]]]] = ()
    """For each depth the most probable words and their logits at the last token."""
    notes: Sequence[str] = ()
    """Sentences below the summary."""
    maps: Sequence[tuple[str, Map]] = ()
    """More maps, with their titles."""
    token: str = "token"
    """What is read: a token, or a patch of an image."""
    answer: str = "word"
    """What logits are of: a word, or a label."""

    @property
    def attends(self) -> bool:
        """Whether there are heads."""
        return len(self.heads.columns) > 1


def document(title: str, sheets: Sequence[Sheet], notes: Sequence[str] = ()) -> str:
    """The whole file."""
    return html_file(title, "", fragment(sheets, title, notes))


def fragment(sheets: Sequence[Sheet], title: str = "", notes: Sequence[str] = ()) -> str:
    """What stands in the body of such a file, with its style and script: HTML that a notebook can show."""
    parts = [f"<style>{STYLE}</style>", '<main class="uat">']
    if title:
        parts.append(f"<h1>{escape(title)}</h1>")
    parts += [f"<p>{escape(note)}</p>" for note in notes]
    if len(sheets) > 1:
        short = lambda title: title if len(title) <= LONG else f"{title[: LONG - 1]}…"
        links = "".join(f'<li><a href="#input-{i}">{escape(short(s.title))}</a></li>' for i, s in enumerate(sheets, 1))
        parts.append(f"<nav><ol>{links}</ol></nav>")
    for number, sheet in enumerate(sheets, 1):
        parts += _sheet(sheet, number)
    return "\n".join([*parts, '<div class="tip" role="status" hidden></div>', f"</main><script>{SCRIPT}</script>"])


def _sheet(of: Sheet, number: int) -> Iterator[str]:
    exact = lambda x: f"{x:+.{of.digits}g}"
    long = ' class="long"' if len(of.title) > LONG else ""
    yield f'<section id="input-{number}"><h2{long}>{escape(of.title)}</h2>'
    total = float(of.by_term.sum())
    what = {"token": f"{len(of.words)} tokens", "patch": f"{len(of.words) - 1} patches and the token of the class"}
    yield f"<p>{what[of.token]}. What is shared out: the {escape(of.target)}, <b>{exact(of.output)}</b>.</p>"
    yield from (f"<p>{escape(note)}</p>" for note in of.notes)
    yield f"<h3>{'Text' if of.token == 'token' else 'Image'}: what each {of.token} contributes</h3>"
    yield from _text(of, number)
    yield "<h3>Terms: how the layers add up</h3>"
    yield from _bars(of, total, exact)
    yield f"<h3>{'Heads and layers' if of.attends else 'Layers'}: direct contributions</h3>"
    beside = "; ".join(f"{escape(name)} {_cell(x, None, exact, tag='span')}" for name, x in of.beside)
    part = "head" if of.attends else "layer"
    yield f"<p>What each {part} writes, carried on by residual connections and frozen norms alone.</p>"
    yield f"<p>Beside the map: {beside}. Together they are the output.</p>"
    yield from _map(of.heads, exact, "heads")
    for name, more in of.maps:
        yield f"<h3>{escape(name)}</h3>"
        yield from _map(more, exact, "more")
    yield f"<h3>Terms at {of.token}{'s' if of.token == 'token' else 'es'}: where each was added</h3>"
    of_terms = Map(of.token, _numbered(of.words), of.terms, of.by_term.T)
    yield from _map(of_terms, exact, "by-term")
    if of.lens:
        where = "words of every depth at the last token" if of.answer == "word" else "labels of every depth"
        yield f"<h3>Logit lens: the {where}</h3>"
        yield from _lens(of)
    yield "</section>"


def _numbered(words: Sequence[str]) -> list[str]:
    return [f"{place} {word}" for place, word in enumerate(words)]


# --- the text, with a slider for the depth -------------------------------------------------------------------------


def _text(of: Sheet, number: int) -> Iterator[str]:
    """The words, coloured by their contributions, those of the input first; and all of them as a table."""
    exact = lambda x: f"{x:+.{of.digits}g}"
    names = ["embedded tokens", *(f"state behind layer {j}" for j in range(1, len(of.depths)))]
    data = {
        "names": names,
        "numbers": [[exact(x) for x in row] for row in of.depths],
        "tokens": [exact(row.sum()) for row in of.depths],
        "biases": [exact(x) for x in of.biases],
        "sums": [exact(row.sum() + bias) for row, bias in zip(of.depths, of.biases, strict=True)],
    }
    frozen, mixer = ("Attention patterns", "attention") if of.attends else ("Recurrences", "the recurrence")
    yield (
        f"<p>{frozen}, norms and slopes of activations are frozen. At depth 0 the input tokens are shared "
        f"out; at a later depth the tokens' states behind that layer, which {mixer} has mixed.</p>"
    )
    last, label = len(of.depths) - 1, f"depth-{number}"
    yield (
        f'<div class="text" data-input="{number}"><p><label for="{label}">Depth</label> '
        f'<input type="range" id="{label}" min="0" max="{last}" value="0" step="1"> '
        f'<output for="{label}">{escape(names[0])}</output></p>'
    )
    scale = _largest(of.depths[0])
    words = "".join(
        f'<span class="token" tabindex="0" style="{_paint(x, scale)}" data-x="{exact(x)}" data-n="{place}">'
        f"{escape(as_read(word))}</span>"
        for place, (word, x) in enumerate(zip(of.words, of.depths[0], strict=True))
    )
    yield f'<p class="words">{words}</p>'
    yield (
        f'<p class="sums">tokens <span class="a">{exact(of.depths[0].sum())}</span>, biases of what follows '
        f'<span class="b">{exact(of.biases[0])}</span>, together <span class="c">{data["sums"][0]}</span></p>'
    )
    yield _scale(scale)
    inside = json.dumps(data).replace("<", "\\u003c")
    yield f'<script type="application/json">{inside}</script></div>'
    table = Map("token", [*_numbered(of.words), "biases"], names, np.vstack([of.depths.T, of.biases]))
    yield "<details><summary>The same as a table, at every depth</summary>"
    yield from _map(table, exact, "tokens", coloured=False)
    yield "</details>"


# --- bars ----------------------------------------------------------------------------------------------------------


def _bars(of: Sheet, total: float, exact: Exact) -> Iterator[str]:
    sums = of.by_term.sum(axis=1)
    scale = _largest(sums)
    head = "".join(f'<th scope="col">{name}</th>' for name in (_axis(scale), "contribution", "share of x_L", "length"))
    yield f'<div class="wide"><table class="bars"><thead><tr><th scope="col">term</th>{head}</tr></thead><tbody>'
    for name, length, share, x in zip(of.terms, of.lengths, of.shares, sums, strict=True):
        width = 50 * abs(x) / scale
        side = f"left:{50 - width if x < 0 else 50:.2f}%;width:{width:.2f}%"
        bar = f'<i class="{"n" if x < 0 else "p"}" style="{side}"></i>'
        yield (
            f'<tr><th scope="row">{escape(name)}</th><td class="bar" aria-hidden="true" data-x="{exact(x)}">{bar}</td>'
            f'<td tabindex="0" data-x="{exact(x)}">{x:+.4g}</td><td>{share:.1%}</td><td>{length:.4g}</td></tr>'
        )
    yield '</tbody><tfoot><tr><th scope="row">sum</th><td></td>'
    yield f'<td data-x="{exact(total)}">{total:+.4g}</td><td>{of.shares.sum():.1%}</td><td></td></tr>'
    yield '<tr><th scope="row">forward pass</th><td></td>'
    yield f'<td data-x="{exact(of.output)}">{of.output:+.4g}</td><td></td><td></td></tr></tfoot></table></div>'


def _axis(scale: float) -> str:
    return f'<span class="axis"><span>−{scale:.3g}</span><span>0</span><span>{scale:.3g}</span></span>'


# --- maps ----------------------------------------------------------------------------------------------------------


def _map(of: Map, exact: Exact, kind: str, *, coloured: bool = True) -> Iterator[str]:
    """A table with sums of rows and columns; all cells have one scale, sums have no colour.

    Without colours every number is written exactly, and the rows, which are no parts of one sum, have none.
    """
    numbers, scale = np.asarray(of.numbers, np.float64), _largest(of.numbers)
    cell = lambda x, **kind: _cell(x, scale if coloured and not kind else None, exact, whole=not coloured, **kind)
    total = lambda xs: cell(np.nansum(xs), kind="sum")
    yield f'<div class="wide"><table class="map {kind}"><thead><tr><th scope="col">{escape(of.corner)}</th>'
    yield "".join(f'<th scope="col">{escape(name)}</th>' for name in of.columns)
    yield ('<th scope="col" class="sum">sum</th>' if coloured else "") + "</tr></thead><tbody>"
    for name, row in zip(of.rows, numbers, strict=True):
        sums = total(row) if coloured else ""
        yield f'<tr><th scope="row">{escape(name)}</th>{"".join(map(cell, row))}{sums}</tr>'
    sums = "".join(map(total, numbers.T)) + (total(numbers) if coloured else "")
    yield f'</tbody><tfoot><tr><th scope="row">sum</th>{sums}</tr></tfoot></table></div>'
    if coloured:
        yield _scale(scale)


def _cell(x: float, scale: float | None, exact: Exact, *, kind: str = "", tag: str = "td", whole: bool = False) -> str:
    if np.isnan(x):
        return f"<{tag}></{tag}>"
    paint = "" if scale is None else f' style="{_paint(x, scale)}"'
    of = f' class="{kind}"' if kind else ""
    return f'<{tag}{of}{paint} data-x="{exact(x)}">{exact(x) if whole else _rounded(x, scale)}</{tag}>'


def _rounded(x: float, scale: float | None) -> str:
    """Two digits; in a coloured map less than half a percent of the largest is written as 0."""
    return "0" if x == 0 or (scale and abs(x) < scale / 200) else f"{x:+.2g}"


def _largest(numbers: np.ndarray) -> float:
    return float(np.nanmax(np.abs(numbers))) or 1.0


def _paint(x: float, scale: float) -> str:
    """White at zero, blue at −scale, vermilion at +scale; the letters black or white, whichever stands out."""
    weight, end = min(abs(x) / scale, 1.0), NEGATIVE if x < 0 else POSITIVE
    red, green, blue = (round(255 + weight * (c - 255)) for c in end)
    light = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 140
    return f"background:rgb({red},{green},{blue});color:{'#000' if light else '#fff'}"


def _scale(scale: float) -> str:
    """The colours and what they stand for."""
    ends = f'<span class="low">−{scale:.3g}</span><span>0</span><span class="high">+{scale:.3g}</span>'
    return f'<p class="scale"><span class="ramp" aria-hidden="true"></span>{ends}</p>'


def _lens(of: Sheet) -> Iterator[str]:
    width = max(len(words) for _, words in of.lens)
    yield '<div class="wide"><table class="lens"><thead><tr><th scope="col">depth</th>'
    yield "".join(f'<th scope="col">{i}</th>' for i in range(1, width + 1)) + "</tr></thead><tbody>"
    for name, words in of.lens:
        cells = "".join(f'<td data-x="{x:+.{of.digits}g}"><b>{escape(w)}</b> {x:.2f}</td>' for w, x in words)
        yield f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>'
    yield "</tbody></table></div>"


# --- style and script ------------------------------------------------------------------------------------------------

STYLE = """
.uat { --ink: #1a1a1a; --paper: #fff; --faint: #666; --line: #bbb; --link: #0b4f8a; --tip: #111; --on-tip: #fff;
  font: 16px/1.45 system-ui, "DejaVu Sans", sans-serif; color: var(--ink); background: var(--paper);
  max-width: 72rem; margin: 0 auto; padding: 1rem; overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) { .uat { --ink: #e8e8e8; --paper: #16181c; --faint: #a5a5a5; --line: #4a4d55;
  --link: #8cc4ff; --tip: #f2f2f2; --on-tip: #111; } }
body:has(> .uat) { margin: 0; background: #fff; }
@media (prefers-color-scheme: dark) { body:has(> .uat) { background: #16181c; } }
.uat h1 { font-size: 1.5rem; } .uat h2 { font-size: 1.25rem; border-bottom: 1px solid var(--line); margin-top: 2rem; }
.uat h2.long { font-size: 1rem; font-weight: 400; }
.uat h3 { font-size: 1.05rem; margin: 1.8rem 0 .4rem; } .uat p { margin: .4rem 0; } .uat a { color: var(--link); }
.uat .wide { overflow: auto; max-height: 80vh; margin: .4rem 0; }
.uat table { border-collapse: separate; border-spacing: 0; font-size: .85rem; font-variant-numeric: tabular-nums;
  color: inherit; background: var(--paper); }
.uat th, .uat td { padding: .18rem .5rem; text-align: right; white-space: nowrap; border: 0; background: var(--paper); }
.uat th[scope=row], .uat th:first-child { text-align: left; position: sticky; left: 0; z-index: 1; max-width: 14rem;
  overflow: hidden; text-overflow: ellipsis; }
.uat thead th { position: sticky; top: 0; z-index: 2; border-bottom: 1px solid var(--line); font-weight: 600; }
.uat thead th:first-child { z-index: 3; }
.uat tfoot th, .uat tfoot td { border-top: 1px solid var(--line); font-weight: 600; }
.uat td.sum, .uat th.sum { border-left: 1px solid var(--line); font-weight: 600; }
.uat .map td { min-width: 2.9rem; text-align: center; }
.uat .lens td { text-align: left; }
.uat .bar { position: relative; width: 22rem; min-width: 9rem;
  background: linear-gradient(var(--line), var(--line)) 50% 0 / 1px 100% no-repeat, var(--paper); }
.uat .bar i { position: absolute; top: 15%; height: 70%; }
.uat .bar .n { background: rgb(0,114,178); } .uat .bar .p { background: rgb(213,94,0); }
.uat .axis { display: flex; justify-content: space-between; width: 22rem; min-width: 9rem; font-weight: 400; }
.uat .words { line-height: 2; font-size: 1.02rem; }
.uat .token { padding: .16rem .22rem; margin: 0 1px; border-radius: .2rem; white-space: pre-wrap; cursor: default;
  display: inline-block; max-width: 100%; line-height: 1.35; }
.uat [tabindex]:focus { outline: 2px solid var(--link); }
.uat input[type=range] { width: min(24rem, 55vw); vertical-align: middle; }
.uat .scale { display: flex; gap: 1.2rem; align-items: center; color: var(--faint); font-size: .8rem; }
.uat .ramp { width: 12rem; height: .8rem; border: 1px solid var(--line);
  background: linear-gradient(90deg, rgb(0,114,178), #fff, rgb(213,94,0)); }
.uat .sums { color: var(--faint); font-size: .9rem; }
.uat .tip { position: fixed; z-index: 9; background: var(--tip); color: var(--on-tip); padding: .2rem .5rem;
  border-radius: .25rem; font: 13px/1.4 ui-monospace, "DejaVu Sans Mono", monospace; pointer-events: none;
  max-width: 90vw; }
.uat summary { cursor: pointer; color: var(--link); }
@media (max-width: 600px) { .uat { font-size: 15px; padding: .6rem; } .uat table { font-size: .78rem; }
  .uat th[scope=row], .uat th:first-child { max-width: 7rem; }
  .uat th, .uat td { padding: .15rem .3rem; } .uat .bar, .uat .axis { width: 9rem; } }
@media print { .uat .wide { max-height: none; overflow: visible; } }
"""

SCRIPT = """
(() => {
  const all = [...document.querySelectorAll("main.uat")], here = document.currentScript;
  const main = here ? here.previousElementSibling : all.pop();
  if (!main) return;
  const tip = main.querySelector(".tip");
  const name = cell => {
    if (cell.dataset.n !== undefined) return "token " + cell.dataset.n + " " + JSON.stringify(cell.textContent.trim());
    const row = cell.closest("tr"), table = cell.closest("table");
    if (!row) return "";
    const column = [...row.children].indexOf(cell), head = table.tHead.rows[0].children[column];
    const of = head && !head.querySelector(".axis") ? ", " + head.textContent : "";
    return row.children[0].textContent + of;
  };
  const show = cell => {
    const box = cell.getBoundingClientRect(), of = name(cell);
    tip.textContent = (of ? of + ": " : "") + cell.dataset.x;
    tip.hidden = false;
    tip.style.left = Math.max(4, Math.min(box.left, innerWidth - tip.offsetWidth - 8)) + "px";
    const below = box.bottom + tip.offsetHeight + 8 <= innerHeight;
    tip.style.top = (below ? box.bottom + 4 : box.top - tip.offsetHeight - 4) + "px";
  };
  const over = event => {
    const cell = event.target.closest("[data-x]");
    if (cell) show(cell); else tip.hidden = true;
  };
  main.addEventListener("mouseover", over);
  main.addEventListener("focusin", over);
  main.addEventListener("mouseleave", () => { tip.hidden = true; });
  const ends = {n: [0, 114, 178], p: [213, 94, 0]};
  const paint = (x, scale) => {
    const weight = Math.min(Math.abs(x) / scale, 1), end = x < 0 ? ends.n : ends.p;
    const [r, g, b] = end.map(c => Math.round(255 + weight * (c - 255)));
    return [`rgb(${r},${g},${b})`, 0.2126 * r + 0.7152 * g + 0.0722 * b > 140 ? "#000" : "#fff"];
  };
  for (const text of main.querySelectorAll(".text")) {
    const data = JSON.parse(text.querySelector("script").textContent), slider = text.querySelector("input");
    const at = depth => {
      const row = data.numbers[depth], scale = Math.max(...row.map(x => Math.abs(x))) || 1;
      text.querySelectorAll(".token").forEach((token, n) => {
        token.dataset.x = row[n];
        [token.style.background, token.style.color] = paint(Number(row[n]), scale);
      });
      text.querySelector("output").textContent = data.names[depth];
      slider.setAttribute("aria-valuetext", data.names[depth]);
      text.querySelector(".a").textContent = data.tokens[depth];
      text.querySelector(".b").textContent = data.biases[depth];
      text.querySelector(".c").textContent = data.sums[depth];
      text.querySelector(".low").textContent = "\\u2212" + scale.toPrecision(3);
      text.querySelector(".high").textContent = "+" + scale.toPrecision(3);
    };
    slider.addEventListener("input", () => at(Number(slider.value)));
    const asked = new RegExp("depth-" + text.dataset.input + "=([0-9]+)").exec(location.hash);
    if (asked && Number(asked[1]) < data.numbers.length) slider.value = asked[1];
    at(Number(slider.value));
  }
})();
"""
