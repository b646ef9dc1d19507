"""Maxima over index variables, for every length ≥ 1 of their axes.

max_i (u + v_i) = u + max_i v_i     max_i c·u·v_i = c·u·max_i v_i  for c, u > 0     max_i max_j u_ij = max_ij u_ij
max_{i<n} u(i) = max(max_{i<m} u(i), max_{i<n−m} u(m + i))     1 ≤ m < n
max_{p<a} max_{q<b} u(b·p + q) = max_{i<ab} u(i)
max_i (p_i·(u + v_i) + (1 − p_i)·(−∞)) = u + max_i (p_i·v_i + (1 − p_i)·(−∞))  for predicates p
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from fractions import Fraction

from uat_jax.errors import UnsupportedError
from uat_jax.numbers.indexed.bounds import nonnegative, places, sign_of_letter, split_affine, without_mask
from uat_jax.numbers.indexed.canonical import named
from uat_jax.numbers.indexed.division import factored
from uat_jax.numbers.indexed.functions import mask, maximum
from uat_jax.numbers.indexed.increasing import of_increasing
from uat_jax.numbers.indexed.polynomial import (
    ONE,
    PREDICATES,
    REBUILD,
    ZERO,
    Kind,
    Letter,
    Polynomial,
    Replacement,
    of,
    replaced,
)
from uat_jax.numbers.indexed.products import assigned, raised, reduced, split_at
from uat_jax.numbers.indexed.ranges import Range, cut_in_two, forwards, merged, where_divided, written_out
from uat_jax.numbers.indexed.reordered import unsorted
from uat_jax.numbers.indexed.sums import renamed


def greatest(value: Polynomial, over: Sequence[Letter]) -> Polynomial:
    """max over index variables, whose axes have at least one entry."""
    for variable in over:
        if not nonnegative(variable.length - 1):
            raise UnsupportedError("a maximum over an axis that may be empty is not followed")
    outside, value = shifted(value, over)
    over = tuple(variable for variable in over if variable in value.free)
    if not over:
        return outside + value
    return outside + _greatest(value, over)


def shifted(value: Polynomial, over: Sequence[Letter]) -> tuple[Polynomial, Polynomial]:
    """(u, v) with value = u + v, where u does not depend on the variables; −∞ stands in v alone."""
    return _free_part(value, over) if without_mask(value) else _masked_free_part(value, over)


def scaled(value: Polynomial, over: Sequence[Letter], least: int) -> tuple[Polynomial, Polynomial]:
    """(c, v) with value = c·v, where c does not depend on the variables and is > 0, or ≥ 0 if `least` is 1."""
    gone, number = split_affine(value, next(iter(mask().letters)))
    if gone is None or not number:
        return ONE, value
    content, common, _ = factored(number, only_positive=True)
    least = 2 if gone else least
    scale = {a: e for a, e in common.items() if not a.free & set(over) and sign_of_letter(a) >= least}
    inside = number * reduced({letter: -exponent for letter, exponent in scale.items()}) * (1 / content)
    return reduced(scale) * content, inside + gone * mask()


def _free_part(value: Polynomial, over: Sequence[Letter]) -> tuple[Polynomial, Polynomial]:
    """The terms without the variables, and the others."""
    bound = set(over)
    outside = {m: number for m, number in value.terms.items() if not any(a.free & bound for a, _ in m)}
    inside = {m: number for m, number in value.terms.items() if m not in outside}
    return Polynomial(outside), Polynomial(inside)


def _masked_free_part(value: Polynomial, over: Sequence[Letter]) -> tuple[Polynomial, Polynomial]:
    """u and p·v + (1 − p)·(−∞), where p·(u + v) + (1 − p)·(−∞) is given and u does not depend on the variables."""
    gone, number = split_affine(value, next(iter(mask().letters)))
    if gone is None or gone * gone != gone or gone.letters - {a for a in gone.letters if a.kind in PREDICATES}:
        return ZERO, value
    cases = [_free_part(case, over)[0].terms for case in _where_zero(gone, number)]
    shared = set.intersection(*(set(case.items()) for case in cases)) if cases else set()
    outside = Polynomial(dict(shared))
    return outside, (number - outside) * (ONE - gone) + gone * mask()


def _where_zero(gone: Polynomial, number: Polynomial, case: Polynomial = ONE) -> list[Polynomial]:
    """A number in each case of the predicates in which another number is 0."""
    predicate = split_at(gone)
    if predicate is None:
        return [] if gone else [number]
    found = []
    for letter, holds in ((of(predicate), True), (ONE - of(predicate), False)):
        if possible := case * letter:
            found += _where_zero(assigned(gone, predicate, holds), assigned(number, predicate, holds), possible)
    return found


def _greatest(value: Polynomial, over: Sequence[Letter]) -> Polynomial:
    for rule in (_written_out, _of_maximum, where_divided, _cut_in_two, merged, unsorted):
        found = rule(value, over)
        if found is not None:
            return found if isinstance(found, Polynomial) else greatest(*found)
    value = forwards(value, over)
    scale, inside = scaled(value, over, 1)
    found = of_increasing(inside, over) if without_mask(inside) else None
    if found is not None:
        return scale * found[1](greatest(found[0], over))
    return scale * of(named(Kind.MAXIMUM, inside, over))


def _written_out(value: Polynomial, over: Sequence[Letter]) -> Polynomial | None:
    return _of_parts(written_out(value, over))


def _cut_in_two(value: Polynomial, over: Sequence[Letter]) -> Polynomial | None:
    return _of_parts(cut_in_two(value, over, 1))


def _of_parts(parts: Sequence[Range] | None) -> Polynomial | None:
    """The greatest of the maxima of some ranges."""
    return None if parts is None else functools.reduce(maximum, (greatest(*part) for part in parts))


def _of_maximum(value: Polynomial, over: Sequence[Letter]) -> Polynomial | None:
    """max_i max_j."""
    if len(value.terms) != 1:
        return None
    ((monomial, number),) = value.terms.items()
    if number != 1 or len(monomial) != 1 or monomial[0][1] != 1 or monomial[0][0].kind is not Kind.MAXIMUM:
        return None
    renaming, new = renamed(monomial[0][0].bound)
    return greatest(replaced(monomial[0][0].arguments[1], renaming), (*over, *new))


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
