"""Integers that are functions of the entry at the same place, as inputs: x % 16 and x & 15 are one, for x of any shape.

    f(x) = F(h(x), x)        g(x) = G(k(x), x)        h = k,  F(y, x) = G(y, x) for all y        ⇒        f = g

This is Theorem I of docs/soundness.md §20 with integers that are computed of integers, at all sizes at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal, Var, jaxpr_as_fun

from uat_jax.decide.assumption import Assumption
from uat_jax.decide.domain import Domains
from uat_jax.decide.entry_by_entry import is_entrywise, of_one_entry, same_function
from uat_jax.decide.integers import WHOLE, Integers, all_of, ends
from uat_jax.decide.reached import needed_of
from uat_jax.interpret.canonical_form import same_program
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.inlining import inlined
from uat_jax.interpret.integer_ranges import is_integer
from uat_jax.interpret.tracing import dtype_of, shape_of

MOST_FUNCTIONS = 8
"""So many functions of entries are looked at on each side."""

ARITHMETIC = frozenset(
    """and clz div integer_pow mul not or population_count rem shift_left shift_right_arithmetic shift_right_logical
    square xor""".split()
)
"""Programs without these are followed as they are: sums with numbers, comparisons and clips of integers."""

DRAWN = 256
"""At so many integers of each input the range of a function is looked for, which is then shown."""


@dataclass(frozen=True)
class _Function:
    """An array of a program, and the function of scalars that makes its entries."""

    array: Var
    of_one: ClosedJaxpr


@dataclass(frozen=True)
class FunctionsOfEntries:
    """Two programs in which functions of entries are inputs, behind those of the given inputs that are left.

    kept: which inputs of the given programs are left.  domains: of all inputs.
    """

    left: ClosedJaxpr
    right: ClosedJaxpr
    kept: tuple[int, ...]
    domains: Domains
    assumptions: tuple[Assumption, ...]


def functions_of_entries(
    left: ClosedJaxpr, right: ClosedJaxpr, domains: Domains, deadline: Deadline
) -> FunctionsOfEntries | None:
    """Both programs with integer functions of entries as inputs; None if they have none that are shown to be equal.

    Raises:
        BudgetError: the deadline is over.
    """
    sides = inlined(left), inlined(right)
    names = {e.primitive.name for side in sides for e in side.eqns if is_integer(e.outvars[0])}
    if names.isdisjoint(ARITHMETIC):
        return None
    places = [i for i, v in enumerate(sides[0].in_avals) if isinstance(domains[i], Integers)]
    ranges = [domains[i] for i in places]
    found = [_functions(side, places) for side in sides]
    if not all(found) or max(map(len, found)) > MOST_FUNCTIONS:
        return None
    classes: list[tuple[list[_Function], list[_Function]]] = []
    assumptions: list[Assumption] = []

    def equal(f: _Function, g: _Function) -> bool:
        if _type(f.array) != _type(g.array):
            return False
        if same_program(f.of_one, g.of_one):
            return True
        shown = same_function(f.of_one, g.of_one, ranges, deadline)
        assumptions.extend([] if shown is None else [Assumption(shown.assumption)])
        return shown is not None

    for s in (0, 1):
        for f in found[s]:
            same = next((c for c in classes if equal((c[0] or c[1])[0], f)), None)
            if same is None:
                same = ([], [])
                classes.append(same)
            same[s].append(f)
    classes = [c for c in classes if all(c)]
    if not classes:
        return None
    programs = [_replaced(side, [[f.array for f in c[s]] for c in classes]) for s, side in enumerate(sides)]
    read = [needed_of(p.jaxpr)[1] for p in programs]
    count = len(sides[0].in_avals)
    used = {i for p, r in zip(programs, read, strict=True) for i, v in enumerate(p.jaxpr.invars) if v in r}
    kept = tuple(i for i in range(count) if i not in places or i in used)
    new = [_range(c[0][0].of_one, ranges, deadline, assumptions) for c in classes]
    programs = [_with_inputs(p, [*kept, *range(count, count + len(classes))]) for p in programs]
    of_inputs = Domains((*(domains[i] for i in kept), *new))
    return FunctionsOfEntries(programs[0], programs[1], kept, of_inputs, tuple(dict.fromkeys(assumptions)))


def _type(v: Any) -> tuple[Any, Any]:
    return shape_of(v), dtype_of(v)


def _functions(program: ClosedJaxpr, places: Sequence[int]) -> list[_Function]:
    """The last arrays of integers and truth values of which every entry is a function of those at its place."""
    jaxpr = program.jaxpr
    given = {jaxpr.invars[i] for i in places}
    scalars = {v for v, x in zip(jaxpr.constvars, program.consts, strict=True) if not np.ndim(x)}
    known, made = set(given), set(scalars)
    last: dict[Var, None] = {}
    for equation in jaxpr.eqns:
        operands = [v for v in equation.invars if not isinstance(v, Literal)]
        whole = all(str(dtype_of(v)) in WHOLE for v in equation.outvars)
        if whole and is_entrywise(equation) and known.union(made).issuperset(operands):
            if not known.isdisjoint(operands):
                same = all(shape_of(v) == shape_of(equation.outvars[0]) for v in operands if v in known)
                if same:
                    known.update(equation.outvars)
                    continue
            else:
                made.update(equation.outvars)
                continue
        last.update((v, None) for v in operands if v in known)
    last.update((v, None) for v in jaxpr.outvars if not isinstance(v, Literal) and v in known)
    found = []
    for v in last:
        if v not in given:
            sub = ClosedJaxpr(jaxpr.replace(invars=[jaxpr.invars[i] for i in places], outvars=[v]), program.consts)
            needed, read = needed_of(sub.jaxpr)
            consts = [(c, x) for c, x in zip(jaxpr.constvars, program.consts, strict=True) if c in read]
            sub = ClosedJaxpr(sub.jaxpr.replace(eqns=needed, constvars=[c for c, _ in consts]), [x for _, x in consts])
            of_one = of_one_entry(sub)
            if of_one is not None:
                found.append(_Function(v, of_one))
    return found


def _replaced(program: ClosedJaxpr, arrays: Sequence[Sequence[Var]]) -> ClosedJaxpr:
    """The program with one more input for each list of arrays."""
    jaxpr = program.jaxpr
    new = [Var(members[0].aval) for members in arrays]
    of = {v: x for x, members in zip(new, arrays, strict=True) for v in members}
    put = lambda v: v if isinstance(v, Literal) else of.get(v, v)
    equations = [e.replace(invars=list(map(put, e.invars))) for e in jaxpr.eqns]
    found = jaxpr.replace(invars=[*jaxpr.invars, *new], eqns=equations, outvars=list(map(put, jaxpr.outvars)))
    return ClosedJaxpr(found.replace(eqns=needed_of(found)[0]), program.consts)


def _with_inputs(program: ClosedJaxpr, places: Sequence[int]) -> ClosedJaxpr:
    """The program of some of its inputs; the others are not read."""
    jaxpr = program.jaxpr
    return ClosedJaxpr(jaxpr.replace(invars=[jaxpr.invars[i] for i in places]), program.consts)


def _range(of_one: ClosedJaxpr, ranges: Sequence[Any], deadline: Deadline, assumptions: list[Assumption]) -> Integers:
    """The numbers that a function of scalars can be: those seen, if it is shown that there are no others."""
    dtype = of_one.out_avals[0].dtype
    if dtype == np.bool_:
        return Integers(0, 1)
    random = np.random.default_rng(0)
    drawn = [of.draw(random, DRAWN, (), a.dtype) for of, a in zip(ranges, of_one.in_avals, strict=True)]
    with jax.enable_x64(True):  # the types are the equations' own
        (seen,) = jax.jit(jax.vmap(jaxpr_as_fun(of_one)))(*drawn)
        low, high = int(np.min(seen)), int(np.max(seen))
        if (low, high) == ends(dtype):
            return all_of(dtype)

        def within(*x: Any) -> list[Any]:
            (y,) = jaxpr_as_fun(of_one)(*x)
            return [(y >= jnp.asarray(low, dtype)) & (y <= jnp.asarray(high, dtype))]

        specs = [jax.ShapeDtypeStruct((), a.dtype) for a in of_one.in_avals]
        inside = inlined(jax.make_jaxpr(within)(*specs))
        always = jax.make_jaxpr(lambda *x: [jnp.asarray(True)])(*specs)
    shown = same_function(inside, always, ranges, deadline)
    assumptions.extend([] if shown is None else [Assumption(shown.assumption)])
    return all_of(dtype) if shown is None else Integers(low, high)
