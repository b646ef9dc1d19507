"""The pytest plugin as a user meets it: in a run of its own, with and without workers, with options and a report."""

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import jax
import pytest

import uat_jax as uj

USER = """
import jax, jax.numpy as jnp, pytest

X = jax.ShapeDtypeStruct((3,), jnp.float32)

def softmax(x):
    e = jnp.exp(x - x.max())
    return e / e.sum()

def doubled(x):
    return 2 * softmax(x)  # the mistake

def test_right(equivalent):
    assert equivalent(softmax, jax.nn.softmax, X).verdict == "CERTIFIED"

def test_wrong(equivalent):
    equivalent(softmax, doubled, X)

@pytest.mark.uat(seed=7, hazards="ignore")
def test_marked(equivalent):
    assert equivalent(softmax, jax.nn.softmax, X).settings["seed"] == 7
    assert equivalent(softmax, jax.nn.softmax, X, seed=8).settings["seed"] == 8

def test_seed_of_the_run(equivalent):
    assert equivalent(softmax, jax.nn.softmax, X).settings["seed"] == 5
"""
"""Four tests: one fails for its functions, and one without --uat-seed 5."""

ROOT = Path(__file__).parents[1]


PLUGIN = ("-p", "uat_jax.pytest_plugin", "-p", "no:cacheprovider")
"""The plugin is named, as it may not be installed."""


def write(folder, ini, test):
    (folder / "pytest.ini").write_text(ini)
    (folder / "test_user.py").write_text(test)


def run_apart(folder, *arguments, ini="[pytest]\n", test=USER):
    """pytest in a folder with one test file, as a process of its own."""
    write(folder, ini, test)
    environment = {
        **os.environ,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    command = [sys.executable, "-m", "pytest", *PLUGIN, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def run(folder, *arguments, ini="[pytest]\n", test=USER):
    """The same within this process, which has imported JAX already, and under JAX's own rules of promotion."""
    write(folder, ini, test)
    out, err, path = io.StringIO(), io.StringIO(), list(sys.path)
    options = (*PLUGIN, "--rootdir", str(folder), "--capture=sys", *arguments)
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        jax.numpy_dtype_promotion("standard"),
        jax.numpy_rank_promotion("allow"),
        warnings.catch_warnings(),
    ):
        warnings.resetwarnings()  # the run around this one makes errors of them
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT"):
            patch.delenv(name, raising=False)
        try:
            code = pytest.main(list(options))
        finally:
            sys.path[:] = path
            sys.modules.pop("test_user", None)  # the next folder has another file of this name
    return subprocess.CompletedProcess(options, code, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module", params=[(), ("-p", "xdist", "-n", "2")], ids=["one process", "two workers"])
def ran(request, tmp_path_factory):
    """The user's tests with options and a report."""
    folder = tmp_path_factory.mktemp("user")
    return folder, run_apart(folder, "--uat-seed", "5", "--uat-report", "report", *request.param)


def test_a_wrong_function_fails_with_verdict_and_line_and_the_others_pass(ran):
    _, found = ran
    assert found.returncode == 1 and "1 failed, 3 passed" in found.stdout, found.stdout + found.stderr
    assert "NotEquivalentError: REFUTED: test_user:softmax and test_user:doubled" in found.stdout
    line = 1 + USER.splitlines().index("    return 2 * softmax(x)  # the mistake")
    assert re.search(rf"they part: .*right 'mul' at \S*test_user.py:{line}", found.stdout)
    failure = found.stdout.partition("NotEquivalentError: ")[2].partition("short test summary")[0]
    assert len(failure.splitlines()) <= 40 and "__call__" not in failure


def test_every_comparison_is_in_the_report(ran):
    folder, found = ran
    page = (folder / "report" / "index.html").read_text()
    assert "5 comparisons are reported in" in found.stdout
    assert "<h1>Comparisons: 4 CERTIFIED, 1 REFUTED</h1>" in page and page.count("<tr data-verdict=") == 5
    links = re.findall(r'href="([^"#]+)"', page)
    assert len(set(links)) == 10 and {*links, "index.html"} == {path.name for path in (folder / "report").iterdir()}
    verdicts = sorted(str(uj.load(folder / "report" / link).verdict) for link in links if link.endswith(".json"))
    assert verdicts == ["CERTIFIED"] * 4 + ["REFUTED"]
    assert "src=" not in page and "://" not in page  # it needs nothing else


def test_settings_stand_in_the_ini_file_and_the_command_line_goes_before(tmp_path):
    ini = "[pytest]\nuat_seed = 4\nuat_budget = 60\nuat_report = out\n"
    test = USER.replace('["seed"] == 5', '["seed"] in (4, 5)')
    found = run(tmp_path, "-k", "seed_of", ini=ini, test=test)
    assert "1 passed" in found.stdout, found.stdout + found.stderr
    (path,) = (tmp_path / "out").glob("*.json")
    assert json.loads(path.read_text())["settings"]["seed"] == 4
    found = run(tmp_path, "-k", "seed_of", "--uat-seed", "5", ini=ini, test=test)
    (again,) = (tmp_path / "out").glob("*.json")
    assert again == path and json.loads(path.read_text())["settings"]["seed"] == 5


def test_it_is_silent_and_loads_no_jax_where_it_is_not_used(tmp_path):
    found = run_apart(tmp_path, "-q", test="import sys\ndef test_plain():\n    assert 'jax' not in sys.modules\n")
    assert found.returncode == 0 and "uat" not in found.stdout, found.stdout + found.stderr


BAD = {
    ("--uat-budget", "0"): "--uat-budget: got 0.0; wanted a number above 0",
    ("--uat-error", "nan"): "--uat-error: got nan; wanted a number above 0",
    ("--uat-seed", "one"): "argument --uat-seed: invalid int value: 'one'",
    ("--uat-report", "test_user.py"): "--uat-report: got test_user.py, which is a file; wanted a folder",
}


@pytest.mark.parametrize("options", BAD, ids=" ".join)
def test_bad_options_are_one_line(options, tmp_path):
    (tmp_path / "test_user.py").write_text(USER)
    found = run(tmp_path, *options)
    assert found.returncode == 4 and BAD[options] in found.stderr, found.stdout + found.stderr
    assert "Traceback" not in found.stderr


def test_a_bad_line_of_the_ini_file_is_named(tmp_path):
    found = run(tmp_path, ini="[pytest]\nuat_budget = soon\n")
    assert found.returncode == 4 and "uat_budget: got 'soon'; wanted seconds" in found.stderr


def test_settings_of_a_mark_have_names(tmp_path):
    test = USER.replace("uat(seed=7, hazards=", "uat(7, hazards=")
    found = run(tmp_path, "-k", "marked", test=test)
    assert found.returncode == 1 and "got uat(7); wanted settings by name" in found.stdout


UNUSABLE = """
import random, jax, jax.numpy as jnp, uat_jax as uj

X = jax.ShapeDtypeStruct((3,), jnp.float32)

def misfit(x):
    return x @ jnp.ones((4, 4))

def drawn(x):
    return x * random.random()

def test_misfit(equivalent):
    equivalent(misfit, misfit, X)

def test_misfit_asserted():
    uj.assert_equivalent(misfit, misfit, X)

def test_misfit_kept(unchanged):
    unchanged(misfit, X)

def test_drawn(equivalent):
    equivalent(drawn, drawn, X)

def test_setting(equivalent):
    equivalent(jnp.sin, jnp.sin, X, buget=3)
"""
"""What cannot be asked, in every way in which a test asks."""


@pytest.mark.parametrize("options", [(), ("--uat-update",)], ids=["", "update"])
def test_a_question_that_cannot_be_asked_shows_the_line_of_the_test_alone(options, tmp_path):
    """Neither our lines nor JAX's, of which there would be hundreds."""
    found = run(tmp_path, "-q", *options, test=UNUSABLE)
    assert found.returncode == 1 and "5 failed" in found.stdout, found.stdout + found.stderr
    shown = [line for line in found.stdout.splitlines() if line.startswith("E  ")]
    assert len(shown) == 5 and shown[0].endswith("at test_user.py:7"), found.stdout
    assert "the first time" in shown[3] and "did you mean budget?" in shown[4]
    assert "equivalence.py" not in found.stdout and "site-packages" not in found.stdout
    assert len(found.stdout.splitlines()) < 75


OUTSIDE = """
import pytest
from uat_jax.pytest_plugin import equivalent as called

@pytest.fixture(scope="session")
def kept(unchanged):
    return unchanged

def test_kept(kept):
    pass

def test_called():
    called(abs, abs)
"""
"""Fixtures used outside of a test: for a whole run, and as functions."""


def test_a_fixture_outside_of_a_test_is_refused(tmp_path):
    found = run(tmp_path, "-q", test=OUTSIDE)
    assert "1 failed, 1 error" in found.stdout, found.stdout + found.stderr
    assert "function scoped fixture unchanged with a session scoped request" in found.stdout
    assert 'Fixture "equivalent" called directly' in found.stdout


def test_the_example_of_the_readme(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    last = next(i for i, block in enumerate(blocks) if "(equivalent)" in block)
    found = run(tmp_path, test="\n".join(blocks[: last + 1]))
    assert "2 passed" in found.stdout, found.stdout + found.stderr


def test_the_error_has_the_certificate():
    spec = jax.ShapeDtypeStruct((), jax.numpy.float32)
    with pytest.raises(AssertionError) as failure:
        uj.assert_equivalent(jax.numpy.sin, jax.numpy.cos, spec)
    assert failure.value.certificate.verdict is uj.Verdict.REFUTED  # type: ignore[attr-defined]
