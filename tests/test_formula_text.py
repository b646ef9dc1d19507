"""Formulas of the papers as plain text: nothing is lost, nothing is changed, no command is left."""

import re
import unicodedata

import pytest

from uat_jax.ledger.ledger import claims
from uat_jax.report.formula_text import formula_text

PRINTED = sorted({claim.printed for claim in claims()})

WRITTEN = {
    r"\mathbf{x}_{i+1}=\mathbf{W}'_{i+1,1}\mathbf{x}_0": "x_{i+1} = W'_{i+1,1} x_0",
    r"\sum_{j=1}^{i+1}\mathbf{W}'_{j,3}\sigma(\mathbf{W}'_{j,2}\mathbf{x}'_0+\mathbf{b}'_{j,2})": (
        "Σ_{j=1}^{i+1} W'_{j,3} σ(W'_{j,2} x'_0 + b'_{j,2})"
    ),
    r"\mathbf{W}_{12}=\mathbf{W}_1^T\mathbf{W}_2^{\mathrm{T}}": "W_{12} = W_1ᵀ W_2ᵀ",
    r"\mathbf{W}_{HV}^{\prime T}\diamond\mathbf{x}": "W_{HV}'ᵀ ⋄ x",
    r"\sum_{k=1}^{T}A_kx^T": "Σ_{k=1}^T A_k xᵀ",
    r"\prod_{k=1}^2x_k^2": "Π_{k=1}^2 x_k²",
    r"\frac{N+1}{2N}": "(N + 1)/(2N)",
    r"\tfrac12N(N-1)+1": "(1/2) N(N − 1) + 1",
    r"\frac{M^2}{h}+M^2": "M²/h + M²",
    r"\operatorname{softmax}\left(\frac{\mathbf{Q}\mathbf{K}^T}{\sqrt{M}}\right)": "softmax((Q Kᵀ)/√M)",
    r"\text{density of }\mathbf{W}'_{HVO}=-1": "density of W'_{HVO} = −1",
    r"\hat{\mathbf{H}}_1,\dots,\hat{\mathbf{H}}_h": "Ĥ_1, …, Ĥ_h",
    r"\Delta\mathbf{W}\mathbf{x}": "ΔW x",
    r"\mathbf{x}\in\mathbb{R}^{(N,M)}": "x ∈ ℝ^{(N,M)}",
    r"UAT^R_{i+1}=-\mathbf{x}+2\sigma(-x)": "UAT^R_{i+1} = −x + 2σ(−x)",
    r"\begin{pmatrix}a&0\\\vdots&b\end{pmatrix}\diamond\mathbf{x}'=y": "(a, 0; ⋮, b) ⋄ x' = y",
}


@pytest.mark.parametrize(("latex", "text"), WRITTEN.items())
def test_a_formula_as_text(latex, text):
    assert formula_text(latex) == text


@pytest.mark.parametrize("latex", [r"\foo{x}", r"\mathbf{x", r"x_", r"\text{a\foo}", r"x&y", r"\sqrt"])
def test_what_is_not_known_stays_latex(latex):
    assert formula_text(latex) == latex


def test_no_command_is_left_in_any_printed_formula():
    assert not [latex for latex in PRINTED if set(formula_text(latex)) & set("\\$&")]


def test_letters_and_digits_stay_in_their_order():
    changed = [latex for latex in PRINTED if _read_in_latex(latex) != _read_in_text(formula_text(latex))]
    assert not changed, changed[:3]


def test_brackets_are_closed():
    for latex in PRINTED:
        text = formula_text(latex)
        assert text.count("{") == text.count("}") and text.count("[") == text.count("]"), latex
        assert text.count("(") - text.count(")") == latex.count("(") - latex.count(")"), latex


CHANGES = {"+": "-", "-": "+", "=": "+", "1": "3", "2": "7", "j": "k", "'": "", "x": "y", r"\otimes": r"\odot"}


@pytest.mark.parametrize(("old", "new"), CHANGES.items())
def test_a_change_of_a_formula_is_a_change_of_its_text(old, new):
    for latex in (latex for latex in PRINTED if len(latex) < 300):
        for found in (*re.finditer(re.escape(old), latex),)[:3]:
            if old.isalpha() and _is_part_of_a_command(latex, found.start()):
                continue
            changed = latex[: found.start()] + new + latex[found.end() :]
            assert formula_text(changed) != formula_text(latex), (latex, found.start())


def _is_part_of_a_command(latex: str, place: int) -> bool:
    return re.search(r"\\[A-Za-z]*$", latex[:place]) is not None


def _read_in_latex(latex: str) -> str:
    """ASCII letters and digits but those of commands, of which names such as tanh are read."""
    named = re.sub(r"\\(?:arg|exp|log|max|min|sin|sup|tanh)(?![A-Za-z])", lambda found: " " + found.group()[1:], latex)
    plain = re.sub(r"\\(?:begin|end)\{pmatrix\}|\\\\|\\[A-Za-z]+", " ", named)
    return "".join(re.findall("[A-Za-z0-9]", plain))


def _read_in_text(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text.translate(str.maketrans({"ᵀ": "T", "²": "2", "ℝ": "R"})))
    return "".join(re.findall("[A-Za-z0-9]", decomposed))
