"""Decides counts: entries, evaluations of σ, products, terms, as formulas in the sizes; and such that grow with depth.

What is counted is read off the terms in the file.  A number that grows with the depth is proved by induction: the file
says how many there are in the layers up to i, and one layer more, counted in its terms, has to add what that says.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from uat_jax_check import terms as l
from uat_jax_check.document import NotDecided, Refused, usable
from uat_jax_check.equations import Definition, definitions, family, indices, names, well_founded
from uat_jax_check.letters import Place, apart, inside, place, put
from uat_jax_check.shapes import fitting, letters_fit, whole_sizes
from uat_jax_check.supports import PATTERNS, nonzeros, summed
from uat_jax_check.terms import ONE, ZERO, Poly, Symbols, number, scalar_text, symbol, text

TALLIES = {
    "nonzeros": "number of entries that are not 0 for almost all letters, of",
    "entries": "number of entries of",
    "rows": "number of rows of",
    "columns": "number of columns of",
    "stored": "number of entries of all letters in",
    "terms": "number of terms of",
    "sigmas": "number of evaluations of σ in",
    "nesting": "number of σ inside each other in",
    "products": "number of products of matrices, none of them with a 0, in",
    "vector products": "number of products with a column, none of them with a 0, in",
    "multiplications": "number of multiplications of numbers in all products, none of them with a 0, in",
}
"""What can be counted in a term, and how it is said."""
COSTS = ("sigmas", "nesting", "products", "vector products", "multiplications")
"""What a computation costs: what grows with the depth."""

Tally = tuple[str, tuple, Mapping[str, str]]


@dataclass(frozen=True)
class Again:
    """Letters s_1, s_2, … that are computed again wherever they stand: ``so_far`` says what s_1 … s_n cost together.

    Of σ inside each other it says how many there are in s_n, a number that does not get smaller.
    """

    family: tuple
    so_far: Callable[[Any], Poly]


class Counts:
    """Numbers of a file in which counts may stand, as polynomials; sizes may stand in exponents of numbers."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.fresh = itertools.count()

    def __call__(self, s: Any, env: Mapping[str, Poly] | None = None) -> Poly:
        """The number that an expression is."""
        env = env or {}
        if not isinstance(s, tuple) or s[0] in ("/", "at"):
            return self.symbols.scalar(s, env)
        head, *parts = s
        if head in TALLIES:
            return self.tally(head, parts[0], parts[1], env)
        if head == "sum":
            return self.total(parts, env)
        usable(head in ("+", "*", "^") and len(parts) > 1, f"a number has the head {str(head)[:20]!r}")
        usable(head != "^" or len(parts) == 2, "a power has other parts")
        values = [self(p, env) for p in parts]
        if head == "^":
            return self.symbols.power(*values)
        total = values[0]
        for value in values[1:]:
            total = (l.added if head == "+" else l.product)(total, value)
        return total

    def total(self, parts: Sequence[Any], env: Mapping[str, Poly]) -> Poly:
        """Σ of numbers; the number of its terms is at least 0."""
        body, index, lower, upper = parts
        usable(index not in env and index not in self.symbols.kinds, f"the index {index} is a symbol as well")
        return self.each(index, self(lower, env), self(upper, env), env, lambda inner: self(body, inner))

    def each(self, index: str, first: Poly, last: Poly, env: Mapping[str, Poly], of: Callable[[Any], Poly]) -> Poly:
        """Σ of a number over an index, which is first − 1 + k for k = 1, 2, …"""
        atom = ("b", -5, index)
        n = self.symbols.number_of_terms(first, last)
        return summed(of({**env, index: first - ONE + symbol(atom)}), atom, ONE, n)

    def tally(self, head: str, t: tuple, patterns: Mapping[str, str], env: Mapping[str, Poly]) -> Poly:
        """What is counted in a term."""
        shape = fitting(t, self.symbols, env)
        match head:
            case "entries":
                return shape[0] * shape[1]
            case "rows" | "columns":
                return shape[head == "columns"]
            case "nonzeros":
                usable(not env, "entries that are not zero are counted in a sum")
                return nonzeros(t, patterns, self.symbols)
            case "terms":
                return self.terms(t, env)
            case "stored":
                return self.stored(t, env, {}, {})
        return self.cost(head, t, env)

    def terms(self, t: tuple, env: Mapping[str, Poly]) -> Poly:
        """How many terms a sum of sums has."""
        if t[0] == "+":
            return _added(self.terms(part, env) for part in t[1:])
        if t[0] == "sum":
            return self.over(t, env, lambda inner: self.terms(t[1], inner))
        return self.terms(t[2], env) if t[0] == "." else ONE

    def over(self, t: tuple, env: Mapping[str, Poly], body: Callable[[Mapping[str, Poly]], Poly]) -> Poly:
        """What all terms of a sum have together."""
        _, _, index, lower, upper = t
        return self.each(index, self.symbols.scalar(lower, env), self.symbols.scalar(upper, env), env, body)

    def stored(self, t: tuple, env: Mapping[str, Poly], scope: Mapping[Any, Poly], held: dict[Any, Place]) -> Poly:
        """The entries of all letters, those that are written twice counted once; ``scope``: index → its upper bound.

        Raises:
            NotDecided: letters that may be one letter for some sizes, or some values of an index.
        """
        if t[0] == "L":
            low, high = ([self.symbols.scalar(s, env) for s in part] for part in t[4:6])
            alone = lambda p: not any(a[0] == "b" for m, _ in p for top, _ in m for a in inside(top))
            for atom in scope:
                if not any(alone(v - symbol(atom)) for v in (*low, *high)):
                    raise NotDecided(f"whether {text(t)} is another letter for every value of an index")
            key = t[1], tuple(low), tuple(high), frozenset(scope.items())
            if key in held:
                return ZERO
            moved = {atom: symbol(("b", -10, atom)) for atom in scope}  # it meets others at other values of its indices
            low, high = ([put(v, moved) for v in part] for part in (low, high))
            where = place(t[1], low, high, {("b", -10, atom): put(n, moved) for atom, n in scope.items()})
            if not all(apart(where, other, self.symbols) for other in held.values()):
                raise NotDecided(f"whether {text(t)} is a letter that is stored already")
            held[key] = place(t[1], key[1], key[2], scope)
            rows, columns = fitting(t, self.symbols, env)
            return rows * columns
        if t[0] == "sum":
            _, body, index, lower, upper = t
            if lower != 1:
                raise NotDecided("letters in a sum that does not begin at 1")
            atom, last = ("b", -9, (index, next(self.fresh))), self.symbols.scalar(upper, env)
            self.symbols.number_of_terms(ONE, last)
            of_one = self.stored(body, {**env, index: symbol(atom)}, {**scope, atom: last}, held)
            return summed(of_one, atom, ONE, last)
        if t[0] == "f":
            raise NotDecided("what a function stores")
        return _added(self.stored(part, env, scope, held) for kind, part in l.parts_of(t) if kind == "t")

    # --- costs ---------------------------------------------------------------------------------------------------

    def cost(self, head: str, t: tuple, env: Mapping[str, Poly], again: Again | None = None) -> Poly:
        """What it takes to evaluate a term once; products from the right, none with a factor that is 0.

        Letters cost nothing, but those that are computed ``again``, which have to stand in sums over all of them.
        """
        if t[0] == "L":
            if again is not None and family(t) == again.family:
                raise NotDecided(f"what {text(t)} costs where it does not stand in a sum over all such letters")
            return ZERO
        if t[0] == "f":
            raise NotDecided("what a function that is a letter costs")
        if t[0] == "sum":
            return self.of_sum(head, t, env, again)
        parts = [part for kind, part in l.parts_of(t) if kind == "t"]
        inside = [self.cost(head, p, env, again) for p in parts]
        if t[0] == "@" and any(self.zero(p, env) for p in parts):
            if any(inside):
                raise NotDecided("what a factor costs whose product with 0 is not needed")
            return ZERO
        if head == "nesting":
            return self.largest(inside) + (ONE if t[0] == "sigma" else ZERO)
        own = ONE if t[0] == "sigma" and head == "sigmas" else ZERO
        return _added(inside) + (self.of_product(head, parts, env) if t[0] == "@" else own)

    def zero(self, t: tuple, env: Mapping[str, Poly]) -> bool:
        """Whether a term is written as 0."""
        of = [self.zero(part, env) for kind, part in l.parts_of(t) if kind == "t" and t[0] != "sum"]
        match t[0]:
            case "sum":
                return self.zero(t[1], {**env, t[2]: symbol(("b", -5, t[2]))})
            case "+":
                return all(of)
            case "sigma" | "softmax" | "f":
                return False
            case ".":
                return any(of) or not self.symbols.scalar(t[1], env)
        return t[0] == "0" or any(of)

    def of_sum(self, head: str, t: tuple, env: Mapping[str, Poly], again: Again | None) -> Poly:
        """What the terms of a sum cost; where each has the letter s_k of its index k, all of these together."""
        _, body, index, lower, upper = t
        met = [] if again is None else [x for x in l.letters(body) if family(x) == again.family]
        if not met:
            if head == "nesting":
                raise NotDecided("σ inside each other in a sum")
            return self.over(t, env, lambda inner: self.cost(head, body, inner, again))
        assert again is not None
        others = env or lower != 1 or indices(met[0]) != (index,) or set(met) != {met[0]} or "sum" in l.heads(body)
        if others or not self.symbols.nonnegative(self.symbols.scalar(upper, env) - ONE):
            raise NotDecided(f"a sum with {text(met[0])} that is not over all of them")
        if head == "nesting":
            if "sigma" in l.heads(body):
                raise NotDecided("σ inside each other in a sum")
            return again.so_far(upper)
        if "0" in l.heads(body):
            raise NotDecided("what may be a product with 0")
        own = self.over(t, env, lambda inner: self.cost(head, body, inner))
        return own + number(len(met)) * again.so_far(upper)

    def largest(self, numbers: Sequence[Poly]) -> Poly:
        """The largest of some numbers."""
        found = ZERO
        for n in numbers:
            if self.symbols.nonnegative(n - found):
                found = n
            elif not self.symbols.nonnegative(found - n):
                raise NotDecided("which of two numbers is larger")
        return found

    def of_product(self, head: str, factors: Sequence[tuple], env: Mapping[str, Poly]) -> Poly:
        """What the products of some factors cost, without what the factors do."""
        if head == "sigmas":
            return ZERO
        shapes = [fitting(f, self.symbols, env) for f in factors]
        columns = shapes[-1][1]
        if head == "multiplications":
            return _added(rows * inner * columns for rows, inner in shapes[:-1])
        return ZERO if head == "vector products" and columns != ONE else number(len(factors) - 1)


def _added(numbers: Any) -> Poly:
    total = ZERO
    for n in numbers:
        total = total + n
    return total


# --- what is in the file ---------------------------------------------------------------------------------------------


def read(s: Any) -> Any:
    """A number in which counts may stand; of lists tuples, of terms terms."""
    if not isinstance(s, list) or not s or not isinstance(s[0], str) or s[0] in ("/", "at"):
        return l.scalar(s)
    head, *parts = s
    if head in TALLIES:
        usable(len(parts) == 2 and isinstance(parts[1], dict), f"{head} has other parts")
        usable(all(p in PATTERNS for p in parts[1].values()), "a letter has a pattern that is not known")
        usable(head == "nonzeros" or not parts[1], "patterns of what is not counted by entries")
        return (head, l.term(parts[0]), {l.name(n): p for n, p in parts[1].items()})
    if head == "sum":
        usable(len(parts) == 4, "a sum has other parts")
        return (head, read(parts[0]), l.name(parts[1]), read(parts[2]), read(parts[3]))
    usable(head in ("+", "*", "^") and len(parts) > 1, f"a number has the head {head[:20]!r}")
    usable(head != "^" or len(parts) == 2, "a power has other parts")
    return (head, *map(read, parts))


def tallies(s: Any) -> list[Tally]:
    """The counts in a number."""
    if not isinstance(s, tuple) or s[0] in ("/", "at"):
        return []
    return [s] if s[0] in TALLIES else [found for part in s[1:] for found in tallies(part)]


def shown(s: Any, where: list[str]) -> str:
    """A number as it is read; what is counted is named #1, #2, … and said in ``where``."""
    if isinstance(s, tuple) and s[0] in TALLIES:
        zeros = "".join(f", {name} {PATTERNS[p]}" for name, p in sorted(s[2].items()))
        said = f"{TALLIES[s[0]]} {text(s[1])}{zeros}"
        if said not in where:
            where.append(said)
        return f"#{where.index(said) + 1}"
    if isinstance(s, tuple) and s[0] == "sum":
        return f"Σ[{s[2]}={shown(s[3], where)}…{shown(s[4], where)}]({shown(s[1], where)})"
    if isinstance(s, tuple) and s[0] in ("+", "*", "^"):
        return scalar_text((s[0], *(shown(p, where) if tallies(p) else p for p in s[1:])))
    return scalar_text(s)


def at(s: Any, values: Mapping[str, Any]) -> Any:
    """A number with other numbers in the place of symbols."""
    if not isinstance(s, tuple):
        return values.get(s, s)
    if s[0] in TALLIES:
        return (s[0], l.replaced(s[1], values), s[2])
    if s[0] == "sum":
        usable(s[2] not in values, f"the index {s[2]} is a symbol as well")
        return (s[0], at(s[1], values), s[2], at(s[3], values), at(s[4], values))
    return (*s[:1], *(s[1:2] if s[0] == "at" else ()), *(at(p, values) for p in s[2 if s[0] == "at" else 1 :]))


def lines(said: str, where: Sequence[str], counted_in: Sequence[tuple], symbols: Symbols) -> list[str]:
    """What was decided, what #1, #2, … are, the symbols, and the shapes of letters."""
    found = dict.fromkeys(text(letter, shapes=True) for t in counted_in for letter in l.letters(t))
    numbered = [f"  #{n} is the {of}" for n, of in enumerate(where, 1)]
    return [said, *numbered, *symbols.said(), *([f"  with {', '.join(found)}"] if found else [])]


# --- counts for all sizes --------------------------------------------------------------------------------------------


def _counted_in(s: Any, symbols: Symbols) -> list[tuple]:
    """The terms in which something is counted; there is one."""
    found = [t for _, t, _ in tallies(s)]
    usable(found, "nothing is counted")
    letters_fit(found, symbols)
    return found


def count(data: Mapping[str, Any], symbols: Symbols) -> list[str]:
    """A count is a formula in the sizes, for all of them.

    Raises:
        Refused: it is another number.
    """
    of, claimed = read(data["count"]), read(data["is"])
    usable(not tallies(claimed), "what is counted stands on both sides")
    terms, where, value = _counted_in(of, symbols), [], Counts(symbols)
    said = f"{shown(of, where)} = {shown(claimed, where)}"
    if value(of) != value(claimed):
        raise Refused(f"{said} does not hold: the {where[0][:200]} is another number")
    return lines(said, where, terms, symbols)


def other_count(data: Mapping[str, Any], symbols: Symbols) -> list[str]:
    """A count is not what a formula in the sizes says: it is another number at the sizes of the file.

    Raises:
        Refused: it is this number there.
    """
    of, claimed, (sizes, rest) = read(data["count"]), read(data["is"]), whole_sizes(data["at"], symbols)
    usable(not tallies(claimed), "what is counted stands on both sides")
    terms, where = _counted_in(of, symbols), []
    said = f"{shown(of, where)} ≠ {shown(claimed, where)}"
    found = Counts(rest)(at(of, sizes)).value
    printed = Counts(rest)(at(claimed, sizes)).value
    if found is None or printed is None:
        raise NotDecided("a count that is no number at the sizes of the file")
    if found == printed:
        raise Refused(f"{said} does not hold at the sizes of the file: both are {found}")
    shown_at = ", ".join(f"{name} = {value}" for name, value in sizes.items())
    return lines(f"{said}: at {shown_at} they are {found} and {printed}", where, terms, symbols)


# --- counts for all depths -------------------------------------------------------------------------------------------


def recurrence(data: Mapping[str, Any], symbols: Symbols) -> list[str]:
    """f(first) = value and f(n + 1) = next, in which f stands for f(n): so f(n) is the formula for all n from first on.

    Raises:
        Refused: the formula has another first value, or does not go on so.
    """
    n, f = l.name(data["index"]), l.name(data["before"])
    first, start, after, closed = data["first"], *(read(data[k]) for k in ("value", "next", "closed"))
    usable(first in (0, 1) and type(first) is int, "it begins neither at 0 nor at 1")
    usable(symbols.kinds.get(n) == ("size", "count")[first == 0], f"{n} is no whole number from {first} on")
    usable(f != n and symbols.kinds.get(f) in ("size", "count"), f"{f} is no whole number")
    if f in _symbols(closed) | _symbols(start) or n in _symbols(start):
        raise Refused("the formula, or the first value, is not free of what it is about")
    usable(not tallies(closed) and not tallies(start), "what is counted stands in the formula, or the first value")
    letters_fit([t for _, t, _ in tallies(after)], symbols)
    value, formula = Counts(symbols), Counts(symbols)(closed)
    least = value(at(closed, {n: first}))
    if value(start) != least:
        raise Refused(f"{scalar_text(closed)} is not the first value")
    if not symbols.nonnegative(formula - (ONE if symbols.kinds[f] == "size" else ZERO)):
        raise NotDecided(f"whether {f} is always so large")
    if not (symbols.whole(least) and symbols.whole(value(after))):
        raise NotDecided(f"whether {f} is always whole")
    if value(after, {f: formula}) != value(at(closed, {n: ("+", n, 1)})):
        raise Refused(f"{scalar_text(closed)} does not go on as it should")
    where: list[str] = []
    said = f"{f}({n}) = {scalar_text(closed)} for every {n} ≥ {first}, where {f}({first}) = {shown(start, where)}"
    said += f" and {f}({n} + 1) = {shown(after, where)}, {f} being {f}({n})"
    return lines(said, where, [t for _, t, _ in tallies(after)], symbols)


def _symbols(s: Any) -> set[str]:
    """The symbols in a number, those in terms that are counted included."""
    if isinstance(s, str):
        return {s}
    if not isinstance(s, tuple):
        return set()
    if s[0] in TALLIES:
        return names(s[1])
    return {n for part in s[2 if s[0] == "at" else 1 :] for n in _symbols(part)}


def cost(data: Mapping[str, Any], symbols: Symbols) -> list[str]:
    """What it costs to compute the letters of the first layer, of every layer i + 1 by those before, and the output.

    ``shared``: every letter is computed once; else the one letter of a layer is computed again wherever it stands.
    ``partial`` says what the letters of the layers up to i cost together.

    Raises:
        Refused: the first layer, or one layer more, costs something else, or the formula is not what all cost together.
    """
    head, i, depth = data["counted"], l.name(data["index"]), l.name(data["depth"])
    usable(head in COSTS, "it is none of what a computation costs")
    usable(symbols.kinds.get(i) == symbols.kinds.get(depth) == "size" and i != depth, "an index is no size")
    usable(isinstance(data["shared"], bool), "whether letters are computed once is not said")
    first, later = definitions(data["first"], symbols), definitions(data["next"], symbols)
    output, partial, closed = l.term(data["output"]), l.scalar(data["partial"]), read(data["closed"])
    usable(not tallies(closed) and bool(first) and bool(later), "a layer computes nothing")
    if any(depth in names(t) for d in (*first, *later) for t in d.terms) or any(
        i in names(t) for d in first for t in d.terms
    ):
        raise Refused("the number of layers stands in a layer, or that of a layer in the first")
    if names(output) & {i} or i in _symbols(closed) or depth in _symbols(partial):
        raise Refused("the number of layers and that of a layer stand for each other")
    well_founded(first, later, l.replaced(output, {depth: i}), i, symbols, alone=True)
    terms = [(t, () if d.index is None else (d.index,)) for d in (*first, *later) for t in d.terms]
    letters_fit([output, *(t for t, _ in terms)], symbols, [(), *(k for _, k in terms)], i)
    if {family(d.letter) for d in first} != {family(d.letter) for d in later}:
        raise Refused("the first layer has other letters than those after it")
    value, nesting = Counts(symbols), head == "nesting"
    so_far = lambda n: value(at(partial, {i: n}))
    again = None if data["shared"] else Again(family(later[0].letter), so_far)
    usable(data["shared"] or len(first) == len(later) == 1, "letters that are computed again are one in a layer")
    usable(data["shared"] or not later[0].index, "letters that are computed again have the index of a sum")
    usable(not (nesting and data["shared"]), "σ inside each other are not added up")
    start, more = (_together(head, found, value, again) for found in (first, later))
    if so_far(1) != start:
        raise Refused(f"the first layer does not cost {scalar_text(at(partial, {i: 1}))}")
    if so_far(("+", i, 1)) != more + (ZERO if nesting else so_far(i)):
        raise Refused(f"layer {i} + 1 does not cost what {scalar_text(partial)} says")
    if nesting and not symbols.nonnegative(so_far(("+", i, 1)) - so_far(i)):
        raise NotDecided("whether a later letter has as many σ inside each other")
    fitting(output, symbols)
    rest = value.cost(head, output, {}, again) + (so_far(depth) if data["shared"] else ZERO)
    if value(closed) != rest:
        raise Refused(f"all together do not cost {scalar_text(closed)}")
    how = "every letter computed once" if data["shared"] else "every letter computed again wherever it stands"
    what = TALLIES[head].removesuffix(" in")
    said = f"the {what} is {scalar_text(closed)} for every {depth} ≥ 1 in {text(output)}, {how}"
    given = [f"  first {d}" for d in first] + [f"  for every {i} ≥ 1 {d}" for d in later]
    return [said, *given, *lines("", [], [t for d in (*first, *later) for t in d.terms] + [output], symbols)[1:]]


def _together(head: str, found: Sequence[Definition], value: Counts, again: Again | None) -> Poly:
    """What the letters of a layer cost, each of them once."""
    total = ZERO
    for d in found:
        env = {} if d.index is None else {d.index: symbol(("b", -6, d.index))}
        if fitting(d.letter, value.symbols, env) != fitting(d.term, value.symbols, env):
            raise Refused(f"{text(d.letter)} has another shape than what it stands for")
        if value.zero(d.term, env):
            raise NotDecided(f"what products with {text(d.letter)} cost, which is 0")
        c = value.cost(head, d.term, env, again)
        if d.index is None:
            total = total + c
        else:
            n = value.symbols.number_of_terms(ONE, value.symbols.scalar(d.upper, {}))
            total = total + summed(c, ("b", -6, d.index), ONE, n)
    return total
