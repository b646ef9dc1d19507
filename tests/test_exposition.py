"""The page of a closed form: every line is derived, every symbol explained, and it reads as text and as LaTeX."""

import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from uat_jax.errors import InputError
from uat_jax.ledger.layers.exposition import DRAWN, KINDS, check_depth, exposition, legend_alone, nested_tree
from uat_jax.ledger.layers.legend import _names, _pattern, chosen, legend
from uat_jax.ledger.page import Display, Formula, Paragraph, Table, Tree
from uat_jax.report import page_html, page_latex, tex
from uat_jax.report.page_text import lines
from uat_jax.symbolic.derivation import derive
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.recurrence import ClosedForm

DEPTHS = (1, 2, 3, 5, 7)


def formulas(page):
    for section in page.sections:
        for part in section.parts:
            yield from _formulas(part)


def _formulas(part):
    match part:
        case Display():
            yield part.formula
        case Table():
            yield from (cell for row in part.rows for cell in row if isinstance(cell, Formula))
        case Tree():
            yield part.formula
            for branch in part.branches:
                yield from _formulas(branch)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_page_has_every_line_of_the_derivation(kind, depth):
    page = exposition(kind, depth)
    text = {f.text for f in formulas(page)}
    for letter, line in derive(kind, depth=depth).parameters.items():
        assert any(f"{t} = ".startswith(f"{letter} = {line} = ") for t in text), letter
    assert page.holds


def test_a_page_with_a_wrong_line_does_not_hold():
    page = exposition("residual", 2)
    wrong = [replace(p, holds=False) if isinstance(p, Display) and p.holds else p for p in page.sections[2].parts]
    sections = (*page.sections[:2], replace(page.sections[2], parts=tuple(wrong)), *page.sections[3:])
    assert not replace(page, sections=sections).holds


_SYMBOL = re.compile(r"(?:UAT|[A-Za-zσŴ]\u0302?'?)(?:_\{[^}]*\}|_\w)")


@pytest.mark.parametrize("kind", KINDS)
def test_every_symbol_of_a_page_is_in_its_legend(kind):
    explained = " ".join(f"{s.ours.text} {s.papers} {s.meaning} {s.shape}" for s in legend(kind))
    known = {_pattern(name) for s in legend(kind) for name in _names(s)} | {
        _pattern(found) for found in _SYMBOL.findall(explained)
    }
    symbols = {found for f in formulas(exposition(kind, 4)) for found in _SYMBOL.findall(f.text)}
    assert len(symbols) > 40
    assert {s for s in symbols if _pattern(s) not in known} == set()
    assert _pattern("Q_j") not in known


PAPERS = {
    ("residual", "Ŵ_{3,2}"): "W'_{3,2} ← W'_{3,2} W'_{2,1}",
    ("transformer", "Ŵ_{3,2}"): "W'_{3,2} ← W'_{3,2} W'_{3,1} W'_{2,1}",
    ("transformer", "Ŵ_{1,3}^(3)"): "W'_{1,3} ← W'_{3,1} W'_{1,3}",
    ("residual", "b̂_{2,2}"): "b'_{2,2} ← W'_{2,2} b'_{1,3} + b'_{2,2} + W'_{2,2} W'_{1,3} σ(W'_{1,2} x'_0 + b'_{1,2})",
    ("residual", "s_2"): "σ(W'_{2,2} x'_0 + b'_{2,2})",
}
"""A parameter → its line in the papers' symbols, typed in from App. B.2 and B.3."""


@pytest.mark.parametrize(("kind", "name"), PAPERS)
def test_the_papers_symbols_stand_beside_ours(kind, name):
    parts = exposition(kind, 3).sections[2].parts
    rows = {str(row[0]).split(" = ")[0]: str(row[1]) for part in parts if isinstance(part, Table) for row in part.rows}
    assert rows[name] == PAPERS[kind, name]


@pytest.mark.parametrize("kind", KINDS)
def test_each_nested_bias_is_a_smaller_sum(kind):
    """Below b̂_{j,2} are the j − 1 terms of its sum, below s_k is b̂_{k,2}: in all 2^(L−1) biases."""

    def biases(tree, j):
        assert tree.formula.text.startswith(f"b̂_{{{j},2}} = ")
        assert len(tree.branches) == j - 1
        below = [biases(term.branches[0], k) for k, term in enumerate(tree.branches, 1) if term.branches]
        return 1 + sum(below)

    closed = ClosedForm(Layers(kind))
    assert [biases(nested_tree(closed, depth), depth) for depth in range(1, DRAWN + 1)] == [1, 2, 4, 8, 16]
    assert biases(nested_tree(closed, DRAWN + 3), DRAWN + 3) == DRAWN + 3


def test_the_recurrence_has_attention_in_kronecker_form_and_both_networks():
    text = "\n".join(lines(exposition("transformer", 2), 160))
    for words in (
        "Ŵ_{i+1,2} = B_{i+1} Ŵ_{i,1}",
        "Ŵ_{i+1,2} = B_{i+1} A_{i+1} Ŵ_{i,1}",
        "⊗ (E_a W_{V,a}^(i+1) W_{O,a}^(i+1))ᵀ",
        "└── s_1 = σ(Ŵ_{1,2} x_0 + b̂_{1,2})",
    ):
        assert words in text
    assert text.index("layer 1") < text.index("general recurrence") < text.index("every number of") < text.index("└──")
    assert all(line == line.rstrip() for line in text.splitlines())


def test_a_letter_of_the_induction_is_defined_before_it_stands():
    parts = exposition("residual", 1).sections[4].parts
    written = [part.formula.text for part in parts if isinstance(part, Display)]
    assert next(n for n, text in enumerate(written) if text.startswith("u_i = ")) < next(
        n for n, text in enumerate(written) if "A_{i+1} u_i" in text
    )


@pytest.mark.parametrize(("depth", "on_screen"), [(17, True), (96, True), (10**9, True), (10**9, False), (201, False)])
def test_too_many_layers_are_refused_before_they_are_derived(depth, on_screen):
    with pytest.raises(InputError, match="--out FILE" if depth < 201 else "are the most"):
        check_depth("residual", depth, on_screen=on_screen)


def test_as_many_layers_as_a_screen_holds_are_printed():
    check_depth("transformer", 13, on_screen=True)
    assert sum(1 for _ in lines(exposition("transformer", 13), 160)) < 500


@pytest.mark.parametrize("name", ["A_7", "W'_{j,1}", "Ŵ_{2,3}^(5)", "b̂_{9,2}", "σ", "UAT_j^R", "L", "E_a"])
def test_a_symbol_is_found_by_either_name_and_any_layer(name):
    assert chosen("transformer", [name])
    (table,) = legend_alone("transformer", [name]).sections[0].parts
    assert isinstance(table, Table) and 0 < len(table.rows) < 4


@pytest.mark.parametrize("name", ["Q_j", "W_{j,9}", "alpha", "", "A", "b̂_{j,1}"])
def test_an_unknown_symbol_is_refused(name):
    with pytest.raises(InputError, match="unknown symbol .* in --legend"):
        chosen("transformer", ["A_j", name])


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_as_latex_is_ascii_in_short_lines(kind):
    text = page_latex.document(exposition(kind, 5))
    assert text.isascii() and max(map(len, text.splitlines())) <= 120
    assert text.startswith(r"\documentclass") and text.count("{") == text.count("}")
    for name in ("align*", "longtable", "document"):
        assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}") > 0


@pytest.mark.skipif(tex.engine() is None, reason="no TeX engine is installed")
@pytest.mark.parametrize("kind", KINDS)
def test_a_page_compiles_and_fits_its_paper(kind, tmp_path):
    source = tmp_path / "page.tex"
    source.write_text(page_latex.document(exposition(kind, 4)), encoding="ascii")
    assert tex.compiled(source) == ""
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    if shutil.which("pdflatex"):
        log = subprocess.run(["pdflatex", "-interaction=nonstopmode", source], cwd=tmp_path, capture_output=True).stdout
        wide = [float(w) for w in re.findall(rb"Overfull .hbox \((\d+\.\d+)pt", log)]
        assert max(wide, default=0) < 15, "a formula runs beyond the margin"


def test_html_holds_everything_itself():
    text = page_html.document(exposition("residual", 2))
    own = text.replace(page_html.mathjax(), "")
    assert len(own) < 60_000 and "src=" not in own and "://" not in own and "@import" not in own
    assert own.count(r"\(") == own.count(r"\)") > 40
    assert "<li>" in own and "MathJax" in own


def test_prose_on_a_page_has_no_bare_latex():
    for part in (p for s in exposition("transformer", 3).sections for p in s.parts if isinstance(p, Paragraph)):
        assert "\\" not in part.text and "$" not in part.text
