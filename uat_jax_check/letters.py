"""Which letters are surely different ones: told by what their indices may be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from uat_jax_check.terms import ONE, Poly, Symbols, symbol


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
    """Whether two indices are different labels, such as Q and K: symbols that are no numbers of layers."""
    labels = {symbol(("s", name)): name for name, kind in symbols.kinds.items() if kind == "number"}
    return a in labels and b in labels and a != b
