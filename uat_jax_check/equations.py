"""Decides the statements of a claim of the papers: equations of matrices, inductions over layers, and what is static.

Every statement is brought to normal form (`words`), which holds for all sizes, and evaluated as it is defined at random
sizes in a prime field (`evaluation`); both have to agree.  What is printed is made from the terms that were decided.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from uat_jax_check import terms as l
from uat_jax_check.document import NotDecided, Refused, usable
from uat_jax_check.evaluation import TRIES, Evaluation, Point, Unfit
from uat_jax_check.terms import ONE, Poly, Symbols, replaced, text
from uat_jax_check.words import Normaliser

POINTS = 3
"""So many random points a statement is evaluated at."""


@dataclass(frozen=True)
class Definition:
    """``letter`` stands for ``term``; with an index for each of its values from 1 to ``upper``."""

    letter: tuple
    term: tuple
    index: str | None = None
    upper: Any = None

    def replaced(self, found: Mapping[Any, Any]) -> "Definition":
        """The definition with symbols or letters replaced."""
        upper = replaced(self.upper, found, "s") if self.index else None
        return Definition(replaced(self.letter, found), replaced(self.term, found), self.index, upper)

    def __str__(self) -> str:
        span = f"  for {self.index} = 1 … {l.scalar_text(self.upper)}" if self.index else ""
        return f"{text(self.letter)} := {text(self.term)}{span}"


def definitions(data: Any, symbols: Symbols) -> list[Definition]:
    """The definitions in a file."""
    usable(isinstance(data, list), "its definitions are no list")
    found = []
    for entry in data:
        usable(isinstance(entry, dict) and entry.keys() - {"for"} == {"letter", "is"}, "a definition has other fields")
        index, upper = None, None
        if "for" in entry:
            usable(isinstance(entry["for"], list) and len(entry["for"]) == 2, "the range of an index is none")
            index, upper = l.name(entry["for"][0]), l.scalar(entry["for"][1])
            usable(index not in symbols.kinds, f"the index {index} is a symbol as well")
        letter = l.term(entry["letter"])
        usable(letter[0] == "L", "something else than a letter is defined")
        found.append(Definition(letter, l.term(entry["is"]), index, upper))
    return found


@dataclass(frozen=True)
class Side:
    """A term under definitions."""

    term: tuple
    definitions: Sequence[Definition]

    def replaced(self, found: Mapping[Any, Any]) -> "Side":
        """The side with symbols or letters replaced, in its definitions too."""
        return Side(replaced(self.term, found), [d.replaced(found) for d in self.definitions])

    def letters(self) -> Iterator[tuple]:
        """All its letters."""
        for t in (self.term, *(part for d in self.definitions for part in (d.letter, d.term))):
            yield from l.letters(t)


# --- that definitions can be -----------------------------------------------------------------------------------------


def span(s: Any, definition: Definition | None, symbols: Symbols) -> tuple[Poly, Poly]:
    """The least and the greatest value of an index of a letter."""
    if definition is not None and definition.index is not None and s == definition.index:
        return ONE, symbols.scalar(definition.upper, {})
    env = {} if definition is None or definition.index is None else {definition.index: l.symbol(("b", -1, 0))}
    value = symbols.scalar(s, env)
    return value, value


def apart(a: tuple, b: tuple, symbols: Symbols, of: Any = (None, None)) -> bool:
    """Whether two letters are never the same, for any sizes: other names, or an index that is surely another one."""
    if a[1] != b[1] or (len(a[4]), len(a[5])) != (len(b[4]), len(b[5])):
        return True
    for s, t in zip((*a[4], *a[5]), (*b[4], *b[5]), strict=True):
        (low, high), (least, most) = span(s, of[0], symbols), span(t, of[1], symbols)
        if symbols.nonnegative(least - high - ONE) or symbols.nonnegative(low - most - ONE):
            return True
        if {low.value, least.value} == {None} and low == high and least == most and distinct(low, least, symbols):
            return True
    return False


def distinct(a: Poly, b: Poly, symbols: Symbols) -> bool:
    """Whether two indices are different labels, such as Q and K: symbols that are no numbers of layers."""
    names = [{atom[1] for m, _ in p for atom, _ in m if atom[0] == "s"} for p in (a, b)]
    return names[0] != names[1] and all(len(n) == 1 and symbols.kinds[min(n)] == "number" for n in names)


def check_apart(found: Sequence[Definition], symbols: Symbols) -> None:
    """Refuse two definitions that may be of one letter."""
    for a, b in itertools.combinations(found, 2):
        if not apart(a.letter, b.letter, symbols, (a, b)):
            raise Refused(f"{text(a.letter)} and {text(b.letter)} are defined both, and may be the same")


# --- equations -------------------------------------------------------------------------------------------------------


def forms(left: Side, right: Side, symbols: Symbols) -> tuple[Any, Any, list[str]]:
    """The normal forms of both sides, and the hypotheses on slices that they take.

    Raises:
        Refused: shapes do not fit, definitions cannot be or are not used, both sides are written alike.
    """
    if left == right:
        raise Refused(f"both sides are written alike, {text(left.term)[:80]}: nothing is claimed")
    found, assumed, used = [], set(), set()
    for side in (left, right):
        check_apart(side.definitions, symbols)
        normalise = Normaliser(symbols, side.definitions)
        found.append(normalise(side.term))
        used |= {side.definitions[n] for n in normalise.used}
        assumed |= normalise.assumed
    idle = next((d for d in (*left.definitions, *right.definitions) if d not in used), None)
    if idle is not None:
        raise Refused(f"the definition of {text(idle.letter)} is not used")
    if found[0][0] != found[1][0]:
        raise Refused(f"the sides of {text(left.term)[:80]} = {text(right.term)[:80]} have two shapes")
    return found[0][1], found[1][1], sorted(assumed)


def equal(left: Side, right: Side, symbols: Symbols) -> list[str]:
    """Decide an equation for all sizes.  Returns the hypotheses on slices that it takes.

    Raises:
        Refused: as `forms`, or the sides differ at a random point.
        NotDecided: the sides are equal at random points, and their normal forms differ.
    """
    first, second, assumed = forms(left, right, symbols)
    said = f"{text(left.term)[:100]} = {text(right.term)[:100]}"
    if difference(left, right, symbols) is not None:
        raise Refused(f"{said} fails at random matrices")
    if first != second:
        raise NotDecided(f"{said} holds at random points, not in normal form")
    return assumed


def difference(left: Side, right: Side, symbols: Symbols) -> str | None:
    """The shape of both sides at a random point at which they differ; None if they are equal at all that are tried.

    Raises:
        Refused: a letter that one side defines is free on the other.
        NotDecided: no sizes are found at which both are defined.
    """
    done = 0
    for _ in range(TRIES):
        point = Point(symbols)
        try:
            sides = [Evaluation(point, side.definitions) for side in (left, right)]
            values = [of(side.term, {}) for of, side in zip(sides, (left, right), strict=True)]
        except Unfit:
            continue
        for one, other in (sides, sides[::-1]):
            if one.defined.keys() & other.free.keys():
                raise Refused("a letter that one side defines stands on the other without a definition")
        if values[0] != values[1]:
            return f"{len(values[0])} × {len(values[0][0])}"
        done += 1
        if done == POINTS:
            return None
    raise NotDecided("no small sizes at which every formula is defined")


def read(data: Mapping[str, Any], symbols: Symbols) -> tuple[Side, Side, list[str]]:
    """Both sides of an equation, with definitions that they share and some that they do not; and how it is printed."""
    shared, *own = (definitions(data[k], symbols) for k in ("definitions", "left_definitions", "right_definitions"))
    left, right = (Side(l.term(data[k]), [*shared, *d]) for k, d in zip(("left", "right"), own, strict=True))
    lines = [f"{text(left.term)} = {text(right.term)}", *(f"  where {d}" for d in shared)]
    for name, found in zip(("left", "right"), own, strict=True):
        lines += [f"  on the {name} {d}" for d in found]
    return left, right, [*lines, *shapes((left, right))]


def equation(data: Mapping[str, Any], symbols: Symbols) -> list[str]:
    """left = right."""
    left, right, lines = read(data, symbols)
    return [*lines, *(f"  assumed: {a}" for a in equal(left, right, symbols))]


def no_identity(data: Mapping[str, Any], symbols: Symbols) -> list[str]:
    """left = right does not hold for all sizes, matrices and σ: it fails at a random point of a prime field.

    An identity between polynomials in entries and values of functions holds modulo every prime.

    Raises:
        Refused: no point is found at which it fails.
        NotDecided: softmax stands in it, in the place of which any function of rows is evaluated.
    """
    left, right, lines = read(data, symbols)
    assumed = forms(left, right, symbols)[2]
    terms = (t for side in (left, right) for t in (side.term, *(d.term for d in side.definitions)))
    if any("softmax" in heads(t) for t in terms):
        raise NotDecided("a refutation with softmax in it")
    shape = difference(left, right, symbols)
    if shape is None:
        raise Refused(f"{lines[0][:200]} holds at random points")
    said = f"not for all sizes, matrices and σ: {lines[0]}  (random {shape} matrices differ)"
    return [said, *lines[1:], *(f"  assumed: {a}" for a in assumed)]


def heads(t: tuple) -> set[str]:
    """The heads in a term."""
    return {t[0]}.union(*(heads(part) for kind, part in l.parts_of(t) if kind == "t"))


def static(data: Mapping[str, Any], symbols: Symbols) -> list[str]:
    """A parameter has one value whatever the inputs are: it is compared with itself at other inputs."""
    side = Side(l.term(data["parameter"]), definitions(data["definitions"], symbols))
    usable(isinstance(data["inputs"], list) and data["inputs"], "there are no inputs")
    inputs = [l.term(x) for x in data["inputs"]]
    usable(all(x[0] == "L" for x in inputs), "an input is no letter")
    for x in inputs:
        Normaliser(symbols, ()).named(x, {})
    bound = {index for t in (side.term, *(d.term for d in side.definitions)) for index in indices_of_sums(t)}
    bound |= {d.index for d in side.definitions if d.index is not None}
    anywhere = Symbols({**dict.fromkeys(bound, "integer"), **symbols.kinds})
    for x, letter in itertools.product(inputs, side.letters()):
        if letter not in inputs and not apart(x, letter, anywhere):
            raise Refused(f"{text(letter)} may be the input {text(x)}")
    if any(d.letter in inputs for d in side.definitions):
        raise Refused("an input is defined")
    other = {x: (x[0], f"{x[1]}\N{COMBINING TILDE}", *x[2:]) for x in inputs}
    if {x[1] for x in other.values()} & {letter[1] for letter in side.letters()}:
        raise Refused("the other input has a name that is taken")
    moved = side.replaced(other)
    usable(not any(t[1][1:2] == x[1:2] for t in functions(side) for x in inputs), "an input names a function")
    if moved == side:  # no input is written anywhere in it
        assumed = written(side, symbols)
    else:
        assumed = equal(side, moved, symbols)
    of = ", ".join(map(text, inputs))
    lines = [
        f"{text(side.term)} has the same value for any two values of {of}",
        *(f"  where {d}" for d in side.definitions),
    ]
    return [*lines, *shapes((side,)), *(f"  assumed: {a}" for a in assumed)]


def written(side: Side, symbols: Symbols) -> list[str]:
    """That a term is one: its shapes fit, and its definitions can be."""
    check_apart(side.definitions, symbols)
    normalise = Normaliser(symbols, side.definitions)
    normalise(side.term)
    if len(normalise.used) < len(side.definitions):
        raise Refused("a definition is not used")
    return sorted(normalise.assumed)


def indices_of_sums(t: tuple) -> Iterator[str]:
    """The names of the indices of all sums in a term."""
    if t[0] == "sum":
        yield t[2]
    for kind, part in l.parts_of(t):
        if kind == "t":
            yield from indices_of_sums(part)


def functions(side: Side) -> Iterator[tuple]:
    """The applications of functions that are letters."""
    todo = [side.term, *(d.term for d in side.definitions)]
    while todo:
        t = todo.pop()
        if t[0] == "f":
            yield t
        todo += [part for kind, part in l.parts_of(t) if kind == "t"]


def shapes(sides: Sequence[Side]) -> list[str]:
    """The shapes of all letters, in one line."""
    found = dict.fromkeys(text(letter, shapes=True) for side in sides for letter in side.letters())
    return [f"  with {', '.join(found)}"] if found else []


# --- induction -------------------------------------------------------------------------------------------------------


def induction(data: Mapping[str, Any], symbols: Symbols) -> list[str]:
    """x_j = layer(j, x_{j−1}) has the closed form T(L) for every L ≥ 1; base and step are built here from these.

    Raises:
        Refused: base or step fails, or the recursion defines a letter twice, or by later ones.
    """
    i, j = l.name(data["index"]), l.name(data["layer_index"])
    usable(symbols.kinds.get(i) == "size" and symbols.kinds.get(j) == "size" and i != j, "an index is no symbol")
    hole, start, layer, closed = (l.term(data[k]) for k in ("input", "start", "layer", "closed"))
    first, later = definitions(data["first"], symbols), definitions(data["next"], symbols)
    after = ("+", i, 1)
    well_founded(first, later, closed, i, symbols)
    others = (closed, start, *(d.term for d in (*first, *later)))
    if hole[0] != "L" or any(h[1] == hole[1] for t in others for h in l.letters(t)):
        raise Refused("the input of the layer is no letter of its own")
    if not any(h == hole for h in l.letters(layer)):
        raise Refused("the layer does not use its input")
    if j in set().union(*map(names, others)) or i in names(layer) | names(start):
        raise Refused("the number of a layer stands where the number of layers should, or the other way round")
    at = lambda count, x: replaced(replaced(layer, {j: count}), {replaced(hole, {j: count}): x})
    base = Side(at(1, start), first), Side(replaced(closed, {i: 1}), first)
    step = Side(at(after, closed), later), Side(replaced(closed, {i: after}), later)
    assumed = [*equal(*base, symbols), *equal(*step, symbols)]
    lines = [f"for every {i} ≥ 1:  net({i}) = {text(closed)}"]
    lines += [
        f"  where net(0) = {text(start)}, and net({j}) = {text(layer)} for {j} ≥ 1, {text(hole)} being net({j} − 1)"
    ]
    lines += [f"  first {d}" for d in first] + [f"  for every {i} ≥ 1 {d}" for d in later]
    return [*lines, *shapes((*base, *step)), *(f"  assumed: {a}" for a in dict.fromkeys(assumed))]


def names(t: tuple) -> set[str]:
    """The symbols in a term."""
    found: set[str] = set()

    def inside(s: Any) -> None:
        if isinstance(s, str):
            found.add(s)
        elif isinstance(s, tuple):
            for part in s[2:] if s[0] == "at" else s[1:]:
                inside(part)

    todo = [t]
    while todo:
        for kind, part in l.parts_of(todo.pop()):
            if kind == "t":
                todo.append(part)
            elif kind == "s":
                inside(part)
            elif kind == "i":
                for s in part:
                    inside(s)
    return found


def well_founded(
    first: Sequence[Definition], later: Sequence[Definition], closed: tuple, i: str, symbols: Symbols
) -> None:
    """Refuse a recursion that does not define every letter once, by letters of layers before.

    One place among the indices of a letter that it defines is the layer: i + 1 in ``later``, 1 in ``first``.  Where
    such a letter stands in T(i), its layer is at most i; in ``first`` it is 1, in ``later`` at most i, or i + 1, and
    there the normal form sees that definitions go round in no circle.
    """
    check_apart(first, symbols)
    check_apart(later, symbols)
    count = symbols.scalar(i, {})
    after = count + ONE
    places: dict[Any, set[int]] = {}
    for d in later:
        upper = None if d.index is None else symbols.scalar(d.upper, {})
        if upper is not None and not symbols.nonnegative(count - upper):
            raise Refused(f"{text(d.letter)} is defined for more than {i} values of {d.index}")
        where = {n for n, s in enumerate(indices(d.letter)) if span(s, d, symbols)[0] == after}
        places[family(d.letter)] = places.get(family(d.letter), where) & where
        if not places[family(d.letter)]:
            raise Refused(f"{text(d.letter)} is no letter of layer {i} + 1")

    def before(t: tuple, ranges: Mapping[str, Poly], last: Poly, own: Poly) -> None:
        """Refuse letters of the recursion whose layer is neither at most ``last`` nor ``own``."""
        env = {k: l.symbol(("b", -1, k)) for k in ranges}
        if t[0] == "L" and family(t) in places:
            at = symbols.scalar(indices(t)[max(places[family(t)])], env)
            most = next((n for k, n in ranges.items() if at == env[k]), at)
            if not symbols.nonnegative(last - most) and at != own:
                raise Refused(f"{text(t)} is a letter of a layer that does not come before")
        inner = {**ranges, t[2]: symbols.scalar(t[4], env)} if t[0] == "sum" else ranges
        for kind, part in l.parts_of(t):
            if kind == "t":
                before(part, inner, last, own)

    for d in first:
        before(d.term, {}, ONE, ONE)
        at = max(places.get(family(d.letter), {-1}))
        if d.index is not None or (at >= 0 and symbols.scalar(indices(d.letter)[at], {}) != ONE):
            raise Refused(f"{text(d.letter)} is no letter of the first layer")

    before(closed, {}, count, count)
    for d in later:
        before(d.term, {} if d.index is None else {d.index: symbols.scalar(d.upper, {})}, count, after)


def indices(letter: tuple) -> tuple:
    """Subscripts and superscripts."""
    return (*letter[4], *letter[5])


def family(letter: tuple) -> tuple:
    """What letters that a recursion defines layer by layer have in common: the name, and how many indices there are."""
    return letter[1], len(letter[4]), len(letter[5])
