"""A value as a sum of contributions, each with its source: the input, the biases, or an activation.

The walk over a program computes totals and notes how values come from one another linearly.  Only at its end is known
which activations have a share in the output; then the contributions that the output needs are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from uat_jax.typing import Array


class Role(IntEnum):
    """How near to the input a value is: the lower one of two factors is the coefficient."""

    PATTERN = 0
    """The result of a nonlinear function."""
    ACTIVATION = 1
    """Patterns that a constant matrix has mixed."""
    GATE = 2
    """A stream times a pattern that varies along the features."""
    STREAM = 3
    """Linear in the input, all coefficients frozen."""

    @property
    def carries_input(self) -> bool:
        """Whether a share of the input flows in the value."""
        return self >= Role.GATE

    def gated(self) -> Role:
        """The role after a product with a pattern."""
        return Role.GATE if self.carries_input else Role.PATTERN

    def mixed(self) -> Role:
        """The role after a product with a constant matrix."""
        return Role.STREAM if self.carries_input else Role.ACTIVATION


@dataclass(frozen=True, eq=False)
class Sourced:
    """An array that depends on the input.

    ``total``: the array.  ``shared``: axes along which all entries depend on one and the same number and on constants,
    as a norm's scale does along the features.  ``image``: how it comes from others linearly; None for what is a source
    itself, the input or the result of a nonlinear function.
    """

    total: Any
    role: Role
    shared: frozenset[int] = frozenset()
    image: LinearImage | None = None

    @property
    def operands(self) -> tuple[Sourced, ...]:
        """The values of which it is a linear image."""
        return () if self.image is None else tuple(x for x in self.image.moved if isinstance(x, Sourced))

    @property
    def is_pattern(self) -> bool:
        """Whether it is the result of a nonlinear function."""
        return self.image is None and self.role is Role.PATTERN


@dataclass(frozen=True, eq=False)
class LinearImage:
    """function(*operands), linear in all moving operands together; the others are frozen coefficients."""

    function: Callable[..., jax.Array]
    operands: tuple[Sourced | Array, ...]
    moving: tuple[bool, ...]

    @property
    def moved(self) -> tuple[Sourced | Array, ...]:
        """The moving operands; those that are not `Sourced` are constants, hence biases."""
        return tuple(x for x, moves in zip(self.operands, self.moving, strict=True) if moves)


def total(value: Sourced | Array) -> Array:
    """The array that a sourced value or a constant is."""
    return value.total if isinstance(value, Sourced) else value


Rows = tuple[int, ...]
"""Numbers of sources, ascending: the parts of the input, the biases, the activations."""

Contributions = tuple[Rows, jax.Array]
"""One array per row, stacked; other sources contribute nothing."""


def contributions(tape: Sequence[Sourced], parts: jax.Array | None, output: Sourced) -> jax.Array:
    """What each source contributes to the output: (P + 1 + L, …), the parts of the input, the biases, L activations.

    `tape` has all values in the order in which they were computed, the input first; `parts`, (P, …), add up to it.
    Without parts the input is of one part: every value that is a source of a stream, as rows of tables are.
    """
    tape = _needed(tape, output)
    numbers, bias = activation_numbers(tape), 1 if parts is None else len(parts)
    found: dict[Sourced, Contributions] = {}
    for value in tape:
        if value.image is not None:
            found[value] = _image(value.image, found, bias)
        elif value.is_pattern:
            found[value] = (bias + 1 + numbers[value],), value.total[None]
        else:
            found[value] = tuple(range(bias)), value.total[None] if parts is None else parts
    return at_rows(found[output], tuple(range(bias + 1 + len(set(numbers.values())))))


def _needed(tape: Sequence[Sourced], output: Sourced) -> list[Sourced]:
    """The values of which the output is a linear image."""
    needed = {output}
    for value in reversed(tape):
        if value in needed:
            needed.update(value.operands)
    return [value for value in tape if value in needed]


def activation_numbers(tape: Sequence[Sourced]) -> dict[Sourced, int]:
    """The numbers of the patterns, 0, 1, … in order of appearance; patterns of one sum that joins a stream share one.

    A pattern that never joins a stream has a number for itself.
    """
    patterns: dict[Sourced, dict[Sourced, None]] = {}
    leader: dict[Sourced, Sourced] = {}
    for value in tape:
        own = [value] if value.is_pattern else []
        patterns[value] = dict.fromkeys([*own, *(p for operand in value.operands for p in patterns[operand])])
        if value.role.carries_input:
            joining = (p for operand in value.operands if not operand.role.carries_input for p in patterns[operand])
            new = [p for p in joining if p not in leader]
            leader.update((p, new[0]) for p in new)
    leaders = {p: leader.get(p, p) for p in tape if p.is_pattern}
    order = {first: number for number, first in enumerate(dict.fromkeys(leaders.values()))}
    return {p: order[first] for p, first in leaders.items()}


def _image(image: LinearImage, found: Mapping[Sourced, Contributions], bias: int) -> Contributions:
    """The image of one row after the other; a constant stands in the row of the biases."""
    given = {place: _given(x, found, bias) for place, x in enumerate(image.operands) if image.moving[place]}
    rows = tuple(sorted({row for present, _ in given.values() for row in present}))
    arrays = [at_rows(given[i], rows) if i in given else total(x) for i, x in enumerate(image.operands)]
    return rows, jax.vmap(image.function, in_axes=[0 if moves else None for moves in image.moving])(*arrays)


def _given(value: Any, found: Mapping[Sourced, Contributions], bias: int) -> Contributions:
    if isinstance(value, Sourced):
        return found[value]
    constant = jnp.asarray(value)[None]
    return (() if _is_zero(value) else (bias,)), constant


def _is_zero(constant: Any) -> bool:
    """Whether it is a literal 0, with which arrays are padded: no bias."""
    return isinstance(constant, np.ndarray) and constant.shape == () and not constant


def at_rows(of: Contributions, rows: Rows) -> jax.Array:
    """The contributions at these rows, among which theirs are; zeros in the new ones."""
    present, array = of
    if present == rows:
        return array
    first = rows.index(present[0]) if present else 0
    if not present or rows[first : first + len(present)] != present:
        blank, place = jnp.zeros_like(array[:1]), {row: i for i, row in enumerate(present)}
        return lax.concatenate([array[place[r]][None] if r in place else blank for r in rows], 0)
    edges = [(first, len(rows) - first - len(present), 0), *[(0, 0, 0)] * (array.ndim - 1)]
    return lax.pad(array, jnp.zeros((), array.dtype), edges)
