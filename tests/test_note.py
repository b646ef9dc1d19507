"""The note on the papers: by weight, never one formula twice, ours marked; and what is said where it fails."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from excerpt import one_in

import uat_jax as uj
from uat_jax.cli import ledger as cli_ledger
from uat_jax.cli import main
from uat_jax.ledger.corrected import WRITTEN, corrected, same_formula
from uat_jax.ledger.ledger import CHAPTERS, find, script_of
from uat_jax.ledger.page import Display, Formula, Paragraph, Table
from uat_jax.ledger.quotes import is_printed
from uat_jax.ledger.weight import Weight, rank, weight_of
from uat_jax.report import note, page_html, page_latex, tex
from uat_jax.report.breaking import aligned, broken, equations
from uat_jax.report.inline import latex_of_prose

CERTIFICATES = Path(__file__).parents[1] / "docs" / "certificates"
REFUTED = [claim for claim in uj.claims() if claim.expects is uj.Verdict.REFUTED]


@pytest.fixture(scope="module")
def found():
    return {path.stem: uj.load(path) for path in CERTIFICATES.glob("*.json")}


@pytest.fixture(scope="module")
def page(found):
    return note.note(CHAPTERS, found, {claim.id: script_of(claim) for claim in uj.claims()})


def test_no_correction_repeats_what_is_printed():
    for claim in REFUTED:
        if claim.correction:
            assert not same_formula(claim.printed, corrected(find(claim.correction))), claim.id
    assert same_formula(r"a \quad b", "ab") and not same_formula("a_1", "a_2")
    assert set(WRITTEN) <= {claim.correction for claim in REFUTED}


WEIGHTS = {
    "updates.one-shot": Weight.THEOREM,
    "nested-bias.original-original-own": Weight.THEOREM,
    "pruning.remove-layer": Weight.THEOREM,
    "heads.order.transposed": Weight.PARAMETER,
    "diamond.result-shape": Weight.SHAPE,
    "eq-31.printed": Weight.MISPRINT,
    "names.eq-11": Weight.MISPRINT,
    "uat.citation-year": Weight.CITATION,
    "references.figure-9": Weight.CITATION,
}


@pytest.mark.parametrize("name", WEIGHTS)
def test_the_weight_of_an_erratum(name):
    assert weight_of(find(name)) is WEIGHTS[name]


def test_errata_come_by_weight_and_update_rules_first():
    ordered = sorted(REFUTED, key=rank)
    weights = [list(Weight).index(weight_of(claim)) for claim in ordered]
    assert weights == sorted(weights) and ordered[0].id.startswith("updates.")


def test_the_note_has_every_refuted_claim_once(page):
    links = [name for s in page.sections for p in s.parts if isinstance(p, Paragraph) for name, _ in p.links]
    entries = [s for s in page.sections if s.title[0].isdigit()]
    last = [p.links for s in entries for p in s.parts[-1:]]
    assert sorted(name for group in last for name, _ in group) == sorted(claim.id for claim in REFUTED)
    assert set(links) >= set(note.THEOREMS)


def test_an_entry_prints_two_formulas_and_marks_ours(page):
    """The printed formula is never the corrected one; a reading that no author states is marked."""
    entries = [s for s in page.sections if s.title[0].isdigit()]
    for entry in entries:
        printed, *right = [p.formula.latex for p in entry.parts if isinstance(p, Display)]
        assert not any(same_formula(printed, formula) for formula in right), entry.title
    marks = sum(
        p.label.startswith("The reading is ours") if isinstance(p, Paragraph) else str(p).count("the reading is ours")
        for s in entries
        for p in s.parts
        if isinstance(p, Paragraph | Table)
    )
    assert marks == sum(claim.ours for claim in REFUTED) > 5


def test_the_theorems_are_stated_with_hypotheses_and_proved(page):
    for number in (1, 2, 3):
        section = next(s for s in page.sections if s.title.startswith(f"Theorem {number}"))
        labels = [p.label for p in section.parts if isinstance(p, Paragraph) and p.label]
        assert labels[:3] == ["Hypotheses.", "Statement.", "Proof."] and "Certificate." in labels
        assert any(p.holds for p in section.parts if isinstance(p, Display))
    assert page.holds


def test_the_table_counts_every_paper(page):
    tables = [p for p in page.sections[-1].parts if isinstance(p, Table)]
    assert len(tables) == 4 and all(t.head[0] == "section" for t in tables)
    duat = {row[0]: row[1:] for row in tables[2].rows}
    placed = [c for c in uj.claims() if any((s.paper, s.section) == ("DUAT", "3.3") for s in c.sources)]
    assert sum(int(str(n) or 0) for n in duat["3.3"][:-1]) == len(placed)


@pytest.mark.skipif(tex.engine() is None, reason="no TeX engine is installed")
def test_the_note_compiles(page, tmp_path):
    """With every line within the page: the margin of 22 mm is not entered."""
    source = tmp_path / "note.tex"
    source.write_text(page_latex.document(page), encoding="ascii")
    assert tex.compiled(source) == ""
    if shutil.which("pdflatex"):
        command = ["pdflatex", "-interaction=nonstopmode", source]
        log = subprocess.run(command, cwd=tmp_path, capture_output=True, stdin=subprocess.DEVNULL).stdout
        wide = [float(w) for w in re.findall(rb"Overfull .hbox \((\d+\.\d+)pt", log)]
        assert max(wide, default=0) < 15, "a line runs beyond the margin"


@pytest.fixture
def decided(monkeypatch, found):
    """The certificates of the repository in place of what is decided anew."""
    monkeypatch.setattr(cli_ledger, "_decide_all", lambda wanted, settings, jobs: {c.id: found[c.id] for c in wanted})


def test_a_report_without_a_tex_engine_says_so_in_one_line(decided, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(tex, "engine", lambda: None)
    right = cli_ledger._write_log  # the checker decides all of them elsewhere, one by one; here every 20th
    monkeypatch.setattr(cli_ledger, "_write_log", lambda found, folder: right(dict([*found.items()][::20]), folder))
    assert main(["report", str(tmp_path / "r")]) == 0
    printed = capsys.readouterr()
    assert "note.html" in printed.out
    assert printed.err.count("\n") == 1 and "no TeX engine" in printed.err and "note.pdf is missing" in printed.err
    assert {p.name for p in (tmp_path / "r").iterdir()} == {"certificates", "errata.md", "note.html", "note.tex"}


def test_a_tex_engine_that_fails_is_said_in_one_line(monkeypatch, tmp_path):
    if tex.engine() is None:
        monkeypatch.setattr(tex, "engine", lambda: "no-such-engine")
        monkeypatch.setattr(tex, "ENGINES", {"no-such-engine": ()})
    source = tmp_path / "note.tex"
    source.write_text(r"\documentclass{article}\begin{document}\undefined\end{document}")
    said = tex.compiled(source)
    assert "note.pdf is missing" in said and "\n" not in said and not (tmp_path / "note.pdf").exists()


def test_a_report_folder_that_exists_is_refused_and_left_alone(decided, tmp_path, capsys):
    (tmp_path / "notes.txt").write_text("mine")
    assert main(["report", str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("\n") == 1
    assert "exists and is not empty; choose a new folder, or say --overwrite" in printed.err
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]


def test_an_empty_folder_that_exists_is_taken(decided, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(tex, "engine", lambda: None)
    monkeypatch.setattr(cli_ledger, "_write_log", lambda found, folder: None)  # the test above has it written
    assert main(["report", str(tmp_path)]) == 0
    assert {"note.html", "note.tex", "errata.md"} < {p.name for p in tmp_path.iterdir()}


@pytest.mark.parametrize(
    ("target", "said"), [("file", "is a file; choose a new folder"), ("file/r", "note.html: Not a")]
)
def test_a_report_cannot_be_a_file(decided, target, said, tmp_path, capsys):
    (tmp_path / "file").write_text("mine")
    assert main(["report", str(tmp_path / target)]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("\n") == 1 and said in printed.err
    assert (tmp_path / "file").read_text() == "mine" and len(list(tmp_path.iterdir())) == 1


PROSE = {
    "b̂_{j,2} is ≤ λ_k": r"$\hat{\mathbf{b}}_{j,2}$ is $\leq  \lambda_{k}$",
    "W'_{i+1,2} and W′": r"$\mathbf{W}_{i+1,2}'$ and $\mathbf{W}'$",
    "A_3's end, 50 %": r"$\mathbf{A}_{3}$'s end, 50 \%",
    "x_iW_{Qi}": r"$\mathbf{x}_{i} \mathbf{W}_{Qi}$",
    "Wσ": r"W$\sigma$",
    "chance 2^-162": r"chance $2^{-162}$",
    "b_terms.py, b_j": r"\texttt{b\_\allowbreak{}terms.py}, $\mathbf{b}_{j}$",
    "W_HVO, W'_HVi": r"$\mathbf{W}_{HVO}$, $\mathbf{W}_{HVi}'$",
    "T(ΠX), Π_j": r"T($\Pi$X), $\prod_{j}$",
    "x_(t−1)": r"$\mathbf{x}_{t-1}$",
    "max_n, LN_1": r"$\mathrm{max}_{n}$, $\mathrm{LN}_{1}$",
    "f(z)_i": r"f(z)${}_{i}$",
    "2*L*r + 1": "2 L r + 1",
    "W ⊗ I_M": r"W${}\otimes  \mathbf{I}_{M}$",
    "D_j × 1, −σ": r"$D_{j}  \times{}$1, $- \sigma$",
    "‖uᵀ‖ and ε": r"$\| \mathbf{u}^{T} \|$ and $\varepsilon$",
}


@pytest.mark.parametrize("text", PROSE)
def test_prose_is_set_with_its_formulas(text):
    assert latex_of_prose(text) == PROSE[text]


def test_every_sentence_of_the_ledger_is_set_in_ascii_and_known_signs():
    for claim in uj.claims():
        for text in (claim.title, claim.reading, *claim.hypotheses):
            set_ = latex_of_prose(text)
            assert set_.isascii() and set_.count("$") % 2 == 0, text
            assert not any(f"[{word}" in set_ for word in ("greek", "combining", "latin", "sign")), set_


def _whole(latex: str) -> str:
    r"""A formula without spaces, \left and \Bigl, its texts that stand beside each other as one."""
    for sign in (r"\left(", r"\right)", r"\left[", r"\right]", r"\left|", r"\right|", r"\Bigl|", r"\Bigr|"):
        latex = latex.replace(sign, sign[-1])
    return latex.replace(" ", "").replace(r"}\text{", "")


@pytest.mark.parametrize("claim", one_in(8, REFUTED), ids=lambda claim: claim.id)
def test_a_broken_formula_loses_nothing(claim):
    assert _whole("".join(broken(claim.printed))) == _whole(claim.printed)
    assert all(line.count("{") == line.count("}") for line in broken(claim.printed))


def test_a_line_ends_between_factors_only_where_there_is_no_other_place():
    factors = r"\mathbf{X} \mathbf{E}_{a} \mathbf{W}_{Q} \mathbf{X} \mathbf{E}_{a} \mathbf{W}_{K}"
    assert broken(factors, 5) == [r"\mathbf{X} \mathbf{E}_{a} \mathbf{W}_{Q}", *broken(factors, 5)[1:]]
    assert "".join(broken(factors, 5)).replace(" ", "") == factors.replace(" ", "")
    summed = rf"({factors}) + \mathbf{{Y}}"
    assert broken(summed, 9)[-1] == r"+ \mathbf{Y}"


def test_a_line_may_end_between_bars():
    bars = r"\left|\mathbf{a}+\mathbf{b}\right|<\varepsilon"
    assert broken(bars, 7) == [r"\Bigl|\mathbf{a}+\mathbf{b}\Bigr|", r"<\varepsilon"]
    assert broken(bars, 3) == [r"\Bigl|\mathbf{a}", r"+\mathbf{b}\Bigr|", r"<\varepsilon"]


def test_equations_of_a_long_list_stand_below_each_other():
    long = r",\ ".join([r"\mathbf{x}_{i+1}=\mathbf{y}_{i}+\mathbf{z}_{i}+f(\mathbf{x}_{i},\mathbf{y}_{i})"] * 5)
    assert equations(long) == [*(f"{line.strip()}," for line in long.split(r",\ ")[:4]), long.split(r",\ ")[4]]
    assert aligned(long).count("\\\\\n&\\mathbf") == 4
    assert equations(r"a=b,\ c=d") == [r"a=b,\ c=d"]
    terms = "+".join([r"\mathbf{x}_{i+1}"] * 40)
    assert equations(f"j={terms},2,3") == [f"j={terms},2,3"]


def test_a_line_ends_within_as_few_brackets_as_it_can():
    inside = "(" + "+".join([r"\mathbf{a}"] * 6) + ")"
    lines = broken(rf"(\mathbf{{x}}\otimes {inside}\otimes {inside}\otimes {inside})")
    assert len(lines) > 1 and all(line.startswith(r"\otimes") for line in lines[1:])


def test_a_long_formula_in_prose_may_end_a_line_and_a_bracket_stays_with_it():
    long = "A_{i+1} b_{i} + B_{i+1} b_{i} + C_{i+1} b_{i} + A_{i+1} c_{i} + B_{i+1} c_{i} + C_{i+1} c_{i}"
    assert page_html.prose(long).count(r"\(") > 1 and r"\({}+" in page_html.prose(long)
    assert page_html.prose("(error 2^-9), or") == r'(error <span class="kept">\(2^{-9}\)),</span> or'
    assert page_html.prose("is (2^9)ᵀ, or") == r'is <span class="kept">(\(2^{9}\))\(^{T}\),</span> or'
    assert page_html.prose("x_1 < 2 & so") == r"\(\mathbf{x}_{1}  &lt;\) 2 &amp; so"


def test_a_long_formula_has_shorter_lines_on_a_narrow_screen():
    """What a broad line holds and a narrow one does not is set twice, and a style shows one of both."""
    short, long = (Display(Formula(latex, latex), "") for latex in ("a=b", "a=" + "+".join([r"\mathbf{x}"] * 20)))
    (once,), (broad, narrow) = (list(page_html._displayed([display])) for display in (short, long))
    assert '<div class="math">' in once and r"\\" not in once
    assert 'class="math broad"' in broad and 'class="math narrow"' in narrow
    assert broad.count(r"\\") < narrow.count(r"\\")


def test_a_number_of_the_note_has_six_places():
    assert note._one_line("is 0.6627714734457096, not\n0.5") == "is 0.662771…, not; 0.5"
    assert note._one_line("[0.761594155955764888 +/- 2.72e-38]") == "0.761594…"
    assert note._one_line("a - b is 0.181937 at 1.25e-39") == "a − b is 0.181937 at 1.25e-39"


def test_what_no_paper_prints_is_not_called_printed(page):
    shown = [part for section in page.sections for part in section.parts if isinstance(part, Display)]
    printed = {part.formula.text for part in shown if part.name == "Printed"}
    own = {part.formula.text for part in shown if part.name == "In our words"}
    assert all(any(claim.printed == text and is_printed(claim) for claim in REFUTED) for text in printed) and own
    assert not any(claim.printed in own and is_printed(claim) for claim in REFUTED)


def test_a_long_text_is_broken_between_words():
    text = r"\text{" + "so many words that no line of a page can hold all of them " * 3 + "}"
    lines = broken(text)
    assert len(lines) > 1 and all(line.startswith(r"\text{") and line.endswith("}") for line in lines)
    assert all(len(line) < 110 for line in lines)


def test_a_long_formula_is_broken_behind_commas_first():
    terms = ",".join([r"\mathbf{x}_{i+1}=\mathbf{y}_{i}+\mathbf{z}_{i}"] * 12)
    assert all(line.endswith(",") for line in broken(terms)[:-1])
    assert len(aligned(terms).splitlines()) > 1
