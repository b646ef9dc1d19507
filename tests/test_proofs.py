"""The proof scripts run, print what they prove, and stop at a wrong step."""

import ast
import importlib.util
import re
import runpy
from dataclasses import fields, replace
from pathlib import Path
from types import ModuleType

import pytest
from excerpt import one_in

import uat_jax as uj
from uat_jax.ledger.ledger import CHAPTERS, script_of
from uat_jax.report import errata
from uat_jax.symbolic import language as m
from uat_jax.symbolic.recurrence import Recurrence
from uat_jax.symbolic.recurrence import recurrence as collected
from uat_jax.symbolic.step import Step

FOLDER = Path(__file__).parents[1] / "proofs"
LINES = {
    "residual_network_is_duat": (
        "✓ Eq. 22, line 5",
        "Ŵ_{i+1,1} = A_{i+1} Ŵ_{i,1}",
        "✓ step: from i to i+1 layers",
        "Ŵ_{1,3}^(3) = A_3 Ŵ_{1,3}^(2)",
        "✓ refuted: network and this closed form have different normal forms",
        "Both forms in JAX, L = 7",
        "✓ equal in every bit",
        "PROVED for every depth, every width and every σ",
    ),
    "transformer_is_duat": (
        "✓ Eq. 30, second line",
        "✓ refuted — Eq. 31 with W_{i,3} as printed",
        "✓ block",
        "✓ step: from i to i+1 layers",
        "✓ L = 3, attention with 2 heads written out: network and closed form have one normal form",
        "✓ every H_i is zeros and ones",
        "✓ equal in every bit",
        "✓ W_{j,3} is dynamic for every j < L, W_{1,3} included",
        "PROVED for every depth, every number of heads, tokens and features and every σ",
    ),
    "attention_is_a_matrix": (
        "✓ entry by entry for A 2 × 3, X 3 × 1, B 1 × 2",
        "✓ with W_O",
        "✓ vec(MHA(X)) = W_HVO(X) vec(X)",
        "✓ MHA(2x) ≠ 2 MHA(x)",
        "MHA(x) = (0, 1),  untransposed (0, 0)",
        "✓ equal in every bit; the matrix is 18 × 12",
        "PROVED for every number of heads, tokens and features",
    ),
    "printed_updates_fail_at_three_layers": (
        "(a)   ✓  ✓  ✗  ✗  ✗    ✓  ✓  ✗  ✗  ✗",
        "(f)   ✓  ✓  ✓  ✓  ✓    ✓  ✓  ✓  ✓  ✓",
        "printed A_2 C_1 σ(B_1 x_0 + b_1), network A_3 A_2 C_1 σ(B_1 x_0 + b_1)",
        "smallest counterexample: C_1 = 1, b_1 = 1, A_2 = 1, all else 0: network 0, printed 1",
        "the network           x_3 = 21/2",
        "reading (a)           x_3 = 9/2    ✗",
        "✓ W_{k,3} is Ŵ_{k,3}^(i+1) for every k ≤ i",
        "Theorem 2: the same list overwriting in place, for every L",
        "REFUTED as printed, in every reading",
    ),
    "closed_forms_of_scans": (
        "✓ maximum, sum and weighted sum",
        "✓ refuted — the variance",
        "✓ Σ (γλ)^(t−1−i) δ_i",
        "✓ refuted — φ of the sum of the keys",
        "✓ one matrix for state and row",
        "CERTIFIED for every number of steps from 1",
    ),
    "references": (
        "✓ the paper has 23 sections, 35 equations and 15 figures",
        "✓ refuted — the figure of the Transformer is Figure 9",
        "✓ refuted — Eq. 11 uses only parameters that are defined",
        "PROVED: each with its correction",
    ),
    "foundations": (
        "✓ silu: σ(t) − σ(−t) = t",
        "✓ refuted — a sum with fixed parameters can fit only one function",
        "for all 33 permutations of up to 4 tokens",
        "✓ d_3 ≥ d_2: the error is at least 1",
        "PROVED: the form survives boxes",
    ),
    "diamond": (
        "✓ refuted — W_2 ⋄ W_1 ⋄ x (v1 only), read from the left",
        "✓ read from the left, v2's chain has the value of the left-hand side",
        "No one reading makes v1's derivations true; v2's are true read from the left.",
    ),
    "matrix_vector": (
        "✓ W′x′ = y′",
        "✓ x V after and before an exchange of tokens",
        "W x is W ⊗ I_M, x V is I_N ⊗ Vᵀ",
    ),
    "causal_masks_and_context": (
        "✓ W_HVO of a decoder has density (N + 1)/(2N)",
        "✓ both sums are the same for any two continuations R",
        "✓ 2rL + 1 each time",
        "for decoders: the density is (N + 1)/(2N), and no output depends on a later token",
    ),
    "lora": (
        "✓ refuted — the plus before σ",
        "✓ rank ΔA ≥ 40 of 48",
        "PROVED: Eq. 17; Eq. 18 with the deltas in the layers' own weights",
    ),
    "pruning": (
        "✓ Eq. 16, no premise on S_2",
        "✓ refuted — |t_1 − f| < ε + |t_1|",
        "✓ transformer, layer j > k: its norm",
        "✓ the difference is at most the bound",
    ),
    "real_transformers": (
        "✓ mixture of experts",
        "✓ step: from i to i+1 layers",
        "A softmax over the vocabulary has no such form with fixed parameters.",
    ),
    "complexity": (
        "✓ the activations follow one another: a chain of length L",
        "✓ its factors take 12288/13 times less, about 945",
        "PROVED: 2^L − 1 activations as a tree, L with every s_k computed once",
    ),
    "depth_separates": (
        "✓ the odd half of an odd piece",
        "✓ counted in networks of 1…6 layers: [1, 3, 7, 15, 31, 63]",
        "✓ not so — the same with C = −3",
        "PROVED for every L: the tent network has 2^L − 1 breaks",
    ),
    "wrong_at_every_depth": (
        "✓ W_{i,3} stays",
        "✓ updates.boxes, residual network: network 0, printed 1 at L = 3…5",
        "✓ not so — the corrected list (f) fails as well",
        "PROVED for every L: the seven wrong readings of the printed list and the eleven of the nested bias",
    ),
    "uniqueness": (
        "✓ a bump at another argument, and far out",
        "✓ not so — bumps twice as wide do as well",
        "PROVED for any number of letters, nested in any way",
    ),
    "jacobian": (
        "✓ one transformer layer",
        "✓ jax.jacobian of a residual network of 3 layers: equal",
        "✓ words of the product of 1…6 factors: [2, 4, 8, 16, 32, 64]",
        "PROVED for every L, every shape and every differentiable σ",
    ),
    "recurrent_networks": (
        "✓ GRU: step t is layer t",
        "✓ refuted — GRU with B_t = W, without the gate r_t",
        "✓ mamba, jax.lax.scan of 3 steps: equal",
        "PROVED for every number of steps and all sizes",
    ),
    "several_layers_changed": (
        "✓ transformer network, δ_k",
        "✓ not so — tanh has λ = 3/4",
        "of the bound",
        "PROVED for every depth and any number of changed layers",
    ),
    "tokens_merge": (
        "✓ τ(H G) ≤ τ(H) τ(G)",
        "✓ with a skip tokens are further apart than before",
        "PROVED for every number of tokens and every depth",
    ),
    "parallel_blocks": (
        "✓ sequential − parallel",
        "✓ not so — without the law of λ",
        "PROVED for every shape",
    ),
    "one_sum_between_two_functions": (
        "✓ refuted — the fit is a: the error there is 1/4, at the mean 3/16",
        "✓ t = 1: the second function",
        "PROVED at every x: least squares fits the density-weighted mean of two functions",
    ),
}


def load(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A fresh module of the script; the folder is on the path as it is when the script is run."""
    monkeypatch.syspath_prepend(str(FOLDER))
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_script_is_tested():
    scripts = {path.stem for path in FOLDER.glob("*.py")} - {"argument", "write_contents"}
    assert scripts == set(LINES)


THEOREMS = {"residual_network_is_duat", "transformer_is_duat"}
"""Scripts that take longest; continuous integration runs them by themselves."""


@pytest.mark.parametrize("name", one_in(7, [*(n for n in reversed(LINES) if n not in THEOREMS), *sorted(THEOREMS)]))
def test_script_proves_what_it_says(name, monkeypatch, capsys):
    module = load(name, monkeypatch)
    assert capsys.readouterr().out == ""  # importing prints nothing
    module.main()
    printed = capsys.readouterr().out
    for line in LINES[name]:
        assert line in printed
    numbers = [int(n) for n in re.findall(r"\((\d+)\) ✓", printed)]
    assert numbers == list(range(1, len(numbers) + 1)) and len(numbers) >= 10
    assert max(map(len, printed.splitlines())) <= 110


@pytest.mark.parametrize("name", LINES)
def test_script_is_percent_format_prose(name):
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    assert source.startswith("# %% [markdown]\n# # ")
    assert source.count("# %% [markdown]") >= 5


@pytest.mark.parametrize("rule", [field.name for field in fields(Recurrence)])
@pytest.mark.parametrize("name", ["residual_network_is_duat", "transformer_is_duat"])
def test_wrong_recurrence_stops_the_proof(name, rule, monkeypatch, capsys):
    """Each collected rule in turn doubled: every shape still fits, no proof may go through."""
    module = load(name, monkeypatch)

    def wrong(closed, j):
        right = collected(closed, j)
        return replace(right, **{rule: m.Scaled(2, getattr(right, rule))})

    monkeypatch.setattr(module, "recurrence", wrong)
    with pytest.raises(AssertionError, match="σ|Eq\\.|step|not so"):
        module.main()
    assert "PROVED" not in capsys.readouterr().out


def test_wrong_printed_list_is_noticed(monkeypatch, capsys):
    """The script's own transcription of the list is compared with the ledger's."""
    module = load("printed_updates_fail_at_three_layers", monkeypatch)
    words, _ = module.READINGS["(f)"]
    monkeypatch.setitem(module.READINGS, "(a)", (words, module.READINGS["(f)"][1]))
    with pytest.raises(AssertionError, match="no printed reading survives"):
        module.main()
    assert "REFUTED" not in capsys.readouterr().out


def test_argument_refuses_both_ways(monkeypatch, capsys):
    argument = load("argument", monkeypatch)
    A, B = m.Letter("A", 2, 2), m.Letter("B", 2, 2)
    true, false = Step("true", A @ B + A, A + A @ B), Step("false", A @ B, B @ A)
    a = argument.Argument("title")
    a.prove(true)
    a.refute(false)
    with pytest.raises(argument.BrokenStepError, match="false fails; left has A B, right has"):
        a.prove(false)
    with pytest.raises(argument.BrokenStepError, match="refuted — true"):
        a.refute(true)
    with pytest.raises(argument.BrokenStepError, match="one is two"):
        a.check("one is two", 1 == 2)
    assert "(2) ✓ refuted — false" in capsys.readouterr().out


# --- how a script is run -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LINES)
def test_arguments_are_refused_in_one_line(name, monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setattr("sys.argv", [f"{name}.py", "--depth", "seven"])
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(FOLDER / f"{name}.py"), run_name="__main__")
    assert stopped.value.code == 2
    assert capsys.readouterr().err == f"got --depth seven; run it without arguments: python proofs/{name}.py\n"


def test_a_broken_step_is_one_line(monkeypatch, capsys):
    argument = load("argument", monkeypatch)
    monkeypatch.setattr("sys.argv", ["script.py"])

    def broken():
        argument.Argument("title").check("one is two", 1 == 2)

    with pytest.raises(SystemExit) as stopped:
        argument.run(broken)
    assert stopped.value.code == 1
    assert capsys.readouterr().err == "not so: one is two\n"


# --- counterexamples and contents ------------------------------------------------------------------------------------

SCRIPTS = {path.name: path for path in sorted((FOLDER / "counterexamples").glob("*.py"))}


def test_every_refuted_claim_has_its_script_and_no_other_has():
    refuted = [claim for claim in uj.claims() if claim.expects is uj.Verdict.REFUTED]
    assert set(SCRIPTS) == {Path(script_of(claim)).name for claim in refuted}


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_counterexample_shows_two_values(name, capsys):
    runpy.run_path(str(SCRIPTS[name]), run_name="__main__")
    assert capsys.readouterr().out.strip()
    source = SCRIPTS[name].read_text(encoding="utf-8")
    assert "SystemExit" in source, "the script must fail where it shows nothing"
    assert len(source.splitlines()) <= 90


def test_the_contents_are_those_of_the_ledger(monkeypatch):
    """README.md and the scripts that certificates hold are what write_contents.py writes."""
    contents = load("write_contents", monkeypatch)
    assert (FOLDER / "README.md").read_text(encoding="utf-8") == contents.readme()
    tree = lambda text: ast.dump(ast.parse(text))
    written = contents.generated()
    assert len(written) > 40
    for name, text in written.items():
        assert tree(SCRIPTS[name].read_text(encoding="utf-8")) == tree(text), name


def test_the_errata_are_those_of_the_certificates():
    folder = FOLDER.parent / "docs"
    found = {path.stem: uj.load(path) for path in (folder / errata.FOLDER).glob("*.json")}
    scripts = {claim.id: script_of(claim) for claim in uj.claims()}
    assert (folder / "errata.md").read_text(encoding="utf-8") == errata.errata(CHAPTERS, found, scripts)
