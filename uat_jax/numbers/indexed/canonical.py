"""Names for bound indices that do not depend on the names they had: two sums that differ by names are one letter."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, islice, permutations, product

from uat_jax.errors import UnsupportedError
from uat_jax.numbers.indexed.colours import coloured
from uat_jax.numbers.indexed.polynomial import (
    OF_RANGES,
    Kind,
    Letter,
    Polynomial,
    digest,
    index,
    made,
    of,
    replaced,
)

MOST_ORDERS = 720
"""So many orders are tried of indices that their colours do not tell apart; if there are more, equal sums may look
unequal."""

MOST_TURNED = 3
"""So many indices are looked at in both directions."""


def named(kind: Kind, body: Polynomial, over: Sequence[Letter]) -> Letter:
    """The sum (of a monomial with coefficient 1), maximum or product over index variables, with canonical names.

    A colour of an index is its length and what it does in each factor; it is refined until no more indices differ.  Of
    the orders in which indices of one colour can be named, the one with the least digest is taken.
    """
    found = [_named(kind, turned, over) for turned in _orientations(body, over)]
    letters = [letter for letter in found if letter is not None]
    if not letters:
        raise UnsupportedError("renaming the indices of a sum changes its normal form")
    return min(letters, key=lambda letter: letter.key)


def _orientations(body: Polynomial, over: Sequence[Letter]) -> list[Polynomial]:
    """The body of a sum, and the same body with bound indices that run backwards, in all combinations.

    Only indices are turned by which an array is read both ways, or none is read, and at most `MOST_TURNED`.
    """
    found = [body]
    for variable in [v for v in over if _read_both_ways(body, v)][:MOST_TURNED]:
        found += [replaced(turned, {variable: variable.length - 1 - of(variable)}) for turned in found]
    return found


def _read_both_ways(body: Polynomial, variable: Letter) -> bool:
    """Whether entries are read at places that grow with an index, and at others that fall, or no entries by it."""
    entries = (letter for letter in body.within if letter.kind is Kind.ENTRY and variable in letter.free)
    slopes = {place.terms.get(((variable, Fraction(1)),)) for entry in entries for place in entry.arguments[3]}
    return {1, -1} <= slopes or not slopes


def _named(kind: Kind, body: Polynomial, over: Sequence[Letter]) -> Letter | None:
    """The letter with canonical names; None if it is no monomial."""
    height, best = body.height + 1, None
    outside = body.free - set(over)
    for order in islice(product(*map(permutations, _classes(kind, body, over))), MOST_ORDERS):
        new = tuple(index(f"b{height}.{i}", v.length) for i, v in enumerate(chain.from_iterable(order)))
        if outside.intersection(new):
            raise UnsupportedError("an index of a sum would be taken for one of a sum around it")
        renaming = {old: of(name) for old, name in zip(chain.from_iterable(order), new, strict=True)}
        value = replaced(body, renaming)
        argument = _as_argument(kind, value)
        if argument is None:
            return None
        letter = made(kind, new, argument)
        if best is None or letter.key < best.key:
            best = letter
    return best


def _as_argument(kind: Kind, value: Polynomial) -> object:
    if kind in OF_RANGES:
        return value
    if len(value.terms) != 1 or set(value.terms.values()) != {1}:
        return None
    return next(iter(value.terms))


def _classes(kind: Kind, body: Polynomial, over: Sequence[Letter]) -> list[list[Letter]]:
    """The index variables by colour."""
    colours = {variable: variable.length.key for variable in over}
    parts = _parts(kind, body)
    count = 0
    while len(over) > 1 and len(set(colours.values())) > count:
        count = len(set(colours.values()))
        colours = {
            v: digest(colours[v], *sorted(coloured(p, {**colours, v: "this"}) for p in parts if v in p.free))
            for v in over
        }
    return [[v for v in over if colours[v] == colour] for colour in sorted(set(colours.values()))]


def _parts(kind: Kind, body: Polynomial) -> list[Polynomial]:
    """The factors of a monomial, or the terms of a polynomial."""
    if kind in OF_RANGES:
        return [Polynomial({monomial: number}) for monomial, number in body.terms.items()]
    return [of(letter, exponent) for monomial in body.terms for letter, exponent in monomial]
