"""How often the line of a planted mistake is named: ``python benchmarks/partings.py``.

One token of a table's source in tests/pairs is changed, such as + to -, in the right side of a true pair.  The file is
compiled again with its own line numbers, and the left side is compared with the changed right one.  Of the pairs that
are refuted, the row says for how many the certificate names the changed line as the one at which the right program
parts.
"""

from __future__ import annotations

import argparse
import ast
import copy
import functools
import importlib
import itertools
import random
import re
import sys
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax

import uat_jax
from uat_jax.decide.description import partings
from uat_jax.interpret.interpreter import programs_within
from uat_jax.interpret.tracing import source_line

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

TABLES = tuple(
    f"pairs.{name}"
    for name in (
        *("algebra", "attention", "cells", "gradients", "laws", "layers", "transformers"),
        *("rules.arithmetic", "rules.graphs", "rules.tensors"),
        *("libraries.jax_nn", "libraries.jax_numpy", "libraries.jax_scipy", "libraries.jax_linalg"),
        *("libraries.optax_losses", "libraries.flax_linen", "libraries.everyday_losses", "libraries.everyday_methods"),
    )
)
MISTAKES = 10
"""So many mistakes are planted in each table."""

SECONDS = 20.0
"""What a comparison may take."""

OPERATORS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.Lt: ast.Gt,
    ast.Gt: ast.Lt,
    ast.LtE: ast.GtE,
    ast.GtE: ast.LtE,
}
"""An operator, and the one that is written for it by mistake."""

NAMES = {
    **{"exp": "expm1", "log": "log1p", "log1p": "log", "sin": "cos", "cos": "sin", "tanh": "sinh", "sinh": "tanh"},
    **{"maximum": "minimum", "minimum": "maximum", "max": "min", "min": "max", "sum": "mean", "mean": "sum"},
    **{"prod": "sum", "sqrt": "square", "rsqrt": "sqrt", "square": "abs", "abs": "square", "relu": "abs"},
    **{"sigmoid": "tanh", "softmax": "log_softmax", "logsumexp": "max", "cumsum": "cumprod", "erf": "tanh"},
}
"""A function, and the one that is called by mistake."""


RIGHT = re.compile(r"right '[^']*' (?:at|near) [^;:]*:(\d+)")
"""The line of an operation of the right program."""


@dataclass(frozen=True)
class Planted:
    """A wrong pair: the true one, the changed right side, the line, and what was changed there."""

    table: str
    pair: Any
    wrong: Any
    lines: range
    change: str


class _Change(ast.NodeTransformer):
    """Changes one place of a syntax tree, counted in the order in which they are visited."""

    def __init__(self, wanted: int = -1):
        self.wanted, self.places, self.text = wanted, [], ""

    def _at(self, node: Any, text: str) -> bool:
        self.places.append(range(node.lineno, node.end_lineno + 1))
        if len(self.places) - 1 == self.wanted:
            self.text = text
        return len(self.places) - 1 == self.wanted

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        self.generic_visit(node)
        other = OPERATORS.get(type(node.op))
        if other and self._at(node, f"{type(node.op).__name__} → {other.__name__}"):
            return ast.copy_location(ast.BinOp(node.left, other(), node.right), node)
        return node

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        other = OPERATORS.get(type(node.ops[0]))
        if other and self._at(node, f"{type(node.ops[0]).__name__} → {other.__name__}"):
            return ast.copy_location(ast.Compare(node.left, [other(), *node.ops[1:]], node.comparators), node)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        minus = isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant)
        return node.operand if minus and self._at(node, "sign left out") else node

    def visit_Constant(self, node: ast.Constant) -> Any:
        if isinstance(node.value, float) and self._at(node, f"{node.value} → {1.25 * node.value + 0.5}"):
            return ast.copy_location(ast.Constant(1.25 * node.value + 0.5), node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        self.generic_visit(node)
        other = NAMES.get(node.attr)
        if other and self._at(node, f"{node.attr} → {other}"):
            return ast.copy_location(ast.Attribute(node.value, other, node.ctx), node)
        return node


def executed(module: types.ModuleType, tree: ast.Module) -> dict[str, Any]:
    """The names of a module whose source is this tree."""
    assert module.__file__
    names = {"__name__": module.__name__, "__package__": module.__package__, "__file__": module.__file__}
    exec(compile(tree, module.__file__, "exec"), names)
    return names


def rows(names: dict[str, Any]) -> dict[str, Any]:
    """The pairs of a table by name."""
    return {pair.name: pair for pair in names.get("PAIRS") or names["ROWS"]}


def lines_of(function: Any, specs: Sequence[Any], file: Path) -> set[int]:
    """The lines of a file at which operations of a function stand."""
    programs = programs_within(jax.make_jaxpr(function)(*map(spec_of, specs)))
    texts = {source_line(e) for p in programs for e in p.eqns}
    return {int(text.rpartition(":")[2]) for text in texts if text.startswith(f" at {file.name}:")}


def spec_of(spec: Any) -> Any:
    """The shapes and dtypes of a spec that may have a domain."""
    return jax.tree.map(lambda s: jax.ShapeDtypeStruct(s.shape, s.dtype), spec, is_leaf=lambda s: hasattr(s, "dtype"))


def planted(table: str, seed: int) -> Iterator[Planted]:
    """Wrong pairs of a table, in random order: each differs from a true one in one token of the right side."""
    module = importlib.import_module(table)
    file = Path(str(module.__file__))
    tree = ast.parse(file.read_text(encoding="utf-8"))
    looking = _Change()
    looking.visit(copy.deepcopy(tree))
    order = list(enumerate(looking.places))
    random.Random(f"{seed} {table}").shuffle(order)
    true = rows(vars(module))
    reached = functools.cache(lambda name: lines_of(true[name].right, true[name].specs, file))
    for place, lines in order:
        names = [name for name in true if not _fails(reached, name) and reached(name) & set(lines)]
        if not names:
            continue
        name = random.Random(f"{seed} {table} {place}").choice(names)
        change = _Change(place)
        try:
            changed = change.visit(copy.deepcopy(tree))
            wrong = rows(executed(module, changed))[name].right
        except Exception:  # no function any more
            continue
        yield Planted(table, true[name], wrong, lines, change.text)


def _fails(function: Any, *arguments: Any) -> bool:
    try:
        function(*arguments)
    except Exception:
        return True
    return False


def named(of: Planted) -> tuple[str, bool] | None:
    """Where the right program parts, and whether that is the planted line; None where it is not refuted."""
    try:
        certificate = uat_jax.certify(of.pair.left, of.wrong, *of.pair.specs, budget=SECONDS, seed=0)
    except Exception:  # such as shapes that do not fit any more: no function
        return None
    if certificate.verdict is not uat_jax.Verdict.REFUTED:
        return None
    text = "; ".join(partings(certificate))
    parted, _, changed = text.partition("they agree if ")
    lines = RIGHT.findall(changed) or RIGHT.findall(parted)
    return text, bool(lines) and int(lines[0]) in of.lines


def main() -> None:
    """Print where each wrong pair parts, and how often that is the planted line."""
    parser = argparse.ArgumentParser(description="How often the line of a planted mistake is named.")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mistakes", type=int, default=MISTAKES, help="in each table (default %(default)s)")
    parser.add_argument("tables", nargs="*", default=TABLES)
    options = parser.parse_args()
    total = right = 0
    for table in options.tables:
        found = ((of, where) for of in planted(table, options.seed) if (where := named(of)) is not None)
        for of, (text, is_right) in itertools.islice(found, options.mistakes):
            total, right = total + 1, right + is_right
            lines = f"{of.lines.start}" if len(of.lines) == 1 else f"{of.lines.start}-{of.lines.stop - 1}"
            print(
                f"{'right' if is_right else 'WRONG'}  {table}:{lines}  {of.change}  {of.pair.name}: {text}", flush=True
            )
    print(f"seed {options.seed}: the planted line is named for {right} of {total} wrong pairs, {right / total:.1%}")


if __name__ == "__main__":
    main()
