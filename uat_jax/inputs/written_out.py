"""Functions that an exporter writes out as polynomials, and that are read back as what they stand for.

StableHLO has no operation for erfc, its inverse, log Γ and their like: `jax.export` writes approximations of them,
whose coefficients are rounded, so that the file is not the function, only near it.  What is written is known, to the
last bit of every coefficient: an expression that is one of those in `written_out.json` is read as the function, which a
certificate lists as an assumption.  The file was made by this module, run with each version of JAX:

    python -m uat_jax.inputs.written_out
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
from jax.extend.mlir import ir

from uat_jax.inputs.mlir_expressions import TOLD_APART, Expression, expression, owner, splat
from uat_jax.inputs.mlir_parsing import parsed
from uat_jax.inputs.mlir_values import dtype_of
from uat_jax.inputs.rules import FUNCTIONS

FILE = Path(__file__).with_suffix(".json")

DTYPES = ("float32", "float64")
"""Narrower numbers are widened first, within which one of these is found."""

SHORTEST = 4
"""Expressions with fewer operations are left as they are."""


@functools.cache
def written_out() -> dict[str, tuple[tuple[str, Expression], ...]]:
    """The operation that computes the result → the names of functions, and what is written for them."""
    found: dict[str, list[tuple[str, Expression]]] = {}
    for name, expressions in json.loads(FILE.read_text()).items():
        for nodes in expressions:
            of = tuple(tuple(node) for node in nodes)
            found.setdefault(of[of[-1][1]][0], []).append((name, of))
    return {root: tuple(those) for root, those in found.items()}


def recognized(operation: ir.Operation) -> tuple[str, ir.Value] | None:
    """The function that an operation is the last step of, and what it is a function of."""
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


def exported(function: Callable, dtype: str) -> Expression | None:
    """What this version of JAX writes for a function of one number; None if that is no expression."""
    with jax.enable_x64(True):
        artifact = jax.export.export(jax.jit(function))(jax.ShapeDtypeStruct((), jnp.dtype(dtype)))
    module = parsed(artifact.mlir_module_serialized)
    (block,) = module.body.operations[0].regions[0].blocks
    *_, last = block.operations
    return expression(last.operands[0], list(block.arguments))


def main() -> None:
    """Add to the file what this version of JAX writes."""
    known = json.loads(FILE.read_text()) if FILE.exists() else {}
    for name, function in FUNCTIONS.items():
        for dtype in DTYPES:
            nodes = exported(function, dtype)
            if nodes is not None and len(nodes) > SHORTEST + 2:
                data = json.loads(json.dumps(nodes))
                known.setdefault(name, [])
                known[name] += [data] if data not in known[name] else []
    FILE.write_text(json.dumps(known, separators=(",", ":")) + "\n")
    print(f"jax {jax.__version__}: {', '.join(f'{name} {len(those)}' for name, those in known.items())}")


if __name__ == "__main__":
    main()
