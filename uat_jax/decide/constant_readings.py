"""The float constants of a program: what they stand for, and which of them are rounded."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from jax.extend.core import ClosedJaxpr, Literal

from uat_jax.interpret.interpreter import programs_within
from uat_jax.interpret.recognition import ConstantReading, Meaning, meanings
from uat_jax.interpret.tracing import dtype_of, is_number


def readings(*programs: ClosedJaxpr) -> tuple[ConstantReading, ...]:
    """The constants of programs that stand for another number than is written, in order."""
    found = {meaning.reading for program in programs for meaning in _constants(program)}
    return tuple(sorted(reading for reading in found if reading is not None))


def rounded_constants(program: ClosedJaxpr) -> frozenset[ConstantReading]:
    """The constants of a program that other numbers are rounded to, whatever they stand for."""
    return frozenset(meaning.inexact for meaning in _constants(program) if meaning.radius)


def _constants(program: ClosedJaxpr) -> Iterator[Meaning]:
    for inner in programs_within(program):
        jaxpr = getattr(inner, "jaxpr", inner)
        atoms = [(atom, atom.val) for e in jaxpr.eqns for atom in e.invars if isinstance(atom, Literal)]
        atoms += list(zip(jaxpr.constvars, getattr(inner, "consts", ()), strict=False))
        for atom, value in atoms:
            found = meanings(np.asarray(value), dtype_of(atom)) if is_number(atom) else None
            yield from () if found is None else found.distinct
