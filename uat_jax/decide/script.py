"""The text of a program that shows a counterexample: imports, arrays, what is printed, and the check at the end.

Programs of the ledger are written for NumPy (`numpy_program.py`), functions for JAX (`reproducer.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

IMPORTS = {"np": ("import numpy as np",), "jnp": ("import jax", "import jax.numpy as jnp")}
"""The module of the arrays → the lines that import it."""

DENSE = 16
"""Arrays up to this many entries are written out; larger ones of JAX entry by entry where few entries are not zero."""

ZEROS_PER_LINE = 8


def script(
    module: str,
    functions: Sequence[str],
    *blocks: Sequence[str],
    values: tuple[str, str],
    shown: Sequence[str],
    wide: bool = False,
    checked: bool = True,
) -> str:
    """A program that computes two arrays, prints them, and fails if they are equal.

    Args:
        module: "np" or "jnp", of which the arrays are.
        functions: the lines that import or define what is called; they follow the imports of the module.
        *blocks: the lines that compute both values; empty ones are left out.
        values: the variables that hold the two arrays in the end.
        shown: the expressions that are printed.
        wide: whether JAX computes in 64 bits.
        checked: whether the program fails where the values are equal; not if these floats may hide the difference.
    """
    check = [
        f"if {module}.array_equal({', '.join(values)}):",
        '    raise SystemExit("both values are equal: nothing is refuted")',
    ]
    ending = [f"print({', '.join(shown)})", *(check if checked else ())]
    body = "\n\n".join("\n".join(block) for block in (*blocks, ending) if block)
    if wide:
        lines = (f"    {line}" if line else "" for line in body.splitlines())
        body = "\n".join(("with jax.enable_x64(True):", *lines))
    return "\n".join((*IMPORTS[module], *functions, "", body)) + "\n"


def literal(array: np.ndarray, module: str, dtype: str) -> str:
    """An array as an expression, exact in its dtype; ``dtype`` is what that is called in the program."""
    numbers = array if array.dtype.kind in "biu" else array.astype(np.float64)  # writes floats of any dtype exactly
    entries, zeros = np.argwhere(numbers), f"{module}.zeros({array.shape}, {dtype})"
    if not len(entries):
        return zeros
    if module == "jnp" and array.size > DENSE >= len(entries):
        return zeros + "".join(f".at[{', '.join(map(str, e))}].set({numbers[tuple(e)].item()})" for e in entries)
    typed = "" if dtype == "int" else f", {dtype}"
    return f"{module}.array({numbers.tolist()}{typed})"


def assigned(arrays: Mapping[str, np.ndarray]) -> Iterator[str]:
    """Named NumPy arrays of whole numbers: those that are not zero, one per line; then the zeros, by shape."""
    zeros: dict[tuple[int, ...], list[str]] = {}
    for name, array in arrays.items():
        if np.any(array):
            yield f"{name} = {literal(array, 'np', 'int')}"
        else:
            zeros.setdefault(array.shape, []).append(name)
    for shape, names in zeros.items():
        lines = (names[start : start + ZEROS_PER_LINE] for start in range(0, len(names), ZEROS_PER_LINE))
        yield from (f"{' = '.join(line)} = {literal(np.zeros(shape), 'np', 'int')}" for line in lines)
