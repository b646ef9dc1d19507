"""Rows and columns of a term, and terms whose shapes do not fit."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any

from uat_jax_check import terms as l
from uat_jax_check.document import NotDecided, Refused, usable
from uat_jax_check.letters import check_shapes, inside
from uat_jax_check.terms import ONE, Poly, Symbols, symbol, text

Shape = tuple[Poly, Poly]


class Misfit(Exception):
    """Two shapes, or two sizes, that are not the same."""


def shape(t: tuple, symbols: Symbols, env: Mapping[str, Poly]) -> Shape:
    """The shape of a term; ``env`` holds the indices of the sums around it.

    Raises:
        Misfit: an operation on shapes that are not known to be the same for all sizes.
        NotDecided: rows or columns that are not seen to be whole, and 0 or more.
    """
    head, *parts = t
    for kind, part in l.parts_of(t):  # all numbers are made of symbols that are declared, also those that do not count
        for s in (part,) if kind == "s" else part if kind == "i" else ():
            symbols.scalar(s, env)

    def sizes(*s: Any) -> tuple[Poly, ...]:
        found = tuple(symbols.scalar(part, env) for part in s)
        if not all(symbols.whole(n) and symbols.nonnegative(n) for n in found):
            raise NotDecided(f"whether the rows and columns in {text(t)[:100]} are whole, and 0 or more")
        return found

    of = lambda x: shape(x, symbols, env)
    match head:
        case "L":
            rows, columns = sizes(*parts[1:3])
            return rows, columns
        case "I" | "0" | "1" | "E":
            rows, columns = sizes(parts[0], parts[0]) if head == "I" else sizes(*parts[-2:])
            if head == "E":
                _slice(symbols.scalar(parts[0], env), rows, columns, symbols)
            return rows, columns
        case "+" | "had":
            first, *rest = map(of, parts)
            _fit(all(other == first for other in rest), t)
            return first
        case "." | "f":
            inner = of(parts[1])
            return inner if head == "." else of(parts[0])
        case "@":
            factors = list(map(of, parts))
            _fit(all(a[1] == b[0] for a, b in zip(factors, factors[1:], strict=False)), t)
            return factors[0][0], factors[-1][1]
        case "T":
            rows, columns = of(parts[0])
            return columns, rows
        case "kron":
            a, b = map(of, parts)
            return a[0] * b[0], a[1] * b[1]
        case "vec":
            rows, columns = of(parts[0])
            return rows * columns, ONE
        case "unvec":
            rows, columns = sizes(*parts[1:])
            _fit(of(parts[0]) == (rows * columns, ONE), t)
            return rows, columns
        case "diag":
            rows, columns = of(parts[0])
            _fit(columns == ONE, t)
            return rows, rows
        case "sigma" | "softmax":
            return of(parts[0])
    return _of_sum(parts, symbols, env)


def _slice(i: Poly, rows: Poly, columns: Poly, symbols: Symbols) -> None:
    """A slice that is not seen to exist is assumed to; one that does not is refused."""
    for gap, said in ((i - ONE, "1 ≤ i"), (rows - i * columns, "i·d ≤ M")):
        if symbols.nonnegative(l.ZERO - gap - ONE):
            raise Refused("a slice E_i does not exist")
        if not symbols.nonnegative(gap):
            symbols.divisors.add(f"every slice E_{{i;M×d}} exists: {said}")


def _of_sum(parts: list[Any], symbols: Symbols, env: Mapping[str, Poly]) -> Shape:
    body, index, lower, upper = parts
    usable(index not in env and index not in symbols.kinds, f"the index {index} is a symbol as well")
    atom, first = ("b", -3, index), symbols.scalar(lower, env)
    symbols.number_of_terms(first, symbols.scalar(upper, env))
    found = shape(body, symbols, {**env, index: first - ONE + symbol(atom)})
    if any(atom in inside(a) for size in found for m, _ in size for a, _ in m):
        raise NotDecided("a shape depends on the index of a sum")
    return found


def _fit(condition: bool, t: tuple) -> None:
    if not condition:
        raise Misfit(text(t)[:200])


def fitting(t: tuple, symbols: Symbols, env: Mapping[str, Poly] | None = None) -> Shape:
    """The shape of a term that has one.  Raises `Refused` for one that has none."""
    try:
        return shape(t, symbols, env or {})
    except Misfit as error:
        raise Refused(f"the shapes in {error} do not fit") from None


def letters_fit(
    parts: Iterable[tuple], symbols: Symbols, indices: Iterable[Iterable[str]] = (), running: str | None = None
) -> None:
    """Refuse letters of one name and indices that have two shapes; ``indices``: of each part those around it.

    ``running``: the number of layers, which takes all its values.
    """
    found: dict[Any, Shape] = {}

    def look(t: tuple, env: Mapping[str, Poly]) -> None:
        if t[0] == "L":
            _, name, rows, columns, low, high = t
            size = lambda s: symbols.scalar(s, env)
            key = name, tuple(map(size, low)), tuple(map(size, high))
            if found.setdefault(key, (size(rows), size(columns))) != (size(rows), size(columns)):
                raise Refused(f"the letter {name} has two shapes")
        inner = {**env, t[2]: symbol(("b", -3, t[2]))} if t[0] == "sum" else env
        for kind, part in l.parts_of(t):
            if kind == "t":
                look(part, inner)

    for t, around in zip_longest(parts, indices, fillvalue=()):
        look(t, {i: symbol(("b", -3, i)) for i in around})
    check_shapes(found, symbols, running)


# --- formulas that make no sense -------------------------------------------------------------------------------------


def misfit(data: Mapping[str, Any], symbols: Symbols) -> list[str]:
    """At the sizes of the file an operation of the formula has no meaning; its letters have the shapes printed here.

    Raises:
        Refused: all shapes fit there, or a letter has two shapes.
    """
    formula, (at, rest) = l.term(data["formula"]), whole_sizes(data["at"], symbols)
    letters_fit([formula], symbols)
    usable(not any(l.KINDS[kind] is not None for kind in rest.kinds.values()), "a size has no value")
    fixed = l.replaced(formula, at)
    given = [rest.scalar(s, {}).value for s in sizes_in(fixed)]
    if not all(size is not None and size.denominator == 1 and size >= 1 for size in given):
        raise Refused("a matrix has no rows or columns, or a sum no bounds, at the sizes of the file")
    try:
        shape(fixed, rest, {})
    except Misfit as error:
        letters = ", ".join(dict.fromkeys(text(letter, shapes=True) for letter in l.letters(formula)))
        shown = ", ".join(f"{name} = {size}" for name, size in at.items())
        return [f"the shapes in {text(formula)} do not fit at {shown}", f"  at {error}", f"  with {letters}"]
    raise Refused(f"the shapes in {text(formula)[:200]} fit")


def sizes_in(t: tuple) -> Iterator[Any]:
    """The rows and columns of all matrices in a term, and the bounds of sums."""
    if t[0] != ".":
        yield from [part for kind, part in l.parts_of(t) if kind == "s"][t[0] == "E" :]
    for kind, part in l.parts_of(t):
        if kind == "t":
            yield from sizes_in(part)


def whole_sizes(data: Any, symbols: Symbols) -> tuple[dict[str, int], Symbols]:
    """Values of sizes and counts, and the other symbols."""
    sized = {name: l.KINDS[kind] for name, kind in symbols.kinds.items() if l.KINDS[kind] is not None}
    usable(isinstance(data, dict), "its sizes are no object")
    found = {l.name(n): value for n, value in data.items()}
    usable(len(found) == len(data) and found.keys() <= sized.keys(), "a value is of no size, or there are two")
    for name, value in found.items():
        usable(type(value) is int and sized[name] <= value < 2**20, f"{name} cannot be {str(value)[:20]}")
    return found, Symbols({name: kind for name, kind in symbols.kinds.items() if name not in found})
