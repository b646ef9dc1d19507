"""Inputs of which two programs read single rows, as one input for each row.

The weights of all layers are often one array, whose i-th row the i-th layer reads.  A function of the array is one of
its rows, and with rows as inputs the layers are the same programs of different inputs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from jax.extend.core import JaxprEqn, Var

from uat_jax.interpret.flat_program import FlatProgram, variables
from uat_jax.interpret.tracing import is_number, shape_of

Both = tuple[FlatProgram, FlatProgram]
"""Two programs of the same inputs."""


def by_rows(programs: Both) -> tuple[Both, list[int]]:
    """The programs with every input split of which both read rows alone, and of which input each new one is a part."""
    rows = [_rows(program) for program in programs]
    inputs: tuple[list[Var], list[Var]] = ([], [])
    origins: list[int] = []
    for i, pair in enumerate(zip(programs[0].inputs, programs[1].inputs, strict=True)):
        left, right = (rows[s].get(v) for s, v in enumerate(pair))
        parts = [pair] if left is None or right is None else _parts(left, right) or [pair]
        for a, b in parts:
            inputs[0].append(a)
            inputs[1].append(b)
        origins += [i] * len(parts)
    return (_with_inputs(programs[0], inputs[0]), _with_inputs(programs[1], inputs[1])), origins


def _parts(left: Mapping[int, Var], right: Mapping[int, Var]) -> list[tuple[Var, Var]]:
    """For every row that either side reads the variables of both; one is new where that side does not read it."""
    pairs = ((left.get(row), right.get(row)) for row in sorted(left.keys() | right.keys()))
    return [(a or Var(b.aval), b or Var(a.aval)) for a, b in pairs]  # pyright: ignore[reportOptionalMemberAccess]


def _rows(program: FlatProgram) -> dict[Var, Mapping[int, Var]]:
    """The rows that are read of each input of which nothing else is read."""
    found: dict[Var, dict[int, Var]] = {v: {} for v in program.inputs if is_number(v)}
    for equation in program.equations:
        row = _row(equation)
        for v in variables(equation.invars):
            if v in found and row in found[v] or row is None:
                found.pop(v, None)
            elif v in found:
                found[v][row] = equation.outvars[0]
    return {v: rows for v, rows in found.items() if v not in program.outputs}


def _row(equation: JaxprEqn) -> int | None:
    """Which row of its operand an equation reads; None if it does something else."""
    if equation.primitive.name != "slice":
        return None
    start, limit, shape = (
        equation.params["start_indices"],
        equation.params["limit_indices"],
        shape_of(equation.invars[0]),
    )
    whole = not any(start[1:]) and tuple(limit[1:]) == shape[1:]
    return int(start[0]) if whole and limit[0] == start[0] + 1 else None


def _with_inputs(program: FlatProgram, inputs: list[Var]) -> FlatProgram:
    """The program without the equations that compute what is an input now."""
    given = set(inputs)
    equations = tuple(e for e in program.equations if given.isdisjoint(e.outvars))
    return replace(program, inputs=tuple(inputs), equations=equations)
