"""The constants of a program, as places where it may change: a threshold, a bound, a mask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from uat_jax.interpret.interpreter import inner_programs
from uat_jax.interpret.tracing import dtype_of, is_number

MOST = 64
"""So many different constants are looked at, and arrays of so many entries."""

FACTORS = (-2.0, -1.0, 1.0, 2.0)
"""Inputs lie near these multiples of a constant."""


def landmarks(programs: Sequence[ClosedJaxpr]) -> np.ndarray:
    """The finite constants of some programs other than 0 and 1, each once, float64 of shape (count,)."""
    found: set[float] = set()
    for program in programs:
        for value in constants(program):
            found.update(value.ravel().tolist() if value.size <= MOST else ())
            if len(found) > MOST:
                break
    finite = np.array(sorted(found), np.float64)
    return finite[np.isfinite(finite) & (finite != 0) & (finite != 1)][:MOST]


def constants(program: ClosedJaxpr) -> Iterator[np.ndarray]:
    """The floating-point constants and the literals of a program and of all it calls, in float64."""
    for variable, value in zip(program.jaxpr.constvars, program.consts, strict=True):
        if is_number(variable):
            yield np.asarray(value).astype(np.float64)
    yield from _literals(program.jaxpr)


def _literals(jaxpr: Jaxpr) -> Iterator[np.ndarray]:
    for equation in jaxpr.eqns:
        for atom in equation.invars:
            if isinstance(atom, Literal) and (is_number(atom) or dtype_of(atom).kind in "iu"):
                yield np.asarray(atom.val).astype(np.float64)
        for inner in inner_programs(equation):
            yield from constants(inner) if isinstance(inner, ClosedJaxpr) else _literals(inner)


def near(places: np.ndarray, random: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Points near multiples of some numbers: float64 of `shape`, half of whose entries are small whole numbers."""
    small = random.integers(-2, 3, shape)
    chosen = random.choice(places, shape) * random.choice(FACTORS, shape)
    return small + np.where(random.random(shape) < 0.5, chosen, 0)
