"""Sorted numbers and the places where they stand, for every length ≥ 1 of their axes.

Of the values u(i) the k-th greatest is s_u(k), k = 0, 1, …, and it stands at p_u(k), the first of equals first; a k
below 0 counts as 0, one behind the last as the last.

u(p_u(k)) = s_u(k)     s_u(0) = max_i u(i)     s_(−u)(k) = −s_u(n − 1 − k)
s_(a + c·u)(k) = a + c·s_u(k)  for c ≥ 0     s_f(u)(k) = f(s_u(k))  for increasing f
p_(a + c·u)(k) = p_u(k)  for c > 0           p_f(u)(k) = p_u(k)     for strictly increasing f
p_u(r_u(i)) = i  for the rank r_u(i), the number of those that come before u(i)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from uat_jax.errors import UnsupportedError
from uat_jax.numbers.indexed.bounds import nonnegative, without_mask
from uat_jax.numbers.indexed.canonical import named
from uat_jax.numbers.indexed.colours import orientation
from uat_jax.numbers.indexed.increasing import of_increasing
from uat_jax.numbers.indexed.maxima import greatest, scaled, shifted
from uat_jax.numbers.indexed.polynomial import (
    AT_PLACE,
    ONE,
    REBUILD,
    ZERO,
    Kind,
    Letter,
    Polynomial,
    Replacement,
    fresh,
    index,
    made,
    of,
    rebuilt,
    replaced,
    replaced_in,
)
from uat_jax.numbers.indexed.products import raised, with_letter
from uat_jax.numbers.indexed.ranges import forwards, merged, regrouped, where_divided
from uat_jax.numbers.indexed.reordered import unsorted
from uat_jax.numbers.indexed.sums import renamed


def place(value: Polynomial, variable: Letter, rank: Polynomial) -> Polynomial:
    """The index at which the number of a rank stands, 0 for the greatest, in the order in which equals keep theirs."""
    last = variable.length - 1
    if not nonnegative(last):
        raise UnsupportedError("an order of an axis that may be empty is not followed")
    if not last:
        return ZERO
    body = _comparable(value, variable)
    if variable not in body.free and nonnegative(rank) and nonnegative(last - rank):
        return rank
    name = index(f"b{body.height + 1}.0", variable.length)
    if name in body.free - {variable}:
        raise UnsupportedError("an index of an order would be taken for one of a sum around it")
    bound, body = (name,), replaced(body, {variable: of(name)})
    found = _place_of_rank(bound, body, rank)
    return of(made(Kind.PLACE, bound, body, rank)) if found is None else found[0]


def _place_of_rank(bound: tuple[Letter, ...], body: Polynomial, rank: Polynomial) -> tuple[Polynomial, ...] | None:
    """i, if a rank is that of i among these numbers."""
    letter = next((a for a in rank.letters if a.kind is Kind.RANK and rank == of(a)), None)
    return None if letter is None or letter.arguments[:2] != (bound, body) else letter.arguments[2]


def _comparable(value: Polynomial, variable: Letter) -> Polynomial:
    """Numbers in the same order as others, and as simple as the laws make them."""
    while True:
        _, simpler = scaled(shifted(value, (variable,))[1], (variable,), 2)
        found = of_increasing(simpler, (variable,)) if without_mask(simpler) else None
        if found is None:
            return simpler
        value = found[0]


def ranked(value: Polynomial, over: Sequence[Letter], rank: Polynomial) -> Polynomial:
    """The number of a rank among the values at all indices, 0 for the greatest."""
    if not without_mask(value):
        raise UnsupportedError("sorted numbers of which some are masked (-inf) are not followed")
    if not all(nonnegative(variable.length - 1) for variable in over):
        raise UnsupportedError("an order of an axis that may be empty is not followed")
    for rule in (where_divided, merged, unsorted, regrouped):
        found = rule(value, over)
        if found is not None:
            return ranked(*found, rank)
    outside, value = shifted(value, over)
    if not value.free & set(over):
        return outside + value
    scale, value = scaled(value, over, 1)
    return outside + scale * _ranked(value, over, rank)


def _ranked(value: Polynomial, over: Sequence[Letter], rank: Polynomial) -> Polynomial:
    last = math.prod((variable.length for variable in over), start=ONE) - 1
    found = of_increasing(value, over)
    if found is not None:
        return found[1](ranked(found[0], over, rank))
    if not rank:
        return greatest(value, over)
    if rank == last:
        return -greatest(-value, over)
    if orientation(value) < 0:
        return -ranked(-value, over, last - rank)
    for opposite in (False, True):
        there = _at_rank(-value if opposite else value, over, last - rank if opposite else rank)
        if there is not None:
            return -there if opposite else there
    letter = named(Kind.MAXIMUM, forwards(value, over), over)
    return of(made(Kind.RANKED, letter.bound, letter.arguments[1], rank))


def _at_rank(value: Polynomial, over: Sequence[Letter], rank: Polynomial) -> Polynomial | None:
    """u(i), if a rank is that of i among the numbers u, or among others in the same order."""
    letter = next((a for a in rank.letters if a.kind is Kind.RANK and rank == of(a)), None)
    if letter is None or [v.length for v in over] != [b.length for b in letter.bound]:
        return None
    bound, body, at = letter.arguments
    numbers = replaced(value, {variable: of(b) for variable, b in zip(over, bound, strict=True)})
    if body != numbers and (len(bound) > 1 or body != _comparable(numbers, bound[0])):
        return None
    return replaced(value, dict(zip(over, at, strict=True)))


def at_place(letter: Letter, exponent: Fraction, by: Replacement) -> Polynomial | None:
    """u(p_u(k))^e = s_u(k)^e, and for −u as well; None if the letter is neither, or at no such place."""
    for variable, new in by.items():
        order = next(iter(new.letters), None)
        if order is None or order.kind is not Kind.PLACE or new != of(order):
            continue
        (bound,), body, rank = order.arguments
        along = fresh(bound.length)
        value = rebuilt(letter, Fraction(1), {**by, variable: of(along)})
        numbers = replaced(body, {bound: of(along)})
        if value == numbers:
            return raised(ranked(value, (along,), rank), exponent)
        if -value == numbers:
            return raised(-ranked(numbers, (along,), rank), exponent)
    return None


AT_PLACE.append(at_place)


def at_their_places(difference: Polynomial) -> Polynomial:
    """A number of some rank, which stands in the terms, as u(p_u(k)) where that place stands anywhere."""
    places = sorted((a for a in difference.within if a.kind is Kind.PLACE), key=lambda a: a.key)
    for letter in sorted((a for a in difference.letters if a.kind in (Kind.MAXIMUM, Kind.RANKED)), key=lambda a: a.key):
        for order in places:
            found = _there(letter, order)
            if found is not None:
                difference = with_letter(difference, letter, found)
                break
    return difference


def _there(letter: Letter, order: Letter) -> Polynomial | None:
    """u(p_u(k)), if a letter is s_u(k) and p_u(k) the place."""
    bound, body, *rank = letter.arguments
    (variable,), numbers, at = order.arguments
    if len(bound) != 1 or bound[0].length != variable.length:
        return None
    known, turned = rank[0] if rank else ZERO, variable.length - 1
    numbers = replaced(numbers, {variable: of(bound[0])})
    for way in (of(bound[0]), turned - of(bound[0])):
        there = replaced(body, {bound[0]: way})
        for value, place_of in ((there, at), (-there, turned - at)):
            if value == numbers and known == place_of:
                return replaced(there, {bound[0]: of(order)})
    return None


def _ranked_rebuilt(letter: Letter, exponent: Fraction, by: Replacement) -> Polynomial:
    renaming, new = renamed(letter.bound)
    _, body, rank = letter.arguments
    return raised(ranked(replaced(body, {**by, **renaming}), new, replaced(rank, by)), exponent)


def _place_rebuilt(letter: Letter, exponent: Fraction, by: Replacement) -> Polynomial:
    renaming, (new,) = renamed(letter.bound)
    _, body, rank = letter.arguments
    return raised(place(replaced(body, {**by, **renaming}), new, replaced(rank, by)), exponent)


def _rank_rebuilt(letter: Letter, exponent: Fraction, by: Replacement) -> Polynomial:
    bound, body, at = letter.arguments
    if body.free & (by.keys() - set(bound)):
        raise UnsupportedError("the rank of a number in a row that changes is not followed")
    return of(made(Kind.RANK, bound, body, replaced_in(at, by)), exponent)


REBUILD[Kind.RANKED] = _ranked_rebuilt
REBUILD[Kind.PLACE] = _place_rebuilt
REBUILD[Kind.RANK] = _rank_rebuilt
