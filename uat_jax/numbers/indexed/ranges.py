"""The ranges of the bound indices of a maximum or a product: written out, split, cut, merged and turned.

    {u(i) : i < n} = {u(b·p + q) : p < n/b, q < b} = {u(i) : i < m} ∪ {u(m + i) : i < n − m} = {u(n − 1 − i) : i < n}

What is the same for the terms of one range in any order is the same for both sides of each equation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations

from uat_jax.numbers.indexed.bounds import nonnegative, unit_indices
from uat_jax.numbers.indexed.canonical import MOST_TURNED
from uat_jax.numbers.indexed.colours import coloured
from uat_jax.numbers.indexed.polynomial import (
    OF_INDICES,
    ONE,
    ZERO,
    Kind,
    Letter,
    Polynomial,
    constant,
    fresh,
    of,
    replaced,
)
from uat_jax.numbers.indexed.sums import SHORTEST, cut_of, in_range, others, split_of

Range = tuple[Polynomial, tuple[Letter, ...]]
"""Terms, and the indices that are bound in them."""


def written_out(value: Polynomial, over: Sequence[Letter]) -> list[Range] | None:
    """u(0), …, u(c − 1) for an index below a small number c."""
    for variable in over:
        length = variable.length.number()
        if length is not None and length <= SHORTEST:
            kept = tuple(others(over, variable))
            return [(replaced(value, {variable: constant(i)}), kept) for i in range(int(length))]
    return None


def where_divided(value: Polynomial, over: Sequence[Letter]) -> Range | None:
    """i = b·p + q where ⌊i / b⌋ stands and b divides the length."""
    found = split_of(value.within, over)
    if found is None:
        return None
    variable, divisor, rounds = found
    p, q = fresh(rounds), fresh(divisor)
    return replaced(value, {variable: divisor * of(p) + of(q)}), (*others(over, variable), p, q)


def cut_in_two(value: Polynomial, over: Sequence[Letter], least: int) -> list[Range] | None:
    """The range cut at m, so that both parts are proved to have `least` entries, and neither to have none.

    m is free of indices, and [i ≥ m], [i = m] or [i = m − 1] stands there; or ⌊i / b⌋, and m is a multiple of b.
    """
    found = cut_of(value.within, over, least)
    for variable, cut in [found] if found else _compared(value, over):
        if cut and cut != variable.length and nonnegative(cut - least) and nonnegative(variable.length - cut - least):
            before, after = fresh(cut), fresh(variable.length - cut)
            kept = others(over, variable)
            first = replaced(value, {variable: of(before)}), (*kept, before)
            return [first, (replaced(value, {variable: cut + of(after)}), (*kept, after))]
    return None


def _compared(value: Polynomial, over: Sequence[Letter]) -> Iterator[tuple[Letter, Polynomial]]:
    """(i, m) where a comparison of i alone may turn at m."""
    for letter in sorted((a for a in value.letters if a.kind in OF_INDICES), key=lambda a: a.key):
        for variable, slope in unit_indices(letter.arguments[0]).items():
            if variable in over and len(letter.free) == 1:
                rest = letter.arguments[0] - of(variable) * slope
                if letter.kind is Kind.AT_LEAST:
                    yield variable, -rest if slope > 0 else rest + 1
                else:
                    yield from ((variable, step - rest * slope) for step in (0, 1))


def merged(value: Polynomial, over: Sequence[Letter]) -> Range | None:
    """Two indices that occur as b·p + q only are one."""
    for p, q in permutations(over, 2):
        if {a for a in value.letters if p in a.free} == {a for a in value.letters if q in a.free}:
            both = fresh(p.length * q.length)
            body = replaced(value, {q: of(both) - q.length * of(p)})
            if p not in body.free:
                return body, (*others(over, p, q), both)
    return None


def regrouped(value: Polynomial, over: Sequence[Letter]) -> Range | None:
    """Arrays that stand behind each other along an axis in another order, and the parts of one array as that array."""
    if len(over) != 1 or len(parts := _parts(value, over[0])) == 1:
        return None
    parts = [(forwards(u, (i,)), i) for u, i in parts]
    while (found := _joined(parts)) is not None:
        parts = found
    parts.sort(key=lambda part: (coloured(part[0], {part[1]: "this"}), part[1].length.key))
    whole, start, together = fresh(over[0].length), ZERO, ZERO
    for u, i in parts:
        place = of(whole) - start
        together = together + in_range(place, i.length) * replaced(u, {i: ZERO if i.length == ONE else place})
        start = start + i.length
    return None if together == replaced(value, {over[0]: of(whole)}) else (together, (whole,))


def _parts(value: Polynomial, variable: Letter) -> list[tuple[Polynomial, Letter]]:
    """A range cut at all places that comparisons tell."""
    found = cut_in_two(value, (variable,), 0)
    return [(value, variable)] if found is None else [part for u, over in found for part in _parts(u, over[-1])]


def _joined(parts: Sequence[tuple[Polynomial, Letter]]) -> list[tuple[Polynomial, Letter]] | None:
    """The parts with two of them as one range, {u(i) : i < m} and {u(m + j) : j < k}; None if none belong together."""
    for (u, i), (v, j) in permutations(parts, 2):
        if replaced(u, {i: i.length + of(j)}) == v:
            whole = fresh(i.length + j.length)
            return [(replaced(u, {i: of(whole)}), whole), *((w, k) for w, k in parts if k is not i and k is not j)]
    return None


def forwards(value: Polynomial, over: Sequence[Letter]) -> Polynomial:
    """Of all u that read some axes backwards the one with the least digest."""
    found = [value]
    for variable in over[:MOST_TURNED]:
        found += [replaced(turned, {variable: variable.length - 1 - of(variable)}) for turned in found]
    return min(found, key=lambda u: (coloured(u, {}), u.key))
