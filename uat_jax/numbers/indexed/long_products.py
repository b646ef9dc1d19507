"""Products over index variables, for every length of their axes; over an axis without entries they are 1.

    ∏_i u = exp(Σ_i log u)  for u > 0     ∏_i exp u = exp(Σ_i u)     ∏_i (u·v) = ∏_i u·∏_i v     ∏_i u^e = (∏_i u)^e
    ∏_i (p·a + (1 − p)·b) = ∏_i (p·a + (1 − p))·∏_i (p + (1 − p)·b)  for a predicate p
    ∏_{i<n} u(i) = ∏_{i<m} u(i)·∏_{i<n−m} u(m + i)     0 ≤ m ≤ n     ∏_i ∏_j u_ij = ∏_ij u_ij

What is left is one letter for each factor, with the body p·u + (1 − p) where predicates p say for which i it counts.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from fractions import Fraction

from uat_jax.errors import UnsupportedError
from uat_jax.numbers.indexed.bounds import nonnegative, sign, sign_of_letter, unit_indices
from uat_jax.numbers.indexed.canonical import named
from uat_jax.numbers.indexed.colours import orientation
from uat_jax.numbers.indexed.division import cancelled, factored
from uat_jax.numbers.indexed.functions import exponential, logarithm
from uat_jax.numbers.indexed.maxima import greatest
from uat_jax.numbers.indexed.polynomial import (
    ONE,
    PREDICATES,
    REBUILD,
    Kind,
    Letter,
    Polynomial,
    Replacement,
    constant,
    of,
    replaced,
)
from uat_jax.numbers.indexed.products import assigned, raised, split_at
from uat_jax.numbers.indexed.ranges import Range, cut_in_two, forwards, merged, where_divided, written_out
from uat_jax.numbers.indexed.reordered import unsorted
from uat_jax.numbers.indexed.sums import in_range, others, renamed, total
from uat_jax.numbers.indexed.workspace import workspace


def product(value: Polynomial, over: Sequence[Letter]) -> Polynomial:
    """∏ over index variables."""
    if value.masked:
        raise UnsupportedError("a product of masked numbers (-inf) is not followed")
    workspace().check_deadline()
    value, over = cancelled(value), tuple(over)
    if not over or value == ONE:
        return value
    for rule in (_outside, _written_out, where_divided, _cut_in_two, merged):
        found = rule(value, over)
        if found is not None:
            return found if isinstance(found, Polynomial) else product(*found)
    factors = [one for guard, number in _cases(value, ONE) for one in _factors(number, guard, over)]
    return functools.reduce(operator.mul, factors, ONE)


def _of_parts(parts: Sequence[Range] | None) -> Polynomial | None:
    """The product of the products over some ranges."""
    return None if parts is None else functools.reduce(operator.mul, (product(*part) for part in parts), ONE)


def _written_out(value: Polynomial, over: Sequence[Letter]) -> Polynomial | None:
    return _of_parts(written_out(value, over))


def _cut_in_two(value: Polynomial, over: Sequence[Letter]) -> Polynomial | None:
    return _of_parts(cut_in_two(value, over, 0))


def _outside(value: Polynomial, over: Sequence[Letter]) -> Polynomial | None:
    """p·∏ a + (1 − p)·∏ b for a predicate p that does not depend on the indices."""
    outside = [a for a in value.letters if a.kind in PREDICATES and not a.free & set(over)]
    if not outside:
        return None
    predicate = min(outside, key=lambda letter: letter.key)
    holds, fails = (product(assigned(value, predicate, h), over) for h in (True, False))
    return of(predicate) * holds + (ONE - of(predicate)) * fails


def _cases(value: Polynomial, guard: Polynomial) -> list[tuple[Polynomial, Polynomial]]:
    """(g, u) for the cases of the predicates in a value, which is the sum of all g·u."""
    predicate = split_at(value)
    if not guard or value == ONE:
        return []
    if predicate is None:
        return [(guard, value)]
    holds = _cases(assigned(value, predicate, True), guard * of(predicate))
    return holds + _cases(assigned(value, predicate, False), guard * (ONE - of(predicate)))


def _factors(value: Polynomial, guard: Polynomial, over: Sequence[Letter]) -> list[Polynomial]:
    """The products of the factors of a number without predicates, over the indices at which a guard is 1."""
    if sign(value) == 2:
        return [exponential(total(guard * logarithm(value), over))]
    if not value:
        return [_one(value, guard, over)]
    number, common, rest = factored(value, only_positive=False)
    found = [] if number == 1 else [exponential(total(guard * logarithm(constant(number)), over))]
    found += [_of_power(letter, exponent, guard, over) for letter, exponent in common.items()]
    if orientation(rest) < 0:
        rest = -rest
        found.append(_one(constant(-1), guard, over))
    return [*found, _one(rest, guard, over)]


def _of_power(letter: Letter, exponent: Fraction, guard: Polynomial, over: Sequence[Letter]) -> Polynomial:
    """∏ letter^e."""
    if letter.kind is Kind.EXP:
        return exponential(total(guard * letter.arguments[0] * exponent, over))
    if letter.kind is Kind.INVERSE:
        return raised(product(_guarded(letter.arguments[0], guard), over), -exponent)
    if exponent.denominator > 1 and not sign_of_letter(letter):
        return _one(of(letter, exponent), guard, over)
    if letter.kind is Kind.POWER:
        return raised(product(_guarded(letter.arguments[0], guard), over), exponent)
    return raised(_one(of(letter), guard, over), exponent)


def _one(base: Polynomial, guard: Polynomial, over: Sequence[Letter]) -> Polynomial:
    """∏ of one factor over the indices at which a guard is 1."""
    if base == ONE:
        return ONE
    value = _guarded(base, guard)
    for rule in (_contracted, _nested):
        found = rule(base, guard, over)
        if found is not None:
            return product(*found)
    for rule in (where_divided, _cut_in_two, merged, unsorted):
        found = rule(value, over)
        if found is not None:
            return found if isinstance(found, Polynomial) else product(*found)
    if not base and all(nonnegative(variable.length - 1) for variable in over):
        return ONE - greatest(guard, over)
    return of(named(Kind.PRODUCT, forwards(value, over), over))


def _guarded(value: Polynomial, guard: Polynomial) -> Polynomial:
    """The value where a guard is 1, and 1 where it is 0."""
    return guard * value + (ONE - guard)


def _contracted(base: Polynomial, guard: Polynomial, over: Sequence[Letter]) -> Range | None:
    """∏_{i<n, i = e} u(i), which is u(e) if 0 ≤ e < n, and else 1."""
    for letter in sorted((a for a in guard.letters if a.kind is Kind.EQUAL), key=lambda a: a.key):
        slopes = unit_indices(letter.arguments[0])
        bound = sorted((v for v in slopes if v in over), key=lambda v: v.name)
        if bound and not assigned(guard, letter, False):
            variable = bound[0]
            at = {variable: (of(variable) * slopes[variable] - letter.arguments[0]) * slopes[variable]}
            here = replaced(assigned(guard, letter, True), at) * in_range(at[variable], variable.length)
            return _guarded(replaced(base, at), here), tuple(others(over, variable))
    return None


def _nested(base: Polynomial, guard: Polynomial, over: Sequence[Letter]) -> Range | None:
    """∏_i ∏_j u_ij = ∏_ij u_ij."""
    letter = next(iter(base.letters), None)
    if letter is None or letter.kind is not Kind.PRODUCT or base != of(letter):
        return None
    renaming, new = renamed(letter.bound)
    return _guarded(replaced(letter.arguments[1], renaming), guard), (*over, *new)


def _product_rebuilt(letter: Letter, exponent: Fraction, by: Replacement) -> Polynomial:
    renaming, new = renamed(letter.bound)
    return raised(product(replaced(letter.arguments[1], {**by, **renaming}), new), exponent)


REBUILD[Kind.PRODUCT] = _product_rebuilt
