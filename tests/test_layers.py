"""Imports only run downwards, from the command line to the pillars symbolic, networks, interpret."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import uat_jax
import uat_jax.errors
import uat_jax.networks

ROOT = Path(uat_jax.__file__).parent
NUMBERS = {f"numbers.{part}" for part in ("floats", "balls", "integers", "prime_fields", "complex", "indexed")}
MAY_IMPORT = {
    "errors": set(),
    "typing": set(),  # names of types, for all
    "byte_sizes": {"errors"},
    "strict_json": set(),
    "devices": {"errors"},
    "symbolic": {"errors"},
    "networks": {"errors"},
    "interpret": {"errors", "byte_sizes"},
    "numbers": set(),
    "numbers.floats": {"errors", "byte_sizes", "devices", "interpret"},
    "numbers.balls": {"errors", "interpret", "numbers.floats"},
    "numbers.integers": {"errors", "interpret"},
    "numbers.prime_fields": {"errors", "byte_sizes", "devices", "interpret", "numbers.floats", "numbers.balls"},
    "numbers.complex": {"errors", "interpret", "numbers.prime_fields"},
    "lowering": {"errors", "symbolic"},
    "numbers.indexed": {"errors", "interpret", "numbers.floats", "numbers.balls", "numbers.prime_fields"},
    "inputs": {"errors", "strict_json", "interpret", *NUMBERS},
    "decide": {
        "errors",
        "byte_sizes",
        "strict_json",
        "devices",
        "symbolic",
        "lowering",
        "interpret",
        *NUMBERS,
        "inputs",
    },
    "decomposition": {"errors", "interpret", *NUMBERS, "networks"},
    "certification": {"errors", "symbolic", "networks", "decomposition", "decide"},
    "ledger": {"errors", "devices", "symbolic", "networks", "lowering", "decide"},
    "bench": {
        "errors",
        "byte_sizes",
        "compilation_cache",
        "devices",
        "symbolic",
        "lowering",
        "networks",
        "interpret",
        *NUMBERS,
        "decomposition",
        "decide",
        "ledger",
    },
    "report": {"errors", "decide", "ledger", "decomposition", "bench", "certification"},
    "terminal": set(),
    "imports": set(),
    "interrupts": set(),
    "cli": {"errors", "imports", "interrupts", "terminal"},
    "cli.options": {"decide", "devices"},
    "cli.certify": {"errors", "devices", "inputs", "decide", "report", "cli.options"},
    "cli.ledger": {"errors", "devices", "decide", "ledger", "report", "cli.options", "cli.hosts"},
    "cli.recheck": {"errors", "decide", "ledger", "cli.options"},
    "cli.completion": {"errors", "devices", "decide", "ledger", "cli"},
    "cli.bench": {"errors", "devices", "decide", "bench", "report", "cli.options"},
    "cli.hosts": {"errors", "decide"},
    "explanation": {"errors", "networks", "decomposition", "report"},
    "cli.decompose": {
        "errors",
        "devices",
        "networks",
        "decide",
        "decomposition",
        "report",
        "certification",
        "cli.options",
        "explanation",
    },
    "pytest_plugin": {"errors", "inputs", "decide", "report"},
    "compilation_cache": set(),
    "__main__": {"cli", "compilation_cache", "interrupts"},
    "__init__": {
        "errors",
        "imports",
        "symbolic",
        "lowering",
        "inputs",
        "decomposition",
        "decide",
        "ledger",
        "certification",
        "explanation",
        "networks",
    },
}
OUTSIDE = {"symbolic": {"sympy"}, "networks": {"jax", "numpy"}, "errors": set()}
"""Which third-party packages the pillars may use (optax and scikit-learn only by name, in train_digits)."""
STANDARD_LIBRARY = {"__future__", *__import__("sys").stdlib_module_names}
FILES = sorted(ROOT.rglob("*.py"))


def _part(path: Path) -> str:
    return _room("uat_jax." + ".".join(path.relative_to(ROOT).with_suffix("").parts))


def _room(module: str) -> str:
    """The room of a module; within the command line and the number systems, its part."""
    _, first, *rest = module.split(".")
    part = ".".join([first, *rest[:1]])
    return part if part in MAY_IMPORT else first


def _imported(source: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
            if node.module in ("uat_jax", "uat_jax.cli", "uat_jax.numbers"):
                found |= {f"{node.module}.{a.name}" for a in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


def _upward(part: str, source: str) -> set[str]:
    own = {_room(name) for name in _imported(source) if name.startswith("uat_jax.")}
    return own - MAY_IMPORT[part] - {part, "typing"}


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_run_downwards(path):
    assert _upward(_part(path), path.read_text()) == set()


@pytest.mark.parametrize("path", [p for p in FILES if _part(p) in OUTSIDE], ids=lambda p: str(p.relative_to(ROOT)))
def test_pillars_use_only_their_own_libraries(path):
    outside = {name.split(".")[0] for name in _imported(path.read_text())} - STANDARD_LIBRARY - {"uat_jax"}
    assert outside <= OUTSIDE[_part(path)]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_private_jax(path):
    assert "jax._src" not in path.read_text()


@pytest.mark.parametrize("folder", ["interpret", *(n.replace(".", "/") for n in sorted(NUMBERS - {"numbers.indexed"}))])
def test_the_map_of_a_room_names_its_files(folder):
    said = ast.get_docstring(ast.parse((ROOT / folder / "__init__.py").read_text())) or ""
    assert re.findall(r"^(\w+\.py) ", said, re.M) == sorted(p.name for p in (ROOT / folder).glob("[!_]*.py"))


def test_an_upward_import_is_seen():
    assert _upward("symbolic", "from uat_jax.ledger.claim import Claim") == {"ledger"}
    assert _upward("networks", "import uat_jax.symbolic.language") == {"symbolic"}
    assert _upward("decide", "from uat_jax import ledger") == {"ledger"}


@pytest.mark.parametrize("package", [uat_jax, uat_jax.networks], ids=lambda package: package.__name__)
def test_no_file_takes_the_name_of_a_function(package):
    """A submodule that is imported later would replace a function of the same name in its package."""
    exported = re.findall(r"^ *from (\S+) import (\w+) as \2$", Path(package.__file__).read_text(), re.M)
    assert exported
    for module, name in exported:
        if module != package.__name__:
            assert not inspect.ismodule(getattr(package, name)), name


def test_the_map_of_names_is_where_they_are_looked_up():
    """Names that are imported when they are first used stand in the map twice: for people, and for Python."""
    errors = [
        name
        for name, found in vars(uat_jax.errors).items()
        if inspect.isclass(found) and found.__module__ == "uat_jax.errors"
    ]
    later = re.findall(r"^    from (\S+) import (\w+) as (\w+)", Path(uat_jax.__file__).read_text(), re.M)
    assert {name: module for module, _, name in later} == uat_jax._LATER
    assert {name: there for _, there, name in later if there != name} == uat_jax._RENAMED
    assert set(uat_jax._LATER) <= set(dir(uat_jax))
    assert set(uat_jax.__all__) == {*uat_jax._LATER, *errors, "__version__"} <= set(dir(uat_jax))
    assert uat_jax.__all__ == sorted(uat_jax.__all__) and all(hasattr(uat_jax, name) for name in uat_jax.__all__)
    assert all(getattr(uat_jax, name).__name__ == there for _, there, name in later)


def test_importing_it_imports_nothing_heavy():
    """What decides, SymPy and the ledger are imported when they are used: JAX is what an import takes."""
    heavy = ("jax", "sympy", "flint")
    shown = f"import sys, uat_jax; print(*[m for m in sys.modules if m in {heavy} or m.startswith('uat_jax.')])"
    found = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["uat_jax.errors", "uat_jax.imports"]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("certify.verdict", "decide.verdict"),
        ("certify", "decide"),
        ("claims.ledger", "ledger.ledger"),
        ("loops.loop", "decide.loops.loop"),
        ("indexed.array", "numbers.indexed.array"),
        ("cli_bench", "cli.bench"),
    ],
)
def test_a_module_that_was_moved_is_named(before, now):
    package = now.removesuffix("." + before.partition(".")[2])
    with pytest.raises(ModuleNotFoundError, match=rf"what was in it is in uat_jax\.{re.escape(package)}$"):
        importlib.import_module(f"uat_jax.{before}")
    importlib.import_module(f"uat_jax.{now}")
    with pytest.raises(ModuleNotFoundError, match="No module named 'uat_jax.nowhere'"):
        importlib.import_module("uat_jax.nowhere")


def test_the_map_knows_no_other_names():
    with pytest.raises(AttributeError, match="has no attribute 'prove_all'"):
        _ = uat_jax.prove_all


NOT_NEEDED = ("sympy", "mpmath", "matplotlib", "rich", "scipy.special", "uat_jax.ledger", "uat_jax.symbolic")
"""What a first certificate of two functions does without."""

FIRST = """
import sys
import jax, jax.numpy as jnp
import uat_jax
spec = jax.ShapeDtypeStruct((3,), jnp.float32)
assert uat_jax.certify(lambda x: 2 * x, lambda x: x + x, spec).passes
print(*sys.modules)
{more}
print(*sys.modules)
"""


def test_a_first_certificate_imports_no_more_than_it_needs():
    """The twin: the symbolic part needs SymPy."""
    code = FIRST.format(more="uat_jax.derive")
    run = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True)
    first, then = (set(line.split()) for line in run.stdout.splitlines())
    assert not first & set(NOT_NEEDED)
    assert {"sympy", "uat_jax.symbolic"} <= then
