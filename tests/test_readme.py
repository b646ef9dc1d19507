"""The README's Python runs and prints what it says; its table is what `uat-jax prove` prints."""

import contextlib
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


def test_python_examples(text):
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.S))
    promised = re.findall(r"print\(.*?\)\s+# (.*)$", code, re.M)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue().splitlines() == promised and len(promised) == 18


def test_table(text, monkeypatch, capsys):
    """Every line of the rows decided without floats, and of the legend, is printed (spaces aside)."""
    table, *_ = re.findall(r"```text\n(.*?)```", text, re.S)
    monkeypatch.setattr("uat_jax.cli_ledger.console", lambda: Console(width=200))
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


def test_ci_runs_the_readmes_commands():
    script = (README.parent / ".ci" / "run").read_text()
    for command in ("pip install . && uat-jax prove", "pip install '.[test]' && pytest"):
        assert command in script
