"""Whether a part of both programs is an instance of one that was proved: the same equations of other values.

What was proved holds for all values of letters and inputs, so it holds for whatever is put in their place.  Other
inputs are put for other inputs, so that a divisor that is not always zero is not so there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jax.extend.core import JaxprEqn, Literal, Var

from uat_jax.decide.domain import Domains
from uat_jax.interpret.flat_program import Atom, FlatProgram
from uat_jax.interpret.operation import comparable
from uat_jax.interpret.tracing import dtype_of, shape_of


class Instance:
    """A substitution of values of both programs for values of a part that was proved, as far as it was looked at."""

    def __init__(self, programs: tuple[FlatProgram, FlatProgram], domains: Domains):
        self.programs = programs
        self.domains = domains
        self.substituted: tuple[dict[Var, Var], dict[Var, Var]] = ({}, {})
        self._inputs: dict[int, int] = {}

    def letters(self, side: int, old: Sequence[Var], new: Sequence[Var]) -> bool:
        """Put arrays of letters for arrays of letters."""
        if len(old) != len(new) or any(_type(a) != _type(b) for a, b in zip(old, new, strict=True)):
            return False
        self.substituted[side].update(zip(old, new, strict=True))
        return True

    def covers(self, side: int, old: Var, new: Var) -> bool:
        """Whether a value is computed as another one was, from what was put for its letters and inputs."""
        waiting, known, program = list[tuple[Atom, Atom]]([(old, new)]), self.substituted[side], self.programs[side]
        while waiting:
            a, b = waiting.pop()
            if isinstance(a, Literal) or isinstance(b, Literal):
                if not _same_literals(a, b):
                    return False
            elif a in known:
                if known[a] is not b:
                    return False
            elif a in program.producer:
                if b not in program.producer:
                    return False
                first, second = (program.equations[program.producer[v]] for v in (a, b))
                if not _same_operation(first, second) or first.outvars.index(a) != second.outvars.index(b):
                    return False
                known[a] = b
                waiting.extend(zip(first.invars, second.invars, strict=True))
            elif not self._same_source(program, a, b):
                return False
            else:
                known[a] = b
        return True

    def _same_source(self, program: FlatProgram, a: Var, b: Var) -> bool:
        """Whether both are constants of the same entries, or inputs, of which the same ones are put on both sides."""
        if a in program.constants or b in program.constants:
            arrays = [program.constants.get(v) for v in (a, b)]
            return arrays[0] is arrays[1] or _type(a) == _type(b) and _same_arrays(*arrays)
        if b in program.producer or _type(a) != _type(b):
            return False
        i, j = program.inputs.index(a), program.inputs.index(b)
        if self.domains[i] != self.domains[j] or self._inputs.setdefault(i, j) != j:
            return False
        return list(self._inputs.values()).count(j) == 1  # W - V divides almost everywhere, and W - W nowhere


def _type(v: Atom) -> tuple[Any, ...]:
    return shape_of(v), dtype_of(v)


def _same_literals(a: Atom, b: Atom) -> bool:
    if not (isinstance(a, Literal) and isinstance(b, Literal)) or _type(a) != _type(b):
        return False
    return np.asarray(a.val, dtype_of(a)).tobytes() == np.asarray(b.val, dtype_of(b)).tobytes()


def _same_arrays(a: Any, b: Any) -> bool:
    """Whether two arrays have the same bits; False where one of them is missing or cannot be made a NumPy array."""
    try:
        return a is not None and b is not None and np.asarray(a).tobytes() == np.asarray(b).tobytes()
    except TypeError:
        return False


def _same_operation(a: JaxprEqn, b: JaxprEqn) -> bool:
    """Whether two equations apply one primitive with the same parameters, to operands of the same number."""
    if a is b:
        return True
    if a.primitive is not b.primitive or a.params.keys() != b.params.keys() or len(a.invars) != len(b.invars):
        return False
    return all(_same(value, b.params[name]) for name, value in a.params.items())


def _same(a: Any, b: Any) -> bool:
    """Whether two parameters are equal; those that cannot be compared are equal only if they are one object."""
    if a is b:
        return True
    try:
        hash(a)
        return bool(comparable(a) == comparable(b))
    except (TypeError, ValueError):
        return False
