"""Which letters are surely different ones, told by what their indices may be; that none has two shapes."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from uat_jax_check.document import NotDecided, Refused, usable
from uat_jax_check.terms import ONE, ZERO, Poly, Symbols, number, symbol

MOST_LETTERS = 512


@dataclass(frozen=True)
class Place:
    """A letter with the least and the greatest value that each of its indices may have.

    ``numbers``: how many subscripts and superscripts there are.
    """

    name: str
    numbers: tuple[int, int]
    spans: tuple[tuple[Poly, Poly], ...]


def span(value: Poly, scope: Mapping[Any, Poly]) -> tuple[Poly, Poly]:
    """The least and the greatest value of an index; ``scope``: atom of an index of a sum → its upper bound."""
    atom = next((a for a in scope if value == symbol(a)), None)
    return (value, value) if atom is None else (ONE, scope[atom])


def place(name: str, low: Sequence[Poly], high: Sequence[Poly], scope: Mapping[Any, Poly]) -> Place:
    """Where a letter with these subscripts and superscripts stands."""
    return Place(name, (len(low), len(high)), tuple(span(v, scope) for v in (*low, *high)))


def apart(a: Place, b: Place, symbols: Symbols) -> bool:
    """Whether two letters are never the same, for any sizes: other names, or an index that is surely another one."""
    if a.name != b.name or a.numbers != b.numbers:
        return True
    for (low, high), (least, most) in zip(a.spans, b.spans, strict=True):
        if symbols.nonnegative(least - high - ONE) or symbols.nonnegative(low - most - ONE):
            return True
        if low == high and least == most and distinct(low, least, symbols):
            return True
    return False


def distinct(a: Poly, b: Poly, symbols: Symbols) -> bool:
    """Whether two indices are different labels, such as Q and K or Q and 1: symbols that are no numbers of layers."""
    labels = {symbol(("s", name)) for name, kind in symbols.kinds.items() if kind == "number"}
    return a != b and bool({a, b} & labels) and all(p in labels or p.value is not None for p in (a, b))


# --- shapes ----------------------------------------------------------------------------------------------------------


def check_shapes(shapes: Mapping[Any, tuple[Poly, ...]], symbols: Symbols, running: str | None = None) -> None:
    """Refuse letters that have two shapes where their indices are the same.

    ``shapes``: (name, subscripts, superscripts) → rows and columns.  The indices of sums take many values, and so does
    ``running``, the number of layers of an induction: of two letters the second one has other ones.
    """
    usable(len(shapes) <= MOST_LETTERS, f"a statement has more than {MOST_LETTERS} letters")
    for a, b in itertools.combinations_with_replacement(shapes, 2):
        if a[0] != b[0] or (len(a[1]), len(a[2])) != (len(b[1]), len(b[2])):
            continue
        pairs = zip((*a[1], *a[2], *shapes[a]), (copied(p, running) for p in (*b[1], *b[2], *shapes[b])), strict=True)
        *of_indices, rows, columns = pairs
        if any(symbols.nonnegative(p - q - ONE) or symbols.nonnegative(q - p - ONE) for p, q in of_indices):
            continue
        if any(distinct(p, q, symbols) for p, q in of_indices):
            continue
        gaps = [rows[0] - rows[1], columns[0] - columns[1]]
        todo = [p - q for p, q in of_indices]
        while todo:  # where the indices are the same, an atom of one is what the other says
            atom, value = solved(todo.pop())
            todo, gaps = ([put(p, {atom: value}) for p in found] for found in (todo, gaps))
        if any(gaps):
            raise Refused(f"letters {a[0]} have shapes that do not fit where they have the same indices")


def solved(p: Poly) -> tuple[Any, Poly]:
    """An atom and its value where a number is 0; indices of sums before sizes.  None if no atom is seen to have one."""
    parts = sorted(p, key=lambda part: str([atom for atom, _ in part[0]]))
    for m, c in parts:
        rest = p - Poly([(m, c)])
        for atom, e in m:
            if len(m) == 1 and e == 1 and not any(atom in inside(a) for n, _ in rest for a, _ in n):
                return atom, number(-1 / c) * rest
    return None, ZERO


def copied(p: Poly, running: str | None) -> Poly:
    """The number with other indices of sums."""
    atoms = {atom for m, _ in p for top, _ in m for atom in inside(top) if atom[0] == "b" or atom == ("s", running)}
    return put(p, {atom: symbol(("b", -2, atom)) for atom in atoms})


def inside(atom: Any) -> set[Any]:
    """The atom, and those in its parts: the indices of D_k, base and exponent of a power, term and bounds of a sum."""
    match atom[0]:
        case "at":
            parts = atom[2]
        case "pow":
            parts = atom[1], symbol(atom[2])
        case "Σ":
            parts = atom[1:]
        case _:
            return {atom}
    return {atom, *(a for p in parts for m, _ in p for b, _ in m for a in inside(b))}


def put(p: Poly, values: Mapping[Any, Poly]) -> Poly:
    """The number with numbers in the place of atoms."""
    total = ZERO
    for m, c in p:
        term = number(c)
        for atom, e in m:
            value = values.get(atom)
            if atom[0] in ("pow", "Σ") and inside(atom) & values.keys():
                raise NotDecided("a number in an exponent, or in a sum, that is put in")
            if value is None and atom[0] == "at":
                value = symbol(("at", atom[1], tuple(put(i, values) for i in atom[2])))
            if value is None or value == symbol(atom):
                term = term * Poly([(frozenset([(atom, e)]), Fraction(1))])
                continue
            if e.denominator != 1 or e < 0:
                raise NotDecided("a size has a power that is not whole")
            for _ in range(int(e)):
                term = term * value
        total = total + term
    return total
