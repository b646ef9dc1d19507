"""A symbolic proof confirmed by a second method: both sides lowered to JAX and compared in prime fields.

σ becomes a function without any symmetry (log Γ, which prime fields take for an unknown function), the weights and the
argument are the inputs, and the symbolic dimensions get small different sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import sympy
from jax.extend.core import ClosedJaxpr

from uat_jax.certify.fields_evidence import METHOD
from uat_jax.certify.normal_forms import prove
from uat_jax.certify.prime_fields import PrimeFields
from uat_jax.certify.verdict import Evidence, Verdict
from uat_jax.errors import UatJaxError, UnsupportedError
from uat_jax.lowering import Lowered
from uat_jax.symbolic import language as m
from uat_jax.symbolic.program import Program, letters_of
from uat_jax.symbolic.step import Step

LOG2_ERROR = -128.0

Sizes = dict[Any, int]


def proved(steps: Iterable[Step], *, method: str, what: str) -> Iterator[Evidence]:
    """The proof of a chain of equations, and its confirmation where there is one."""
    steps = tuple(steps)
    yield prove(steps, method=method, what=what)
    confirmed = confirm_steps(steps, what=f"of {len(steps)} steps")
    if confirmed is not None:
        yield confirmed


def confirm(left: Program, right: Program, *, what: str) -> Evidence:
    """CERTIFIED if prime fields find both programs equal, UNKNOWN if they find them different."""
    sizes, programs = _lowered(left, right)
    found = PrimeFields(*programs).compare(LOG2_ERROR, thoroughly=False)
    shown = ", ".join(f"{symbol} = {size}" for symbol, size in sizes.items())
    named = {str(symbol): size for symbol, size in sizes.items()}
    figures = {"log2_error": found.log2_error, "theorem": not found.condition, "sizes": named}
    if not found.equal or found.log2_error > LOG2_ERROR:
        return Evidence(METHOD, f"{what}: different at {shown}", Verdict.UNKNOWN, figures)
    finding = f"{what}: equal at {shown}, except with probability 2^{found.log2_error:.0f}"
    return Evidence(METHOD, finding, Verdict.CERTIFIED, figures)


def confirm_steps(steps: Iterable[Step], *, what: str) -> Evidence | None:
    """The same for the equations of a chain; None if none of them can be lowered (sums over a symbolic range, say)."""
    found = []
    for step in steps:
        programs = _sides(step)
        if programs is not None:
            try:
                found.append(confirm(*programs, what=step.name))
            except UatJaxError:
                continue
    if not found:
        return None
    wrong = next((f for f in found if f.verdict is not Verdict.CERTIFIED), None)
    if wrong is not None:
        return wrong
    worst = max(f.figures["log2_error"] for f in found)
    finding = f"{what}: {len(found)} equations at small sizes, each equal except with probability 2^{worst:.0f}"
    figures = {"log2_error": worst, "theorem": True, "confirmed": [f.finding for f in found]}
    return Evidence(METHOD, finding, Verdict.CERTIFIED, figures)


def _sides(step: Step) -> tuple[Program, Program] | None:
    """Both sides as programs; None where the definitions are no finite list or a side has no letter."""
    if not isinstance(step.where, Mapping):
        return None
    left, right = (_program(side, step.where, name) for side, name in ((step.left, "left"), (step.right, "right")))
    return None if left is None or right is None else (left, right)


def _program(side: m.Expression, where: Mapping[m.Letter, m.Expression], name: str) -> Program | None:
    result = m.Letter(f"{name} side", *side.shape)
    used, todo = set(), list(letters_of(side))
    while todo:
        letter = todo.pop()
        if letter in where and letter not in used:
            used.add(letter)
            todo += letters_of(where[letter])
    try:
        return Program({**{letter: where[letter] for letter in where if letter in used}, result: side}, result)
    except UatJaxError:
        return None


def _lowered(left: Program, right: Program) -> tuple[Sizes, tuple[ClosedJaxpr, ClosedJaxpr]]:
    """Both programs as jaxprs of the same letters, at the first sizes that fit."""
    letters = tuple(dict.fromkeys((*left.inputs, *right.inputs)))
    symbols = sorted({s for l in letters for size in l.shape for s in size.free_symbols}, key=str)
    count = len(symbols)
    reason = ""
    for numbers in (range(2, 2 + count), [2 + 2 * (k % 2) for k in range(count)], [2] * count):
        sizes = dict(zip(symbols, numbers, strict=True))
        try:
            return sizes, _traced(left, right, letters, sizes)
        except (UatJaxError, TypeError, ValueError) as error:  # sizes that do not fit, or a head without a row
            reason = str(error)
    raise UnsupportedError(f"no sizes at which both sides can be lowered: {reason}")


def _traced(
    left: Program, right: Program, letters: tuple[m.Letter, ...], sizes: Sizes
) -> tuple[ClosedJaxpr, ClosedJaxpr]:
    specs = {str(l): jax.ShapeDtypeStruct(tuple(_whole(s, sizes) for s in l.shape), jnp.float32) for l in letters}
    of = lambda program: jax.make_jaxpr(lambda arrays: _value(program, letters, arrays, sizes))(specs)
    return of(left), of(right)


def _whole(dimension: Any, sizes: Sizes) -> int:
    """Its size; ValueError if that is no whole number, as M/h may be."""
    size = sympy.sympify(sympy.sympify(dimension).xreplace(sizes))
    if not size.is_Integer:
        raise ValueError(f"{dimension} is {size}")
    return int(size)


def _value(program: Program, letters: tuple[m.Letter, ...], arrays: Mapping[str, Any], sizes: Sizes) -> jax.Array:
    argument, names = letters[0], {str(letter) for letter in program.inputs}
    lowered = Lowered(program, argument, jax.lax.lgamma, dimensions=sizes)
    weights = {name: array for name, array in arrays.items() if name in names and name != str(argument)}
    return lowered(weights, arrays[str(argument)])
