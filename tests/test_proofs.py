"""The proof scripts run, print what they prove, and stop at a wrong step."""

import importlib.util
import re
from dataclasses import fields, replace
from pathlib import Path
from types import ModuleType

import pytest

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
    scripts = {path.stem for path in FOLDER.glob("*.py")} - {"argument"}
    assert scripts == set(LINES)


@pytest.mark.parametrize("name", LINES)
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
