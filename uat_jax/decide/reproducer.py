"""A witness as a Python program that anyone can paste: both functions evaluated on it by plain JAX."""

import math
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.decide.counterexample import Counterexample
from uat_jax.decide.integers import WHOLE
from uat_jax.decide.named_function import place_of
from uat_jax.decide.script import literal, script
from uat_jax.decide.specification import WIDE, is_key, is_variable
from uat_jax.decide.static_arguments import WithStatic, is_static, shown
from uat_jax.inputs.program import Program
from uat_jax.interpret.jaxpr_values import generator_of
from uat_jax.interpret.tracing import is_complex
from uat_jax.typing import PyTree


def reproducer(
    left: Callable,
    right: Callable,
    arguments: tuple[Any, ...],
    witness: Counterexample,
    *,
    complex_outputs: bool = False,
    kernels: bool = False,
    wide: bool = False,
) -> str:
    """A program that prints both values of the entry that differs, and fails if they are equal.

    Functions that can be imported are; of others the program says that they must be put in.  It stands in the dtypes of
    the inputs, or in float64 where a difference does not show in these; one that float64 does not show either stands in
    the exact values, which are in a comment, and is not checked.

    complex_outputs: whether the functions return complex numbers, of which the witness counts both parts.
    kernels: whether they run kernels of Pallas, which the program leaves to JAX's interpreter of kernels on any device.
    wide: whether they compute in 64 bits, whatever the dtypes of the inputs.
    """
    fixed = next((side for side in (left, right) if isinstance(side, WithStatic)), None)
    if fixed is not None:
        arguments = fixed.merged(arguments)
        left, right = (side.function if isinstance(side, WithStatic) else side for side in (left, right))
    floats = any(jnp.issubdtype(array.dtype, jnp.floating) for array in witness.arrays)
    leaves = "parts" if complex_outputs else "jax.tree.leaves"
    place = "".join(f"[{index}]" for index in (witness.output, *witness.entry))
    notes = [f"# exact: {witness.exact[0]} and {witness.exact[1]}"]
    if not _shows(witness):
        widened = lambda of: of if of.dtype in WHOLE else replace(of, dtype="float64")
        witness = replace(witness, inputs=tuple(map(widened, witness.inputs)))
        notes.append("# in float64: narrower inputs would hide the difference")
    return script(
        "jnp",
        (*(KERNELS if kernels else ()), *_imported("left", left), *_imported("right", right), "", *notes, PRECISION),
        PARTS if complex_outputs else (),
        [*_arguments(arguments, witness), f"a, b = ({leaves}(f(*arguments)){place} for f in (left, right))"],
        values=("a", "b"),
        shown=("a", "b", "a - b") if floats else ("a", "b"),
        wide=wide or any(str(array.dtype) in WIDE for array in witness.arrays),
        checked=_shows(witness),
    )


PARTS = (
    "def parts(tree):",
    "    both = lambda x: (x.real, x.imag) if jnp.iscomplexobj(x) else (x,)",
    "    return [part for leaf in jax.tree.leaves(tree) for part in both(leaf)]",
)
"""The lines that define `parts`, the leaves of a tree with the real and the imaginary part of each complex one."""

KERNELS = (
    "from jax.experimental.pallas import tpu as pltpu",
    "",
    "pltpu.set_tpu_interpret_mode(True)  # kernels are interpreted on any device, as with interpret=True",
    "",
)
"""The lines after which `pallas_call` runs everywhere; functions may make their kernels when they are imported."""

PRECISION = 'jax.config.update("jax_default_matmul_precision", "highest")'


def _shows(witness: Counterexample) -> bool:
    """Whether the difference exceeds thirty-two roundings in the narrowest dtype of the inputs."""
    left, right = witness.left, witness.right
    if not (math.isfinite(left) and math.isfinite(right)):
        return left != right
    floats = [array.dtype for array in witness.arrays if jnp.issubdtype(array.dtype, jnp.floating)]
    coarsest = max((float(jnp.finfo(dtype).eps) for dtype in floats), default=0)
    return abs(left - right) > 32 * coarsest * max(abs(left), abs(right))


def _imported(name: str, function: Callable) -> list[str]:
    """The lines that make a function available as `name`."""
    if isinstance(function, Program) and function.source:
        return ["import uat_jax as uj", f"{name} = {function.source}"]
    module, path = place_of(function)
    if not module or not path or module == "__main__" or _looked_up(module, path) is not function:
        return [f"{name} = ...  # put in the {'first' if name == 'left' else 'second'} of the two functions"]
    first, *rest = path.split(".")
    if not rest:
        return [f"from {module} import {first} as {name}"]
    return [f"from {module} import {first}", f"{name} = {path}"]


def _looked_up(module: str, path: str) -> Any:
    found = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def _arguments(arguments: tuple[Any, ...], witness: Counterexample) -> list[str]:
    """The lines that make the tuple `arguments`: the witness's floats in the trees of the arguments."""
    leaves, tree = jax.tree.flatten(arguments)
    floats = iter(witness.arrays)
    text = lambda array: literal(array, "jnp", _dtype(array))
    value = lambda leaf: np.asarray(jax.random.key_data(leaf) if is_key(leaf.dtype) else leaf)
    given = lambda leaf: text(next(floats) if is_variable(leaf) else value(leaf))

    def array(leaf: PyTree) -> str:
        if is_static(leaf):
            return _fixed(leaf)
        if is_key(leaf.dtype):
            return f"jax.random.wrap_key_data({given(leaf)}, impl={generator_of(leaf.dtype)!r})"
        return f"jax.lax.complex({given(leaf)}, {given(leaf)})" if is_complex(leaf.dtype) else given(leaf)

    texts = list(map(array, leaves))
    written = _written(jax.tree.unflatten(tree, [_Leaf(text) for text in texts]))
    if written is not None:
        return [f"arguments = {written}"]
    return [
        "tree = ...  # put in jax.tree.structure(specs), of the tuple of inputs that were compared",
        f"arguments = jax.tree.unflatten(tree, [{', '.join(texts)}])",
    ]


def _dtype(array: np.ndarray) -> str:
    return "jnp.bool_" if array.dtype == np.bool_ else f"jnp.{array.dtype}"


def _fixed(value: Any) -> str:
    """The text of an argument that is no array."""
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
    return repr(value) if type(value) in (bool, int, float, str, bytes) else f"...  # put in {shown(value)}\n"


class _Leaf(str):
    """The text of an array."""


def _written(tree: PyTree) -> str | None:
    """A tree of tuples, lists, dictionaries and leaves as Python, or None if it has other containers."""
    if isinstance(tree, _Leaf) or tree is None:
        return str(tree)
    if type(tree) is dict:
        parts = [_written(value) for value in tree.values()]
        keys = list(tree)
        if None in parts or not all(isinstance(key, str | int) for key in keys):
            return None
        return "{" + ", ".join(f"{key!r}: {part}" for key, part in zip(keys, parts, strict=True)) + "}"
    if type(tree) not in (tuple, list):
        return None
    parts = [_written(value) for value in tree]
    if None in parts:
        return None
    inside = ", ".join(part for part in parts if part is not None)
    return f"[{inside}]" if type(tree) is list else f"({inside}{',' if len(parts) == 1 else ''})"
