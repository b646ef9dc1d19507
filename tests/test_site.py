"""The documentation's pages: all in the contents, links lead somewhere, the first example runs, the site builds."""

import doctest
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import uat_jax as uj

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [*sorted(DOCS.glob("*.md")), *sorted(DOCS.glob("recipes/*.md"))]
ELSEWHERE = {"benchmarks.md": ROOT / "benchmarks" / "README.md"}
"""Pages that the site has and this folder does not."""


def contents():
    """The pages in the contents of the site."""
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    return re.findall(r": (\S+\.md)$", text, re.M)


def test_every_page_is_in_the_contents_once():
    written = {path.relative_to(DOCS).as_posix() for path in PAGES} | ELSEWHERE.keys()
    assert sorted(contents()) == sorted(written)


def anchors(text):
    """The anchors of the headings of a page."""
    plain = [re.sub(r"[^\w\- ]", "", heading.lower()).strip() for heading in re.findall(r"^#+ (.*)$", text, re.M)]
    return {re.sub(r"[ -]+", "-", heading) for heading in plain} | {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("path", [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *PAGES], ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    text = path.read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)
    for link in re.findall(r"\[[^\]\n]*\]\(([^)\s]+)\)", prose):
        file, _, anchor = link.partition("#")
        if "://" in link:
            assert link.startswith("https://"), link
            continue
        target = path.parent / file if file else path
        target = target if target.exists() else ELSEWHERE.get(file, target)
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), link


def test_the_first_example_runs():
    (block,) = re.findall(r"```python\n(.*?)```", (DOCS / "index.md").read_text(encoding="utf-8"), re.S)
    names = {}
    exec(compile(block, "index.md", "exec"), names)
    names["test_my_softmax"]()
    wrong = {}
    exec(compile(block.replace("e.sum(-1", "e.sum(0"), "index.md", "exec"), wrong)
    with pytest.raises(AssertionError, match="REFUTED"):
        wrong["test_my_softmax"]()


@pytest.mark.parametrize("name", sorted(uj._LATER))
def test_every_public_name_says_what_it_is_for(name):
    text = getattr(uj, name).__doc__ or ""
    assert len(text.split()) > 4
    if not isinstance(getattr(uj, name), type):
        assert "Example" in text and "Returns:" in text + "Returns:" * (name == "assert_equivalent")


NEEDS_FILES = ("certificate.json", "load_model", "torch", "read_stablehlo")


@pytest.mark.parametrize("name", [n for n in sorted(uj._LATER) if not isinstance(getattr(uj, n), type)])
def test_the_example_of_a_public_function_runs(name):
    if any(word in (getattr(uj, name).__doc__ or "") for word in NEEDS_FILES):
        pytest.skip("its example needs a file, a model or PyTorch")
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    finder = doctest.DocTestFinder(recurse=False)
    for found in finder.find(getattr(uj, name), name, globs={"uj": uj, "jax": jax, "jnp": jnp}):
        runner.run(found)
    assert runner.summarize(verbose=False).attempted and not runner.failures


@pytest.mark.campaign
@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="mkdocs is not installed; pip install '.[docs]'")
def test_the_site_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    assert {name.replace(".md", ".html") for name in contents()} <= {
        path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.html")
    }
    api = (tmp_path / "api.html").read_text(encoding="utf-8")
    assert all(f'id="uat_jax.{name}"' in api for name in uj._LATER)
