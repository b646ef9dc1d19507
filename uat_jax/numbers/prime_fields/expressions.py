"""Expressions: which computation each number of a draw is the result of, the same computation always the same place.

Two programs that are evaluated at one draw share the table, so that equal places mean equal values at every input.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.extend.core import JaxprEqn

from uat_jax.interpret.concrete import is_keys
from uat_jax.interpret.operation import operation_of
from uat_jax.typing import Array

COMMUTATIVE = frozenset("add add_any and eq max min mul ne or xor".split())
"""Primitives of two operands whose order makes no difference."""


@dataclass(frozen=True)
class Expression:
    """One entry of the table.

    shape: of the array.  equation: what computes it, or None for inputs and constants.  operands: places.  result:
    which result of the equation it is.  constant: the value of a constant array.  dtype: of floats in the program, ""
    where the constant is the number that is written.
    """

    shape: tuple[int, ...]
    equation: JaxprEqn | None = None
    operands: tuple[int, ...] = ()
    result: int = 0
    constant: np.ndarray | None = None
    dtype: str = ""


class Expressions:
    """The table of one draw.

    open: places of values that depend on how a decision between equal numbers is made.  doubtful: places of decisions
    about numbers that may be undefined, and of casts of them to integers, so that NaN may be what is decided about.
    inputs: places of inputs.  supports: where the arrays at some places may be something else than 0.  results: what
    an operation gave on what stands at some places, and whether it decided between equal numbers.
    """

    def __init__(self) -> None:
        self.open: set[int] = set()
        self.inputs: set[int] = set()
        self.doubtful: set[int] = set()
        self.supports: dict[int, np.ndarray] = {}
        self.results: dict[Any, tuple[list[Any], bool]] = {}
        self._places: dict[Hashable, int] = {}
        self._all: list[Expression] = []

    def __getitem__(self, place: int) -> Expression:
        return self._all[place]

    def _place(self, key: Any, expression: Expression) -> int:
        if key not in self._places:
            self._places[key] = len(self._all)
            self._all.append(expression)
        return self._places[key]

    def input(self, index: int, shape: tuple[int, ...]) -> int:
        """The place of an input."""
        place = self._place(("input", index), Expression(shape))
        self.inputs.add(place)
        return place

    def constant(self, array: Array, dtype: str = "") -> int:
        """The place of a constant array; objects get a place of their own.

        `dtype`: of a float in the program, which is part of what the float stands for.
        """
        if is_keys(array):
            words = np.asarray(jax.random.key_data(array))
            return self._place(("keys", str(array.dtype), words.shape, _bits(words)), Expression(array.shape))
        try:
            values = np.asarray(array)
            key: Any = ("constant", dtype, str(values.dtype), values.shape, _bits(values))
        except TypeError:
            return self._place(object(), Expression(np.shape(array)))
        if values.dtype == object:
            key = object()
        return self._place(key, Expression(values.shape, constant=values, dtype=dtype))

    def applied(self, equation: JaxprEqn, operands: Sequence[int], result: int, shape: tuple[int, ...]) -> int:
        """The place of a result of an equation applied to what stands at other places."""
        order = sorted(operands) if equation.primitive.name in COMMUTATIVE else operands
        operation = operation_of(equation)
        key = (operation, tuple(order), result) if operation.comparable else object()
        return self._place(key, Expression(shape, equation, tuple(operands), result))

    def needed(self, places: Iterable[int | None]) -> set[int]:
        """These places, and those of all that they are computed from."""
        found: set[int] = set()
        waiting = [place for place in places if place is not None]
        while waiting:
            place = waiting.pop()
            if place not in found:
                found.add(place)
                waiting += self._all[place].operands
        return found

    def unnamed(self, shape: tuple[int, ...]) -> int:
        """A place of its own, equal to no other."""
        return self._place(object(), Expression(shape))

    def part(self, kind: str, index: int, operands: Sequence[int], shape: tuple[int, ...]) -> int:
        """The place of an entry along the leading axis, or of a stack of arrays."""
        return self._place((kind, index, tuple(operands)), Expression(shape, operands=tuple(operands)))


def _bits(values: np.ndarray) -> bytes:
    """The bits of an array; of a large one a digest, so that it is not kept twice."""
    if values.nbytes <= 64 or values.dtype.kind == "V":  # dtypes of JAX's own have no buffer
        return values.tobytes()
    return hashlib.blake2b(np.ascontiguousarray(values).data).digest()
