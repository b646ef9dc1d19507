"""`uat-jax certify`: verdict and reason on the terminal, a certificate in a file, and one line for every bad input."""

import importlib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from rich.console import Console

import uat_jax as uj
from uat_jax.cli import main
from uat_jax.cli.options import working
from uat_jax.devices import default_device
from uat_jax.report.equivalence import show_equivalence
from uat_jax.terminal import writes_anything

MODULE = "functions_of_a_test"
SOURCE = """
import jax, jax.numpy as jnp, numpy as np

def square(x): return (x + 1) ** 2
def expanded(x): return x * x + 2 * x + 1
def wrong(x): return x * x + 2 * x + 2
def shifted(x): return x * x + 2 * x + 7.0
def softmax(x): return jnp.exp(x) / jnp.sum(jnp.exp(x), axis=-1, keepdims=True)
def library(x): return jax.nn.softmax(x, axis=-1)
def matmul(x, w): return jnp.dot(x, w, precision="highest")
def einsum(x, w): return jnp.einsum("bh,ho->bo", x, w, precision="highest")
def transposed(x, w): return jnp.dot(x, w.T.reshape(w.shape), precision="highest")
def arcsinh(x): return jnp.arcsinh(-x)
def logarithm(x): return -jnp.log(x + jnp.sqrt(1 + x * x))
def step(x): return jnp.where(x > 0, np.float32(1), np.float32(0))
def closed_step(x): return jnp.where(x >= 0, np.float32(1), np.float32(0))
def magnitude(x): return jnp.abs(x)
def same(x): return x
def root(x): return jnp.sqrt(x) ** 2
def unstable(x): return jnp.exp(x) / (1 + jnp.exp(x))
def stable(x): return 1 / (1 + jnp.exp(-x))
def constant(x): return jnp.ones(3)
def pair(x): return x, x
def on_host(x): return np.asarray(x)
def branches(x): return x if x[0] > 0 else -x
def raising(x): raise RuntimeError("first line\\nsecond line")
def callback(x): return jax.experimental.io_callback(lambda x: x, x, x)
class Layer:
    @staticmethod
    def square(x): return square(x)
number = 3
def specs():
    vector = jax.ShapeDtypeStruct((3,), jnp.float32)
    return {"w": vector, "b": (vector, "tanh")}, vector
def one_spec(): return {"w": jax.ShapeDtypeStruct((3,), jnp.float32)}
def no_specs(): return ()
def raising_specs(): raise RuntimeError("first line\\nsecond line")
def of_tree(p, x): return getattr(jnp, p["b"][1])(p["w"] * x + p["b"][0])
def of_tree_again(p, x): return jnp.tanh(p["b"][0] + x * p["w"])
def of_tree_wrongly(p, x): return jnp.tanh(p["b"][0] - x * p["w"])
def of_one(p): return 2 * p["w"]
def of_one_again(p): return p["w"] + p["w"]
def random(x): return x * np.random.rand()
"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """The working directory, with a module of functions; afterwards nothing of it can be imported."""
    (tmp_path / f"{MODULE}.py").write_text(SOURCE)
    (tmp_path / "broken_of_a_test.py").write_text("raise ValueError('first line\\nsecond line')")
    (tmp_path / "unwritten_of_a_test.py").write_text("def f(:")
    (tmp_path / "leaving_of_a_test.py").write_text("import sys; sys.exit(3)")
    (tmp_path / "needing_of_a_test.py").write_text("import nowhere_at_all")
    before = set(sys.modules)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    importlib.invalidate_caches()
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.endswith("_of_a_test"):
            del sys.modules[name]


def _certify(left, right, *options):
    return main(["certify", f"{MODULE}:{left}", f"{MODULE}:{right}", *options])


V = ("--arg", "f32[3]")


# --- verdicts -------------------------------------------------------------------------------------------------------


def test_certified(capsys):
    assert _certify("square", "expanded", *V) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert lines[0] == f"CERTIFIED  {MODULE}:square  and  {MODULE}:expanded"
    assert re.match(r"  inputs +float32\[3\]$", lines[1])
    assert re.match(r"  prime fields equal except with probability 2\^-1\d\d \(a theorem\), in 2 rounds$", lines[2])
    assert any(line.startswith("  assuming  both are compared where they are defined") for line in lines)
    assert re.match(r"  decided in \d+\.\d s$", lines[-1])
    assert "exactly" not in printed.out and "Traceback" not in printed.err


def test_rounding_and_hazards_are_printed_and_kept(capsys):
    """A side that is NaN at 100 is still the same function of real numbers: exit code 0, and a line that says so."""
    assert _certify("unstable", "stable", *V, "--json", "c.json") == 0
    lines = capsys.readouterr().out.splitlines()
    assert "  hazard    left is NaN in entry [0] at x = [100, 0, 0]; right is 1 (NaN)" in lines
    assert any(re.match(r"  rounding  left at most [\d.]+ ULP and right at most [\d.]+ ULP from", x) for x in lines)
    assert [(h.kind, h.side) for h in uj.load("c.json").hazards] == [("NaN", "left")]
    assert _certify("square", "wrong", *V) == 1
    assert "rounding" not in capsys.readouterr().out


def test_refuted_with_a_reproducer_that_runs(capsys, own_folder):
    assert _certify("square", "wrong", *V) == 1
    text = capsys.readouterr().out
    assert text.startswith(f"REFUTED  {MODULE}:square  and  {MODULE}:wrong\n")
    assert "\n  exactly 1.00000000000000 against 2.00000000000000 at\n    [0.0, 0.0, 0.0]\n" in text
    script = text[text.index("import jax") :]
    assert f"from {MODULE} import square as left" in script
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=own_folder)
    assert done.stdout.split() == ["1.0", "2.0", "-1.0"], done.stderr


def test_agrees_is_no_success(capsys):
    assert _certify("arcsinh", "logarithm", *V) == 1
    text = capsys.readouterr().out
    assert text.startswith("AGREES  ") and "equal to 30 digits at 4 random inputs" in text


def test_vacuous_equality_is_unknown(capsys):
    assert _certify("constant", "constant", *V) == 1
    text = capsys.readouterr().out
    assert text.startswith("UNKNOWN  ") and "vacuous: neither function depends on its inputs" in text


def test_a_tiny_budget_is_unknown(capsys):
    assert _certify("square", "expanded", *V, "--budget", "1e-9") == 1
    text = capsys.readouterr().out
    assert text.startswith("UNKNOWN  ") and "the time is up" in text
    assert _certify("square", "expanded", *V, "--budget", "1e6") == 0


def test_a_method_of_a_class(capsys):
    assert _certify("Layer.square", "expanded", *V) == 0
    assert capsys.readouterr().out.startswith(f"CERTIFIED  {MODULE}:Layer.square")


def test_arguments_may_be_trees(capsys):
    """A function returns them: a tuple of arguments, or the only one."""
    specs = ("--specs", f"{MODULE}:specs")
    assert _certify("of_tree", "of_tree_again", *specs) == 0
    assert "assuming  input [0]['b'][1], which is no array, is fixed to 'tanh'" in capsys.readouterr().out
    assert _certify("of_tree", "of_tree_wrongly", *specs) == 1
    assert _certify("of_one", "of_one_again", "--specs", f"{MODULE}:one_spec") == 0
    assert _certify("of_tree", "of_tree_again", *specs, "--positive", "0/w") == 0


def test_an_argument_may_be_said_as_it_is_printed(capsys):
    assert _certify("square", "expanded", "--arg", "float32[3]") == 0
    assert _certify("square", "expanded", "--arg", "float32[3] in [0, 1]") == 0
    assert "  inputs    float32[3] in [0, 1]" in capsys.readouterr().out


def test_derivatives(capsys):
    """Functions that differ by a constant have the same derivative: the values are compared as well."""
    assert _certify("square", "expanded", *V, "--wrt", "grad", "--json", "c.json") == 0
    assert "float32[3], float32[3]" in capsys.readouterr().out  # the input and the cotangent
    assert uj.load("c.json").claim["derivatives"] is True
    assert _certify("square", "shifted", *V, "--wrt", "grad") == 1
    assert "REFUTED" in capsys.readouterr().out


# --- symbolic dimensions --------------------------------------------------------------------------------------------


def test_names_of_dimensions_are_shared_between_arguments(capsys):
    shapes = ("--arg", "f32[b,h]", "--arg", "f32[h,o]")
    assert _certify("matmul", "einsum", *shapes) == 0
    text = capsys.readouterr().out
    assert text.startswith("PROVED") and "inputs    float32[b,h], float32[h,o]" in text
    assert "all sizes: equal at all sizes" in text
    assert _certify("matmul", "transposed", *shapes) == 1
    assert capsys.readouterr().out.startswith("REFUTED")


def test_listed_sizes_are_the_claim(capsys):
    shapes = ("--arg", "f32[b,h]", "--arg", "f32[h,o]")
    assert _certify("matmul", "einsum", *shapes, "--sizes", "b=1,h=2,o=3", "--sizes", "b=4, h=2, o=1") == 0
    text = capsys.readouterr().out
    assert text.startswith("PROVED") and "b = 4, h = 2, o = 1: both are the same program" in text
    shown = "shown at these sizes of the symbolic dimensions b, h, o, and at no others"
    assert f"{shown}: b = 1, h = 2, o = 3; b = 4, h = 2, o = 1" in text
    assert "cannot trace" in _one_line(capsys, [MATMUL, EINSUM, "--arg", "f32[b,h]", "--arg", "f32[k,o]", *K])


MATMUL, EINSUM, K = f"{MODULE}:matmul", f"{MODULE}:einsum", ("--sizes", "b=1,h=2,k=3,o=1")


@pytest.mark.parametrize("shape", ["f64[2*h]", "bf16[h+1]", "f16[3]", "f32[ 2, 3 ]", "float32[4]"])
def test_other_arguments(shape, capsys):
    sizes = ("--sizes", "h=2") if "h" in shape else ()
    assert _certify("square", "expanded", "--arg", shape, *sizes) == 0
    assert capsys.readouterr().out.startswith("CERTIFIED")


# --- error and seed -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "error"), [("1e-30", 1e-30), ("2^-64", 2.0**-64), ("0.001", 0.001), ("10^-3", 10.0**-3)]
)
def test_the_chance_of_error_that_is_asked_for(text, error, capsys):
    assert _certify("softmax", "library", *V, "--error", text, "--json", "c.json") == 0
    assert uj.load("c.json").settings["error"] == error


def test_the_chance_of_error_by_default():
    assert _certify("softmax", "library", *V, "--json", "c.json") == 0
    assert uj.load("c.json").settings == {"error": 2.0**-128, "seed": 0}


def test_the_certificate_says_in_what_numbers_it_was_computed():
    """On a device that is asked for, and on JAX's own choice."""
    for options, device in (((), default_device()), (("--device", "cpu"), jax.local_devices(backend="cpu")[0])):
        assert _certify("square", "expanded", *V, *options, "--json", "c.json") == 0
        stated = uj.load("c.json").environment
        assert (stated["device_platform"], stated["device_kind"]) == (device.platform, device.device_kind)
        assert stated["matmul_precision"] == "highest"


def test_a_seed_gives_the_same_file(own_folder):
    for name, seed in (("a", "5"), ("b", "5"), ("c", "6")):
        assert _certify("softmax", "library", *V, "--seed", seed, "--json", f"{name}.json") == 0
    a, b, c = ((own_folder / f"{name}.json").read_text() for name in "abc")
    assert a == b != c


# --- options ---------------------------------------------------------------------------------------------------------


def test_a_domain_is_asked_for_and_stated(capsys):
    for domain, line in (
        ("> 0", "x > 0"),
        (">= 0", "x >= 0"),
        ("in [0, 1]", "0 <= x <= 1"),
        ("in (0, 2]", "0 < x <= 2"),
    ):
        assert _certify("root", "same", "--arg", f"f32[3] {domain}", "--json", "c.json") == 0
        printed = capsys.readouterr().out
        assert f"  inputs    float32[3] {domain}\n" in printed and f"  assuming  {line}\n" in printed
        assert uj.load("c.json").claim["inputs"] == [f"float32[3] {domain}"]
        assert main(["recheck", "c.json"]) == 0
    assert _certify("magnitude", "same", "--arg", "f32[n] >= 0", "--sizes", "n=1", "--sizes", "n=4") == 0
    assert _certify("magnitude", "same", "--arg", "f32[3] in [-1, 2]") == 1
    assert "REFUTED" in capsys.readouterr().out


def test_almost_everywhere_is_asked_for(capsys):
    assert _certify("step", "closed_step", "--arg", "f32[]") == 1
    assert "equal except where x = 0 (left 0, right 1); pass almost_everywhere=True" in capsys.readouterr().out
    assert _certify("step", "closed_step", "--arg", "f32[]", "--almost-everywhere") == 0
    assert "inputs    float32[], almost everywhere" in capsys.readouterr().out


def test_rounding_within_a_tolerance(capsys):
    for tolerance in ("64", "relative=1e-3", "absolute=1"):
        assert _certify("softmax", "library", *V, "--rounding", tolerance) == 0
        assert "refused" not in capsys.readouterr().out
    for tolerance, unit in (
        ("0.5", "ULP"),
        ("relative=1e-12", "of the largest entry"),
        ("absolute=1e-12", "in absolute"),
    ):
        assert _certify("softmax", "library", *V, "--rounding", tolerance) == 1
        printed = capsys.readouterr().out
        assert (
            printed.startswith("CERTIFIED") and "  refused   the left side may be off by" in printed and unit in printed
        )


def test_hazards_are_told_forbidden_or_ignored(capsys):
    for options, code, told, refused in (
        ((), 0, True, False),
        (("--hazards", "warn"), 0, True, False),
        (("--hazards", "forbid"), 1, True, True),
        (("--hazards", "ignore"), 0, False, False),
    ):
        assert _certify("softmax", "library", *V, *options) == code
        printed = capsys.readouterr().out
        assert printed.startswith("CERTIFIED")
        assert ("  hazard    left is NaN" in printed, "  refused   hazard: left is NaN" in printed) == (told, refused)
    assert _certify("softmax", "library", "--arg", "f32[3] in [-2, 2]", "--hazards", "forbid") == 0


def test_a_budget_is_kept(capsys):
    assert _certify("softmax", "library", *V, "--budget", "1e-9") == 1
    assert capsys.readouterr().out.startswith("UNKNOWN")


# --- the certificate ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("right", "code"), [("expanded", 0), ("wrong", 1)])
def test_the_certificate_can_be_decided_again(right, code, capsys, own_folder):
    assert _certify("square", right, *V, "--json", "deep/c.json") == code
    capsys.readouterr()
    (own_folder / f"{MODULE}.py").unlink()
    del sys.modules[MODULE]
    assert main(["recheck", "deep/c.json"]) == 0
    verdict = ("CERTIFIED", "REFUTED")[code]
    affirmed = "rechecked were the programs in it, not that they are the functions of that name"
    line = f"deep/c.json: {MODULE}:square and {MODULE}:{right} {verdict}, as the certificate says; {affirmed}\n"
    assert capsys.readouterr().out == line
    assert MODULE not in sys.modules
    assert sorted(p.name for p in (own_folder / "deep").iterdir()) == ["c.json"]


def test_a_tampered_certificate_is_not_accepted(capsys):
    assert _certify("square", "wrong", *V, "--json", "c.json") == 1
    body = json.loads(Path("c.json").read_text())
    body.update(verdict="CERTIFIED", passes=True)
    Path("d.json").write_text(json.dumps(body))
    capsys.readouterr()
    assert main(["recheck", "c.json", "d.json"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "REFUTED, as the certificate says; rechecked" in lines[0] and "says CERTIFIED, which is not" in lines[1]


# --- the terminal ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("right", ["expanded", "wrong"])
def test_output_does_not_depend_on_the_terminal(right, capsys, monkeypatch):
    texts = []
    for columns, term in (("20", "dumb"), ("300", "xterm-256color")):
        monkeypatch.setenv("COLUMNS", columns)
        monkeypatch.setenv("TERM", term)
        _certify("square", right, *V)
        texts.append(re.sub(r"decided in .* s", "", capsys.readouterr().out))
    assert texts[0] == texts[1] and "\x1b" not in texts[0]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_terminal_shows_lines_that_fit(width):
    """The text of a line stands in a column of its own; a program to copy is not folded."""
    for right in (jnp.tanh, lambda x: (jnp.exp(x) - jnp.exp(-x)) / (jnp.exp(x) + jnp.exp(-x))):
        certificate = uj.certify(lambda x: jnp.sinh(x) / jnp.cosh(x), right, jax.ShapeDtypeStruct((3,), jnp.float32))
        written = io.StringIO()
        show_equivalence(Console(file=written, force_terminal=True, width=width, color_system=None), certificate, 1.0)
        lines = written.getvalue().partition("  decided in")[0].splitlines()
        assert max(map(len, lines)) <= width
        assert all(line[2] != " " or not line[:12].strip() for line in lines[2:])


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_what_is_being_done_is_said_in_letters_that_there_are(encoding, monkeypatch):
    written = io.BytesIO()
    stream = io.TextIOWrapper(written, encoding=encoding, errors="backslashreplace")
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("FORCE_COLOR", "1")  # to be taken for a terminal
    writes_anything(stream)
    with working("comparing σ"):
        pass
    stream.flush()
    text = written.getvalue().decode(encoding)
    assert ("comparing σ" if encoding == "utf-8" else "comparing sigma") in text and "\\u" not in text
    assert ("⠋" in text) == (encoding == "utf-8")


# --- bad input ------------------------------------------------------------------------------------------------------

SQUARE, EXPANDED = f"{MODULE}:square", f"{MODULE}:expanded"
BAD = {
    "inputs in two ways": (
        [SQUARE, EXPANDED, *V, "--specs", f"{MODULE}:specs"],
        "got --specs and --arg; give the inputs",
    ),
    "one file for two": ([SQUARE, EXPANDED, *V, "--html", "c.json"], "got c.json for --json and for --html; give each"),
    "specs of no function": ([SQUARE, EXPANDED, "--specs", f"{MODULE}:number"], "is a int; name a function"),
    "specs that need something": (
        [SQUARE, EXPANDED, "--specs", SQUARE],
        "square() raised TypeError: square() missing 1 required positional argument: 'x'; wanted a function of no arg",
    ),
    "specs of nothing": ([SQUARE, EXPANDED, "--specs", f"{MODULE}:no_specs"], "got no input that is a variable"),
    "specs that raise": (
        [SQUARE, EXPANDED, "--specs", f"{MODULE}:raising_specs"],
        "raising_specs() raised RuntimeError: first line second line; wanted",
    ),
    "function like another": ([f"{MODULE}:expandd", SQUARE, *V], "has no 'expandd'; did you mean 'expanded'?"),
    "module inside a module that is missing": (["jax.nowhere:f", SQUARE, *V], "cannot import 'jax.nowhere': ModuleNot"),
    "module that imports what is missing": (
        ["needing_of_a_test:f", SQUARE, *V],
        "No module named 'nowhere_at_all'; import needing_of_a_test in Python shows where",
    ),
    "another function each time": (
        [f"{MODULE}:random", SQUARE, *V],
        f"random is another program each time it is traced: 'mul' at {MODULE}.py:",
    ),
    "sizes and all sizes": (
        [SQUARE, EXPANDED, "--arg", "f32[n]", "--generalize", "--sizes", "n=3"],
        "got --generalize and --sizes; a proof for all sizes is looked for, or the list is the claim",
    ),
    "pattern that fits nothing": ([SQUARE, EXPANDED, *V, "--positive", "y"], "no input has a name like 'y'"),
    "file for a module": (["functions.py:f", SQUARE, *V], "write functions:f"),
    "unknown module": (["nowhere_of_a_test:f", SQUARE, *V], "cannot import 'nowhere_of_a_test': ModuleNotFoundError"),
    "module that raises": (["broken_of_a_test:f", SQUARE, *V], "cannot import 'broken_of_a_test': ValueError: first"),
    "module that is no Python": (["unwritten_of_a_test:f", SQUARE, *V], "SyntaxError"),
    "module that leaves": (["leaving_of_a_test:f", SQUARE, *V], "cannot import 'leaving_of_a_test': SystemExit"),
    "relative module": ([".functions:f", SQUARE, *V], "cannot import '.functions'"),
    "module of two lines": (["a\nb:f", SQUARE, *V], "cannot import"),
    "unknown function": ([f"{MODULE}:cube", SQUARE, *V], "has no 'cube'; check the name"),
    "unknown attribute": ([f"{MODULE}:square.inner.f", SQUARE, *V], "has no 'square.inner.f'"),
    "not callable": ([f"{MODULE}:number", SQUARE, *V], f"'{MODULE}:number' is a int; name a function"),
    "no function": ([MODULE, SQUARE, *V], "write module:function"),
    "no module": ([":square", SQUARE, *V], "write module:function"),
    "one function": ([SQUARE], "required: MODULE:FUNCTION"),
    "no argument": ([SQUARE, EXPANDED], "pass at least one array"),
    "too many arguments": ([SQUARE, EXPANDED, *V, *V], "takes 1 positional argument but 2 were given"),
    "too few arguments": ([f"{MODULE}:matmul", f"{MODULE}:einsum", *V], "missing 1 required positional argument: 'w'"),
    "malformed argument": ([SQUARE, EXPANDED, "--arg", "f32"], "got 'f32' for an input"),
    "unknown dtype": ([SQUARE, EXPANDED, "--arg", "f8[3]"], "got 'f8[3]' for an input"),
    "integer dtype": ([SQUARE, EXPANDED, "--arg", "i3[3]"], "got 'i3[3]' for an input"),
    "integer range": ([SQUARE, EXPANDED, "--arg", "u8[3] in [0, 256]"], "uint8 holds 0 to 255: choose ends within"),
    "sizes a word": (
        [SQUARE, EXPANDED, "--arg", "f32[n]", "--sizes", "all"],
        "got 'all' for sizes; write one for each",
    ),
    "sizes half": ([SQUARE, EXPANDED, "--arg", "f32[n]", "--sizes", "n="], "got 'n=' for sizes"),
    "size twice": ([SQUARE, EXPANDED, "--arg", "f32[n]", "--sizes", "n=1,n=2"], "got 'n=1,n=2' for sizes"),
    "sizes twice": ([SQUARE, EXPANDED, "--arg", "f32[n]", "--sizes", "n=1", "--sizes", "n=1"], "n = 1 twice"),
    "size 0": ([SQUARE, EXPANDED, "--arg", "f32[n]", "--sizes", "n=0"], "got n = 0; wanted a whole number"),
    "sizes of nothing": ([SQUARE, EXPANDED, *V, "--sizes", "n=1"], "no input has a symbolic dimension"),
    "almost everywhere a word": ([SQUARE, EXPANDED, *V, "--almost-everywhere=yes"], "ignored explicit argument"),
    "open bracket": ([SQUARE, EXPANDED, "--arg", "f32[3"], "got 'f32[3' for an input"),
    "no number": ([SQUARE, EXPANDED, "--arg", "f32[3,,4]"], "got 'f32[3,,4]' for an input"),
    "fraction": ([SQUARE, EXPANDED, "--arg", "f32[1.5]"], "got 'f32[1.5]' for an input"),
    "code": ([SQUARE, EXPANDED, "--arg", "f32[__import__('os')]"], "for an input"),
    "empty": ([SQUARE, EXPANDED, "--arg", ""], "got '' for an input"),
    "two lines": ([SQUARE, EXPANDED, "--arg", "f32[3]\nf32"], "for an input"),
    "dimension 0": ([SQUARE, EXPANDED, "--arg", "f32[0]"], "every dimension must be at least 1"),
    "negative dimension": ([SQUARE, EXPANDED, "--arg", "f32[-3]"], "every dimension must be at least 1"),
    "other wrt": ([SQUARE, EXPANDED, *V, "--wrt", "hessian"], "got wrt='hessian'"),
    "contradiction": ([SQUARE, EXPANDED, "--arg", "f32[3] in [2, 1]"], "no input satisfies 2 <= x <= 1"),
    "no domain": ([SQUARE, EXPANDED, "--arg", "f32[3] positive"], "got 'positive' for a domain; write > 0"),
    "domain outside the dtype": (
        [SQUARE, EXPANDED, "--arg", "f16[3] in [0, 1e5]"],
        "float16 holds numbers up to 65504",
    ),
    "tolerance 0": ([SQUARE, EXPANDED, *V, "--rounding", "0"], "got '0' for a tolerance; write 16 for that many"),
    "tolerance NaN": ([SQUARE, EXPANDED, *V, "--rounding", "nan"], "wanted a finite number above 0"),
    "less than a ULP": ([SQUARE, EXPANDED, *V, "--rounding", "1e-4"], "got '1e-4' for a tolerance; write 16"),
    "tolerance in words": ([SQUARE, EXPANDED, *V, "--rounding", "small"], "got 'small' for a tolerance"),
    "other hazards": ([SQUARE, EXPANDED, *V, "--hazards", "fail"], "got hazards='fail'; wanted one of warn"),
    "error 0": ([SQUARE, EXPANDED, *V, "--error", "0"], "got error=0.0; wanted a probability"),
    "error 1": ([SQUARE, EXPANDED, *V, "--error", "1"], "got error=1.0; wanted a probability"),
    "negative error": ([SQUARE, EXPANDED, *V, "--error=-1"], "got error=-1.0; wanted a probability"),
    "error NaN": ([SQUARE, EXPANDED, *V, "--error", "nan"], "got error=nan"),
    "error a word": ([SQUARE, EXPANDED, *V, "--error", "small"], "got 'small' for a probability"),
    "error half a power": ([SQUARE, EXPANDED, *V, "--error", "2^"], "got '2^' for a probability"),
    "error a power of 0": ([SQUARE, EXPANDED, *V, "--error", "0^-1"], "got '0^-1' for a probability"),
    "error a huge power": ([SQUARE, EXPANDED, *V, "--error", "2^5000"], "got '2^5000' for a probability"),
    "error no real power": ([SQUARE, EXPANDED, *V, "--error=-2^0.5"], "error"),
    "budget 0": ([SQUARE, EXPANDED, *V, "--budget", "0"], "got budget=0.0; wanted seconds"),
    "negative budget": ([SQUARE, EXPANDED, *V, "--budget=-1"], "got budget=-1.0; wanted seconds"),
    "budget NaN": ([SQUARE, EXPANDED, *V, "--budget", "nan"], "got budget=nan; wanted seconds"),
    "budget a word": ([SQUARE, EXPANDED, *V, "--budget", "long"], "invalid float value: 'long'"),
    "negative seed": ([SQUARE, EXPANDED, *V, "--seed=-1"], "got seed=-1"),
    "seed too large": ([SQUARE, EXPANDED, *V, "--seed", str(2**31)], "got seed=2147483648"),
    "seed a word": ([SQUARE, EXPANDED, *V, "--seed", "x"], "invalid int value: 'x'"),
    "different outputs": ([SQUARE, f"{MODULE}:pair", *V], "the functions return different trees"),
    "different shapes": (
        [SQUARE, f"{MODULE}:constant", "--arg", "f32[4]"],
        "returns float32[4], the second float32[3]",
    ),
    "untraceable": ([SQUARE, f"{MODULE}:on_host", *V], "JAX cannot trace on_host: TracerArrayConversionError"),
    "looks at values": ([SQUARE, f"{MODULE}:branches", *V], "JAX cannot trace branches: TracerBoolConversionError"),
    "raises": ([SQUARE, f"{MODULE}:raising", *V], "JAX cannot trace raising: RuntimeError: first line"),
    "callback": ([SQUARE, f"{MODULE}:callback", *V], "calls back to the host with 'io_callback'"),
    "unknown device": (
        [SQUARE, EXPANDED, *V, "--device", "abacus"],
        "got device 'abacus'; choose one of",
    ),
    "no such device": ([SQUARE, EXPANDED, *V, "--device", "tpu"], "got device 'tpu', which JAX does not find here"),
    "unknown option": ([SQUARE, EXPANDED, *V, "--tolerance", "1"], "unrecognized arguments: --tolerance 1"),
}


def _one_line(capsys, arguments):
    try:
        code = main(["certify", *arguments])
    except SystemExit as stop:  # argparse
        code = stop.code
    printed = capsys.readouterr()
    assert code == 2 and printed.out == ""
    assert printed.err.count("\n") == 1 and printed.err.startswith("uat-jax: ") and "Traceback" not in printed.err
    return printed.err


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_line_and_writes_nothing(case, capsys, own_folder):
    arguments, message = BAD[case]
    before = sorted(own_folder.rglob("*"))
    assert message in _one_line(capsys, [*arguments, "--json", "c.json"])
    assert sorted(own_folder.rglob("*")) == before


def test_a_file_that_cannot_be_written_is_found_out_first(capsys, own_folder, monkeypatch):
    monkeypatch.setattr("uat_jax.cli.certify.certify", lambda *_, **__: pytest.fail("the work was done first"))
    (own_folder / "file").write_text("")
    (own_folder / "folder").mkdir()
    before = sorted(own_folder.rglob("*"))
    for target, message in (("folder", "it is a folder"), ("file/c.json", "cannot write")):
        assert message in _one_line(capsys, [SQUARE, EXPANDED, *V, "--json", target])
    assert sorted(own_folder.rglob("*")) == before


def test_a_file_from_before_survives_bad_input(capsys, own_folder):
    (own_folder / "c.json").write_text("before")
    _one_line(capsys, [SQUARE, f"{MODULE}:pair", *V, "--json", "c.json"])
    assert (own_folder / "c.json").read_text() == "before"


def test_python_minus_m(own_folder):
    """As a user starts it, in another process, with progress on a stream that is no terminal."""
    package = str(Path(uj.__file__ or "").parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "uat_jax", "certify", SQUARE, f"{MODULE}:branches", *V],
        capture_output=True,
        text=True,
        cwd=own_folder,
        env={**os.environ, "PYTHONPATH": package},
    )
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "JAX cannot trace branches" in done.stderr


# --- files ----------------------------------------------------------------------------------------------------------

BEFORE = """func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.add %x, %x : tensor<3xf32>
  %1 = stablehlo.multiply %0, %x : tensor<3xf32>
  return %1 : tensor<3xf32>
}
"""
AFTER = BEFORE.replace("add %x, %x", "multiply %x, %x").replace("multiply %0, %x", "add %0, %0")


def test_files_are_functions(own_folder, capsys):
    (own_folder / "before.mlir").write_text(BEFORE)
    (own_folder / "after.mlir").write_text(AFTER)
    (own_folder / "wrong.mlir").write_text(AFTER.replace("add %0, %0", "add %0, %x"))
    (own_folder / "other.mlir").write_text(AFTER.replace("3xf32", "4xf32"))
    assert main(["certify", "before.mlir", "after.mlir"]) == 0
    assert main(["certify", "before.mlir", "wrong.mlir"]) == 1
    out = capsys.readouterr().out
    assert "CERTIFIED" in out and "REFUTED" in out and "uj.read_stablehlo('before.mlir')" in out
    assert main(["certify", "before.mlir", f"{MODULE}:square"]) == 1
    assert main(["certify", "before.mlir", "other.mlir"]) == 2
    assert "before.mlir takes float32[3], other.mlir takes float32[4]" in capsys.readouterr().err


def test_a_function_may_be_called_like_a_file(own_folder):
    """After a colon stands a function, unless there is such a file."""
    with (own_folder / f"{MODULE}.py").open("a") as module:
        module.write("Layer.export = staticmethod(expanded)\n")
    assert main(["certify", f"{MODULE}:Layer.export", f"{MODULE}:square", *V]) == 0


BAD_FILES = {
    "missing.mlir": (None, "cannot read missing.mlir: No such file or directory"),
    "cut_off.mlir": (BEFORE[:100].encode(), "cut_off.mlir cannot be read as StableHLO: line"),
    "noise.mlir": (b"ML\xefR" + bytes(range(256)), "noise.mlir cannot be read as StableHLO"),
    "noise.jax": (bytes(range(256)), "noise.jax cannot be read: it is no StableHLO and no artifact"),
    "missing.pt2": (None, "PyTorch is not installed|there is no such file"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files_are_one_line(name, own_folder, capsys):
    content, message = BAD_FILES[name]
    if content is not None:
        (own_folder / name).write_bytes(content)
    assert main(["certify", name, f"{MODULE}:square"]) == 2
    error = capsys.readouterr().err
    assert re.search(message, error) and error.count("\n") == 1
