"""Digests of expressions that do not depend on what their index variables are called.

Every choice of a sign or a direction is made by them, so that renaming an index changes no choice: a choice that two
names could make differently would turn one normal form into two.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from uat_jax.numbers.indexed.polynomial import BINDING, OF_ORDER, OF_RANGES, Kind, Letter, Monomial, Polynomial, digest

Colours = Mapping[Letter, str]
"""Index variable → what tells it from others."""


def coloured(value: Any, colours: Colours) -> str:
    """The digest of an expression in which an index variable counts by its colour, or else by the length of its axis.

    The indices of the output, which no renaming touches, are their own colours.
    """
    if isinstance(value, Polynomial):
        return digest("sum", *sorted(f"{_of_monomial(m, colours)}*{number}" for m, number in value.terms.items()))
    if isinstance(value, Letter):
        return _of_letter(value, colours)
    if isinstance(value, tuple):
        return digest("tuple", *(coloured(part, colours) for part in value))
    return str(value)


def _of_monomial(monomial: Monomial, colours: Colours) -> str:
    return digest(*sorted(f"{coloured(letter, colours)}^{exponent}" for letter, exponent in monomial))


def _of_letter(letter: Letter, colours: Colours) -> str:
    if letter.kind is Kind.INDEX:
        known = colours.get(letter)
        return known or (letter.key if letter.name.startswith("o") else f"?{letter.length.key}")
    if not letter.free and letter.height == 0:
        return letter.key
    if letter.kind in BINDING:
        lengths = sorted(variable.length.key for variable in letter.bound)
        inside = {variable: colour for variable, colour in colours.items() if variable not in letter.bound}
        body = letter.arguments[1]
        return digest(
            letter.kind, *lengths, coloured(body, inside) if letter.kind in OF_RANGES else _of_monomial(body, inside)
        )
    if letter.kind in OF_ORDER:
        inside = {variable: colour for variable, colour in colours.items() if variable not in letter.bound}
        _, body, place = letter.arguments
        return digest(letter.kind, len(letter.bound), coloured(body, inside), coloured(place, colours))
    return digest(letter.kind, *(coloured(argument, colours) for argument in letter.arguments))


def orientation(value: Polynomial) -> int:
    """+1 or −1, the opposite for −value, and the same whatever index variables are called; 0 if no choice is possible.

    Terms that differ by names alone are added up; the sign of the first sum that is not 0 decides.
    """
    classes: dict[str, Fraction] = {}
    for monomial, number in value.terms.items():
        colour = _of_monomial(monomial, {})
        classes[colour] = classes.get(colour, Fraction(0)) + number
    decisive = next((classes[colour] for colour in sorted(classes) if classes[colour]), Fraction(0))
    return (decisive > 0) - (decisive < 0)
