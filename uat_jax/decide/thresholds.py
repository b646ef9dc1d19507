"""Whole numbers that programs with symbolic sizes compare sizes and places with: x[:1000], iota < 1000, windows.

At smaller sizes such programs may agree and at larger ones differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from uat_jax.interpret.interpreter import inner_programs
from uat_jax.interpret.tracing import shape_of

FARTHEST = 20_000
"""Larger numbers are none that a size is compared with."""


def thresholds(programs: Iterable[ClosedJaxpr]) -> tuple[int, ...]:
    """The numbers from 1 to `FARTHEST` in shapes, parameters, literals and single constants, the largest first."""
    found = {number for program in programs for number in _numbers(program)}
    return tuple(sorted((n for n in found if 0 < n <= FARTHEST), reverse=True))


def _numbers(program: Jaxpr | ClosedJaxpr) -> Iterator[int]:
    """All whole numbers in a program, as magnitudes."""
    jaxpr, constants = (program.jaxpr, program.consts) if isinstance(program, ClosedJaxpr) else (program, ())
    yield from (n for constant in constants if np.size(constant) == 1 for n in _of_value(constant))
    for equation in jaxpr.eqns:
        yield from _of_value(tuple(equation.params.values()))
        yield from (n for v in (*equation.invars, *equation.outvars) for n in _of_value(shape_of(v)))
        yield from (n for atom in equation.invars if isinstance(atom, Literal) for n in _of_value(atom.val))
        for inner in inner_programs(equation):
            yield from _numbers(inner)


def _of_value(value: Any) -> Iterator[int]:
    """The whole numbers of a parameter, a shape or a literal; a size such as min(n, 1000) has them in its text."""
    if isinstance(value, tuple | list):
        for part in value:
            yield from _of_value(part)
    elif jax.export.is_symbolic_dim(value):
        yield from map(int, re.findall(r"\d+", str(value)))
    elif isinstance(value, int | float | np.generic | np.ndarray | jax.Array) and np.size(value) == 1:
        number = np.asarray(value).reshape(())
        if number.dtype.kind in "iuf" and np.isfinite(number) and abs(number) <= FARTHEST and number == np.rint(number):
            yield abs(int(number))
