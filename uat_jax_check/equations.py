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
from uat_jax_check.letters import Place, apart, check_shapes, place
from uat_jax_check.terms import ONE, ZERO, Poly, Symbols, replaced, text
from uat_jax_check.words import Normaliser

POINTS, MORE_POINTS = 3, 10
"""So many random points are evaluated; more where no normal form shows equality, as sizes may be drawn equal."""


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

    @property
    def terms(self) -> tuple[tuple, ...]:
        """Its letter, what this stands for, and the identity of the size up to which its index goes."""
        return self.letter, self.term, *([] if self.index is None else [("I", self.upper)])

    def place(self, symbols: Symbols) -> Place:
        """Where its letter stands; the index of a rule is an atom of its own."""
        atom = ("b", -1, self.letter)
        env = {} if self.index is None else {self.index: l.symbol(atom)}
        scope = {} if self.index is None else {atom: symbols.scalar(self.upper, {})}
        low, high = ([symbols.scalar(s, env) for s in part] for part in self.letter[4:6])
        return place(self.letter[1], low, high, scope)

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


def check_apart(found: Sequence[Definition], symbols: Symbols) -> None:
    """Refuse two definitions that may be of one letter."""
    for a, b in itertools.combinations(found, 2):
        if not apart(a.place(symbols), b.place(symbols), symbols):
            raise Refused(f"{text(a.letter)} and {text(b.letter)} are defined both, and may be the same")


# --- equations -------------------------------------------------------------------------------------------------------


def forms(left: Side, right: Side, symbols: Symbols, shapes: dict[Any, Any]) -> tuple[Any, Any, list[str]]:
    """The normal forms of both sides, and the hypotheses on slices; ``shapes`` collects those of letters.

    Raises:
        Refused: shapes do not fit, definitions cannot be or are not used, both sides are written alike.
        NotDecided: whether a letter is a defined one.
    """
    if (l.numbered(left.term), left.definitions) == (l.numbered(right.term), right.definitions):
        raise Refused(f"both sides are written alike, {text(left.term)[:80]}: nothing is claimed")
    found, assumed, used, free = [], set(), set(), []
    for side in (left, right):
        check_apart(side.definitions, symbols)
        normalise = Normaliser(symbols, side.definitions, shapes)
        found.append(normalise(side.term))
        used |= {side.definitions[n] for n in normalise.used}
        assumed |= normalise.assumed
        free.append(normalise.free)
    for letters, other in ((free[0], right), (free[1], left)):
        for where, letter in letters:
            if not all(apart(where, d.place(symbols), symbols) for d in other.definitions):
                raise Refused(f"{text(letter)} stands on one side for itself, and may be defined on the other")
    idle = next((d for d in (*left.definitions, *right.definitions) if d not in used), None)
    if idle is not None:
        raise Refused(f"the definition of {text(idle.letter)} is not used")
    if found[0][0] != found[1][0]:
        raise Refused(f"the sides of {text(left.term)[:80]} = {text(right.term)[:80]} have two shapes")
    check_shapes(shapes, symbols)
    return found[0][1], found[1][1], sorted(assumed)


def equal(left: Side, right: Side, symbols: Symbols, shapes: dict[Any, Any] | None = None) -> list[str]:
    """Decide an equation for all sizes.  Returns the hypotheses on slices that it takes.

    ``shapes`` collects the shapes of letters, for a statement of several equations.

    Raises:
        Refused: as `forms`, or the sides differ at a random point.
        NotDecided: the sides are equal at random points, and their normal forms differ, or there are none.
    """
    said = f"{text(left.term)[:100]} = {text(right.term)[:100]}"
    try:
        first, second, assumed = forms(left, right, symbols, {} if shapes is None else shapes)
    except NotDecided:
        if difference(left, right, symbols, MORE_POINTS) is not None:
            raise Refused(f"{said} fails at random matrices") from None
        raise
    if difference(left, right, symbols, POINTS if first == second else MORE_POINTS) is not None:
        raise Refused(f"{said} fails at random matrices")
    if first != second:
        raise NotDecided(f"{said} holds at random points, not in normal form")
    return assumed


def difference(left: Side, right: Side, symbols: Symbols, points: int = POINTS) -> str | None:
    """The shape of both sides at a random point at which they differ; None if they are equal at all that are tried.

    Raises:
        NotDecided: no sizes are found at which both are defined.
    """
    done = 0
    for tried in range(TRIES):
        point = Point(symbols, least=2 - tried % 2)
        try:
            sides = [Evaluation(point, side.definitions) for side in (left, right)]
            values = [of(side.term, {}) for of, side in zip(sides, (left, right), strict=True)]
        except Unfit:
            continue
        if values[0] != values[1]:
            return f"{len(values[0])} × {len(values[0][0])}"
        done += 1
        if done == points:
            return None
    raise NotDecided("no small sizes at which every formula is defined")


def read(data: Mapping[str, Any], symbols: Symbols) -> tuple[Side, Side, list[str]]:
    """Both sides of an equation, with definitions that they share and some that they do not; and how it is printed."""
    shared, *own = (definitions(data[k], symbols) for k in ("definitions", "left_definitions", "right_definitions"))
    left, right = (Side(l.term(data[k]), [*shared, *d]) for k, d in zip(("left", "right"), own, strict=True))
    lines = [f"{text(left.term)} = {text(right.term)}", *(f"  where {d}" for d in shared)]
    for name, found in zip(("left", "right"), own, strict=True):
        lines += [f"  on the {name} {d}" for d in found]
    return left, right, [*lines, *symbols.said(), *shapes((left, right))]


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
    assumed = forms(left, right, symbols, {})[2]
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
    normalise = written(side, symbols)
    places = [(d.place(symbols), d.letter) for d in side.definitions]
    for x, (where, letter) in itertools.product(inputs, [*places, *normalise.free]):
        if not apart(Definition(x, x).place(symbols), where, symbols) and (x != letter or (where, letter) in places):
            raise Refused(f"{text(letter)} is defined, or written in another way, and may be the input {text(x)}")
    other = {x: (x[0], f"{x[1]}\N{COMBINING TILDE}", *x[2:]) for x in inputs}
    if {x[1] for x in other.values()} & {letter[1] for letter in side.letters()}:
        raise Refused("the other input has a name that is taken")
    moved = side.replaced(other)
    named = [t[1] for term in (side.term, *(d.term for d in side.definitions)) for t in functions(term)]
    usable(not any(f[1] == x[1] for f in named for x in inputs), "an input names a function")
    if moved == side:  # no input is written anywhere in it
        assumed = sorted(normalise.assumed)
    else:
        assumed = equal(side, moved, symbols)
    of = ", ".join(map(text, inputs))
    lines = [
        f"{text(side.term)} has the same value for any two values of {of}",
        *(f"  where {d}" for d in side.definitions),
    ]
    return [*lines, *symbols.said(), *shapes((side,)), *(f"  assumed: {a}" for a in assumed)]


def written(side: Side, symbols: Symbols) -> Normaliser:
    """What made the normal form of a term: its shapes fit, and its definitions can be."""
    check_apart(side.definitions, symbols)
    normalise = Normaliser(symbols, side.definitions)
    normalise(side.term)
    check_shapes(normalise.shapes, symbols)
    if len(normalise.used) < len(side.definitions):
        raise Refused("a definition is not used")
    return normalise


def functions(term: tuple) -> Iterator[tuple]:
    """The applications of functions that are letters."""
    todo = [term]
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
    of_first, of_later = ([t for d in found for t in d.terms] for found in (first, later))
    usable(hole[0] == "L", "the input of the layer is no letter")
    if any(h[1] == hole[1] for t in (start, closed, *of_first, *of_later) for h in l.letters(t)):
        raise Refused("the input of the layer is no letter of its own")
    if {h for h in l.letters(layer) if h[1] == hole[1]} != {hole} or any(t[1] == hole for t in functions(layer)):
        raise Refused("the layer does not use its input, names a function by it, or writes it in two ways")
    if any(j in names(t) for t in (closed, start, *of_first, *of_later)):
        raise Refused("the number of a layer stands where the number of layers should")
    if any(i in names(t) for t in (hole, layer, start, *of_first)):
        raise Refused("the number of layers stands where the number of a layer should")
    given = (*hole[:4], (*hole[4], j), hole[5])  # the input of layer j, which is defined as what comes out before

    def layer_of(count: Any, before: tuple, known: Sequence[Definition]) -> Side:
        of = Side(replaced(layer, {hole: given}), [*known, Definition(given, before)])
        return of.replaced({j: count})

    base = layer_of(1, start, first), Side(replaced(closed, {i: 1}), first)
    step = layer_of(after, closed, later), Side(replaced(closed, {i: after}), later)
    found: dict[Any, Any] = {}
    assumed = [*equal(*base, symbols, found), *equal(*step, symbols, found)]
    check_shapes(found, symbols, i)
    lines = [f"for every {i} ≥ 1:  net({i}) = {text(closed)}"]
    lines += [
        f"  where net(0) = {text(start)}, and net({j}) = {text(layer)} for {j} ≥ 1, {text(hole)} being net({j} − 1)"
    ]
    lines += [f"  first {d}" for d in first] + [f"  for every {i} ≥ 1 {d}" for d in later]
    return [*lines, *symbols.said(), *shapes((*base, *step)), *(f"  assumed: {a}" for a in dict.fromkeys(assumed))]


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
    first: Sequence[Definition],
    later: Sequence[Definition],
    closed: tuple,
    i: str,
    symbols: Symbols,
    alone: bool = False,
) -> None:
    """Refuse a recursion that does not define every letter once, by letters of layers before.

    One place among the indices of a letter that it defines is the layer: i + 1 in ``later``, 1 in ``first``.  Where
    such a letter stands in T(i), its layer is at most i; in ``first`` it is 1, in ``later`` at most i, or i + 1, and
    there the normal form sees that definitions go round in no circle; ``alone``: no letter by another of its layer.
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
        where = {n for n, span in enumerate(d.place(symbols).spans) if span == (after, after)}
        places[family(d.letter)] = places.get(family(d.letter), where) & where
        if not places[family(d.letter)]:
            raise Refused(f"{text(d.letter)} is no letter of layer {i} + 1")

    def before(t: tuple, ranges: Mapping[str, Poly], last: Poly, own: Poly | None) -> None:
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
        before(d.term, {}, ZERO if alone else ONE, None)
        at = max(places.get(family(d.letter), {-1}))
        if d.index is not None or (at >= 0 and symbols.scalar(indices(d.letter)[at], {}) != ONE):
            raise Refused(f"{text(d.letter)} is no letter of the first layer")

    before(closed, {}, count, count)
    for d in later:
        before(
            d.term, {} if d.index is None else {d.index: symbols.scalar(d.upper, {})}, count, None if alone else after
        )


def indices(letter: tuple) -> tuple:
    """Subscripts and superscripts."""
    return (*letter[4], *letter[5])


def family(letter: tuple) -> tuple:
    """What letters that a recursion defines layer by layer have in common: the name, and how many indices there are."""
    return letter[1], len(letter[4]), len(letter[5])
