"""Functions that an exporter writes out as polynomials, and that are read back as what they stand for.

StableHLO has no operation for erfc, its inverse, log Γ and their like: `jax.export` writes approximations of them,
whose coefficients are rounded, so that the file is not the function, only near it.  What is written is known, to the
last bit of every coefficient: an expression that is one of those in `written_out.json` is read as the function, which a
certificate lists as an assumption.  Of what a version of JAX writes as a function that is called, with tables and calls
of its own, the file has the digest.  The file was made by this module, run with each version of JAX:

    python -m uat_jax.inputs.written_out
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path

import jax
import jax.numpy as jnp
from jax.extend.mlir import ir

from uat_jax.inputs.mlir_expressions import TOLD_APART, Expression, Node, callee, expression, owner, splat
from uat_jax.inputs.mlir_parsing import parsed
from uat_jax.inputs.mlir_values import dtype_of
from uat_jax.inputs.rules import FUNCTIONS

FILE = Path(__file__).with_suffix(".json")

DTYPES = (("float32", False), ("float32", True), ("float64", True))
"""Numbers, and whether JAX allows 64 bits: a constant is then one of 64 bits that is narrowed.

Narrower numbers are widened first, within which one of these is found.
"""

SHORTEST = 4
"""Expressions with fewer operations are left as they are."""


@functools.cache
def _known() -> dict[str, list[str | list[Node]]]:
    """The name of a function → the expressions, and the digests of expressions, that are written for it."""
    return json.loads(FILE.read_text())


@functools.cache
def written_out() -> dict[str, tuple[tuple[str, Expression], ...]]:
    """The operation that computes the result → the names of functions, and what is written for them."""
    found: dict[str, list[tuple[str, Expression]]] = {}
    for name, expressions in _known().items():
        for nodes in (each for each in expressions if not isinstance(each, str)):
            of = tuple(tuple(node) for node in nodes)
            found.setdefault(of[of[-1][1]][0], []).append((name, of))
    return {root: tuple(those) for root, those in found.items()}


@functools.cache
def written_functions() -> dict[str, str]:
    """The digest of what is in a function that is called → the name of the function it stands for."""
    return {of: name for name, expressions in _known().items() for of in expressions if isinstance(of, str)}


def digest(of: Expression) -> str:
    """A text that no two expressions share."""
    return hashlib.sha256(json.dumps(of).encode()).hexdigest()


def stands_for(function: ir.Operation, functions: Mapping[str, ir.Operation]) -> str | None:
    """The name of the function of one number that a function of the module is written for, entry by entry."""
    blocks = list(function.regions[0].blocks)
    *_, last = blocks[0].operations
    if len(blocks) != 1 or len(blocks[0].arguments) != 1 or len(last.operands) != 1:
        return None
    found = expression(last.operands[0], list(blocks[0].arguments), functions)
    return None if found is None else written_functions().get(digest(found))


def recognized(operation: ir.Operation, written: Mapping[str, str]) -> tuple[str, ir.Value] | None:
    """The function that an operation is the last step of, and what it is a function of.

    `written` has the functions of the module that stand for one.
    """
    if operation.name == "func.call" and (name := written.get(callee(operation))) is not None:
        return name, operation.operands[0]
    for name, nodes in written_out().get(operation.name, ()):
        if (argument := _argument(nodes, operation)) is not None:
            return name, argument
    return None


def _argument(nodes: Expression, operation: ir.Operation) -> ir.Value | None:
    """The value that an expression is applied to, if an operation computes it; all of it must be there."""
    arguments: list[ir.Value] = []
    seen: set[tuple[int, ir.Value]] = set()

    def fits(place: int, value: ir.Value) -> bool:
        if (place, value) in seen:
            return True
        seen.add((place, value))
        kind, *rest = nodes[place]
        if kind == "input":
            arguments.append(value)
            return value == arguments[0]
        *rest, dtype = rest
        found = owner(value)
        if found is None or str(dtype_of(value.type)) != dtype:
            return False
        if kind == "constant":
            return splat(found) == rest[0]
        told = [str(found.attributes[key]) for key in TOLD_APART if key in found.attributes]
        places, operands = rest[len(told) :], list(found.operands)
        if found.name != kind or rest[: len(told)] != told or len(places) != len(operands):
            return False
        return all(map(fits, places, operands))

    return arguments[0] if fits(nodes[-1][1], operation.results[0]) and arguments else None


def exported(function: Callable, dtype: str, wide: bool) -> tuple[Expression | None, bool]:
    """What this version of JAX writes for a function of one number, or None, and whether it calls functions for it."""
    with jax.enable_x64(wide):
        artifact = jax.export.export(jax.jit(function))(jax.ShapeDtypeStruct((), jnp.dtype(dtype)))
    module = parsed(artifact.mlir_module_serialized)
    functions = {str(f.attributes["sym_name"]).strip('"'): f.operation for f in module.body.operations}
    (block,) = functions["main"].regions[0].blocks
    *_, last = block.operations
    return expression(last.operands[0], list(block.arguments), functions), len(functions) > 1


def main() -> None:
    """Add to the file what this version of JAX writes."""
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    for name, function in FUNCTIONS.items():
        for dtype, wide in DTYPES:
            nodes, calls = exported(function, dtype, wide)
            if nodes is not None and len(nodes) > SHORTEST + 2:
                data = digest(nodes) if calls else json.loads(json.dumps(nodes))
                known.setdefault(name, [])
                known[name] += [data] if data not in known[name] else []
    FILE.write_text(json.dumps(known, separators=(",", ":")) + "\n")
    print(f"jax {jax.__version__}: {', '.join(f'{name} {len(those)}' for name, those in known.items())}")


if __name__ == "__main__":
    main()
