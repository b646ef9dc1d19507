"""Maxima over index variables, for every length ≥ 1 of their axes.

max_i (u + v_i) = u + max_i v_i     max_i c·u·v_i = c·u·max_i v_i  for c, u > 0     max_i max_j u_ij = max_ij u_ij
max_{i<n} u(i) = max(max_{i<m} u(i), max_{i<n−m} u(m + i))     1 ≤ m < n
max_{p<a} max_{q<b} u(b·p + q) = max_{i<ab} u(i)
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

from uat_jax.errors import UnsupportedError
from uat_jax.indexed.bounds import nonnegative, places, unit_indices, without_mask
from uat_jax.indexed.canonical import named
from uat_jax.indexed.colours import coloured
from uat_jax.indexed.division import factored
from uat_jax.indexed.functions import maximum
from uat_jax.indexed.polynomial import (
    REBUILD,
    ZERO,
    Kind,
    Letter,
    Polynomial,
    Replacement,
    constant,
    fresh,
    of,
    replaced,
)
from uat_jax.indexed.products import assigned, raised, reduced, split_at
from uat_jax.indexed.sums import SHORTEST, others, renamed, split_of


def greatest(value: Polynomial, over: Sequence[Letter]) -> Polynomial:
    """max over index variables, whose axes have at least one entry."""
    for variable in over:
        if not nonnegative(variable.length - 1):
            raise UnsupportedError("a maximum over an axis that may be empty is not followed")
    outside, value = _free_part(value, over)
    over = tuple(variable for variable in over if variable in value.free)
    if not over:
        return outside + value
    return outside + _greatest(value, over)


def _free_part(value: Polynomial, over: Sequence[Letter]) -> tuple[Polynomial, Polynomial]:
    """The terms without the variables, and the others.  Of masked numbers nothing is moved out."""
    if not without_mask(value):
        return ZERO, value
    bound = set(over)
    outside = {m: number for m, number in value.terms.items() if not any(a.free & bound for a, _ in m)}
    inside = {m: number for m, number in value.terms.items() if m not in outside}
    return Polynomial(outside), Polynomial(inside)


def _greatest(value: Polynomial, over: Sequence[Letter]) -> Polynomial:
    for rule in (_written_out, _of_maximum, _where_divided, _where_compared, _merged):
        found = rule(value, over)
        if found is not None:
            return found
    value = _forwards(value, over)
    if not without_mask(value):
        return of(named(Kind.MAXIMUM, value, over))
    number, common, _ = factored(value, only_positive=True)
    scale = {letter: exponent for letter, exponent in common.items() if not letter.free & set(over)}
    if number == 1 and not scale:
        return of(named(Kind.MAXIMUM, value, over))
    inside = value * reduced({letter: -exponent for letter, exponent in scale.items()}) * (1 / number)
    return reduced(scale) * number * of(named(Kind.MAXIMUM, inside, over))


def _written_out(value: Polynomial, over: Sequence[Letter]) -> Polynomial | None:
    """max_{i<c} u(i) = max(u(0), …, u(c − 1)) for a small number c."""
    for variable in over:
        length = variable.length.number()
        if length is not None and length <= SHORTEST:
            kept = others(over, variable)
            parts = [greatest(replaced(value, {variable: constant(i)}), kept) for i in range(int(length))]
            return functools.reduce(maximum, parts)
    return None


def _of_maximum(value: Polynomial, over: Sequence[Letter]) -> Polynomial | None:
    """max_i max_j."""
    if len(value.terms) != 1:
        return None
    ((monomial, number),) = value.terms.items()
    if number != 1 or len(monomial) != 1 or monomial[0][1] != 1 or monomial[0][0].kind is not Kind.MAXIMUM:
        return None
    renaming, new = renamed(monomial[0][0].bound)
    return greatest(replaced(monomial[0][0].arguments[1], renaming), (*over, *new))


def _where_divided(value: Polynomial, over: Sequence[Letter]) -> Polynomial | None:
    found = split_of(value.within, over)
    if found is None:
        return None
    variable, divisor, rounds = found
    p, q = fresh(rounds), fresh(divisor)
    return greatest(replaced(value, {variable: divisor * of(p) + of(q)}), (*others(over, variable), p, q))


def _where_compared(value: Polynomial, over: Sequence[Letter]) -> Polynomial | None:
    """The range cut in two at m where [i ≥ m] stands, m free of indices."""
    for letter in sorted(value.letters, key=lambda a: a.key):
        slopes = unit_indices(letter.arguments[0]) if letter.kind is Kind.AT_LEAST else {}
        for variable in over:
            if variable not in slopes or len(letter.free) != 1:
                continue
            slope = slopes[variable]
            rest = letter.arguments[0] - of(variable) * slope
            cut = -rest if slope > 0 else rest + 1
            if nonnegative(cut - 1) and nonnegative(variable.length - cut - 1):
                before, after = fresh(cut), fresh(variable.length - cut)
                kept = others(over, variable)
                first = greatest(replaced(value, {variable: of(before)}), (*kept, before))
                return maximum(first, greatest(replaced(value, {variable: cut + of(after)}), (*kept, after)))
    return None


def _merged(value: Polynomial, over: Sequence[Letter]) -> Polynomial | None:
    """Two indices that occur as b·p + q only are one."""
    for p, q in permutations(over, 2):
        if {a for a in value.letters if p in a.free} == {a for a in value.letters if q in a.free}:
            both = fresh(p.length * q.length)
            body = replaced(value, {q: of(both) - q.length * of(p)})
            if p not in body.free:
                return greatest(body, (*others(over, p, q), both))
    return None


def _forwards(value: Polynomial, over: Sequence[Letter]) -> Polynomial:
    """Of u(i) and u(n − 1 − i), which have the same maximum, the one with the lesser digest."""
    for variable in over:
        turned = replaced(value, {variable: variable.length - 1 - of(variable)})
        value = min(value, turned, key=lambda u: (coloured(u, {}), u.key))
    return value


def is_finite(value: Polynomial) -> bool:
    """Whether a number in which −∞ may stand inside of maxima only is proved to be above −∞.

    A maximum is, if at some place all its predicates leave a number without −∞.
    """
    if not value.masked:
        return True
    maxima = (letter for letter in value.within if letter.kind is Kind.MAXIMUM and letter.masked)
    return without_mask(value) and all(map(is_finite_maximum, maxima))


def is_finite_maximum(letter: Letter) -> bool:
    """Whether a maximum is proved to be above −∞: at i = 0, at the last i, or where i is another index."""
    body = letter.arguments[1]
    for variable in letter.bound:
        for place in places(variable, body):
            there = replaced(body, {variable: place})
            if _finite_in_all_cases(there):
                return True
    return False


def _finite_in_all_cases(value: Polynomial) -> bool:
    predicate = split_at(value)
    if predicate is None:
        return is_finite(value)
    return all(_finite_in_all_cases(assigned(value, predicate, holds)) for holds in (True, False))


def _maximum_rebuilt(letter: Letter, exponent: Fraction, by: Replacement) -> Polynomial:
    renaming, new = renamed(letter.bound)
    return raised(greatest(replaced(letter.arguments[1], {**by, **renaming}), new), exponent)


REBUILD[Kind.MAXIMUM] = _maximum_rebuilt
