"""The arrays that letters stand for: found by name, made two-dimensional, and what they say of the dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import sympy

from uat_jax.errors import InputError, ShapeError
from uat_jax.symbolic import language as m

Array = jax.Array
Arrays = Mapping[str, Any]


def given(letters: Sequence[m.Letter], arrays: Arrays) -> dict[m.Letter, Array]:
    """The arrays of the letters.  Raises `InputError` for a missing array and for two letters of one name."""
    names = list(map(str, letters))
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two different letters are both written {twice}; wanted a name of its own for each")
    missing = [str(l) for l in letters if str(l) not in arrays]
    if missing:
        raise InputError(f"no array for {', '.join(missing)}; wanted one for each of {', '.join(map(str, letters))}")
    return {l: jnp.asarray(arrays[str(l)]) for l in letters}


def matrices(arrays: Mapping[m.Letter, Array]) -> dict[m.Letter, Array]:
    """Columns that were given as vectors as matrices with one column.  Raises `ShapeError` for other vectors."""
    return {letter: _matrix(letter, array) for letter, array in arrays.items()}


def _matrix(letter: m.Letter, array: Array) -> Array:
    if array.ndim == 1 and letter.shape[1] == 1:
        return array[:, None]
    if array.ndim != 2:
        raise ShapeError(f"the array {letter} has shape {array.shape}; wanted {_written(letter)}")
    return array


def dimensions(shapes: Mapping[m.Letter, tuple[int, ...]], known: Mapping[sympy.Expr, int]) -> dict[sympy.Expr, int]:
    """Solve the letters' symbolic shapes against the arrays' shapes.

    Raises `ShapeError` naming the array, its shape and the shape its letter has.
    """
    pairs = [(size, n, l) for l, shape in shapes.items() for size, n in zip(l.shape, shape, strict=True)]
    found: dict[Any, int] = dict(known)
    progress = True
    while progress:
        progress = False
        for size, number, _ in pairs:
            unknown = [s for s in _symbols(size) if s not in found]
            if len(unknown) == 1:
                found[unknown[0]] = _solve(size, number, unknown[0], found)
                progress = True
    for size, _, letter in pairs:
        wanted = [size.xreplace(found) for size in letter.shape]
        if wanted != list(shapes[letter]):
            rows, columns = wanted
            raise ShapeError(
                f"the array {letter} has shape {shapes[letter]}; wanted {_written(letter)} = ({rows}, {columns})"
            )
    return found


def _written(letter: m.Letter) -> str:
    return f"({letter.shape[0]}, {letter.shape[1]})"


@cache
def _symbols(size: sympy.Expr) -> tuple[Any, ...]:
    indexed = sorted(size.atoms(sympy.Indexed), key=str)
    inside = {s for i in indexed for s in i.free_symbols}
    return *indexed, *sorted((s for s in size.free_symbols - inside), key=str)


def _solve(size: Any, number: int, symbol: sympy.Expr, known: dict[sympy.Expr, int]) -> Any:
    """The solution rounded down, or 0 if there is none: an array for which it is no whole number does not fit."""
    if size == symbol:
        return sympy.Integer(number)
    placeholder = sympy.Symbol("unknown", nonnegative=True)
    equation = size.xreplace(known).xreplace({symbol: placeholder}) - number
    return sympy.floor(max(sympy.solve(equation, placeholder), default=0))
