"""Hazards of integers: an index that lies beside its array, which a device moves inside without a word.

    t[i] of 10 rows and i = 15      reads the row 9

Both programs are followed where they compute with integers alone, at the ends of the ranges of their inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal, jaxpr_as_fun
from jax.lax import GatherScatterMode

from uat_jax.decide.domain import Domains
from uat_jax.decide.hazards import SIDES, Hazard, HazardSearch, shown
from uat_jax.decide.integers import WHOLE, Integers, held
from uat_jax.decide.lookups.integer_part import CONTROL, LONGEST
from uat_jax.decide.whole_programs import check_primitive
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.inlining import inlined
from uat_jax.interpret.retracing import bound
from uat_jax.interpret.tracing import dtype_of, shape_of, source_line
from uat_jax.numbers.prime_fields.footprint import entries_computed

CLAMPED = "clamped"

MOST_ENTRIES = 2**24
"""Programs that compute more entries are not run for the two values that a hazard has."""


def search_beside(
    programs: Sequence[ClosedJaxpr], domains: Domains, names: Sequence[str], sizes: Any, reason: str
) -> HazardSearch:
    """The first index on each side that lies beside its array; `reason` says what else is not looked at."""
    found, tried = [], 0
    if sum(entries_computed(program.jaxpr) for program in programs) > MOST_ENTRIES:
        return HazardSearch(reason=reason)
    for side, program in zip(SIDES, map(inlined, programs), strict=True):
        for point in _points(program, domains):
            tried += 1
            place = next(_beside(program, point), None)
            if place is not None:
                found.append(_hazard(side, place, programs, domains, point, names, sizes))
                break
    return HazardSearch(tuple(found), tried, reason)


def _points(program: ClosedJaxpr, domains: Domains) -> Iterator[dict[int, np.ndarray]]:
    """All integers the least ones, the largest ones, and those next to 0."""
    whole = [(i, of) for i, of in enumerate(domains.of) if isinstance(of, Integers)]
    for end in (lambda of: of.low, lambda of: of.high, lambda of: of.simplest()):
        yield {
            i: held(np.full(program.in_avals[i].shape, end(of), object), program.in_avals[i].dtype) for i, of in whole
        }


def _beside(program: ClosedJaxpr, point: dict[int, np.ndarray]) -> Iterator[str]:
    """What is said of each equation that reads or writes beside its array, where its places are known."""
    jaxpr = program.jaxpr
    values: dict[Any, np.ndarray] = {jaxpr.invars[i]: x for i, x in point.items()}
    values |= {v: np.asarray(x) for v, x in zip(jaxpr.constvars, program.consts, strict=True) if _is_whole(v)}
    read = lambda v: (
        (np.asarray(v.val, dtype_of(v)) if _is_whole(v) else None) if isinstance(v, Literal) else values.get(v)
    )
    for equation in jaxpr.eqns:
        operands = [read(v) for v in equation.invars]
        yield from _of_equation(equation, operands)
        if all(x is not None for x in operands) and all(map(_is_whole, equation.outvars)):
            try:
                values.update(zip(equation.outvars, _run(equation, operands), strict=True))
            except UnsupportedError:
                continue


def _is_whole(v: Any) -> bool:
    return str(dtype_of(v)) in WHOLE


def _run(equation: JaxprEqn, operands: Sequence[Any]) -> list[np.ndarray]:
    check_primitive(equation)
    if equation.primitive.name in CONTROL or any(np.prod(shape_of(v)) > LONGEST for v in equation.outvars):
        raise UnsupportedError("too long to be followed")
    with jax.enable_x64(True):
        return [np.asarray(x) for x in bound(equation, [jax.numpy.asarray(x) for x in operands], equation.params)]


def _of_equation(equation: JaxprEqn, operands: Sequence[np.ndarray | None]) -> Iterator[str]:
    name, shape = equation.primitive.name, shape_of(equation.invars[0]) if equation.invars else ()
    if name == "dynamic_slice":
        starts, sizes = operands[1:], equation.params["slice_sizes"]
        places = [(d, x) for d, x in enumerate(starts) if x is not None]
    elif name == "dynamic_update_slice":
        starts, sizes = operands[2:], shape_of(equation.invars[1])
        places = [(d, x) for d, x in enumerate(starts) if x is not None]
    elif name == "gather" and operands[1] is not None and _promised(equation):
        numbers, sizes = equation.params["dimension_numbers"], equation.params["slice_sizes"]
        places = [(d, operands[1][..., k]) for k, d in enumerate(numbers.start_index_map)]
    else:
        return
    for d, x in places:
        last = shape[d] - sizes[d]
        outside = x[(x < 0) | (x > last)]
        if outside.size:
            what = "writes" if name == "dynamic_update_slice" else "reads"
            end = last if int(outside.flat[0]) > last else 0
            moved = f"which the device moves to {end}"
            yield f"{what} at place {int(outside.flat[0])} of 0 to {last}, {moved} ('{name}'{source_line(equation)})"


def _promised(equation: JaxprEqn) -> bool:
    """Whether a gather is promised to stay inside; one that is told to clip or to fill does what it is told."""
    return GatherScatterMode.from_any(equation.params["mode"]) == GatherScatterMode.PROMISE_IN_BOUNDS


def _hazard(
    side: str,
    place: str,
    programs: Sequence[ClosedJaxpr],
    domains: Domains,
    point: dict[int, np.ndarray],
    names: Sequence[str],
    sizes: Any,
) -> Hazard:
    inputs = []
    for i, aval in enumerate(programs[0].in_avals):
        some = np.linspace(0.5, 1.0, int(np.prod(aval.shape))).reshape(aval.shape).astype(aval.dtype)
        of: Any = domains[i]
        inputs.append(
            point[i] if i in point else np.asarray(of.clipped(some[None], np.dtype(aval.dtype)))[0].astype(aval.dtype)
        )
    with jax.enable_x64(True):  # the types are the equations' own
        left, right = (float(np.asarray(jaxpr_as_fun(p)(*map(jax.numpy.asarray, inputs))[0]).flat[0]) for p in programs)
    at = ", ".join(f"{names[i]} = {shown(x)}" for i, x in point.items())
    return Hazard(CLAMPED, side, tuple(inputs), left, right, None, dict(sizes), True, f"{side} {place} at {at}")
