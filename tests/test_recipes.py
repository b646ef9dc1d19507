"""The recipes of the documentation run as they stand there."""

import importlib.util
import inspect
import re
import sys
from pathlib import Path

import pytest
from test_pytest_plugin import run

from uat_jax.pytest_plugin import Equivalent

FOLDER = Path(__file__).parents[1] / "docs" / "recipes"
FILES = sorted(FOLDER.glob("test_*.py"))
SNAPSHOT = "test_upgrading.py"
"""Its test belongs beside the snapshot that it writes."""

pytestmark = pytest.mark.usefixtures("standard_promotion")


def names_in(path):
    """The names of the tests in a file."""
    return re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.M)


TESTS = [(path.name, name) for path in FILES if path.name != SNAPSHOT for name in names_in(path)]


@pytest.mark.parametrize(("file", "name"), TESTS)
def test_a_recipe(file, name, request):
    spec = importlib.util.spec_from_file_location(f"recipe_{file[:-3]}", FOLDER / file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    test = getattr(module, name)
    test(*([Equivalent(request)] if "equivalent" in inspect.signature(test).parameters else []))


def test_every_recipe_is_on_a_page_and_every_page_includes_one():
    pages = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    included = {name for text in pages.values() for name in re.findall(r'--8<-- "recipes/([^"]+)"', text)}
    assert included == {path.name for path in (*FILES, *FOLDER.glob("*.yml"))}
    assert all("--8<--" in text for text in pages.values())


@pytest.mark.campaign
def test_the_recipe_of_an_upgrade(tmp_path):
    """Taken once, it passes; a changed epsilon, as an upgrade may bring one, fails with an input."""
    recipe = (FOLDER / SNAPSHOT).read_text(encoding="utf-8")
    assert run(tmp_path, "--uat-update", test=recipe).returncode == 0
    assert (tmp_path / "snapshots").is_dir() and run(tmp_path, test=recipe).returncode == 0
    other = recipe.replace('@ p["down"])', '@ p["down"], epsilon=1e-3)')
    changed = run(tmp_path, test=other)
    assert changed.returncode == 1 and "REFUTED" in changed.stdout, changed.stdout
