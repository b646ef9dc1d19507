"""Whatever stands for a function, as a function: what is already one, and what has to be read."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jax

from uat_jax.errors import InputError
from uat_jax.inputs.program import Program
from uat_jax.typing import Function, PyTree

FunctionLike = Function | jax.export.Exported
"""What can be compared: a function of JAX, a program that was read or exported, a module of PyTorch."""

SNAPSHOT = ".snapshot.json"
"""How the names of snapshots end."""

SUFFIXES = (".mlir", ".stablehlo", ".mlirbc", ".bc", ".jax", ".export", ".bin", ".pt2", SNAPSHOT)
"""How the names of files end that are programs."""


def comparable(
    left: PyTree, right: PyTree, specs: tuple[PyTree, ...], weights: Mapping[str, PyTree] | None = None
) -> tuple[Function, Function, tuple[PyTree, ...]]:
    """Two functions and their inputs: programs that stand for functions are read, and say what their inputs are.

    Args:
        left, right: JAX functions, `Program`s, `jax.export.Exported`s, modules or exported programs of PyTorch.
        specs: the inputs; () asks the programs.
        weights: where the parameters of a PyTorch module are in the first argument; see `Weights`.

    Raises:
        InputError, UnsupportedError: what `read_stablehlo`, `read_torch` and `Weights` raise; weights without PyTorch.
    """
    if weights is not None and not any(map(_has_weights, (left, right))):
        raise InputError("got weights, and no module of PyTorch whose parameters they would name; leave them out")
    left, right = (_read(side, specs, weights) for side in (left, right))
    return left, right, specs or specs_of(left, right)


def _has_weights(side: PyTree) -> bool:
    return is_torch(side) or isinstance(side, Program) and bool(side.weights)


def _read(side: PyTree, specs: tuple[PyTree, ...], weights: Mapping[str, PyTree] | None) -> Any:
    """One side as a function; what is neither a program nor a module is returned as it is."""
    if isinstance(side, jax.export.Exported):
        from uat_jax.inputs.stablehlo import read_stablehlo

        side = read_stablehlo(side)
    elif is_torch(side):
        from uat_jax.inputs.torch_program import read_torch

        side = read_torch(side, *specs[1:] if has_parameters(side) else specs)
    if weights is not None and isinstance(side, Program) and side.weights:
        from uat_jax.inputs.weights import renamed

        side = renamed(side, weights, specs[0] if specs else None)
    return side


def has_parameters(module: PyTree) -> bool:
    """Whether a module of PyTorch has weights, which are the first argument then."""
    state: Any = module.state_dict() if callable(module.state_dict) else module.state_dict
    return any(tensor.is_floating_point() for tensor in state.values())


def is_torch(source: PyTree) -> bool:
    """Whether a thing is a module or an exported program of PyTorch, which is not imported to find out."""
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    return isinstance(source, torch.nn.Module | torch.export.ExportedProgram)


def is_file(name: str) -> bool:
    """Whether a name on the command line is that of a file, and not module:function."""
    return Path(name).is_file() or ":" not in name and name.endswith(SUFFIXES)


def read_file(name: str) -> Program:
    """The program in a file, by how its name ends: PyTorch's (.pt2), a snapshot, else StableHLO or of `jax.export`.

    Raises:
        InputError, UnsupportedError: what `read_stablehlo`, `read_torch` and `read_snapshot` raise.
    """
    if name.endswith(SNAPSHOT):
        from uat_jax.inputs.snapshot import read_snapshot

        return read_snapshot(Path(name))
    if name.endswith(".pt2"):
        from uat_jax.inputs.torch_program import read_torch

        return read_torch(name)
    from uat_jax.inputs.stablehlo import read_stablehlo

    return read_stablehlo(Path(name))


def specs_of(*functions: Callable) -> tuple[PyTree, ...]:
    """The inputs that one of the functions says it has.

    Raises:
        InputError: two of them say that they have different ones, or a program leaves sizes open.
    """
    known = [f for f in functions if isinstance(f, Program) and f.specs]
    if not known:
        silent = [f.__module__ for f in functions if isinstance(f, Program)]
        if silent:
            raise InputError(f"{silent[0]} leaves the sizes of its inputs open; pass specs")
        return ()
    first = known[0].specs
    for other in known[1:]:
        if _types(first) != _types(other.specs):
            raise InputError(
                f"{known[0].__module__} takes {_text(first)}, {other.__module__} takes {_text(other.specs)}; "
                "wrap one of them, so that both take the same"
            )
    return first


def _types(specs: tuple[PyTree, ...]) -> tuple[Any, list[tuple[str, str]]]:
    leaves, tree = jax.tree.flatten(specs)
    return tree, [(str(leaf.shape), str(leaf.dtype)) for leaf in leaves]


def _text(specs: tuple[PyTree, ...]) -> str:
    return ", ".join(f"{leaf.dtype}[{','.join(map(str, leaf.shape))}]" for leaf in jax.tree.leaves(specs)) or "nothing"


def readings_of(*functions: Callable) -> Mapping[str, str]:
    """What is read as a function, of all that are programs that were read."""
    inner = [inspect.unwrap(f, stop=lambda g: isinstance(g, Program)) for f in functions]
    return {what: name for f in inner if isinstance(f, Program) for what, name in f.readings.items()}
