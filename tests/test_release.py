"""What is published: versions, archives and the lists that must agree with each other."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
NOX = (ROOT / "noxfile.py").read_text(encoding="utf-8")
SOURCES = [*(ROOT / "uat_jax").rglob("*.py"), *(ROOT / "docs").glob("*.md"), ROOT / "README.md"]


def _found(pattern, text):
    """The groups of a pattern that a text has."""
    match = re.search(pattern, text, re.M)
    assert match is not None, pattern
    return match.groups()


def _lowest(requirement):
    """The name and the lowest version in "numpy>=2.0,<3"."""
    return _found(r"^([\w-]+)>=([\d.]+)", requirement)


def test_the_oldest_versions_are_those_of_every_dependency():
    lines = (ROOT / "constraints/minimum.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    wanted = dict(map(_lowest, PROJECT["project"]["dependencies"]))
    assert pinned.keys() == wanted.keys()
    assert all(f"{pinned[name]}.".startswith(f"{version}.") for name, version in wanted.items())


def test_every_python_that_is_named_is_tested():
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    tested = re.findall(r'\("(3\.\d+)", (?:OLDEST|NEWEST)\)', NOX)
    assert set(named) == set(tested) and PROJECT["project"]["requires-python"] == f">={named[0]}"


def test_the_oldest_and_the_newest_jax_are_tested():
    allowed = next(d for d in PROJECT["project"]["dependencies"] if d.startswith("jax>="))
    oldest, newest = _found(r'OLDEST, NEWEST = "(.*?)", "(.*?)"', NOX)
    before = ".".join(["0", str(int(newest.split(".")[1]) + 1)])
    assert f">={oldest}." in allowed and allowed.endswith(f"<{before}")


def test_public_ci_runs_sessions_that_there_are():
    workflow = (ROOT / ".github/workflows/tests.yml").read_text()
    asked = {name.partition("-")[0] for name in _found(r"session: \[(.*)\]", workflow)[0].split(", ")}
    assert asked == set(re.findall(r"^def (\w+)\(session", NOX, re.M))


@pytest.mark.parametrize("name", PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"])
def test_the_source_archive_has_what_it_names(name):
    assert (ROOT / name).exists()


def test_links_of_the_readme_lead_somewhere_and_are_none_on_an_index():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([\w./-]+\.(?:md|cff))(?:#[\w-]*)?\)", text)
    assert targets and all((ROOT / target).exists() for target in targets)
    code = re.findall(r"```.*?```", text, re.S)
    (substitution,) = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]
    shown = re.sub(substitution["pattern"], substitution["replacement"], text)
    assert code == re.findall(r"```.*?```", shown, re.S) and "](https://" in shown
    assert re.findall(r"\]\((?!https?:)(.*?)\)", re.sub(r"```.*?```", "", shown, flags=re.S)) == []


def test_addresses_are_links_to_be_followed():
    """Those of the source and of the site are not known before the first release; none is made up."""
    urls = PROJECT["project"]["urls"]
    assert "Papers" in urls and all(url.startswith("https://") and "example" not in url for url in urls.values())
    citation = (ROOT / "CITATION.cff").read_text()
    assert urls["Papers"] in citation


def test_extras_that_a_message_names_are_there():
    named = {
        name for path in SOURCES for name in re.findall(r"uat_jax\[(\w[\w-]*)\]", path.read_text(encoding="utf-8"))
    }
    assert "completion" in named and named <= PROJECT["project"]["optional-dependencies"].keys()


def test_versions_agree():
    citation = (ROOT / "CITATION.cff").read_text()
    assert _found(r"^version: (.*)$", citation)[0] == PROJECT["project"]["version"]
    ruff = next(r for r in PROJECT["project"]["optional-dependencies"]["lint"] if r.startswith("ruff=="))
    assert f"rev: v{ruff.removeprefix('ruff==')}" in (ROOT / ".pre-commit-config.yaml").read_text()


@pytest.mark.parametrize("path", sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.stem)
def test_issue_templates_ask_for_what_is_needed(path):
    text = path.read_text()
    if path.stem != "config":
        assert all(f"\n{key}:" in f"\n{text}" for key in ("name", "description", "title", "labels", "body"))
        assert "uat-jax --version" in text and "required: true" in text
