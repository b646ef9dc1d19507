"""The frame of our web pages of comparisons: one HTML file that needs nothing else, in light and dark, at any width."""

from __future__ import annotations

from html import escape

from uat_jax.decide.verdict import Verdict
from uat_jax.report.html_file import html_file

STYLE = """
.uat { --soft: #59636e; --line: #8885; --panel: #8881; --good: #17692f; --bad: #a8201a; --open: #815400;
  --left: #0b57a4; --right: #9a3d00; --focus: #0b57a4; --parted: #a8201a22; --own: #0b57a41a;
  font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
div.uat { --soft: color-mix(in srgb, currentColor 70%, transparent); }
@media (prefers-color-scheme: dark) { body.uat { --soft: #a3acb7; --good: #6fcf8a; --bad: #ff8f87; --open: #e8b95a;
  --left: #7db8ff; --right: #ffae75; --focus: #7db8ff; --parted: #ff8f8733; --own: #7db8ff1f;
  background: #12161b; color: #e4e9ee; } }
body.uat { color-scheme: light dark; margin: 0 auto; max-width: 96rem; padding: 0 1rem 3rem; }
.uat h1 { font-size: 1.35rem; line-height: 1.3; margin: 1rem 0 .5rem; overflow-wrap: anywhere; }
.uat h2 { font-size: 1.1rem; margin: 1.8rem 0 .4rem; padding-top: .6rem; border-top: 1px solid var(--line); }
.uat h3 { font-size: 1rem; margin: 1rem 0 .2rem; }
.uat p, .uat ul, .uat dl { margin: .35rem 0; max-width: 60rem; }
.uat li, .uat dd { overflow-wrap: anywhere; }
.uat dt { color: var(--soft); } .uat dd { margin: 0 0 .4rem; }
.uat .soft, .uat caption, .uat figcaption { color: var(--soft); }
.uat code, .uat pre, .uat .code { font: .88em/1.45 ui-monospace, "DejaVu Sans Mono", monospace; }
.uat code { overflow-wrap: anywhere; }
.uat pre { background: var(--panel); border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0;
  max-width: 60rem; overflow-x: auto; padding: .7rem; }
.uat .verdict { border-radius: 4px; color: #fff; font-weight: 650; padding: .1em .5em; white-space: nowrap; }
.uat .PROVED, .uat .CERTIFIED { background: #17692f; } .uat .REFUTED { background: #a8201a; }
.uat .AGREES, .uat .UNKNOWN { background: #815400; }
.uat table { border-collapse: collapse; width: 100%; }
.uat caption { text-align: left; padding: .2rem 0; }
.uat th, .uat td { border-bottom: 1px solid var(--line); padding: .3rem .8rem .3rem 0; text-align: left;
  vertical-align: top; overflow-wrap: anywhere; }
.uat th { font-weight: 600; overflow-wrap: break-word; }
.uat .wide { overflow-x: auto; }
.uat nav { margin: .4rem 0; }
.uat nav a { display: inline-block; margin: 0 .9rem .2rem 0; }
.uat a { color: var(--focus); }
.uat button, .uat input { font: inherit; color: inherit; background: transparent; border: 1px solid var(--soft);
  border-radius: 5px; padding: .2rem .7rem; margin: 0 .3rem .4rem 0; }
.uat button { cursor: pointer; }
.uat button[aria-pressed="true"] { background: var(--focus); border-color: var(--focus); color: #fff; }
@media (prefers-color-scheme: dark) { body.uat button[aria-pressed="true"] { color: #12161b; } }
.uat :focus-visible { outline: 3px solid var(--focus); outline-offset: 2px; }
.uat summary { cursor: pointer; }
.uat .skip { position: absolute; left: -99rem; } .uat .skip:focus { position: static; }
.uat .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap; }
@media print { body.uat { max-width: none; } .uat nav, .uat button { display: none; } }
"""


def document(title: str, body: str, style: str = "", script: str = "") -> str:
    """The whole file.

    Args:
        title: a text.  body: HTML, whose main part is an element `main` with the id "main".
        style, script: what the page needs beside what all pages have.
    """
    skip = '<a class="skip" href="#main">Skip to the content</a>'
    inside = f"{skip}\n{body}\n<script>{script}</script>"
    return html_file(title, f"<style>{STYLE}{style}</style>\n", inside, name="uat")


def badge(verdict: Verdict | str) -> str:
    """A verdict, in the colour of its kind."""
    return f'<span class="verdict {escape(str(verdict))}">{escape(str(verdict))}</span>'


def toggle(pressed: bool, text: str, **data: str) -> str:
    """A button that is pressed or not, with attributes data-…"""
    attributes = "".join(f' data-{name}="{escape(value)}"' for name, value in data.items())
    return f'<button type="button"{attributes} aria-pressed="{str(pressed).lower()}">{escape(text)}</button>'
