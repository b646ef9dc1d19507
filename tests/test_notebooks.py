"""The notebooks of the documentation run from top to bottom, and what they show has an HTML form."""

import ast
import json
from pathlib import Path

import pytest

import uat_jax as uj

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

pytestmark = [pytest.mark.campaign, pytest.mark.usefixtures("standard_promotion")]


def shown(source, names):
    """The value of the last line of a cell, if that is an expression; the cell is run."""
    tree = ast.parse(source)
    *before, last = tree.body
    if not isinstance(last, ast.Expr):
        exec(compile(tree, "cell", "exec"), names)
        return None
    exec(compile(ast.Module(before, []), "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path):
    body = json.loads(path.read_text(encoding="utf-8"))
    assert body["nbformat"] == 4 and not any(cell.get("outputs") for cell in body["cells"])
    names = {"__name__": "__main__"}
    results = [shown("".join(c["source"]), names) for c in body["cells"] if c["cell_type"] == "code"]
    certificates = [x for x in results if isinstance(x, uj.Certificate)]
    assert certificates and all(str(x.verdict) in x._repr_html_() for x in certificates)


def test_there_are_three():
    assert len(NOTEBOOKS) == 3
