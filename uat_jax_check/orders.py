"""Decides that an inequality follows from others: by multipliers that stand in the file, and are multiplied out here.

|u|, max and min are numbers t with t ≥ every option; in a case of the signs t is one of them.  In every case a sum of
numbers that are not negative, one of them positive, vanishes: so the claim cannot be denied.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from uat_jax_check import terms as l
from uat_jax_check.document import NotDecided, Refused, usable
from uat_jax_check.terms import ZERO, Poly, Symbols, number, symbol

RELATIONS = {"<": "<", "<=": "≤", ">": ">", ">=": "≥", "=": "="}
POSITIVE, NOT_NEGATIVE = ("positive", "size"), ("nonnegative", "count")
Fact = tuple[Poly, bool]
"""A number that is not negative, and whether it is positive."""


class Numbers:
    """Expressions of a statement as polynomials in its symbols and its corners: |u|, max, min."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.corners: dict[Any, frozenset[Poly]] = {}

    def __call__(self, s: Any) -> Poly:
        """The polynomial that an expression is."""
        if isinstance(s, tuple) and s[0] in ("abs", "max", "min"):
            options = [self(p) for p in s[1:]]
            usable(len(options) == 1 if s[0] == "abs" else len(options) > 1, f"{s[0]} has other operands")
            if s[0] == "abs":
                return self.corner([options[0], ZERO - options[0]])
            return self.corner(options) if s[0] == "max" else ZERO - self.corner([ZERO - o for o in options])
        if isinstance(s, tuple) and s[0] in ("+", "*", "^") and len(s) > 2:
            if s[0] == "^":
                usable(type(s[2]) is int and 0 <= s[2] <= 8 and len(s) == 3, "an exponent is no small whole number")
                return self.symbols.power(self(s[1]), number(s[2]))
            total = self(s[1])
            for part in s[2:]:
                total = (l.added if s[0] == "+" else l.product)(total, self(part))
            return total
        return self.symbols.scalar(s, {})

    def corner(self, options: Sequence[Poly]) -> Poly:
        """The largest of some numbers."""
        atom = ("corner", frozenset(options))
        self.corners[atom] = frozenset(options)
        return symbol(atom)

    def always(self) -> Iterator[Fact]:
        """What holds in any case: 1 > 0, signs of symbols, t ≥ each of the options, and |u| ≥ 0."""
        yield number(1), True
        for name, kind in self.symbols.kinds.items():
            if kind in POSITIVE or kind in NOT_NEGATIVE:
                yield symbol(("s", name)), kind in POSITIVE
        for atom, options in list(self.corners.items()):
            yield from ((symbol(atom) - option, False) for option in options)
            if any(ZERO - option in options for option in options):
                yield symbol(atom), False


def inequality(data: Mapping[str, Any], symbols: Symbols) -> list[str]:
    """The claim follows from the hypotheses, which hold somewhere.

    Raises:
        Refused: the multipliers do not show it, cases are missing, or the hypotheses fail at the point.
    """
    numbers = Numbers(symbols)
    claim, hypotheses = relation(data["claim"]), _list(data["hypotheses"], relation)
    denials = [(ZERO - gap, not strict) for gap, strict in gaps(claim, numbers)]
    known = [fact for h in hypotheses for fact in gaps(h, numbers)]
    holds_somewhere(hypotheses, data["hold_at"], symbols)
    cases = _list(data["cases"], lambda c: case(c, numbers))
    for place, denial in enumerate(denials):
        mine = [c for c in cases if c[0] == place]
        if not covered([signs for _, signs, _ in mine], numbers):
            raise Refused("a case of the signs is missing")
        for _, signs, terms in mine:
            contradicted([*numbers.always(), *known, denial, *((o - symbol(a), False) for a, o in signs)], terms)
    usable(all(c[0] in range(len(denials)) for c in cases), "a case is of no denial")
    given = [f"  if {text(h)}" for h in hypotheses]
    kinds = [f"{n} {k}" for n, k in symbols.kinds.items()]
    return [f"{text(claim)}  for all real numbers {', '.join(kinds)}", *given]


def relation(r: Any) -> tuple[str, Any, Any]:
    """A relation of two expressions."""
    usable(isinstance(r, list) and len(r) == 3 and r[0] in RELATIONS, "a relation is none")
    return r[0], l.scalar(r[1]), l.scalar(r[2])


def _list(data: Any, of: Any) -> list[Any]:
    usable(isinstance(data, list), "a list is none")
    return list(map(of, data))


def gaps(r: tuple[str, Any, Any], numbers: Numbers) -> list[Fact]:
    """The numbers that a relation says are not negative, or positive."""
    gap = numbers(r[1]) - numbers(r[2])
    if r[0] == "=":
        return [(gap, False), (ZERO - gap, False)]
    return [(gap if r[0] in (">", ">=") else ZERO - gap, r[0] in "<>")]


def case(c: Any, numbers: Numbers) -> tuple[int, list[tuple[Any, Poly]], list[tuple[Fraction, Poly]]]:
    """A case: which denial, the signs (a corner and its option), and the multiplied numbers."""
    usable(isinstance(c, dict) and c.keys() == {"denial", "signs", "terms"}, "a case has other fields")
    usable(type(c["denial"]) is int, "a denial is no number")
    pairs = [_list(c[k], lambda p: (numbers(l.scalar(p[0])), numbers(l.scalar(p[1])))) for k in ("signs", "terms")]
    atoms = [(next((a for a in numbers.corners if symbol(a) == corner), None), option) for corner, option in pairs[0]]
    usable(all(a is not None for a, _ in atoms), "a sign is of no corner")
    usable(all(m.value is not None for m, _ in pairs[1]), "a multiplier is no number")
    return c["denial"], atoms, [(m.constant, p) for m, p in pairs[1]]


def covered(signs: Sequence[Sequence[tuple[Any, Poly]]], numbers: Numbers) -> bool:
    """Whether some case holds whatever the numbers are: every option of a corner is treated, one after the other."""
    if any(not s for s in signs):
        return True
    if not signs:
        return False
    atom = signs[0][0][0]
    options: dict[Poly, list[Any]] = {option: [] for option in numbers.corners[atom]}
    for (first, option), *rest in signs:
        if first != atom or option not in options:
            return False
        options[option].append(rest)
    return all(covered(rest, numbers) for rest in options.values())


def contradicted(facts: Sequence[Fact], terms: Sequence[tuple[Fraction, Poly]]) -> None:
    """Refuse unless Σ λ p = 0 with λ ≥ 0, every p not negative by a fact, and one of them positive with λ > 0."""
    total, positive = ZERO, False
    signs: dict[Any, bool] = {}
    for fact, strict in facts:
        if len(fact) == 1 and [(len(m), c) for m, c in fact] == [(1, 1)]:
            signs |= {atom: strict or signs.get(atom, False) for m, _ in fact for atom, e in m if e == 1}
    for factor, p in terms:
        if factor < 0:
            raise Refused("a multiplier is negative")
        strict = known_as(p, facts, signs)
        if strict is None:
            raise Refused("a number that is multiplied is not known to be at least 0")
        total, positive = total + number(factor) * p, positive or (strict and factor > 0)
    if total or not positive:
        raise Refused("the multiplied numbers make no contradiction")


def known_as(p: Poly, facts: Sequence[Fact], signs: Mapping[Any, bool]) -> bool | None:
    """Whether p is a fact times numbers that are not negative: True if it is then positive, None if it is no such."""
    found = None if p else False  # 0 is not negative
    for fact, strict in facts:
        if fact == p:
            found = bool(found) or strict
        for m, factor in times(p, fact):
            if all(atom in signs for atom, _ in m) and fact * factor == p:
                found = bool(found) or (strict and all(signs[atom] for atom, _ in m))
    return found


def times(p: Poly, fact: Poly) -> Iterator[tuple[frozenset, Poly]]:
    """Monomials m with p = m · fact, perhaps: those that take one monomial of the fact to one of p."""
    if not fact:
        return
    ((n, _), *_) = fact
    for m, _ in p:
        powers = dict(m)
        for atom, e in n:
            powers[atom] = powers.get(atom, 0) - e
        if all(e >= 0 and e.denominator == 1 for e in powers.values()):
            quotient = frozenset((a, e) for a, e in powers.items() if e)
            yield quotient, Poly([(quotient, Fraction(1))])


def holds_somewhere(hypotheses: Sequence[Any], point: Any, symbols: Symbols) -> None:
    """Refuse hypotheses that do not hold at the point: from a contradiction everything would follow."""
    usable(isinstance(point, dict) and point.keys() <= symbols.kinds.keys(), "the point of the hypotheses is none")
    at = {name: Numbers(symbols)(l.scalar(value)).value for name, value in point.items()}
    usable(all(v is not None for v in at.values()), "the point of the hypotheses is made of no numbers")
    for name, kind in symbols.kinds.items():
        value = at.get(name) or Fraction(0 if name in at else 1)
        positive, whole = kind in POSITIVE, kind in ("size", "count", "integer")
        if (value < 0 and (positive or kind in NOT_NEGATIVE)) or (value == 0 and positive) or (whole and value % 1):
            raise Refused(f"{name} cannot be {value}")
    for h in hypotheses:
        if not holds(h, at):
            raise Refused(f"the hypothesis {text(h)} does not hold at the point that the file gives")


def holds(r: tuple[str, Any, Any], at: Mapping[str, Any]) -> bool:
    """Whether a relation holds at a point."""
    left, right = (evaluated(s, at) for s in r[1:])
    sign = (left > right) - (left < right)
    return sign in {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1), "=": (0,)}[r[0]]


def no_consequence(data: Mapping[str, Any], symbols: Symbols) -> list[str]:
    """The claim does not follow: at a point the hypotheses hold, and the claim does not.

    Raises:
        Refused: a hypothesis fails there, or the claim holds.
    """
    claim, hypotheses, numbers = relation(data["claim"]), _list(data["hypotheses"], relation), Numbers(symbols)
    for r in (claim, *hypotheses):
        gaps(r, numbers)  # all are made of numbers of the language
    usable(isinstance(data["at"], dict) and {l.name(n) for n in data["at"]} == set(symbols.kinds), "no point is given")
    holds_somewhere(hypotheses, data["at"], symbols)
    at = {name: Numbers(symbols)(l.scalar(value)).value for name, value in data["at"].items()}
    if holds(claim, at):
        raise Refused(f"{text(claim)} holds at the point that the file gives")
    kinds = [f"{n} {k}" for n, k in symbols.kinds.items()]
    shown = ", ".join(f"{name} = {value}" for name, value in at.items())
    said = f"{text(claim)}  does not hold for all real numbers {', '.join(kinds)}: not at {shown}"
    return [said, *(f"  where {text(h)}" for h in hypotheses)]


def evaluated(s: Any, at: Mapping[str, Any]) -> Fraction:
    """The value of an expression at a point."""
    if not isinstance(s, tuple):
        if isinstance(s, str) and s not in at:
            raise Refused(f"the point of the hypotheses does not say what {s} is")
        return Fraction(at[s] if isinstance(s, str) else s)
    if s[0] == "/":
        return Fraction(s[1], s[2])
    values = [evaluated(p, at) for p in s[1:]]
    match s[0]:
        case "abs":
            return abs(values[0])
        case "max":
            return max(values)
        case "min":
            return min(values)
        case "+":
            return sum(values, Fraction(0))
        case "^":
            digits = max(abs(values[0].numerator), values[0].denominator).bit_length()
            usable(digits * abs(values[1]) < 2**13, "a number has thousands of digits")
            return values[0] ** int(values[1])
        case "*":
            total = Fraction(1)
            for v in values:
                total *= v
            return total
    raise NotDecided(f"a number with the head {s[0]}")


def text(r: tuple[str, Any, Any]) -> str:
    """A relation as it is read."""
    return f"{l.scalar_text(r[1])} {RELATIONS[r[0]]} {l.scalar_text(r[2])}"
