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
        target = ELSEWHERE[file] if file in ELSEWHERE else path.parent / file if file else path
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


NEEDS_FILES = ("certificate.json", "load_model", "torch", "read_stablehlo", "read_snapshot")
"""Examples with these words need a file, a model or PyTorch, and are not run."""


@pytest.mark.parametrize("name", sorted(uj._LATER))
def test_every_public_name_says_what_it_is_for(name):
    of = getattr(uj, name)
    text = of.__doc__ or ""
    assert len(text.split()) > 4
    if isinstance(of, type):
        return
    assert "Example" in text and ("Returns:" in text or name == "assert_equivalent")
    if not any(word in text for word in NEEDS_FILES):
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        finder = doctest.DocTestFinder(recurse=False)
        for example in finder.find(of, name, globs={"uj": uj, "jax": jax, "jnp": jnp}):
            runner.run(example)
        found = runner.summarize(verbose=False)
        assert found.attempted and not found.failed


@pytest.mark.campaign
@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="mkdocs is not installed; pip install '.[docs]'")
def test_the_site_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stdout + built.stderr
    assert {name.replace(".md", ".html") for name in contents()} <= {
        path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.html")
    }
    asks = re.compile(r"<(?:script|link|img)[^>]*(?:src|href)=\"https?:(?!//[^\"]*\" rel=\"canonical)")
    assert [path.name for path in tmp_path.rglob("*.html") if asks.search(path.read_text(encoding="utf-8"))] == []
    api = (tmp_path / "api.html").read_text(encoding="utf-8")
    assert all(f'id="uat_jax.{name}"' in api for name in uj._LATER)
