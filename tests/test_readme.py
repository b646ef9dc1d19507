"""The README's Python runs and prints what it says; its table is what `uat-jax prove` prints."""

import contextlib
import importlib
import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from uat_jax import cli
from uat_jax.ledger.claim import Kind
from uat_jax.ledger.ledger import claims

README = Path(__file__).parents[1] / "README.md"


@pytest.fixture(scope="module")
def text():
    return README.read_text()


PRINTS = {"README.md": 4, "docs/tour.md": 13, "docs/papers.md": 5}
"""Pages whose Python runs, and how many lines it prints."""


@pytest.mark.parametrize("page", PRINTS)
def test_python_examples(page):
    code = "\n".join(re.findall(r"```python\n(.*?)```", (README.parent / page).read_text(encoding="utf-8"), re.S))
    code = code.replace("uj.assert_equivalent(mine, attention, X, X, X)", "pass  # fails, which is another test")
    promised = re.findall(r"print\(.*?\)\s+# (.*)$", code, re.M)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, page, "exec"), {})
    assert printed.getvalue().splitlines() == promised and len(promised) == PRINTS[page]


@pytest.mark.usefixtures("standard_promotion")
def test_the_failing_output(text, tmp_path, monkeypatch):
    """What is shown is what the file above it prints, to the letter."""
    block = next(b for b in re.findall(r"```python\n(.*?)```", text, re.S) if "test_mine_is_attention" in b)
    (shown,) = re.findall(r"```output\n(.*?)```", text, re.S)
    (tmp_path / "test_attention.py").write_text(block)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("test_attention")
    with pytest.raises(AssertionError) as failure:
        module.test_mine_is_attention()
    assert str(failure.value).strip() == shown.strip()


def test_table(text, monkeypatch, capsys):
    """Every line of the rows decided without floats, and of the legend, is printed (spaces aside)."""
    table, *_ = re.findall(r"```text\n(.*?)```", text, re.S)
    monkeypatch.setattr("uat_jax.cli.ledger.console", lambda: Console(width=200))
    cli.main(["prove", "updates.in-place", "updates.boxes"])
    printed = " ".join(capsys.readouterr().out.split())
    rows = table[table.index(" PROVED    updates.in-place") : table.index(" …")]
    for line in rows.splitlines():
        assert " ".join(line.split()) in printed
    legend = [line for line in table.splitlines() if line.startswith(("PROVED", "REFUTED"))]
    assert len(legend) == 2
    for line in legend:
        meaning = re.sub(r"\s+\d+\s+", " ", line)
        assert " ".join(meaning.split()[1:]) in printed


def test_counts(text):
    """The numbers in the README are the ledger's."""
    decided = [claim for claim in claims() if claim.kind is not Kind.BOOKKEEPING]
    expected = [str(claim.expects) for claim in decided]
    for verdict in ("PROVED", "CERTIFIED", "REFUTED"):
        assert re.search(rf"^{verdict}\s+{expected.count(verdict)} ", text, re.M)
    number = len(claims())
    assert f"and       {number - len(decided)}  about" in text and f"{number} of {number} claims" in text


def test_the_commands_stand_at_the_top(text):
    top = text[:3200]
    assert "pip install . && uat-jax prove" in top and "pip install '.[test]' && pytest" in top


ORDER = (
    "Install",
    "A six-line test",
    "A failing output",
    "What a verdict means, and what not",
    "Sizes and times",
    "What is supported",
    "Command line",
    "The papers",
    "Decomposition",
)
"""The sections, those that a person needs first before the others."""


def test_the_sections_come_in_the_order_in_which_they_are_needed(text):
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    found = re.findall(r"^## (.*)$", prose, re.M)
    assert tuple(found[: len(ORDER)]) == ORDER
    block = text.split("## A six-line test")[1].split("```python\n")[1].split("```")[0]
    assert len([line for line in block.splitlines() if line]) <= 6


def test_every_command_of_a_figure_is_there(text):
    """Files that the README says to run for a figure."""
    named = re.findall(r"python (benchmarks/\w+\.py)", text)
    assert len(named) >= 2 and all((README.parent / name).exists() for name in named)


def test_ci_runs_the_readmes_commands():
    script = (README.parent / ".ci" / "run").read_text()
    for command in ("pip install . && uat-jax prove", "pip install '.[test]' && pytest"):
        assert command in script
